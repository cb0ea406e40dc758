// SPDX-License-Identifier: MIT
/*
 * Limits of journals, folio orders, who is eligible, verdicts, and properties of the formulas
 * over random geometries.  Numbers: jbd2's messages and proc files, mail reports, hand calculation.
 */
#include "credits_geometry.h"

#include <string.h>

static struct foliofs_journal_limits limits(const char *spec, const struct foliofs_geometry *g)
{
	struct foliofs_kernel k = kernel(spec);
	struct foliofs_journal_limits l;

	foliofs_journal_limits(&k, g, &l);
	return l;
}

static void transaction_sizes(void **state)
{
	static const uint32_t rows[][2] = {
		{ 1024, 341 }, { 2048, 682 }, { 4096, 1365 }, { 8192, 2730 }, { 16384, 5461 },
		{ 32768, 10922 }, { 131072, 43690 }, { 262144, 87381 },
	};
	struct foliofs_geometry g = geometry(4096, 8, 1, 0);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		g.journal_blocks = rows[i][0];
		assert_int_equal(limits("v6.18", &g).max_transaction, rows[i][1]);
	}
	g.journal_blocks = 1024;
	assert_int_equal(limits("v6.1-stable", &g).max_transaction, 256);
	/* fast commits take their blocks off; not if less than the smallest journal is left */
	g.features |= FOLIOFS_FEATURE_FAST_COMMIT;
	g.journal_blocks = 4224;
	g.fast_commit_blocks = 128;
	assert_int_equal(limits("v6.18", &g).max_transaction, 1365);
	assert_int_equal(limits("v6.18", &g).fast_commit, 128);
	g.fast_commit_blocks = 0;
	assert_int_equal(limits("v6.18", &g).fast_commit, 256);
	g.journal_blocks = 1279;
	assert_int_equal(limits("v6.18", &g).fast_commit, 0);
	assert_int_equal(limits("v6.18", &g).max_transaction, 426);
	g.features = 0;
	assert_int_equal(limits("v6.18", &g).max_handle, 0);
}

