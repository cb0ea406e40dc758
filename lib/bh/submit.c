// SPDX-License-Identifier: MIT
/*
 * SUB: a folio's mapped dirty blocks become bios (mpage_submit_folio,
 * ext4_bio_write_folio; v6.18).  The device takes the data at once; what follows
 * from the end of the I/O comes later, in end_io.c.
 */
#include "bh.h"

/* Blocks [b, end) of the folio, adjacent on the file: one bio for each piece adjacent on disk. */
static void write_run(struct ffs_super *sb, struct ffs_mapping *m, struct ffs_folio *f, u32 b,
		      u32 end, struct ffs_io_end *io)
{
	u8 bits = sb->env.block_bits;
	u32 base = ffs_folio_block(m, f), next;

	for (; b < end; b = next) {
		u64 first = base + b, stop, pblk = ffs_bh_blocknr(f, b);

		next = ffs_bh_adjacent_end(f, b, end);
		stop = base + next;

		if (ffs_fails(&sb->env, EIO)) {
			ffs_emit(&sb->env, foliofs_io_error, m->inode->ino, pblk, stop - first,
				 first << bits);
			io->failed = true;
			continue;
		}
		ffs_emit(&sb->env, foliofs_bio, m->inode->ino, 1, pblk, stop - first, first << bits);
		ffs_device_write(sb, pblk << bits, &m->content, first << bits,
				 (stop - first) << bits, FFS_SRC_UNKNOWN);
		ffs_io_end_blocks(sb, io, pblk, stop - first, first);
	}
}

/* A dirty block that maps nothing has no place on disk.  If it holds data, that is lost. */
static void tell_lost(struct ffs_super *sb, const struct ffs_mapping *m, u64 pos)
{
	u64 end = min(pos + ffs_block_size(&sb->env), m->inode->i_size);
	struct ffs_runs_pos at;
	const struct ffs_run *r;

	ffs_runs_for_each(&m->content, r, at, pos, end)
		if (r->b != FFS_SRC_ZERO) {
			u64 first = max(r->first, pos);

			ffs_emit(&sb->env, foliofs_lost, m->inode->ino, first,
				 min(r->end, end) - first, ffs_str("dirty block maps nothing"));
		}
}

void ffs_bio_write_folio(struct ffs_super *sb, struct ffs_mapping *m, struct ffs_folio *f, u64 len,
			 struct ffs_wbc *wbc, struct ffs_io_end *io)
{
	u32 end = (u32)div_up(len, ffs_block_size(&sb->env)), b, w;
	bool keep = false, any = false;

	ffs_emit(&sb->env, foliofs_block_loop, m->inode->ino, ffs_str("writeback"), f->index, 0,
		 f->bpf, 0);
	if (len < ffs_folio_size(m, f))
		ffs_content_zero(&m->content, ffs_folio_pos(m, f) + len, ffs_folio_end(m, f));
	ffs_bh_clear(f, FFS_BH_DIRTY, end, f->bpf);
	ffs_bh_set(f, FFS_BH_UPTODATE, end, f->bpf);
	/* A dirty block that maps nothing has nowhere to go: a hole of a mapped page, or a lost write. */
	for (w = 0; w * 64 < end; w++) {
		u64 lost = ffs_bh_word(f, FFS_BH_DIRTY, w) & ~ffs_bh_word(f, FFS_BH_MAPPED, w);

		while (lost) {
			b = w * 64 + (u32)__builtin_ctzll(lost);
			lost &= lost - 1;
			tell_lost(sb, m, ffs_folio_pos(m, f) + ((u64)b << sb->env.block_bits));
			ffs_bh_clear(f, FFS_BH_DIRTY, b, b + 1);
		}
	}
	for (b = ffs_bh_next(f, FFS_BH_DIRTY, 0, end); b < end;
	     b = ffs_bh_next(f, FFS_BH_DIRTY, b, end)) {
		u32 stop = ffs_bh_next_clear(f, FFS_BH_DIRTY, b, end);
		u32 wait = min(ffs_bh_next(f, FFS_BH_DELAY, b, stop),
			       ffs_bh_next(f, FFS_BH_UNWRITTEN, b, stop));

		if (wait == b) {
			/* Not allocated yet: stays dirty, and so does the folio. */
			keep = true;
			wait = min(ffs_bh_next_clear(f, FFS_BH_DELAY, b, stop),
				   stop);
			if (wait == b)
				wait = min(ffs_bh_next_clear(f, FFS_BH_UNWRITTEN, b, stop), stop);
			b = wait;
			continue;
		}
		write_run(sb, m, f, b, wait, io);
		ffs_bh_clear(f, FFS_BH_NEW, b, wait);
		ffs_bh_clear(f, FFS_BH_DIRTY, b, wait);
		ffs_bh_set(f, FFS_BH_WRITE, b, wait);
		any = true;
		b = wait;
	}
	/* data=journal: what the running transaction holds is written after its commit. */
	if (ffs_sb_has(sb, FOLIOFS_CHANGE_WRITEPAGES_JDATA) &&
	    ffs_bh_any(f, FFS_BH_JDIRTY, 0, end))
		keep = true;
	if (keep) {
		wbc->pages_skipped += ffs_folio_pages(f);
		ffs_folio_set_dirty(f);
		ffs_folio_tag(f, FFS_TAG_TOWRITE, wbc->sync_mode == FFS_WB_ALL);
		ffs_inode_dirtied(sb, m->inode);
	}
	if (any) {
		ffs_folio_start_writeback(f, keep);
		ffs_io_end_folio(io, f);
	}
}

void ffs_mpage_submit_folio(struct ffs_mpd *mpd, struct ffs_folio *f)
{
	u64 size = mpd->inode->i_size, len = ffs_folio_size(mpd->m, f);

	/*
	 * nr-to-write-done pays once for a finished folio; before, each submission paid: for the
	 * pages of the folio with lf-writeback, for one without.
	 */
	if (!ffs_sb_has(mpd->sb, FOLIOFS_CHANGE_CF_NR_TO_WRITE))
		mpd->wbc->nr_to_write -= ffs_sb_has(mpd->sb, FOLIOFS_CHANGE_LF_WRITEBACK) ?
						 ffs_folio_pages(f) : 1;
	ffs_folio_clear_dirty(f);
	if (ffs_folio_end(mpd->m, f) > size)
		len = size & (len - 1);
	ffs_bio_write_folio(mpd->sb, mpd->m, f, len, mpd->wbc, mpd->io_end);
}
