// SPDX-License-Identifier: MIT
/* Power cuts, stops and injected failures through the public interface. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <foliofs/fs.h>
#include <foliofs/mkfs.h>
#include <foliofs/rules.h>

static struct foliofs_fs *make(const char *mount, bool old_blocks)
{
	const struct foliofs_options o = { .crash_states = true, .rules = true,
					   .old_blocks = old_blocks };
	struct foliofs_geometry g = { .page_size = 4096 };
	struct foliofs_kernel k;
	struct foliofs_fs *fs;
	char err[200];

	assert_int_equal(foliofs_kernel_parse("v6.18", &k, err, sizeof(err)), 0);
	assert_int_equal(foliofs_geometry_from_mkfs("size=64M -b 4096", &g, err, sizeof(err)), 0);
	assert_int_equal(foliofs_mount_parse(mount, &g, err, sizeof(err)), 0);
	assert_int_equal(foliofs_fs_new(&k, &g, &o, &fs, err, sizeof(err)), 0);
	return fs;
}

static uint32_t next_id;

static int64_t run(struct foliofs_fs *fs, enum foliofs_op_kind kind, uint64_t off, uint64_t len)
{
	const struct foliofs_op op = { .kind = kind, .id = ++next_id, .off = off, .len = len,
				       .file2 = -1 };

	return foliofs_fs_run(fs, &op);
}

static void open_a(struct foliofs_fs *fs)
{
	const struct foliofs_op op = { .kind = FOLIOFS_OP_OPEN, .id = ++next_id, .file2 = -1,
				       .flags = FOLIOFS_O_CREAT, .mode = 0644, .path = "a" };

	assert_true(foliofs_fs_run(fs, &op) > 0);
}

/* Size of "a" after a power cut now; -1: not there. */
static int64_t left(struct foliofs_fs *fs, size_t *broken)
{
	struct foliofs_fs *after;
	struct foliofs_stat st;
	int64_t size = -1;

	assert_int_equal(foliofs_fs_crash(fs, &after), 0);
	if (!foliofs_fs_stat(after, "a", &st))
		size = (int64_t)st.size;
	*broken = foliofs_fs_broken(after);
	assert_int_equal(*broken, foliofs_fs_crash_broken(fs, NULL, NULL));
	foliofs_fs_free(after);
	return size;
}

static void states(void **unused)
{
	struct foliofs_fs *fs = make("", false);
	uint64_t before;
	size_t broken;

	(void)unused;
	open_a(fs);
	before = foliofs_fs_crash_state(fs);
	run(fs, FOLIOFS_OP_WRITE, 0, 100000);
	/* Nothing durable has changed. */
	assert_int_equal(foliofs_fs_crash_state(fs), before);
	assert_int_equal(left(fs, &broken), -1);
	run(fs, FOLIOFS_OP_FSYNC, 0, 0);
	assert_true(foliofs_fs_crash_state(fs) > before);
	assert_int_equal(left(fs, &broken), 100000);
	assert_int_equal(broken, 0);
	foliofs_fs_free(fs);
}

static void count_stale(void *priv, const struct foliofs_broken *b)
{
	*(unsigned int *)priv += b->rule == FOLIOFS_RULE_STALE_DATA;
}

/* data=writeback may show old blocks: no rule.  data=ordered never does. */
static void old_blocks(void **unused)
{
	static const char *const mounts[] = { "nodelalloc", "nodelalloc,data=writeback" };
	unsigned int i, stale = 0;

	(void)unused;
	for (i = 0; i < 2; i++) {
		struct foliofs_fs *fs = make(mounts[i], true);

		open_a(fs);
		run(fs, FOLIOFS_OP_WRITE, 0, 8192);
		run(fs, FOLIOFS_OP_COMMIT, 0, 0);
		foliofs_fs_crash_broken(fs, count_stale, &stale);
		foliofs_fs_free(fs);
	}
	assert_int_equal(stale, 0);
}