static void formats(void **state)
{
	static const struct {
		uint32_t journal, block_size;
		bool csum, wide;
		uint32_t tags, overhead, max_handle;
	} rows[] = {
		{ 1024, 1024, true, true, 61, 7, 334 },
		{ 1024, 1024, false, true, 81, 6, 335 },
		{ 1024, 1024, false, false, 122, 4, 337 },
		{ 1024, 1024, true, false, 61, 7, 334 },
		{ 1024, 4096, true, true, 253, 3, 338 },
		{ 1024, 4096, false, true, 337, 3, 338 },
		{ 1024, 4096, false, false, 506, 2, 339 },
		{ 4096, 1024, true, true, 61, 24, 1341 },
		{ 4096, 4096, true, true, 253, 7, 1358 },
		{ 8192, 1024, true, true, 61, 46, 2684 },
		{ 8192, 1024, false, true, 81, 35, 2695 },
		{ 8192, 4096, true, true, 253, 12, 2718 },
		{ 16384, 4096, true, true, 253, 23, 5438 },
		{ 32768, 4096, true, true, 253, 45, 10877 },
		{ 65536, 4096, true, true, 253, 88, 21757 },
		{ 262144, 4096, true, true, 253, 347, 87034 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct foliofs_geometry g = geometry(rows[i].block_size, 8, 1, rows[i].journal);
		struct foliofs_journal_limits l;

		if (!rows[i].csum)
			g.features &= ~(uint32_t)FOLIOFS_FEATURE_METADATA_CSUM;
		if (!rows[i].wide)
			g.features &= ~(uint32_t)FOLIOFS_FEATURE_64BIT;
		l = limits("v6.18", &g);
		assert_int_equal(l.tags_per_block, rows[i].tags);
		assert_int_equal(l.overhead, rows[i].overhead);
		assert_int_equal(l.max_handle, rows[i].max_handle);
		assert_int_equal(l.max_reserved, rows[i].max_handle / 2);
	}
}

/* Before 6.11 a handle was allowed what could never be committed: limit - overhead < r <= limit. */
static void band(void **state)
{
	struct foliofs_geometry g = geometry(4096, 8, 1, 1024);

	(void)state;
	assert_int_equal(limits("v6.1", &g).overhead, 3);
	assert_int_equal(limits("v6.1", &g).max_handle, 256);
	assert_int_equal(limits("v6.1+jbd-user-max", &g).max_handle, 253);
	g = geometry(1024, 8, 1, 1024);
	assert_int_equal(limits("v6.1", &g).overhead, 6);
	assert_int_equal(limits("v6.1+jbd-user-max", &g).max_handle, 250);
	g.features &= ~(uint32_t)FOLIOFS_FEATURE_METADATA_CSUM;
	assert_int_equal(limits("v6.1", &g).overhead, 5);
	assert_int_equal(limits("v6.1+jbd-user-max", &g).max_handle, 251);
	/* example 10 */
	g = geometry(1024, 2540, 159, 1024);
	assert_int_equal(limits("v6.18", &g).max_transaction, 341);
	assert_int_equal(limits("v6.18", &g).max_handle, 334);
	assert_int_equal(limits("v6.18", &g).max_reserved, 167);
}

static void revokes(void **state)
{
	struct foliofs_geometry g = geometry(1024, 8, 1, 1024);
	struct foliofs_journal_limits l = limits("v6.18", &g);

	(void)state;
	assert_int_equal(l.revokes_per_block, 125);
	assert_int_equal(foliofs_requested(&l, 41, 8), 42);
	assert_int_equal(foliofs_requested(&l, 41, 128), 43);
	g.features &= ~(uint32_t)FOLIOFS_FEATURE_METADATA_CSUM;
	assert_int_equal(limits("v6.18", &g).revokes_per_block, 126);
	g.features &= ~(uint32_t)FOLIOFS_FEATURE_64BIT;
	assert_int_equal(limits("v6.18", &g).revokes_per_block, 252);
	g = geometry(2048, 8, 1, 1024);
	l = limits("v6.18", &g);
	assert_int_equal(l.revokes_per_block, 253);
	assert_int_equal(foliofs_requested(&l, 0, 512), 3);
	g = geometry(4096, 8, 1, 1024);
	l = limits("v6.18", &g);
	assert_int_equal(l.revokes_per_block, 509);
	assert_int_equal(foliofs_requested(&l, 1, 508), 2);
	assert_int_equal(foliofs_requested(&l, 1, 509), 2);
	assert_int_equal(foliofs_requested(&l, 1, 510), 3);
	assert_int_equal(foliofs_requested(&l, 0, 2048), 5);
}

static void orders(void **state)
{
	static const struct {
		uint32_t page_size, block_size;
		uint8_t v616, v617;
		uint32_t blocks_616, blocks_617, rsv;
	} rows[] = {
		{ 4096, 1024, 9, 9, 2048, 2048, 41 },
		{ 4096, 2048, 9, 9, 1024, 1024, 23 },
		{ 4096, 4096, 9, 9, 512, 512, 18 },
		{ 16384, 1024, 11, 7, 32768, 2048, 41 },
		{ 16384, 4096, 11, 9, 8192, 2048, 23 },
		{ 16384, 16384, 11, 11, 2048, 2048, 18 },
		{ 65536, 1024, 11, 5, 131072, 2048, 41 },
		{ 65536, 4096, 11, 7, 32768, 2048, 23 },
		{ 65536, 65536, 11, 11, 2048, 2048, 17 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct foliofs_geometry g = geometry(rows[i].block_size, 64, 4, 4096);
		struct foliofs_kernel old = kernel("v6.16"), now = kernel("v6.17");
		struct foliofs_kernel before = kernel("v6.15");

		g.page_size = rows[i].page_size;
		assert_int_equal(foliofs_max_order(&before, &g, false), 0);
		assert_int_equal(foliofs_max_order(&old, &g, false), rows[i].v616);
		assert_int_equal(foliofs_max_order(&now, &g, false), rows[i].v617);
		assert_int_equal(foliofs_blocks_per_folio(&g, rows[i].v616), rows[i].blocks_616);
		assert_int_equal(foliofs_blocks_per_folio(&g, rows[i].v617), rows[i].blocks_617);
		/* 1 + 15 + up(blocks / extents of a leaf) */
		assert_int_equal(ask("v6.17", &g, FOLIOFS_CREDIT_WRITEBACK).rsv, rows[i].rsv);
	}
}

static void large_blocks(void **state)
{
	static const struct {
		uint32_t block_size;
		uint8_t lowest;
		uint32_t blocks;
	} rows[] = {
		{ 8192, 1, 256 }, { 16384, 2, 128 }, { 32768, 3, 64 }, { 65536, 4, 32 },
	};
	struct foliofs_kernel k = kernel("v6.19");

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct foliofs_geometry g = geometry(rows[i].block_size, 64, 1, 4096);

		assert_int_equal(foliofs_max_order(&k, &g, false), 9);
		assert_int_equal(foliofs_min_order(&k, &g), rows[i].lowest);
		assert_int_equal(foliofs_blocks_per_folio(&g, 9), rows[i].blocks);
		assert_int_equal(ask("v6.19", &g, FOLIOFS_CREDIT_WRITEBACK).rsv, 17);
		g.mount.data = FOLIOFS_DATA_JOURNAL;
		assert_int_equal(foliofs_max_order(&k, &g, false), rows[i].lowest);
	}
}

static void eligibility(void **state)
{
	struct foliofs_kernel v618 = kernel("v6.18"), v619 = kernel("v6.19");
	struct foliofs_kernel v1 = kernel("lf-fix-v1"), stopgap = kernel("lf-stopgap");
	struct foliofs_geometry g = geometry(1024, 2540, 159, 1024);
	struct foliofs_inode_kind i;

	(void)state;
	assert_int_equal(foliofs_max_order(&v618, &g, true), 0);
	g.mount.data = FOLIOFS_DATA_JOURNAL;
	assert_int_equal(foliofs_max_order(&v618, &g, false), 0);
	g.mount.data = FOLIOFS_DATA_ORDERED;
	g.features |= FOLIOFS_FEATURE_VERITY;
	assert_int_equal(foliofs_max_order(&v618, &g, false), 0);
	assert_int_equal(foliofs_max_order(&v619, &g, false), 9);
	g.features ^= FOLIOFS_FEATURE_VERITY | FOLIOFS_FEATURE_ENCRYPT;
	assert_int_equal(foliofs_max_order(&v618, &g, false), 0);
	assert_int_equal(foliofs_max_order(&v619, &g, false), 0);
	g.features ^= FOLIOFS_FEATURE_ENCRYPT;

	/* version 1 of the fixes: only with dioread_nolock, and with it always */
	assert_int_equal(foliofs_max_order(&v1, &g, false), 9);
	i = file(&v1, &g);
	assert_true(foliofs_dioread_nolock(&v1, &g, &i));
	g.mount.dioread_lock = true;
	assert_int_equal(foliofs_max_order(&v1, &g, false), 0);
	assert_int_equal(foliofs_max_order(&v618, &g, false), 9);
	g.mount.dioread_lock = false;

	/* example 11: 126 passes, 2293 would not */
	assert_int_equal(foliofs_max_order(&stopgap, &g, false), 9);
	stopgap = kernel("lf-stopgap+count-extents");
	assert_int_equal(foliofs_max_order(&stopgap, &g, false), 0);
}

static void data_modes(void **state)
{
	struct foliofs_kernel k = kernel("v6.18"), v612 = kernel("v6.12");
	struct foliofs_geometry g = geometry(1024, 8, 1, 4096);

	(void)state;
	assert_false(foliofs_journals_data(&k, &g, true, false, 9));
	assert_true(foliofs_journals_data(&k, &g, false, false, 0));
	/* with delayed allocation the flag is not honoured */
	assert_false(foliofs_journals_data(&k, &g, true, true, 0));
	g.mount.nodelalloc = true;
	assert_true(foliofs_journals_data(&k, &g, true, true, 0));
	assert_false(foliofs_journals_data(&k, &g, true, true, 9));
	assert_true(foliofs_journals_data(&v612, &g, true, true, 0));
	g.mount.nodelalloc = false;
	g.mount.data = FOLIOFS_DATA_JOURNAL;
	assert_true(foliofs_journals_data(&k, &g, true, false, 0));
	g.features &= ~(uint32_t)FOLIOFS_FEATURE_HAS_JOURNAL;
	assert_false(foliofs_journals_data(&k, &g, true, false, 0));
	assert_int_equal(foliofs_blocks_per_folio(&g, 9), 0);
}

static enum foliofs_verdict verdict(const char *spec, const struct foliofs_geometry *g,
				    enum foliofs_credit_op op)
{
	struct foliofs_kernel k = kernel(spec);
	struct foliofs_inode_kind i = file(&k, g);

	return foliofs_credit_verdict(&k, g, &i, op, 0);
}

static void verdicts(void **state)
{
	struct foliofs_geometry a = geometry(1024, 2540, 159, 1024);
	struct foliofs_geometry b = geometry(4096, 1, 1, 1024), d = geometry(1024, 2, 1, 1024);
	struct foliofs_geometry e = geometry(1024, 32, 2, 8192), ea;
	struct foliofs_kernel k = kernel("v6.16");
	struct foliofs_inode_kind i = file(&k, &a);
	const enum foliofs_credit_op wb = FOLIOFS_CREDIT_WRITEBACK;

	(void)state;
	/* a scattered folio: 26 leaves, one index block, 2075 bitmaps, 159 descriptors, inode */
	assert_int_equal(foliofs_worst_case(&k, &a, &i, wb, 0), 2262);
	assert_int_equal(verdict("v6.15", &a, wb), FOLIOFS_FITS);
	assert_int_equal(verdict("v6.15-jan", &a, wb), FOLIOFS_FITS);
	assert_int_equal(verdict("v6.16", &a, wb), FOLIOFS_RUNS_DRY);
	assert_int_equal(verdict("v6.16.1", &a, wb), FOLIOFS_REFUSED);
	assert_int_equal(verdict("v6.18", &a, wb), FOLIOFS_FITS);
	assert_int_equal(verdict("v6.18", &a, FOLIOFS_CREDIT_WRITE_BEGIN), FOLIOFS_LOOPS);
	/* systemd: 553 of 338 for a truncate on one group */
	assert_int_equal(verdict("v6.16.1", &b, FOLIOFS_CREDIT_TRUNCATE), FOLIOFS_REFUSED);
	assert_int_equal(verdict("v6.18", &b, FOLIOFS_CREDIT_TRUNCATE), FOLIOFS_FITS);
	/* mmap16: 415 + 1 + 21 of 334; with the July rules it fits */
	d.page_size = 16384;
	assert_int_equal(verdict("v6.16", &d, wb), FOLIOFS_REFUSED);
	assert_int_equal(verdict("v6.17", &d, wb), FOLIOFS_FITS);
	/* generic/730: the reserve alone is more than half of 2684 */
	e.page_size = 65536;
	assert_int_equal(verdict("lf-fix-v3", &e, wb), FOLIOFS_REFUSED);
	assert_int_equal(verdict("v6.17", &e, wb), FOLIOFS_FITS);
	/* O_TMPFILE with quota: 239 + 1 of 256 fit, 249 + 10 + 1 with an ACL would not */
	b.features |= FOLIOFS_FEATURE_QUOTA;
	assert_int_equal(verdict("v6.1", &b, FOLIOFS_CREDIT_TMPFILE), FOLIOFS_FITS);
	/* 64K attributes of ea_inode: 340 of 334 */
	ea = a;
	ea.features |= FOLIOFS_FEATURE_EA_INODE;
	k = kernel("v6.18");
	i = file(&k, &ea);
	assert_int_equal(foliofs_credit_verdict(&k, &ea, &i, FOLIOFS_CREDIT_SETXATTR, 65536),
			 FOLIOFS_REFUSED);
}

static void smallest_journal(void **state)
{
	struct foliofs_geometry a = geometry(1024, 2540, 159, 1024);
	struct foliofs_kernel k = kernel("v6.18");
	struct foliofs_inode_kind i = file(&k, &a);

	(void)state;
	/* 261 blocks for added groups are the most: 1024 are enough */
	assert_int_equal(foliofs_min_journal(&k, &a, &i), 1024);
	/*
	 * Move extents asks 2 * 2293 + 1 = 4587 = TMAX - 1 - up(TMAX / 61): 4665 is the smallest
	 * TMAX, 4665 - 1 - 77 = 4587, and the journal 3 * 4665.
	 */
	k = kernel("v6.16.1");
	assert_int_equal(foliofs_min_journal(&k, &a, &i), 13995);
	a.features |= FOLIOFS_FEATURE_FAST_COMMIT;
	a.fast_commit_blocks = 128;
	assert_int_equal(foliofs_min_journal(&k, &a, &i), 13995 + 128);
}

/* A small generator with a fixed seed. */
static uint32_t next(uint64_t *s)
{
	*s = *s * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*s >> 33);
}

