// SPDX-License-Identifier: MIT
/*
 * Extent status tree and reservations: merging, cutting, what a lookup caches, what
 * delayed blocks reserve, with and without clusters.
 */
#include "blockmap_fixture.h"
#include "blockmap/es.h"

static char log_text[4096];

static void record(void *priv, const struct foliofs_event *ev)
{
	char buf[256];
	size_t n = strlen(log_text);

	foliofs_event_text(ev, "7,40", buf, sizeof(buf));
	if (n + sizeof(buf) < sizeof(log_text))
		snprintf(log_text + n, sizeof(log_text) - n, "%s: %s\n", foliofs_event_name(ev->id),
			 buf + strlen("dev 7,40 "));
}

static struct foliofs_sink sink = { .event = record };
static const struct foliofs_sink *sinks[] = { &sink };

static void listen(void)
{
	static const enum foliofs_event_id ids[] = {
		FOLIOFS_EV_ext4_es_insert_extent, FOLIOFS_EV_ext4_es_insert_delayed_extent,
		FOLIOFS_EV_ext4_es_remove_extent, FOLIOFS_EV_ext4_da_reserve_space,
		FOLIOFS_EV_ext4_da_update_reserve_space, FOLIOFS_EV_ext4_da_release_space,
		FOLIOFS_EV_ext4_ext_map_blocks_exit, FOLIOFS_EV_ext4_es_insert_delayed_block,
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ids); i++)
		fx.env.on[ids[i]] = sink.wants[ids[i]] = 1;
	fx.env.sinks = sinks;
	fx.env.nr_sinks = 1;
	log_text[0] = 0;
}

#define assert_log(text)                                                                           \
	do {                                                                                       \
		assert_string_equal(log_text, text);                                               \
		log_text[0] = 0;                                                                   \
	} while (0)

static const char *entries(void)
{
	static char text[256];
	struct ffs_es es;
	u64 lblk = 0;
	size_t n = 0;

	for (text[0] = 0; ffs_es_next(&fx.inode, lblk, &es); lblk = (u64)es.lblk + es.len) {
		char type[3] = { "?WU?D?U?H"[es.type], es.type == 6 ? 'D' : 0 };

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s%u+%u", n ? " " : "", type,
				      es.lblk, es.len);
	}
	return text;
}

static int da(u32 lblk, u32 len, struct ffs_map *map)
{
	struct ffs_map m = { .lblk = lblk, .len = len };
	int ret = ffs_da_map_blocks(&fx.bm, &fx.inode, &m);

	if (map)
		*map = m;
	return ret;
}

static void overwrite_and_merge(void **state)
{
	struct ffs_es es;

	fx_make("v6.18", 4096, FFS_INODE_EXTENTS);
	ffs_es_insert_mapped(&fx.bm, &fx.inode, 0, 100, 1000, FFS_ES_WRITTEN, false);
	ffs_es_insert_mapped(&fx.bm, &fx.inode, 40, 10, 1040, FFS_ES_UNWRITTEN, false);
	assert_string_equal(entries(), "W0+40 U40+10 W50+50");
	ffs_es_insert_mapped(&fx.bm, &fx.inode, 40, 10, 1040, FFS_ES_WRITTEN, false);
	assert_string_equal(entries(), "W0+100");
	/* logically adjacent, but elsewhere on disk */
	ffs_es_insert_mapped(&fx.bm, &fx.inode, 100, 10, 5000, FFS_ES_WRITTEN, false);
	assert_string_equal(entries(), "W0+100 W100+10");
	ffs_es_remove(&fx.bm, &fx.inode, 20, 60);
	assert_string_equal(entries(), "W0+20 W80+20 W100+10");
	assert_true(ffs_es_lookup(&fx.inode, 85, &es));
	assert_int_equal(es.pblk, 1080);
	assert_false(ffs_es_lookup(&fx.inode, 30, &es));
	ffs_es_insert_hole(&fx.bm, &fx.inode, 20, 30);
	ffs_es_insert_hole(&fx.bm, &fx.inode, 50, 30);
	assert_string_equal(entries(), "W0+20 H20+60 W80+20 W100+10");
	fx_free();
}

