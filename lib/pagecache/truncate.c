// SPDX-License-Identifier: MIT
/*
 * Throwing away parts of the page cache: truncate_inode_pages_range,
 * truncate_inode_partial_folio, invalidate_mapping_pages, pagecache_isize_extended
 * (mm/truncate.c as of v6.18).
 */
#include "data_path.h"

#define BATCH 31u /* folios that go together: invalidated first, then deleted */

/* The folio's private state is thrown away, then the folio is clean. */
static void cleanup(struct ffs_super *sb, struct ffs_mapping *m, struct ffs_folio *f)
{
	if (ffs_has_buffers(f))
		ffs_path_of(sb, m->inode)->invalidate(sb, m, f, 0, ffs_folio_size(m, f));
	ffs_folio_clear_dirty(f);
}

static void drop(struct ffs_super *sb, struct ffs_mapping *m, struct ffs_folio *f)
{
	cleanup(sb, m, f);
	ffs_folio_delete(m, f);
}

static bool try_split(struct ffs_super *sb, struct ffs_mapping *m, struct ffs_folio *f, u32 at,
		      struct ffs_folio **piece)
{
	u64 eof = (m->inode->i_size + ffs_page_size(m->env) - 1) >> m->env->page_bits;

	if (f->order <= m->min_order)
		return false;
	if (ffs_has_buffers(f) && !ffs_path_of(sb, m->inode)->release(m, f))
		return false;
	*piece = ffs_folio_split(m, f, at, max(eof, m->alloc_end));
	return true;
}

/*
 * The part [pos, end) of a folio goes.  False: the folio stays whole (it is dirty
 * and cannot be split); true: what lies in the range is, or may be, dropped.
 */
static bool partial_folio(struct ffs_super *sb, struct ffs_mapping *m, struct ffs_folio *f,
			  u64 pos, u64 end)
{
	u64 start = ffs_folio_pos(m, f), first = max(pos, start);
	u64 folio_end = ffs_folio_end(m, f), last = min(end, folio_end);
	struct ffs_folio *piece;
	u32 at;

	if (f->flags & FFS_FOLIO_WRITEBACK)
		ffs_sleep(sb);
	if (first == start && last == folio_end) {
		drop(sb, m, f);
		return true;
	}
	ffs_content_zero(&m->content, first, last);
	if (ffs_has_buffers(f))
		ffs_path_of(sb, m->inode)->invalidate(sb, m, f, first - start, last - first);
	if (!f->order)
		return true;
	at = (u32)(first >> m->env->page_bits);
	if (!try_split(sb, m, f, at, &piece)) {
		if (f->flags & FFS_FOLIO_DIRTY)
			return false;
		drop(sb, m, f);
		return true;
	}
	/* The other edge, so that folios in between can be dropped. */
	if (last == folio_end)
		return true;
	f = ffs_folio_find(m, (u32)(last >> m->env->page_bits));
	if (f && f->order && f->index + ffs_folio_pages(f) > (last >> m->env->page_bits))
		try_split(sb, m, f, (u32)(last >> m->env->page_bits), &piece);
	return true;
}

/* Folios that lie wholly in pages [first, end) go, a batch at a time. */
static void drop_whole(struct ffs_super *sb, struct ffs_mapping *m, u64 first, u64 end)
{
	struct ffs_folio *batch[BATCH], *f;
	u64 index = first;
	u32 n, i;

	do {
		n = 0;
		while (n < BATCH && index < end && (f = ffs_folio_next(m, (u32)index)) &&
		       f->index < end) {
			index = (u64)f->index + ffs_folio_pages(f);
			if (f->index < first || index > end || (f->flags & FFS_FOLIO_WRITEBACK))
				continue;
			batch[n++] = f;
		}
		for (i = 0; i < n; i++)
			cleanup(sb, m, batch[i]);
		for (i = 0; i < n; i++)
			ffs_folio_delete(m, batch[i]);
	} while (n == BATCH);
}

