// SPDX-License-Identifier: MIT
/*
 * Rules that no switch breaks, broken by hand; what the rules of content say of writes, holes and
 * moved ranges that are as they have to be: nothing.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include <foliofs/mkfs.h>

#include "fs/fs.h"

static struct foliofs_fs *fresh(const char *kernel)
{
	const struct foliofs_options o = { .rules = true };
	struct foliofs_geometry g = { .page_size = 4096 };
	struct foliofs_kernel k;
	struct foliofs_fs *fs;
	char err[256] = "";

	assert_int_equal(foliofs_kernel_parse(kernel, &k, err, sizeof(err)), 0);
	assert_int_equal(foliofs_geometry_from_mkfs("size=64M -b 4096", &g, err, sizeof(err)), 0);
	assert_int_equal(foliofs_mount_parse("", &g, err, sizeof(err)), 0);
	assert_int_equal(foliofs_fs_new(&k, &g, &o, &fs, err, sizeof(err)), 0);
	return fs;
}

static int64_t run(struct foliofs_fs *fs, struct foliofs_op op)
{
	static uint32_t id;

	op.id = ++id;
	op.file2 = -1;
	return foliofs_fs_run(fs, &op);
}

static struct ffs_inode *written(struct foliofs_fs *fs)
{
	assert_true(run(fs, (struct foliofs_op){ .kind = FOLIOFS_OP_OPEN, .path = "a",
						  .flags = FOLIOFS_O_CREAT, .mode = 0644 }) > 0);
	assert_int_equal(run(fs, (struct foliofs_op){ .kind = FOLIOFS_OP_WRITE, .len = 65536 }),
			 65536);
	return ffs_file(&fs->ops, 0)->inode;
}

static void expect_rule(struct foliofs_fs *fs, enum foliofs_rule rule)
{
	assert_int_equal(foliofs_fs_broken(fs), 1);
	assert_int_equal(foliofs_fs_broken_at(fs, 0)->rule, rule);
	foliofs_fs_free(fs);
}

static void reserved_count(void **state)
{
	struct foliofs_fs *fs = fresh("v6.18");
	struct ffs_inode *inode = written(fs);

	(void)state;
	inode->reserved++;
	run(fs, (struct foliofs_op){ .kind = FOLIOFS_OP_FALLOCATE, .off = 1 << 20, .len = 4096 });
	assert_string_equal(foliofs_fs_broken_at(fs, 0)->text, "16 blocks are delayed, 17 reserved");
	inode->reserved--;
	expect_rule(fs, FOLIOFS_RULE_RESERVED_COUNT);
}

static void disksize(void **state)
{
	struct foliofs_fs *fs = fresh("v6.18");
	struct ffs_inode *inode = written(fs);

	(void)state;
	inode->i_disksize = 65537;
	run(fs, (struct foliofs_op){ .kind = FOLIOFS_OP_READ, .len = 1 });
	assert_string_equal(foliofs_fs_broken_at(fs, 0)->text,
			    "i_disksize 65537 exceeds i_size 65536");
	expect_rule(fs, FOLIOFS_RULE_DISKSIZE);
}

/* A byte of the cache that is not what was written. */
static void lost_write(void **state)
{
	struct foliofs_fs *fs = fresh("v6.18");
	struct ffs_inode *inode = written(fs);

	(void)state;
	ffs_content_zero(&inode->mapping->content, 100, 200);
	run(fs, (struct foliofs_op){ .kind = FOLIOFS_OP_READ, .len = 100 });
	assert_int_equal(foliofs_fs_broken(fs), 0);
	run(fs, (struct foliofs_op){ .kind = FOLIOFS_OP_READ, .off = 50, .len = 100 });
	assert_non_null(strstr(foliofs_fs_broken_at(fs, 0)->text, "bytes [100,150) of operation"));
	expect_rule(fs, FOLIOFS_RULE_LOST_WRITE);
}

