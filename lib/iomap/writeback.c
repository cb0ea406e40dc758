// SPDX-License-Identifier: MIT
/*
 * Writeback: iomap_writepages, iomap_writeback_folio, iomap_writeback_range,
 * iomap_writeback_handle_eof (v6.18), and the order of folios (writeback_iter).
 */
#include "iomap.h"

/* A dirty block over a hole has no place on disk: data in it is lost, unless it lies behind EOF. */
static void tell_lost(struct ffs_wpc *w, u64 pos, u64 end)
{
	const struct ffs_mapping *m = w->inode->mapping;
	struct ffs_runs_pos at;
	const struct ffs_run *r;

	end = min(end, w->inode->i_size);
	ffs_runs_for_each(&m->content, r, at, pos, end)
		if (r->b != FFS_SRC_ZERO)
			ffs_emit(&w->sb->env, foliofs_lost, w->inode->ino, max(r->first, pos),
				 min(r->end, end) - max(r->first, pos),
				 ffs_str("dirty block maps nothing"));
}

/* A run of dirty blocks: one piece for each map. */
static int write_run(struct ffs_wpc *w, struct ffs_folio *f, u64 *at, u64 len, u64 eof,
		     bool *pending)
{
	while (len) {
		u64 pos = *at, n;
		int err = w->sb->iomap_fs->wb_map(w, pos, len);

		if (err)
			return err;
		ffs_emit(&w->sb->env, iomap_add_to_ioend, w->inode->ino, pos, len, w->map.addr,
			 w->map.offset, w->map.length, w->map.type, w->map.flags);
		n = min(len, ffs_iomap_end(&w->map) - pos);
		if (w->map.type != FFS_IOMAP_HOLE) {
			ffs_ioend_add(w, f, pos, n, eof);
			*pending = true;
		} else {
			tell_lost(w, pos, pos + n);
		}
		*at += n;
		len -= n;
	}
	return 0;
}

/* True if some of the folio lies below i_size; behind it, the folio is zeroed in memory. */
static bool handle_eof(struct ffs_mapping *m, struct ffs_folio *f, u64 *end)
{
	u64 size = m->inode->i_size;

	if (*end <= size)
		return true;
	if (size <= ffs_folio_pos(m, f))
		return false;
	ffs_content_zero(&m->content, size, *end);
	*end = size;
	return true;
}

static int write_folio(struct ffs_wpc *w, struct ffs_folio *f)
{
	struct ffs_mapping *m = w->inode->mapping;
	u64 start = ffs_folio_pos(m, f), pos = start, end = ffs_folio_end(m, f), run, stop;
	bool pending = false;
	int err = 0;

	ffs_emit(&w->sb->env, iomap_writeback_folio, w->inode->ino, w->inode->i_size, start,
		 end - start);
	if (!handle_eof(m, f, &end))
		return 0;
	if (!ffs_has_buffers(f) && ffs_ifs_alloc(m, f))
		ffs_ifs_set_dirty(m, f, 0, end - start);
	f->write_pending++; /* so that it does not end before all is sent */
	ffs_folio_start_writeback(f, false);
	stop = round_up_pow2(end, ffs_block_size(&w->sb->env));
	while ((run = ffs_ifs_dirty_run(m, f, &pos, stop))) {
		err = write_run(w, f, &pos, run, end, &pending);
		if (err) {
			w->sb->iomap_fs->wb_discard(w->sb, w->inode, pos, ffs_folio_end(m, f));
			break;
		}
	}
	w->nr_folios += pending;
	/* Blocks behind EOF may be dirty too: a store through a mapping dirties the folio. */
	ffs_ifs_clear_dirty(m, f);
	if (!--f->write_pending) {
		f->flags &= (u8)~FFS_FOLIO_WRITEBACK;
		ffs_folio_tag(f, FFS_TAG_WRITEBACK, false);
	}
	return err;
}

