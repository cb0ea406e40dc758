// SPDX-License-Identifier: MIT
/*
 * lib/pagecache/buffers.c: ranges of buffer states against a plain array of booleans, every range
 * of small folios and the word boundaries of the folio of 2,048 buffers; where blocks, pages and
 * folios lie; block numbers.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "pagecache/folio.h"

#define MAX_BLOCKS 2048u

static struct ffs_folio *folio(struct ffs_mapping *m, struct ffs_env *env, u8 block_bits,
			       u8 page_bits, u8 order, u32 index)
{
	struct ffs_folio *f;

	*env = (struct ffs_env){ .block_bits = block_bits, .page_bits = page_bits };
	*m = (struct ffs_mapping){ .env = env };
	f = ffs_zalloc(sizeof(*f));
	f->index = index;
	f->order = order;
	ffs_folio_attach_buffers(m, f);
	return f;
}

static void drop(struct ffs_folio *f)
{
	ffs_folio_strip_buffers(f);
	free(f);
}

/* Every question about @s, from each of @at (n of them) on, has the answer of @want. */
static void same(const struct ffs_folio *f, enum ffs_bh_state s, const bool *want, const u32 *at,
		 u32 n)
{
	u32 i, j, b;

	for (b = 0; b < f->bpf; b++)
		assert_int_equal(ffs_bh_test(f, s, b), want[b]);
	for (i = 0; i < n; i++)
		for (j = i; j < n; j++) {
			u32 from = at[i], end = at[j], set = from, clear = from;

			while (set < end && !want[set])
				set++;
			while (clear < end && want[clear])
				clear++;
			assert_int_equal(ffs_bh_next(f, s, from, end), set);
			assert_int_equal(ffs_bh_next_clear(f, s, from, end), clear);
			assert_int_equal(ffs_bh_any(f, s, from, end), set < end);
			assert_int_equal(ffs_bh_all(f, s, from, end), clear == end);
		}
}

/* Each pair of @at: set, and a hole of it, on a folio of @bpf blocks; other states stay. */
static void sweep(u32 bpf, const u32 *at, u32 n)
{
	static bool want[MAX_BLOCKS], none[MAX_BLOCKS];
	struct ffs_env env;
	struct ffs_mapping m;
	struct ffs_folio *f = folio(&m, &env, 10, 10, (u8)__builtin_ctz(bpf), bpf);
	u32 i, j, b;

	assert_int_equal(f->bpf, bpf);
	for (i = 0; i < n; i++)
		for (j = i; j < n; j++) {
			for (b = 0; b < bpf; b++)
				want[b] = b >= at[i] && b < at[j];
			ffs_bh_set(f, FFS_BH_DIRTY, at[i], at[j]);
			same(f, FFS_BH_DIRTY, want, at, n);
			ffs_bh_set(f, FFS_BH_DIRTY, 0, bpf);
			ffs_bh_clear(f, FFS_BH_DIRTY, at[i], at[j]);
			for (b = 0; b < bpf; b++)
				want[b] = !want[b];
			same(f, FFS_BH_DIRTY, want, at, n);
			ffs_bh_clear(f, FFS_BH_DIRTY, 0, bpf);
			same(f, FFS_BH_UPTODATE, none, at, n);
			same(f, FFS_BH_MAPPED, none, at, n);
		}
	drop(f);
}

static void every_range_of_small_folios(void **state)
{
	u32 at[17], bpf, i;

	(void)state;
	for (bpf = 1; bpf <= 16; bpf *= 2) {
		for (i = 0; i <= bpf; i++)
			at[i] = i;
		sweep(bpf, at, bpf + 1);
	}
}

static void word_boundaries(void **state)
{
	static const u32 at[] = { 0, 1, 62, 63, 64, 65, 127, 128, 129, 1023, 1024, 1025, 1983, 1984,
				  2046, 2047, 2048 };
	static const u32 at64[] = { 0, 1, 7, 8, 9, 31, 32, 33, 62, 63, 64 };

	(void)state;
	sweep(2048, at, ARRAY_SIZE(at));
	sweep(64, at64, ARRAY_SIZE(at64));
}