/* An empty file: the whole hole is cached, delayed blocks are cut out of it one by one. */
static void delayed_write(void **state)
{
	struct ffs_map map;

	fx_make("v6.18", 4096, FFS_INODE_EXTENTS);
	listen();
	assert_int_equal(da(0, 1, &map), 0);
	assert_int_equal(map.flags, FFS_MAP_DELAYED);
	assert_log("ext4_es_insert_extent: ino 12 es [0/4294967295) mapped 0 status H\n"
		   "ext4_ext_map_blocks_exit: ino 12 flags  lblk 0 pblk 0 len 1 mflags  ret 0\n"
		   "ext4_da_reserve_space: ino 12 mode 0100644 i_blocks 0 reserve_blocks 1"
		   "reserved_data_blocks 1\n"
		   "ext4_es_insert_delayed_extent: ino 12 es [0/1) mapped 0 status D "
		   "allocated 0 0\n");
	da(1, 1, NULL);
	assert_log("ext4_da_reserve_space: ino 12 mode 0100644 i_blocks 0 reserve_blocks 1"
		   "reserved_data_blocks 2\n"
		   "ext4_es_insert_delayed_extent: ino 12 es [1/1) mapped 0 status D "
		   "allocated 0 0\n");
	/* delayed already: nothing */
	da(1, 1, &map);
	assert_int_equal(map.flags, FFS_MAP_DELAYED);
	assert_log("");
	/* writeback: the flag comes from the status tree, the reservation is claimed */
	fx_map(0, 2, ffs_writeback_flags(&fx.bm) | FFS_GET_UNWRIT | FFS_GET_PRE_IO, NULL);
	assert_log("ext4_ext_map_blocks_exit: ino 12 flags CREATE|UNWRIT|DELALLOC|PRE_IO|"
		   "METADATA_NOFAIL|IO_SUBMIT|EX_NOCACHE lblk 0 pblk 100 len 2 mflags NMU ret 2\n"
		   "ext4_es_insert_extent: ino 12 es [0/2) mapped 100 status U\n"
		   "ext4_da_update_reserve_space: ino 12 mode 0100644 i_blocks 0 used_blocks 2 "
		   "reserved_data_blocks 2 quota_claim 1\n");
	assert_int_equal(fx.inode.reserved, 0);
	assert_int_equal(fx.claimed, 0);
	assert_int_equal(fx.inode.i_blocks, 2);
	fx_free();
}

/* Truncate of 213 delayed blocks of 256; fallocate over the rest. */
static void release(void **state)
{
	u32 i;

	fx_make("v6.18", 4096, FFS_INODE_EXTENTS);
	for (i = 0; i < 256; i++)
		da(i, 1, NULL);
	assert_int_equal(fx.inode.reserved, 256);
	listen();
	ffs_es_remove(&fx.bm, &fx.inode, 43, FFS_LBLK_MAX - 43);
	assert_log("ext4_es_remove_extent: ino 12 es [43/4294967252)\n"
		   "ext4_da_release_space: ino 12 mode 0100644 i_blocks 0 freed_blocks 213 "
		   "reserved_data_blocks 256\n");
	assert_int_equal(fx.inode.reserved, 43);
	assert_int_equal(fx.claimed, 43);
	/* delayed blocks that start in a hole found by somebody else are paid for already */
	ffs_es_insert_mapped(&fx.bm, &fx.inode, 0, 43, 100, FFS_ES_UNWRITTEN, false);
	assert_log("ext4_es_insert_extent: ino 12 es [0/43) mapped 100 status U\n"
		   "ext4_da_update_reserve_space: ino 12 mode 0100644 i_blocks 0 used_blocks 43 "
		   "reserved_data_blocks 43 quota_claim 0\n");
	assert_int_equal(fx.inode.reserved, 0);
	assert_int_equal(fx.inode.i_blocks, 0);
	fx_free();
}

static void no_space(void **state)
{
	fx_make("v6.18", 4096, FFS_INODE_EXTENTS);
	fx.space = 3;
	assert_int_equal(da(0, 1, NULL), 0);
	assert_int_equal(da(1, 3, NULL), -ENOSPC);
	assert_int_equal(fx.inode.reserved, 1);
	assert_string_equal(entries(), "D0+1 H1+4294967294");
	fx_free();
}

