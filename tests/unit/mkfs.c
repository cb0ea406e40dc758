// SPDX-License-Identifier: MIT
/*
 * The computed geometry and layout against the installed mke2fs: for every option
 * set a file system is made on a sparse file, read back with libext2fs, and every
 * number and every bit of the block bitmaps is compared.  Then refusals, and
 * literal numbers that need no mke2fs.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <ext2fs/ext2fs.h>
#include <foliofs/mkfs.h>
#include "geometry/geometry_image.h"
#include "kernel/groups.h"
#include "kernel/layout.h"
#include "kernel/mkfs.h"

static char dir[200];
static char image[sizeof(dir) + 8], config_path[sizeof(dir) + 8];

static const char *const sets[] = {
	"size=64M",
	"size=64M -b 4096",
	"size=2M",
	"size=700M",
	"size=1500M -b 2048",
	"size=5G",
	"size=20G -b 1024 -J size=1 -i 1048576",
	"size=20G -b 1024",
	"size=20G -b 4096",
	"size=64M -b 1024 -O ^has_journal",
	"size=64M -b 4096 -O ^flex_bg",
	"size=600M -b 1024 -O ^flex_bg -E stride=16,stripe_width=64",
	"size=600M -b 1024 -O ^resize_inode",
	"size=3G -b 1024 -O meta_bg,^resize_inode",
	"size=3G -b 1024 -O meta_bg,^resize_inode,^flex_bg",
	"size=1G -b 1024 -O sparse_super2",
	"size=1G -b 1024 -O sparse_super2,^resize_inode -E num_backup_sb=1",
	"size=1G -b 1024 -O sparse_super2,^resize_inode -E num_backup_sb=0",
	"size=64M -b 1024 -O ^sparse_super,^resize_inode",
	"size=2G -b 1024 -O ^sparse_super,^resize_inode -J size=128",
	"size=12G -b 1024 -O ^sparse_super,^resize_inode,^flex_bg -J size=1000",
	"size=256M -b 4096 -O bigalloc -C 16384",
	"size=256M -b 4096 -O bigalloc -C 65536",
	"size=64M -b 1024 -O bigalloc",
	"size=3G -b 2048 -O bigalloc -C 8k -N 4000",
	"size=20G -O bigalloc,fast_commit -C 1M",
	"size=64M -b 4096 -O ^extent,^64bit",
	"size=900M -b 1024 -O ^extent,^64bit",
	"size=400M -t ext3 -b 1024 -J size=40",
	"size=400M -t ext2",
	"size=64M -b 4096 -O orphan_file",
	"size=800M -b 1024 -O orphan_file -E orphan_file_size=300",
	"size=800M -b 1024 -O orphan_file,^extent,^64bit -E orphan_file_size=300",
	"size=64M -b 1024 -O orphan_file,bigalloc -C 4096",
	"size=4G -b 1024 -O orphan_file,^flex_bg -E orphan_file_size=80M",
	"size=8G -b 1024 -O orphan_file,bigalloc -C 4096 -E orphan_file_size=60M",
	"size=64M -b 1024 -O inline_data",
	"size=64M -b 4096 -O inline_data",
	"size=64M -b 4096 -O ^64bit",
	"size=64M -b 1024 -O ^metadata_csum,uninit_bg -I 128",
	"size=1G -b 4096 -O fast_commit -J size=16",
	"size=300M -b 1024 -O fast_commit -J size=2",
	"size=300M -b 1024 -O fast_commit -J size=2,fast_commit_size=512",
	"size=300M -O fast_commit",
	"size=500M -b 1024 -g 4096 -G 4 -N 30000",
	"size=500M -b 1024 -g 1000",
	"size=500M -b 1024 -G 1 -I 512 -m 1.5",
	"size=500M -b 1024 -G 64 -m 0",
	"size=500M -b 1024 -E resize=10G",
	"size=500M -b 1024 -O quota",
	"size=500M -b 4096 -O quota,project",
	"size=500M -b 2048 -O quota -E quotatype=usrquota:prjquota",
	"size=64M -b 4096 -O mmp",
	"size=1G -b 8192 -F",
	"size=4G -b 65536 -F",
	"size=1G -T news",
	"size=1G -T largefile4",
	"size=1000000 -T largefile4 -O bigalloc -E resize=1t",
	"size=500M -b 1024 -t ext3 -E resize=3g",
	"size=64M -b -4096",
	"size=67891234",
	"size=8585217k -b 1024 -J size=1", /* a last group too small */
	"size=100M -b 1024 -i 1024",
	"size=300M -b 4096 -i 1024 -I 128",
	"size=343G -b 4096 -J size=4 -i 8388608",
	"size=16T -b 4096 -i 67108864",
	"size=17T -i 67108864",
};

