// SPDX-License-Identifier: MIT
/*
 * Readahead windows and orders: see readahead.h.  Stands for page_cache_sync_ra,
 * page_cache_async_ra, page_cache_ra_order, page_cache_ra_unbounded,
 * force_page_cache_ra and do_sync_mmap_readahead of v6.18.
 */
#include "readahead.h"

#define BATCH 512u /* pages; folios handed to the reader at once are never more */

/* New folios not yet read. */
struct batch {
	struct ffs_mapping *m;
	struct ffs_ra *ra;
	const struct ffs_reader *r;
	struct ffs_folio **folios;
	u32 n, cap;
};

void ffs_ra_init(struct ffs_ra *ra, const struct ffs_env *env)
{
	u64 kb = env->geo.read_ahead_kb;

	*ra = (struct ffs_ra){ .prev_pos = ~0ull };
	ra->ra_pages = (u32)((kb << 10) >> env->page_bits);
}

/* A file system that does not read ahead leaves the folios alone: they go again (read_pages). */
static void batch_unread(struct batch *b)
{
	u32 i;

	for (i = 0; i < b->n; i++) {
		u32 pages = ffs_folio_pages(b->folios[i]);

		b->ra->size -= pages;
		if (b->ra->async_size < pages)
			continue;
		b->ra->async_size -= pages;
		ffs_folio_delete(b->m, b->folios[i]);
	}
}

static void batch_read(struct batch *b)
{
	/* ext4 does not read ahead in files whose data lies in the inode. */
	if (b->m->inode->flags & FFS_INODE_INLINE_DATA)
		batch_unread(b);
	else if (b->n)
		b->r->read(b->r->priv, b->m, b->folios, b->n);
	b->n = 0;
}

static void batch_add(struct batch *b, struct ffs_folio *f)
{
	if (b->n == b->cap) {
		b->cap = b->cap ? 2 * b->cap : 64;
		b->folios = ffs_realloc(b->folios, b->cap * sizeof(*b->folios));
	}
	b->folios[b->n++] = f;
}

static u64 last_page(const struct ffs_mapping *m)
{
	return (m->inode->i_size - 1) >> m->env->page_bits; /* callers know i_size > 0 */
}

/* Pages of order min_order, skipping cached ones; @lookahead: the last so many begin with the mark. */
static void read_pages_unbounded(struct ffs_mapping *m, struct ffs_ra *ra,
				 const struct ffs_reader *r, u32 index, u32 nr, u32 lookahead)
{
	struct batch b = { .m = m, .ra = ra, .r = r };
	u32 step = 1u << m->min_order, mark, i;

	mark = (index + nr - lookahead + step - 1) & ~(step - 1);
	/* What begins inside a folio begins with that folio, and ends where it would have ended. */
	nr += index & (step - 1);
	index &= ~(step - 1);
	for (i = 0; i < nr; i += step) {
		struct ffs_folio *f;

		if (ffs_folio_find(m, index + i)) {
			batch_read(&b);
			continue;
		}
		f = ffs_folio_add(m, index + i, m->min_order);
		if (index + i == mark && lookahead)
			f->flags |= FFS_FOLIO_MARK;
		batch_add(&b, f);
	}
	batch_read(&b);
	free(b.folios);
}

static void read_pages(struct ffs_mapping *m, struct ffs_ra *ra, const struct ffs_reader *r,
		       u32 index, u32 nr, u32 lookahead)
{
	u64 last;

	if (!m->inode->i_size || !nr)
		return;
	last = last_page(m);
	if (index > last)
		return;
	if (nr > last - index)
		nr = (u32)(last - index + 1);
	read_pages_unbounded(m, ra, r, index, nr, lookahead);
}

/* The window of @ra in folios of up to @ra->order, shrunk where alignment or EOF asks for it. */
static void read_order(struct ffs_mapping *m, struct ffs_ra *ra, const struct ffs_reader *r)
{
	struct batch b = { .m = m, .ra = ra, .r = r };
	u32 index = ra->start, first = ra->start, mark = index + ra->size - ra->async_size;
	u64 limit;
	u8 order = ra->order;

	if (!m->max_order) {
		ra->order = 0;
		read_pages(m, ra, r, index, ra->size, ra->async_size);
		return;
	}
	/* (No window: a mark that was made for reclaim, found before the first readahead.) */
	if (!m->inode->i_size || !ra->size)
		return;
	limit = min(last_page(m), (u64)index + ra->size - 1);
	order = min(order, m->max_order);
	/* An empty window (a marked folio under a file that has read nothing) limits no order. */
	if (ra->size)
		order = min(order, (u8)ilog2(ra->size));
	order = max(order, m->min_order);
	ra->order = order;
	index &= ~((1u << m->min_order) - 1);
	while (index <= limit) {
		u8 k = order;
		struct ffs_folio *f;

		if (index & ((1u << k) - 1))
			k = (u8)__builtin_ctz(index);
		while (k > m->min_order && (u64)index + (1u << k) - 1 > limit)
			k--;
		f = ffs_folio_add(m, index, k);
		if (!f)
			break;
		if (index == (mark & ~((1u << k) - 1)))
			f->flags |= FFS_FOLIO_MARK;
		batch_add(&b, f);
		index += 1u << k;
	}
	batch_read(&b);
	free(b.folios);
	/*
	 * Something cached in the way: the rest page by page - none, if that was the folio which
	 * the window begins inside of: what has been done is counted from the window's start.
	 */
	if (index <= limit && index >= first)
		read_pages(m, ra, r, index, ra->size - (index - first), ra->async_size);
}

