// SPDX-License-Identifier: MIT
/*
 * Extent tree: sizes of nodes, what an insertion dirties, cuts and conversions,
 * removal, shifts, exchange.  Numbers measured on Linux 6.18, the rows of ext4's
 * KUnit tests of January 2026, and bug reports.
 */
#include "blockmap_fixture.h"

#define CREATE FFS_GET_CREATE
#define UNWRIT (FFS_GET_CREATE | FFS_GET_UNWRIT)
#define PRE_IO (UNWRIT | FFS_GET_PRE_IO)
#define CONVERT (UNWRIT | FFS_GET_CONVERT)
#define TO_UNWRITTEN (UNWRIT | FFS_GET_CONVERT_UNWRITTEN)
#define ALL UINT32_MAX

/* One new single-block extent in a transaction of its own: what the handle dirtied. */
static s32 add_one(u32 lblk)
{
	fx_commit();
	assert_int_equal(fx_map(lblk, 1, CREATE, NULL), 1);
	return fx.dirtied;
}

/* 1K blocks, one block at 0, 2, 4, ...: bitmap and descriptor, then the leaf, then new ones. */
static void dirtied_by_appends(void **state)
{
	struct ffs_tree_info t;
	u32 i;

	fx_make("v6.18", 1024, FFS_INODE_EXTENTS);
	fx.gap = 1;
	for (i = 1; i <= 345; i++) {
		s32 want = i <= 4 ? 2 : i == 337 ? 4 : 3;

		assert_int_equal(add_one(2 * (i - 1)), want);
	}
	t = fx_tree();
	assert_int_equal(t.depth, 2);
	assert_int_equal(t.index_blocks, 1);
	assert_int_equal(t.leaf_blocks, 5); /* 84 84 84 84 9 */
	assert_int_equal(t.extents_nr, 345);
	assert_int_equal(fx.meta, 5006); /* 5000 .. 5005 in the order of need */
	fx_free();
}

/* Descending: the split at the front leaves the old leaf behind, both are dirtied. */
static void dirtied_by_descending(void **state)
{
	u32 i;

	fx_make("v6.18", 1024, FFS_INODE_EXTENTS);
	fx.gap = 1;
	for (i = 0; i < 84; i++)
		add_one(1000 - 2 * i);
	assert_int_equal(fx_tree().leaf_blocks, 1);
	assert_int_equal(add_one(1000 - 2 * 84), 4);
	assert_int_equal(fx_tree().leaf_blocks, 2);
	fx_free();
}

static void node_sizes(void **state)
{
	static const struct { u32 block_size, leaf; } sizes[] = {
		{ 1024, 84 }, { 2048, 169 }, { 4096, 340 }, { 8192, 681 }, { 16384, 1364 },
	};
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		fx_make("v6.18", sizes[i].block_size, FFS_INODE_EXTENTS);
		fx.gap = 1;
		for (n = 0; n < sizes[i].leaf; n++)
			fx_map(2 * n, 1, CREATE, NULL);
		assert_int_equal(fx_tree().leaf_blocks, 1);
		fx_map(2 * n, 1, CREATE, NULL);
		assert_int_equal(fx_tree().leaf_blocks, 2);
		fx_free();
	}
}

/* Adjacent pieces of 2048 blocks merge up to the limit of an extent. */
static void longest_extents(void **state)
{
	u32 i;

	fx_make("v6.18", 4096, FFS_INODE_EXTENTS);
	for (i = 0; i < 17; i++)
		fx_map(2048 * i, 2048, UNWRIT, NULL);
	assert_runs(&fx.inode, "U0+30720 U30720+4096");
	fx_free();
	fx_make("v6.18", 4096, FFS_INODE_EXTENTS);
	for (i = 0; i < 17; i++)
		fx_map(2048 * i, 2048, CREATE, NULL);
	assert_runs(&fx.inode, "W0+32768 W32768+2048");
	fx_free();
}

static void prealloc(u32 block_size, u32 lblk, u32 len, u32 eof)
{
	fx_make("v6.18", block_size, FFS_INODE_EXTENTS);
	fx_map(lblk, len, UNWRIT, NULL);
	fx.inode.i_size = fx.inode.i_disksize = (u64)eof * block_size;
}

