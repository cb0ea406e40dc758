// SPDX-License-Identifier: MIT
/* fallocate and zero range: ext4_fallocate, ext4_alloc_file_blocks, ext4_zero_range (v6.18). */
#include "ops.h"

#define UNWRITTEN_MAX_LEN 32767u

int ffs_falloc_time(struct ffs_ops *o, struct ffs_inode *inode)
{
	return ffs_sb_has(&o->sb, FOLIOFS_CHANGE_FALLOC_TIME_FIRST) ? 0 : ffs_update_time(o, inode);
}

/* Nothing locks a folio with a handle open. */
static bool zeroes_outside(const struct ffs_super *sb)
{
	return ffs_sb_has(sb, FOLIOFS_CHANGE_IM_ZERO_OUTSIDE_HANDLE);
}

/* The size follows a piece that was mapped; what lay behind the old EOF in its block is zeroed. */
static void extend_size(struct ffs_ops *o, struct ffs_handle *h, struct ffs_inode *inode, u64 old,
			u64 to)
{
	struct ffs_super *sb = &o->sb;

	if (to > inode->i_size) {
		ffs_set_isize(sb, inode, to);
		ffs_set_times(o, inode);
	}
	if (to > inode->i_disksize)
		ffs_set_disksize(sb, inode, to);
	if (to > old && h) {
		ffs_isize_extended(sb, inode, old, to);
		if (ffs_sb_has(sb, FOLIOFS_CHANGE_ZERO_OLD_EOF) && !zeroes_outside(sb))
			ffs_path_of(sb, inode)->zero_partial(sb, h, inode, old, to - old);
	}
}

/* im-eof-order: before any size moves. */
static bool zeroes_first(const struct ffs_super *sb, const struct ffs_inode *inode)
{
	return (inode->flags & FFS_INODE_IOMAP) && ffs_sb_has(sb, FOLIOFS_CHANGE_IM_EOF_ORDER);
}

/* The same of extend_size() outside of a handle. */
static int zero_old_end(struct ffs_super *sb, struct ffs_inode *inode, u64 old, u64 to)
{
	if (to <= old || !zeroes_outside(sb))
		return 0;
	return ffs_path_of(sb, inode)->zero_partial(sb, NULL, inode, old, to - old);
}

/* Allocate [lblk, lblk + len), unwritten; @new_size: what i_size grows to, 0: stays. */
static int alloc_blocks(struct ffs_ops *o, struct ffs_inode *inode, u32 lblk, u32 len, u64 new_size,
			u32 flags)
{
	struct ffs_super *sb = &o->sb;
	u64 old = inode->i_size;
	u32 retries = 0, credits_len = len, depth = ffs_inode_depth(inode);
	u64 pblk = 0;
	int ret = 0, err = zeroes_first(sb, inode) ? zero_old_end(sb, inode, old, new_size) : 0;

	if (err)
		return err;
	/* One extent can hold it: no rounding up that would cut it into several. */
	if (len <= UNWRITTEN_MAX_LEN)
		flags |= FFS_GET_NO_NORMALIZE;
	do {
		while (len) {
			/* One struct for all pieces: events show the last answer's block until the next. */
			struct ffs_map map = { .lblk = lblk, .len = len, .pblk = pblk };
			struct ffs_handle *h;
			u64 to;

			if (depth != ffs_inode_depth(inode)) {
				credits_len = len;
				depth = ffs_inode_depth(inode);
			}
			ret = ffs_start(sb, inode, FOLIOFS_CREDIT_FALLOCATE, credits_len,
					"ext4_alloc_file_blocks", &h);
			if (ret)
				return ret;
			ret = ffs_path_of(sb, inode)->map(sb, h, inode, &map, flags);
			if (ret <= 0) {
				ffs_mark_inode_dirty(sb, h, inode, "ext4_alloc_file_blocks");
				ffs_handle_stop(h);
				break;
			}
			retries = 0;
			to = min((u64)(lblk + (u32)ret) << sb->env.block_bits, new_size);
			if (new_size)
				extend_size(o, h, inode, old, to);
			err = ffs_mark_inode_dirty(sb, h, inode, "ext4_alloc_file_blocks");
			ffs_update_fsync_tid(h, inode, true);
			ffs_handle_stop(h);
			if (!err && !zeroes_first(sb, inode))
				err = zero_old_end(sb, inode, old, to);
			if (err)
				return err;
			ffs_stop(&sb->env, FALLOCATE_MAPPED, inode->ino, FFS_HELD_INODE, 0, 0);
			pblk = map.pblk;
			lblk += (u32)ret;
			len -= (u32)ret;
		}
	} while (ret == -ENOSPC && ffs_should_retry_alloc(sb, &retries));
	return ret < 0 ? ret : 0;
}