struct seen {
	struct foliofs_fs *fs;
	unsigned int times;
	int64_t fsync, append, size;
};

static void stop(void *priv, enum foliofs_stop s, uint32_t ino)
{
	struct seen *x = priv;
	size_t broken;

	if (s != FOLIOFS_STOP_WRITEBACK_MAPPED || x->times++)
		return;
	assert_int_equal(ino, 12);
	x->fsync = run(x->fs, FOLIOFS_OP_FSYNC, 0, 0);
	x->append = run(x->fs, FOLIOFS_OP_APPEND, 0, 4096);
	x->size = left(x->fs, &broken);
	assert_int_equal(broken, 0);
}

static void stops(void **unused)
{
	struct foliofs_fs *fs = make("", false);
	struct seen x = { .fs = fs };
	struct foliofs_stat st;
	size_t broken;

	(void)unused;
	open_a(fs);
	run(fs, FOLIOFS_OP_FSYNC, 0, 0);
	run(fs, FOLIOFS_OP_WRITE, 0, 8192);
	foliofs_fs_set_stop_handler(fs, stop, &x);
	assert_int_equal(run(fs, FOLIOFS_OP_FSYNC, 0, 0), 0);
	foliofs_fs_set_stop_handler(fs, NULL, NULL);
	assert_int_equal(x.times, 1);
	assert_int_equal(x.fsync, -EDEADLK); /* waits for the handle */
	assert_int_equal(x.append, 4096);
	assert_int_equal(x.size, 0);
	assert_int_equal(foliofs_fs_stat(fs, "a", &st), 0);
	assert_int_equal(st.size, 12288);
	assert_int_equal(st.disksize, 8192);
	assert_int_equal(left(fs, &broken), 8192);
	assert_int_equal(broken, 0);
	assert_int_equal(foliofs_fs_broken(fs), 0);
	foliofs_fs_free(fs);
}

static void failures(void **unused)
{
	struct foliofs_fs *fs = make("", false);
	size_t broken;
	bool failed;

	(void)unused;
	open_a(fs);
	foliofs_fs_inject(fs, FOLIOFS_FAILURE_EIO, 1);
	run(fs, FOLIOFS_OP_WRITE, 0, 8192);
	assert_int_equal(foliofs_fs_injected(fs, FOLIOFS_FAILURE_EIO, &failed), 0);
	assert_false(failed);
	assert_int_equal(run(fs, FOLIOFS_OP_FSYNC, 0, 0), -EIO);
	assert_int_equal(foliofs_fs_injected(fs, FOLIOFS_FAILURE_EIO, &failed), 1);
	assert_true(failed);
	assert_int_equal(run(fs, FOLIOFS_OP_FSYNC, 0, 0), 0); /* told once */
	assert_int_equal(left(fs, &broken), 8192);
	assert_int_equal(broken, 0);
	foliofs_fs_inject(fs, FOLIOFS_FAILURE_START, 1);
	assert_int_equal(run(fs, FOLIOFS_OP_TRUNCATE, 0, 100), -ENOMEM);
	foliofs_fs_free(fs);
}

static void names(void **unused)
{
	enum foliofs_failure f;
	enum foliofs_stop s;

	(void)unused;
	assert_int_equal(foliofs_stop_find("end_io.before", &s), 0);
	assert_int_equal(s, FOLIOFS_STOP_END_IO_BEFORE);
	assert_string_equal(foliofs_stop_name(s), "end_io.before");
	assert_int_equal(foliofs_stop_find("nowhere", &s), -ENOENT);
	assert_int_equal(foliofs_failure_find("enospc", &f), 0);
	assert_int_equal(foliofs_failure_error(f), ENOSPC);
	assert_int_equal(foliofs_failure_error(FOLIOFS_FAILURE_MEMORY), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(states), cmocka_unit_test(old_blocks), cmocka_unit_test(stops),
		cmocka_unit_test(failures), cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
