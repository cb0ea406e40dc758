// SPDX-License-Identifier: MIT
/*
 * Promises: the bytes of a file as they were when an fsync (fdatasync, msync, O_SYNC
 * write, sync, syncfs, unmount) succeeded, less what later operations may have
 * changed (promise_changes.c).  An operation takes back what it may change before it
 * begins, since the power can be cut in its middle: a byte that is being overwritten may
 * be old or new, and what else it could be (stale, memory nobody filled) is looked for in
 * all files.
 */
#include "promise.h"

struct ffs_promise *ffs_promise_find(const struct foliofs_fs *fs, u32 ino, u32 *at)
{
	u32 lo = 0, hi = fs->nr_promises;

	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if (fs->promise[mid].ino < ino)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (at)
		*at = lo;
	return lo < fs->nr_promises && fs->promise[lo].ino == ino ? &fs->promise[lo] : NULL;
}

enum foliofs_rule ffs_lost_rule(const struct ffs_promise *p, u64 first, u64 end,
				enum foliofs_rule rule)
{
	struct ffs_runs_pos at;
	const struct ffs_run *r;

	if (!p)
		return rule;
	ffs_runs_for_each(&p->io_lost, r, at, first, end)
		return FOLIOFS_RULE_AFTER_IO_ERROR;
	return rule;
}

static void free_runs(struct ffs_promise *p)
{
	ffs_runs_free(&p->bytes);
	ffs_runs_free(&p->cut);
	ffs_runs_free(&p->cutting);
	ffs_runs_free(&p->undefined);
	ffs_runs_free(&p->io_lost);
	ffs_runs_free(&p->starting);
}

struct ffs_promise *ffs_promise_get(struct foliofs_fs *fs, const struct ffs_inode *inode)
{
	struct ffs_promise *p;
	u32 at;

	p = ffs_promise_find(fs, inode->ino, &at);
	if (p && p->seq == inode->seq)
		return p;
	if (p) {
		free_runs(p);
	} else {
		if (fs->nr_promises == fs->cap_promises) {
			fs->cap_promises = fs->cap_promises ? 2 * fs->cap_promises : 16;
			fs->promise = ffs_realloc(fs->promise,
						  fs->cap_promises * sizeof(*fs->promise));
		}
		p = &fs->promise[at];
		memmove(p + 1, p, (fs->nr_promises++ - at) * sizeof(*p));
	}
	*p = (struct ffs_promise){ .ino = inode->ino, .seq = inode->seq };
	return p;
}

static bool syncs_all(const struct foliofs_op *op)
{
	return op->kind == FOLIOFS_OP_SYNC || op->kind == FOLIOFS_OP_SYNCFS ||
	       op->kind == FOLIOFS_OP_REMOUNT || op->kind == FOLIOFS_OP_DEBUGFS;
}

/* The first fsync of an open file after a failed write says so. */
static void check_told(struct foliofs_fs *fs, const struct ffs_inode *inode, s64 result)
{
	struct ffs_promise *p = inode ? ffs_promise_find(fs, inode->ino, NULL) : NULL;

	if (!p || !p->untold)
		return;
	p->untold = false;
	if (result >= 0)
		ffs_rule_broken(fs, FOLIOFS_RULE_LOST_WRITE, inode->ino,
				"fsync succeeds after a write to the device failed");
}

struct collect {
	struct ffs_runs *bytes;
	u64 first, end;
	u64 zero_end; /* zeros behind it are no data that anybody has synced */
};

static void promise_run(void *priv, const struct foliofs_content *c)
{
	const struct collect *x = priv;
	u64 first = max(c->offset, x->first), end = min(c->offset + c->len, x->end);

	if (c->kind == FOLIOFS_SOURCE_OP)
		ffs_runs_set(x->bytes, first, end, c->source_offset - c->offset,
			     ffs_src(c->source, c->owner));
	else if ((c->kind == FOLIOFS_SOURCE_ZERO || c->kind == FOLIOFS_SOURCE_HOLE) &&
		 first < x->zero_end)
		ffs_content_zero(x->bytes, first, min(end, x->zero_end));
}