static struct foliofs_geometry any_geometry(uint64_t *s)
{
	uint32_t block_size = 1024u << next(s) % 3, groups = 1 + next(s) % 10000;
	uint32_t desc = next(s) % 2 ? 64 : 32;
	uint32_t gdb = (groups * desc + block_size - 1) / block_size;
	struct foliofs_geometry g = geometry(block_size, groups, gdb, 1024 + next(s) % 60000);

	g.desc_size = desc;
	g.page_size = 4096u << 2 * (next(s) % 3);
	g.mount.quota = next(s) % 4 == 0;
	g.mount.nodelalloc = next(s) % 4 == 0;
	if (next(s) % 4 == 0)
		g.mount.data = FOLIOFS_DATA_JOURNAL;
	if (next(s) % 4 == 0)
		g.features &= ~(uint32_t)FOLIOFS_FEATURE_EXTENTS;
	if (next(s) % 8 == 0)
		g.features |= FOLIOFS_FEATURE_INLINE_DATA;
	if (next(s) % 8 == 0)
		g.features |= FOLIOFS_FEATURE_EA_INODE;
	return g;
}

static struct foliofs_kernel any_kernel(uint64_t *s)
{
	unsigned int n = 0;

	while (foliofs_kernel_name(n))
		n++;
	return kernel(foliofs_kernel_name(next(s) % n));
}