/* Writes mapped into preallocated blocks, conversion at once (dioread_lock). */
static void convert_at_map(void **state)
{
	static const struct { u32 bs, len, w, n; const char *runs; } rows[] = {
		{ 4096, 8, 3, 1, "U0+3 W3+5" }, { 4096, 9, 0, 1, "W0+1 U1+8" },
		{ 4096, 9, 8, 1, "U0+8 W8+1" }, { 4096, 9, 4, 1, "U0+4 W4+5" },
		{ 4096, 16, 4, 1, "W0+5 U5+11" }, { 4096, 16, 8, 1, "U0+8 W8+8" },
		{ 4096, 16, 9, 1, "U0+9 W9+7" }, { 4096, 16, 7, 2, "U0+7 W7+2 U9+7" },
		{ 4096, 20, 6, 1, "W0+7 U7+13" }, { 4096, 20, 7, 1, "U0+7 W7+1 U8+12" },
		{ 4096, 20, 12, 1, "U0+12 W12+8" }, { 4096, 20, 11, 1, "U0+11 W11+1 U12+8" },
		{ 4096, 256, 3, 1, "W0+4 U4+252" }, { 4096, 256, 250, 1, "U0+250 W250+6" },
		{ 1024, 32, 3, 1, "U0+3 W3+29" }, { 1024, 33, 0, 1, "W0+1 U1+32" },
		{ 1024, 64, 31, 1, "U0+31 W31+1 U32+32" }, { 1024, 64, 32, 1, "U0+32 W32+32" },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		prealloc(rows[i].bs, 0, rows[i].len, rows[i].len);
		assert_true(fx_map(rows[i].w, rows[i].n, CREATE, NULL) > 0);
		assert_runs(&fx.inode, rows[i].runs);
		fx_free();
	}
	/* nothing is zeroed beyond EOF */
	prealloc(4096, 0, 16, 5);
	fx_map(4, 1, CREATE, NULL);
	assert_runs(&fx.inode, "U0+4 W4+1 U5+11");
	fx_free();
}

/* dioread_nolock: cut before the I/O, converted after it, never zeroed. */
static void convert_at_end_io(void **state)
{
	prealloc(4096, 0, 8, 8);
	assert_int_equal(fx_map(3, 1, PRE_IO, NULL), 1);
	assert_runs(&fx.inode, "U0+3 U3+1 U4+4");
	assert_int_equal(fx_map(3, 1, CONVERT, NULL), 1);
	assert_runs(&fx.inode, "U0+3 W3+1 U4+4");
	assert_string_equal(fx.zeroed, "");
	fx_free();

	prealloc(4096, 1024, 4096, 6000);
	fx_map(2048, 16, PRE_IO, NULL);
	fx_map(2048, 16, CONVERT, NULL);
	assert_runs(&fx.inode, "U1024+1024 W2048+16 U2064+3056");
	fx_free();
}

/* A write that continues a written neighbour moves the border: no new entry, one dirty block. */
static void transfer(void **state)
{
	prealloc(4096, 0, 100, 100);
	fx_map(0, 1, CREATE, NULL);
	assert_runs(&fx.inode, "W0+1 U1+99");
	fx_commit();
	fx_map(1, 1, CREATE, NULL);
	assert_runs(&fx.inode, "W0+2 U2+98");
	assert_int_equal(fx.mids, 1);
	fx_free();
}

/* An extent 10+3 of a file of 23 blocks; @full: there is no room for another entry. */
static void kunit(const char *kernel, bool unwritten, bool full)
{
	u32 i;

	fx_make(kernel, 4096, FFS_INODE_EXTENTS);
	fx.inode.i_size = fx.inode.i_disksize = 23 * 4096;
	fx_map(10, 3, unwritten ? UNWRIT : CREATE, NULL);
	for (i = 0; full && i < 3; i++) {
		fx.next = 1000 + 10 * i;
		fx_map(2 * i, 1, CREATE, NULL);
	}
	fx.fail_meta = full ? ALL : 0;
}

#define REST "W0+1 W2+1 W4+1 "