/* The defaults that the model has; the machine's own file may say something else. */
static const char config[] =
	"[defaults]\n"
	"base_features = sparse_super,large_file,filetype,resize_inode,dir_index,ext_attr\n"
	"blocksize = 4096\ninode_size = 256\ninode_ratio = 16384\n"
	"[fs_types]\n"
	"ext3 = {\nfeatures = has_journal\n}\n"
	"ext4 = {\nfeatures = has_journal,extent,huge_file,flex_bg,metadata_csum,64bit,"
	"dir_nlink,extra_isize\n}\n"
	"small = {\nblocksize = 1024\ninode_ratio = 4096\n}\n"
	"floppy = {\nblocksize = 1024\ninode_ratio = 8192\n}\n"
	"big = {\ninode_ratio = 32768\n}\n"
	"huge = {\ninode_ratio = 65536\n}\n"
	"news = {\ninode_ratio = 4096\n}\n"
	"largefile4 = {\ninode_ratio = 4194304\nblocksize = -1\n}\n";

static int write_config(const char *path)
{
	FILE *f = fopen(path, "w");

	if (!f)
		return -1;
	fputs(config, f);
	return fclose(f) ? -1 : setenv("MKE2FS_CONFIG", path, 1);
}

#define same(a, b) assert_int_equal((uint64_t)(a), (uint64_t)(b))

static uint32_t ratio_log2(const struct foliofs_geometry *g)
{
	return (uint32_t)__builtin_ctz(g->cluster_ratio);
}

static void compare_super(const struct foliofs_geometry *g, ext2_filsys fs)
{
	const struct ext2_super_block *s = fs->super;
	uint32_t features;
	char err[200] = "";

	same(g->block_size, fs->blocksize);
	same(g->cluster_ratio, EXT2FS_CLUSTER_RATIO(fs));
	same(ratio_log2(g), fs->cluster_ratio_bits);
	same(g->blocks_count, ext2fs_blocks_count(fs->super));
	same(g->first_data_block, s->s_first_data_block);
	same(g->blocks_per_group, s->s_blocks_per_group);
	same(g->clusters_per_group, s->s_clusters_per_group);
	same(g->groups, fs->group_desc_count);
	same(g->desc_size, EXT2_DESC_SIZE(fs->super));
	same(g->gdb_count, fs->desc_blocks);
	same(g->reserved_gdt_blocks, s->s_reserved_gdt_blocks);
	same(g->flex_bg_size, 1u << s->s_log_groups_per_flex);
	same(g->inode_size, s->s_inode_size);
	same(g->inodes_per_group, s->s_inodes_per_group);
	same((uint64_t)g->inodes_per_group * g->groups, s->s_inodes_count);
	same(g->first_meta_bg, s->s_first_meta_bg);
	same(g->r_blocks_count, ext2fs_r_blocks_count(fs->super));
	same(g->raid_stride, s->s_raid_stride);
	same(g->raid_stripe_width, s->s_raid_stripe_width);
	if (foliofs_has_feature(g, FOLIOFS_FEATURE_SPARSE_SUPER2)) {
		same(g->backup_bgs[0], s->s_backup_bgs[0]);
		same(g->backup_bgs[1], s->s_backup_bgs[1]);
	}
	same(foliofs_features_from_disk(s->s_feature_compat, s->s_feature_incompat,
					s->s_feature_ro_compat, &features, err, sizeof(err)), 0);
	same(g->features, features);
}

static uint64_t file_block(ext2_filsys fs, uint32_t ino, uint32_t lblk)
{
	blk64_t blk = 0;

	same(ext2fs_bmap2(fs, ino, NULL, NULL, 0, lblk, NULL, &blk), 0);
	return blk;
}

/* The file's blocks, and that it ends where it should. */
static void compare_file(ext2_filsys fs, uint32_t ino, const struct ffs_layout_file *f)
{
	struct ext2_inode inode;
	uint32_t blocks;

	same(ext2fs_read_inode(fs, ino, &inode), 0);
	blocks = (uint32_t)(EXT2_I_SIZE(&inode) / fs->blocksize);
	for (uint32_t i = 0; i < blocks; i += i < 2000 ? 1 : 67)
		same(ffs_layout_file_block(f, i), file_block(fs, ino, i));
	same(ffs_layout_file_block(f, blocks), 0);
}