static void terms_add_up(const struct foliofs_ask *a, const struct foliofs_explain *e)
{
	const struct foliofs_credits *c = &a->credits;
	uint32_t credits = 0, rsv = 0;

	assert_int_equal(c->total,
			 c->index + c->bitmaps + c->descriptors + c->fixed + c->data);
	for (unsigned int n = 0; n < e->nr; n++) {
		assert_true(e->line[n].how[0] && e->line[n].source[0]);
		if (e->line[n].reserved)
			rsv += e->line[n].value;
		else
			credits += e->line[n].value;
	}
	assert_int_equal(credits, c->total);
	assert_int_equal(rsv, a->rsv);
	assert_true(e->rule[0]);
}

static void properties(void **state)
{
	uint64_t seed = 20250707;

	(void)state;
	for (unsigned int round = 0; round < 3000; round++) {
		struct foliofs_geometry g = any_geometry(&seed);
		struct foliofs_kernel k = any_kernel(&seed);
		struct foliofs_inode_kind i = file(&k, &g);
		uint32_t before = 0, step = 1 + next(&seed) % 200;
		struct foliofs_explain e;

		i.depth = (uint8_t)(next(&seed) % 6);
		i.i_blocks = next(&seed) % 100;
		/* more extents never cost less; from 2 on, where the formula changes its form */
		for (uint32_t p = 1; p < 2000; p += step) {
			struct foliofs_credits c = foliofs_meta_credits(&k, &g, &i, p, p);

			assert_true(c.total >= before);
			assert_true(c.bitmaps <= g.groups);
			assert_true(c.bitmaps <= g.gdb_count || c.descriptors == g.gdb_count);
			before = c.total;
		}
		for (unsigned int op = 0; op < FOLIOFS_CREDIT_COUNT; op++) {
			struct foliofs_ask a = foliofs_ask_explain(&k, &g, &i, op, 0, &e);
			struct foliofs_ask plain = foliofs_ask(&k, &g, &i, op, 0);

			terms_add_up(&a, &e);
			assert_memory_equal(&a.credits, &plain.credits, sizeof(a.credits));
			assert_int_equal(a.rsv, plain.rsv);
		}
	}
}