static void kunit_rows(void **state)
{
	static const struct {
		const char *id, *kernel;
		u32 flags, limit, lblk, len;
		bool unwritten, full;
		const char *runs, *zeroed;
	} rows[] = {
		/* END conversion: S1-S3, E1-E3; MAP time without zeroing: N1-N3 */
		{ "E1", "v6.18", CONVERT, 0, 10, 1, true, false, "W10+1 U11+2", "" },
		{ "E2", "v6.18", CONVERT, 0, 11, 2, true, false, "U10+1 W11+2", "" },
		{ "E3", "v6.18", CONVERT, 0, 11, 1, true, false, "U10+1 W11+1 U12+1", "" },
		{ "N1", "v6.18", CREATE, FFS_ZEROOUT_OFF, 10, 1, true, false, "W10+1 U11+2", "" },
		{ "N2", "v6.18", CREATE, FFS_ZEROOUT_OFF, 11, 2, true, false, "U10+1 W11+2", "" },
		{ "N3", "v6.18", CREATE, FFS_ZEROOUT_OFF, 11, 1, true, false,
		  "U10+1 W11+1 U12+1", "" },
		/* written to unwritten: S4-S6, C1-C3 */
		{ "C1", "v6.18", TO_UNWRITTEN, 0, 10, 1, false, false, "U10+1 W11+2", "" },
		{ "C2", "v6.18", TO_UNWRITTEN, 0, 11, 2, false, false, "W10+1 U11+2", "" },
		{ "C3", "v6.18", TO_UNWRITTEN, 0, 11, 1, false, false, "W10+1 U11+1 W12+1", "" },
		/* no space for the new entry: Z1-Z3, E4-E6 */
		{ "E4", "v7.0", CONVERT, 0, 10, 1, true, true, REST "W10+3", "11+2 " },
		{ "E5", "v7.0", CONVERT, 0, 11, 2, true, true, REST "W10+3", "10+1 " },
		{ "E6", "v7.0", CONVERT, 0, 11, 1, true, true, REST "W10+3", "12+1 10+1 " },
		{ "E4 6.18", "v6.18", CONVERT, 0, 10, 1, true, true, REST "W10+3", "11+2 " },
		{ "E5 6.18", "v6.18", CONVERT, 0, 11, 2, true, true, REST "W10+3", "10+1 " },
		/* Z4-Z6, C4-C6: only with the code of 2026 */
		{ "C4", "v7.0", TO_UNWRITTEN, 0, 10, 1, false, true, REST "W10+3", "10+1 " },
		{ "C5", "v7.0", TO_UNWRITTEN, 0, 11, 2, false, true, REST "W10+3", "11+2 " },
		{ "C6", "v7.0", TO_UNWRITTEN, 0, 11, 1, false, true, REST "W10+3", "11+1 " },
		/* MAP time with the limit of 32 KiB: N4-N6 */
		{ "N4", "v7.0", CREATE, 0, 10, 1, true, true, REST "W10+3", "11+2 " },
		{ "N5", "v7.0", CREATE, 0, 11, 2, true, true, REST "W10+3", "10+1 " },
		{ "N6", "v7.0", CREATE, 0, 11, 1, true, true, REST "W10+3", "12+1 10+1 " },
	};
	struct ffs_es es;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		kunit(rows[i].kernel, rows[i].unwritten, rows[i].full);
		fx.bm.max_zeroout_kb = rows[i].limit;
		if (fx_map(rows[i].lblk, rows[i].len, rows[i].flags, NULL) <= 0)
			fail_msg("%s failed", rows[i].id);
		if (strcmp(fx_runs(&fx.inode), rows[i].runs) || strcmp(fx.zeroed, rows[i].zeroed))
			fail_msg("%s: %s zeroed %s, not %s zeroed %s", rows[i].id,
				 fx_runs(&fx.inode), fx.zeroed, rows[i].runs, rows[i].zeroed);
		/* the status tree knows the asked blocks as the tree has them */
		assert_true(ffs_es_lookup(&fx.inode, rows[i].lblk, &es));
		assert_int_equal(es.pblk + rows[i].lblk - es.lblk, 100 + rows[i].lblk - 10);
		assert_int_equal(es.type, (rows[i].flags & FFS_GET_CONVERT_UNWRITTEN) &&
				 !rows[i].full ? FFS_ES_UNWRITTEN : FFS_ES_WRITTEN);
		fx_free();
	}
	/* 6.18 refuses what 7.0 zeroes, and leaves the extent as it was */
	kunit("v6.18", false, true);
	assert_int_equal(fx_map(11, 1, TO_UNWRITTEN, NULL), -ENOSPC);
	assert_runs(&fx.inode, REST "W10+3");
	assert_string_equal(fx.zeroed, "");
	fx_free();
}

