// SPDX-License-Identifier: MIT
/*
 * Ordered data of a commit, page by page: ext4_writepage under generic_writepages, which
 * jbd2_journal_submit_inode_data_buffers called before "ext4: switch to using
 * ext4_do_writepages() for ordered data writeout" (v6.2).
 */
#include "bh.h"

/* One page: blocks that wait for an allocation stay dirty, the others are written. */
static void writepage(struct ffs_super *sb, struct ffs_mapping *m, struct ffs_folio *f,
		      struct ffs_wbc *wbc)
{
	struct ffs_io_end *io = ffs_io_end_new(m->inode);
	u64 size = m->inode->i_size, len = ffs_folio_size(m, f);

	ffs_emit(&sb->env, ext4_writepage, m->inode->ino, f->index);
	ffs_folio_clear_dirty(m, f);
	if (ffs_folio_end(m, f) > size)
		len = size & (len - 1);
	ffs_bio_write_folio(sb, m, f, len, wbc, io);
	ffs_io_end_submit(sb, io);
}

void ffs_bh_writepage_range(struct ffs_super *sb, struct ffs_inode *inode, struct ffs_wbc *wbc)
{
	struct ffs_mapping *m = inode->mapping;
	u32 index = (u32)(wbc->range_start >> sb->env.page_bits);
	u64 last = wbc->range_end >> sb->env.page_bits;
	struct ffs_folio *f;

	while (index <= last && (f = ffs_folio_next_tagged(m, index, FFS_TAG_DIRTY)) &&
	       f->index <= last) {
		index = f->index + ffs_folio_pages(f);
		if (f->flags & FFS_FOLIO_WRITEBACK)
			ffs_sleep(sb);
		if (f->flags & FFS_FOLIO_DIRTY)
			writepage(sb, m, f, wbc);
	}
}
