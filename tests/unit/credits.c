// SPDX-License-Identifier: MIT
/*
 * The worked examples of the credit formulas: numbers that kernels printed in traces and logs, or
 * that were derived by hand.  A number in brackets is the row of the table of worked examples.
 * Geometries: A 1K, 2540 groups, 159 descriptor blocks, journal 1024; B 4K, 1 group;
 * C 4K, 8 groups; D 1K, 2 groups; E 1K, 32 groups; F 4K, 8192 groups.
 */
#include "credits_geometry.h"

#define WB FOLIOFS_CREDIT_WRITEBACK

static struct foliofs_geometry A(void)
{
	return geometry(1024, 2540, 159, 1024);
}

static struct foliofs_geometry B(void)
{
	return geometry(4096, 1, 1, 1024);
}

static struct foliofs_geometry C(void)
{
	return geometry(4096, 8, 1, 8192);
}

static struct foliofs_geometry D(void)
{
	return geometry(1024, 2, 1, 1024);
}

static struct foliofs_geometry E(void)
{
	return geometry(1024, 32, 2, 8192);
}

/* @op of a file whose tree has the depth and whose folios have the order given. */
static struct foliofs_ask ask_of(const char *spec, const struct foliofs_geometry *g,
				 enum foliofs_credit_op op, uint8_t depth, uint8_t order)
{
	struct foliofs_kernel k = kernel(spec);
	struct foliofs_inode_kind i = file(&k, g);

	i.depth = depth;
	i.order = order;
	return foliofs_ask(&k, g, &i, op, 0);
}

static void writeback_is(const char *spec, const struct foliofs_geometry *g, uint32_t credits,
			 uint32_t rsv)
{
	struct foliofs_ask a = ask(spec, g, WB);

	assert_int_equal(a.credits.total, credits);
	assert_int_equal(a.rsv, rsv);
}

static void writeback_of_depth(const char *spec, const struct foliofs_geometry *g, uint8_t depth,
			       uint32_t credits, uint32_t rsv)
{
	struct foliofs_kernel k = kernel(spec);
	struct foliofs_ask a = ask_of(spec, g, WB, depth, foliofs_max_order(&k, g, false));

	assert_int_equal(a.credits.total, credits);
	assert_int_equal(a.rsv, rsv);
}

static void large_folio_series(void **state)
{
	struct foliofs_geometry a = A(), d = D(), e = E(), many = geometry(1024, 40000, 2500, 1024);
	struct foliofs_kernel k = kernel("v6.16.1");
	struct foliofs_inode_kind i = file(&k, &many);
	struct foliofs_ask r;

	(void)state;
	/* [1] index of the posted series, with the extents in the group count */
	r = ask("lf-v2-posted+count-extents", &a, WB);
	assert_int_equal(r.credits.index, 25);
	assert_int_equal(r.credits.bitmaps, 2073);
	assert_int_equal(r.credits.descriptors, 159);
	assert_int_equal(r.credits.total, 2263);
	/* [2] */
	r = ask("v6.16.1", &a, WB);
	assert_int_equal(r.credits.index, 40);
	assert_int_equal(r.credits.bitmaps, 2088);
	assert_int_equal(r.credits.descriptors, 159);
	assert_int_equal(r.credits.total, 2293);
	assert_int_equal(r.rsv, 41);
	/* [12] the most that any formula gives for 2048 extents: no cap reached */
	r.credits = foliofs_meta_credits(&k, &many, &i, 2048, 2048);
	assert_int_equal(r.credits.index, 40);
	assert_int_equal(r.credits.bitmaps, 2088);
	assert_int_equal(r.credits.descriptors, 2088);
	assert_int_equal(r.credits.total, 4222);
	assert_int_equal(credits("v6.16.1", &many, FOLIOFS_CREDIT_MOVE_EXTENTS), 8444);
	/* [3] */
	writeback_of_depth("lf-v2-posted", &a, 0, 81, 10);
	writeback_of_depth("lf-v2-posted", &a, 1, 90, 16);
	writeback_of_depth("lf-v2-posted", &a, 5, 126, 40);
	/* [4] [5] */
	assert_int_equal(credits("lf-v2-mismerge", &a, WB), 51);
	writeback_is("v6.16", &a, 126, 40);
	assert_int_equal(credits("v6.16", &a, FOLIOFS_CREDIT_WRITE_BEGIN), 127);
	/* [16] the log prints one more, for revokes; the folio has 32768 blocks */
	d.page_size = 16384;
	writeback_is("v6.16", &d, 415, 21);
	assert_int_equal(ask("v6.16", &d, WB).revokes, 8);
	/* [17], and the cap with the extents counted, on two groups and on one */
	assert_int_equal(credits("lf-sasha", &d, WB), 122);
	assert_int_equal(credits("lf-sasha+count-extents", &d, WB), 122);
	d.groups = 1;
	assert_int_equal(credits("lf-sasha+count-extents", &d, WB), 8425);
	/* [50] */
	e.page_size = 65536;
	writeback_is("v6.16", &e, 1616, 31);
}