/* 16 preallocated blocks, data in 4..11: the first cut fails, the second works, or fails too. */
static void failed_split_keeps_unwritten(void **state)
{
	u32 i, fails;

	for (fails = 1; fails <= 2; fails++) {
		fx_make("v7.0", 4096, FFS_INODE_EXTENTS);
		fx_map(0, 16, UNWRIT, NULL);
		fx.inode.i_size = fx.inode.i_disksize = 16 * 4096;
		for (i = 0; i < 3; i++) {
			fx.next = 1000 + 10 * i;
			fx_map(20 + 2 * i, 1, CREATE, NULL);
		}
		fx.fail_meta = fails == 1 ? 1 : ALL;
		assert_int_equal(fx_map(4, 8, CONVERT, NULL), 8);
		assert_runs(&fx.inode, fails == 1 ? "U0+4 W4+12 W20+1 W22+1 W24+1" :
						    "W0+16 W20+1 W22+1 W24+1");
		assert_string_equal(fx.zeroed, fails == 1 ? "12+4 " : "12+4 0+4 ");
		fx_free();
	}
	/* without the fix the front part, never written, becomes readable (and merges) */
	fx_make("v6.18", 4096, FFS_INODE_EXTENTS);
	fx_map(0, 16, UNWRIT, NULL);
	fx.inode.i_size = fx.inode.i_disksize = 16 * 4096;
	for (i = 0; i < 3; i++) {
		fx.next = 1000 + 10 * i;
		fx_map(20 + 2 * i, 1, CREATE, NULL);
	}
	fx.fail_meta = 1;
	fx_map(4, 8, CONVERT, NULL);
	assert_runs(&fx.inode, "W0+16 W20+1 W22+1 W24+1");
	assert_string_equal(fx.zeroed, "12+4 ");
	fx_free();
}

/* Ten extents at 1K, cut to three: the leaf stays until the next insertion. */
static void removal_keeps_depth(void **state)
{
	u32 i;

	fx_make("v6.18", 1024, FFS_INODE_EXTENTS);
	fx.gap = 1;
	for (i = 0; i < 10; i++)
		add_one(2 * i);
	ffs_truncate_blocks(&fx.bm, &fx.h, &fx.inode, 5);
	assert_runs(&fx.inode, "W0+1 W2+1 W4+1");
	assert_int_equal(fx_tree().depth, 1);
	assert_int_equal(fx.meta_blocks, 1);
	add_one(20);
	assert_int_equal(fx_tree().depth, 0);
	assert_int_equal(fx.meta_blocks, 0);
	ffs_truncate_blocks(&fx.bm, &fx.h, &fx.inode, 0);
	assert_runs(&fx.inode, "");
	assert_int_equal(fx.inode.i_blocks, 0);
	fx_free();
}

/* Refill of punched blocks: merging shrinks the leaf, four extents go back into the inode. */
static void merge_up(void **state)
{
	struct ffs_map map;
	u32 i;

	fx_make("v6.18", 1024, FFS_INODE_EXTENTS);
	fx_map(0, 20, CREATE, NULL);
	for (i = 1; i < 10; i += 2)
		ffs_remove_range(&fx.bm, &fx.h, &fx.inode, i, i + 1);
	ffs_es_remove(&fx.bm, &fx.inode, 0, 20);
	assert_runs(&fx.inode, "W0+1 W2+1 W4+1 W6+1 W8+1 W10+10");
	assert_int_equal(fx_tree().depth, 1);
	fx_commit();
	fx.next = 101;
	assert_int_equal(fx_map(1, 1, CREATE, &map), 1);
	assert_runs(&fx.inode, "W0+3 W4+1 W6+1 W8+1 W10+10");
	/* bitmap, descriptor, leaf */
	assert_int_equal(fx.dirtied, 3);
	fx_commit();
	fx.next = 103;
	fx_map(3, 1, CREATE, NULL);
	assert_runs(&fx.inode, "W0+5 W6+1 W8+1 W10+10");
	assert_int_equal(fx_tree().depth, 0);
	/* bitmap and descriptor serve the freed leaf too */
	assert_int_equal(fx.dirtied, 2);
	fx_free();
}

