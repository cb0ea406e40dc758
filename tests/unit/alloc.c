// SPDX-License-Identifier: MIT
/*
 * The block allocator: placement as measured on 6.18, preallocations, space, frees.
 * Block numbers were taken from running kernels or follow by hand from the layout.
 */
#include "alloc_common.h"

/* One file of @blocks, written at once, synced and closed. */
static u64 new_file(struct fs *fs, u32 ino, u32 blocks)
{
	struct ffs_inode inode = file_of_blocks(fs, ino, blocks);
	u32 got;
	u64 blk = ask(fs, &inode, DELAYED, 0, blocks, 0, &got);

	assert_int_equal(got, blocks);
	ffs_discard_preallocations(fs->a, &inode);
	return blk;
}

static void test_fresh_4k(void **state UNUSED)
{
	struct fs *fs = fs_new_rotational("size=2G -b 4096");
	struct ffs_inode big;
	u32 got;

	/* group 1 has a superblock copy: its first free block is 257 */
	assert_int_equal(new_file(fs, 12, 1), 33280); /* chunk of 512 as group PA */
	assert_int_equal(new_file(fs, 13, 2), 33281);
	assert_int_equal(new_file(fs, 14, 4), 33283);
	assert_int_equal(new_file(fs, 15, 15), 33287);
	assert_int_equal(new_file(fs, 16, 16), 33302);
	assert_int_equal(new_file(fs, 17, 17), 33056); /* window of 32 */
	assert_int_equal(new_file(fs, 18, 25), 33088);
	assert_int_equal(new_file(fs, 19, 256), 33792);
	assert_int_equal(new_file(fs, 20, 512), 34304);

	big = file_of_blocks(fs, 21, 1280); /* windows of 4M */
	assert_int_equal(ask(fs, &big, DELAYED, 0, 1280, 0, &got), 34816);
	assert_int_equal(got, 1024);
	assert_int_equal(ask(fs, &big, DELAYED, 1024, 256, 35839, &got), 35840);
	assert_int_equal(got, 256);
	ffs_discard_preallocations(fs->a, &big);

	big = file_of_blocks(fs, 22, 5120); /* windows of 8M */
	assert_int_equal(ask(fs, &big, DELAYED, 0, 5120, 0, &got), 36864);
	assert_int_equal(got, 2048);
	assert_int_equal(ask(fs, &big, DELAYED, 2048, 3072, 38911, &got), 38912);
	assert_int_equal(got, 2048);
	assert_int_equal(ask(fs, &big, DELAYED, 4096, 1024, 40959, &got), 40960);
	assert_int_equal(got, 1024);
	ffs_discard_preallocations(fs->a, &big);
	fs_free(fs);
}

static void test_fresh_1k(void **state UNUSED)
{
	struct fs *fs = fs_new_rotational("size=512M -b 1024");
	struct ffs_inode big;
	u32 got;

	assert_int_equal(new_file(fs, 12, 1), 8705);
	assert_int_equal(new_file(fs, 13, 16), 8706);
	assert_int_equal(new_file(fs, 14, 17), 8481);
	assert_int_equal(new_file(fs, 15, 40), 8513); /* window of 64 */
	assert_int_equal(new_file(fs, 16, 128), 8577);
	assert_int_equal(new_file(fs, 17, 1024), 9217);
	big = file_of_blocks(fs, 18, 1025);
	assert_int_equal(ask(fs, &big, DELAYED, 0, 1025, 0, &got), 10241);
	assert_int_equal(got, 1025);
	ffs_discard_preallocations(fs->a, &big);
	fs_free(fs);
}

/*
 * Nothing read since mount, not rotational: the search tries shorter lengths in vain and
 * goes on with the one block asked for, so the first small file gets no PA.
 */
static void test_first_request(void **state UNUSED)
{
	struct fs *fs = fs_new("size=20889600K -b 1024 -J size=1 -i 1048576");
	struct ffs_inode inode = file_of_blocks(fs, 12, 0);
	u32 got;

	assert_int_equal(ask(fs, &inode, FFS_MB_DATA, 0, 1, 0, &got), 8610);
	assert_int_equal(ask(fs, &inode, FFS_MB_DATA, 1, 1, 8610, &got), 8705);
	assert_int_equal(ask(fs, &inode, FFS_MB_DATA, 2, 1, 8705, &got), 8706);
	fs_free(fs);
}

