// SPDX-License-Identifier: MIT
/*
 * The operation recover: what is left goes on as a file system.  Sizes, free blocks and inode
 * numbers are those measured on 6.18.44 (64 MB, blocks of 4096 bytes; shutdown, mount).
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <foliofs/fs.h>
#include <foliofs/mkfs.h>
#include <foliofs/rules.h>

static uint32_t next_id;

static struct foliofs_fs *make(const char *mount, enum foliofs_fs_type type, bool crash_states)
{
	const struct foliofs_options o = { .crash_states = crash_states, .rules = true };
	struct foliofs_geometry g = { .page_size = 4096 };
	struct foliofs_kernel k;
	struct foliofs_fs *fs;
	char err[200];

	next_id = 0;
	assert_int_equal(foliofs_kernel_parse("v6.18", &k, err, sizeof(err)), 0);
	assert_int_equal(foliofs_geometry_from_mkfs("size=64M -b 4096", &g, err, sizeof(err)), 0);
	assert_int_equal(foliofs_mount_parse(mount, &g, err, sizeof(err)), 0);
	g.fs_type = type;
	assert_int_equal(foliofs_fs_new(&k, &g, &o, &fs, err, sizeof(err)), 0);
	return fs;
}

static int64_t run(struct foliofs_fs *fs, enum foliofs_op_kind kind, const char *path, uint64_t off,
		   uint64_t len)
{
	const struct foliofs_op op = { .kind = kind, .id = ++next_id, .off = off, .len = len,
				       .file2 = -1, .flags = FOLIOFS_O_CREAT, .mode = 0644,
				       .path = path };

	return foliofs_fs_run(fs, &op);
}

static void sum(void *priv, const struct foliofs_content *c)
{
	if (c->kind == FOLIOFS_SOURCE_OP)
		((uint64_t *)priv)[c->source] += c->len;
}

static void append_lost(void **state)
{
	struct foliofs_fs *fs = make("", FOLIOFS_FS_EXT4, true);
	uint64_t bytes[20] = { 0 };
	struct foliofs_stat st;

	(void)state;
	assert_int_equal(run(fs, FOLIOFS_OP_OPEN, "a", 0, 0), 12);
	run(fs, FOLIOFS_OP_WRITE, NULL, 0, 1000);
	run(fs, FOLIOFS_OP_FSYNC, NULL, 0, 0);
	run(fs, FOLIOFS_OP_WRITE, NULL, 1000, 500);
	run(fs, FOLIOFS_OP_WRITEBACK, NULL, 0, 0);
	assert_int_equal(run(fs, FOLIOFS_OP_RECOVER, NULL, 0, 0), 0);
	assert_int_equal(foliofs_fs_free_blocks(fs), 14318);
	assert_int_equal(run(fs, FOLIOFS_OP_WRITE, NULL, 0, 1), -EBADF);
	assert_int_equal(foliofs_fs_stat(fs, "a", &st), 0);
	assert_int_equal(st.size, 1000);
	assert_int_equal(st.sectors, 8);
	assert_int_equal(run(fs, FOLIOFS_OP_OPEN, "a", 0, 0), 12);
	assert_int_equal(run(fs, FOLIOFS_OP_WRITE, NULL, 1000, 300), 300);
	assert_int_equal(run(fs, FOLIOFS_OP_CLOSE, NULL, 0, 0), 0);
	assert_int_equal(run(fs, FOLIOFS_OP_OPEN, "b", 0, 0), 13);
	run(fs, FOLIOFS_OP_WRITE, NULL, 0, 1);
	run(fs, FOLIOFS_OP_FSYNC, NULL, 0, 0);
	assert_int_equal(foliofs_fs_broken(fs), 0);
	assert_int_equal(run(fs, FOLIOFS_OP_RECOVER, NULL, 0, 0), 0);
	assert_int_equal(foliofs_fs_free_blocks(fs), 14317);
	assert_int_equal(foliofs_fs_stat(fs, "a", &st), 0);
	assert_int_equal(st.size, 1300);
	foliofs_fs_for_each_content(fs, 12, sum, bytes);
	assert_int_equal(bytes[2], 1000);
	assert_int_equal(bytes[4], 300); /* of the append that the first power cut had taken */
	/* Told when the power was cut; what was found then is no fault of what comes later. */
	assert_int_equal(foliofs_fs_broken(fs), 1);
	assert_int_equal(foliofs_fs_broken_at(fs, 0)->rule, FOLIOFS_RULE_CUT_STAYS);
	run(fs, FOLIOFS_OP_SYNC, NULL, 0, 0);
	assert_int_equal(run(fs, FOLIOFS_OP_RECOVER, NULL, 0, 0), 0);
	assert_int_equal(foliofs_fs_broken(fs), 1);
	foliofs_fs_free(fs);
}