static u64 grown_size(const struct ffs_inode *inode, u32 mode, u64 end)
{
	return !(mode & FOLIOFS_FALLOC_KEEP_SIZE) &&
			       (end > inode->i_size || end > inode->i_disksize) ?
		       end : 0;
}

static int do_fallocate(struct ffs_ops *o, struct ffs_file *f, u32 mode, u64 off, u64 len)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_inode *inode = f->inode;
	u32 first = (u32)(off >> sb->env.block_bits);
	u32 blocks = (u32)ffs_blocks_up(&sb->env, off + len) - first;
	int err = -EOPNOTSUPP;

	ffs_emit(&sb->env, ext4_fallocate_enter, inode->ino, off, len, mode);
	if (inode->flags & FFS_INODE_EXTENTS)
		err = ffs_falloc_time(o, inode);
	if (!err)
		err = alloc_blocks(o, inode, first, blocks, grown_size(inode, mode, off + len),
				   FFS_GET_CREATE | FFS_GET_UNWRIT);
	if (!err && (f->flags & (FOLIOFS_O_SYNC | FOLIOFS_O_DSYNC)))
		ffs_journal_wait_commit(sb->journal, inode->sync_tid);
	ffs_emit(&sb->env, ext4_fallocate_exit, inode->ino, off, blocks, (u64)(s64)err);
	return err;
}

/* Bytes [off, end): cached data is dropped, written blocks wholly inside become unwritten. */
static int zero_inner(struct ffs_ops *o, struct ffs_inode *inode, u64 off, u64 end, u64 new_size)
{
	u32 flags = FFS_GET_CREATE | FFS_GET_UNWRIT | FFS_GET_CONVERT_UNWRITTEN | FFS_GET_EX_NOCACHE;
	struct ffs_super *sb = &o->sb;
	u32 first = (u32)ffs_blocks_up(&sb->env, off), last = (u32)(end >> sb->env.block_bits);
	int err;

	if (!ffs_sb_has(sb, FOLIOFS_CHANGE_DROP_EDGES) && last <= first)
		return 0;
	err = ffs_update_disksize(o, inode, off, end - off);
	if (!ffs_sb_has(sb, FOLIOFS_CHANGE_DROP_EDGES)) {
		off = (u64)first << sb->env.block_bits;
		end = (u64)last << sb->env.block_bits;
	}
	if (!err)
		err = ffs_drop_cached_range(o, inode, off, end);
	if (!err)
		ffs_stop(&sb->env, PUNCH_CUT, inode->ino, FFS_HELD_INODE | FFS_HELD_INVALIDATE, 0,
			 0);
	if (err || last <= first)
		return err;
	return alloc_blocks(o, inode, first, last - first, new_size, flags);
}

/* The partly covered blocks at the edges, in a handle of their own. */
static int zero_edges(struct ffs_ops *o, struct ffs_file *f, u64 off, u64 len, u64 new_size)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_inode *inode = f->inode;
	bool outside = zeroes_outside(sb);
	struct ffs_handle *h;
	int err = 0;

	if (outside)
		err = ffs_path_of(sb, inode)->zero_partial(sb, NULL, inode, off, len);
	if (!err)
		err = ffs_start(sb, inode, FOLIOFS_CREDIT_ZERO_EDGES, 0, "ext4_fallocate", &h);
	if (err)
		return err;
	if (!outside)
		err = ffs_path_of(sb, inode)->zero_partial(sb, h, inode, off, len);
	if (!err) {
		if (new_size)
			extend_size(o, NULL, inode, new_size, new_size);
		err = ffs_mark_inode_dirty(sb, h, inode, "ext4_fallocate");
		ffs_update_fsync_tid(h, inode, true);
		h->sync |= (f->flags & (FOLIOFS_O_SYNC | FOLIOFS_O_DSYNC)) != 0;
	}
	ffs_handle_stop(h);
	return err;
}

