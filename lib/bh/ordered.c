// SPDX-License-Identifier: MIT
/*
 * data=ordered: which inodes' data a commit has to write first (jbd2_inode,
 * ext4_jbd2_inode_add_write/_wait, ext4_normal_submit_inode_data_buffers; v6.18).
 */
#include "bh.h"

void ffs_order_data(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode, u64 first,
		    u64 last, bool write)
{
	struct ffs_bh_inode *bi = ffs_bh_inode(inode);

	if (!h || h->nojournal)
		return;
	/* One "write" entry marks the in-core inode for good (measured, v6.18). */
	bi->order_write |= write;
	if (bi->order_tid != h->tid) {
		bi->order_tid = h->tid;
		bi->order_first = first;
		bi->order_last = last;
		if (sb->nr_ordered == sb->cap_ordered) {
			sb->cap_ordered = sb->cap_ordered ? 2 * sb->cap_ordered : 8;
			sb->ordered = ffs_realloc(sb->ordered,
						  sb->cap_ordered * sizeof(*sb->ordered));
		}
		sb->ordered[sb->nr_ordered++] = inode->ino;
		return;
	}
	bi->order_first = min(bi->order_first, first);
	bi->order_last = max(bi->order_last, last);
}

void ffs_bh_submit_ordered(struct ffs_super *sb, u32 tid)
{
	u32 i;

	/* The newest entry is at the head of the list. */
	for (i = sb->nr_ordered; i--;) {
		struct ffs_inode *inode = ffs_inode_find(sb, sb->ordered[i]);
		/* The number may have been used again since, by an inode of the other path. */
		struct ffs_bh_inode *bi = inode && !(inode->flags & FFS_INODE_IOMAP) ?
						  ffs_bh_inode(inode) : NULL;
		struct ffs_wbc wbc = {
			.sync_mode = FFS_WB_ALL,
			.nr_to_write = FFS_LLONG_MAX,
			.for_commit = true,
		};

		if (!bi || bi->order_tid != tid)
			continue;
		bi->order_tid = 0;
		if (!bi->order_write || ffs_should_journal_data(sb, inode))
			continue;
		wbc.range_start = bi->order_first;
		wbc.range_end = bi->order_last;
		if (ffs_sb_has(sb, FOLIOFS_CHANGE_ORDERED_WRITEPAGES))
			ffs_bh_writepages(sb, inode, &wbc);
		else
			ffs_bh_write_cache_pages(sb, inode, &wbc);
	}
	sb->nr_ordered = 0;
}
