// SPDX-License-Identifier: MIT
/*
 * Maps for writeback: ext4_iomap_writepages, ext4_iomap_map_blocks,
 * ext4_iomap_map_one_extent, ext4_iomap_discard_folio.
 */
#include "ext4iomap.h"

#define MAX_BLOCKS 2048u /* MAX_WRITEPAGES_EXTENT_LEN */
#define MAX_BLOCKS_2024 32767u /* EXT_UNWRITTEN_MAX_LEN */

/*
 * Without im-aops the table is that of buffer heads: its writepages takes a dirty folio that has
 * none for a mistake of others, warns and clears the mark.
 */
static void drop_dirty(struct ffs_super *sb, struct ffs_inode *inode, const struct ffs_wbc *wbc)
{
	struct ffs_mapping *m = inode->mapping;
	u8 bits = sb->env.page_bits;
	struct ffs_folio *f = ffs_folio_next_tagged(m, (u32)(wbc->range_start >> bits), FFS_TAG_DIRTY);

	for (; f && ffs_folio_pos(m, f) <= wbc->range_end;
	     f = ffs_folio_next_tagged(m, (u32)(ffs_folio_end(m, f) >> bits), FFS_TAG_DIRTY)) {
		ffs_emit(&sb->env, foliofs_assert, inode->ino,
			 ffs_str("writeback: a dirty folio has no buffers"));
		ffs_folio_clear_dirty(f);
	}
}

int ffs_ext4im_writepages(struct ffs_super *sb, struct ffs_inode *inode, struct ffs_wbc *wbc)
{
	struct ffs_mapping *m = inode->mapping;
	s64 to_write = wbc->nr_to_write;
	int err;

	if (!ffs_sb_has(sb, FOLIOFS_CHANGE_IM_AOPS)) {
		drop_dirty(sb, inode, wbc);
		return 0;
	}
	/* The entry of im-aops: nothing is done, and nothing said. */
	if (!ffs_sb_has(sb, FOLIOFS_CHANGE_IM_WRITEBACK))
		return 0;
	ffs_emit(&sb->env, ext4_writepages, inode->ino, (u64)to_write, (u64)wbc->pages_skipped,
		 wbc->range_start, wbc->range_end, wbc->sync_mode, 0, wbc->range_cyclic,
		 m->writeback_index);
	err = ffs_iomap_writepages(sb, inode, wbc);
	ffs_emit(&sb->env, ext4_writepages_result, inode->ino, (u64)(s64)err,
		 (u64)(to_write - wbc->nr_to_write), (u64)wbc->pages_skipped, wbc->sync_mode,
		 m->writeback_index);
	return err;
}

/* Blocks to ask for: the rest of what is being written back, not just the dirty run. */
static u32 blocks_wanted(const struct ffs_wpc *w, u64 pos, u64 len)
{
	u8 bits = w->sb->env.block_bits;
	u32 most = ffs_sb_has(w->sb, FOLIOFS_CHANGE_IM_2024) ? MAX_BLOCKS_2024 : MAX_BLOCKS;
	u64 end = pos + len;

	if (!w->wbc->range_cyclic && w->wbc->range_end >= end)
		end = w->wbc->range_end + 1;
	return (u32)min(ffs_blocks_up(&w->sb->env, min(end, (u64)FFS_LLONG_MAX)) - (pos >> bits),
			(u64)most);
}

/* A delayed extent gets its blocks in one handle, unwritten; it may have changed since the look. */
static int map_delayed(struct ffs_super *sb, struct ffs_inode *inode, struct ffs_map *m)
{
	u32 flags = FFS_GET_UNWRIT | (ffs_writeback_flags(&sb->bm) & ~FFS_GET_IO_SUBMIT);
	u32 lblk = m->lblk, len = m->len;
	struct ffs_handle *h;
	int ret;

	ret = ffs_start(sb, inode, FOLIOFS_CREDIT_WRITEBACK, len, "ext4_iomap_map_one_extent", &h);
	if (ret)
		return ret;
	*m = (struct ffs_map){ .lblk = lblk, .len = len };
	ret = ffs_map_blocks(&sb->bm, NULL, inode, m, 0);
	if (!ret && (m->flags & FFS_MAP_DELAYED)) {
		ffs_emit(&sb->env, ext4_da_write_pages_extent, inode->ino, m->lblk, m->len, 0x100);
		if (!ffs_sb_has(sb, FOLIOFS_CHANGE_ES_RSV_IN_STATUS))
			flags |= FFS_GET_DELALLOC;
		ret = ffs_map_blocks(&sb->bm, h, inode, m, flags);
	}
	ffs_handle_stop(h);
	return min(ret, 0);
}

static bool still_valid(const struct ffs_wpc *w, u64 pos)
{
	return pos >= w->map.offset && pos < ffs_iomap_end(&w->map) &&
	       ffs_ext4im_valid(w->sb, w->inode, &w->map);
}

/* The folio is locked, and nothing else. */
static void stop_mapped(const struct ffs_wpc *w, u64 pos)
{
	const struct ffs_mapping *m = w->inode->mapping;
	const struct ffs_folio *f;

	if (likely(!w->sb->env.stop))
		return;
	f = ffs_folio_find(m, (u32)(pos >> m->env->page_bits));
	ffs_stop(&w->sb->env, WRITEBACK_MAPPED, w->inode->ino, FFS_HELD_FOLIOS, ffs_folio_pos(m, f),
		 ffs_folio_end(m, f));
}

int ffs_ext4im_wb_map(struct ffs_wpc *w, u64 pos, u64 len)
{
	struct ffs_super *sb = w->sb;
	struct ffs_inode *inode = w->inode;
	struct ffs_map m;
	int err = ffs_journal_error(sb->journal);

	if (err)
		return err;
	if (still_valid(w, pos))
		return 0;
	for (;;) {
		m = (struct ffs_map){ .lblk = (u32)(pos >> sb->env.block_bits),
				      .len = blocks_wanted(w, pos, len) };
		err = ffs_map_blocks(&sb->bm, NULL, inode, &m, 0);
		if (!err && (m.flags & FFS_MAP_DELAYED))
			err = map_delayed(sb, inode, &m);
		/* What a transaction has freed can be used once it is committed. */
		if (err != -ENOSPC || !ffs_alloc_has_pending(sb->alloc))
			break;
		ffs_journal_force_commit(sb->journal);
	}
	if (err < 0)
		return err;
	ffs_ext4im_trace(sb, ext4_iomap_map_writeback_range, inode, &m, pos, len, 0);
	ffs_ext4im_to_iomap(sb, inode, &m, 0, &w->map);
	stop_mapped(w, pos);
	return 0;
}

/* Data of [pos, end) cannot be written: it is lost, and its delayed blocks with it. */
void ffs_ext4im_wb_discard(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 end)
{
	u8 bits = sb->env.block_bits;
	u64 first = pos >> bits, last = ffs_blocks_up(&sb->env, end);
	struct ffs_es es;

	ffs_emit(&sb->env, foliofs_message, ffs_str("delayed block allocation failed, data is lost"));
	ffs_emit(&sb->env, foliofs_io_error, inode->ino, 0, last - first, pos);
	while (ffs_es_find_delayed(inode, first, last, &es)) {
		u64 from = max(first, (u64)es.lblk), to = min(last, (u64)es.lblk + es.len);

		ffs_es_remove(&sb->bm, inode, (u32)from, (u32)(to - from));
		first = to;
	}
}
