// SPDX-License-Identifier: MIT
/*
 * Operations of XFS on files, sync, and how the pieces are put together: xfs_file_buffered_write,
 * xfs_file_read_iter, xfs_file_fsync, xfs_fs_sync_fs (v6.18).
 */
#include "xfs.h"

/* Delayed blocks are allocated, which takes less for trees than was promised (xfs_flush_inodes). */
static void flush_inodes(struct ffs_ops *o)
{
	const struct ffs_wbc all = {
		.sync_mode = FFS_WB_ALL, .nr_to_write = FFS_LLONG_MAX, .range_end = FFS_LLONG_MAX,
	};

	ffs_flusher_pass(o, all);
	ffs_run_work(&o->sb);
}

/* What is only speculative goes (xfs_blockgc_free_space). */
void ffs_xfs_gc(struct ffs_ops *o)
{
	u32 i;

	for (i = 0; i < o->sb.cap_inodes; i++) {
		struct ffs_inode *inode = o->sb.inodes[i];

		if (inode && ffs_xfs_can_free_eof(&o->sb, inode))
			ffs_xfs_free_eof(&o->sb, inode);
	}
}

s64 ffs_xfs_write(struct ffs_ops *o, struct ffs_file *f, u64 pos, u64 len, u64 readable)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_inode *inode = f->inode;
	bool did = false, cleared = false;
	s64 ret = -ENOTBLK;

	if (f->flags & FOLIOFS_O_RDONLY)
		return -EBADF;
	if (!len)
		return 0;
	if (f->flags & FOLIOFS_O_DIRECT)
		ret = ffs_xfs_direct_write(o, f, pos, len);
	if (ret == -ENOTBLK) {
		do {
			ret = ffs_xfs_zero_eof(sb, inode, pos, &did);
			if (!ret)
				ret = ffs_update_time(o, inode);
			if (ret)
				return ret;
			ffs_emit(&sb->env, xfs_file_buffered_write, inode->ino, inode->i_disksize,
				 pos, len);
			ret = ffs_iomap_write(sb, inode, pos, len, readable);
			if (ret != -ENOSPC || cleared)
				break;
			/* Delayed blocks that turn out smaller, and those behind EOF, give space. */
			cleared = true;
			flush_inodes(o);
			ffs_xfs_gc(o);
		} while (true);
	}
	if (ret > 0 && (f->flags & (FOLIOFS_O_SYNC | FOLIOFS_O_DSYNC))) {
		int err = ffs_xfs_fsync(sb, f, pos, pos + (u64)ret - 1,
					!(f->flags & FOLIOFS_O_SYNC));

		if (err)
			return err;
	}
	return ret;
}

static s64 read_file(struct ffs_ops *o, struct ffs_file *f, u64 pos, u64 len)
{
	if (f->flags & FOLIOFS_O_WRONLY)
		return -EBADF;
	if (!len)
		return 0;
	if (f->flags & FOLIOFS_O_DIRECT)
		return ffs_xfs_direct_read(o, f, pos, len);
	ffs_emit(&o->sb.env, xfs_file_buffered_read, f->inode->ino, f->inode->i_disksize, pos, len);
	return ffs_read(o, f, pos, len);
}

/* A splice through the page cache has no event of its own; of a direct file it is a read. */
static s64 splice_file(struct ffs_ops *o, struct ffs_file *f, u64 pos, u64 len)
{
	return f->flags & FOLIOFS_O_DIRECT ? read_file(o, f, pos, len) : ffs_read(o, f, pos, len);
}

int ffs_xfs_fsync(struct ffs_super *sb, struct ffs_file *f, u64 first, u64 last, bool datasync)
{
	struct ffs_inode *inode = f->inode;
	struct ffs_xfs_inode *i = ffs_xfs_inode(inode);
	int err = ffs_tell_error(f, ffs_iomap_write_and_wait(sb, inode, first, last));

	if (err)
		return err;
	i->truncated = false;
	if (i->pinned && (!datasync || i->core)) {
		ffs_xfs_log_force(sb);
	} else {
		/* Nothing in the log that matters: the device's cache alone is flushed. */
		ffs_emit(&sb->env, block_bio_queue, ffs_str("FWS"), 0, 0, ffs_str("oprun"));
	}
	return 0;
}