static void compare_journal(const struct foliofs_geometry *g, const struct ffs_layout *l,
			    ext2_filsys fs)
{
	const struct ffs_layout_file *f = ffs_layout_journal(l);
	unsigned char sb[1024];
	int fd;

	if (!foliofs_has_feature(g, FOLIOFS_FEATURE_HAS_JOURNAL)) {
		same(g->journal_blocks, 0);
		same(f->count, 0);
		return;
	}
	compare_file(fs, FFS_JOURNAL_INO, f);
	fd = open(image, O_RDONLY);
	assert_true(fd >= 0);
	same(pread(fd, sb, sizeof(sb), (off_t)(f->ranges[0].first * g->block_size)), sizeof(sb));
	close(fd);
	/* s_maxlen and s_num_fc_blks of the journal's superblock, big endian */
	same(g->journal_blocks, (uint32_t)sb[16] << 24 | sb[17] << 16 | sb[18] << 8 | sb[19]);
	same(g->fast_commit_blocks, (uint32_t)sb[84] << 24 | sb[85] << 16 | sb[86] << 8 | sb[87]);
}

static void compare_group(const struct foliofs_geometry *g, const struct ffs_layout *l,
			  ext2_filsys fs, uint32_t group)
{
	struct ffs_blk_range used[64];
	uint32_t n = ffs_layout_used(l, group, used, 64);
	uint64_t blk = ffs_group_first(g, group), end = ffs_group_end(g, group);

	same(ffs_layout_block_bitmap(l, group), ext2fs_block_bitmap_loc(fs, group));
	same(ffs_layout_inode_bitmap(l, group), ext2fs_inode_bitmap_loc(fs, group));
	same(ffs_layout_inode_table(l, group), ext2fs_inode_table_loc(fs, group));
	same(ffs_layout_block_uninit(l, group),
	     !!ext2fs_bg_flags_test(fs, group, EXT2_BG_BLOCK_UNINIT));
	same(ffs_layout_inode_uninit(l, group),
	     !!ext2fs_bg_flags_test(fs, group, EXT2_BG_INODE_UNINIT));
	same(g->inodes_per_group - ffs_layout_used_inodes(l, group),
	     ext2fs_bg_free_inodes_count(fs, group));
	same(ffs_layout_dirs(l, group), ext2fs_bg_used_dirs_count(fs, group));
	assert_true(n <= 64);
	/* the blocks between the used ranges are free, those in them are not */
	for (uint32_t i = 0; i <= n; i++) {
		uint64_t stop = i < n ? used[i].first : end;
		blk64_t hit;

		if (stop > blk)
			same(ext2fs_find_first_set_block_bitmap2(fs->block_map, blk, stop - 1,
								 &hit), ENOENT);
		if (i < n) {
			assert_true(used[i].first < used[i].end && used[i].end <= end);
			assert_true(i == 0 || used[i].first > blk);
			same(ext2fs_find_first_zero_block_bitmap2(fs->block_map, used[i].first,
								  used[i].end - 1, &hit), ENOENT);
			blk = used[i].end;
		}
	}
}

static void compare_layout(const struct foliofs_geometry *g, ext2_filsys fs)
{
	struct ffs_layout *l = ffs_layout_new(g);
	uint32_t orphan = fs->super->s_orphan_file_inum;

	assert_non_null(l);
	for (uint32_t group = 0; group < g->groups; group++)
		compare_group(g, l, fs, group);
	/* for 1K blocks with bigalloc libext2fs has only the first one right */
	for (uint32_t i = 0; i < (g->cluster_ratio > 1 && g->block_size == 1024 ?
					  1 : fs->desc_blocks); i++)
		same(ffs_layout_descriptor(l, i * ffs_descs_per_block(g)),
		     ext2fs_descriptor_block_loc2(fs, fs->super->s_first_data_block, i));
	compare_file(fs, FFS_ROOT_INO, ffs_layout_root(l));
	compare_file(fs, FFS_LOST_FOUND_INO, ffs_layout_lost_found(l));
	compare_journal(g, l, fs);
	same(ffs_layout_orphan_ino(l), orphan);
	if (orphan)
		compare_file(fs, orphan, ffs_layout_orphan(l));
	same(ffs_layout_free_inodes(l), fs->super->s_free_inodes_count);
	for (uint32_t i = 1; i < ffs_layout_first_inode(l); i++)
		assert_true(ext2fs_test_inode_bitmap2(fs->inode_map, i));
	assert_false(ext2fs_test_inode_bitmap2(fs->inode_map, ffs_layout_first_inode(l)));
	if (!foliofs_has_feature(g, FOLIOFS_FEATURE_BIGALLOC))
		same(ffs_layout_free_blocks(l), ext2fs_free_blocks_count(fs->super));
	ffs_layout_free(l);
}