/* Bytes [first, end) of @inode have been synced. */
static void promise(struct foliofs_fs *fs, const struct ffs_inode *inode, u64 first, u64 end)
{
	struct ffs_promise *p;
	struct ffs_runs_pos at;
	const struct ffs_run *r;
	struct collect x;

	if (!ffs_is_reg(inode) || !inode->nlink)
		return;
	p = ffs_promise_get(fs, inode);
	/* A sync of a range does not move the size for a hole in it, if its data is elsewhere. */
	x = (struct collect){ &p->bytes, first, min(end, inode->i_size),
			      end == ~0ull ? end : inode->i_disksize };
	if (first >= x.end && first)
		return;
	ffs_runs_clear(&p->bytes, first, end);
	if (unlikely(fs->stop_fn)) {
		ffs_runs_for_each(&p->starting, r, at, first, end) {
			u64 stop = min(r->end, r->b == FFS_SRC_ZERO ? min(end, x.zero_end) : end);

			if (max(r->first, first) < stop)
				ffs_runs_set(&p->bytes, max(r->first, first), stop, r->a, r->b);
		}
	} else if (x.end > first) {
		foliofs_fs_for_each_content(fs, inode->ino, promise_run, &x);
	}
	ffs_runs_free(&p->starting);
	for (r = ffs_runs_at(&p->undefined, 0, &at); r; r = ffs_runs_next(&p->undefined, &at))
		ffs_runs_clear(&p->bytes, r->first, r->end);
	p->fresh = true;
	fs->promises++;
}

static void sync_begins(struct foliofs_fs *fs, const struct foliofs_op *op,
			const struct ffs_inode *inode)
{
	const struct ffs_super *sb = &fs->ops.sb;
	u32 i;

	if (!syncs_all(op) && op->kind != FOLIOFS_OP_FSYNC && op->kind != FOLIOFS_OP_FDATASYNC &&
	    op->kind != FOLIOFS_OP_MSYNC)
		return;
	for (i = 0; i < sb->cap_inodes; i++) {
		const struct ffs_inode *x = sb->inodes[i];
		struct ffs_promise *p;
		struct collect c;

		if (!x || !ffs_is_reg(x) || (x != inode && !syncs_all(op)))
			continue;
		p = ffs_promise_get(fs, x);
		ffs_runs_free(&p->starting);
		c = (struct collect){ &p->starting, 0, x->i_size, ~0ull };
		foliofs_fs_for_each_content(fs, x->ino, promise_run, &c);
	}
}

void ffs_promise_before(struct foliofs_fs *fs, const struct foliofs_op *op)
{
	const struct ffs_file *f = ffs_file(&fs->ops, op->file);

	/* What others write at its stops is not what it syncs. */
	if (unlikely(fs->stop_fn))
		sync_begins(fs, op, f ? f->inode : NULL);
	ffs_promise_take_back(fs, op);
}

static void promise_all(struct foliofs_fs *fs)
{
	const struct ffs_super *sb = &fs->ops.sb;
	u32 i;

	for (i = 0; i < sb->cap_inodes; i++)
		if (sb->inodes[i])
			promise(fs, sb->inodes[i], 0, ~0ull);
}

/* A write into @f has ended with an fsync. */
static bool sync_write(const struct ffs_super *sb, const struct ffs_file *f)
{
	return f && ((f->flags & (FOLIOFS_O_SYNC | FOLIOFS_O_DSYNC)) || sb->env.geo.mount.sync);
}

/* Also the syncs of msync, and of writes into @f. */
static bool syncs_metadata(const struct ffs_super *sb, const struct ffs_file *f,
			   const struct foliofs_op *op)
{
	switch (op->kind) {
	case FOLIOFS_OP_FSYNC:
	case FOLIOFS_OP_FDATASYNC:
	case FOLIOFS_OP_MSYNC:
		return true;
	case FOLIOFS_OP_WRITE:
	case FOLIOFS_OP_WRITE_BAD:
	case FOLIOFS_OP_APPEND:
	case FOLIOFS_OP_COPY_RANGE:
		return sync_write(sb, f);
	default:
		return syncs_all(op);
	}
}

