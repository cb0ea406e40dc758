// SPDX-License-Identifier: MIT
/*
 * The rule I13-cut-stays: what breaks it, by a missing patch or by hand on the disk, and what
 * looks like it and is none.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include <foliofs/mkfs.h>

#include "fs/fs.h"

#define IOMAP "iomap-next-v2-im-mountopt" /* on the path without a mount option */

static uint32_t next_id;

static struct foliofs_fs *fresh(const char *kernel, const char *mount)
{
	const struct foliofs_options o = { .rules = true, .crash_states = true };
	struct foliofs_geometry g = { .page_size = 4096 };
	struct foliofs_kernel k;
	struct foliofs_fs *fs;
	char err[256] = "";

	assert_int_equal(foliofs_kernel_parse(kernel, &k, err, sizeof(err)), 0);
	assert_int_equal(foliofs_geometry_from_mkfs("size=64M -b 4096", &g, err, sizeof(err)), 0);
	assert_int_equal(foliofs_mount_parse(mount, &g, err, sizeof(err)), 0);
	assert_int_equal(foliofs_fs_new(&k, &g, &o, &fs, err, sizeof(err)), 0);
	next_id = 0;
	return fs;
}

static void run(struct foliofs_fs *fs, struct foliofs_op op)
{
	op.id = ++next_id;
	assert_true(foliofs_fs_run(fs, &op) >= 0);
}

static void open_file(struct foliofs_fs *fs, int32_t slot, const char *path)
{
	run(fs, (struct foliofs_op){ .kind = FOLIOFS_OP_OPEN, .file = slot, .path = path,
				     .flags = FOLIOFS_O_CREAT, .mode = 0644 });
}

static void write_to(struct foliofs_fs *fs, int32_t slot, uint64_t off, uint64_t len)
{
	run(fs, (struct foliofs_op){ .kind = FOLIOFS_OP_WRITE, .file = slot, .off = off, .len = len });
}

static void simple(struct foliofs_fs *fs, enum foliofs_op_kind kind, uint64_t len)
{
	run(fs, (struct foliofs_op){ .kind = kind, .len = len });
}

static void keep(void *priv, const struct foliofs_broken *b)
{
	if (b->rule == FOLIOFS_RULE_CUT_STAYS)
		*(struct foliofs_broken *)priv = *b;
}

/* What a power cut now says of the rule; "": nothing. */
static const char *found(struct foliofs_fs *fs)
{
	static struct foliofs_broken b;

	b = (struct foliofs_broken){ 0 };
	foliofs_fs_crash_broken(fs, keep, &b);
	return b.text;
}

/* Bytes [pos, end) of file 0 become on disk what operation @op wrote. */
static void bring_back(struct foliofs_fs *fs, uint64_t pos, uint64_t end, uint32_t op)
{
	const struct ffs_inode *inode = ffs_file(&fs->ops, 0)->inode;
	struct ffs_map_run run;
	u64 at;

	assert_true(ffs_next_run(inode, (u32)(pos >> 12), &run) && run.lblk <= pos >> 12);
	at = (run.pblk << 12) + pos - ((u64)run.lblk << 12);
	ffs_content_write(&fs->ops.sb.disk, at, at + (end - pos), ffs_src(op, inode->ino));
}

static void without_patch(void **state)
{
	static const char *const kernels[] = { IOMAP, IOMAP "-im-zero" };
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct foliofs_fs *fs = fresh(kernels[i], "");

		open_file(fs, 0, "a");
		write_to(fs, 0, 0, 4096);
		simple(fs, FOLIOFS_OP_FSYNC, 0);
		simple(fs, FOLIOFS_OP_TRUNCATE, 1000);
		simple(fs, FOLIOFS_OP_TRUNCATE, 4096);
		/* Nothing of it is promised, nor there: the file is the old one. */
		assert_string_equal(found(fs), "");
		simple(fs, FOLIOFS_OP_COMMIT, 0);
		assert_string_equal(found(fs), i ? "bytes [1000,4096) were cut off or behind EOF, "
				    "recovery finds those of operation 2" : "");
		foliofs_fs_free(fs);
	}
}

/* Old bytes put on the disk by hand, in a file that was cut and has grown. */
static void by_hand(void **state)
{
	static const char *const mounts[] = { "", "data=journal", "data=writeback" };
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		struct foliofs_fs *fs = fresh("v6.18", mounts[i]);

		open_file(fs, 0, "a");
		write_to(fs, 0, 0, 65536);
		simple(fs, FOLIOFS_OP_FSYNC, 0);
		simple(fs, FOLIOFS_OP_TRUNCATE, 5000);
		simple(fs, FOLIOFS_OP_TRUNCATE, 65536);
		simple(fs, FOLIOFS_OP_SYNC, 0);
		bring_back(fs, 4096, 5000, 2);
		assert_string_equal(found(fs), "");
		bring_back(fs, 6000, 6100, 2);
		/* data=writeback promises nothing of it. */
		assert_string_equal(found(fs), i < 2 ? "bytes [6000,6100) were cut off or behind EOF, "
				    "recovery finds those of operation 2" : "");
		foliofs_fs_free(fs);
	}
}