static void pages(void **state)
{
	struct foliofs_geometry a = A(), other = geometry(1024, 2550, 160, 1024);

	(void)state;
	/* [6] */
	writeback_of_depth("v6.15", &a, 0, 14, 9);
	writeback_of_depth("v6.15", &a, 1, 23, 15);
	writeback_of_depth("v6.15", &a, 5, 59, 39);
	writeback_of_depth("v6.12-depth", &other, 0, 14, 9);
	writeback_of_depth("v6.12-depth", &other, 1, 23, 15);
	/* [7] 6.1 has no dioread_nolock for blocks smaller than a page */
	writeback_is("v6.15-jan", &a, 59, 39);
	writeback_is("v6.12-stable", &a, 59, 39);
	writeback_is("v6.1-stable", &a, 59, 0);
	/* a tree that grows in one fsync, 256 groups */
	a.groups = 256;
	a.gdb_count = 16;
	writeback_of_depth("v6.12-depth", &a, 0, 14, 9);
	writeback_of_depth("v6.12-depth", &a, 1, 23, 15);
	writeback_of_depth("v6.12-depth", &a, 2, 32, 21);
}

static void fix_series(void **state)
{
	struct foliofs_geometry a = A(), b = B(), e = E(), c = C();
	struct foliofs_ask r;

	(void)state;
	/* [8] [9] */
	writeback_is("lf-fix-v1", &a, 62, 41);
	writeback_is("lf-fix-v2", &a, 62, 41);
	writeback_is("lf-fix-v3", &a, 41, 41);
	writeback_is("v6.17", &a, 41, 41);
	r = ask("v6.18", &a, WB);
	assert_int_equal(r.credits.index, 11);
	assert_int_equal(r.credits.bitmaps, 12);
	assert_int_equal(r.credits.descriptors, 12);
	assert_int_equal(r.credits.fixed, 6);
	assert_int_equal(r.credits.total, 41);
	assert_int_equal(r.rsv, 41);
	assert_int_equal(r.type, 2);
	writeback_is("v6.16.3", &a, 41, 41);
	/* [13] [14] folios of 128 MiB on pages of 64K */
	a.page_size = 65536;
	assert_int_equal(ask("v6.16.1", &a, WB).rsv, 1577);
	assert_int_equal(ask("lf-fix-v1", &a, WB).rsv, 1577);
	assert_int_equal(ask("lf-fix-v3", &a, WB).rsv, 1577);
	c.page_size = 65536;
	assert_int_equal(ask("lf-fix-v2", &c, WB).rsv, 113);
	/* [15] generic/730 */
	e.page_size = 65536;
	writeback_is("lf-fix-v3", &e, 31, 1577);
	/* [18] one group: all of them pay a descriptor */
	r = ask("v6.16.1", &b, FOLIOFS_CREDIT_TRUNCATE);
	assert_int_equal(r.credits.bitmaps, 1);
	assert_int_equal(r.credits.descriptors, 529);
	assert_int_equal(r.credits.total, 553);
}

