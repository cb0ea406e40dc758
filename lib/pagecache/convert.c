// SPDX-License-Identifier: MIT
/* Unwritten blocks become written: ext4_convert_unwritten_extents (v6.18). */
#include "super.h"

int ffs_convert_range(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode, u64 pos,
		      u64 len)
{
	u32 lblk = (u32)(pos >> sb->env.block_bits);
	u32 end = (u32)ffs_blocks_up(&sb->env, pos + len), credits_len = end - lblk;
	struct ffs_map map = { 0 }; /* the block of the piece before stays in it: traced */
	int err = 0;

	while (lblk < end && !err) {
		struct ffs_handle *own = h;
		int ret;

		map = (struct ffs_map){ .lblk = lblk, .len = end - lblk, .pblk = map.pblk };
		if (!h)
			err = ffs_start(sb, inode, FOLIOFS_CREDIT_CONVERT_PLAIN, credits_len,
					"ext4_convert_unwritten_extents", &own);
		if (err)
			return err;
		ret = ffs_map_blocks(&sb->bm, own, inode, &map, ffs_convert_flags(&sb->bm));
		err = ffs_mark_inode_dirty(sb, own, inode, "ext4_convert_unwritten_extents");
		if (!h)
			ffs_handle_stop(own);
		if (ret <= 0)
			return ret;
		lblk += (u32)ret;
	}
	return err;
}