void ffs_truncate_cache(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 end)
{
	struct ffs_mapping *m = inode->mapping;
	u8 bits = sb->env.page_bits;
	u64 first = (pos + ffs_page_size(&sb->env) - 1) >> bits;
	u64 last = end == ~0ull ? ~0ull >> bits : end >> bits; /* pages [first, last) */
	struct ffs_folio *f;
	bool same;

	if (!m || !m->nr_folios)
		return;
	if (ffs_has(&sb->env, FOLIOFS_CHANGE_TRUNC_MIN_ORDER)) {
		first = round_up_pow2(first, 1ull << m->min_order);
		last &= ~((1ull << m->min_order) - 1);
	}
	drop_whole(sb, m, first, last);
	same = (pos >> bits) == ((end - 1) >> bits);
	f = ffs_folio_find(m, (u32)(pos >> bits));
	if (f) {
		u32 index = f->index, next = f->index + ffs_folio_pages(f);

		same = end <= ffs_folio_end(m, f);
		if (!partial_folio(sb, m, f, pos, end)) {
			first = next;
			if (same)
				last = index;
		}
	}
	if (!same && end != ~0ull) {
		f = ffs_folio_find(m, (u32)((end - 1) >> bits));
		if (f) {
			u32 index = f->index;

			if (!partial_folio(sb, m, f, pos, end))
				last = index;
		}
	}
	/* What splits and writeback left, one by one. */
	while (first < last && (f = ffs_folio_next(m, (u32)first)) && f->index < last) {
		first = (u64)f->index + ffs_folio_pages(f);
		if (f->flags & FFS_FOLIO_WRITEBACK)
			ffs_sleep(sb);
		drop(sb, m, f);
	}
}

void ffs_isize_extended(struct ffs_super *sb, struct ffs_inode *inode, u64 from, u64 to)
{
	u64 block = ffs_block_size(&sb->env), page = ffs_page_size(&sb->env), edge;
	struct ffs_mapping *m = inode->mapping;
	struct ffs_folio *f;

	if (from >= to || block >= page)
		return;
	edge = round_up_pow2(from, block);
	if (to <= edge || !(edge & (page - 1)))
		return;
	f = ffs_folio_find(m, (u32)(from >> sb->env.page_bits));
	if (f && (f->flags & FFS_FOLIO_DIRTY))
		ffs_content_zero(&m->content, from, min(to, ffs_folio_end(m, f)));
}

void ffs_invalidate_clean(struct ffs_super *sb, struct ffs_inode *inode, u32 first, u32 last)
{
	struct ffs_mapping *m = inode->mapping;
	u64 index = first;
	struct ffs_folio *f;

	while (index <= last && (f = ffs_folio_next(m, (u32)index)) && f->index <= last) {
		index = (u64)f->index + ffs_folio_pages(f);
		if (f->index < first || index - 1 > last)
			continue;
		if (f->flags & (FFS_FOLIO_DIRTY | FFS_FOLIO_WRITEBACK)) {
			/* It could not go now: reclaim is to take it as soon as it is written. */
			if (!(f->flags & FFS_FOLIO_MAPPED))
				f->flags |= FFS_FOLIO_MARK;
			continue;
		}
		if (ffs_has_buffers(f) && !ffs_path_of(sb, inode)->release(m, f))
			continue;
		ffs_folio_delete(m, f);
	}
}

void ffs_invalidate_range(struct ffs_super *sb, struct ffs_inode *inode, u32 first, u32 last)
{
	struct ffs_mapping *m = inode->mapping;
	u64 index = first;
	struct ffs_folio *f;

	while (index <= last && (f = ffs_folio_next(m, (u32)index)) && f->index <= last) {
		index = (u64)f->index + ffs_folio_pages(f);
		if (f->flags & FFS_FOLIO_WRITEBACK)
			ffs_sleep(sb);
		if ((f->flags & FFS_FOLIO_DIRTY) ||
		    (ffs_has_buffers(f) && !ffs_path_of(sb, inode)->release(m, f)))
			continue;
		ffs_folio_delete(m, f);
	}
}

int ffs_zero_edges(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode, u64 pos,
		   u64 len, ffs_zero_in_block_fn zero)
{
	u64 mask = ffs_block_size(&sb->env) - 1, last = pos + len - 1;
	int err = 0;

	if (!len)
		return 0;
	if ((pos >> sb->env.block_bits) == (last >> sb->env.block_bits)) {
		if ((pos & mask) || (last & mask) != mask)
			err = zero(sb, h, inode, pos, last + 1);
		return err;
	}
	if (pos & mask)
		err = zero(sb, h, inode, pos, (pos | mask) + 1);
	if (!err && (last & mask) != mask)
		err = zero(sb, h, inode, last & ~mask, last + 1);
	return err;
}