static void one_extent(void **state)
{
	static const struct {
		uint32_t block_size, groups, gdb, credits, rsv;
	} rows[] = {
		{ 1024, 2, 1, 20, 41 },	    /* 19 */
		{ 1024, 32, 2, 31, 41 },    /* 20 */
		{ 4096, 1, 1, 30, 18 },	    /* 21 */
		{ 4096, 2, 1, 20, 18 },	    /* 22 */
		{ 4096, 8, 1, 26, 18 },	    /* 23 */
		{ 4096, 128, 2, 31, 18 },   /* 24, 64bit */
		{ 4096, 128, 1, 30, 18 },   /* 24, 32-bit descriptors */
		{ 4096, 8192, 128, 41, 18 }, /* 25 */
		{ 4096, 8192, 64, 41, 18 },
		{ 1024, 128, 8, 37, 41 },   /* 26 */
		{ 2048, 256, 8, 37, 23 },   /* 27 */
		{ 1024, 2048, 128, 41, 41 }, /* 28 */
		{ 1024, 8, 1, 26, 41 },	    /* 46 */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct foliofs_geometry g = geometry(rows[i].block_size, rows[i].groups,
						     rows[i].gdb, 4096);

		writeback_is("v6.18", &g, rows[i].credits, rows[i].rsv);
		writeback_is("v6.17", &g, rows[i].credits, rows[i].rsv);
	}
}

static void mount_options(void **state)
{
	struct foliofs_geometry c = C(), g = geometry(1024, 128, 8, 4096), a = A();

	(void)state;
	/* [29] */
	c.mount.quota = true;
	assert_int_equal(credits("v6.18", &c, WB), 29);
	assert_int_equal(credits("v6.18", &c, FOLIOFS_CREDIT_CREATE), 52);
	assert_int_equal(credits("v6.18", &c, FOLIOFS_CREDIT_SETATTR_OWNER), 249);
	assert_int_equal(credits("v6.18", &c, FOLIOFS_CREDIT_TMPFILE), 23);
	/* [31] */
	c = C();
	c.mount.dioread_lock = true;
	writeback_is("v6.18", &c, 26, 0);
	/* [32] [33] [34] */
	c = C();
	c.mount.nodelalloc = true;
	assert_int_equal(credits("v6.18", &c, FOLIOFS_CREDIT_WRITE_BEGIN), 27);
	assert_int_equal(credits("v6.18", &c, FOLIOFS_CREDIT_PAGE_MKWRITE), 26);
	assert_int_equal(ask("v6.18", &c, WB).rsv, 0);
	g.mount.nodelalloc = true;
	assert_int_equal(credits("v6.18", &g, FOLIOFS_CREDIT_WRITE_BEGIN), 38);
	assert_int_equal(credits("v6.18", &g, FOLIOFS_CREDIT_PAGE_MKWRITE), 37);
	a.mount.nodelalloc = a.mount.quota = true;
	assert_int_equal(credits("v6.18", &a, FOLIOFS_CREDIT_WRITE_BEGIN), 45);
	assert_int_equal(credits("v6.18", &a, FOLIOFS_CREDIT_PAGE_MKWRITE), 44);
	/* 6.12 and 6.1, 2550 groups, nodelalloc */
	a = geometry(1024, 2550, 160, 1024);
	a.mount.nodelalloc = true;
	assert_int_equal(credits("v6.12-stable", &a, FOLIOFS_CREDIT_WRITE_BEGIN), 60);
	assert_int_equal(credits("v6.1-stable", &a, FOLIOFS_CREDIT_PAGE_MKWRITE), 59);
}

static void bigalloc(void **state)
{
	struct foliofs_geometry g = geometry(4096, 1, 1, 8192);
	struct foliofs_ask r;

	(void)state;
	/* [30] 1G with clusters of 64K is one group */
	g.cluster_ratio = 16;
	g.blocks_per_group *= 16;
	g.features |= FOLIOFS_FEATURE_BIGALLOC;
	r = ask("v6.18", &g, WB);
	assert_int_equal(r.credits.total, 30);
	assert_int_equal(r.revokes, 128);
}

