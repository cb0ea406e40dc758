// SPDX-License-Identifier: MIT
/*
 * Zeroing parts of blocks: ext4_zero_partial_blocks and ext4_block_truncate_page of an
 * iomap inode (ext4_iomap_block_zero_range).
 */
#include "ext4iomap.h"

/* Zero [pos, end), which lies in one block. */
static int zero_in_block(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode,
			 u64 pos, u64 end)
{
	bool did = false;

	(void)h;
	/*
	 * SIMPLIFIED: the kernel stops here with -EINVAL. Going on shows the deadlock that this
	 * guards against.
	 */
	if (ffs_sb_has(sb, FOLIOFS_CHANGE_IM_ZERO) && ffs_journal_current(sb->journal) &&
	    !ffs_journal_current(sb->journal)->nojournal)
		ffs_emit(&sb->env, foliofs_assert, inode->ino,
			 ffs_str("zeroing with a handle open"));
	return ffs_iomap_zero_range(sb, inode, pos, end - pos, &did);
}

/*
 * im-eof-order: the zeroed rest of the last block is submitted.  Whoever moves i_disksize over it - the
 * end of I/O of an append, truncate up, fallocate - waits for that I/O; here the device has what was
 * submitted.
 */
static int submit_eof_block(struct ffs_super *sb, struct ffs_inode *inode)
{
	struct ffs_wbc wbc = {
		.sync_mode = FFS_WB_ALL, .nr_to_write = FFS_LLONG_MAX,
		.range_start = inode->i_size, .range_end = inode->i_size,
	};

	return ffs_iomap_writepages(sb, inode, &wbc);
}

int ffs_ext4im_zero_partial(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode,
			    u64 pos, u64 len)
{
	int err = ffs_zero_edges(sb, h, inode, pos, len, zero_in_block);

	if (!err && pos == inode->i_size && ffs_sb_has(sb, FOLIOFS_CHANGE_IM_EOF_ORDER))
		err = submit_eof_block(sb, inode);
	return err;
}

/*
 * Nothing is ordered with a commit, so what truncate has zeroed has to be on disk before the
 * inode leaves the orphan list: else a crash, and a size that grows later, would show it again.
 */
int ffs_ext4im_settle_tail(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode,
			   u64 pos, u64 len)
{
	bool early = ffs_sb_has(sb, FOLIOFS_CHANGE_IM_TRUNC_ZERO_EARLY);

	/* Without im-noorder truncate treats it as any inode of data=ordered. */
	if (h && ffs_should_order_data(sb, inode))
		ffs_ext4im_order(h, inode, pos, len);
	if (early == (h != NULL) || !ffs_sb_has(sb, FOLIOFS_CHANGE_IM_ZERO) || !ffs_zeroing_told(sb))
		return 0;
	return ffs_iomap_write_and_wait(sb, inode, pos, pos + len - 1);
}
