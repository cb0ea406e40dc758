// SPDX-License-Identifier: MIT
/*
 * Writeback, first half: the rounds of a writepages call and PREP, the collecting
 * of one extent of blocks to map (ext4_do_writepages, mpage_prepare_extent_to_map,
 * mpage_process_page_bufs, mpage_add_bh_to_extent; v6.18).
 */
#include "bh.h"

static u32 bh_need(const struct ffs_folio *f, u32 b)
{
	return (ffs_bh_test(f, FFS_BH_DELAY, b) ? FFS_MPD_DELAY : 0) |
	       (ffs_bh_test(f, FFS_BH_UNWRITTEN, b) ? FFS_MPD_UNWRITTEN : 0);
}

/* First block in [b, end) that is dirty, mapped, and waits for an allocation or conversion. */
static u32 next_to_map(const struct ffs_folio *f, u32 b, u32 end)
{
	u32 w;

	for (w = b / 64; w * 64 < end; w++) {
		u64 v = ffs_bh_word(f, FFS_BH_DIRTY, w) & ffs_bh_word(f, FFS_BH_MAPPED, w) &
			(ffs_bh_word(f, FFS_BH_DELAY, w) | ffs_bh_word(f, FFS_BH_UNWRITTEN, w));

		if (b > w * 64)
			v &= ~0ull << (b - w * 64);
		if (v)
			return min(end, w * 64 + (u32)__builtin_ctzll(v));
	}
	return end;
}

/* End of the run of blocks from @b that can join an extent of state @need. */
static u32 run_to_map(const struct ffs_folio *f, u32 b, u32 end, u32 need)
{
	u32 w;

	for (w = b / 64; w * 64 < end; w++) {
		u64 d = ffs_bh_word(f, FFS_BH_DELAY, w), u = ffs_bh_word(f, FFS_BH_UNWRITTEN, w);
		u64 v = ffs_bh_word(f, FFS_BH_DIRTY, w) & ffs_bh_word(f, FFS_BH_MAPPED, w);

		v &= need & FFS_MPD_DELAY ? d : ~d;
		v &= need & FFS_MPD_UNWRITTEN ? u : ~u;
		v = ~v;
		if (b > w * 64)
			v &= ~0ull << (b - w * 64);
		if (v)
			return min(end, w * 64 + (u32)__builtin_ctzll(v));
	}
	return end;
}

void ffs_mpage_folio_done(struct ffs_mpd *mpd, struct ffs_folio *f)
{
	mpd->start_pos += ffs_folio_size(mpd->m, f);
	if (ffs_sb_has(mpd->sb, FOLIOFS_CHANGE_CF_NR_TO_WRITE))
		mpd->wbc->nr_to_write -= ffs_folio_pages(f);
}

int ffs_mpage_process_bufs(struct ffs_mpd *mpd, struct ffs_folio *f, u32 base, u32 b)
{
	u64 eof = ffs_blocks_up(&mpd->sb->env, mpd->inode->i_size);
	/* Blocks of the folio below EOF. */
	u32 end = eof <= base ? 0 : (u32)min((u64)f->bpf, eof - base), next;

	if (b < end && !mpd->map_len) {
		b = next_to_map(f, b, end);
		if (b < end) {
			if (!mpd->do_map)
				return 0;
			mpd->map_lblk = base + b;
			mpd->map_state = bh_need(f, b);
			mpd->map_len = 1;
			b++;
		}
	}
	if (mpd->map_len && b < f->bpf) {
		/* Blocks join while they follow and are alike, up to what one allocation takes. */
		if (base + b == mpd->map_lblk + mpd->map_len && b < end) {
			next = run_to_map(f, b, end, mpd->map_state);
			next = min(next, b + FFS_MAX_WRITEPAGES_EXTENT_LEN - mpd->map_len);
			mpd->map_len += next - b;
			b = next;
		}
		if (b < f->bpf)
			return 0;
	} else if (b < f->bpf && !mpd->do_map) {
		return 0; /* EOF inside the folio also stops a pass that must not map */
	}
	if (!mpd->map_len) {
		ffs_mpage_submit_folio(mpd, f);
		ffs_mpage_folio_done(mpd, f);
	}
	if (base + (u64)b >= eof) {
		mpd->scanned_until_end = true;
		return 0;
	}
	return 1;
}

