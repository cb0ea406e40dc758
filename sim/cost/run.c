// SPDX-License-Identifier: MIT
/* Operations played and their work put into classes: see cost.h. */
#include "cost.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "replay/player.h"
#include "trace/opvec.h"

/* While operations are played. */
struct classes {
	struct cost_side *side;
	struct cost_meter meter;
	/* The last write, which an fsync directly behind belongs to. */
	struct cost_work write;
	bool pending, over;
	int32_t file; /* of it */
	/* open with O_SYNC or O_DSYNC, by slot */
	bool *sync;
	int32_t nr_slots;
	bool sync_mount;
};

static void put(struct classes *c, enum cost_class class, const struct cost_work *w)
{
	cost_work_add(&c->side->work[class], w);
}

static void put_pending(struct classes *c)
{
	if (c->pending)
		put(c, c->over ? COST_WRITE_OVER : COST_WRITE_NEW, &c->write);
	c->pending = false;
}

static void opened(struct classes *c, const struct foliofs_op *op)
{
	if (op->file >= c->nr_slots) {
		c->sync = trace_realloc(c->sync, (size_t)op->file + 1, sizeof(*c->sync));
		memset(c->sync + c->nr_slots, 0, (size_t)(op->file + 1 - c->nr_slots));
		c->nr_slots = op->file + 1;
	}
	if (op->file >= 0)
		c->sync[op->file] = op->flags & (FOLIOFS_O_SYNC | FOLIOFS_O_DSYNC);
}

static bool is_sync(const struct classes *c, int32_t file)
{
	return c->sync_mount || (file >= 0 && file < c->nr_slots && c->sync[file]);
}

/* A write that went through the page cache. */
static void wrote(struct classes *c, const struct foliofs_op *op, const struct cost_work *w)
{
	bool over = !c->meter.made;

	put_pending(c);
	if (is_sync(c, op->file)) {
		put(c, over ? COST_SYNC_OVER : COST_SYNC_NEW, w);
		return;
	}
	if (w->ops > 1) { /* an fsync behind it is not that of each piece */
		put(c, over ? COST_WRITE_OVER : COST_WRITE_NEW, w);
		return;
	}
	c->write = *w;
	c->pending = true;
	c->over = over;
	c->file = op->file;
}

static bool is_fsync(const struct foliofs_op *op)
{
	return op->kind == FOLIOFS_OP_FSYNC || op->kind == FOLIOFS_OP_FDATASYNC;
}

/* An fsync directly behind a write that writes back no more than that: it is priced with it. */
static bool is_fsync_of_write(const struct classes *c, const struct foliofs_op *op,
			      const struct cost_work *w)
{
	return is_fsync(op) && c->pending && c->file == op->file && w->wb_folios <= c->write.steps;
}

/* Any other operation.  New: blocks were taken, or unwritten ones became written, for what it sends. */
static enum cost_class class_of(const struct classes *c, const struct foliofs_op *op, int64_t ret,
				const struct cost_work *w)
{
	if (op->kind == FOLIOFS_OP_READ && ret > 0 && w->steps)
		return COST_READ;
	if (is_fsync(op) && !ret && w->wb_folios)
		return c->meter.made || w->converts ? COST_FSYNC_NEW : COST_FSYNC_OVER;
	return COST_OTHER;
}

static void on_op(void *priv, const struct foliofs_op *op, int64_t ret)
{
	struct classes *c = priv;
	struct cost_work w = c->meter.work;
	uint64_t pieces = op->chunk && op->len > op->chunk ?
				  (op->len + op->chunk - 1) / op->chunk : 1;

	c->side->failed += ret < 0;
	if (op->kind == FOLIOFS_OP_OPEN && ret >= 0)
		opened(c, op);
	w.ops = pieces;
	if ((op->kind == FOLIOFS_OP_WRITE || op->kind == FOLIOFS_OP_APPEND) && ret > 0 &&
	    w.steps) {
		wrote(c, op, &w);
	} else if (is_fsync_of_write(c, op, &w)) {
		w.ops = 0; /* it is the write's */
		cost_work_add(&w, &c->write);
		put(c, c->over ? COST_SYNC_OVER : COST_SYNC_NEW, &w);
		c->pending = false;
	} else {
		put_pending(c);
		put(c, class_of(c, op, ret, &w), &w);
	}
	cost_meter_clear(&c->meter);
}

static bool large_folios(const struct cost_side *side)
{
	switch (side->geometry.fs_type) {
	case FOLIOFS_FS_XFS:
		return true;
	case FOLIOFS_FS_TMPFS:
		return side->geometry.huge != FOLIOFS_HUGE_NEVER;
	case FOLIOFS_FS_EXT2:
		return false;
	case FOLIOFS_FS_EXT4:
		break;
	}
	return foliofs_max_order(&side->kernel, &side->geometry, false) > 0;
}

/* What ran, not what the kernel is called. */
static const char *path_of(const struct cost_side *side, const struct cost_meter *m)
{
	bool large = large_folios(side);

	if (m->iomap)
		return large ? "iomap+lf" : "iomap";
	if (!m->buffers && !m->folios)
		return "-";
	if (side->geometry.fs_type == FOLIOFS_FS_TMPFS)
		return "memory";
	return large ? "bh+lf" : "bh";
}

int cost_run(struct cost_side *side, const struct replay_setup *s, char *err, size_t errlen)
{
	struct replay_setup own = *s;
	struct classes c = { .side = side, .sync_mount = side->geometry.mount.sync };
	struct player p = { .ops = &s->trace.v, .played_op = on_op, .priv = &c };
	char text[3200];
	int ret;

	memset(side->work, 0, sizeof(side->work));
	side->failed = 0;
	own.geometry = side->geometry;
	*err = 0;
	if (replay_start(&own, &side->kernel, false, &p.fs, &p.base_ns, text, sizeof(text))) {
		snprintf(err, errlen, "%s: %s", side->name, text);
		return -EINVAL;
	}
	cost_meter_init(&c.meter, side->geometry.block_size);
	foliofs_fs_add_sink(p.fs, &c.meter.sink);
	ret = player_run(&p, err, errlen);
	put_pending(&c);
	side->path = path_of(side, &c.meter);
	foliofs_fs_free(p.fs);
	free(c.sync);
	return ret;
}

struct cost_work cost_total(const struct cost_side *side)
{
	struct cost_work w = { 0 };
	int i;

	for (i = 0; i < COST_CLASSES; i++)
		cost_work_add(&w, &side->work[i]);
	return w;
}

double cost_side_time(const struct cost_side *side, const struct cost_constants *c,
		      const char *device, uint64_t *unpriced)
{
	double us = 0;
	int i;

	*unpriced = 0;
	for (i = 0; i < COST_CLASSES; i++) {
		const struct cost_line *l = cost_line(c, device, (enum cost_class)i);

		if (l)
			us += cost_time(l, &side->work[i]);
		else
			*unpriced += side->work[i].ops;
	}
	return us;
}