static void data_journal(void **state)
{
	struct foliofs_geometry c = C(), g = geometry(1024, 128, 8, 4096);
	struct foliofs_kernel k = kernel("v6.18");
	struct foliofs_inode_kind i;

	(void)state;
	/* [35] */
	c.mount.data = FOLIOFS_DATA_JOURNAL;
	assert_int_equal(credits("v6.18", &c, FOLIOFS_CREDIT_WRITE_BEGIN), 28);
	assert_int_equal(credits("v6.18", &c, FOLIOFS_CREDIT_PAGE_MKWRITE), 27);
	assert_int_equal(credits("v6.18", &c, FOLIOFS_CREDIT_TRUNCATE), 27);
	assert_int_equal(credits("v6.18", &c, FOLIOFS_CREDIT_PUNCH), 28);
	assert_int_equal(credits("v6.18", &c, FOLIOFS_CREDIT_COLLAPSE), 26);
	assert_int_equal(credits("v6.18", &c, FOLIOFS_CREDIT_ZERO_EDGES), 35);
	assert_int_equal(credits("v6.18", &c, FOLIOFS_CREDIT_JOURNALLED_WRITEBACK), 1);
	assert_int_equal(credits("v6.12-stable", &c, FOLIOFS_CREDIT_ZERO_EDGES), 33);
	/* [36] */
	g.mount.data = FOLIOFS_DATA_JOURNAL;
	assert_int_equal(credits("v6.18", &g, FOLIOFS_CREDIT_WRITE_BEGIN), 42);
	assert_int_equal(credits("v6.18", &g, FOLIOFS_CREDIT_PAGE_MKWRITE), 41);
	assert_int_equal(credits("v6.18", &g, FOLIOFS_CREDIT_TRUNCATE), 38);
	assert_int_equal(credits("v6.18", &g, FOLIOFS_CREDIT_PUNCH), 39);
	assert_int_equal(credits("v6.18", &g, FOLIOFS_CREDIT_JOURNALLED_WRITEBACK), 4);
	assert_int_equal(credits("v6.12-stable", &g, FOLIOFS_CREDIT_JOURNALLED_WRITEBACK), 4);
	/* 6.1 has a handle a page: 15+19+8+6, and 4 data blocks */
	assert_int_equal(credits("v6.1-stable", &g, FOLIOFS_CREDIT_JOURNALLED_WRITEBACK), 52);
	/* the flag alone, nodelalloc: 37 + 4 + 1 */
	g.mount.data = FOLIOFS_DATA_ORDERED;
	g.mount.nodelalloc = true;
	i = file(&k, &g);
	i.journal_flag = true;
	i.order = foliofs_max_order(&k, &g, true);
	i.journal_data = foliofs_journals_data(&k, &g, true, true, i.order);
	assert_true(i.journal_data);
	assert_int_equal(foliofs_ask(&k, &g, &i, FOLIOFS_CREDIT_WRITE_BEGIN, 0).credits.total, 42);
}