/* Collect the next extent to map; folios that need none are submitted on the way. */
static int prepare(struct ffs_mpd *mpd)
{
	struct ffs_super *sb = mpd->sb;
	u8 shift = sb->env.page_bits - min(sb->env.page_bits, sb->env.block_bits);
	enum ffs_folio_tag tag = mpd->wbc->sync_mode == FFS_WB_ALL ? FFS_TAG_TOWRITE : FFS_TAG_DIRTY;
	u64 last = mpd->end_pos >> sb->env.page_bits;
	bool journalled = ffs_should_journal_data(sb, mpd->inode);
	struct ffs_handle *h = NULL;
	struct ffs_folio *f;
	int err = 0;

	mpd->map_len = 0;
	mpd->next_pos = mpd->start_pos;
	mpd->locked = NULL;
	if (journalled) {
		err = ffs_start(sb, mpd->inode, FOLIOFS_CREDIT_JOURNALLED_WRITEBACK, 0,
				"mpage_prepare_extent_to_map", &h);
		if (err)
			return err;
	}
	for (f = ffs_folio_next_tagged(mpd->m, (u32)(mpd->start_pos >> sb->env.page_bits), tag);
	     f && f->index <= last; f = ffs_folio_after_tagged(mpd->m, f, tag)) {
		if (mpd->wbc->sync_mode == FFS_WB_NONE &&
		    mpd->wbc->nr_to_write <= (s64)(mpd->map_len >> shift))
			goto out;
		if (mpd->map_len && mpd->next_pos != ffs_folio_pos(mpd->m, f))
			goto out;
		if (!(f->flags & FFS_FOLIO_DIRTY) ||
		    ((f->flags & FFS_FOLIO_WRITEBACK) && mpd->wbc->sync_mode == FFS_WB_NONE))
			continue;
		if (f->flags & FFS_FOLIO_WRITEBACK)
			ffs_sleep(sb);
		if (!ffs_has_buffers(f)) {
			ffs_folio_clear_dirty(f);
			continue;
		}
		if (!mpd->map_len)
			mpd->start_pos = ffs_folio_pos(mpd->m, f);
		mpd->next_pos = ffs_folio_end(mpd->m, f);
		if (!mpd->can_map) {
			ffs_mpage_submit_folio(mpd, f);
			ffs_mpage_folio_done(mpd, f);
			continue;
		}
		if (ffs_mpage_process_bufs(mpd, f, ffs_folio_block(mpd->m, f), 0) <= 0) {
			mpd->locked = f;
			goto out;
		}
	}
	mpd->scanned_until_end = true;
out:
	if (h)
		ffs_handle_stop(h);
	return err;
}

/* Dirty folios of the range are those this call has to write; later ones are not. */
static void tag_towrite(struct ffs_mpd *mpd)
{
	u8 bits = mpd->sb->env.page_bits;
	u64 last = mpd->end_pos >> bits;
	struct ffs_folio *f = ffs_folio_next_tagged(mpd->m, (u32)(mpd->start_pos >> bits),
						    FFS_TAG_DIRTY);

	for (; f && f->index <= last; f = ffs_folio_after_tagged(mpd->m, f, FFS_TAG_DIRTY))
		ffs_folio_tag(f, FFS_TAG_TOWRITE, true);
}

