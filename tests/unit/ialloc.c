// SPDX-License-Identifier: MIT
/*
 * Inode numbers: hashes of names as debugfs prints them, numbers that 6.18 gave.
 */
#include <dirent.h>
#include <zlib.h>
#include "alloc_common.h"

static void test_hash(void **state UNUSED)
{
	static const u8 none[16];
	/* 6f6c696f-6669-4d73-8a6d-0000000000a5 */
	static const u8 seed[16] = { 0x6f, 0x6c, 0x69, 0x6f, 0x66, 0x69, 0x4d, 0x73,
				     0x8a, 0x6d, 0,    0,    0,	   0,	 0,    0xa5 };
	static const struct {
		const char *name;
		u32 seeded, plain;
	} names[] = {
		{ "a", 0x932ac570, 0xd5fa7d7a },
		{ "dir1", 0xd8e56e0e, 0x9e0931a6 },
		{ "lost+found", 0xffabab76, 0x591de422 },
		{ "0123456789012345678901234567890123456789", 0xf49d63f4, 0x3aae8528 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		const char *n = names[i].name;

		assert_int_equal(ffs_half_md4(seed, n, strlen(n)), names[i].seeded);
		assert_int_equal(ffs_half_md4(none, n, strlen(n)), names[i].plain);
	}
}

static const struct ffs_inode root = { .ino = 2, .mode = FFS_S_IFDIR, .flags = FFS_INODE_EXTENTS };

static u32 make(struct fs *fs, const struct ffs_inode *parent, u32 mode, const char *name)
{
	u32 ino = 0;

	assert_int_equal(ffs_new_inode_number(fs->a, &fs->h, parent, mode, name, &ino), 0);
	return ino;
}

static void test_first(void **state UNUSED)
{
	struct fs *fs = fs_new("size=64M -b 1024");

	assert_int_equal(make(fs, &root, FFS_S_IFREG, "a"), 12);
	/* inode bitmap and descriptor of group 0 */
	assert_int_equal(nr_dirtied, 2);
	assert_int_equal(dirtied[0], ffs_inode_bitmap_block(fs->a, 0));
	assert_int_equal(dirtied[1], ffs_descriptor_block(fs->a, 0));
	assert_int_equal(make(fs, &root, FFS_S_IFREG, "b"), 13);
	/* a freed number is used again at once */
	ffs_free_inode_number(fs->a, &fs->h, 12, false);
	assert_int_equal(make(fs, &root, FFS_S_IFREG, "c"), 12);
	fs_free(fs);

	fs = fs_new("size=64M -b 4096 -O orphan_file");
	assert_int_equal(make(fs, &root, FFS_S_IFREG, "a"), 13);
	fs_free(fs);
}

/* One flex group: the stale average is passed until the first inode is taken. */
static void test_mkdir(void **state UNUSED)
{
	struct fs *fs = fs_new("size=64M -b 1024");

	assert_int_equal(make(fs, &root, FFS_S_IFDIR, "d"), 12);
	fs_free(fs);
	fs = fs_new("size=64M -b 1024");
	assert_int_equal(make(fs, &root, FFS_S_IFREG, "a"), 12);
	reset_journal();
	assert_int_equal(make(fs, &root, FFS_S_IFDIR, "d"), 2049);
	assert_int_equal(dirtied[0], ffs_inode_bitmap_block(fs->a, 1));
	fs_free(fs);
}

/* The block bitmap of a group that mke2fs left uninitialised goes to disk with its first inode. */
static void test_block_uninit(void **state UNUSED)
{
	struct fs *fs = fs_new("size=512M -b 1024 -O ^flex_bg");
	struct ffs_inode parent = root;
	u32 group;

	for (group = 1; !(fs->a->group[group].flags & FFS_GROUP_BLOCK_UNINIT); group++)
		assert_true(group + 1 < fs->a->groups);
	parent.ino = group * fs->env.geo.inodes_per_group + 1;
	make(fs, &parent, FFS_S_IFREG, "a");
	assert_int_equal(nr_dirtied, 3);
	assert_int_equal(dirtied[1], ffs_bitmap_block(fs->a, group));
	make(fs, &parent, FFS_S_IFREG, "b");
	assert_int_equal(nr_dirtied, 5);
	fs_free(fs);
}

/* Without a journal a number rests for a while, unless it was freed in this second. */
static void test_recently_deleted(void **state UNUSED)
{
	struct fs *fs = fs_new("size=64M -b 4096 -O ^has_journal");

	fs->env.now_ns = 100500000000ull;
	assert_int_equal(make(fs, &root, FFS_S_IFREG, "a"), 12);
	assert_int_equal(make(fs, &root, FFS_S_IFREG, "b"), 13);
	ffs_free_inode_number(fs->a, &fs->h, 12, false);
	assert_int_equal(make(fs, &root, FFS_S_IFREG, "c"), 12);
	ffs_free_inode_number(fs->a, &fs->h, 12, false);
	fs->env.now_ns += 1200000000ull;
	assert_int_equal(make(fs, &root, FFS_S_IFREG, "d"), 14);
	fs->env.now_ns += 361000000000ull;
	assert_int_equal(make(fs, &root, FFS_S_IFREG, "e"), 12);
	fs_free(fs);
}

static void test_full(void **state UNUSED)
{
	struct fs *fs = fs_new("size=16M -b 4096 -N 64");
	u32 n = 64 - 11, ino;

	assert_int_equal(fs->env.geo.inodes_per_group, 64);
	while (n--)
		make(fs, &root, FFS_S_IFREG, "f");
	assert_int_equal(ffs_new_inode_number(fs->a, &fs->h, &root, FFS_S_IFREG, "f", &ino),
			 -ENOSPC);
	assert_int_equal(ffs_new_inode_number(fs->a, &fs->h, &root, FFS_S_IFDIR, "d", &ino),
			 -ENOSPC);
	fs_free(fs);
}

/*
 * Lists of what was made and removed on a running 6.18, with the inode numbers:
 * first line the options of mke2fs, then "mkdir|create|unlink PARENT NAME INO".
 */
static void list(const char *path)
{
	char line[512], op[16], name[64];
	unsigned int parent, ino, n = 1;
	gzFile f = gzopen(path, "rb");
	struct fs *fs;

	assert_non_null(f);
	assert_non_null(gzgets(f, line, sizeof(line)));
	line[strcspn(line, "\n")] = 0;
	fs = fs_new(line);
	while (gzgets(f, line, sizeof(line))) {
		struct ffs_inode dir = root, self = root;
		bool mkdir;
		u32 got;
		int err;

		n++;
		assert_int_equal(sscanf(line, "%15s %u %63s %u", op, &parent, name, &ino), 4);
		if (!strcmp(op, "unlink")) {
			ffs_free_inode_number(fs->a, &fs->h, ino, false);
			continue;
		}
		mkdir = !strcmp(op, "mkdir");
		dir.ino = parent;
		got = make(fs, &dir, mkdir ? FFS_S_IFDIR : FFS_S_IFREG, name);
		if (got != ino)
			fail_msg("%s:%u: got %u, kernel: %s", path, n, got, line);
		self.ino = got;
		if (mkdir) /* its first block counts in the averages */
			ffs_alloc_meta_block(fs->a, &fs->h, &self, ffs_inode_goal(fs->a, &self), 0,
					     &err);
	}
	gzclose(f);
	fs_free(fs);
}

static void test_lists(void **state UNUSED)
{
	DIR *d = opendir(SOURCE_DIR "/tests/data/alloc/inodes");
	struct dirent *e;
	u32 n = 0;

	assert_non_null(d);
	while ((e = readdir(d))) {
		char path[512];

		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/tests/data/alloc/inodes/%s", SOURCE_DIR, e->d_name);
		list(path);
		n++;
	}
	closedir(d);
	assert_int_equal(n, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hash),
		cmocka_unit_test(test_first),
		cmocka_unit_test(test_mkdir),
		cmocka_unit_test(test_block_uninit),
		cmocka_unit_test(test_recently_deleted),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