static void indirect(void **state)
{
	struct foliofs_geometry g = geometry(4096, 8, 1, 4096), s = geometry(1024, 128, 4, 4096);
	struct foliofs_kernel k = kernel("v6.18");
	struct foliofs_inode_kind i;

	(void)state;
	/* [37] */
	g.features &= ~(uint32_t)FOLIOFS_FEATURE_EXTENTS;
	i = file(&k, &g);
	assert_int_equal(foliofs_ask(&k, &g, &i, WB, 0).credits.total, 20);
	assert_int_equal(foliofs_ask(&k, &g, &i, WB, 0).rsv, 0);
	assert_int_equal(foliofs_ask(&k, &g, &i, FOLIOFS_CREDIT_CREATE, 0).credits.total, 34);
	i.i_blocks = 50;
	assert_int_equal(foliofs_ask(&k, &g, &i, FOLIOFS_CREDIT_TRUNCATE, 0).credits.total, 62);
	i.i_blocks = 15;
	assert_int_equal(foliofs_ask(&k, &g, &i, FOLIOFS_CREDIT_EVICT, 0).credits.total, 30);
	/* [38] */
	s.features &= ~(uint32_t)FOLIOFS_FEATURE_EXTENTS;
	i = file(&k, &s);
	i.i_blocks = 1000;
	assert_int_equal(foliofs_ask(&k, &s, &i, WB, 0).credits.total, 35);
	assert_int_equal(foliofs_ask(&k, &s, &i, FOLIOFS_CREDIT_TRUNCATE, 0).credits.total, 76);
	assert_int_equal(foliofs_ask(&k, &s, &i, FOLIOFS_CREDIT_PUNCH, 0).credits.total, 76);
	s.mount.nodelalloc = true;
	assert_int_equal(foliofs_ask(&k, &s, &i, FOLIOFS_CREDIT_WRITE_BEGIN, 0).credits.total, 36);
	s.mount.nodelalloc = false;
	/* [39] */
	s.mount.data = FOLIOFS_DATA_JOURNAL;
	assert_int_equal(credits("v6.18", &s, FOLIOFS_CREDIT_WRITE_BEGIN), 26);
	assert_int_equal(credits("v6.18", &s, FOLIOFS_CREDIT_PAGE_MKWRITE), 25);
	/* [42] no journal */
	s.mount.data = FOLIOFS_DATA_ORDERED;
	s.mount.nodelalloc = true;
	s.features &= ~(uint32_t)FOLIOFS_FEATURE_HAS_JOURNAL;
	s.journal_blocks = 0;
	assert_int_equal(credits("v6.18", &s, FOLIOFS_CREDIT_WRITE_BEGIN), 20);
	/* inline data has no extents yet: 5+1+6+6 on one group */
	g = B();
	g.features |= FOLIOFS_FEATURE_INLINE_DATA;
	i = file(&k, &g);
	i.extents = false;
	assert_int_equal(foliofs_ask(&k, &g, &i, FOLIOFS_CREDIT_INLINE_CONVERT, 0).credits.total,
			 18);
	assert_int_equal(foliofs_ask(&k, &g, &i, FOLIOFS_CREDIT_INLINE_WRITE, 0).credits.total, 1);
	assert_int_equal(foliofs_ask(&k, &g, &i, FOLIOFS_CREDIT_INLINE_DESTROY, 0).credits.total,
			 1);
	k = kernel("v6.12-stable");
	i.order = 0;
	assert_int_equal(foliofs_ask(&k, &g, &i, FOLIOFS_CREDIT_INLINE_CONVERT, 0).credits.total,
			 18);
}

static void without_journal(void **state)
{
	struct foliofs_geometry c = C();
	struct foliofs_kernel k = kernel("v6.18");
	struct foliofs_inode_kind i;

	(void)state;
	/* [40] the feature turns large folios off for every file */
	c.features |= FOLIOFS_FEATURE_ENCRYPT;
	writeback_is("v6.18", &c, 26, 12);
	/* [41] */
	c = C();
	c.features &= ~(uint32_t)FOLIOFS_FEATURE_HAS_JOURNAL;
	c.journal_blocks = 0;
	writeback_is("v6.18", &c, 26, 11);
	assert_int_equal(credits("v6.18", &c, FOLIOFS_CREDIT_CREATE), 39);
	assert_int_equal(credits("v6.18", &c, FOLIOFS_CREDIT_SETXATTR), 0);
	i = file(&k, &c);
	assert_int_equal(foliofs_xattr_credits(&k, &c, &i, 1024, true), 0);
}

/* @op over a length. */
static uint32_t credits_of_len(const char *spec, const struct foliofs_geometry *g,
			       enum foliofs_credit_op op, uint32_t len)
{
	struct foliofs_kernel k = kernel(spec);
	struct foliofs_inode_kind i = file(&k, g);

	return foliofs_ask(&k, g, &i, op, len).credits.total;
}

