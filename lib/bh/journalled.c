// SPDX-License-Identifier: MIT
/*
 * data=journal: data blocks in the running transaction (ext4_dirty_journalled_data,
 * ext4_journal_folio_buffers; v6.18).
 */
#include "bh.h"

int ffs_dirty_journalled(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode,
			 struct ffs_folio *f, u32 b)
{
	struct ffs_mapping *m = inode->mapping;
	u64 pblk = ffs_bh_blocknr(m, ffs_folio_block(m, f) + b);

	ffs_bh_set(f, FFS_BH_UPTODATE, b, b + 1);
	ffs_bh_clear(f, FFS_BH_DIRTY, b, b + 1);
	ffs_bh_set(f, FFS_BH_JDIRTY, b, b + 1);
	ffs_folio_set_dirty(m, f);
	ffs_inode_dirtied(sb, inode);
	if (!h)
		return 0;
	f->jtid = h->tid;
	ffs_runs_set(&sb->jdata, pblk, pblk + 1, 0,
		     (u64)inode->ino << 32 | (ffs_folio_block(m, f) + b));
	return ffs_journal_dirty(h, pblk);
}
