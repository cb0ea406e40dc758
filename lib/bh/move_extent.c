// SPDX-License-Identifier: MIT
/*
 * One piece of move extents: data is read into the cache, buffers are given up,
 * extents exchanged, buffers mapped anew and dirtied (move_extent_per_page; v6.18,
 * a piece lies in one page of either file; with folio-defrag, v6.19, in one folio).
 */
#include "bh.h"

/* All blocks of [first, end) are unwritten and cached as such nowhere else. */
static bool all_unwritten(const struct ffs_inode *inode, u32 first, u32 end)
{
	struct ffs_map_run run;

	while (first < end) {
		if (!ffs_next_run(inode, first, &run) || run.lblk > first || !run.unwritten)
			return false;
		first = run.lblk + run.len;
	}
	return true;
}

/* Data of bytes [from, to) of the folio is in the cache (mext_page_mkuptodate). */
static void make_uptodate(struct ffs_super *sb, struct ffs_mapping *m, struct ffs_folio *f, u32 b,
			  u32 end)
{
	if (f->flags & FFS_FOLIO_UPTODATE)
		return;
	ffs_folio_attach_buffers(m, f);
	for (b = ffs_bh_next_clear(f, FFS_BH_UPTODATE, b, end); b < end;
	     b = ffs_bh_next_clear(f, FFS_BH_UPTODATE, b, end)) {
		struct ffs_map map = { .lblk = ffs_folio_block(m, f) + b, .len = 1 };

		if (!ffs_bh_test(f, FFS_BH_MAPPED, b)) {
			if (ffs_map_blocks(&sb->bm, NULL, m->inode, &map, 0) < 0)
				return;
			if (map.flags & FFS_MAP_UNWRITTEN)
				map.flags &= ~FFS_MAP_MAPPED;
			ffs_bh_apply(f, b, 1, &map);
		}
		ffs_bh_read_blocks(sb, m, f, b, b + 1);
	}
	if (ffs_bh_all(f, FFS_BH_UPTODATE, 0, f->bpf))
		f->flags |= FFS_FOLIO_UPTODATE;
}

/* lf-defrag: without it a block is looked for in the first page of its folio. */
static u32 block_in(const struct ffs_super *sb, const struct ffs_mapping *m,
		    const struct ffs_folio *f, u32 lblk)
{
	return (u32)(ffs_lf_offset(sb, FOLIOFS_CHANGE_LF_DEFRAG, m, f,
				   (u64)lblk << sb->env.block_bits) >> sb->env.block_bits);
}

/* The swapped blocks belong to the buffers now, and the data has to go there. */
static int remap(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode,
		 struct ffs_folio *f, u32 lblk, u32 len)
{
	struct ffs_mapping *m = inode->mapping;
	u32 first = block_in(sb, m, f, lblk), i;
	u64 pos = (u64)lblk << sb->env.block_bits;

	ffs_folio_attach_buffers(m, f);
	for (i = 0; i < len; i++) {
		struct ffs_map map = { .lblk = lblk + i, .len = 1 };
		int ret = ffs_map_blocks(&sb->bm, NULL, inode, &map, 0);

		if (ret < 0)
			return ret;
		ffs_bh_apply(f, first + i, 1, &map);
	}
	ffs_block_commit(sb, h, inode, f,
			 ffs_folio_pos(m, f) + ((u64)first << sb->env.block_bits),
			 (u64)len << sb->env.block_bits, false);
	/* Also in data=writeback: the data must not be lost with the exchange. */
	ffs_order_data(sb, h, inode, round_down_pow2(pos, ffs_page_size(&sb->env)),
		       round_down_pow2(pos, ffs_page_size(&sb->env)) +
			       ((u64)len << sb->env.block_bits) - 1,
		       true);
	return 0;
}

/* Blocks of the folio from @lblk on. */
static u32 blocks_left(const struct ffs_mapping *m, const struct ffs_folio *f, u32 lblk)
{
	return (u32)(ffs_folio_end(m, f) >> m->env->block_bits) - lblk;
}

static int swap_piece(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *orig,
		      struct ffs_inode *donor, u32 lblk, u32 donor_lblk, u32 *len, u32 *moved)
{
	u8 bits = sb->env.block_bits;
	u64 pos = (u64)lblk << bits, dpos = (u64)donor_lblk << bits;
	/* folio-defrag makes folios that fit the extent, before they were pages. */
	u64 bytes = ffs_sb_has(sb, FOLIOFS_CHANGE_FOLIO_DEFRAG) ? (u64)*len << bits : 1;
	bool unwritten = all_unwritten(orig, lblk, lblk + *len) &&
			 all_unwritten(donor, donor_lblk, donor_lblk + *len);
	bool lower = orig->ino < donor->ino;
	struct ffs_folio *f, *g;
	int err = 0;

	/* Both pages are in the cache, that of the lower inode first. */
	f = ffs_write_folio(sb, lower ? orig : donor, lower ? pos : dpos, bytes);
	g = ffs_write_folio(sb, lower ? donor : orig, lower ? dpos : pos, bytes);
	if (!lower) {
		struct ffs_folio *t = f;

		f = g;
		g = t;
	}
	if ((f->order || g->order) && !ffs_sb_has(sb, FOLIOFS_CHANGE_LF_DEFRAG))
		ffs_bh_assert(sb, orig, "move extents of a large folio"); /* VM_BUG_ON: goes on */
	if (ffs_sb_has(sb, FOLIOFS_CHANGE_FOLIO_DEFRAG))
		*len = min(*len, min(blocks_left(orig->mapping, f, lblk),
				     blocks_left(donor->mapping, g, donor_lblk)));
	if ((f->flags | g->flags) & FFS_FOLIO_WRITEBACK)
		ffs_sleep(sb);
	ffs_blockmap_look(orig, lblk);
	ffs_blockmap_look(donor, donor_lblk);
	if (!unwritten)
		make_uptodate(sb, orig->mapping, f, block_in(sb, orig->mapping, f, lblk),
			      block_in(sb, orig->mapping, f, lblk) + *len);
	if (!ffs_bh_release(orig->mapping, f) || !ffs_bh_release(donor->mapping, g))
		return -EBUSY;
	*moved = ffs_ext_swap(&sb->bm, h, orig, donor, lblk, donor_lblk, *len, true, &err);
	if (err && !*moved)
		return err;
	if (!unwritten)
		err = remap(sb, h, orig, f, lblk, *moved ? *moved : *len);
	return err;
}

int ffs_bh_move_piece(struct ffs_super *sb, struct ffs_inode *orig, struct ffs_inode *donor,
		      u32 lblk, u32 donor_lblk, u32 *len, u32 *moved)
{
	u32 busy = 0, retries = 0;
	int err;

	do {
		struct ffs_handle *h;

		*moved = 0;
		err = ffs_start(sb, orig, FOLIOFS_CREDIT_MOVE_EXTENTS, *len, "ext4_move_extents", &h);
		if (err)
			return err;
		err = swap_piece(sb, h, orig, donor, lblk, donor_lblk, len, moved);
		ffs_handle_stop(h);
		/* Busy buffers may be pinned by the transaction: a commit can free them. */
		if (err == -EBUSY && busy++ < 4 && ffs_journal_force_commit(sb->journal) > 0)
			continue;
		if (err != -ENOSPC || !ffs_should_retry_alloc(sb, &retries))
			break;
	} while (true);
	return err;
}
