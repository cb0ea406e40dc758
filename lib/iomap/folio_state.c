// SPDX-License-Identifier: MIT
/*
 * Uptodate and dirty blocks of a folio: struct iomap_folio_state and the ifs_*
 * functions of v6.18.  They are kept in two of the folio's bitmaps (folio.h): word
 * operations for 64 blocks.
 */
#include "iomap.h"

bool ffs_ifs_alloc(struct ffs_mapping *m, struct ffs_folio *f)
{
	if (ffs_folio_size(m, f) >> m->env->block_bits <= 1)
		return false;
	ffs_folio_attach_buffers(m, f); /* takes over what the folio's flags say */
	return true;
}

static u32 first_block(const struct ffs_mapping *m, u64 off)
{
	return (u32)(off >> m->env->block_bits);
}

static u32 end_block(const struct ffs_mapping *m, u64 off)
{
	return (u32)ffs_blocks_up(m->env, off);
}

void ffs_ifs_set_uptodate(struct ffs_mapping *m, struct ffs_folio *f, u64 off, u64 len)
{
	if ((f->flags & FFS_FOLIO_UPTODATE) || !len)
		return;
	if (ffs_has_buffers(f)) {
		ffs_bh_set(f, FFS_BH_UPTODATE, first_block(m, off), end_block(m, off + len));
		if (!ffs_bh_all(f, FFS_BH_UPTODATE, 0, f->bpf))
			return;
	}
	f->flags |= FFS_FOLIO_UPTODATE;
}

void ffs_ifs_set_dirty(struct ffs_mapping *m, struct ffs_folio *f, u64 off, u64 len)
{
	if (ffs_has_buffers(f) && len)
		ffs_bh_set(f, FFS_BH_DIRTY, first_block(m, off), end_block(m, off + len));
}

void ffs_ifs_clear_dirty(struct ffs_mapping *m, struct ffs_folio *f)
{
	(void)m;
	if (ffs_has_buffers(f))
		ffs_bh_clear(f, FFS_BH_DIRTY, 0, f->bpf);
}

void ffs_ifs_clear_dirty_range(struct ffs_mapping *m, struct ffs_folio *f, u64 off, u64 len)
{
	u32 first, end;

	if (!ffs_has_buffers(f))
		return;
	if (ffs_has(m->env, FOLIOFS_CHANGE_IM_DIRTY_CLEAR_ROUND)) {
		first = end_block(m, off);
		end = first_block(m, off + len);
	} else {
		first = first_block(m, off);
		end = end_block(m, off + len);
	}
	if (first < end)
		ffs_bh_clear(f, FFS_BH_DIRTY, first, end);
}

u64 ffs_ifs_dirty_run(struct ffs_mapping *m, const struct ffs_folio *f, u64 *pos, u64 end)
{
	u64 start = ffs_folio_pos(m, f);
	u32 first, stop;

	if (*pos >= end)
		return 0;
	if (!ffs_has_buffers(f))
		return end - *pos;
	stop = end_block(m, end - start);
	first = ffs_bh_next(f, FFS_BH_DIRTY, first_block(m, *pos - start), stop);
	if (first >= stop)
		return 0;
	*pos = start + ((u64)first << m->env->block_bits);
	return (u64)(ffs_bh_next_clear(f, FFS_BH_DIRTY, first, stop) - first) << m->env->block_bits;
}

void ffs_ifs_read_range(struct ffs_mapping *m, const struct ffs_folio *f, u64 *pos, u64 *len)
{
	u64 start = ffs_folio_pos(m, f), from = *pos, to = *pos + *len, isize = m->inode->i_size;
	u8 bits = m->env->block_bits;
	u32 first, end;

	if (ffs_has_buffers(f)) {
		end = end_block(m, to - start);
		first = ffs_bh_next_clear(f, FFS_BH_UPTODATE, first_block(m, from - start), end);
		if (first > first_block(m, from - start))
			*pos = start + ((u64)first << bits);
		end = ffs_bh_next(f, FFS_BH_UPTODATE, first, end);
		to = min(to, start + ((u64)end << bits));
	}
	/* Blocks behind EOF are zeroed, not read: the range ends where they begin. */
	if (from <= isize && from + *len > isize && isize > start) {
		u64 eof = start + (((isize - 1 - start) >> bits) + 1) * ffs_block_size(m->env);

		if (*pos < eof)
			to = min(to, eof);
	}
	*len = to > *pos ? to - *pos : 0;
}

void ffs_ifs_dirty_folio(struct ffs_mapping *m, struct ffs_folio *f)
{
	ffs_ifs_alloc(m, f);
	ffs_ifs_set_dirty(m, f, 0, ffs_folio_size(m, f));
	ffs_folio_set_dirty(f);
}
