// SPDX-License-Identifier: MIT
/* Workloads of fio: see workload.h. */
#include "workload.h"

#include <string.h>

#include "trace/opvec.h"

/*
 * The work of an operation does not depend on how many there were before, so a small file will do:
 * the longest folios and readahead windows come many times.
 */
#define FILE_BYTES (32ull << 20)
#define MAX_SYNCED 128u /* operations, where each has its fsync */
#define WRITEBACK_BYTES (8ull << 20) /* dirty when the flusher comes */
#define OP_NS 100000u

static struct foliofs_op *add(struct opvec *v, enum foliofs_op_kind kind)
{
	struct foliofs_op *op = opvec_add(v, kind, v->nr + 1, NULL, 0);

	op->file = 0;
	op->time_ns = (uint64_t)v->nr * OP_NS;
	return op;
}

static void add_open(struct opvec *v)
{
	struct foliofs_op *op = add(v, FOLIOFS_OP_OPEN);

	op->path = "file";
	op->flags = FOLIOFS_O_CREAT;
	op->mode = 0644;
}

/* fio lays the file out, syncs it, and drops it from the page cache before the job. */
static void prepare(struct opvec *v, const struct cost_workload *w, uint64_t size)
{
	bool over = w->class == COST_WRITE_OVER || w->class == COST_SYNC_OVER;
	struct foliofs_op *op;

	if (w->class != COST_READ && !over)
		return;
	add_open(v);
	if (w->hole) {
		add(v, FOLIOFS_OP_TRUNCATE)->len = size;
	} else {
		op = add(v, FOLIOFS_OP_WRITE);
		op->len = size;
		op->chunk = 1 << 20;
	}
	add(v, FOLIOFS_OP_FSYNC);
	add(v, FOLIOFS_OP_CLOSE);
	add(v, FOLIOFS_OP_DROP_CACHES)->flags = 1;
}

static void job(struct opvec *v, const struct cost_workload *w, uint64_t size)
{
	bool sync = w->class == COST_SYNC_NEW || w->class == COST_SYNC_OVER;
	uint64_t pos, clean = 0;
	struct foliofs_op *op;

	add_open(v);
	for (pos = 0; pos < size; pos += w->bs) {
		op = add(v, w->class == COST_READ ? FOLIOFS_OP_READ : FOLIOFS_OP_WRITE);
		op->off = pos;
		op->len = w->bs;
		if (sync)
			add(v, FOLIOFS_OP_FSYNC);
		if (!w->writeback || pos + w->bs - clean < WRITEBACK_BYTES)
			continue;
		op = add(v, FOLIOFS_OP_WRITEBACK);
		op->off = clean;
		op->len = WRITEBACK_BYTES >> 12;
		clean += WRITEBACK_BYTES;
	}
}

void cost_workload_setup(struct replay_setup *s, const struct replay_setup *base,
			 const struct cost_workload *w)
{
	bool sync = w->class == COST_SYNC_NEW || w->class == COST_SYNC_OVER;
	uint64_t ops = FILE_BYTES / w->bs;

	if (sync && ops > MAX_SYNCED)
		ops = MAX_SYNCED;
	ops += !ops;
	memset(s, 0, sizeof(*s));
	s->args = base->args;
	s->path = "workload";
	s->geometry = base->geometry;
	opvec_init(&s->trace.v);
	opvec_init(&s->prepare.v);
	prepare(&s->prepare.v, w, ops * w->bs);
	job(&s->trace.v, w, ops * w->bs);
	s->have_prepare = s->prepare.v.nr > 0;
}

void cost_workload_free(struct replay_setup *s)
{
	opvec_free(&s->trace.v);
	opvec_free(&s->prepare.v);
}