/* Names and directories; an unlinked file that was open is gone, with its blocks and its number. */
static void names(void **state)
{
	struct foliofs_fs *fs = make("", FOLIOFS_FS_EXT4, true);
	struct foliofs_stat st;
	uint64_t free;
	int64_t ino;
	char name[40];
	int i;

	(void)state;
	assert_int_equal(run(fs, FOLIOFS_OP_MKDIR, "d", 0, 0), 0);
	for (i = 0; i < 200; i++) { /* more than the directory's first block holds */
		snprintf(name, sizeof(name), "d/a-file-with-a-long-name-%d", i);
		assert_true(run(fs, FOLIOFS_OP_OPEN, name, 0, 0) > 0);
		run(fs, FOLIOFS_OP_CLOSE, NULL, 0, 0);
	}
	run(fs, FOLIOFS_OP_SYNC, NULL, 0, 0);
	free = foliofs_fs_free_blocks(fs);
	ino = run(fs, FOLIOFS_OP_OPEN, "d/gone", 0, 0);
	run(fs, FOLIOFS_OP_WRITE, NULL, 0, 40960);
	run(fs, FOLIOFS_OP_FSYNC, NULL, 0, 0);
	assert_int_equal(run(fs, FOLIOFS_OP_UNLINK, "d/gone", 0, 0), 0);
	run(fs, FOLIOFS_OP_COMMIT, NULL, 0, 0);
	assert_int_equal(foliofs_fs_free_blocks(fs), free - 10);
	assert_int_equal(run(fs, FOLIOFS_OP_RECOVER, NULL, 0, 0), 0);
	assert_int_equal(foliofs_fs_free_blocks(fs), free);
	assert_int_equal(foliofs_fs_stat(fs, "d/gone", &st), -ENOENT);
	assert_int_equal(foliofs_fs_stat(fs, "d/a-file-with-a-long-name-199", &st), 0);
	assert_int_equal(run(fs, FOLIOFS_OP_OPEN, "d/new", 0, 0), ino);
	assert_int_equal(run(fs, FOLIOFS_OP_FSYNC, NULL, 0, 0), 0);
	for (i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "d/a-file-with-a-long-name-%d", i);
		assert_int_equal(run(fs, FOLIOFS_OP_UNLINK, name, 0, 0), 0);
	}
	assert_int_equal(foliofs_fs_broken(fs), 0);
	foliofs_fs_free(fs);
}

static void old(void *priv, const struct foliofs_content *c)
{
	*(uint64_t *)priv += c->kind == FOLIOFS_SOURCE_STALE ? c->len : 0;
}

/*
 * Space taken by a pattern stays taken; what a file that is not there had written lies stale in
 * free blocks, and data=writeback shows it in the next file that gets them.
 */
