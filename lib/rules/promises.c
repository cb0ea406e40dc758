// SPDX-License-Identifier: MIT
/*
 * Promises: the bytes of a file as they were when an fsync (fdatasync, msync, O_SYNC
 * write, sync, syncfs, unmount) succeeded, less what later operations may have
 * changed.  An operation takes back what it may change before it begins, since the
 * power can be cut in its middle: a byte that is being overwritten may be old or new,
 * and what else it could be (stale, memory nobody filled) is looked for in all files.
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

static struct ffs_promise *get(struct foliofs_fs *fs, const struct ffs_inode *inode)
{
	struct ffs_promise *p;
	u32 at;

	p = ffs_promise_find(fs, inode->ino, &at);
	if (p && p->seq == inode->seq)
		return p;
	if (p) {
		ffs_runs_free(&p->bytes);
		ffs_runs_free(&p->undefined);
		ffs_runs_free(&p->io_lost);
		ffs_runs_free(&p->starting);
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

/* --- what operations take back --- */

static void take_back(struct foliofs_fs *fs, const struct ffs_inode *inode, u64 pos, u64 end)
{
	struct ffs_promise *p = inode ? ffs_promise_find(fs, inode->ino, NULL) : NULL;

	if (!p)
		return;
	ffs_runs_clear(&p->bytes, pos, end);
	ffs_runs_clear(&p->undefined, pos, end);
	ffs_runs_clear(&p->starting, pos, end);
	p->fresh = true;
	fs->promises++;
}

/* Blocks may go, and sizes move for other reasons than data. */
static void reshaped(struct foliofs_fs *fs, const struct ffs_inode *inode, u64 pos, u64 end)
{
	struct ffs_promise *p = inode ? ffs_promise_find(fs, inode->ino, NULL) : NULL;

	take_back(fs, inode, pos, end);
	if (!p)
		return;
	p->write_size = 0;
	ffs_runs_clear(&p->io_lost, pos, end); /* its blocks go */
}

static void before_fallocate(struct foliofs_fs *fs, const struct ffs_inode *inode,
			     const struct foliofs_op *op)
{
	u64 end = op->off + op->len;

	if (op->flags & (FOLIOFS_FALLOC_COLLAPSE_RANGE | FOLIOFS_FALLOC_INSERT_RANGE))
		end = ~0ull;
	else if (!(op->flags & (FOLIOFS_FALLOC_PUNCH_HOLE | FOLIOFS_FALLOC_ZERO_RANGE)))
		end = op->off;
	reshaped(fs, inode, op->off, end);
}

static bool syncs_all(const struct foliofs_op *op)
{
	return op->kind == FOLIOFS_OP_SYNC || op->kind == FOLIOFS_OP_SYNCFS ||
	       op->kind == FOLIOFS_OP_REMOUNT || op->kind == FOLIOFS_OP_DEBUGFS;
}

static void sync_begins(struct foliofs_fs *fs, const struct foliofs_op *op,
			const struct ffs_inode *inode);

void ffs_promise_before(struct foliofs_fs *fs, const struct foliofs_op *op)
{
	struct ffs_file *f = ffs_file(&fs->ops, op->file), *g = ffs_file(&fs->ops, op->file2);
	struct ffs_inode *inode = f ? f->inode : NULL;

	/* What others write at its stops is not what it syncs. */
	if (unlikely(fs->stop_fn))
		sync_begins(fs, op, inode);
	switch (op->kind) {
	case FOLIOFS_OP_WRITE:
	case FOLIOFS_OP_WRITE_BAD:
	case FOLIOFS_OP_MWRITE:
	case FOLIOFS_OP_MTOUCH:
	case FOLIOFS_OP_WRITE_EVERY:
		take_back(fs, inode, op->off, op->off + op->len);
		break;
	case FOLIOFS_OP_APPEND:
		if (inode) {
			fs->append_pos = inode->i_size;
			take_back(fs, inode, inode->i_size, ~0ull);
		}
		break;
	case FOLIOFS_OP_COPY_RANGE:
		take_back(fs, g ? g->inode : NULL, op->off2, op->off2 + op->len);
		break;
	case FOLIOFS_OP_MOVE_EXTENTS:
		/* The data of the file stays; the donor's is nobody's concern any more. */
		reshaped(fs, inode, 0, 0);
		reshaped(fs, g ? g->inode : NULL, op->off2, op->off2 + op->len);
		if (g)
			ffs_content_zero(&get(fs, g->inode)->undefined, op->off2,
					 op->off2 + op->len);
		break;
	case FOLIOFS_OP_TRUNCATE:
		reshaped(fs, inode ? inode : op->path ? ffs_lookup(&fs->ops, op->path) : NULL,
			 op->len, ~0ull);
		break;
	case FOLIOFS_OP_FALLOCATE:
		before_fallocate(fs, inode, op);
		break;
	case FOLIOFS_OP_PUNCH_EVERY:
		reshaped(fs, inode, op->off, op->off + op->len);
		break;
	case FOLIOFS_OP_FILL:
		reshaped(fs, inode, 0, 0);
		break;
	case FOLIOFS_OP_OPEN:
		if (op->flags & FOLIOFS_O_TRUNC)
			reshaped(fs, ffs_lookup(&fs->ops, op->path), 0, ~0ull);
		break;
	case FOLIOFS_OP_UNLINK:
		reshaped(fs, ffs_lookup(&fs->ops, op->path), 0, ~0ull);
		break;
	case FOLIOFS_OP_RENAME:
		if (op->path2 && ffs_lookup(&fs->ops, op->path2) != ffs_lookup(&fs->ops, op->path))
			reshaped(fs, ffs_lookup(&fs->ops, op->path2), 0, ~0ull);
		break;
	default:
		break;
	}
}

