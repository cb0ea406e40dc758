// SPDX-License-Identifier: MIT
/*
 * Writeback, second half: MAP the extent that PREP found, give the blocks to the
 * buffers, SUB folios as they are complete, move i_disksize
 * (mpage_map_and_submit_extent, mpage_map_one_extent, mpage_map_and_submit_buffers,
 * mpage_process_folio, mpage_submit_partial_folio; v6.18).
 */
#include "bh.h"

static int map_one(struct ffs_mpd *mpd, struct ffs_handle *h)
{
	struct ffs_super *sb = mpd->sb;
	struct ffs_inode *inode = mpd->inode;
	struct foliofs_inode_kind kind = ffs_inode_kind(sb, inode);
	bool nolock = foliofs_dioread_nolock(&sb->env.kernel, &sb->env.geo, &kind);
	u32 flags = ffs_writeback_flags(&sb->bm);
	struct ffs_map map = { .lblk = mpd->map_lblk, .len = mpd->map_len };
	int ret;

	if (ffs_sb_has(sb, FOLIOFS_CHANGE_CF_RESTART)) {
		ret = ffs_ensure_extent(sb, h, inode);
		if (ret)
			return ret;
	}
	ffs_emit(&sb->env, ext4_da_write_pages_extent, inode->ino, map.lblk, map.len,
		 (mpd->map_state & FFS_MPD_DELAY ? 0x100 : 0) |
			 (mpd->map_state & FFS_MPD_UNWRITTEN ? 0x800 : 0));
	/* deferred-split: unwritten extents are cut when the I/O is done. */
	if (nolock)
		flags |= FFS_GET_UNWRIT |
			 (ffs_sb_has(sb, FOLIOFS_CHANGE_DEFERRED_SPLIT) ? 0 : FFS_GET_PRE_IO);
	/* Later the status tree tells what was reserved. */
	if ((mpd->map_state & FFS_MPD_DELAY) && !ffs_sb_has(sb, FOLIOFS_CHANGE_ES_RSV_IN_STATUS))
		flags |= FFS_GET_DELALLOC;
	ret = ffs_bh_map(sb, h, inode, &map, flags);
	if (ret < 0)
		return ret;
	if (nolock && (map.flags & FFS_MAP_UNWRITTEN)) {
		if (!mpd->io_end->rsv && !h->nojournal)
			mpd->io_end->rsv = ffs_handle_take_reserved(h);
		mpd->io_end->unwritten = true;
	}
	mpd->map_len = map.len;
	mpd->map_pblk = map.pblk;
	return 0;
}

/*
 * Give the mapped blocks to the buffers of one folio.  True: the folio is not
 * complete (an extent to map was found in its rest) or has been submitted already.
 */
static bool process_folio(struct ffs_mpd *mpd, struct ffs_folio *f)
{
	struct ffs_io_end *io = mpd->io_end;
	u32 base = ffs_folio_block(mpd->m, f), map_end = mpd->map_lblk + mpd->map_len;
	u32 first = mpd->map_lblk > base ? mpd->map_lblk - base : 0;
	u32 end = min((u32)f->bpf, map_end - base);

	ffs_bh_clear(f, FFS_BH_DELAY, first, end);
	ffs_bh_clear(f, FFS_BH_UNWRITTEN, first, end);
	ffs_bh_set_blocknr(f, first, end, mpd->map_pblk + (base + first - mpd->map_lblk));
	io->vec[io->nr_vec - 1].size += (u64)(end - first) << mpd->sb->env.block_bits;
	if (end == f->bpf)
		return false;
	/* The folio goes on behind the extent: the next one may lie in it. */
	mpd->map_len = 0;
	ffs_mpage_process_bufs(mpd, f, base, end);
	if (mpd->map_len && mpd->map_lblk > map_end)
		ffs_io_end_vec(io, (u64)mpd->map_lblk << mpd->sb->env.block_bits);
	return true;
}

/* Where the counting of blocks is while the buffers of an extent are walked. */
struct by_page {
	u32 lblk;
	u64 pblk;
};

/*
 * The same without lf-writeback: blocks are counted from the page that the extent begins in, but
 * buffers from the head of the folio.  Delayed buffers take the new blocks in turn, so the walk
 * leaves the extent too early, and what it finds then is looked for under later block numbers.
 */