static void device(void **state)
{
	struct foliofs_fs *fs = make("nodelalloc,data=writeback", FOLIOFS_FS_EXT4, true);
	uint64_t free, stale = 0;
	int i;

	(void)state;
	assert_int_equal(foliofs_fs_mark_blocks(fs, 5000, 16384, true), 0);
	run(fs, FOLIOFS_OP_SYNC, NULL, 0, 0);
	free = foliofs_fs_free_blocks(fs);
	for (i = 0; i < 2; i++) {
		assert_int_equal(run(fs, FOLIOFS_OP_OPEN, "a", 0, 0), 12);
		run(fs, FOLIOFS_OP_WRITE, NULL, 0, 65536);
		run(fs, i ? FOLIOFS_OP_COMMIT : FOLIOFS_OP_WRITEBACK, NULL, 0, 0);
		assert_int_equal(foliofs_fs_free_blocks(fs), free - 16);
		assert_int_equal(run(fs, FOLIOFS_OP_RECOVER, NULL, 0, 0), 0);
		assert_int_equal(foliofs_fs_free_blocks(fs), i ? free - 16 : free);
	}
	foliofs_fs_for_each_content(fs, 12, old, &stale);
	assert_int_equal(stale, 65536);
	assert_int_equal(foliofs_fs_broken(fs), 0);
	foliofs_fs_free(fs);
}

static enum foliofs_stop where;

static void at_stop(void *priv, enum foliofs_stop s, uint32_t ino)
{
	(void)ino;
	if (s != where)
		return;
	assert_int_equal(run(priv, FOLIOFS_OP_RECOVER, NULL, 0, 0), 0);
	assert_int_equal(run(priv, FOLIOFS_OP_RECOVER, NULL, 0, 0), -EIO);
	assert_string_equal(foliofs_fs_error(priv),
			    "the power is off until the stopped operation is over");
}

/* The commit block is not on disk, or it is: what the rest of the fsync does is no more. */
static void in_commit(void **state)
{
	static const struct {
		enum foliofs_stop stop;
		uint64_t size;
	} cuts[] = { { FOLIOFS_STOP_COMMIT_LOGGED, 1000 }, { FOLIOFS_STOP_COMMIT_DONE, 300000 } };
	struct foliofs_stat st;
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct foliofs_fs *fs = make("", FOLIOFS_FS_EXT4, true);

		run(fs, FOLIOFS_OP_OPEN, "a", 0, 0);
		run(fs, FOLIOFS_OP_WRITE, NULL, 0, 1000);
		run(fs, FOLIOFS_OP_FSYNC, NULL, 0, 0);
		run(fs, FOLIOFS_OP_WRITE, NULL, 0, 300000);
		where = cuts[i].stop;
		foliofs_fs_set_stop_handler(fs, at_stop, fs);
		assert_int_equal(run(fs, FOLIOFS_OP_FSYNC, NULL, 0, 0), 0);
		foliofs_fs_set_stop_handler(fs, NULL, NULL);
		assert_int_equal(run(fs, FOLIOFS_OP_WRITE, NULL, 0, 1), -EBADF);
		assert_int_equal(foliofs_fs_stat(fs, "a", &st), 0);
		assert_int_equal(st.size, cuts[i].size);
		assert_int_equal(run(fs, FOLIOFS_OP_OPEN, "a", 0, 0), 12);
		assert_int_equal(run(fs, FOLIOFS_OP_WRITE, NULL, 300000, 1000), 1000);
		assert_int_equal(run(fs, FOLIOFS_OP_FSYNC, NULL, 0, 0), 0);
		assert_int_equal(foliofs_fs_broken(fs), 0);
		foliofs_fs_free(fs);
	}
}

static void refused(void **state)
{
	struct foliofs_fs *fs = make("", FOLIOFS_FS_EXT4, false);

	(void)state;
	assert_int_equal(run(fs, FOLIOFS_OP_RECOVER, NULL, 0, 0), -EINVAL);
	assert_string_equal(foliofs_fs_error(fs), "crash states are not kept");
	foliofs_fs_free(fs);
	fs = make("", FOLIOFS_FS_TMPFS, true);
	assert_int_equal(run(fs, FOLIOFS_OP_RECOVER, NULL, 0, 0), -EOPNOTSUPP);
	foliofs_fs_free(fs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(append_lost), cmocka_unit_test(names), cmocka_unit_test(device),
		cmocka_unit_test(in_commit), cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