static void test_tree_block(void **state UNUSED)
{
	struct fs *fs = fs_new("size=2G -b 4096");
	struct ffs_inode inode = file_of_blocks(fs, 12, 1);
	int err;

	/* no preallocation: the first free block of group 1 */
	assert_int_equal(ffs_alloc_meta_block(fs->a, &fs->h, &inode, 32768, 0, &err), 33025);
	assert_int_equal(err, 0);
	assert_int_equal(inode.i_blocks, 1);
	assert_int_equal(fs->i_blocks_events, 1);
	/* bitmap of group 1, then the only descriptor block */
	assert_int_equal(nr_dirtied, 2);
	assert_int_equal(dirtied[0], ffs_bitmap_block(fs->a, 1));
	assert_int_equal(dirtied[1], 1);
	fs_free(fs);
}

static void test_appends(void **state UNUSED)
{
	static const struct {
		u32 lblk, len;
		u64 block;
		u32 got;
	} steps[] = {
		{ 0, 1, 33280, 1 },    { 1, 1, 33281, 1 },   { 2, 2, 33282, 2 },
		{ 4, 4, 33284, 4 },    { 8, 8, 33288, 8 },
		{ 16, 8, 33040, 8 }, /* 24 blocks: window [16,32) */
		{ 24, 16, 33048, 8 }, { 32, 8, 33056, 8 }, /* rest of it, [32,64) merged */
		{ 40, 64, 33064, 24 }, { 64, 40, 33088, 40 },
		{ 104, 200, 33128, 24 }, { 128, 176, 33792, 176 }, /* 384, criterion 1 */
	};
	struct fs *fs = fs_new_rotational("size=2G -b 4096");
	struct ffs_inode inode = file_of_blocks(fs, 12, 0);
	u64 pleft = 0;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		u32 got;

		inode.i_size = max(inode.i_size, (u64)(steps[i].lblk + steps[i].len) << 12);
		assert_int_equal(ask(fs, &inode, DELAYED, steps[i].lblk, steps[i].len, pleft, &got),
				 steps[i].block);
		assert_int_equal(got, steps[i].got);
		pleft = steps[i].block + got - 1;
	}
	ffs_discard_preallocations(fs->a, &inode);
	fs_free(fs);
}

static void test_sparse_writes(void **state UNUSED)
{
	struct fs *fs = fs_new("size=2G -b 4096");
	struct ffs_inode inode = file_of_blocks(fs, 12, 160);
	u32 at[] = { 0, 50, 100, 150 }, i, got;
	u64 first = 0;

	for (i = 0; i < 4; i++) {
		u64 blk = ask(fs, &inode, DELAYED, at[i], 10, 0, &got);

		assert_int_equal(got, 10);
		if (!i)
			first = blk;
		assert_int_equal(blk, first + at[i]); /* one PA of 256 */
	}
	assert_int_equal(inode.pas->nr, 1);
	assert_int_equal(inode.pas->pa[0]->len, 256);
	assert_int_equal(inode.pas->pa[0]->free, 216);
	ffs_discard_preallocations(fs->a, &inode);
	assert_null(inode.pas);
	fs_free(fs);
}

/* Only these holes are free: address, length. */
static struct fs *fs_with_holes(const u32 (*hole)[2], u32 n)
{
	struct fs *fs = fs_new("size=64M -b 4096");
	u32 i;

	ffs_alloc_mark(fs->a, 0, fs->env.geo.blocks_count, true);
	assert_int_equal(ffs_free_clusters(fs->a), 0);
	for (i = 0; i < n; i++)
		ffs_alloc_mark(fs->a, hole[i][0], hole[i][0] + hole[i][1], false);
	return fs;
}