/* Folios that PREP had locked are let go; after a failure that cannot be helped their data is lost. */
static void release_unused(struct ffs_mpd *mpd, bool give_up)
{
	u8 bits = mpd->sb->env.page_bits;
	u64 last = mpd->next_pos >> bits;
	u32 index = (u32)(mpd->start_pos >> bits);
	struct ffs_folio *f;

	mpd->scanned_until_end &= mpd->start_pos >= mpd->next_pos;
	if (!give_up || mpd->start_pos >= mpd->next_pos)
		return;
	ffs_es_remove(&mpd->sb->bm, mpd->inode, (u32)(mpd->start_pos >> mpd->sb->env.block_bits),
		      (u32)((mpd->next_pos - mpd->start_pos) >> mpd->sb->env.block_bits));
	while ((f = ffs_folio_next(mpd->m, index)) && f->index < last) {
		index = f->index + ffs_folio_pages(f);
		ffs_bh_invalidate(mpd->sb, mpd->m, f, 0, ffs_folio_size(mpd->m, f));
		ffs_folio_clear_dirty(f);
		f->flags &= (u8)~FFS_FOLIO_UPTODATE;
		ffs_bh_clear(f, FFS_BH_UPTODATE, 0, f->bpf);
	}
	ffs_emit(&mpd->sb->env, foliofs_message,
		 ffs_str("delayed allocation failed: data of the range is lost"));
}

/* One handle: PREP, MAP and SUB. */
static int round_with_handle(struct ffs_mpd *mpd)
{
	struct ffs_super *sb = mpd->sb;
	struct foliofs_inode_kind kind = ffs_inode_kind(sb, mpd->inode);
	struct foliofs_ask ask = foliofs_ask(&sb->env.kernel, &sb->env.geo, &kind,
					     FOLIOFS_CREDIT_WRITEBACK,
					     FFS_MAX_WRITEPAGES_EXTENT_LEN);
	struct ffs_handle *h;
	bool give_up = false;
	int err;

	mpd->io_end = ffs_io_end_new(mpd->inode);
	/* The tree may have grown since the call began; the reservation is still that of then. */
	err = ffs_handle_start(sb->journal, mpd->inode->ino, ask.type, ask.credits.total, mpd->rsv,
			       ask.revokes, "ext4_do_writepages", &h);
	if (err) {
		ffs_io_end_submit(sb, mpd->io_end);
		return err;
	}
	mpd->do_map = true;
	ffs_emit(&sb->env, ext4_da_write_folios_start, mpd->inode->ino, mpd->start_pos,
		 mpd->next_pos, (u64)mpd->wbc->nr_to_write, mpd->wbc->sync_mode);
	err = prepare(mpd);
	if (!err && mpd->map_len) {
		ffs_stop(&sb->env, WRITEBACK_PREPARED, mpd->inode->ino,
			 FFS_HELD_HANDLE | FFS_HELD_FOLIOS, mpd->start_pos, mpd->next_pos);
		err = ffs_mpage_map_and_submit(mpd, h, &give_up);
	}
	ffs_handle_stop(h);
	mpd->do_map = false;
	release_unused(mpd, give_up);
	ffs_io_end_submit(sb, mpd->io_end);
	mpd->io_end = NULL;
	ffs_emit(&sb->env, ext4_da_write_folios_end, mpd->inode->ino, mpd->start_pos, mpd->next_pos,
		 (u64)mpd->wbc->nr_to_write, (u64)(s64)err);
	ffs_stop(&sb->env, WRITEBACK_ROUND, mpd->inode->ino, 0, 0, 0);
	if (err == -ENOSPC && ffs_journal_present(sb->journal)) {
		ffs_journal_force_commit(sb->journal);
		err = 0;
	}
	return err == -EAGAIN ? 0 : err;
}

static int plugged_rounds(struct ffs_mpd *mpd)
{
	struct ffs_wbc *wbc = mpd->wbc;
	u64 last_start = ~0ull;
	u32 stuck = 0;
	int err;

	if (wbc->sync_mode == FFS_WB_ALL)
		tag_towrite(mpd);
	mpd->do_map = false;
	mpd->scanned_until_end = false;
	mpd->io_end = ffs_io_end_new(mpd->inode);
	err = prepare(mpd);
	release_unused(mpd, false);
	ffs_io_end_submit(mpd->sb, mpd->io_end);
	mpd->io_end = NULL;
	while (!err && mpd->can_map && !mpd->scanned_until_end && wbc->nr_to_write > 0) {
		err = round_with_handle(mpd);
		/* Retried for space or credits: each retry has to get further. */
		stuck = mpd->start_pos == last_start ? stuck + 1 : 0;
		last_start = mpd->start_pos;
		if (stuck >= FFS_LIVELOCK_ROUNDS) {
			ffs_emit(&mpd->sb->env, foliofs_livelock, mpd->inode->ino, stuck,
				 ffs_str("writepages"));
			return -EAGAIN;
		}
	}
	return err;
}