/* zr-sync-edges: blocks that are covered in part get written, since zeroing passes unwritten ones. */
static int sync_edges(struct ffs_ops *o, struct ffs_inode *inode, u64 off, u64 end)
{
	u64 mask = ffs_block_size(&o->sb.env) - 1;
	int err = 0;

	if (!ffs_sb_has(&o->sb, FOLIOFS_CHANGE_IM_ZR_SYNC_EDGES) ||
	    !(inode->flags & FFS_INODE_IOMAP))
		return 0;
	if (off & mask)
		err = ffs_write_and_wait(o, inode, off & ~mask, off | mask);
	if (!err && (end & mask))
		err = ffs_write_and_wait(o, inode, end & ~mask, end | mask);
	return err;
}

int ffs_zero_range(struct ffs_ops *o, struct ffs_file *f, u32 mode, u64 off, u64 len)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_inode *inode = f->inode;
	u64 end = off + len, block = ffs_block_size(&sb->env), new_size;
	bool aligned = !((off | end) & (block - 1));
	u32 first = (u32)(off >> sb->env.block_bits);
	int err = 0;

	ffs_emit(&sb->env, ext4_zero_range, inode->ino, off, len, mode);
	if (!(inode->flags & FFS_INODE_EXTENTS))
		return -EOPNOTSUPP;
	new_size = grown_size(inode, mode, end);
	err = sync_edges(o, inode, off, end);
	if (!err)
		err = ffs_commit_journalled(o, inode);
	if (!err)
		err = ffs_falloc_time(o, inode);
	if (!err && !aligned)
		err = alloc_blocks(o, inode, first, (u32)ffs_blocks_up(&sb->env, end) - first, new_size,
				   FFS_GET_CREATE | FFS_GET_UNWRIT);
	if (!err)
		err = zero_inner(o, inode, off, end, new_size);
	if (err || aligned)
		return err;
	return zero_edges(o, f, off, len, new_size);
}

int ffs_fallocate(struct ffs_ops *o, struct ffs_file *f, u32 mode, u64 off, u64 len)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_inode *inode = f->inode;
	u32 kind = mode & ~FOLIOFS_FALLOC_KEEP_SIZE;
	int err;

	if (!len || (s64)off < 0 || (s64)len < 0)
		return -EINVAL;
	if (f->flags & FOLIOFS_O_RDONLY)
		return -EBADF;
	if ((kind & (kind - 1)) ||
	    (kind == FOLIOFS_FALLOC_PUNCH_HOLE && !(mode & FOLIOFS_FALLOC_KEEP_SIZE)) ||
	    (kind == FOLIOFS_FALLOC_UNSHARE_RANGE))
		return -EOPNOTSUPP;
	if (off + len > ffs_max_size(sb, inode))
		return -EFBIG;
	err = ffs_path_of(sb, inode)->convert_inline(sb, inode);
	if (err)
		return err;
	if (ffs_sb_has(sb, FOLIOFS_CHANGE_FALLOC_TIME_FIRST)) {
		err = ffs_update_time(o, inode);
		if (err)
			return err;
	}
	switch (kind) {
	case 0:
		return do_fallocate(o, f, mode, off, len);
	case FOLIOFS_FALLOC_PUNCH_HOLE:
		return ffs_punch(o, inode, off, len);
	case FOLIOFS_FALLOC_ZERO_RANGE:
		return ffs_zero_range(o, f, mode, off, len);
	case FOLIOFS_FALLOC_COLLAPSE_RANGE:
		return ffs_collapse(o, inode, off, len);
	case FOLIOFS_FALLOC_INSERT_RANGE:
		return ffs_insert(o, inode, off, len);
	default:
		return -EOPNOTSUPP;
	}
}