static void test_candidates(void **state UNUSED)
{
	static const u32 holes[][2] = { { 8217, 5 },  { 8231, 12 }, { 8252, 20 },
					{ 8281, 33 }, { 8323, 64 }, { 8396, 100 } };
	struct fs *fs = fs_with_holes(holes, ARRAY_SIZE(holes));
	struct ffs_inode one = file_of_blocks(fs, 12, 17), two = file_of_blocks(fs, 14, 17);
	const struct ffs_group *g = &fs->a->group[0];
	u32 got;

	assert_int_equal(ffs_free_clusters(fs->a), 5 + 12 + 20 + 33 + 64 + 100);
	assert_int_equal(g->fragments, 6);
	assert_int_equal(ffs_group_measure(fs->a, g, 8281, 32), 33);
	assert_int_equal(ffs_group_measure(fs->a, g, 8323, 32), 61);
	assert_int_equal(ffs_group_measure(fs->a, g, 8396, 32), 52);
	assert_int_equal(ffs_group_measure(fs->a, g, 8448, 32), 32);
	/* 32 wanted: 33, 61, 52 are candidates, the 32 at 8448 fits exactly */
	assert_int_equal(ask(fs, &one, DELAYED, 0, 17, 0, &got), 8448);
	/* then the smallest that is enough */
	assert_int_equal(ask(fs, &two, DELAYED, 0, 17, 0, &got), 8281);
	assert_int_equal(one.pas->pa[0]->len, 32);
	assert_int_equal(two.pas->pa[0]->len, 32);
	ffs_discard_preallocations(fs->a, &one);
	ffs_discard_preallocations(fs->a, &two);
	/* 15 come back on one side, merged with 16; 16 on the other */
	assert_int_equal(g->fragments, 7);
	fs_free(fs);
}

/* A window of 256 blocks and one hole of 100: where the hole goes in the window. */
static void test_place_in_window(void **state UNUSED)
{
	static const u32 hole[][2] = { { 8320, 100 } };
	static const struct {
		u32 lblk;
		u64 block;
		u32 lstart;
	} cases[] = {
		{ 200, 8320 + 44, 156 }, /* at the end of the window, that covers it */
		{ 5, 8320 + 5, 0 }, /* at its start */
		{ 120, 8320, 120 }, /* neither: at the block asked for */
	};
	u32 i, got;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fs *fs = fs_with_holes(hole, 1);
		struct ffs_inode inode = file_of_blocks(fs, 12, 250);

		assert_int_equal(ask(fs, &inode, DELAYED, cases[i].lblk, 10, 0, &got),
				 cases[i].block);
		assert_int_equal(inode.pas->pa[0]->lstart, cases[i].lstart);
		assert_int_equal(inode.pas->pa[0]->len, 100);
		ffs_discard_preallocations(fs->a, &inode);
		fs_free(fs);
	}
}

/* The nearest PA to the left is the one that counts; new ones never overlap (report R53). */
static void test_pa_neighbours(void **state UNUSED)
{
	struct fs *fs = fs_new("size=2G -b 4096");
	struct ffs_inode inode = file_of_blocks(fs, 12, 64);
	struct ffs_alloc_request ar = { .inode = &inode, .flags = DELAYED, .len = 1, .goal = 32768 };
	u64 low, high;
	u32 got;
	int err;

	/* [8,16) between allocated neighbours, then [40,48) */
	ar.lblk = 8;
	ar.lleft = 7;
	ar.pleft = 60000;
	ar.lright = 16;
	ar.pright = 61000;
	low = ffs_alloc_blocks(fs->a, &fs->h, &ar, &err);
	ar.lblk = ar.lright = 40;
	ar.lleft = 39;
	ar.lright = 48;
	ar.len = 1;
	high = ffs_alloc_blocks(fs->a, &fs->h, &ar, &err);
	assert_int_equal(inode.pas->nr, 2);
	assert_int_equal(inode.pas->pa[0]->lstart, 8);
	assert_int_equal(inode.pas->pa[0]->len, 8);
	assert_int_equal(inode.pas->pa[1]->lstart, 40);
	assert_int_equal(inode.pas->pa[1]->len, 8);
	assert_int_equal(ask(fs, &inode, DELAYED, 12, 1, 0, &got), low + 4);
	assert_int_equal(ask(fs, &inode, DELAYED, 44, 9, 0, &got), high + 4);
	assert_int_equal(got, 4); /* not beyond its end */
	/* in between: cut against both */
	ask(fs, &inode, DELAYED, 20, 1, 0, &got);
	assert_int_equal(inode.pas->nr, 3);
	assert_int_equal(inode.pas->pa[1]->lstart, 16);
	assert_int_equal(inode.pas->pa[1]->len, 24);
	ffs_discard_preallocations(fs->a, &inode);
	fs_free(fs);
}

static void test_no_preallocation_for_closed(void **state UNUSED)
{
	struct fs *fs = fs_new("size=2G -b 4096");
	struct ffs_inode inode = file_of_blocks(fs, 12, 25);
	u32 got;

	inode.writers = 0; /* written by writeback after the close */
	ask(fs, &inode, DELAYED, 0, 25, 0, &got);
	assert_int_equal(got, 25);
	assert_null(inode.pas);
	fs_free(fs);
}

