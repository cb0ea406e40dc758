// SPDX-License-Identifier: MIT
/*
 * What was cut off files: bytes that an operation took away, or that were stored behind EOF,
 * must not be in the file after a power cut, however it has grown since (rule I13-cut-stays;
 * crash_rules.c looks).  A cut binds from the commit on that begins behind it.
 *
 * Who wrote a byte is known by the number of the operation, which says nothing about time:
 * operations at stops, and those that prepare, have numbers of their own.  So the time at
 * which each number ran is kept.
 *
 * Zeros at the edges of a hole inside the file are not looked at: punch hole and zero range
 * are not atomic ("ext4: only order data when partially block truncating down").
 */
#include "promise.h"

static u64 time_of(const struct foliofs_fs *fs, u32 op)
{
	const struct ffs_run *r = ffs_runs_find(&fs->op_time, op);

	return r ? r->a + op : 0;
}

static void set_time(struct foliofs_fs *fs, u32 op)
{
	ffs_runs_set(&fs->op_time, op, (u64)op + 1, ++fs->op_clock - op, 0);
}

bool ffs_cut_off(const struct foliofs_fs *fs, const struct ffs_run *cut, u64 src)
{
	return cut->b <= fs->commits && src != FFS_SRC_ZERO && src != FFS_SRC_UNKNOWN &&
	       !(src & FFS_SRC_STALE) && time_of(fs, ffs_src_op(src)) < cut->a;
}

/* Cuts that bind now are kept apart: a newer one in their place does not bind at once. */
static void settle(const struct foliofs_fs *fs, struct ffs_promise *p)
{
	struct ffs_runs_pos at;
	const struct ffs_run *r;
	u64 key = 0;

	while ((r = ffs_runs_at(&p->cutting, key, &at))) {
		struct ffs_run run = *r;

		key = run.end;
		if (run.b > fs->commits)
			continue;
		ffs_runs_clear(&p->cutting, run.first, run.end);
		ffs_runs_set(&p->cut, run.first, run.end, run.a, run.b);
	}
}

/* What lies in [first, end) from before @time is not to come back: from the next commit on, or now. */
static void cut(struct foliofs_fs *fs, const struct ffs_inode *inode, u64 first, u64 end, u64 time,
		bool now)
{
	struct ffs_promise *p;

	if (!inode || !ffs_is_reg(inode) || first >= end)
		return;
	p = ffs_promise_get(fs, inode);
	settle(fs, p);
	ffs_runs_set(&p->cutting, first, end, time,
		     now ? fs->commits : fs->commits + 1 + fs->commit_pending);
}

/* Bytes of older operations may come into [first, end). */
static void forget(struct foliofs_fs *fs, const struct ffs_inode *inode, u64 first, u64 end)
{
	struct ffs_promise *p = inode ? ffs_promise_find(fs, inode->ino, NULL) : NULL;

	if (!p || first >= end)
		return;
	ffs_runs_clear(&p->cut, first, end);
	ffs_runs_clear(&p->cutting, first, end);
}

static const struct ffs_inode *inode_of(struct foliofs_fs *fs, s32 slot, const char *path)
{
	const struct ffs_file *f = ffs_file(&fs->ops, slot);

	return f ? f->inode : path && *path ? ffs_lookup(&fs->ops, path) : NULL;
}

void ffs_cut_before(struct foliofs_fs *fs, const struct foliofs_op *op)
{
	set_time(fs, op->id);
	switch (op->kind) {
	case FOLIOFS_OP_COPY_RANGE:
		forget(fs, inode_of(fs, op->file2, NULL), op->off2, op->off2 + op->len);
		break;
	case FOLIOFS_OP_MOVE_EXTENTS:
		forget(fs, inode_of(fs, op->file, NULL), 0, ~0ull);
		forget(fs, inode_of(fs, op->file2, NULL), 0, ~0ull);
		break;
	case FOLIOFS_OP_FALLOCATE:
		if (op->flags & (FOLIOFS_FALLOC_COLLAPSE_RANGE | FOLIOFS_FALLOC_INSERT_RANGE))
			forget(fs, inode_of(fs, op->file, NULL), op->off, ~0ull);
		break;
	default:
		break;
	}
}

void ffs_cut_resumed(struct foliofs_fs *fs)
{
	if (fs->options.crash_states)
		set_time(fs, fs->ops.sb.env.op);
}

void ffs_cut_recovered(struct foliofs_fs *fs)
{
	const struct ffs_super *sb = &fs->ops.sb;
	u32 i;

	fs->op_clock++;
	for (i = 0; i < sb->cap_inodes; i++)
		if (sb->inodes[i])
			cut(fs, sb->inodes[i], sb->inodes[i]->i_size, ~0ull, fs->op_clock, true);
}

static void fallocated(struct foliofs_fs *fs, const struct ffs_inode *inode,
		       const struct foliofs_op *op, u64 time)
{
	const struct ffs_env *env = &fs->ops.sb.env;
	u64 end = op->off + op->len;

	if (op->flags & (FOLIOFS_FALLOC_COLLAPSE_RANGE | FOLIOFS_FALLOC_INSERT_RANGE))
		cut(fs, inode, inode->i_size, ~0ull, time, false);
	else if (op->flags & (FOLIOFS_FALLOC_PUNCH_HOLE | FOLIOFS_FALLOC_ZERO_RANGE))
		cut(fs, inode, round_up_pow2(op->off, ffs_block_size(env)),
			round_down_pow2(min(end, inode->i_size), ffs_block_size(env)), time, false);
}

void ffs_cut_after(struct foliofs_fs *fs, const struct foliofs_op *op, s64 result)
{
	const struct ffs_inode *inode;
	u64 time;

	if (result < 0)
		return;
	inode = inode_of(fs, op->file, op->kind == FOLIOFS_OP_TRUNCATE ? op->path : NULL);
	if (!inode)
		return;
	time = time_of(fs, op->id);
	switch (op->kind) {
	case FOLIOFS_OP_OPEN:
		if (op->flags & FOLIOFS_O_TRUNC)
			cut(fs, inode, 0, ~0ull, time, false);
		break;
	case FOLIOFS_OP_TRUNCATE:
		cut(fs, inode, op->len, ~0ull, time, false);
		break;
	case FOLIOFS_OP_FALLOCATE:
		fallocated(fs, inode, op, time);
		break;
	case FOLIOFS_OP_MWRITE:
	case FOLIOFS_OP_MTOUCH:
		/* What it stored behind EOF is no byte of the file either. */
		cut(fs, inode, max(op->off, inode->i_size), op->off + op->len, time + 1, false);
		break;
	default:
		break;
	}
}