void ffs_promise_after(struct foliofs_fs *fs, const struct foliofs_op *op, s64 result)
{
	struct ffs_super *sb = &fs->ops.sb;
	struct ffs_file *f = ffs_file(&fs->ops, op->file), *g = ffs_file(&fs->ops, op->file2);
	struct ffs_inode *inode = f ? f->inode : NULL;
	u64 at;

	if (op->kind == FOLIOFS_OP_FSYNC || op->kind == FOLIOFS_OP_FDATASYNC ||
	    (result < 0 && (op->kind == FOLIOFS_OP_SYNC_RANGE || op->kind == FOLIOFS_OP_MSYNC)))
		check_told(fs, inode, result);
	if (result < 0 || (result < (s64)op->len &&
			   (op->kind == FOLIOFS_OP_WRITE || op->kind == FOLIOFS_OP_WRITE_BAD ||
			    op->kind == FOLIOFS_OP_APPEND || op->kind == FOLIOFS_OP_COPY_RANGE)))
		ffs_promise_failed(fs, op, op->kind == FOLIOFS_OP_COPY_RANGE && g ? g->inode : inode,
				   result);
	if (result < 0)
		return;
	if (!ffs_journal_present(sb->journal) &&
	    syncs_metadata(sb, op->kind == FOLIOFS_OP_COPY_RANGE ? g : f, op)) {
		ffs_commit_locked(fs);
		ffs_commit_done(fs);
	}
	switch (op->kind) {
	case FOLIOFS_OP_FSYNC:
	case FOLIOFS_OP_FDATASYNC:
		if (!inode && op->path)
			inode = ffs_lookup(&fs->ops, op->path);
		if (inode)
			promise(fs, inode, 0, ~0ull);
		break;
	case FOLIOFS_OP_MSYNC:
		if (inode)
			promise(fs, inode, op->off, op->off + op->len);
		break;
	case FOLIOFS_OP_WRITE:
	case FOLIOFS_OP_WRITE_BAD:
	case FOLIOFS_OP_APPEND:
	case FOLIOFS_OP_COPY_RANGE:
		f = op->kind == FOLIOFS_OP_COPY_RANGE ? g : f;
		at = op->kind == FOLIOFS_OP_COPY_RANGE ? op->off2 :
		     op->kind == FOLIOFS_OP_APPEND ? fs->append_pos : op->off;
		if (sync_write(sb, f))
			promise(fs, f->inode, at, at + (u64)result);
		break;
	case FOLIOFS_OP_SYNC:
	case FOLIOFS_OP_SYNCFS:
	case FOLIOFS_OP_REMOUNT:
	case FOLIOFS_OP_DEBUGFS:
		promise_all(fs);
		break;
	default:
		break;
	}
}

/* Who moves i_disksize: write_end, or writeback, truncate and the like. */
static void watch(void *priv, const struct foliofs_event *ev)
{
	struct foliofs_fs *fs = priv;
	const struct ffs_inode *inode;

	switch (ev->id) {
	case FOLIOFS_EV_ext4_write_end:
	case FOLIOFS_EV_ext4_da_write_end:
	case FOLIOFS_EV_ext4_journalled_write_end:
		fs->in_write_end = (u32)ev->arg[0];
		return;
	case FOLIOFS_EV_foliofs_disksize:
		inode = ffs_inode_find(&fs->ops.sb, (u32)ev->arg[0]);
		if (inode)
			ffs_promise_get(fs, inode)->write_size =
				fs->in_write_end == inode->ino ? ev->arg[2] : 0;
		return;
	case FOLIOFS_EV_foliofs_io_error:
		inode = ffs_inode_find(&fs->ops.sb, (u32)ev->arg[0]);
		if (!inode)
			return;
		ffs_promise_undefined(fs, inode, ev->arg[3],
				      ev->arg[3] + (ev->arg[2] << fs->ops.sb.env.block_bits));
		ffs_content_zero(&ffs_promise_get(fs, inode)->io_lost, ev->arg[3],
				 ev->arg[3] + (ev->arg[2] << fs->ops.sb.env.block_bits));
		ffs_promise_get(fs, inode)->untold = true;
		return;
	default:
		fs->in_write_end = 0;
	}
}

void ffs_promise_init(struct foliofs_fs *fs)
{
	static const enum foliofs_event_id ids[] = {
		FOLIOFS_EV_ext4_write_end, FOLIOFS_EV_ext4_da_write_end,
		FOLIOFS_EV_ext4_journalled_write_end, FOLIOFS_EV_foliofs_disksize,
		FOLIOFS_EV_foliofs_io_error,
		/* what ends a write_end */
		FOLIOFS_EV_ext4_write_begin, FOLIOFS_EV_ext4_da_write_begin,
		FOLIOFS_EV_ext4_writepages, FOLIOFS_EV_ext4_truncate_enter, FOLIOFS_EV_foliofs_op,
		FOLIOFS_EV_ext4_punch_hole, FOLIOFS_EV_ext4_zero_range,
		FOLIOFS_EV_ext4_fallocate_enter, FOLIOFS_EV_ext4_collapse_range,
		FOLIOFS_EV_ext4_insert_range,
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ids); i++)
		fs->crash_sink.wants[ids[i]] = 1;
	fs->crash_sink.event = watch;
	fs->crash_sink.priv = fs;
	foliofs_fs_add_sink(fs, &fs->crash_sink);
}

static void drop_all(struct foliofs_fs *fs)
{
	u32 i;

	for (i = 0; i < fs->nr_promises; i++)
		free_runs(&fs->promise[i]);
	fs->nr_promises = 0;
}

void ffs_promise_recovered(struct foliofs_fs *fs)
{
	foliofs_stop_fn stop = fs->stop_fn;

	drop_all(fs);
	fs->stop_fn = NULL; /* nothing else runs: what there is now is what is on disk */
	promise_all(fs);
	fs->stop_fn = stop;
	fs->in_write_end = 0;
	fs->promises++;
}

void ffs_promise_free(struct foliofs_fs *fs)
{
	drop_all(fs);
	free(fs->promise);
	ffs_runs_free(&fs->op_time);
}