static void test_stripe(void **state UNUSED)
{
	/* 16 blocks a cluster: only multiples of it are taken (report R54) */
	static const u32 stripe[][2] = { { 8, 0 }, { 16, 16 }, { 24, 0 }, { 32, 32 } };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(stripe); i++) {
		char mount[32];
		struct fs *fs;

		snprintf(mount, sizeof(mount), "stripe=%u", stripe[i][0]);
		fs = fs_new_kernel("v6.18", "size=1G -b 4096 -O bigalloc -C 65536", mount);
		assert_int_equal(fs->a->stripe, stripe[i][1]);
		new_file(fs, 12, 2);
		ffs_alloc_remount(fs->a);
		assert_int_equal(fs->a->stripe, stripe[i][1]);
		fs_free(fs);
	}
}

static void test_free_waits_for_commit(void **state UNUSED)
{
	struct fs *fs = fs_new("size=2G -b 4096");
	struct ffs_inode inode = file_of_blocks(fs, 12, 0);
	u64 before = ffs_free_clusters(fs->a), blk;
	int err;

	blk = ffs_alloc_meta_block(fs->a, &fs->h, &inode, 32768, 0, &err);
	assert_int_equal(blk, 33025);
	assert_int_equal(ffs_free_clusters(fs->a), before - 1);
	assert_int_equal(ffs_free_blocks(fs->a, &fs->h, &inode, blk, 1,
					 FFS_FREE_METADATA | FFS_FREE_FORGET), 0);
	assert_int_equal(nr_revoked, 1);
	assert_int_equal(ffs_free_clusters(fs->a), before);
	assert_int_equal(inode.i_blocks, 0);
	assert_true(ffs_alloc_has_pending(fs->a));
	assert_int_equal(fs->released, 0);
	assert_int_equal(ffs_alloc_meta_block(fs->a, &fs->h, &inode, 32768, 0, &err), 33026);
	ffs_alloc_committed(fs->a, 2);
	assert_true(ffs_alloc_has_pending(fs->a));
	ffs_alloc_committed(fs->a, 3);
	assert_false(ffs_alloc_has_pending(fs->a));
	assert_int_equal(fs->released, 1);
	assert_int_equal(ffs_alloc_meta_block(fs->a, &fs->h, &inode, 32768, 0, &err), 33025);
	fs_free(fs);
}

static void test_free_at_once(void **state UNUSED)
{
	static const char *const mounts[] = { "data=writeback", "data=ordered" };
	u32 i;

	for (i = 0; i < 2; i++) {
		struct fs *fs = fs_new_kernel("v6.18", "size=2G -b 4096", mounts[i]);
		struct ffs_inode inode = file_of_blocks(fs, 12, 20);
		u32 got;
		u64 blk = ask(fs, &inode, FFS_MB_DATA | FFS_MB_NOPREALLOC, 0, 20, 0, &got);

		ffs_free_blocks(fs->a, &fs->h, &inode, blk, 20, 0);
		assert_int_equal(fs->released, i ? 0 : 20);
		assert_int_equal(ffs_alloc_has_pending(fs->a), i == 1);
		fs_free(fs);
	}
}

static void test_data_journal_forgets(void **state UNUSED)
{
	struct fs *fs = fs_new_kernel("v6.18", "size=2G -b 4096", "data=journal");
	struct ffs_inode inode = file_of_blocks(fs, 12, 0);
	int err;
	u64 blk = ffs_alloc_meta_block(fs->a, &fs->h, &inode, 32768, 0, &err);

	ffs_free_blocks(fs->a, &fs->h, &inode, blk, 1, FFS_FREE_METADATA | FFS_FREE_FORGET);
	assert_int_equal(nr_forgotten, 1);
	assert_int_equal(nr_revoked, 0);
	ffs_free_blocks(fs->a, &fs->h, &inode, blk + 10, 5, FFS_FREE_FORGET);
	assert_int_equal(nr_forgotten, 1); /* data blocks are not forgotten one by one */
	fs_free(fs);
}

