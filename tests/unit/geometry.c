// SPDX-License-Identifier: MIT
/*
 * Geometry against numbers measured on real file systems (facts and captures of
 * 6.1, 6.12 and 6.18), mount options, meta.yaml, and what must be refused.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <foliofs/mkfs.h>
#include "geometry/geometry_meta.h"
#include "geometry/geometry_options.h"
#include "kernel/layout.h"
#include "kernel/mkfs.h"

#define HAS(g, f) foliofs_has_feature(g, FOLIOFS_FEATURE_##f)

static struct foliofs_geometry make(const char *options)
{
	struct foliofs_geometry g = { 0 };
	char err[200];

	if (foliofs_geometry_from_mkfs(options, &g, err, sizeof(err)))
		fail_msg("%s: %s", options, err);
	assert_int_equal(foliofs_geometry_check(&g, err, sizeof(err)), 0);
	return g;
}

/* Default journal lengths of mke2fs 1.47, at both sides of each border. */
static void journal_lengths(void **state)
{
	static const uint64_t rows[][2] = {
		{ 2047, 0 },	      { 2048, 1024 },	    { 32767, 1024 },
		{ 32768, 4096 },      { 262143, 4096 },	    { 262144, 8192 },
		{ 524287, 8192 },     { 524288, 16384 },    { 4194303, 16384 },
		{ 4194304, 32768 },   { 8388607, 32768 },   { 8388608, 65536 },
		{ 16777215, 65536 },  { 16777216, 131072 }, { 33554431, 131072 },
		{ 33554432, 262144 }, { 1ull << 34, 262144 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(ffs_default_journal_blocks(rows[i][0]), rows[i][1]);
}

/* -O fast_commit adds a 64th of the default journal, whatever -J size= says. */
static void fast_commit_lengths(void **state)
{
	struct foliofs_geometry g = make("size=1G -b 4096 -O fast_commit -J size=16");

	(void)state;
	assert_int_equal(g.journal_blocks, 4096 + 128);
	assert_int_equal(g.fast_commit_blocks, 128);
	g = make("size=300M -b 1024 -O fast_commit -J size=2");
	assert_int_equal(g.journal_blocks, 2048 + 128);
	assert_int_equal(g.fast_commit_blocks, 128);
}

/* Geometries that were mounted for the captures. */
static const struct row {
	const char *options;
	uint64_t blocks;
	uint32_t groups, gdb, reserved, inodes, journal, desc;
} rows[] = {
	{ "size=21474836480 -b 1024 -J size=1 -i 1048576", 20971520, 2560, 160, 256, 8, 1024, 64 },
	{ "size=21390950400 -b 1024 -J size=1 -i 1048576", 20889600, 2550, 160, 256, 8, 1024, 64 },
	{ "size=342255206400 -b 4096 -J size=4 -i 8388608", 83558400, 2550, 40, 1024, 16, 1024,
	  64 },
	{ "size=2147483648 -b 1024 -i 262144", 2097152, 256, 16, 256, 32, 16384, 64 },
	{ "size=64M -b 1024", 65536, 8, 1, 256, 2048, 4096, 64 },
	{ "size=64M -b 2048", 32768, 2, 1, 63, 8192, 4096, 64 },
	{ "size=64M -b 4096", 16384, 1, 1, 7, 16384, 1024, 64 },
	{ "size=67108864 -b 4096 -O ^extent,^64bit", 16384, 1, 1, 3, 16384, 1024, 32 },
	{ "size=64M -b 4096 -O ^has_journal", 16384, 1, 1, 7, 16384, 0, 64 },
	{ "size=256M -b 4096 -O bigalloc -C 16384", 65536, 1, 1, 7, 16384, 4096, 64 },
};

static void measured_geometries(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct row *r = &rows[i];
		struct foliofs_geometry g = make(r->options);

		assert_int_equal(g.blocks_count, r->blocks);
		assert_int_equal(g.groups, r->groups);
		assert_int_equal(g.gdb_count, r->gdb);
		assert_int_equal(g.reserved_gdt_blocks, r->reserved);
		assert_int_equal(g.inodes_per_group, r->inodes);
		assert_int_equal(g.journal_blocks, r->journal);
		assert_int_equal(g.desc_size, r->desc);
		assert_int_equal(g.flex_bg_size, 16);
		assert_int_equal(g.inode_size, 256);
	}
	/* meta_bg does not change the count of descriptor blocks */
	assert_int_equal(make("size=1G -b 1024").gdb_count, 8);
	assert_int_equal(make("size=1G -b 1024 -O meta_bg,^resize_inode").gdb_count, 8);
	assert_int_equal(make("size=256M -O bigalloc -b 4096 -C 64k").cluster_ratio, 16);
	assert_int_equal(make("size=64M -b 4096").r_blocks_count, 819); /* 5 % */
}

/*
 * 64M in 1K blocks, by hand: superblock 1, descriptors 2, reserved 3-258, block bitmaps
 * of 8 groups 259-266, inode bitmaps 267-274, inode tables of 512 blocks each from
 * 275 on up to 4370, root 4371, lost+found of 12 blocks, double indirect block of
 * the resize inode 4384.  The middle block is in group 3; of groups 2 to 4 the first
 * without a backup has most free blocks and gets the journal.
 */
static void layout_by_hand(void **state)
{
	struct foliofs_geometry g = make("size=64M -b 1024");
	struct ffs_layout *l = ffs_layout_new(&g);
	struct ffs_blk_range used[8];

	(void)state;
	assert_non_null(l);
	assert_int_equal(ffs_layout_descriptor(l, 7), 2);
	assert_int_equal(ffs_layout_block_bitmap(l, 0), 259);
	assert_int_equal(ffs_layout_block_bitmap(l, 7), 266);
	assert_int_equal(ffs_layout_inode_bitmap(l, 0), 267);
	assert_int_equal(ffs_layout_inode_table(l, 0), 275);
	assert_int_equal(ffs_layout_inode_table(l, 7), 275 + 7 * 512);
	assert_int_equal(ffs_layout_file_block(ffs_layout_root(l), 0), 4371);
	assert_int_equal(ffs_layout_file_block(ffs_layout_lost_found(l), 0), 4372);
	assert_int_equal(ffs_layout_file_block(ffs_layout_lost_found(l), 11), 4383);
	assert_int_equal(ffs_layout_file_block(ffs_layout_lost_found(l), 12), 0);
	assert_int_equal(ffs_layout_used(l, 0, used, 8), 1);
	assert_int_equal(used[0].first, 1);
	assert_int_equal(used[0].end, 4385);
	/* backups in groups 1, 3, 5 and 7: superblock, descriptors, reserved */
	assert_int_equal(ffs_layout_used(l, 1, used, 8), 1);
	assert_int_equal(used[0].first, 8193);
	assert_int_equal(used[0].end, 8193 + 258);
	assert_int_equal(ffs_layout_used(l, 2, used, 8), 1);
	assert_int_equal(used[0].first, 16385);
	assert_int_equal(used[0].end, 16385 + 4096);
	assert_int_equal(ffs_layout_file_block(ffs_layout_journal(l), 4095), 20480);
	assert_int_equal(ffs_layout_used(l, 4, used, 8), 0);
	assert_int_equal(ffs_layout_first_inode(l), 12);
	/* 4 inodes of 256 bytes in a block */
	assert_int_equal(ffs_layout_inode_block(l, 2), 275);
	assert_int_equal(ffs_layout_inode_block(l, 12), 277);
	assert_int_equal(ffs_layout_inode_block(l, 2049), 275 + 512);
	assert_int_equal(ffs_layout_dirs(l, 0), 2);
	ffs_layout_free(l);
}

static void orphan_file_inode(void **state)
{
	struct foliofs_geometry g = make("size=64M -b 4096 -O orphan_file");
	struct ffs_layout *l = ffs_layout_new(&g);

	(void)state;
	assert_non_null(l);
	assert_int_equal(g.orphan_file_blocks, 32);
	assert_int_equal(ffs_layout_orphan_ino(l), 12);
	assert_int_equal(ffs_layout_first_inode(l), 13);
	ffs_layout_free(l);
}

static void sizes(void **state)
{
	uint64_t v;

	(void)state;
	assert_int_equal(foliofs_parse_size("2M", &v), 0);
	assert_int_equal(v, 2097152);
	assert_int_equal(foliofs_parse_size("20g", &v), 0);
	assert_int_equal(v, 21474836480);
	assert_int_equal(foliofs_parse_size("1t", &v), 0);
	assert_int_equal(v, 1099511627776);
	assert_int_equal(foliofs_parse_size("0x10k", &v), 0);
	assert_int_equal(v, 16384);
	assert_int_equal(foliofs_parse_size("3s", &v), 0);
	assert_int_equal(v, 1536);
	assert_int_equal(foliofs_parse_size("", &v), -EINVAL);
	assert_int_equal(foliofs_parse_size("-1", &v), -EINVAL);
	assert_int_equal(foliofs_parse_size(" 1", &v), -EINVAL);
	assert_int_equal(foliofs_parse_size("1kb", &v), -EINVAL);
	assert_int_equal(foliofs_parse_size("k", &v), -EINVAL);
	assert_int_equal(foliofs_parse_size("99999999999t", &v), -ERANGE);
	assert_int_equal(foliofs_parse_size("99999999999999999999", &v), -ERANGE);
}

static void mount_options(void **state)
{
	struct foliofs_geometry g = { 0 };
	char err[200];

	(void)state;
	assert_int_equal(foliofs_mount_parse("", &g, err, sizeof(err)), 0);
	assert_int_equal(g.mount.data, FOLIOFS_DATA_ORDERED);
	assert_int_equal(g.mount.atime, FOLIOFS_ATIME_RELATIME);
	assert_int_equal(g.mount.commit_interval, 5);
	assert_false(g.mount.nodelalloc || g.mount.dioread_lock || g.mount.quota);
	assert_int_equal(foliofs_mount_parse("nodelalloc,data=journal,dioread_lock,usrquota,"
					     "grpquota,noauto_da_alloc,noatime,lazytime,sync,"
					     "dirsync,commit=300,stripe=16,buffered_iomap,"
					     "noinit_itable,no_prefetch_block_bitmaps,"
					     "errors=remount-ro,barrier=0,resuid=5",
					     &g, err, sizeof(err)), 0);
	assert_int_equal(g.mount.data, FOLIOFS_DATA_JOURNAL);
	assert_int_equal(g.mount.atime, FOLIOFS_ATIME_NOATIME);
	assert_true(g.mount.nodelalloc && g.mount.dioread_lock && g.mount.quota);
	assert_true(g.mount.noauto_da_alloc && g.mount.lazytime && g.mount.sync);
	assert_true(g.mount.dirsync && g.mount.buffered_iomap);
	assert_int_equal(g.mount.commit_interval, 300);
	assert_int_equal(g.mount.stripe, 16);
	/* the last one wins; each call starts from the defaults */
	assert_int_equal(foliofs_mount_parse("nodelalloc,delalloc,strictatime,commit=0", &g, err,
					     sizeof(err)), 0);
	assert_false(g.mount.nodelalloc || g.mount.sync);
	assert_int_equal(g.mount.atime, FOLIOFS_ATIME_STRICTATIME);
	assert_int_equal(g.mount.commit_interval, 5);
}

static void refused_mounts(void **state)
{
	static const char *const bad[][2] = {
		{ "nodelaloc", "unknown mount option 'nodelaloc'" },
		{ "noatime,foo=1", "unknown mount option 'foo'" },
		{ "data=fast", "mount option 'data': invalid value 'fast'" },
		{ "commit=x", "mount option 'commit': invalid value 'x'" },
		{ "commit=-1", "mount option 'commit': invalid value '-1'" },
		{ "dax", "mount option 'dax' is not modelled" },
		{ "commit", "unknown mount option 'commit'" },
	};
	struct foliofs_geometry g = { .mount = { .commit_interval = 77 } };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		char err[200] = "";

		assert_int_equal(foliofs_mount_parse(bad[i][0], &g, err, sizeof(err)), -EINVAL);
		assert_string_equal(err, bad[i][1]);
		assert_int_equal(g.mount.commit_interval, 77);
	}
}