static void defrag(void **state)
{
	struct foliofs_geometry c = C(), g = geometry(1024, 128, 8, 4096), a = A();
	struct foliofs_geometry two = geometry(2048, 32, 1, 4096);
	const enum foliofs_credit_op op = FOLIOFS_CREDIT_MOVE_EXTENTS;

	(void)state;
	/* [43] */
	assert_int_equal(credits("v6.18", &c, op), 52);
	assert_int_equal(credits("v6.18", &g, op), 100);
	assert_int_equal(credits_of_len("v6.18", &g, op, 1), 74);
	assert_int_equal(credits_of_len("v6.18", &g, op, 2), 96);
	assert_int_equal(credits_of_len("v6.18", &g, op, 3), 98);
	assert_int_equal(credits_of_len("v6.18", &g, op, 4), 100);
	/* 2 * (16 + 18 + 1 + 6) */
	assert_int_equal(credits("v6.18", &two, op), 82);
	assert_int_equal(credits("v6.18", &a, op), 124);
	/* [44] */
	assert_int_equal(credits("v6.15", &a, op), 28);
	assert_int_equal(credits("v6.16", &a, op), 252);
	assert_int_equal(credits("v6.19", &a, op), 82);
}

static void names_and_attributes(void **state)
{
	struct foliofs_geometry c = C(), a = A();
	struct foliofs_kernel k = kernel("v6.18");
	struct foliofs_inode_kind i = file(&k, &c);

	(void)state;
	assert_int_equal(credits("v6.18", &c, FOLIOFS_CREDIT_CREATE), 46);
	assert_int_equal(credits("v6.18", &c, FOLIOFS_CREDIT_TMPFILE), 17);
	assert_int_equal(credits("v6.18", &c, FOLIOFS_CREDIT_LINK), 37);
	assert_int_equal(credits("v6.18", &c, FOLIOFS_CREDIT_UNLINK), 24);
	assert_int_equal(credits("v6.18", &c, FOLIOFS_CREDIT_RENAME), 62);
	assert_int_equal(credits("v6.18", &c, FOLIOFS_CREDIT_CROSS_RENAME), 74);
	assert_int_equal(credits("v6.18", &c, FOLIOFS_CREDIT_SETATTR_SIZE), 3);
	assert_int_equal(credits("v6.18", &c, FOLIOFS_CREDIT_SETATTR_OWNER), 3);
	assert_int_equal(credits("v6.18", &c, FOLIOFS_CREDIT_SET_FLAGS), 1);
	assert_int_equal(credits("v6.18", &c, FOLIOFS_CREDIT_DIRTY_INODE), 2);
	assert_int_equal(credits("v6.18", &c, FOLIOFS_CREDIT_DA_WRITE_END), 2);
	assert_int_equal(credits("v6.1-stable", &c, FOLIOFS_CREDIT_DA_WRITE_END), 0);
	assert_int_equal(credits("v6.18", &c, FOLIOFS_CREDIT_UPDATE_DISKSIZE), 1);
	assert_int_equal(credits("v6.18", &c, FOLIOFS_CREDIT_FIRST_OPEN), 1);
	assert_int_equal(credits("v6.18", &c, FOLIOFS_CREDIT_DIO_EXTEND), 2);
	assert_int_equal(credits("v6.18", &c, FOLIOFS_CREDIT_SETXATTR), 7);
	assert_int_equal(credits("v6.18", &c, FOLIOFS_CREDIT_MIGRATE), 3);
	assert_int_equal(credits("v6.18", &c, FOLIOFS_CREDIT_DAX_FAULT), 24);
	assert_int_equal(credits("v6.18", &c, FOLIOFS_CREDIT_RESIZE_SETUP), 64);
	/* 4, one descriptor block for 16 groups, 256 reserved ones */
	assert_int_equal(credits("v6.18", &c, FOLIOFS_CREDIT_RESIZE_ADD), 261);
	/* evict: requested 30, 34 and 92 are these and one block for revokes */
	assert_int_equal(foliofs_ask(&k, &c, &i, FOLIOFS_CREDIT_EVICT, 0).credits.total, 29);
	i.i_blocks = 6;
	assert_int_equal(foliofs_ask(&k, &c, &i, FOLIOFS_CREDIT_EVICT, 0).credits.total, 33);
	i.i_blocks = 64;
	assert_int_equal(foliofs_ask(&k, &c, &i, FOLIOFS_CREDIT_EVICT, 0).credits.total, 91);
	c.mount.quota = true;
	assert_int_equal(foliofs_ask(&k, &c, &i, FOLIOFS_CREDIT_EVICT, 0).credits.total, 121);
	assert_int_equal(credits("v6.18", &c, FOLIOFS_CREDIT_DQUOT_ACQUIRE), 73);
	assert_int_equal(credits("v6.18", &c, FOLIOFS_CREDIT_DQUOT_RELEASE), 9);
	assert_int_equal(credits("v6.18", &c, FOLIOFS_CREDIT_DQUOT_WRITE), 1);
	c.features &= ~(uint32_t)FOLIOFS_FEATURE_EXTENTS;
	assert_int_equal(credits("v6.18", &c, FOLIOFS_CREDIT_DQUOT_ACQUIRE), 25);
	/* kernels with IMA or EVM: 53, with quota 62, without the extents feature 41 */
	c = C();
	assert_int_equal(credits("v6.12-stable+integrity", &c, FOLIOFS_CREDIT_CREATE), 53);
	c.mount.quota = true;
	assert_int_equal(credits("v6.12-stable+integrity", &c, FOLIOFS_CREDIT_CREATE), 62);
	c = C();
	c.features &= ~(uint32_t)FOLIOFS_FEATURE_EXTENTS;
	assert_int_equal(credits("v6.12-stable+integrity", &c, FOLIOFS_CREDIT_CREATE), 41);
	/* [45] */
	a.features |= FOLIOFS_FEATURE_EA_INODE;
	assert_int_equal(credits_of_len("v6.18", &a, FOLIOFS_CREDIT_SETXATTR, 65536), 340);
	c = C();
	c.features |= FOLIOFS_FEATURE_EA_INODE;
	assert_int_equal(credits_of_len("v6.18", &c, FOLIOFS_CREDIT_SETXATTR, 100), 55);
	/* the estimate of a new inode does not count what it may replace */
	i = file(&k, &c);
	assert_int_equal(foliofs_xattr_credits(&k, &c, &i, 100, true), 17);
	assert_int_equal(foliofs_xattr_credits(&k, &c, &i, 100, false), 55);
}

