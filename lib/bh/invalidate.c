// SPDX-License-Identifier: MIT
/*
 * Buffers thrown away: block_invalidate_folio, ext4_journalled_invalidate_folio,
 * filemap_release_folio (v6.18).
 */
#include "bh.h"

void ffs_bh_invalidate(struct ffs_super *sb, struct ffs_mapping *m, struct ffs_folio *f, u64 offset,
		       u64 len)
{
	u8 bits = sb->env.block_bits;
	u32 first = (u32)div_up(offset, ffs_block_size(&sb->env)), end, b;
	bool journalled = ffs_should_journal_data(sb, m->inode);

	if (journalled)
		ffs_emit(&sb->env, ext4_journalled_invalidate_folio, m->inode->ino, f->index, offset,
			 len);
	else
		ffs_emit(&sb->env, ext4_invalidate_folio, m->inode->ino, f->index, offset, len);
	/* Only blocks that lie wholly in the range; what is uptodate stays so. */
	end = (u32)((offset + len) >> bits);
	if (first >= end)
		return;
	if (journalled) {
		f->flags &= (u8)~FFS_FOLIO_JDATA;
		for (b = ffs_bh_next(f, FFS_BH_JDIRTY, first, end); b < end;
		     b = ffs_bh_next(f, FFS_BH_JDIRTY, b + 1, end)) {
			u64 pblk = ffs_bh_blocknr(f, b);

			ffs_journal_drop(sb->journal, pblk);
			ffs_runs_clear(&sb->jdata, pblk, pblk + 1);
		}
	}
	ffs_bh_clear(f, FFS_BH_JDIRTY, first, end);
	ffs_bh_clear(f, FFS_BH_DIRTY, first, end);
	ffs_bh_clear(f, FFS_BH_MAPPED, first, end);
	ffs_bh_clear(f, FFS_BH_NEW, first, end);
	ffs_bh_clear(f, FFS_BH_DELAY, first, end);
	ffs_bh_clear(f, FFS_BH_UNWRITTEN, first, end);
	if (!offset && len == ffs_folio_size(m, f))
		ffs_bh_release(m, f);
}

bool ffs_bh_release(struct ffs_mapping *m, struct ffs_folio *f)
{
	(void)m;
	if (!ffs_has_buffers(f))
		return true;
	if ((f->flags & FFS_FOLIO_WRITEBACK) || ffs_bh_busy(f))
		return false;
	ffs_folio_strip_buffers(f);
	/* With no dirty buffer left the folio is clean (try_to_free_buffers). */
	ffs_folio_clear_dirty(f);
	return true;
}