static bool process_folio_by_page(struct ffs_mpd *mpd, struct ffs_folio *f, struct by_page *at)
{
	u32 map_end = mpd->map_lblk + mpd->map_len, b;
	struct ffs_io_end *io = mpd->io_end;

	for (b = 0; b < f->bpf; b++, at->lblk++) {
		if (at->lblk < mpd->map_lblk)
			continue;
		if (at->lblk >= map_end) {
			mpd->map_len = 0;
			ffs_mpage_process_bufs(mpd, f, at->lblk - b, b);
			if (mpd->map_len && mpd->map_lblk > at->lblk)
				ffs_io_end_vec(io, (u64)mpd->map_lblk << mpd->sb->env.block_bits);
			return true;
		}
		if (ffs_bh_test(f, FFS_BH_DELAY, b)) {
			ffs_bh_set_blocknr(f, b, b + 1, at->pblk++);
			ffs_bh_clear(f, FFS_BH_DELAY, b, b + 1);
		}
		ffs_bh_clear(f, FFS_BH_UNWRITTEN, b, b + 1);
		io->vec[io->nr_vec - 1].size += ffs_block_size(&mpd->sb->env);
	}
	return false;
}

static void map_and_submit_buffers(struct ffs_mpd *mpd)
{
	u8 shift = mpd->sb->env.page_bits, bits = mpd->sb->env.block_bits;
	u32 index = (u32)(((u64)mpd->map_lblk << bits) >> shift);
	struct by_page at = { (u32)(((u64)index << shift) >> bits), mpd->map_pblk };
	bool whole = ffs_sb_has(mpd->sb, FOLIOFS_CHANGE_LF_WRITEBACK);
	u64 last = (((u64)(mpd->map_lblk + mpd->map_len) << bits) - 1) >> shift;
	struct ffs_folio *f;

	while (index <= last && (f = ffs_folio_next(mpd->m, index)) && f->index <= last) {
		index = f->index + ffs_folio_pages(f);
		if (whole ? process_folio(mpd, f) : process_folio_by_page(mpd, f, &at))
			return;
		ffs_mpage_submit_folio(mpd, f);
		ffs_mpage_folio_done(mpd, f);
	}
	mpd->map_len = 0;
}

/*
 * The rest of the folio cannot be mapped now: what is mapped must not stay behind,
 * or its blocks would show old content after a commit (partial-submit, v6.17).
 */
static void submit_partial(struct ffs_mpd *mpd)
{
	u64 pos = (u64)mpd->map_lblk << mpd->sb->env.block_bits;
	struct ffs_folio *f = ffs_folio_find(mpd->m, (u32)(mpd->start_pos >> mpd->sb->env.page_bits));

	if (!f || pos <= ffs_folio_pos(mpd->m, f) || pos >= ffs_folio_end(mpd->m, f))
		return;
	ffs_mpage_submit_folio(mpd, f);
	/* writeback-bytes: before, the position was a page. */
	if (!ffs_sb_has(mpd->sb, FOLIOFS_CHANGE_CF_BYTES))
		pos = round_down_pow2(pos, ffs_page_size(&mpd->sb->env));
	mpd->start_pos = pos;
}

/* The folios from start_pos to next_pos are locked. */
static void stop_at(struct ffs_mpd *mpd, enum foliofs_stop stop)
{
	const struct ffs_stopped s = {
		.stop = stop, .ino = mpd->inode->ino, .held = FFS_HELD_HANDLE | FFS_HELD_FOLIOS,
		.first = mpd->start_pos, .end = mpd->next_pos,
	};
	struct ffs_env *env = &mpd->sb->env;

	if (unlikely(env->stop))
		env->stop(env->stop_priv, &s);
}

static bool worth_retry(const struct ffs_super *sb, int err)
{
	return err == -ENOMEM || err == -EAGAIN ||
	       (err == -ENOSPC && ffs_free_clusters(sb->alloc) > 0);
}

int ffs_mpage_map_and_submit(struct ffs_mpd *mpd, struct ffs_handle *h, bool *give_up)
{
	struct ffs_inode *inode = mpd->inode;
	bool progress = false;
	int err;

	ffs_io_end_vec(mpd->io_end, (u64)mpd->map_lblk << mpd->sb->env.block_bits);
	do {
		err = map_one(mpd, h);
		if (err < 0) {
			if (ffs_journal_error(mpd->sb->journal) || !worth_retry(mpd->sb, err)) {
				*give_up = true;
				return err;
			}
			if (!progress)
				return err;
			if (ffs_sb_has(mpd->sb, FOLIOFS_CHANGE_CF_PARTIAL_SUBMIT))
				submit_partial(mpd);
			break;
		}
		progress = true;
		stop_at(mpd, FOLIOFS_STOP_WRITEBACK_MAPPED);
		map_and_submit_buffers(mpd);
		stop_at(mpd, FOLIOFS_STOP_WRITEBACK_SUBMITTED);
	} while (mpd->map_len);

	if (mpd->start_pos > inode->i_disksize) {
		u64 size = min(mpd->start_pos, inode->i_size);

		if (size > inode->i_disksize)
			ffs_set_disksize(mpd->sb, inode, size);
		ffs_mark_inode_dirty(mpd->sb, h, inode, "ext4_do_writepages");
	}
	stop_at(mpd, FOLIOFS_STOP_WRITEBACK_SIZED);
	return err;
}