static void test_shared_clusters(void **state UNUSED)
{
	struct fs *fs = fs_new("size=256M -b 4096 -O bigalloc -C 16384");
	struct ffs_inode inode = file_of_blocks(fs, 12, 64);
	u32 got;
	u64 blk = ask(fs, &inode, DELAYED, 0, 16, 0, &got), free;

	assert_int_equal(got, 16); /* clusters */
	free = ffs_free_clusters(fs->a);
	fs->i_blocks_events = 0;
	/* inside one cluster that keeps other blocks: nothing */
	ffs_free_blocks(fs->a, &fs->h, &inode, blk + 1, 2,
			FFS_FREE_NOFREE_FIRST | FFS_FREE_NOFREE_LAST);
	assert_int_equal(ffs_free_clusters(fs->a), free);
	assert_int_equal(fs->i_blocks_events, 0);
	/* ends shared: the two clusters in the middle go */
	ffs_free_blocks(fs->a, &fs->h, &inode, blk + 2, 12,
			FFS_FREE_NOFREE_FIRST | FFS_FREE_NOFREE_LAST);
	assert_int_equal(ffs_free_clusters(fs->a), free + 2);
	assert_int_equal(fs->i_blocks_events, 1);
	/* not shared: whole clusters */
	ffs_free_blocks(fs->a, &fs->h, &inode, blk + 18, 3, 0);
	assert_int_equal(ffs_free_clusters(fs->a), free + 4);
	ffs_discard_preallocations(fs->a, &inode);
	fs_free(fs);
}

static void test_space(void **state UNUSED)
{
	static const u32 hole[][2] = { { 9000, 155 } };
	struct fs *fs = fs_with_holes(hole, 1);
	struct ffs_inode inode = file_of_blocks(fs, 12, 1000);
	bool start;
	u32 got;

	/* 2% of 16384 blocks */
	assert_int_equal(fs->a->reserved, 327);
	ffs_alloc_set_reserved_clusters(fs->a, 50);
	/* 105 are free: 255 is halved to 127 and 63 */
	ask(fs, &inode, FFS_MB_DATA | FFS_MB_NOPREALLOC, 0, 255, 0, &got);
	assert_int_equal(got, 63);
	assert_int_equal(inode.i_blocks, 63);
	assert_int_equal(ffs_claim_delayed(fs->a, 43), -ENOSPC);
	assert_int_equal(ffs_claim_delayed(fs->a, 42), 0);
	assert_int_equal(ffs_delayed_clusters(fs->a), 42);
	assert_int_equal(ask(fs, &inode, FFS_MB_DATA | FFS_MB_NOPREALLOC, 100, 8, 0, &got), 0);
	/* the reserve is for those that must not fail */
	ask(fs, &inode, FFS_MB_DATA | FFS_MB_NOPREALLOC | FFS_MB_USE_RESERVED, 100, 8, 0, &got);
	assert_int_equal(got, 8);
	ffs_release_delayed(fs->a, 42);
	/* nearly full: no more delayed writes */
	assert_true(ffs_nonda_switch(fs->a, &start));
	assert_false(start);
	fs_free(fs);
}

static void test_space_indirect(void **state UNUSED)
{
	struct fs *fs = fs_new("size=64M -b 4096 -O ^extent,^64bit");

	assert_int_equal(fs->a->reserved, 0);
	fs_free(fs);
}

static void test_discard_when_full(void **state UNUSED)
{
	static const u32 hole[][2] = { { 9216, 300 } };
	struct fs *fs = fs_with_holes(hole, 1);
	struct ffs_inode one = file_of_blocks(fs, 12, 200), two = file_of_blocks(fs, 13, 100);
	u32 got;

	ffs_alloc_set_reserved_clusters(fs->a, 0);
	ask(fs, &one, DELAYED, 0, 100, 0, &got);
	assert_int_equal(one.pas->pa[0]->len, 256); /* 156 of them unused */
	ask(fs, &two, FFS_MB_DATA | FFS_MB_NOPREALLOC, 0, 44, 0, &got);
	assert_int_equal(got, 44);
	ask(fs, &two, FFS_MB_DATA | FFS_MB_NOPREALLOC, 50, 150, 0, &got);
	assert_int_equal(got, 150); /* the PA of the other file was given up */
	assert_null(one.pas);
	fs_free(fs);
}

