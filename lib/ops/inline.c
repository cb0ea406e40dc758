// SPDX-License-Identifier: MIT
/* Truncate of data that lies in the inode: ext4_setattr, ext4_inline_data_truncate (v6.18). */
#include "ops.h"

int ffs_inline_truncate(struct ffs_ops *o, struct ffs_inode *inode, u64 size)
{
	struct ffs_super *sb = &o->sb;
	bool shrink = size < inode->i_size;
	struct ffs_handle *h;
	int err;

	if (shrink) {
		err = ffs_start(sb, inode, FOLIOFS_CREDIT_SETATTR_SIZE, 0, "ext4_setattr", &h);
		if (err)
			return err;
		ffs_orphan_add(sb, h, inode);
		ffs_set_times(o, inode);
		ffs_set_disksize(sb, inode, size);
		ffs_mark_inode_dirty(sb, h, inode, "ext4_setattr");
		ffs_set_isize(sb, inode, size);
		ffs_handle_stop(h);
	}
	ffs_truncate_cache(sb, inode, size, ~0ull);
	ffs_emit(&sb->env, ext4_truncate_enter, inode->ino, ffs_i_sectors(inode, sb->env.block_bits));
	err = ffs_start(sb, inode, FOLIOFS_CREDIT_INLINE_TRUNCATE, 0, "ext4_inline_data_truncate", &h);
	if (err)
		return err;
	ffs_orphan_add(sb, h, inode);
	ffs_path_of(sb, inode)->cut_inline(inode, size);
	ffs_orphan_del(sb, h, inode);
	err = ffs_mark_inode_dirty(sb, h, inode, "ext4_inline_data_truncate");
	ffs_handle_stop(h);
	ffs_emit(&sb->env, ext4_truncate_exit, inode->ino, ffs_i_sectors(inode, sb->env.block_bits));
	ffs_dirty_inode(sb, inode);
	return err;
}