static void refused_options(void **state)
{
	(void)state;
	/* options, and what the message must have in it */
	static const char *const bad[][2] = {
		{ "", "size=SIZE is missing" },
		{ "-b 1024", "size=SIZE is missing" },
		{ "size=0", "size:" },
		{ "size=12q", "size:" },
		{ "size=64M extra", "'extra'" },
		{ "size=64M -b", "-b needs an argument" },
		{ "size=64M -b 1000", "-b:" },
		{ "size=64M -b 3000", "-b:" },
		{ "size=64M -b 131072", "-b:" },
		{ "size=64M -Q", "unknown option -Q" },
		{ "size=64M -O nosuch", "unknown feature 'nosuch'" },
		{ "size=64M -O has_journal,^nosuch2", "unknown feature 'nosuch2'" },
		{ "size=64M -O journal_dev", "'journal_dev'" },
		{ "size=64M -O needs_recovery", "'needs_recovery'" },
		{ "size=64M -O ^extent", "64bit needs extent" },
		{ "size=64M -O meta_bg", "meta_bg and resize_inode" },
		{ "size=64M -O ^sparse_super", "resize_inode needs sparse_super" },
		{ "size=64M -O bigalloc -C 1M -b 1024 -J size=99999", "-J size" },
		{ "size=64M -C 16384", "-C:" },
		{ "size=64M -b 4096 -O bigalloc -C 2048", "-C:" },
		{ "size=64M -O ^flex_bg -G 16", "-G:" },
		{ "size=64M -G 3", "-G:" },
		{ "size=64M -i 12", "-i:" },
		{ "size=64M -I 300", "-I:" },
		{ "size=64M -I 128 -O inline_data", "-I:" },
		{ "size=64M -N 1000000", "-N:" },
		{ "size=64M -g 1001", "-g:" },
		{ "size=64M -g 128", "-g:" },
		{ "size=64M -m 60", "-m:" },
		{ "size=64M -m x", "-m:" },
		{ "size=64M -b 4096 -J size=1", "-J size" },
		{ "size=64M -J size=50", "-J size" },
		{ "size=64M -J siz=4", "'siz'" },
		{ "size=64M -J device=x", "-J device" },
		{ "size=64M -E stride=x", "-E stride" },
		{ "size=64M -E foo=1", "'foo'" },
		{ "size=64M -E packed_meta_blocks=1", "packed_meta_blocks" },
		{ "size=64M -E resize=1M", "-E resize" },
		{ "size=64M -E hash_seed=12", "-E hash_seed" },
		{ "size=64M -T nosuch", "'nosuch'" },
		{ "size=64M -t xfs", "-t:" },
		{ "size=64M -O ^has_journal,orphan_file", "orphan_file needs has_journal" },
		{ "size=20k", "size:" },
		{ "size=17T -O ^64bit", "32 bits" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct foliofs_geometry g = { 0 };
		char err[200] = "";

		assert_int_equal(foliofs_geometry_from_mkfs(bad[i][0], &g, err, sizeof(err)),
				 -EINVAL);
		if (!strstr(err, bad[i][1]))
			fail_msg("'%s': expected '%s' in '%s'", bad[i][0], bad[i][1], err);
	}
}

static void disk_features(void **state)
{
	uint32_t f;
	char err[100];

	(void)state;
	assert_int_equal(foliofs_features_from_disk(0x4, 0x2c6, 0x400, &f, err, sizeof(err)), 0);
	assert_int_equal(f, FOLIOFS_FEATURE_HAS_JOURNAL | FOLIOFS_FEATURE_FILETYPE |
				    FOLIOFS_FEATURE_EXTENTS | FOLIOFS_FEATURE_64BIT |
				    FOLIOFS_FEATURE_FLEX_BG | FOLIOFS_FEATURE_METADATA_CSUM);
	assert_int_equal(foliofs_features_from_disk(0, 1u << 27, 0, &f, err, sizeof(err)), -EINVAL);
	assert_string_equal(err, "unknown feature FEATURE_I27");
	assert_int_equal(foliofs_features_from_disk(0, 1, 0, &f, err, sizeof(err)), -EINVAL);
	assert_string_equal(err, "feature compression is not modelled");
	assert_int_equal(foliofs_feature_find("orphan_present", &f), 0);
	assert_int_equal(f, 0);
	assert_int_equal(foliofs_feature_find("nosuch", &f), -ENOENT);
}

static const char meta_head[] =
	"kernel: \"6.18.44\"\npage_size: 4096\nimage_size: 67108864\n"
	"mke2fs: \"-F -E hash_seed=6f6c696f-6669-4d73-8a6d-0000000000a5 -b 1024 -J size=1\"\n"
	"mount: \"nodelalloc,commit=300\"\n";

/* Load a meta.yaml of meta_head and @more. */
static int load_meta(const char *more, struct geometry_meta *m, struct foliofs_geometry *g,
		     char *err, size_t errlen)
{
	char path[] = "/tmp/foliofs-meta-XXXXXX";
	int fd = mkstemp(path), ret;
	FILE *f;

	assert_true(fd >= 0);
	f = fdopen(fd, "w");
	assert_non_null(f);
	fprintf(f, "%s%s", meta_head, more);
	fclose(f);
	ret = geometry_meta_load(path, m, g, err, errlen);
	unlink(path);
	if (ret) /* the name of the file is not the same in every run */
		memmove(err, err + strlen(path), strlen(err) - strlen(path) + 1);
	return ret;
}

static void meta(void **state)
{
	struct geometry_meta m;
	struct foliofs_geometry g;
	char err[300] = "";

	(void)state;
	assert_int_equal(load_meta("inodes_per_group: 1024\nread_ahead_kb: 256\n"
				   "queue: {max_sectors_kb: 1280}\nmax_transaction_blocks: 341\n"
				   "files:\n  f: 12\n  a: 13\n",
				   &m, &g, err, sizeof(err)), 0);
	assert_string_equal(m.kernel, "6.18.44");
	assert_int_equal(g.groups, 8);
	assert_int_equal(g.journal_blocks, 1024);
	assert_int_equal(g.inodes_per_group, 1024); /* listed wins: computed is 2048 */
	assert_int_equal(g.read_ahead_kb, 256);
	assert_int_equal(g.io_opt_pages, 320);
	assert_int_equal(g.hash_seed[0], 0x6f);
	assert_int_equal(g.hash_seed[15], 0xa5);
	assert_true(g.mount.nodelalloc);
	assert_int_equal(g.mount.commit_interval, 300);
	assert_int_equal(m.max_transaction_blocks, 341);
	assert_int_equal(m.nr_files, 2);
	assert_string_equal(m.files[1].name, "a");
	assert_int_equal(m.files[1].ino, 13);
	assert_true(HAS(&g, METADATA_CSUM));
	geometry_meta_free(&m);
}

static void refused_meta(void **state)
{
	static const char *const bad[][2] = {
		{ "groups: many\n",
		  ":6:9: groups: expected a number up to 4294967295, got 'many'" },
		{ "groups: 9\n", ":6:9: groups: expected 8, got 9" },
		{ "features: [has_journal, nosuch]\n",
		  ":6:25: features: unknown feature 'nosuch'" },
		{ "groups: [1, 2\n", ":" },
		{ "page_size: 4096\n", ":6:12: key given twice, got 'page_size'" },
		{ "fs: btrfs\n", ":6:5: fs: expected ext4, xfs or tmpfs, got 'btrfs'" },
		{ "files: {f: x}\n",
		  ":6:12: files.f: expected a number up to 4294967295, got 'x'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct geometry_meta m;
		struct foliofs_geometry g;
		char err[300] = "";

		assert_int_equal(load_meta(bad[i][0], &m, &g, err, sizeof(err)), -EINVAL);
		if (strcmp(bad[i][1], ":"))
			assert_string_equal(err, bad[i][1]);
	}
}

static void command_line(void **state)
{
	struct geometry_args a = { 0 };
	struct foliofs_geometry g;
	char err[300] = "";

	(void)state;
	assert_int_equal(geometry_option(&a, 'x', NULL), 1);
	assert_false(geometry_given(&a));
	assert_int_equal(geometry_option(&a, GEOMETRY_OPT_MKFS, "size=64M -b 1024"), 0);
	assert_int_equal(geometry_option(&a, GEOMETRY_OPT_META, "x"), -EINVAL);
	assert_int_equal(geometry_option(&a, GEOMETRY_OPT_MOUNT, "nodelalloc"), 0);
	assert_int_equal(geometry_option(&a, GEOMETRY_OPT_PAGE_SIZE, "8k"), -EINVAL);
	assert_string_equal(a.error, "--page-size: expected 4k, 16k or 64k, got '8k'");
	assert_int_equal(geometry_option(&a, GEOMETRY_OPT_PAGE_SIZE, "64k"), 0);
	assert_int_equal(geometry_load(&a, &g, err, sizeof(err)), 0);
	assert_int_equal(g.page_size, 65536);
	assert_int_equal(g.groups, 8);
	assert_true(g.mount.nodelalloc);
	a = (struct geometry_args){ .image = "/nonexistent/image" };
	assert_int_equal(geometry_load(&a, &g, err, sizeof(err)), -EINVAL);
	assert_string_equal(err, "/nonexistent/image: No such file or directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(journal_lengths),  cmocka_unit_test(fast_commit_lengths),
		cmocka_unit_test(measured_geometries), cmocka_unit_test(layout_by_hand),
		cmocka_unit_test(orphan_file_inode), cmocka_unit_test(sizes),
		cmocka_unit_test(mount_options),    cmocka_unit_test(refused_mounts),
		cmocka_unit_test(refused_options),  cmocka_unit_test(disk_features),
		cmocka_unit_test(meta),		    cmocka_unit_test(refused_meta),
		cmocka_unit_test(command_line),
	};

	return cmocka_run_group_tests_name("geometry", tests, NULL, NULL);
}