static void tag_range(struct ffs_mapping *m, u64 first, u64 last)
{
	struct ffs_folio *f;

	for (; first <= last && (f = ffs_folio_next_tagged(m, (u32)first, FFS_TAG_DIRTY)) &&
	       f->index <= last;
	     first = (u64)f->index + ffs_folio_pages(f))
		ffs_folio_tag(f, FFS_TAG_TOWRITE, true);
}

int ffs_iomap_writepages(struct ffs_super *sb, struct ffs_inode *inode, struct ffs_wbc *wbc)
{
	struct ffs_wpc w = { .sb = sb, .inode = inode, .wbc = wbc };
	struct ffs_mapping *m = inode->mapping;
	bool all = wbc->sync_mode == FFS_WB_ALL;
	enum ffs_folio_tag tag = all ? FFS_TAG_TOWRITE : FFS_TAG_DIRTY;
	u64 index = wbc->range_start >> m->env->page_bits;
	u64 last = min(wbc->range_end >> m->env->page_bits, (u64)0xffffffff);
	struct ffs_folio *f;
	int err, ret = 0;

	if (sb->iomap_fs->wb_begin)
		sb->iomap_fs->wb_begin(inode);
	if (wbc->range_cyclic) {
		index = m->writeback_index;
		last = 0xffffffff;
	}
	if (all)
		tag_range(m, index, last);
	while (index <= last && (f = ffs_folio_next_tagged(m, (u32)index, tag)) && f->index <= last) {
		index = (u64)f->index + ffs_folio_pages(f);
		if (!(f->flags & FFS_FOLIO_DIRTY))
			continue; /* the tag outlives the flag */
		if (f->flags & FFS_FOLIO_WRITEBACK) {
			if (!all)
				continue;
			ffs_ioend_submit(&w, 0);
			ffs_lock_wait(&sb->env, FFS_LOCK_END_IO, inode->ino);
			ffs_sleep(sb);
		}
		ffs_lock(&sb->env, FFS_LOCK_FOLIO, inode->ino);
		ffs_folio_clear_dirty(f);
		wbc->nr_to_write -= ffs_folio_pages(f);
		err = write_folio(&w, f);
		ffs_unlock(&sb->env, FFS_LOCK_FOLIO);
		if (err)
			ffs_mapping_error(sb, inode, err);
		if (err && !ret)
			ret = err;
		if (!all && (err || wbc->nr_to_write <= 0))
			break;
	}
	if (wbc->range_cyclic)
		m->writeback_index = wbc->nr_to_write <= 0 ? (u32)index : 0;
	/* The last request: all folios are unlocked. */
	if (w.ioend)
		ffs_stop(&sb->env, WRITEBACK_SENDING, inode->ino, FFS_HELD_WORKER, 0, 0);
	ffs_ioend_submit(&w, 0);
	return ret;
}

int ffs_iomap_write_and_wait(struct ffs_super *sb, struct ffs_inode *inode, u64 first, u64 last)
{
	struct ffs_wbc wbc = {
		.sync_mode = FFS_WB_ALL, .nr_to_write = FFS_LLONG_MAX,
		.range_start = first, .range_end = last,
	};
	struct ffs_mapping *m = inode->mapping;
	struct ffs_folio *f;
	int err = 0, ret;

	if (last < first)
		return 0;
	if (ffs_mapping_tagged(m, FFS_TAG_DIRTY))
		err = ffs_iomap_writepages(sb, inode, &wbc);
	f = ffs_folio_next_tagged(m, (u32)(first >> m->env->page_bits), FFS_TAG_WRITEBACK);
	if (f && f->index <= last >> m->env->page_bits) {
		ffs_lock_wait(&sb->env, FFS_LOCK_END_IO, inode->ino);
		ffs_sleep(sb);
	}
	ret = ffs_mapping_check_error(inode);
	return err ? err : ret;
}