static void punch_and_restart(void **state)
{
	u32 i;

	fx_make("v6.18", 1024, FFS_INODE_EXTENTS);
	fx.gap = 1;
	for (i = 0; i < 200; i++)
		fx_map(2 * i, 1, CREATE, NULL);
	fx.refuse = 3;
	assert_int_equal(ffs_remove_range(&fx.bm, &fx.h, &fx.inode, 10, 390), 0);
	assert_int_equal(fx.restarts, 3);
	assert_runs(&fx.inode, "W0+1 W2+1 W4+1 W6+1 W8+1 W390+1 W392+1 W394+1 W396+1 W398+1");
	assert_int_equal(fx.freed, 190);
	fx_free();
}

static void collapse_and_insert(void **state)
{
	fx_make("v6.18", 4096, FFS_INODE_EXTENTS);
	fx_map(0, 100, CREATE, NULL);
	assert_int_equal(ffs_collapse_blocks(&fx.bm, &fx.h, &fx.inode, 20, 30), 0);
	assert_runs(&fx.inode, "W0+20 W20+70");
	assert_int_equal(ffs_insert_blocks(&fx.bm, &fx.h, &fx.inode, 50, 5), 0);
	assert_runs(&fx.inode, "W0+20 W20+30 W55+40");
	/* at the start of an extent nothing is cut; the hole moves with it */
	assert_int_equal(ffs_insert_blocks(&fx.bm, &fx.h, &fx.inode, 20, 4), 0);
	assert_runs(&fx.inode, "W0+20 W24+30 W59+40");
	assert_int_equal(ffs_collapse_blocks(&fx.bm, &fx.h, &fx.inode, 20, 24), 0);
	assert_runs(&fx.inode, "W0+20 W20+30 W55+40");
	fx_free();
}

static void shift_many_leaves(void **state)
{
	struct ffs_map_run run;
	u32 i;

	fx_make("v6.18", 1024, FFS_INODE_EXTENTS);
	fx.gap = 1;
	for (i = 0; i < 400; i++)
		fx_map(3 * i, 1, CREATE, NULL);
	fx.refuse = 2;
	assert_int_equal(ffs_insert_blocks(&fx.bm, &fx.h, &fx.inode, 300, 7), 0);
	assert_int_equal(fx.restarts, 2);
	for (i = 0; i < 400; i++) {
		assert_true(ffs_next_run(&fx.inode, i < 100 ? 3 * i : 3 * i + 7, &run));
		assert_int_equal(run.lblk, i < 100 ? 3 * i : 3 * i + 7);
		assert_int_equal(run.pblk, 100 + 2 * i);
	}
	assert_int_equal(ffs_collapse_blocks(&fx.bm, &fx.h, &fx.inode, 300, 307), 0);
	for (i = 0; i < 400; i++) {
		assert_true(ffs_next_run(&fx.inode, 3 * i, &run));
		assert_int_equal(run.lblk, 3 * i);
	}
	fx_free();
}

