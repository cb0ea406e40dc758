// SPDX-License-Identifier: MIT
/*
 * The question over status tree and disk, and requests to the allocator: flags,
 * neighbours, goals, clusters, what is left of an answer that failed.
 */
#include "blockmap_fixture.h"

#define CREATE FFS_GET_CREATE
#define UNWRIT (FFS_GET_CREATE | FFS_GET_UNWRIT)

static void neighbours_and_goal(void **state)
{
	fx_make("v6.18", 4096, FFS_INODE_EXTENTS);
	fx.next = 1000;
	fx_map(10, 5, CREATE, NULL);
	assert_int_equal(fx.last.goal, 32768); /* an empty file: the inode's goal */
	assert_int_equal(fx.last.lleft, 10); /* the block itself: there is none */
	assert_int_equal(fx.last.pleft, 0);
	fx.next = 2000;
	fx_map(30, 5, CREATE, NULL);
	assert_int_equal(fx.last.goal, 1020);
	assert_int_equal(fx.last.lleft, 14);
	assert_int_equal(fx.last.pleft, 1004);
	assert_int_equal(fx.last.lright, 30);
	assert_int_equal(fx.last.pright, 0);
	/* between: cut at the extent on the right */
	fx.next = 3000;
	assert_int_equal(fx_map(20, 100, CREATE, NULL), 10);
	assert_int_equal(fx.last.len, 10);
	assert_int_equal(fx.last.lright, 30);
	assert_int_equal(fx.last.pright, 2000);
	/* in front of everything: the goal lies before the first extent's block */
	fx_map(0, 1, CREATE, NULL);
	assert_int_equal(fx.last.goal, 990);
	fx_free();
}

static void request_flags(void **state)
{
	fx_make("v6.18", 4096, FFS_INODE_EXTENTS);
	fx_map(0, 1, CREATE, NULL);
	assert_int_equal(fx.last.flags, FFS_MB_DATA);
	fx_map(100, 1, UNWRIT | FFS_GET_NO_NORMALIZE, NULL);
	assert_int_equal(fx.last.flags, FFS_MB_DATA | FFS_MB_NOPREALLOC);
	fx_map(200, 1, ffs_writeback_flags(&fx.bm), NULL);
	assert_int_equal(fx.last.flags, FFS_MB_DATA | FFS_MB_USE_RESERVED);
	assert_int_equal(ffs_convert_flags(&fx.bm), UNWRIT | FFS_GET_CONVERT | FFS_GET_IO_SUBMIT |
			 FFS_GET_EX_NOCACHE);
	fx_free();
	fx_make("6.12.117", 4096, FFS_INODE_EXTENTS);
	assert_int_equal(ffs_convert_flags(&fx.bm), UNWRIT | FFS_GET_CONVERT);
	fx_free();
}

/* Answers: state of the map, cut at what was asked, at the extent, at what was got. */
static void answers(void **state)
{
	struct ffs_map map;

	fx_make("v6.18", 4096, FFS_INODE_EXTENTS);
	fx.most = 8;
	assert_int_equal(fx_map(0, 100, UNWRIT, &map), 8);
	assert_int_equal(map.flags, FFS_MAP_NEW | FFS_MAP_MAPPED | FFS_MAP_UNWRITTEN);
	/* again: unwritten already, from the status tree and then from the extent tree */
	assert_int_equal(fx_map(4, 100, UNWRIT, &map), 4);
	assert_int_equal(map.flags, FFS_MAP_MAPPED | FFS_MAP_UNWRITTEN);
	assert_int_equal(map.pblk, 104);
	assert_int_equal(fx_map(4, 2, 0, &map), 2);
	assert_int_equal(map.flags, FFS_MAP_UNWRITTEN);
	assert_int_equal(fx_map(8, 2, 0, &map), 0);
	assert_int_equal(map.flags, 0);
	assert_int_equal(fx_map(FFS_LBLK_MAX, 1, 0, &map), -EUCLEAN);
	fx_free();
}

static u32 changed_from, changed_len, changes;

static void mapping_changed(void *priv, struct ffs_inode *inode, u32 lblk, u32 len)
{
	changed_from = lblk;
	changed_len = len;
	changes++;
}

