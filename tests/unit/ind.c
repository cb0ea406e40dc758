// SPDX-License-Identifier: MIT
/*
 * Indirect map: pointer blocks, pieces of an answer, what is dirtied, removal.
 * Counts measured on Linux 6.18 (785 blocks of 1K, 1636 of 4K) and by hand.
 */
#include "blockmap_fixture.h"

#define CREATE FFS_GET_CREATE

/* Fill [0, n) as writeback does, piece by piece; returns the pieces. */
static u32 fill(u32 n)
{
	u32 at = 0, pieces = 0;

	while (at < n) {
		int got = fx_map(at, n - at, CREATE, NULL);

		assert_true(got > 0);
		at += (u32)got;
		pieces++;
	}
	return pieces;
}

static void pointer_blocks(void **state)
{
	static const struct { u32 bs, n, blocks; } rows[] = {
		{ 1024, 12, 0 }, { 1024, 268, 1 }, { 1024, 785, 5 }, { 4096, 1636, 3 },
		/* 12 + A + A^2 + 1 at 1K: 1 + 1 + 256 and three blocks for the first triple */
		{ 1024, 12 + 256 + 65536 + 1, 261 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		fx_make("v6.18", rows[i].bs, 0);
		fill(rows[i].n);
		assert_int_equal(fx.meta_blocks, rows[i].blocks);
		assert_int_equal(fx_tree().index_blocks, rows[i].blocks);
		assert_int_equal(fx.inode.i_blocks, rows[i].n + rows[i].blocks);
		fx_free();
	}
}

/* An answer never crosses the end of a pointer block, and says so. */
static void boundaries(void **state)
{
	struct ffs_map map;
	u32 i;

	fx_make("v6.18", 1024, 0);
	/* a lookup of a block whose pointer is free would see a hole of one block */
	for (i = 0; i < 512; i++) {
		map.lblk = i;
		map.len = 1;
		assert_int_equal(ffs_da_map_blocks(&fx.bm, &fx.inode, &map), 0);
	}
	assert_int_equal(fx_map(0, 512, CREATE, &map), 12);
	assert_int_equal(map.flags, FFS_MAP_NEW | FFS_MAP_MAPPED | FFS_MAP_BOUNDARY);
	assert_int_equal(fx_map(12, 500, CREATE, &map), 256);
	assert_int_equal(fx_map(268, 244, CREATE, &map), 244);
	assert_int_equal(map.flags, FFS_MAP_NEW | FFS_MAP_MAPPED);
	/* data is contiguous, so the lookup stops only at the blocks' ends */
	ffs_es_drop_clean(&fx.inode);
	assert_int_equal(fx_map(5, 100, 0, &map), 7);
	assert_int_equal(fx_map(12, 1000, 0, &map), 256);
	assert_int_equal(map.flags, FFS_MAP_MAPPED | FFS_MAP_BOUNDARY);
	/* holes: the rest of the missing subtree */
	assert_int_equal(fx_map(512, 1000, 0, &map), 0);
	assert_int_equal(map.len, 1);
	assert_int_equal(fx_map(524, 1000, 0, &map), 0);
	assert_int_equal(map.len, 256);
	fx_free();
}

/* Goals: the block before in the same pointer block, else that block, else the inode's. */
static void goals(void **state)
{
	fx_make("v6.18", 1024, 0);
	fx_map(3, 1, CREATE, NULL);
	assert_int_equal(fx.last.goal, 32768);
	assert_int_equal(fx.last.lleft, 0);
	fx_map(5, 1, CREATE, NULL);
	assert_int_equal(fx.last.goal, 100);
	fx_map(12, 1, CREATE, NULL); /* behind its new pointer block */
	assert_int_equal(fx.last.goal, 5000);
	fx_map(13, 1, CREATE, NULL);
	assert_int_equal(fx.last.goal, 102);
	fx_free();
}

static void dirtied(void **state)
{
	fx_make("v6.18", 1024, 0);
	fx_map(0, 1, CREATE, NULL); /* bitmap, descriptor; the inode is dirty already */
	assert_int_equal(fx.dirtied, 2);
	assert_int_equal(fx.mids, 1);
	fx_commit();
	fx_map(12, 1, CREATE, NULL); /* and the pointer block */
	assert_int_equal(fx.dirtied, 3);
	assert_int_equal(fx.mids, 1);
	fx_commit();
	fx_map(13, 1, CREATE, NULL); /* bitmap, descriptor, the pointer block */
	assert_int_equal(fx.dirtied, 3);
	assert_int_equal(fx.mids, 0);
	fx_commit();
	fx_map(300, 1, CREATE, NULL); /* two new pointer blocks */
	assert_int_equal(fx.dirtied, 4);
	fx_free();
}

static void truncate(void **state)
{
	fx_make("v6.18", 1024, 0);
	fill(785);
	fx_commit();
	ffs_truncate_blocks(&fx.bm, &fx.h, &fx.inode, 269);
	assert_runs(&fx.inode, "W0+269");
	assert_int_equal(fx.meta_blocks, 3);
	assert_int_equal(fx.freed, 785 - 269);
	ffs_truncate_blocks(&fx.bm, &fx.h, &fx.inode, 268);
	assert_int_equal(fx.meta_blocks, 1);
	ffs_truncate_blocks(&fx.bm, &fx.h, &fx.inode, 13);
	assert_runs(&fx.inode, "W0+13");
	ffs_truncate_blocks(&fx.bm, &fx.h, &fx.inode, 0);
	assert_runs(&fx.inode, "");
	assert_int_equal(fx.meta_blocks, 0);
	assert_int_equal(fx.inode.i_blocks, 0);
	fx_free();
}

/* Every start and end of a hole in a file that reaches the triple block. */
static void punch(void **state)
{
	static const u32 at[] = {
		0, 5, 11, 12, 13, 267, 268, 269, 400, 523, 524, 525, 65803, 65804, 65805, 65900,
	};
	u32 i, k, lblk, mapped;

	for (i = 0; i < ARRAY_SIZE(at); i++) {
		for (k = i + 1; k < ARRAY_SIZE(at); k++) {
			struct ffs_map_run run = { 0 };
			u32 n = 65900;

			fx_make("v6.18", 1024, 0);
			fill(n);
			fx.nr_dirty = 0;
			assert_int_equal(ffs_remove_range(&fx.bm, &fx.h, &fx.inode, at[i], at[k]),
					 0);
			mapped = 0;
			for (lblk = 0; ffs_next_run(&fx.inode, lblk, &run);
			     lblk = run.lblk + run.len) {
				assert_true(run.lblk >= at[k] || run.lblk + run.len <= at[i]);
				mapped += run.len;
			}
			assert_int_equal(mapped, n - (at[k] - at[i]));
			assert_int_equal(fx.freed, at[k] - at[i]);
			assert_int_equal(fx.meta_blocks, fx_tree().index_blocks);
			fx_free();
		}
	}
}

static void snapshot(void **state)
{
	struct ffs_inode kept = { .ino = 12 };

	fx_make("v6.18", 1024, 0);
	fill(600);
	ffs_blockmap_clone(&kept, &fx.inode);
	ffs_remove_range(&fx.bm, &fx.h, &fx.inode, 10, 590);
	assert_runs(&kept, "W0+600");
	assert_runs(&fx.inode, "W0+10 W590+10");
	ffs_blockmap_destroy(&fx.bm, &kept);
	fx_free();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pointer_blocks), cmocka_unit_test(boundaries),
		cmocka_unit_test(goals), cmocka_unit_test(dirtied), cmocka_unit_test(truncate),
		cmocka_unit_test(punch), cmocka_unit_test(snapshot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