/* Whole blocks of a hole, and what was written into them since; its edges are not looked at. */
static void hole(void **state)
{
	struct foliofs_fs *fs = fresh("v6.18", "");

	(void)state;
	open_file(fs, 0, "a");
	write_to(fs, 0, 0, 65536);
	simple(fs, FOLIOFS_OP_FSYNC, 0);
	run(fs, (struct foliofs_op){ .kind = FOLIOFS_OP_FALLOCATE, .off = 10000, .len = 20000,
				     .flags = FOLIOFS_FALLOC_PUNCH_HOLE | FOLIOFS_FALLOC_KEEP_SIZE });
	write_to(fs, 0, 12288, 16384);
	simple(fs, FOLIOFS_OP_FSYNC, 0);
	assert_string_equal(found(fs), "");
	bring_back(fs, 10000, 12288, 2);
	bring_back(fs, 28672, 30000, 2);
	assert_string_equal(found(fs), "");
	bring_back(fs, 20000, 20001, 2);
	assert_string_equal(found(fs), "bytes [20000,20001) were cut off or behind EOF, recovery "
			    "finds those of operation 2");
	foliofs_fs_free(fs);
}

/* A store behind EOF, on disk by hand as if the device had read the page late. */
static void behind_eof(void **state)
{
	struct foliofs_fs *fs = fresh("v6.18", "");

	(void)state;
	open_file(fs, 0, "a");
	write_to(fs, 0, 0, 1000);
	run(fs, (struct foliofs_op){ .kind = FOLIOFS_OP_MWRITE, .len = 4096 });
	simple(fs, FOLIOFS_OP_FSYNC, 0);
	bring_back(fs, 1000, 4096, 3);
	assert_string_equal(found(fs), "");
	simple(fs, FOLIOFS_OP_APPEND, 500);
	simple(fs, FOLIOFS_OP_COMMIT, 0); /* the size, not the bytes: their block was there */
	assert_string_equal(found(fs), "bytes [1000,1500) were cut off or behind EOF, recovery "
			    "finds those of operation 3");
	simple(fs, FOLIOFS_OP_FSYNC, 0);
	assert_string_equal(found(fs), "");
	foliofs_fs_free(fs);
}

/* Older bytes that come from elsewhere: a copy, a collapsed range. */
static void moved(void **state)
{
	struct foliofs_fs *fs = fresh("v6.18", "");

	(void)state;
	open_file(fs, 0, "a");
	open_file(fs, 1, "b");
	write_to(fs, 1, 0, 65536);
	write_to(fs, 0, 0, 65536);
	simple(fs, FOLIOFS_OP_SYNC, 0);
	simple(fs, FOLIOFS_OP_TRUNCATE, 0);
	simple(fs, FOLIOFS_OP_COMMIT, 0);
	run(fs, (struct foliofs_op){ .kind = FOLIOFS_OP_COPY_RANGE, .file = 1, .len = 65536 });
	simple(fs, FOLIOFS_OP_FSYNC, 0);
	assert_string_equal(found(fs), "");
	run(fs, (struct foliofs_op){ .kind = FOLIOFS_OP_FALLOCATE, .off = 8192, .len = 8192,
				     .flags = FOLIOFS_FALLOC_PUNCH_HOLE | FOLIOFS_FALLOC_KEEP_SIZE });
	run(fs, (struct foliofs_op){ .kind = FOLIOFS_OP_FALLOCATE, .off = 8192, .len = 8192,
				     .flags = FOLIOFS_FALLOC_COLLAPSE_RANGE });
	simple(fs, FOLIOFS_OP_FSYNC, 0);
	assert_string_equal(found(fs), "");
	foliofs_fs_free(fs);
}

/* Of a store that goes on behind a stop the bytes are newer than the cut that was made there. */
static void cut_at_stop(void *priv, enum foliofs_stop s, uint32_t ino)
{
	(void)ino;
	if (s != FOLIOFS_STOP_FAULT_PREPARED)
		return;
	foliofs_fs_set_stop_handler(priv, NULL, NULL);
	simple(priv, FOLIOFS_OP_TRUNCATE, 8192);
	simple(priv, FOLIOFS_OP_TRUNCATE, 65536);
	assert_int_equal(next_id, 7);
}

static void resumed(void **state)
{
	struct foliofs_fs *fs = fresh("v6.18", "");

	(void)state;
	open_file(fs, 0, "a");
	write_to(fs, 0, 0, 65536);
	simple(fs, FOLIOFS_OP_FSYNC, 0);
	run(fs, (struct foliofs_op){ .kind = FOLIOFS_OP_DROP_CACHES, .flags = 1 });
	foliofs_fs_set_stop_handler(fs, cut_at_stop, fs);
	run(fs, (struct foliofs_op){ .kind = FOLIOFS_OP_MWRITE, .len = 65536 });
	simple(fs, FOLIOFS_OP_FSYNC, 0);
	assert_string_equal(found(fs), "");
	foliofs_fs_free(fs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_patch), cmocka_unit_test(by_hand), cmocka_unit_test(hole),
		cmocka_unit_test(behind_eof), cmocka_unit_test(moved), cmocka_unit_test(resumed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