static u32 roundup_pow2(u32 v)
{
	return v <= 1 ? 1 : 1u << (ilog2(v - 1) + 1);
}

static u32 init_size(u32 want, u32 most)
{
	u32 n = roundup_pow2(want);

	if (n <= most / 32)
		return 4 * n;
	if (n <= most / 4)
		return 2 * n;
	return most;
}

static u32 next_size(u32 size, u32 most)
{
	if (size < most / 16)
		return 4 * size;
	if (size <= most / 2)
		return 2 * size;
	return most;
}

/* Largest window for a request of @want pages. */
static u32 max_pages(const struct ffs_mapping *m, const struct ffs_ra *ra, u32 want)
{
	u32 io = m->env->geo.io_opt_pages;

	if (want > ra->ra_pages && io > ra->ra_pages)
		return min(want, io);
	return ra->ra_pages;
}

void ffs_ra_force(struct ffs_mapping *m, struct ffs_ra *ra, const struct ffs_reader *r, u32 index,
		  u32 nr)
{
	u32 most = max(m->env->geo.io_opt_pages, ra->ra_pages);

	nr = min(nr, most);
	while (nr) {
		u32 n = min(nr, BATCH);

		read_pages(m, ra, r, index, n, 0);
		index += n;
		nr -= n;
	}
}

void ffs_ra_sync(struct ffs_mapping *m, struct ffs_ra *ra, const struct ffs_reader *r, u32 index,
		 u32 want)
{
	u32 most = max_pages(m, ra, want), prev, cached;

	if (!ra->ra_pages || ra->random) {
		ffs_ra_force(m, ra, r, index, ra->ra_pages ? want : 1);
		return;
	}
	prev = (u32)(ra->prev_pos >> m->env->page_bits);
	if (ra->prev_pos == ~0ull)
		prev = ~0u;
	if (!index || want > most || index - prev <= 1) {
		ra->start = index;
		ra->size = init_size(want, most);
		ra->async_size = ra->size > want ? ra->size - want : ra->size >> 1;
	} else {
		cached = ffs_walk_cached_left(m, index - 1, most);
		if (cached <= want) {
			read_pages(m, ra, r, index, want, 0);
			return;
		}
		if (cached >= index) /* the run reaches the start of the file */
			cached *= 2;
		ra->start = index;
		ra->size = min(cached + want, most);
		ra->async_size = 1;
	}
	/* Before ra-order every window was asked for two orders above what it started from. */
	ra->order = ffs_has(m->env, FOLIOFS_CHANGE_RA_ORDER) ? 0 : 2;
	read_order(m, ra, r);
}

void ffs_ra_async(struct ffs_mapping *m, struct ffs_ra *ra, const struct ffs_reader *r,
		  struct ffs_folio *f, u32 index, u32 want)
{
	u32 most = max_pages(m, ra, want), expected, align, end;

	if (!ra->ra_pages || (f->flags & FFS_FOLIO_WRITEBACK))
		return;
	f->flags &= (u8)~FFS_FOLIO_MARK;
	expected = (ra->start + ra->size - ra->async_size) & ~(ffs_folio_pages(f) - 1);
	if (index == expected) {
		ra->start += ra->size;
		ra->size = max(ra->size, next_size(ra->size, most));
	} else {
		u32 missing = ffs_walk_missing_right(m, index + 1, most);

		if (missing - index > most)
			return;
		ra->start = missing;
		ra->size = next_size(missing - index + want, most);
	}
	if (ffs_has(m->env, FOLIOFS_CHANGE_RA_ORDER)) {
		ra->order = (u8)(ra->order + 2);
		align = 1u << min((u32)ra->order, most ? (u32)__builtin_ctz(most) : 0u);
		end = (ra->start + ra->size) & ~(align - 1);
		if (end > ra->start)
			ra->size = end - ra->start;
	} else {
		ra->order = (u8)(ilog2(ffs_folio_pages(f)) + 2);
	}
	ra->async_size = ra->size;
	read_order(m, ra, r);
}

#define MMAP_MISS_LIMIT 100u

void ffs_ra_fault(struct ffs_mapping *m, struct ffs_ra *ra, const struct ffs_reader *r, u32 index,
		  enum ffs_ra_advice advice)
{
	const u8 huge = 9; /* PMD order of 4K pages */

	if (advice == FFS_RA_HUGEPAGE && m->max_order) {
		ra->start = index & ~((1u << huge) - 1);
		ra->size = 2u << huge;
		ra->async_size = 1u << huge;
		ra->order = huge;
		read_order(m, ra, r);
		return;
	}
	if (advice == FFS_RA_RANDOM || !ra->ra_pages)
		return; /* the page alone is brought in by the fault */
	if (advice == FFS_RA_SEQUENTIAL) {
		ffs_ra_sync(m, ra, r, index, ra->ra_pages);
		return;
	}
	if (ra->mmap_miss < MMAP_MISS_LIMIT * 10)
		ra->mmap_miss++;
	if (ra->mmap_miss > MMAP_MISS_LIMIT)
		return;
	ra->start = index > ra->ra_pages / 2 ? index - ra->ra_pages / 2 : 0;
	ra->size = ra->ra_pages;
	ra->async_size = ra->ra_pages / 4;
	ra->order = 0;
	read_order(m, ra, r);
}