/* O_TMPFILE asked for new quota entries: 216 more; the report's 260 had two more attributes. */
static void tmpfile_credits(void **state)
{
	struct foliofs_geometry g = geometry(4096, 8, 1, 1024);

	(void)state;
	g.features |= FOLIOFS_FEATURE_QUOTA;
	assert_int_equal(credits("v6.1", &g, FOLIOFS_CREDIT_TMPFILE), 239);
	assert_int_equal(credits("v6.1+integrity", &g, FOLIOFS_CREDIT_TMPFILE), 249);
	assert_int_equal(credits("v6.1+tmpfile-credits", &g, FOLIOFS_CREDIT_TMPFILE), 23);
}

static void removal(void **state)
{
	struct foliofs_geometry a = A();
	struct foliofs_kernel k = kernel("v6.18");
	struct foliofs_inode_kind i = file(&k, &a);
	struct foliofs_ask r;

	(void)state;
	i.depth = 2;
	r = foliofs_ask(&k, &a, &i, FOLIOFS_CREDIT_EXT_REMOVE, 0);
	assert_int_equal(r.credits.total, 3);
	assert_int_equal(r.revokes, 2);
	r = foliofs_ask(&k, &a, &i, FOLIOFS_CREDIT_LEAF_REMOVE, 1);
	assert_int_equal(r.credits.total, 7);
	assert_int_equal(r.revokes, 2);
	/* first of its leaf: 7 + depth + 1 */
	r = foliofs_ask(&k, &a, &i, FOLIOFS_CREDIT_LEAF_REMOVE_FIRST, 1);
	assert_int_equal(r.credits.total, 10);
	/* three whole groups */
	r = foliofs_ask(&k, &a, &i, FOLIOFS_CREDIT_LEAF_REMOVE, 3 * 8192);
	assert_int_equal(r.credits.total, 13);
	assert_int_equal(credits("v6.12-stable", &a, FOLIOFS_CREDIT_ZERO_EDGES), 31);
	assert_int_equal(credits("v6.18", &a, FOLIOFS_CREDIT_ZERO_EDGES), 33);
	assert_int_equal(credits("v6.12-stable", &a, FOLIOFS_CREDIT_COLLAPSE), 59);
	assert_int_equal(credits("v6.18", &a, FOLIOFS_CREDIT_INSERT), 41);
}