/* The first call stops at the end of the cached entry. */
static void multi_block_stops(void **state)
{
	struct ffs_map map;

	fx_make("v6.18", 4096, FFS_INODE_EXTENTS);
	ffs_es_insert_hole(&fx.bm, &fx.inode, 0, 4);
	ffs_es_insert_mapped(&fx.bm, &fx.inode, 4, 4, 100, FFS_ES_WRITTEN, false);
	da(0, 6, &map);
	assert_int_equal(map.len, 4);
	assert_string_equal(entries(), "D0+4 W4+4");
	assert_int_equal(fx.inode.reserved, 4);
	fx_free();

	fx_make("v6.18", 4096, FFS_INODE_EXTENTS);
	ffs_es_insert_hole(&fx.bm, &fx.inode, 0, 100);
	da(0, 4, NULL);
	da(0, 6, &map);
	assert_int_equal(map.len, 4);
	assert_int_equal(fx.inode.reserved, 4);
	da(4, 2, &map);
	assert_int_equal(map.len, 2);
	assert_int_equal(fx.inode.reserved, 6);
	fx_free();
}

/* A hole is cut at delayed blocks: behind, in front, and around the asked block. */
static void hole_between_delayed(void **state)
{
	struct ffs_map map = { .lblk = 50, .len = 100 };

	fx_make("v6.18", 4096, FFS_INODE_EXTENTS);
	da(20, 1, NULL);
	da(60, 1, NULL);
	ffs_es_drop_clean(&fx.inode);
	assert_string_equal(entries(), "D20+1 D60+1");
	assert_int_equal(ffs_map_blocks(&fx.bm, NULL, &fx.inode, &map, 0), 0);
	assert_int_equal(map.len, 10);
	assert_string_equal(entries(), "D20+1 H50+10 D60+1");
	fx_free();
}

/* Lookups fill the status tree with the extents of a root that is a leaf, holes between them. */
static void root_is_cached(void **state)
{
	struct ffs_map map = { .lblk = 2000, .len = 1 };

	fx_make("v6.18", 4096, FFS_INODE_EXTENTS);
	fx.gap = 10;
	fx_map(10, 5, FFS_GET_CREATE, NULL);
	fx_map(20, 5, FFS_GET_CREATE | FFS_GET_UNWRIT, NULL);
	ffs_blockmap_reread(&fx.inode, true);
	listen();
	map.lblk = 12;
	ffs_map_blocks(&fx.bm, NULL, &fx.inode, &map, 0);
	assert_log("ext4_ext_map_blocks_exit: ino 12 flags  lblk 12 pblk 102 len 1 mflags M "
		   "ret 1\n"
		   "ext4_es_insert_extent: ino 12 es [12/1) mapped 102 status W\n");
	assert_string_equal(entries(), "W10+5 H15+5 U20+5");
	/* with no-cache only the answer is kept */
	ffs_blockmap_reread(&fx.inode, true);
	ffs_map_blocks(&fx.bm, NULL, &fx.inode, &map, FFS_GET_EX_NOCACHE);
	assert_string_equal(entries(), "W12+1");
	fx_free();
}

/* A leaf read from disk is cached whole when a lookup first comes to it, never again. */
static void leaf_is_cached_once(void **state)
{
	struct ffs_map map = { .lblk = 4, .len = 1 };
	u32 i;

	fx_make("v6.18", 1024, FFS_INODE_EXTENTS);
	fx.gap = 1;
	for (i = 0; i < 6; i++)
		fx_map(2 * i, 1, FFS_GET_CREATE, NULL);
	ffs_es_drop_clean(&fx.inode);
	ffs_map_blocks(&fx.bm, NULL, &fx.inode, &map, 0);
	assert_string_equal(entries(), "W4+1");
	ffs_blockmap_reread(&fx.inode, true);
	ffs_map_blocks(&fx.bm, NULL, &fx.inode, &map, 0);
	assert_string_equal(entries(), "W0+1 H1+1 W2+1 H3+1 W4+1 H5+1 W6+1 H7+1 W8+1 H9+1 W10+1");
	ffs_es_drop_clean(&fx.inode);
	ffs_map_blocks(&fx.bm, NULL, &fx.inode, &map, 0);
	assert_string_equal(entries(), "W4+1");
	fx_free();
}

