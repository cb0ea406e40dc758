// SPDX-License-Identifier: MIT
/*
 * Zeroing parts of blocks through the page cache: ext4_zero_partial_blocks,
 * ext4_block_zero_page_range (v6.18).
 */
#include "bh.h"

/* jzero-own-handle: a handle for the one block, nested where the caller has one open. */
static int journal_block(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode,
			 struct ffs_folio *f, u32 b)
{
	int err;

	if (!ffs_sb_has(sb, FOLIOFS_CHANGE_IM_JZERO_OWN_HANDLE)) {
		if (h)
			return ffs_dirty_journalled(sb, h, inode, f, b);
		ffs_bh_assert(sb, inode, "a journalled block is dirtied without a handle");
		return -EIO;
	}
	err = ffs_start(sb, inode, FOLIOFS_CREDIT_ZERO_EDGES, 0, "ext4_block_journalled_zero_range",
			&h);
	if (err)
		return err;
	err = ffs_dirty_journalled(sb, h, inode, f, b);
	ffs_handle_stop(h);
	return err;
}

/* Once that is tested (no-order-unwritten), unwritten and delayed blocks need no order. */
static bool needs_order(struct ffs_super *sb, const struct ffs_inode *inode,
			const struct ffs_folio *f, u32 b)
{
	return ffs_should_order_data(sb, inode) &&
	       !(ffs_sb_has(sb, FOLIOFS_CHANGE_NO_ORDER_UNWRITTEN) &&
		 (ffs_bh_test(f, FFS_BH_UNWRITTEN, b) || ffs_bh_test(f, FFS_BH_DELAY, b)));
}

/* Zero [pos, end), which lies in one block. */
static int zero_in_block(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode,
			 u64 pos, u64 end)
{
	struct ffs_mapping *m = inode->mapping;
	struct ffs_folio *f = ffs_write_folio(sb, inode, pos, 1);
	u8 bits = sb->env.block_bits;
	u64 offset, at;
	u32 b;

	ffs_folio_attach_buffers(m, f);
	/*
	 * lf-zero: without it bytes of the first page are zeroed, through a buffer that may
	 * even learn the block number of the real place.
	 */
	offset = ffs_lf_offset(sb, FOLIOFS_CHANGE_LF_ZERO, m, f, pos);
	at = ffs_folio_pos(m, f) + offset;
	b = (u32)(offset >> bits);
	if (!ffs_bh_test(f, FFS_BH_MAPPED, b)) {
		struct ffs_map map = { .lblk = (u32)(pos >> bits), .len = 1 };
		int ret;

		/* No map of data in the inode: ext4_get_block refuses, and that counts as a hole. */
		if (inode->flags & FFS_INODE_INLINE_DATA)
			return 0;
		ret = ffs_map_blocks(&sb->bm, NULL, inode, &map, 0);
		if (ret < 0)
			return ret;
		/* An unwritten block reads as a hole: nothing to zero. */
		if (map.flags & FFS_MAP_UNWRITTEN)
			map.flags &= ~FFS_MAP_MAPPED;
		ffs_bh_apply(f, b, 1, &map);
		if (!ffs_bh_test(f, FFS_BH_MAPPED, b))
			return 0;
	}
	if (f->flags & FFS_FOLIO_UPTODATE)
		ffs_bh_set(f, FFS_BH_UPTODATE, b, b + 1);
	if (!ffs_bh_test(f, FFS_BH_UPTODATE, b))
		ffs_bh_read_blocks(sb, m, f, b, b + 1);
	ffs_content_zero(&m->content, at, at + (end - pos));
	ffs_emit(&sb->env, foliofs_zero, inode->ino, at, end - pos, ffs_str("partial block"));
	if (ffs_should_journal_data(sb, inode))
		return journal_block(sb, h, inode, f, b);
	ffs_bh_set(f, FFS_BH_DIRTY, b, b + 1);
	ffs_folio_set_dirty(f);
	ffs_inode_dirtied(sb, inode);
	/* order-truncdown-only: only the tail that truncate leaves is ordered, in settle_tail. */
	if (!ffs_sb_has(sb, FOLIOFS_CHANGE_IM_ORDER_TRUNCDOWN_ONLY) && needs_order(sb, inode, f, b))
		ffs_order_data(sb, h, inode, pos, end - 1, true);
	return 0;
}

int ffs_bh_zero_partial(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode,
			u64 pos, u64 len)
{
	return ffs_zero_edges(sb, h, inode, pos, len, zero_in_block);
}

/*
 * order-truncdown-only: the zeroed tail is ordered in the handle that shortens the file, whatever the
 * state of its buffer: only that it was zeroed is known here, which leaves it dirty.
 */
int ffs_bh_settle_tail(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode, u64 pos,
		       u64 len)
{
	const struct ffs_folio *f = ffs_folio_find(inode->mapping, (u32)(pos >> sb->env.page_bits));
	u32 b;

	if (!ffs_sb_has(sb, FOLIOFS_CHANGE_IM_ORDER_TRUNCDOWN_ONLY) || !ffs_zeroing_told(sb) || !h ||
	    !f || !ffs_has_buffers(f))
		return 0;
	b = (u32)((pos - ffs_folio_pos(inode->mapping, f)) >> sb->env.block_bits);
	if (ffs_bh_test(f, FFS_BH_DIRTY, b) && ffs_should_order_data(sb, inode))
		ffs_order_data(sb, h, inode, pos, pos + len - 1, true);
	return 0;
}
