// SPDX-License-Identifier: MIT
/* Collapse and insert range (v6.18). */
#include "ops.h"

static bool cluster_aligned(const struct ffs_super *sb, u64 v)
{
	u64 cluster = (u64)ffs_block_size(&sb->env) * sb->env.geo.cluster_ratio;

	return !(v % cluster);
}

static void trace(struct ffs_ops *o, struct ffs_inode *inode, u64 off, u64 len, bool insert)
{
	if (insert)
		ffs_emit(&o->sb.env, ext4_insert_range, inode->ino, off, len);
	else
		ffs_emit(&o->sb.env, ext4_collapse_range, inode->ino, off, len);
}

/* What is asked before i_size is looked at, and the event. */
static int begin(struct ffs_ops *o, struct ffs_inode *inode, u64 off, u64 len, bool insert)
{
	struct ffs_super *sb = &o->sb;
	bool trace_first = ffs_sb_has(sb, FOLIOFS_CHANGE_SHIFT_TRACE_FIRST);

	if (trace_first)
		trace(o, inode, off, len, insert);
	if (!(inode->flags & FFS_INODE_EXTENTS))
		return -EOPNOTSUPP;
	if (!cluster_aligned(sb, off) || !cluster_aligned(sb, len))
		return -EINVAL;
	if (trace_first)
		return 0;
	trace(o, inode, off, len, insert);
	return ffs_commit_journalled(o, inode);
}

int ffs_collapse(struct ffs_ops *o, struct ffs_inode *inode, u64 off, u64 len)
{
	struct ffs_super *sb = &o->sb;
	u8 bits = sb->env.block_bits;
	u64 start = round_down_pow2(off, ffs_page_size(&sb->env)), size;
	struct ffs_handle *h;
	int err = begin(o, inode, off, len, false);

	if (err)
		return err;
	/* Up to EOF it would be a truncate. */
	if (off + len >= inode->i_size)
		return -EINVAL;
	err = ffs_commit_journalled(o, inode);
	if (!err)
		err = ffs_falloc_time(o, inode);
	if (!err)
		err = ffs_write_and_wait(o, inode, start, off);
	if (!err)
		err = ffs_write_and_wait(o, inode, off + len, FFS_LLONG_MAX);
	if (err)
		return err;
	ffs_truncate_cache(sb, inode, start, ~0ull);
	err = ffs_start(sb, inode, FOLIOFS_CREDIT_COLLAPSE, 0, "ext4_fallocate", &h);
	if (err)
		return err;
	ffs_discard_preallocations(sb->alloc, inode);
	err = ffs_collapse_blocks(&sb->bm, h, inode, (u32)(off >> bits), (u32)((off + len) >> bits));
	if (!err) {
		size = inode->i_size - len;
		ffs_set_isize(sb, inode, size);
		ffs_set_disksize(sb, inode, size);
		ffs_set_times(o, inode);
		err = ffs_mark_inode_dirty(sb, h, inode, "ext4_fallocate");
		ffs_update_fsync_tid(h, inode, true);
	}
	h->sync |= sb->env.geo.mount.sync;
	ffs_handle_stop(h);
	return err;
}

int ffs_insert(struct ffs_ops *o, struct ffs_inode *inode, u64 off, u64 len)
{
	struct ffs_super *sb = &o->sb;
	u8 bits = sb->env.block_bits;
	u64 start = round_down_pow2(off, ffs_page_size(&sb->env));
	struct ffs_handle *h;
	int err = begin(o, inode, off, len, true);

	if (err)
		return err;
	if (off >= inode->i_size)
		return -EINVAL;
	if (inode->i_size + len > ffs_max_size(sb, inode))
		return -EFBIG;
	err = ffs_commit_journalled(o, inode);
	if (!err)
		err = ffs_falloc_time(o, inode);
	if (!err)
		err = ffs_write_and_wait(o, inode, start, FFS_LLONG_MAX);
	if (err)
		return err;
	ffs_truncate_cache(sb, inode, start, ~0ull);
	err = ffs_start(sb, inode, FOLIOFS_CREDIT_INSERT, 0, "ext4_fallocate", &h);
	if (err)
		return err;
	/* Grown first: an error while shifting must not lose data. */
	ffs_set_isize(sb, inode, inode->i_size + len);
	ffs_set_disksize(sb, inode, inode->i_disksize + len);
	ffs_set_times(o, inode);
	err = ffs_mark_inode_dirty(sb, h, inode, "ext4_fallocate");
	if (!err) {
		ffs_discard_preallocations(sb->alloc, inode);
		err = ffs_insert_blocks(&sb->bm, h, inode, (u32)(off >> bits), (u32)(len >> bits));
		ffs_update_fsync_tid(h, inode, true);
	}
	h->sync |= sb->env.geo.mount.sync;
	ffs_handle_stop(h);
	return err;
}