/* Block sizes 1K to 64K x page sizes x orders: where the second folio of that order lies. */
static void places(void **state)
{
	static const u8 pages[] = { 12, 14, 16 };
	struct ffs_env env;
	struct ffs_mapping m;
	u32 p;
	u8 bits, order;

	(void)state;
	for (p = 0; p < ARRAY_SIZE(pages); p++)
		for (bits = 10; bits <= 16; bits++)
			for (order = 0; pages[p] + order <= 21; order++) {
				u64 size = 1ull << order << pages[p], block = 1ull << bits;
				struct ffs_folio *f = folio(&m, &env, bits, pages[p], order,
							    1u << order);

				assert_int_equal(ffs_folio_pages(f), size / (1u << pages[p]));
				assert_int_equal(ffs_folio_pos(&m, f), size);
				assert_int_equal(ffs_folio_size(&m, f), size);
				assert_int_equal(ffs_folio_end(&m, f), 2 * size);
				assert_int_equal(ffs_folio_block(&m, f), size / block);
				/* a block of several folios is one buffer of each */
				assert_int_equal(f->bpf, size < block ? 1 : size / block);
				drop(f);
			}
	/* 1K blocks: the third 2 MiB folio begins with page 1024 and block 4096 */
	{
		struct ffs_folio *f = folio(&m, &env, 10, 12, 9, 1024);

		assert_int_equal(ffs_folio_pos(&m, f), 4194304);
		assert_int_equal(ffs_folio_block(&m, f), 4096);
		assert_int_equal(f->bpf, 2048);
		drop(f);
	}
}

/* Block numbers: adjacent ones, then one elsewhere, then buffers that have none. */
static void block_numbers(void **state)
{
	struct ffs_env env;
	struct ffs_mapping m;
	struct ffs_folio *f = folio(&m, &env, 10, 12, 2, 4);

	(void)state;
	ffs_bh_set_blocknr(f, 0, 16, 5000);
	ffs_bh_set(f, FFS_BH_MAPPED, 0, 16);
	assert_int_equal(ffs_bh_blocknr(f, 15), 5015);
	assert_int_equal(ffs_bh_adjacent_end(f, 3, 16), 16);
	ffs_bh_set_blocknr(f, 6, 8, 900);
	assert_int_equal(ffs_bh_blocknr(f, 5), 5005);
	assert_int_equal(ffs_bh_blocknr(f, 6), 900);
	assert_int_equal(ffs_bh_blocknr(f, 7), 901);
	assert_int_equal(ffs_bh_blocknr(f, 8), 5008);
	assert_int_equal(ffs_bh_adjacent_end(f, 3, 16), 6);
	assert_int_equal(ffs_bh_adjacent_end(f, 6, 16), 8);
	assert_int_equal(ffs_bh_adjacent_end(f, 6, 7), 7);
	assert_int_equal(ffs_bh_adjacent_end(f, 8, 16), 16);
	drop(f);
	/* the others are delayed: they have no number to keep */
	f = folio(&m, &env, 10, 12, 2, 4);
	ffs_bh_set(f, FFS_BH_MAPPED, 0, 16);
	ffs_bh_set(f, FFS_BH_DELAY, 0, 16);
	ffs_bh_set_blocknr(f, 4, 8, 100);
	ffs_bh_clear(f, FFS_BH_DELAY, 4, 8);
	assert_int_equal(ffs_bh_blocknr(f, 4), 100);
	ffs_bh_set_blocknr(f, 8, 16, 104);
	assert_int_equal(ffs_bh_blocknr(f, 15), 111);
	assert_int_equal(ffs_bh_adjacent_end(f, 4, 16), 16);
	drop(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_range_of_small_folios),
		cmocka_unit_test(word_boundaries),
		cmocka_unit_test(places),
		cmocka_unit_test(block_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