static void any_pinned(struct ffs_super *sb)
{
	u32 i;

	for (i = 0; i < sb->cap_inodes; i++)
		if (sb->inodes[i] && ffs_xfs_inode(sb->inodes[i])->pinned) {
			ffs_xfs_log_force(sb);
			return;
		}
}

int ffs_xfs_sync(struct ffs_ops *o, bool one_fs)
{
	struct ffs_wbc wbc = {
		.sync_mode = FFS_WB_NONE, .nr_to_write = FFS_LLONG_MAX, .range_end = FFS_LLONG_MAX,
	};

	wbc.range_cyclic = !one_fs;
	ffs_flusher_pass(o, wbc);
	ffs_run_work(&o->sb);
	wbc.sync_mode = FFS_WB_ALL;
	wbc.range_cyclic = false;
	ffs_flusher_pass(o, wbc);
	ffs_run_work(&o->sb);
	any_pinned(&o->sb);
	return 0;
}

static void drop_caches(struct ffs_ops *o, u32 what)
{
	struct ffs_super *sb = &o->sb;
	u64 before = ~0ull;

	if (!(what & 1))
		return;
	/* The newest inode first. */
	for (;;) {
		struct ffs_inode *next = NULL;
		u32 i;

		for (i = 0; i < sb->cap_inodes; i++)
			if (sb->inodes[i] && sb->inodes[i]->seq < before &&
			    (!next || sb->inodes[i]->seq > next->seq))
				next = sb->inodes[i];
		if (!next)
			break;
		before = next->seq;
		ffs_invalidate_clean(sb, next, 0, ~0u);
	}
}

static s64 run(struct ffs_ops *o, const struct foliofs_op *op)
{
	struct ffs_file *f = ffs_file(o, op->file), *g;
	u64 page = ffs_page_size(&o->sb.env);
	s64 ret;

	switch (op->kind) {
	case FOLIOFS_OP_SYNC:
	case FOLIOFS_OP_SYNCFS:
		return ffs_xfs_sync(o, op->kind == FOLIOFS_OP_SYNCFS);
	case FOLIOFS_OP_DROP_CACHES:
		drop_caches(o, op->flags ? op->flags : 1);
		return 0;
	case FOLIOFS_OP_COMMIT:
		ffs_xfs_log_force(&o->sb);
		return 0;
	case FOLIOFS_OP_FSYNC:
	case FOLIOFS_OP_FDATASYNC:
		return f ? ffs_xfs_fsync(&o->sb, f, 0, FFS_LLONG_MAX,
					 op->kind == FOLIOFS_OP_FDATASYNC) : -EBADF;
	case FOLIOFS_OP_MWRITE:
	case FOLIOFS_OP_MTOUCH:
		return ffs_mwrite(o, f, op);
	case FOLIOFS_OP_MREAD:
		return ffs_mread(o, f, op);
	case FOLIOFS_OP_HWPOISON:
		return ffs_hwpoison(o, f, op->off);
	case FOLIOFS_OP_PAGEOUT:
		return ffs_pageout(o, f, op->off, op->len);
	case FOLIOFS_OP_MSYNC:
		ffs_touch_atime(o, f, f->inode);
		return ffs_xfs_fsync(&o->sb, f, round_down_pow2(op->off, page),
				     round_up_pow2(op->off + op->len, page) - 1, true);
	case FOLIOFS_OP_SYNC_RANGE:
		return ffs_sync_range(o, f, op->off, op->len, op->flags);
	case FOLIOFS_OP_FADVISE:
		return ffs_fadvise(o, f, op->off, op->len, op->flags);
	case FOLIOFS_OP_REFLINK:
		return ffs_xfs_reflink(o, op);
	case FOLIOFS_OP_COPY_RANGE:
		ret = ffs_xfs_reflink(o, op);
		g = ffs_file(o, op->file2);
		if (ret > 0 || !f || !g)
			return ret;
		return ffs_copy_range(o, f, g, op, splice_file, ffs_xfs_write);
	default:
		return -EOPNOTSUPP;
	}
}

/*
 * The inode leaves memory, and with it its delayed blocks; nobody gives back what they have
 * reserved.  SIMPLIFIED: the tree blocks promised to them are given back.
 */