/* Make the file system with the installed mke2fs: 0, or -1 if no file is that large here. */
static int run_mke2fs(const char *options)
{
	char command[800];
	uint64_t size;
	int n = 0, fd;
	char *text = strdup(options), *rest;

	assert_non_null(text);
	rest = text + strcspn(text, " ");
	if (*rest)
		*rest++ = 0;
	same(foliofs_parse_size(text + 5, &size), 0);
	unlink(image);
	fd = open(image, O_CREAT | O_RDWR, 0600);
	assert_true(fd >= 0);
	if (ftruncate(fd, (off_t)size)) {
		close(fd);
		free(text);
		return -1;
	}
	close(fd);
	n = snprintf(command, sizeof(command), "mke2fs -q %s %s %s </dev/null >/dev/null 2>&1",
		     strstr(rest, "-t ") ? "" : "-t ext4", rest, image);
	free(text);
	assert_true(n > 0 && (size_t)n < sizeof(command));
	if (system(command))
		fail_msg("%s failed", command);
	return 0;
}

/* What geometry_from_image() reads is what was computed. */
static void compare_image(const struct foliofs_geometry *g)
{
	struct foliofs_geometry read = { .page_size = g->page_size,
					 .read_ahead_kb = g->read_ahead_kb,
					 .io_opt_pages = g->io_opt_pages,
					 .mount = g->mount };
	char mount[256], err[300] = "";

	if (geometry_from_image(image, &read, mount, sizeof(mount), err, sizeof(err)))
		fail_msg("%s", err);
	assert_string_equal(mount, "defaults");
	memcpy(read.hash_seed, g->hash_seed, sizeof(read.hash_seed)); /* random without -E */
	assert_memory_equal(&read, g, sizeof(read));
}

/* A feature that nobody knows is named, and so is one that is known but not modelled. */
static void unknown_feature(void **state)
{
	static const struct {
		off_t offset; /* of the byte in the superblock */
		unsigned char bits;
		const char *message;
	} rows[] = {
		{ 0x60 + 3, 0x08, ": unknown feature FEATURE_I27" },
		{ 0x64 + 3, 0x80, ": unknown feature FEATURE_R31" },
		{ 0x60, 0x01, ": feature compression is not modelled" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct foliofs_geometry g = { .page_size = 4096 };
		char mount[256], err[300] = "";
		unsigned char byte;
		int fd;

		if (run_mke2fs("size=64M -b 1024 -O ^metadata_csum"))
			skip();
		fd = open(image, O_RDWR);
		assert_true(fd >= 0);
		same(pread(fd, &byte, 1, 1024 + rows[i].offset), 1);
		byte |= rows[i].bits;
		same(pwrite(fd, &byte, 1, 1024 + rows[i].offset), 1);
		close(fd);
		assert_int_equal(geometry_from_image(image, &g, mount, sizeof(mount), err,
						     sizeof(err)), -EINVAL);
		assert_string_equal(err + strlen(image), rows[i].message);
	}
}

static void compare_with_mke2fs(void **state)
{
	const char *options = *state;
	struct foliofs_geometry g = { .page_size = 4096 };
	char err[200] = "";
	ext2_filsys fs;

	if (run_mke2fs(options)) {
		print_message("%s: no file is that large here\n", options);
		skip();
	}
	if (foliofs_geometry_from_mkfs(options, &g, err, sizeof(err)))
		fail_msg("%s: %s", options, err);
	same(ext2fs_open(image, EXT2_FLAG_64BITS, 0, 0, unix_io_manager, &fs), 0);
	same(ext2fs_read_bitmaps(fs), 0);
	compare_super(&g, fs);
	compare_layout(&g, fs);
	ext2fs_close_free(&fs);
	compare_image(&g);
}

int main(void)
{
	struct CMUnitTest tests[sizeof(sets) / sizeof(*sets) + 1];
	size_t n = sizeof(sets) / sizeof(*sets);
	const char *tmp = getenv("TMPDIR");
	int ret;

	if (system("mke2fs -V >/dev/null 2>&1")) {
		printf("skipped: there is no mke2fs\n");
		return 77;
	}
	snprintf(dir, sizeof(dir), "%.150s/foliofs-mkfs-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		return 1;
	snprintf(image, sizeof(image), "%s/image", dir);
	snprintf(config_path, sizeof(config_path), "%s/conf", dir);
	if (write_config(config_path))
		return 1;
	for (size_t i = 0; i < n; i++)
		tests[i] = (struct CMUnitTest){ sets[i], compare_with_mke2fs, NULL, NULL,
						(void *)(uintptr_t)sets[i] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(unknown_feature);
	ret = _cmocka_run_group_tests("mkfs", tests, n, NULL, NULL);
	unlink(image);
	unlink(config_path);
	rmdir(dir);
	return ret;
}