static int rounds(struct ffs_mpd *mpd)
{
	u32 plug = ffs_io_plug(mpd->sb, mpd->wbc->sync_mode == FFS_WB_ALL);
	int err = plugged_rounds(mpd);

	ffs_io_unplug(mpd->sb, plug);
	return err;
}

static int do_writepages(struct ffs_mpd *mpd)
{
	struct ffs_super *sb = mpd->sb;
	struct ffs_inode *inode = mpd->inode;
	struct ffs_mapping *m = mpd->m;
	struct ffs_wbc *wbc = mpd->wbc;
	s64 to_write = wbc->nr_to_write;
	u64 from = (u64)m->writeback_index << sb->env.page_bits;
	int err = 0;

	ffs_emit(&sb->env, ext4_writepages, inode->ino, (u64)to_write, (u64)wbc->pages_skipped,
		 wbc->range_start, wbc->range_end, wbc->sync_mode, 0, wbc->range_cyclic,
		 m->writeback_index);
	if (!m->nr_folios || !ffs_mapping_tagged(m, FFS_TAG_DIRTY))
		goto out;
	if (ffs_should_journal_data(sb, inode)) {
		if (!ffs_sb_has(sb, FOLIOFS_CHANGE_WRITEPAGES_JDATA)) {
			err = ffs_bh_write_cache_pages(sb, inode, wbc);
			goto out;
		}
		mpd->can_map = false;
		/* What lies in the running transaction can only be written when that is committed. */
		if (wbc->sync_mode == FFS_WB_ALL && !wbc->for_commit)
			ffs_journal_wait_commit(sb->journal, inode->datasync_tid);
	} else if (mpd->can_map) {
		struct foliofs_inode_kind kind;

		err = ffs_inline_destroy(sb, inode);
		if (err)
			goto out;
		kind = ffs_inode_kind(sb, inode);
		mpd->rsv = foliofs_ask(&sb->env.kernel, &sb->env.geo, &kind,
				       FOLIOFS_CREDIT_WRITEBACK,
				       FFS_MAX_WRITEPAGES_EXTENT_LEN).rsv;
	}
	mpd->start_pos = wbc->range_cyclic ? from : wbc->range_start;
	mpd->end_pos = wbc->range_cyclic ? FFS_LLONG_MAX : wbc->range_end;
	err = rounds(mpd);
	if (!err && wbc->range_cyclic && from && wbc->nr_to_write > 0) {
		mpd->start_pos = 0;
		mpd->end_pos = from - 1;
		err = rounds(mpd);
	}
	if (wbc->range_cyclic || (!wbc->range_start && wbc->range_end == FFS_LLONG_MAX &&
				  wbc->nr_to_write > 0))
		m->writeback_index = (u32)(mpd->start_pos >> sb->env.page_bits);
out:
	ffs_emit(&sb->env, ext4_writepages_result, inode->ino, (u64)(s64)err,
		 (u64)(to_write - wbc->nr_to_write), (u64)wbc->pages_skipped, wbc->sync_mode,
		 m->writeback_index);
	return err;
}

int ffs_bh_writepages(struct ffs_super *sb, struct ffs_inode *inode, struct ffs_wbc *wbc)
{
	struct ffs_mpd mpd = {
		.sb = sb, .inode = inode, .m = inode->mapping, .wbc = wbc,
		.can_map = !wbc->for_commit,
	};

	/*
	 * SIMPLIFIED: no page is pinned for direct I/O while it is dirtied, so data=journal has
	 * nothing to put into the journal here and no second pass.
	 */
	return do_writepages(&mpd);
}