/* The last write makes the states of the folio's 16 blocks, all dirty; the hole has 2 of them. */
static void dropped_dirty(void **state)
{
	static const char *const kernels[] = { "iomap-next-v2-im-mountopt",
					       "iomap-next-v2-im-mountopt-im-inval-partial" };
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct foliofs_fs *fs = fresh(kernels[i]);

		written(fs);
		run(fs, (struct foliofs_op){ .kind = FOLIOFS_OP_WRITE, .len = 100 });
		assert_int_equal(run(fs, (struct foliofs_op){ .kind = FOLIOFS_OP_FALLOCATE,
				     .flags = FOLIOFS_FALLOC_PUNCH_HOLE | FOLIOFS_FALLOC_KEEP_SIZE,
				     .off = 7000, .len = 10000 }), 0);
		if (i) {
			assert_string_equal(foliofs_fs_broken_at(fs, 0)->text, "bytes [8192,16384) "
					    "have been dropped from the cache and are dirty");
			expect_rule(fs, FOLIOFS_RULE_DROPPED_DIRTY);
		} else {
			assert_int_equal(foliofs_fs_broken(fs), 0);
			foliofs_fs_free(fs);
		}
	}
}

/* Collapse, insert, holes, zeros, truncates, appends: what is read is as it has to be. */
static void clean(void **state)
{
	static const char *const kernels[] = { "v6.1", "v6.12", "v6.16", "v6.18", "v7.0" };
	static const struct foliofs_op ops[] = {
		{ .kind = FOLIOFS_OP_FSYNC },
		{ .kind = FOLIOFS_OP_FALLOCATE, .flags = FOLIOFS_FALLOC_COLLAPSE_RANGE,
		  .off = 8192, .len = 8192 },
		{ .kind = FOLIOFS_OP_READ, .len = 65536 },
		{ .kind = FOLIOFS_OP_FALLOCATE, .flags = FOLIOFS_FALLOC_INSERT_RANGE, .off = 4096,
		  .len = 16384 },
		{ .kind = FOLIOFS_OP_READ, .len = 131072 },
		{ .kind = FOLIOFS_OP_FALLOCATE, .flags = FOLIOFS_FALLOC_PUNCH_HOLE |
		  FOLIOFS_FALLOC_KEEP_SIZE, .off = 30000, .len = 9000 },
		{ .kind = FOLIOFS_OP_FALLOCATE, .flags = FOLIOFS_FALLOC_ZERO_RANGE, .off = 50000,
		  .len = 5000 },
		{ .kind = FOLIOFS_OP_FSYNC },
		{ .kind = FOLIOFS_OP_DROP_CACHES, .flags = 3 },
		{ .kind = FOLIOFS_OP_READ, .len = 131072 },
		{ .kind = FOLIOFS_OP_TRUNCATE, .len = 20001 },
		{ .kind = FOLIOFS_OP_APPEND, .len = 30000 },
		{ .kind = FOLIOFS_OP_TRUNCATE, .len = 100000 },
		{ .kind = FOLIOFS_OP_MTOUCH, .len = 90000, .stride = 7000 },
		{ .kind = FOLIOFS_OP_FSYNC },
		{ .kind = FOLIOFS_OP_DROP_CACHES, .flags = 3 },
		{ .kind = FOLIOFS_OP_READ, .len = 131072 },
	};
	size_t k, i;

	(void)state;
	for (k = 0; k < ARRAY_SIZE(kernels); k++) {
		struct foliofs_fs *fs = fresh(kernels[k]);

		written(fs);
		for (i = 0; i < ARRAY_SIZE(ops); i++)
			assert_true(run(fs, ops[i]) >= 0);
		assert_int_equal(foliofs_fs_broken(fs), 0);
		foliofs_fs_free(fs);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reserved_count), cmocka_unit_test(disksize),
		cmocka_unit_test(lost_write), cmocka_unit_test(dropped_dirty),
		cmocka_unit_test(clean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