/* The smallest journal refuses nothing, one block less refuses something (or is too small). */
static void smallest_is_smallest(void **state)
{
	uint64_t seed = 20250701;

	(void)state;
	for (unsigned int round = 0; round < 200; round++) {
		struct foliofs_geometry g = any_geometry(&seed);
		struct foliofs_kernel k = any_kernel(&seed);
		struct foliofs_inode_kind i = file(&k, &g);
		unsigned int refused = 0;

		g.journal_blocks = foliofs_min_journal(&k, &g, &i);
		assert_true(g.journal_blocks >= 1024);
		for (int less = 0; less < 2; less++, g.journal_blocks--) {
			refused = 0;
			for (unsigned int op = 0; op < FOLIOFS_CREDIT_COUNT; op++)
				if (op != FOLIOFS_CREDIT_EXT_REMOVE &&
				    foliofs_credit_op_applies(&k, &g, &i, op))
					refused += foliofs_credit_verdict(&k, &g, &i, op, 0) ==
						   FOLIOFS_REFUSED;
			if (!less)
				assert_int_equal(refused, 0);
		}
		assert_true(refused || g.journal_blocks + 2 == 1024);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(transaction_sizes), cmocka_unit_test(formats),
		cmocka_unit_test(band),		     cmocka_unit_test(revokes),
		cmocka_unit_test(orders),	     cmocka_unit_test(large_blocks),
		cmocka_unit_test(eligibility),	     cmocka_unit_test(data_modes),
		cmocka_unit_test(verdicts),	     cmocka_unit_test(smallest_journal),
		cmocka_unit_test(properties),	     cmocka_unit_test(smallest_is_smallest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