/* Before 6.12 fallocate over delayed blocks leaves them unwritten and delayed. */
static void unwritten_and_delayed(void **state)
{
	u32 i;

	fx_make("v6.1", 4096, FFS_INODE_EXTENTS);
	for (i = 0; i < 8; i++)
		da(i, 1, NULL);
	listen();
	fx_map(0, 8, FFS_GET_CREATE | FFS_GET_UNWRIT | FFS_GET_NO_NORMALIZE, NULL);
	assert_log("ext4_da_update_reserve_space: ino 12 mode 0100644 i_blocks 64 used_blocks 8 "
		   "reserved_data_blocks 8 quota_claim 0\n"
		   "ext4_ext_map_blocks_exit: ino 12 flags CREATE|UNWRIT|NO_NORMALIZE lblk 0 "
		   "pblk 100 len 8 mflags NMU ret 8\n"
		   "ext4_es_insert_extent: ino 12 es [0/8) mapped 100 status UD\n");
	fx_free();
}

/* Clusters of four blocks: one reservation each; allocated clusters are pending. */
static void clusters(void **state)
{
	struct ffs_map map;

	fx_make("v6.18", 4096, FFS_INODE_EXTENTS);
	fx.env.geo.cluster_ratio = 4;
	da(0, 1, NULL);
	da(1, 1, NULL);
	assert_int_equal(fx.inode.reserved, 1);
	da(4, 6, NULL); /* clusters 1 and 2 */
	assert_int_equal(fx.inode.reserved, 3);
	/* blocks 4..5 of cluster 1 go: 6 and 7 keep it reserved */
	ffs_es_remove(&fx.bm, &fx.inode, 4, 2);
	assert_int_equal(fx.inode.reserved, 3);
	ffs_es_remove(&fx.bm, &fx.inode, 6, 2);
	assert_int_equal(fx.inode.reserved, 2);

	/* block 0 is allocated: its cluster still holds delayed block 1 */
	fx.next = 400;
	fx_map(0, 1, FFS_GET_CREATE | FFS_GET_UNWRIT, &map);
	assert_int_equal(map.pblk, 400);
	assert_int_equal(map.len, 1);
	assert_int_equal(fx.inode.reserved, 1);
	assert_true(ffs_es_is_pending(&fx.bm, &fx.inode, 1));
	/* block 1 needs no allocation, and a new delayed block there no reservation */
	da(2, 1, NULL);
	assert_int_equal(fx.inode.reserved, 1);
	fx.next = 800;
	fx_map(1, 1, FFS_GET_CREATE | FFS_GET_UNWRIT, &map);
	assert_int_equal(map.pblk, 401);
	assert_int_equal(fx.next, 800);
	/* the allocated part goes, block 2 is still delayed: reserved again */
	assert_int_equal(ffs_remove_range(&fx.bm, &fx.h, &fx.inode, 0, 2), 0);
	assert_int_equal(fx.inode.reserved, 2);
	assert_false(ffs_es_is_pending(&fx.bm, &fx.inode, 2));
	fx_free();
}

/* The sequence number: every change counts, also to the same; what a lookup finds, until es-cache. */
static void sequence(void **state)
{
	struct ffs_map map;

	(void)state;
	fx_make("v7.0", 4096, FFS_INODE_EXTENTS);
	assert_int_equal(ffs_es_seq(&fx.inode), 0);
	ffs_es_insert_mapped(&fx.bm, &fx.inode, 0, 8, 1000, FFS_ES_WRITTEN, false);
	ffs_es_insert_mapped(&fx.bm, &fx.inode, 0, 8, 1000, FFS_ES_WRITTEN, false);
	assert_int_equal(ffs_es_seq(&fx.inode), 2);
	ffs_es_remove(&fx.bm, &fx.inode, 4, 4);
	assert_int_equal(ffs_es_seq(&fx.inode), 3);
	/* the hole is looked up on disk, then delayed */
	assert_int_equal(da(100, 4, &map), 0);
	assert_int_equal(ffs_es_seq(&fx.inode), 4);
	assert_int_equal(da(100, 4, &map), 0);
	assert_int_equal(ffs_es_seq(&fx.inode), 4);
	fx_free();
	fx_make("v6.18", 4096, FFS_INODE_EXTENTS);
	assert_int_equal(da(100, 4, &map), 0);
	assert_int_equal(ffs_es_seq(&fx.inode), 2);
	fx_free();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sequence),
		cmocka_unit_test(overwrite_and_merge), cmocka_unit_test(delayed_write),
		cmocka_unit_test(release), cmocka_unit_test(no_space),
		cmocka_unit_test(multi_block_stops), cmocka_unit_test(hole_between_delayed),
		cmocka_unit_test(root_is_cached), cmocka_unit_test(leaf_is_cached_once),
		cmocka_unit_test(unwritten_and_delayed), cmocka_unit_test(clusters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