static void conversion(void **state)
{
	struct foliofs_geometry a = A();
	struct foliofs_ask r = ask("v6.18", &a, FOLIOFS_CREDIT_CONVERT);

	(void)state;
	assert_int_equal(r.credits.total, 41);
	assert_int_equal(r.revokes, 0);
	assert_int_equal(r.type, 11);
	assert_int_equal(credits("v6.15-jan", &a, FOLIOFS_CREDIT_CONVERT), 39);
	assert_int_equal(credits("v6.18", &a, FOLIOFS_CREDIT_CONVERT_PLAIN), 41);
	assert_int_equal(credits("v6.18", &a, FOLIOFS_CREDIT_FALLOCATE), 41);
	assert_int_equal(credits("v6.18", &a, FOLIOFS_CREDIT_DIO_ALLOC), 41);
	/* 16+18+18+6 and 16+20+20+6 */
	assert_int_equal(credits_of_len("v6.18", &a, FOLIOFS_CREDIT_CONVERT_ATOMIC, 4), 58);
	assert_int_equal(credits_of_len("v6.18", &a, FOLIOFS_CREDIT_DIO_ATOMIC, 4), 62);
}

static void iomap(void **state)
{
	struct foliofs_geometry a = A();
	struct foliofs_ask r;

	(void)state;
	a.mount.buffered_iomap = true;
	writeback_is("iomap-next-v2", &a, 41, 0);
	assert_int_equal(credits("iomap-next-v2", &a, FOLIOFS_CREDIT_WRITE_BEGIN), 42);
	assert_int_equal(credits("iomap-next-v2", &a, FOLIOFS_CREDIT_PAGE_MKWRITE), 42);
	assert_int_equal(credits("iomap-next-v2", &a, FOLIOFS_CREDIT_ZERO_EDGES), 1);
	assert_int_equal(credits("iomap-next-v2", &a, FOLIOFS_CREDIT_PUNCH), 41);
	assert_int_equal(credits("iomap-next-v2", &a, FOLIOFS_CREDIT_DA_WRITE_END), 1);
	r = ask("iomap-next-v2", &a, FOLIOFS_CREDIT_CONVERT);
	assert_int_equal(r.credits.total, 41);
	assert_int_equal(r.revokes, 8);
	assert_int_equal(r.type, 11);
	/* the path is not taken without the option: what 7.0 does */
	a.mount.buffered_iomap = false;
	writeback_is("iomap-next-v2", &a, 41, 41);
	/* 2024: the number of a round, present depth, nothing reserved */
	a.mount.buffered_iomap = true;
	writeback_is("iomap-rfc-v4", &a, 14, 0);
	writeback_is("iomap-rfc-v3", &a, 14, 0);
	writeback_is("iomap-2024-10", &a, 14, 0);
	assert_int_equal(credits("iomap-rfc-v4", &a, FOLIOFS_CREDIT_WRITE_BEGIN), 15);
}

static void ensure(void **state)
{
	struct foliofs_geometry a = A();
	struct foliofs_kernel old = kernel("v6.16"), now = kernel("v6.18");
	struct foliofs_inode_kind i = file(&now, &a);

	(void)state;
	assert_int_equal(foliofs_ensure_credits(&old, &a, &i), 0);
	assert_int_equal(foliofs_ensure_credits(&now, &a, &i), 41);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(large_folio_series), cmocka_unit_test(pages),
		cmocka_unit_test(fix_series),	      cmocka_unit_test(one_extent),
		cmocka_unit_test(mount_options),      cmocka_unit_test(bigalloc),
		cmocka_unit_test(data_journal),	      cmocka_unit_test(indirect),
		cmocka_unit_test(without_journal),    cmocka_unit_test(defrag),
		cmocka_unit_test(names_and_attributes), cmocka_unit_test(tmpfile_credits),
		cmocka_unit_test(removal),	      cmocka_unit_test(conversion),
		cmocka_unit_test(iomap),	      cmocka_unit_test(ensure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