static void test_goal(void **state UNUSED)
{
	struct fs *fs = fs_new("size=2G -b 4096");
	struct ffs_inode file = file_of_blocks(fs, 12, 0), dir = { .ino = 2, .mode = FFS_S_IFDIR };

	assert_int_equal(ffs_inode_goal(fs->a, &file), 32768);
	assert_int_equal(ffs_inode_goal(fs->a, &dir), 0);
	fs_free(fs);
	fs = fs_new("size=64M -b 1024");
	assert_int_equal(ffs_inode_goal(fs->a, &file), 8193);
	fs_free(fs);
	/* without delayed allocation files are spread by process; one group: 3 * -1025 */
	fs = fs_new_kernel("v6.18", "size=64M -b 4096", "nodelalloc");
	assert_int_equal(ffs_inode_goal(fs->a, &file), 29693);
	fs_free(fs);
	fs = fs_new_kernel("v6.18", "size=64M -b 1024", "nodelalloc");
	assert_int_equal(ffs_inode_goal(fs->a, &file), 8193 + 3 * 512);
	fs_free(fs);
}

static void test_worst(void **state UNUSED)
{
	struct fs *fs = fs_new("size=20G -b 1024 -J size=1 -i 1048576");
	struct ffs_inode inode = file_of_blocks(fs, 12, 4096);
	u8 seen[2560] = { 0 };
	u64 blk, last = 0;
	u32 i, got;

	assert_int_equal(fs->env.geo.groups, 2560);
	ffs_alloc_set_policy(fs->a, FFS_ALLOC_WORST);
	for (i = 0; i < 2560; i++) {
		u32 group;

		blk = ask(fs, &inode, DELAYED, i, 64, 0, &got);
		group = ffs_group_of(fs->a, blk);
		assert_int_equal(got, 1);
		assert_int_equal(seen[group]++, 0);
		/* 16 descriptors a block: a new one every time */
		assert_int_not_equal(ffs_descriptor_block(fs->a, group), last);
		last = ffs_descriptor_block(fs->a, group);
	}
	fs_free(fs);
}

/* Chunks and counts stay what a fresh look at the bitmap gives, whatever is taken and freed. */
static void test_chunks(void **state UNUSED)
{
	struct fs *fs = fs_new("size=64M -b 1024");
	struct ffs_alloc *a = fs->a;
	struct ffs_group *g = ffs_group_bits(a, 2);
	u32 seed = 1, i;

	for (i = 0; i < 4000; i++) {
		u32 chunks[FFS_MB_ORDERS] = { 0 }, free = 0, fragments = 0, at, len, o;

		seed = seed * 1103515245 + 12345;
		at = (seed >> 8) % a->cpg;
		len = min((seed >> 20) % 300 + 1, a->cpg - at);
		if (ffs_next_one(g->bits, at + len, at) == at + len)
			ffs_group_take(a, 2, at, len);
		else if (ffs_next_zero(g->bits, at + len, at) == at + len)
			ffs_group_give(a, 2, at, len);
		for (at = ffs_next_zero(g->bits, a->cpg, 0); at < a->cpg;
		     at = ffs_next_zero(g->bits, a->cpg, at)) {
			u32 end = ffs_next_one(g->bits, a->cpg, at);

			fragments++;
			free += end - at;
			assert_true(at >= g->first_free);
			while (at < end) {
				for (o = a->orders - 1; at % (1u << o) || at + (1u << o) > end; o--)
					;
				chunks[o]++;
				assert_true(!o || ffs_test(ffs_chunk_bits(a, g, o), at >> o));
				at += 1u << o;
			}
		}
		assert_int_equal(g->free, free);
		assert_int_equal(g->fragments, fragments);
		for (o = 0; o < a->orders; o++)
			assert_int_equal(g->chunks[o], chunks[o]);
	}
	fs_free(fs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fresh_4k),
		cmocka_unit_test(test_fresh_1k),
		cmocka_unit_test(test_first_request),
		cmocka_unit_test(test_tree_block),
		cmocka_unit_test(test_appends),
		cmocka_unit_test(test_sparse_writes),
		cmocka_unit_test(test_candidates),
		cmocka_unit_test(test_place_in_window),
		cmocka_unit_test(test_pa_neighbours),
		cmocka_unit_test(test_no_preallocation_for_closed),
		cmocka_unit_test(test_stripe),
		cmocka_unit_test(test_free_waits_for_commit),
		cmocka_unit_test(test_free_at_once),
		cmocka_unit_test(test_data_journal_forgets),
		cmocka_unit_test(test_shared_clusters),
		cmocka_unit_test(test_space),
		cmocka_unit_test(test_space_indirect),
		cmocka_unit_test(test_discard_when_full),
		cmocka_unit_test(test_goal),
		cmocka_unit_test(test_worst),
		cmocka_unit_test(test_chunks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