static void drop_inode(struct ffs_super *sb, struct ffs_inode *inode)
{
	struct ffs_xrec r;
	u64 off = 0, n = 0;

	for (; ffs_xfs_lookup(inode, FFS_XFS_DATA, off, &r); off = ffs_xrec_end(&r))
		if (r.state == FFS_XFS_DELAYED) {
			n += r.len;
			ffs_xfs_clear(inode, FFS_XFS_DATA, r.off, ffs_xrec_end(&r));
		}
	inode->reserved -= (u32)n;
	ffs_emit(&sb->env, foliofs_inode_dropped, inode->ino, n);
}

static int remount(struct ffs_ops *o)
{
	struct ffs_super *sb = &o->sb;
	u32 i;

	if (ffs_simple_busy(o))
		return -EBUSY;
	ffs_xfs_sync(o, true);
	drop_caches(o, 3);
	for (i = 0; i < sb->cap_inodes; i++) {
		struct ffs_inode *inode = sb->inodes[i];

		if (!inode)
			continue;
		ffs_xfs_unmap(sb, inode, FFS_XFS_COW, 0, ~0ull >> 1);
		if (ffs_xfs_can_free_eof(sb, inode))
			ffs_xfs_free_eof(sb, inode);
		drop_inode(sb, inode);
		ffs_xfs_inode(inode)->eof_released = false;
		ffs_xfs_inode(inode)->unread = true;
	}
	ffs_xfs_log_force(sb);
	return 0;
}

static bool next_run(const struct ffs_super *sb, const struct ffs_inode *inode, u64 lblk,
		     struct ffs_type_run *run)
{
	struct ffs_xrec r;
	bool shared;

	if (!ffs_xfs_lookup(inode, FFS_XFS_DATA, lblk, &r))
		return false;
	ffs_xrec_trim(&r, max(r.off, lblk), ~0ull);
	ffs_xfs_trim_shared(sb, inode, &r, &shared);
	*run = (struct ffs_type_run){ .lblk = r.off, .len = r.len, .pblk = r.blk,
				      .unwritten = r.state == FFS_XFS_UNWRITTEN, .shared = shared };
	return true;
}

static u64 free_blocks(const struct ffs_super *sb)
{
	return ffs_xfs(sb)->nr_free;
}

static void destroy(struct ffs_ops *o)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_xfs *x = ffs_xfs(sb);
	u32 i;

	for (i = 0; i < sb->cap_inodes;) {
		if (sb->inodes[i])
			ffs_xfs_inode_free(o, sb->inodes[i]); /* may move another one here */
		else
			i++;
	}
	ffs_xfs_durable_free(x);
	ffs_runs_free(&x->free);
	free(x->busy);
	ffs_runs_free(&x->refs);
	free(x);
}

static void changed(struct ffs_inode *inode)
{
	ffs_xfs_log(inode, true);
}

static const struct ffs_fs_type type = {
	.run = run,
	.inode_new = ffs_xfs_create,
	.inactivate = ffs_xfs_inactivate,
	.changed = changed,
	.opened = ffs_xfs_opened,
	.closing = ffs_xfs_closing,
	.read = read_file,
	.write = ffs_xfs_write,
	.fallocate = ffs_xfs_fallocate,
	.setsize = ffs_xfs_setsize,
	.next_run = next_run,
	.free_blocks = free_blocks,
	.remount = remount,
	.restore = ffs_xfs_restore,
	.destroy = destroy,
};

void ffs_xfs_mount(struct ffs_ops *o)
{
	struct ffs_super *sb = &o->sb;

	sb->type = &type;
	sb->iomap = &ffs_iomap_path;
	sb->iomap_fs = &ffs_xfs_iomap;
	sb->dirty_inode = ffs_xfs_log_times;
	sb->flush_all = ffs_flush_all;
	ffs_xfs_mkfs(sb);
	o->root = ffs_xfs_inode_new(o, ffs_xfs(sb)->root_ino, FFS_S_IFDIR | 0755);
	o->root->nlink = 2;
	ffs_vfs(o->root)->parent = o->root->ino;
	ffs_xfs_log_force(sb);
}
