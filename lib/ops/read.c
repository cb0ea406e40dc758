// SPDX-License-Identifier: MIT
/* Buffered reads: filemap_read, filemap_splice_read, filemap_get_pages (v6.18). */
#include "ops.h"

static void read_folios(void *priv, struct ffs_mapping *m, struct ffs_folio **f, u32 n)
{
	struct ffs_ops *o = priv;

	ffs_path_of(&o->sb, m->inode)->read_folios(&o->sb, m, f, n);
}

struct ffs_reader ffs_reader(struct ffs_ops *o)
{
	return (struct ffs_reader){ .read = read_folios, .priv = o };
}

/*
 * Folios from page @index on that can be copied at once: contiguous, up to the
 * first that carries the mark or is not uptodate.  Returns the last of them and
 * in *end the page behind it.
 */
static struct ffs_folio *read_batch(struct ffs_mapping *m, u32 index, u32 last, u32 *end)
{
	struct ffs_folio *f = ffs_folio_find(m, index), *found = NULL;
	u32 n = 0;

	*end = index;
	while (f && n++ < 31) {
		found = f;
		*end = f->index + ffs_folio_pages(f);
		if (!(f->flags & FFS_FOLIO_UPTODATE) || (f->flags & FFS_FOLIO_MARK) || *end >= last)
			break;
		f = ffs_folio_after(m, f);
	}
	return found;
}

/* The page behind a read up to @end: behind its last folio, which is at least a block. */
static u32 end_page(const struct ffs_mapping *m, u64 end)
{
	u64 unit = ffs_page_size(m->env);

	if (ffs_has(m->env, FOLIOFS_CHANGE_READ_END_FOLIO))
		unit <<= m->min_order;
	return (u32)(round_up_pow2(end, unit) >> m->env->page_bits);
}

/* One round: makes sure that something from @pos on can be copied; returns where it ends. */
static int get_pages(struct ffs_ops *o, struct ffs_file *f, u64 pos, u64 count, u64 *end)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_mapping *m = f->inode->mapping;
	struct ffs_reader r = ffs_reader(o);
	u8 bits = sb->env.page_bits;
	u32 index = (u32)(pos >> bits);
	u32 last = end_page(m, pos + count), next;
	struct ffs_folio *folio = read_batch(m, index, last, &next);

	if (!folio) {
		ffs_ra_sync(m, &f->ra, &r, index, last - index);
		folio = read_batch(m, index, last, &next);
	}
	if (!folio) {
		folio = ffs_folio_add(m, index & ~((1u << m->min_order) - 1), m->min_order);
		ffs_read_folio(sb, m, folio);
		next = folio->index + ffs_folio_pages(folio);
	}
	if (folio->flags & FFS_FOLIO_MARK)
		ffs_ra_async(m, &f->ra, &r, folio, folio->index, last - folio->index);
	if (!(folio->flags & FFS_FOLIO_UPTODATE)) {
		u64 at = max(pos, ffs_folio_pos(m, folio));

		if (folio->index > index) {
			/* What lies before it is copied first. */
			*end = ffs_folio_pos(m, folio);
			return 0;
		}
		/* A pipe takes pages, of which every byte must be good. */
		if (sb->direct_data ||
		    !ffs_path_of(sb, f->inode)->is_uptodate(m, folio, at, pos + count - at))
			ffs_read_folio(sb, m, folio);
	}
	*end = (u64)next << bits;
	return 0;
}

/* Bytes [pos, end) were copied, folio by folio. */
static void tell_steps(struct ffs_ops *o, struct ffs_mapping *m, u64 pos, u64 end)
{
	const struct ffs_folio *f;
	u64 next;

	for (; pos < end; pos = next) {
		f = ffs_folio_find(m, (u32)(pos >> o->sb.env.page_bits));
		if (!f)
			return;
		next = min(ffs_folio_end(m, f), end);
		ffs_emit(&o->sb.env, foliofs_step, m->inode->ino, 0, pos, next - pos,
			 ffs_folio_size(m, f));
	}
}

/* A page whose memory has failed cannot be copied from. */
static u64 good_until(const struct ffs_mapping *m, u64 pos, u64 end)
{
	u8 bits = m->env->page_bits;
	u64 first = pos >> bits, last = div_up(end, 1ull << bits);
	u64 bad = ffs_page_poisoned(m, first, last);

	return bad == last ? end : max(pos, bad << bits);
}

s64 ffs_read(struct ffs_ops *o, struct ffs_file *f, u64 pos, u64 len)
{
	u64 done = 0, end;

	if (f->flags & FOLIOFS_O_WRONLY)
		return -EBADF;
	if (!len)
		return 0;
	/* ext4_should_use_dio: journalled data goes through the page cache. */
	if ((f->flags & FOLIOFS_O_DIRECT) && !ffs_should_journal_data(&o->sb, f->inode))
		return ffs_direct_read(o, f, pos, len);
	while (done < len && pos + done < f->inode->i_size) {
		u64 limit;
		u64 more = o->sb.direct_data ? o->sb.direct_data->more : 0;
		int err = get_pages(o, f, pos + done, len - done + more, &end);

		if (err)
			return done ? (s64)done : err;
		limit = min(min(end, pos + len), f->inode->i_size);
		if (unlikely(f->inode->mapping->poison.nr)) {
			limit = min(limit, good_until(f->inode->mapping, pos + done, limit));
			if (limit == pos + done)
				return done ? (s64)done : -EIO;
		}
		if (unlikely(o->sb.env.on[FOLIOFS_EV_foliofs_step]))
			tell_steps(o, f->inode->mapping, pos + done, limit);
		done = limit > pos ? limit - pos : done;
		/*
		 * A pipe takes folio by folio (filemap_splice_read, v6.5).
		 * SIMPLIFIED: before v6.5 the position moved at the end of the piece here too.
		 */
		if (o->sb.direct_data)
			f->ra.prev_pos = pos + done;
	}
	if (done)
		f->ra.prev_pos = pos + done;
	ffs_touch_atime(o, f, f->inode);
	return (s64)done;
}