/* --- what they promise --- */

/* Nobody can say what bytes [first, end) are: the operation that changed them failed. */
static void nobody_knows(struct foliofs_fs *fs, const struct ffs_inode *inode, u64 first, u64 end)
{
	struct ffs_promise *p;

	if (!inode || first >= end || !ffs_is_reg(inode))
		return;
	p = get(fs, inode);
	ffs_content_zero(&p->undefined, first, end);
	ffs_runs_clear(&p->bytes, first, end);
	p->fresh = true;
	fs->promises++;
}

/* What a failed, or half done, operation leaves undefined. */
static void after_failure(struct foliofs_fs *fs, const struct foliofs_op *op,
			  const struct ffs_inode *inode, s64 result)
{
	u64 done = result > 0 ? (u64)result : 0;

	switch (op->kind) {
	case FOLIOFS_OP_WRITE:
	case FOLIOFS_OP_WRITE_BAD:
		nobody_knows(fs, inode, op->off + done, op->off + op->len);
		break;
	case FOLIOFS_OP_MWRITE:
	case FOLIOFS_OP_MTOUCH:
	case FOLIOFS_OP_WRITE_EVERY:
	case FOLIOFS_OP_PUNCH_EVERY:
		nobody_knows(fs, inode, op->off, op->off + op->len);
		break;
	case FOLIOFS_OP_APPEND:
		nobody_knows(fs, inode, fs->append_pos + done, fs->append_pos + op->len);
		break;
	case FOLIOFS_OP_COPY_RANGE:
		nobody_knows(fs, inode, op->off2 + done, op->off2 + op->len);
		break;
	case FOLIOFS_OP_TRUNCATE:
		if (!inode && op->path)
			inode = ffs_lookup(&fs->ops, op->path);
		nobody_knows(fs, inode, op->len, ~0ull);
		break;
	case FOLIOFS_OP_OPEN:
		if ((op->flags & FOLIOFS_O_TRUNC) && op->path)
			nobody_knows(fs, ffs_lookup(&fs->ops, op->path), 0, ~0ull);
		break;
	case FOLIOFS_OP_FALLOCATE:
		nobody_knows(fs, inode, op->off,
			     op->flags & (FOLIOFS_FALLOC_COLLAPSE_RANGE |
					  FOLIOFS_FALLOC_INSERT_RANGE) ? ~0ull : op->off + op->len);
		break;
	default:
		break;
	}
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
	p = get(fs, inode);
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
		p = get(fs, x);
		ffs_runs_free(&p->starting);
		c = (struct collect){ &p->starting, 0, x->i_size, ~0ull };
		foliofs_fs_for_each_content(fs, x->ino, promise_run, &c);
	}
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
		after_failure(fs, op, op->kind == FOLIOFS_OP_COPY_RANGE && g ? g->inode : inode,
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
			get(fs, inode)->write_size =
				fs->in_write_end == inode->ino ? ev->arg[2] : 0;
		return;
	case FOLIOFS_EV_foliofs_io_error:
		inode = ffs_inode_find(&fs->ops.sb, (u32)ev->arg[0]);
		if (!inode)
			return;
		nobody_knows(fs, inode, ev->arg[3],
			     ev->arg[3] + (ev->arg[2] << fs->ops.sb.env.block_bits));
		ffs_content_zero(&get(fs, inode)->io_lost, ev->arg[3],
				 ev->arg[3] + (ev->arg[2] << fs->ops.sb.env.block_bits));
		get(fs, inode)->untold = true;
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

void ffs_promise_free(struct foliofs_fs *fs)
{
	u32 i;

	for (i = 0; i < fs->nr_promises; i++) {
		ffs_runs_free(&fs->promise[i].bytes);
		ffs_runs_free(&fs->promise[i].undefined);
		ffs_runs_free(&fs->promise[i].io_lost);
		ffs_runs_free(&fs->promise[i].starting);
	}
	free(fs->promise);
}
