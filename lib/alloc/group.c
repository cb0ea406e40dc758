// SPDX-License-Identifier: MIT
/*
 * Free space of one group: bitmap and chunks.
 *
 * Stands for ext4_mb_generate_buddy, mb_mark_used, mb_free_blocks,
 * mb_find_extent and the loading of buddies (ext4_mb_init_group).
 *
 * The kernel keeps the chunks in a buddy bitmap.  Which chunks there are follows
 * from the bitmap alone: an aligned free piece of 2^n is a chunk if the piece of
 * 2^(n+1) around it is not free as a whole, or if n is the highest order there is.
 *
 * Most groups of a large file system are never touched.  They have no bitmap here;
 * their counts are computed from the layout of mke2fs when somebody asks.
 */
#include "internal.h"

#define LAYOUT_RANGES 64 /* enough for all but odd layouts */

static inline void set_bit(u64 *bits, u32 i)
{
	bits[i / 64] |= 1ull << (i % 64);
}

static inline void clear_bit(u64 *bits, u32 i)
{
	bits[i / 64] &= ~(1ull << (i % 64));
}

/* Set or clear [start, end). */
static void fill(u64 *bits, u32 start, u32 end, bool on)
{
	while (start < end) {
		u32 n = min(64 - start % 64, end - start);
		u64 mask = (n == 64 ? ~0ull : (1ull << n) - 1) << (start % 64);

		if (on)
			bits[start / 64] |= mask;
		else
			bits[start / 64] &= ~mask;
		start += n;
	}
}

u32 ffs_next_one(const u64 *bits, u32 max, u32 from)
{
	while (from < max) {
		u64 w = bits[from / 64] >> (from % 64);

		if (w)
			return min(from + (u32)__builtin_ctzll(w), max);
		from = (from | 63) + 1;
	}
	return max;
}

u32 ffs_next_zero(const u64 *bits, u32 max, u32 from)
{
	while (from < max) {
		u64 w = ~bits[from / 64] >> (from % 64);

		if (w)
			return min(from + (u32)__builtin_ctzll(w), max);
		from = (from | 63) + 1;
	}
	return max;
}

/* Order of the largest aligned piece that begins at @start and is not longer than @len. */
static u32 piece_order(const struct ffs_alloc *a, u32 start, u32 len)
{
	u32 order = ilog2(len);

	if (start)
		order = min(order, (u32)__builtin_ctz(start));
	return min(order, a->orders - 1u);
}

/* Order of the chunk that the free cluster @c is in. */
static u32 chunk_order(const struct ffs_alloc *a, const struct ffs_group *g, u32 c)
{
	u32 o;

	for (o = 1; o < a->orders; o++)
		if (ffs_test(ffs_chunk_bits(a, g, o), c >> o))
			return o;
	return 0;
}

static void chunk_add(const struct ffs_alloc *a, struct ffs_group *g, u32 order, u32 start)
{
	g->chunks[order]++;
	if (order && g->bits)
		set_bit(g->bits + a->order_word[order], start >> order);
}

static void chunk_del(const struct ffs_alloc *a, struct ffs_group *g, u32 order, u32 start)
{
	g->chunks[order]--;
	if (order)
		clear_bit(g->bits + a->order_word[order], start >> order);
}

/* Chunks of a free run whose neighbours are used, or of a part of a chunk. */
static void chunks_of_run(const struct ffs_alloc *a, struct ffs_group *g, u32 start, u32 end)
{
	while (start < end) {
		u32 o = piece_order(a, start, end - start);

		chunk_add(a, g, o, start);
		start += 1u << o;
	}
}

/* The group as mke2fs left it: counts, and its bitmap if there is one. */
static void from_layout(struct ffs_alloc *a, u32 group)
{
	struct ffs_group *g = &a->group[group];
	struct ffs_blk_range few[LAYOUT_RANGES], *used = few;
	u64 base = ffs_cluster_block(a, group, 0);
	u64 end = min(base + a->env->geo.blocks_per_group, a->env->geo.blocks_count);
	u32 size = (u32)((end - base) >> a->cluster_bits);
	u32 n = ffs_layout_used(a->layout, group, few, LAYOUT_RANGES);
	u32 at = 0, i;

	if (n > LAYOUT_RANGES) {
		used = ffs_zalloc(n * sizeof(*used));
		ffs_layout_used(a->layout, group, used, n);
	}
	g->free = 0;
	g->fragments = 0;
	g->first_free = size;
	memset(g->chunks, 0, sizeof(g->chunks));
	for (i = 0; i <= n; i++) {
		u32 from = i < n ? (u32)((used[i].first - base) >> a->cluster_bits) : size;
		u32 to = i < n ? (u32)((used[i].end - 1 - base) >> a->cluster_bits) + 1 : size;

		if (from > at) {
			if (!g->free)
				g->first_free = at;
			g->free += from - at;
			g->fragments++;
			chunks_of_run(a, g, at, from);
			if (g->bits)
				fill(g->bits, at, from, false);
		}
		at = max(at, to);
	}
	if (used != few)
		free(used);
	g->flags |= FFS_GROUP_SEEN;
}