/* A piece out of the middle of both files: cut, exchanged, the donor's becomes unwritten. */
static void exchange(void **state)
{
	struct ffs_inode donor = {
		.ino = 13, .mode = FFS_S_IFREG | 0644, .flags = FFS_INODE_EXTENTS,
	};
	struct ffs_map map = { .lblk = 0, .len = 100 };
	struct ffs_map_run run;
	int err;

	fx_make("v6.18", 4096, FFS_INODE_EXTENTS);
	ffs_blockmap_init(&fx.bm, &donor);
	fx_map(0, 100, CREATE, NULL);
	fx.next = 1000;
	ffs_map_blocks(&fx.bm, &fx.h, &donor, &map, CREATE);
	assert_int_equal(ffs_ext_swap(&fx.bm, &fx.h, &fx.inode, &donor, 10, 20, 5, true, &err), 5);
	assert_int_equal(err, 0);
	assert_runs(&fx.inode, "W0+10 W10+5 W15+85");
	assert_runs(&donor, "W0+20 U20+5 W25+75");
	ffs_next_run(&fx.inode, 10, &run);
	assert_int_equal(run.pblk, 1020);
	ffs_next_run(&donor, 20, &run);
	assert_int_equal(run.pblk, 110);
	/* a hole on either side: nothing */
	assert_int_equal(ffs_ext_swap(&fx.bm, &fx.h, &fx.inode, &donor, 200, 20, 5, true, &err), 0);
	ffs_blockmap_destroy(&fx.bm, &donor);
	fx_free();
}

/* What a commit keeps does not change with the tree. */
static void snapshot(void **state)
{
	struct ffs_inode kept = { .ino = 12, .flags = FFS_INODE_EXTENTS };
	struct ffs_tree_info info;
	u32 i;

	fx_make("v6.18", 1024, FFS_INODE_EXTENTS);
	fx.gap = 1;
	for (i = 0; i < 400; i++)
		fx_map(2 * i, 1, CREATE, NULL);
	ffs_blockmap_clone(&kept, &fx.inode);
	assert_int_equal(ffs_blockmap_generation(&kept), ffs_blockmap_generation(&fx.inode));
	for (i = 0; i < 400; i++)
		fx_map(2 * i + 1, 1, CREATE, NULL);
	ffs_truncate_blocks(&fx.bm, &fx.h, &fx.inode, 3);
	assert_true(ffs_blockmap_generation(&kept) != ffs_blockmap_generation(&fx.inode));
	ffs_tree_info(&kept, &info);
	assert_int_equal(info.extents_nr, 400);
	assert_int_equal(info.depth, 2);
	assert_runs(&fx.inode, "W0+1 W1+1 W2+1");
	ffs_blockmap_destroy(&fx.bm, &kept);
	fx_free();
}

/* Unwritten extents beyond EOF are legal at every depth; 300 000 of them are no burden. */
static void large_tree(void **state)
{
	const u32 n = 300000;
	struct ffs_map_run run;
	u32 i;

	fx_make("v6.18", 1024, FFS_INODE_EXTENTS);
	fx.inode.i_size = fx.inode.i_disksize = 1024;
	fx.gap = 1;
	for (i = 0; i < n; i++) {
		fx.nr_dirty = 0;
		fx_map(2 * i, 1, UNWRIT, NULL);
	}
	assert_int_equal(fx_tree().extents_nr, n);
	assert_int_equal(fx_tree().leaf_blocks, 3572); /* 300000 / 84 */
	assert_int_equal(fx_tree().depth, 3); /* 3572 leaves need 43 index blocks, these one */
	assert_true(ffs_next_run(&fx.inode, 599998, &run));
	assert_int_equal(run.pblk, 100 + 2 * (n - 1));
	assert_true(run.unwritten);
	for (i = 0; i < n; i += 1000) {
		struct ffs_map map;

		fx.nr_dirty = 0;
		assert_int_equal(fx_map(2 * i, 1, CONVERT, &map), 1);
		assert_int_equal(map.pblk, 100 + 2 * i);
	}
	assert_int_equal(fx_tree().unwritten, n - 300);
	fx_free();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dirtied_by_appends), cmocka_unit_test(dirtied_by_descending),
		cmocka_unit_test(node_sizes), cmocka_unit_test(longest_extents),
		cmocka_unit_test(convert_at_map), cmocka_unit_test(convert_at_end_io),
		cmocka_unit_test(transfer), cmocka_unit_test(kunit_rows),
		cmocka_unit_test(failed_split_keeps_unwritten),
		cmocka_unit_test(removal_keeps_depth), cmocka_unit_test(merge_up),
		cmocka_unit_test(punch_and_restart), cmocka_unit_test(collapse_and_insert),
		cmocka_unit_test(shift_many_leaves), cmocka_unit_test(exchange),
		cmocka_unit_test(snapshot), cmocka_unit_test(large_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