/* Caching what is on disk changes the mapping for nobody, since 7.0. */
static void sequence(void **state)
{
	static const struct { const char *kernel; u32 by_lookup; } rows[] = {
		{ "v6.19", 1 }, { "v7.0", 0 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		fx_make(rows[i].kernel, 4096, FFS_INODE_EXTENTS);
		fx.bm.mapping_changed = mapping_changed;
		fx_map(0, 10, CREATE, NULL);
		assert_int_equal(changed_len, 10);
		ffs_blockmap_reread(&fx.inode, true);
		changes = 0;
		fx_map(5, 1, 0, NULL);
		assert_int_equal(changes, rows[i].by_lookup);
		ffs_es_remove(&fx.bm, &fx.inode, 2, 3);
		assert_int_equal(changes, rows[i].by_lookup + 1);
		assert_int_equal(changed_from, 2);
		fx_free();
	}
}

/* Zero range: written pieces of at most 32767 blocks, longer ones by 16383. */
static void zero_range_pieces(void **state)
{
	struct ffs_map map;

	fx_make("v6.18", 4096, FFS_INODE_EXTENTS);
	fx_map(0, 32768, CREATE, NULL);
	assert_int_equal(fx_map(0, 32768, UNWRIT | FFS_GET_CONVERT_UNWRITTEN, &map), 16383);
	assert_int_equal(map.flags, FFS_MAP_UNWRITTEN);
	assert_int_equal(map.pblk, 100);
	assert_runs(&fx.inode, "U0+16383 W16383+16385");
	assert_int_equal(fx_map(16383, 16385, UNWRIT | FFS_GET_CONVERT_UNWRITTEN, &map), 16385);
	/* 32768 unwritten blocks do not fit one extent */
	assert_runs(&fx.inode, "U0+16383 U16383+16385");
	fx_free();
}

/* Clusters of four: requests in clusters, blocks of an allocated cluster without a request. */
static void clusters(void **state)
{
	struct ffs_map map;

	fx_make("v6.18", 4096, FFS_INODE_EXTENTS);
	fx.env.geo.cluster_ratio = 4;
	fx.next = 400;
	assert_int_equal(fx_map(6, 7, CREATE, &map), 7);
	assert_int_equal(fx.last.lblk, 4);
	assert_int_equal(fx.last.len, 3); /* clusters: blocks 4 .. 15 */
	assert_int_equal(fx.last.goal, 32768 - 2);
	assert_int_equal(map.pblk, 402);
	fx.next = 800;
	/* in front of the extent, in its first cluster */
	assert_int_equal(fx_map(4, 8, CREATE, &map), 2);
	assert_int_equal(map.pblk, 400);
	/* behind it, in its last cluster: to the end of the cluster */
	assert_int_equal(fx_map(13, 20, CREATE, &map), 3);
	assert_int_equal(map.pblk, 409);
	assert_int_equal(fx.next, 800);
	assert_runs(&fx.inode, "W4+12");
	/* the next one is cut where the cluster of an extent begins */
	fx_map(26, 1, CREATE, NULL);
	fx.next = 1600;
	assert_int_equal(fx_map(16, 20, CREATE, &map), 8);
	fx_free();
}

/* The tree has no room and gets none: the blocks go back. */
static void failed_insert(void **state)
{
	struct ffs_map map;
	u32 i;

	fx_make("v6.18", 4096, FFS_INODE_EXTENTS);
	fx.gap = 1;
	for (i = 0; i < 4; i++)
		fx_map(2 * i, 1, CREATE, NULL);
	fx.fail_meta = 1;
	assert_int_equal(fx_map(8, 1, CREATE, &map), -ENOSPC);
	assert_int_equal(fx.freed, 1);
	assert_runs(&fx.inode, "W0+1 W2+1 W4+1 W6+1");
	assert_int_equal(fx_map(8, 1, CREATE, &map), 1);
	fx_free();
}

/* No tree while the data lies in the inode; delayed blocks are known all the same. */
static void inline_data(void **state)
{
	struct ffs_map map = { .lblk = 0, .len = 1 };

	fx_make("v6.18", 4096, FFS_INODE_INLINE_DATA);
	assert_null(fx.inode.tree);
	assert_int_equal(ffs_da_map_blocks(&fx.bm, &fx.inode, &map), 0);
	assert_int_equal(map.flags, FFS_MAP_DELAYED);
	assert_runs(&fx.inode, "");
	fx.inode.flags = 0;
	ffs_blockmap_from_inline(&fx.bm, &fx.inode);
	assert_int_equal(fx.inode.flags, FFS_INODE_EXTENTS);
	assert_int_equal(fx_map(0, 1, ffs_writeback_flags(&fx.bm), &map), 1);
	assert_int_equal(fx.inode.reserved, 0);
	fx_free();
}

static void truncate_sets_disksize(void **state)
{
	fx_make("v6.18", 4096, FFS_INODE_EXTENTS);
	fx_map(0, 10, CREATE, NULL);
	fx.inode.i_size = 5 * 4096 - 1;
	fx.inode.i_disksize = 10 * 4096;
	fx_commit();
	assert_int_equal(ffs_truncate_blocks(&fx.bm, &fx.h, &fx.inode, 5), 0);
	assert_int_equal(fx.inode.i_disksize, 5 * 4096 - 1);
	assert_int_equal(fx.mids, 2); /* the size, the shortened extent */
	assert_runs(&fx.inode, "W0+5");
	/* an empty file: the root is written once more */
	ffs_truncate_blocks(&fx.bm, &fx.h, &fx.inode, 0);
	fx_commit();
	ffs_truncate_blocks(&fx.bm, &fx.h, &fx.inode, 0);
	assert_int_equal(fx.mids, 2);
	/* a punch in it is not */
	fx_commit();
	ffs_remove_range(&fx.bm, &fx.h, &fx.inode, 0, 100);
	assert_int_equal(fx.mids, 0);
	fx_free();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(neighbours_and_goal), cmocka_unit_test(request_flags),
		cmocka_unit_test(answers), cmocka_unit_test(sequence),
		cmocka_unit_test(zero_range_pieces), cmocka_unit_test(clusters),
		cmocka_unit_test(failed_insert), cmocka_unit_test(inline_data),
		cmocka_unit_test(truncate_sets_disksize),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
