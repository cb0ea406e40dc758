// SPDX-License-Identifier: MIT
/*
 * Writeback page by page, without mapping: write_cache_pages with ext4_writepage.  Ordered data
 * of a commit went this way before "ext4: switch to using ext4_do_writepages() for ordered data
 * writeout" (v6.2), data=journal before "ext4: Convert data=journal writeback to use
 * ext4_writepages()" (v6.3).
 */
#include "bh.h"

/* data=journal: what a mapping dirtied goes into the journal (__ext4_journalled_writepage). */
static int journalled_writepage(struct ffs_super *sb, struct ffs_inode *inode, struct ffs_folio *f,
				u64 len)
{
	u32 b, end = (u32)div_up(len, ffs_block_size(&sb->env));
	struct ffs_handle *h;
	int err;

	f->flags &= (u8)~FFS_FOLIO_JDATA;
	err = ffs_start(sb, inode, FOLIOFS_CREDIT_JOURNALLED_WRITEBACK, 0, "ext4_writepage", &h);
	if (err)
		return err;
	for (b = 0; b < end && !err; b++)
		if (ffs_bh_test(f, FFS_BH_MAPPED, b))
			err = ffs_dirty_journalled(sb, h, inode, f, b);
	ffs_update_fsync_tid(h, inode, true);
	ffs_handle_stop(h);
	return err;
}

/* One page: blocks that wait for an allocation stay dirty, the others are written. */
static int writepage(struct ffs_super *sb, struct ffs_inode *inode, struct ffs_folio *f,
		     struct ffs_wbc *wbc)
{
	struct ffs_mapping *m = inode->mapping;
	u64 size = inode->i_size, len = ffs_folio_size(m, f);
	struct ffs_io_end *io;

	ffs_emit(&sb->env, ext4_writepage, inode->ino, f->index);
	ffs_folio_clear_dirty(f);
	if (ffs_folio_end(m, f) > size)
		len = size & (len - 1);
	if ((f->flags & FFS_FOLIO_JDATA) && ffs_should_journal_data(sb, inode))
		return journalled_writepage(sb, inode, f, len);
	io = ffs_io_end_new(inode);
	ffs_bio_write_folio(sb, m, f, len, wbc, io);
	ffs_io_end_submit(sb, io);
	return 0;
}

int ffs_bh_write_cache_pages(struct ffs_super *sb, struct ffs_inode *inode, struct ffs_wbc *wbc)
{
	struct ffs_mapping *m = inode->mapping;
	u8 bits = sb->env.page_bits;
	u32 index = wbc->range_cyclic ? m->writeback_index : (u32)(wbc->range_start >> bits);
	u64 last = (wbc->range_cyclic ? FFS_LLONG_MAX : wbc->range_end) >> bits;
	u32 done = index; /* where cyclic writeback goes on: the last page, 0 behind all of them */
	bool out_of_quota = false;
	struct ffs_folio *f;
	int err = 0, ret;

	while (!out_of_quota && index <= last &&
	       (f = ffs_folio_next_tagged(m, index, FFS_TAG_DIRTY)) && f->index <= last) {
		index = f->index + ffs_folio_pages(f);
		done = f->index;
		if (f->flags & FFS_FOLIO_WRITEBACK) {
			if (wbc->sync_mode == FFS_WB_NONE)
				continue;
			ffs_sleep(sb);
		}
		if (!(f->flags & FFS_FOLIO_DIRTY))
			continue;
		ret = writepage(sb, inode, f, wbc);
		if (!err)
			err = ret;
		wbc->nr_to_write--;
		if (wbc->sync_mode == FFS_WB_NONE && (ret || wbc->nr_to_write <= 0))
			out_of_quota = true;
	}
	if (wbc->range_cyclic && !out_of_quota)
		done = 0;
	if (wbc->range_cyclic || (!wbc->range_start && wbc->range_end == FFS_LLONG_MAX &&
				  wbc->nr_to_write > 0))
		m->writeback_index = done;
	return err;
}
