// SPDX-License-Identifier: MIT
/* Operations of a strace log: numbers, times and texts, see strace.h. */
#include <string.h>

#include "trace/oplist.h"
#include "trace/strace.h"

#define STEP_NS 12000000ull /* between calls of a log without times */

int32_t strace_slot_take(struct strace *s)
{
	uint32_t i = 0;

	while (i < s->nr_slots && s->slots[i])
		i++;
	if (i == s->nr_slots) {
		s->nr_slots = i ? 2 * i : 16;
		s->slots = trace_realloc(s->slots, s->nr_slots, sizeof(*s->slots));
		memset(s->slots + i, 0, s->nr_slots - i);
	}
	s->slots[i] = true;
	if (i >= s->t->nr_slots)
		s->t->nr_slots = i + 1;
	return (int32_t)i;
}

static const char *name_of(const struct strace_desc *d)
{
	return d && d->node ? d->node->path : "?";
}

void strace_emit(struct strace *s, struct foliofs_op *op, const struct strace_desc *d,
		 const struct strace_desc *d2)
{
	char buf[2 * PATH_MAX + 128];
	const char *text = NULL;

	op->file = d ? d->slot : -1;
	op->file2 = d2 ? d2->slot : -1;
	if (op->path)
		op->path = opvec_strdup(&s->t->v, op->path);
	if (op->path2)
		op->path2 = opvec_strdup(&s->t->v, op->path2);
	if (s->has_marks) {
		op->id = s->mark_id;
		text = s->mark_text;
		s->mark_text = NULL;
	} else {
		if (!s->call_id) {
			s->call_id = s->next_id++;
			text = oplist_format(op, name_of(d), name_of(d2), buf, sizeof(buf));
		}
		op->id = s->call_id;
	}
	if (!s->has_times)
		op->time_ns = op->id * STEP_NS;
	else if (s->now_ns > 0)
		op->time_ns = (uint64_t)s->now_ns;
	if (op->time_ns < s->op_ns) /* calls that end later than others that began later */
		op->time_ns = s->op_ns;
	s->op_ns = op->time_ns;
	*opvec_add(&s->t->v, op->kind, op->id, text, s->w.line) = *op;
}
