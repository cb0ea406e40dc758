// SPDX-License-Identifier: MIT
/* Operations at named stops of others. */
#include "scenario/run.h"

#include <errno.h>
#include <stdlib.h>

static const struct scenario_line *line_of(const struct scenario_ops *ops, uint32_t id)
{
	size_t i;

	for (i = 0; i + 1 < ops->nr_lines; i++)
		if (id <= ops->line[i].last)
			break;
	return &ops->line[i];
}

static void run_ops(struct run *r, const struct scenario_at *x)
{
	FILE *log = r->events.log;
	size_t i = x->ops.first;

	if (log)
		fprintf(log, "\tat %s of operation %u\n", foliofs_stop_name(x->stop), r->op);
	while (i < x->ops.end) {
		uint32_t id = scenario_op(r->s, i)->id;
		const struct scenario_line *line = line_of(&x->ops, id);
		bool crash = false;
		int64_t result = 0;

		if (log)
			fprintf(log, "%u %s\n", id, scenario_op_text(r->s, id));
		for (; i < x->ops.end && scenario_op(r->s, i)->id == id; i++) {
			result = run_one(r, line, scenario_op(r->s, i));
			crash = scenario_op(r->s, i)->kind == FOLIOFS_OP_CRASH;
		}
		if (log)
			fprintf(log, "\tresult %lld\n", (long long)result);
		check_result(r, line, id, result);
		if (!crash && id == line->last)
			check_states(r, r->fs, line->expect.states, id);
	}
}

static void stopped(void *priv, enum foliofs_stop stop, uint32_t ino)
{
	const struct scenario_at *x;
	struct run *r = priv;

	(void)ino;
	for (x = r->s->at; x; x = x->next) {
		if (x->stop != stop || r->at_done[x->index] || (x->op && x->op != r->op))
			continue;
		if (++r->at_seen[x->index] < x->nth)
			continue;
		r->at_done[x->index] = 1;
		run_ops(r, x);
	}
}

int at_start(struct run *r)
{
	if (!r->s->nr_at)
		return 0;
	r->at_seen = calloc(r->s->nr_at, sizeof(*r->at_seen));
	r->at_done = calloc(r->s->nr_at, sizeof(*r->at_done));
	if (!r->at_seen || !r->at_done)
		return -ENOMEM;
	foliofs_fs_set_stop_handler(r->fs, stopped, r);
	return 0;
}

void at_check(struct run *r)
{
	const struct scenario_at *x;

	for (x = r->s->at; x; x = x->next)
		if (!r->at_done[x->index])
			run_fail(r, x->op, x->at, text_of("stop %s, time %u",
							  foliofs_stop_name(x->stop), x->nth),
				 text_of("met %u times", r->at_seen[x->index]));
}

void at_free(struct run *r)
{
	free(r->at_seen);
	free(r->at_done);
	r->at_seen = NULL;
	r->at_done = NULL;
}
