// SPDX-License-Identifier: MIT
/* Sizes: ext4_setattr with ATTR_SIZE, ext4_truncate (v6.18). */
#include "ops.h"

/* Zeroes behind @size in its block, which truncate down leaves there; nothing with an aligned size. */
static int zero_tail(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode, u64 size)
{
	u64 block = ffs_block_size(&sb->env), tail = -size & (block - 1);

	int err = tail ? ffs_path_of(sb, inode)->zero_partial(sb, h, inode, size, tail) : 0;

	/* z-len-unsigned: what is below zero is a large length there. */
	return ffs_sb_has(sb, FOLIOFS_CHANGE_IM_Z_LEN_UNSIGNED) ? 0 : err;
}

static int settle_tail(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode, u64 size)
{
	u64 block = ffs_block_size(&sb->env), tail = -size & (block - 1);

	return tail ? ffs_path_of(sb, inode)->settle_tail(sb, h, inode, size, tail) : 0;
}

int ffs_truncate(struct ffs_super *sb, struct ffs_inode *inode)
{
	bool early = ffs_sb_has(sb, FOLIOFS_CHANGE_IM_TRUNC_ZERO_EARLY);
	u64 size = inode->i_size;
	struct ffs_handle *h;
	int err, ret;

	ffs_emit(&sb->env, ext4_truncate_enter, inode->ino, ffs_i_sectors(inode, sb->env.block_bits));
	if (!size && !sb->env.geo.mount.noauto_da_alloc)
		inode->flags |= FFS_INODE_DA_ALLOC_CLOSE;
	/* With a handle open a write could not be waited for: its end may need one. */
	err = early ? zero_tail(sb, NULL, inode, size) : 0;
	if (!err && early)
		err = settle_tail(sb, NULL, inode, size);
	if (!err)
		err = ffs_start(sb, inode, FOLIOFS_CREDIT_TRUNCATE, 0, "ext4_truncate", &h);
	if (err)
		goto out;
	/* What these return is not looked at, in the kernel either. */
	if (!early)
		zero_tail(sb, h, inode, size);
	settle_tail(sb, h, inode, size);
	/* A crash from here to the last handle leaves blocks behind the size: the mount removes them. */
	err = ffs_orphan_add(sb, h, inode);
	if (!err) {
		ffs_discard_preallocations(sb->alloc, inode);
		err = ffs_truncate_blocks(&sb->bm, h, inode, (u32)ffs_blocks_up(&sb->env, size));
	}
	if (inode->nlink)
		ffs_orphan_del(sb, h, inode);
	ret = ffs_mark_inode_dirty(sb, h, inode, "ext4_truncate");
	if (!err)
		err = ret;
	h->sync |= sb->env.geo.mount.sync;
	ffs_handle_stop(h);
out:
	ffs_emit(&sb->env, ext4_truncate_exit, inode->ino, ffs_i_sectors(inode, sb->env.block_bits));
	return err;
}

/* The size changes in a handle of its own, before the cache is cut. */
static int change_size(struct ffs_ops *o, struct ffs_inode *inode, u64 size)
{
	struct ffs_super *sb = &o->sb;
	u64 old = inode->i_size, old_disksize = inode->i_disksize;
	bool shrink = size < old, zero = !shrink && ffs_sb_has(sb, FOLIOFS_CHANGE_ZERO_OLD_EOF);
	bool outside = ffs_sb_has(sb, FOLIOFS_CHANGE_IM_ZERO_OUTSIDE_HANDLE);
	struct ffs_handle *h;
	int err = zero && outside ? zero_tail(sb, NULL, inode, old) : 0, ret;

	if (!err)
		err = ffs_start(sb, inode, FOLIOFS_CREDIT_SETATTR_SIZE, 0, "ext4_setattr", &h);
	if (err)
		return err;
	if (shrink)
		err = ffs_orphan_add(sb, h, inode);
	if (zero && !outside)
		zero_tail(sb, h, inode, old); /* not looked at, in the kernel either */
	ffs_set_times(o, inode);
	ffs_set_disksize(sb, inode, size);
	ret = ffs_mark_inode_dirty(sb, h, inode, "ext4_setattr");
	if (!err)
		err = ret;
	if (!err)
		ffs_set_isize(sb, inode, size);
	else
		ffs_set_disksize(sb, inode, old_disksize);
	ffs_handle_stop(h);
	return err;
}

int ffs_setattr_size(struct ffs_ops *o, struct ffs_inode *inode, u64 size)
{
	struct ffs_super *sb = &o->sb;
	u64 old = inode->i_size;
	int err = 0;

	if (size > ffs_max_size(sb, inode))
		return -EFBIG;
	if (inode->flags & FFS_INODE_INLINE_DATA) {
		if (size <= old)
			return ffs_inline_truncate(o, inode, size);
		err = ffs_path_of(sb, inode)->convert_inline(sb, inode);
		if (err)
			return err;
	}
	if (size < old)
		ffs_wait_committing_tail(o, inode, size);
	if (size != old) {
		err = change_size(o, inode, size);
		if (err)
			return err;
		if (size > old)
			ffs_isize_extended(sb, inode, old, size);
	}
	ffs_stop(&sb->env, TRUNCATE_SIZED, inode->ino, FFS_HELD_INODE | FFS_HELD_INVALIDATE, 0, 0);
	/* The cache is cut at the new end whether the size grew or not. */
	ffs_truncate_cache(sb, inode, size, ~0ull);
	ffs_stop(&sb->env, TRUNCATE_CUT, inode->ino, FFS_HELD_INODE | FFS_HELD_INVALIDATE, 0, 0);
	/* The same size too: what was allocated behind it goes. */
	if (size <= old)
		err = ffs_truncate(sb, inode);
	if (!err)
		ffs_dirty_inode(sb, inode);
	return err;
}
