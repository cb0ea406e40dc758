// SPDX-License-Identifier: MIT
/*
 * Sizes: xfs_setattr_size, xfs_file_write_zero_eof, xfs_can_free_eofblocks,
 * xfs_free_eofblocks (v6.18).
 */
#include "xfs.h"

#define LAST_BLOCK (~0ull >> 1)

int ffs_xfs_zero_eof(struct ffs_super *sb, struct ffs_inode *inode, u64 to, bool *did)
{
	u64 size = inode->i_size;

	if (to <= size)
		return 0;
	ffs_emit(&sb->env, xfs_zero_eof, inode->ino, size, inode->i_disksize, size, to - size);
	return ffs_iomap_zero_range(sb, inode, size, to - size, did);
}

int ffs_xfs_setsize(struct ffs_super *sb, struct ffs_inode *inode, u64 size)
{
	struct ffs_xfs_inode *i = ffs_xfs_inode(inode);
	u64 old = inode->i_size;
	bool zeroed = false;
	struct ffs_xrec r;
	int err;

	if (!size && !old && !ffs_xfs_lookup(inode, FFS_XFS_DATA, 0, &r)) {
		ffs_set_times(ffs_ops(sb), inode);
		ffs_xfs_log(inode, true); /* as for a change of mode or owner */
		return 0;
	}
	if (size > old)
		err = ffs_xfs_zero_eof(sb, inode, size, &zeroed);
	else
		err = ffs_iomap_truncate_page(sb, inode, size, &zeroed);
	if (err)
		return err;
	ffs_set_isize(sb, inode, size);
	if (size > old)
		ffs_isize_extended(sb, inode, old, size);
	ffs_truncate_cache(sb, inode, size, ~0ull);
	/* Data between the sizes on disk has to be there before the new size is. */
	if ((zeroed || (size > inode->i_disksize && old != inode->i_disksize)) &&
	    size > inode->i_disksize) {
		err = ffs_iomap_write_and_wait(sb, inode, inode->i_disksize, size - 1);
		if (err)
			return err;
	}
	ffs_set_times(ffs_ops(sb), inode);
	ffs_set_disksize(sb, inode, size);
	ffs_xfs_log(inode, true);
	if (size <= old) {
		u64 block = ffs_blocks_up(&sb->env, size);

		ffs_xfs_unmap(sb, inode, FFS_XFS_COW, block, LAST_BLOCK);
		ffs_xfs_unmap(sb, inode, FFS_XFS_DATA, block, LAST_BLOCK);
		ffs_xfs_clear_empty(inode);
		i->truncated = true;
	}
	return 0;
}

bool ffs_xfs_can_free_eof(struct ffs_super *sb, struct ffs_inode *inode)
{
	const struct ffs_xfs_inode *i = ffs_xfs_inode(inode);
	struct ffs_xrec r;

	if (!ffs_is_reg(inode) || (!inode->i_size && !inode->mapping->nr_folios && !inode->reserved))
		return false;
	if (i->prealloc && !inode->reserved)
		return false;
	return ffs_xfs_lookup(inode, FFS_XFS_DATA, ffs_blocks_up(&sb->env, inode->i_size), &r) ||
	       inode->reserved;
}

void ffs_xfs_free_eof(struct ffs_super *sb, struct ffs_inode *inode)
{
	/* Of a file with blocks that somebody asked for, only what is delayed goes (6.10). */
	if (ffs_xfs_inode(inode)->prealloc) {
		ffs_xfs_punch_delayed(sb, inode, FFS_XFS_DATA,
				      ffs_blocks_up(&sb->env, inode->i_size), LAST_BLOCK);
		return;
	}
	ffs_xfs_unmap(sb, inode, FFS_XFS_DATA, ffs_blocks_up(&sb->env, inode->i_size), LAST_BLOCK);
	ffs_xfs_clear_empty(inode);
	ffs_xfs_log(inode, true);
}