struct ffs_group *ffs_group_bits(struct ffs_alloc *a, u32 group)
{
	struct ffs_group *g = &a->group[group];

	if (likely(g->bits))
		return g;
	g->bits = ffs_zalloc(a->group_words * sizeof(*g->bits));
	fill(g->bits, 0, a->bitmap_words * 64, true);
	from_layout(a, group);
	return g;
}

static void load_one(struct ffs_alloc *a, u32 group)
{
	struct ffs_group *g = &a->group[group];

	if (g->flags & FFS_GROUP_LOADED)
		return;
	if (!(g->flags & FFS_GROUP_SEEN))
		from_layout(a, group);
	g->flags |= FFS_GROUP_LOADED;
	a->nr_loaded++;
	ffs_sets_update(a, group);
}

void ffs_group_load(struct ffs_alloc *a, u32 group)
{
	/* a page of the buddy cache holds bitmap and buddy of this many groups */
	u32 per_page = max(a->env->geo.page_size / (2 * a->env->geo.block_size), 1u);
	u32 i;

	if (likely(a->group[group].flags & FFS_GROUP_LOADED))
		return;
	group -= group % per_page;
	for (i = group; i < group + per_page && i < a->groups; i++)
		load_one(a, i);
}

void ffs_group_take(struct ffs_alloc *a, u32 group, u32 start, u32 len)
{
	struct ffs_group *g = ffs_group_bits(a, group);
	u32 at = start, end = start + len;
	bool left = start && !ffs_test(g->bits, start - 1);
	bool right = end < a->cpg && !ffs_test(g->bits, end);

	g->free -= len;
	g->fragments += (u32)left + (u32)right - 1;
	if (g->first_free == start)
		g->first_free = end;
	while (at < end) {
		u32 o = chunk_order(a, g, at);
		u32 first = at >> o << o, last = first + (1u << o);

		chunk_del(a, g, o, first);
		chunks_of_run(a, g, first, at);
		if (end < last)
			chunks_of_run(a, g, end, last);
		at = last;
	}
	fill(g->bits, start, end, true);
	ffs_sets_update(a, group);
}

/* A free piece joins its buddies as far as they are free. */
static void chunk_join(const struct ffs_alloc *a, struct ffs_group *g, u32 order, u32 start)
{
	while (order + 1 < a->orders) {
		u32 buddy = start ^ (1u << order);

		/*
		 * A buddy of order 0 that is free has no larger chunk around it: that
		 * would hold the piece itself, which was not free until now.
		 */
		if (order ? !ffs_test(ffs_chunk_bits(a, g, order), buddy >> order) :
			    ffs_test(g->bits, buddy))
			break;
		chunk_del(a, g, order, buddy);
		start = min(start, buddy);
		order++;
	}
	chunk_add(a, g, order, start);
}

void ffs_group_give(struct ffs_alloc *a, u32 group, u32 start, u32 len)
{
	struct ffs_group *g = ffs_group_bits(a, group);
	u32 at = start, end = start + len;
	bool left = start && !ffs_test(g->bits, start - 1);
	bool right = end < a->cpg && !ffs_test(g->bits, end);

	g->free += len;
	g->fragments += 1 - (u32)left - (u32)right;
	g->first_free = min(g->first_free, start);
	while (at < end) {
		u32 o = piece_order(a, at, end - at);

		fill(g->bits, at, at + (1u << o), false);
		chunk_join(a, g, o, at);
		at += 1u << o;
	}
	ffs_sets_update(a, group);
}

u32 ffs_group_measure(const struct ffs_alloc *a, const struct ffs_group *g, u32 start, u32 needed)
{
	u32 o, end;

	if (ffs_test(g->bits, start))
		return 0;
	o = chunk_order(a, g, start);
	end = ((start >> o) + 1) << o;
	while (end - start < needed && end < a->cpg && !ffs_test(g->bits, end))
		end += 1u << chunk_order(a, g, end);
	return end - start;
}

void ffs_groups_init(struct ffs_alloc *a)
{
	u32 o, words = 0, i;

	a->bitmap_words = (a->cpg + 63) / 64;
	for (o = 0; o < a->orders; o++) {
		a->order_word[o] = words;
		words += ((a->cpg >> o) + 64) / 64;
	}
	a->group_words = words;
	a->group = ffs_zalloc(a->groups * sizeof(*a->group));
	for (i = 0; i < a->groups; i++) {
		struct ffs_group *g = &a->group[i];

		ffs_link_init(&g->pas);
		g->set_largest = g->set_avg = -1;
		from_layout(a, i);
		g->disk_free = g->free;
	}
}
