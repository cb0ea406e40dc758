// SPDX-License-Identifier: MIT
/* Comparison of captures: reading, what counts, alignment, first difference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "conform/event_read.h"
#include "conform/match.h"
#include "conform/print.h"

/* Letters as elements. */
static size_t ordered(const char *a, const char *b)
{
	uint32_t x[64], y[64];
	size_t i;

	for (i = 0; a[i]; i++)
		x[i] = (uint32_t)a[i];
	for (i = 0; b[i]; i++)
		y[i] = (uint32_t)b[i];
	return match_ordered(x, strlen(a), y, strlen(b));
}

/* The longest run first, then left and right of it: not the longest common subsequence. */
static void alignment(void **state)
{
	(void)state;
	assert_int_equal(ordered("", ""), 0);
	assert_int_equal(ordered("abc", ""), 0);
	assert_int_equal(ordered("abc", "abc"), 3);
	assert_int_equal(ordered("abxcd", "abcd"), 4);
	/* "abcd" is taken, so the a of the second is left of nothing */
	assert_int_equal(ordered("abcdxa", "aabcd"), 4);
	/* figures of difflib.SequenceMatcher(None, a, b, autojunk=False) */
	assert_int_equal(ordered("babcaacabcac", "aaabbaaacb"), 6);
	assert_int_equal(ordered("aabadababcdbacbabcaaabddcddccb", "bbacdcdcaadbcbddaacccddaa"),
			 13);
	assert_int_equal(ordered("bbaabbbbbabbaabaabaa", "bbbaabbbabbbbbaaaaaa"), 17);
	assert_int_equal(ordered("fbadebccabdeceecbfeefffadfeddddadfdababd",
				 "baceaaaebeaceaabedbfccecdaaddddca"), 14);
}

static void multisets(void **state)
{
	const uint32_t a[] = { 1, 2, 2, 3, 9 }, b[] = { 2, 3, 2, 2, 4 };
	size_t i, j;

	(void)state;
	assert_int_equal(match_unordered(a, 5, b, 5), 3);
	match_first(a, 5, b, 5, 0, &i, &j);
	assert_int_equal(i, 0); /* 1 is missing */
	assert_int_equal(j, 3); /* the third 2 is too many */
	match_first(a, 5, a, 4, 1, &i, &j);
	assert_int_equal(i, 4);
	assert_int_equal(j, 4);
}

static bool next(const char *text, struct trace_line *line)
{
	static struct text t;
	struct trace_cursor trace = { .text = &t };

	t.data = (char *)(uintptr_t)text;
	t.len = strlen(text);
	return trace_text_next(&trace, line);
}

static void assert_piece(struct piece p, const char *s)
{
	char *c = piece_dup(p);

	assert_string_equal(c, s);
	free(c);
}

static void lines(void **state)
{
	struct trace_line l;

	(void)state;
	assert_true(next("# tracer: nop\n"
			 "   kworker/u10:3-20164   [000] .N...  2194.462454: ext4_sync_fs: dev "
			 "7,40 wait 1\n",
			 &l));
	assert_piece(l.comm, "kworker/u10:3");
	assert_piece(l.event, "ext4_sync_fs");
	assert_piece(l.text, "dev 7,40 wait 1");
	assert_int_equal(l.time_ns, 2194462454000);
	assert_int_equal(l.number, 2);
	/* trace-cmd: no flags, and names padded */
	assert_true(next("          sqlite3-1311  [001]   120.000001: ext4_sync_fs:         dev "
			 "7,40 wait 0\n",
			 &l));
	assert_piece(l.comm, "sqlite3");
	assert_int_equal(l.time_ns, 120000001000);
	/* brackets in the text are not those of the CPU */
	assert_true(next("           oprun-9     [000] .....     1.000000: "
			 "ext4_es_remove_extent: dev 7,40 ino 12 es [1/2)\n",
			 &l));
	assert_piece(l.text, "dev 7,40 ino 12 es [1/2)");
	assert_true(next("           oprun-9     [000] ...1.     1.000000: tracing_mark_write: "
			 "foliosim op 16001 write a 0 9\n",
			 &l));
	assert_true(l.marker);
	assert_int_equal(l.op, 16001);
	assert_piece(l.op_text, "write a 0 9");
	assert_true(next("CPU:1 [LOST 1234 EVENTS]\n", &l));
	assert_int_equal(l.lost, 1234);
	assert_false(next("cpus=2\nversion = 6\n\n", &l));
}

static void read_back(void **state)
{
	struct foliofs_event ev;
	struct trace_line l;
	char strings[512];

	(void)state;
	assert_true(next("           oprun-9     [000] .....     1.000000: ext4_journal_start: "
			 "dev 7,40 blocks 53, rsv_blocks 0, revoke_creds 32, caller "
			 "__ext4_new_inode+0xd48/0x16f0\n",
			 &l));
	assert_int_equal(event_read(&l, 5, &ev, strings), 0);
	assert_int_equal(ev.id, FOLIOFS_EV_ext4_journal_start_inode);
	assert_int_equal(ev.op, 5);
	assert_int_equal(ev.arg[0], 53);
	assert_int_equal(ev.arg[2], 32);
	assert_int_equal(ev.arg[3], 0); /* 6.1 does not tell the type */
	assert_string_equal((const char *)(uintptr_t)ev.arg[5], "__ext4_new_inode");
	assert_true(next("     kworker/0:1-7     [000] .....     1.000000: jbd2_run_stats: dev "
			 "7,40 tid 3 wait 4 request_delay 0 running 52 locked 1 flushing 2 "
			 "logging 3 handle_count 7 blocks 8 blocks_logged 9 later 1\n",
			 &l));
	assert_int_equal(event_read(&l, 5, &ev, strings), 0);
	assert_int_equal(ev.thread, FOLIOFS_THREAD_WORKER);
	assert_int_equal(ev.nargs, 4);
	assert_int_equal(ev.arg[1], 7);
	assert_int_equal(ev.arg[3], 9);
	assert_true(next("           oprun-9     [000] .....     1.000000: jbd2_run_stats: dev "
			 "7,40 tid x\n", &l));
	assert_int_equal(event_read(&l, 5, &ev, strings), -EINVAL);
	assert_true(next("           oprun-9     [000] .....     1.000000: ext4_mballoc_alloc: "
			 "dev 7,40\n", &l));
	assert_int_equal(event_read(&l, 5, &ev, strings), -ENOENT);
}

static void check_normal(const char *text, const char *expected)
{
	struct conform_base base = { 0 };
	struct trace_line l;
	char line[1024], buf[1024];
	size_t n;

	snprintf(line, sizeof(line), "           oprun-9     [000] .....     1.000000: %s\n", text);
	assert_true(next(line, &l));
	n = conform_normal(&l, conform_event_family(l.event), &base, buf, sizeof(buf) - 1);
	buf[n] = 0;
	assert_string_equal(n ? buf + 1 : "", expected);
}

static void what_counts(void **state)
{
	(void)state;
	check_normal("mm_filemap_add_to_page_cache: dev 7:40 ino c pfn=0x1b4681 ofs=0 order=9",
		     "mm_filemap_add_to_page_cache ino c ofs=0 order=9");
	check_normal("mm_filemap_add_to_page_cache: dev 7:40 ino 1 pfn=0x1b4681 ofs=0 order=0", "");
	check_normal("ext4_journal_start_inode: dev 7,40 blocks 42, rsv_blocks 41, revoke_creds "
		     "8, type 2, ino 12, caller ext4_do_writepages+0x1/0x2",
		     "ext4_journal_start_inode blocks 42, rsv_blocks 41, revoke_creds 8, type 2, "
		     "ino 12");
	check_normal("ext4_journal_start_inode: dev 7,40 blocks 2, rsv_blocks 0, revoke_creds 8, "
		     "type 1, ino 12, caller ext4_dirty_inode+0x34/0x90",
		     "");
	/* ext4 as a module: Debian's 6.12.100 */
	check_normal("ext4_journal_start_sb: dev 7,40 blocks 53, rsv_blocks 0, revoke_creds 8, "
		     "type 4, caller __ext4_new_inode+0xca7/0x1530 [ext4]",
		     "ext4_journal_start_sb blocks 53, rsv_blocks 0, revoke_creds 8, type 4");
	check_normal("jbd2_handle_stats: dev 7,40 tid 3 type 4 line_no 2822 interval 7 sync 0 "
		     "requested_blocks 47 dirtied_blocks 5",
		     "jbd2_handle_stats tid 0 type 4 sync 0 requested_blocks 47 dirtied_blocks 5");
	check_normal("jbd2_handle_start: dev 7,40 tid 3 type 1 line_no 6586 requested_blocks 3",
		     "");
	check_normal("jbd2_run_stats: dev 7,40 tid 3 wait 0 request_delay 0 running 52 locked 0 "
		     "flushing 0 logging 0 handle_count 7 blocks 7 blocks_logged 9",
		     "jbd2_run_stats tid 0 blocks 7 blocks_logged 9");
	check_normal("jbd2_end_commit: dev 7,40 transaction 3 sync 0 head 2",
		     "jbd2_end_commit transaction 0 sync 0");
	check_normal("ext4_da_write_folios_end: dev 7,40 ino 12 start_pos 0x1000 next_pos 0x1000 "
		     "nr_to_write 9223372036854775806 ret 0",
		     "ext4_da_write_folios_end ino 12 start_pos 0x1000 next_pos 0x1000 "
		     "nr_to_write N ret 0");
	check_normal("iomap_iter_dstmap: dev 7:60 ino 0x83 bdev 7:60 addr 0x18000 offset 0x0 "
		     "length 0x80000 type MAPPED (0x2) flags DIRTY (0x2)",
		     "iomap_iter_dstmap ino 0x83 addr P offset 0x0 length 0x80000 type MAPPED "
		     "(0x2) flags DIRTY (0x2)");
	check_normal("block_bio_queue: 7,60 WS 192 + 1024 [oprun]", "block_bio_queue WS + 1024");
	check_normal("xfs_iext_insert: dev 7:60 ino 0x83 state LF|RF cur 000000009e5892e7/0 "
		     "fileoff 0x0 caller xfs_x+0x1/0x2",
		     "xfs_iext_insert ino 0x83 fileoff 0x0");
}

static char root[] = "conform-test-XXXXXX";

static void put(const char *dir, const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, dir);
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "%s/%s%s%s", root, dir, *dir ? "/" : "", name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int compare(struct conform_result *r)
{
	char a[256], b[256];

	snprintf(a, sizeof(a), "%s/kernel", root);
	snprintf(b, sizeof(b), "%s/sim", root);
	return conform_compare(a, b, NULL, r);
}

#define T "           oprun-9     [000] .....     1.000000: "

static void captures(void **state)
{
	struct conform_filter all = { .all = true };
	struct conform_result r;
	char *text;
	size_t len;
	FILE *out;

	(void)state;
	put("kernel", "ops.txt", "1 open a\n2 write a 0 4096\n");
	put("kernel", "meta.yaml", "kernel: \"6.18.44\"\n"
				   "events: [ext4_write_begin, ext4_write_end, "
				   "jbd2_handle_start]\n");
	put("kernel", "events.txt",
	    "CPU:0 [LOST 3 EVENTS]\n"
	    T "tracing_mark_write: foliosim op 1 open a\n"
	    T "jbd2_handle_start: dev 7,40 tid 3 type 4 line_no 1 requested_blocks 47\n"
	    T "tracing_mark_write: foliosim op 2 write a 0 4096\n"
	    T "ext4_sync_fs: dev 7,40 wait 0\n"
	    T "ext4_write_begin: dev 7,40 ino 12 pos 0 len 4096\n"
	    T "ext4_write_end: dev 7,40 ino 12 pos 0 len 4096 copied 4096\n"
	    T "tracing_mark_write: foliosim end\n");
	put("kernel", "state.yaml", "files:\n  a:\n    size: 4096\n    fiemap:\n"
				    "      - [0, 8192, 4096, last]\n    content:\n"
				    "      - [0, 4096, 2]\n    tree:\n      kind: extents\n"
				    "      depth: 0\n");
	put("kernel", "crash-one.yaml", "files:\n  a:\n    size: 0\n");
	put("sim", "state.yaml", "files:\n  a:\n    size: 4096\n    fiemap:\n"
				 "      - [0, 12288, 4096, last]\n    content:\n"
				 "      - [0, 4096, 2]\n    tree:\n      kind: extents\n"
				 "      depth: 0\n");
	put("sim", "events.txt",
	    T "tracing_mark_write: foliosim op 1 open a\n"
	    T "jbd2_handle_start: dev 7,40 tid 7 type 4 line_no 9 requested_blocks 47\n"
	    T "tracing_mark_write: foliosim op 2 write a 0 4096\n"
	    T "mm_filemap_add_to_page_cache: dev 7:40 ino c pfn=0x0 ofs=0 order=0\n"
	    T "ext4_write_begin: dev 7,40 ino 12 pos 0 len 4096\n"
	    T "ext4_write_end: dev 7,40 ino 12 pos 0 len 4096 copied 0\n");
	assert_int_equal(compare(&r), 0);
	assert_true(r.ordered && r.align.how == ALIGN_MARKERS);
	assert_int_equal(r.lost_kernel, 3);
	assert_int_equal(r.count[CONFORM_HANDLE].matched, 1);
	assert_int_equal(r.count[CONFORM_WRITE].matched, 1);
	assert_int_equal(r.count[CONFORM_WRITE].kernel, 2);
	assert_int_equal(r.count[CONFORM_WRITE].sim, 2);
	assert_true(conform_ratio(&r.count[CONFORM_WRITE]) == 0.5);
	/* not recorded by the kernel, so not counted against us */
	assert_int_equal(r.count[CONFORM_FOLIO].sim, 0);
	assert_int_equal(r.count[CONFORM_STATE].matched, 1);
	assert_int_equal(r.count[CONFORM_CONTENT].matched, 1);
	assert_int_equal(r.count[CONFORM_EXTENT].matched, 1);
	assert_int_equal(r.count[CONFORM_PHYSICAL].matched, 0);
	assert_int_equal(r.count[CONFORM_TREE].matched, 2);
	assert_int_equal(r.count[CONFORM_CRASH_STATE].kernel, 1);
	assert_int_equal(r.count[CONFORM_CRASH_STATE].sim, 0);
	assert_int_equal(r.nr_left_out, 1);
	assert_string_equal(r.left_out[0].name, "ext4_sync_fs");
	assert_int_equal(r.nr_diffs, 3);
	assert_int_equal(r.diffs[0].op, 2);
	assert_int_equal(r.diffs[0].kernel_line, 7);
	assert_string_equal(r.diffs[0].kernel,
			    "ext4_write_end: dev 7,40 ino 12 pos 0 len 4096 copied 4096");
	assert_string_equal(r.diffs[0].sim,
			    "ext4_write_end: dev 7,40 ino 12 pos 0 len 4096 copied 0");
	assert_string_equal(r.diffs[1].file, "crash-one.yaml");
	assert_string_equal(r.diffs[2].file, "state.yaml");
	assert_string_equal(r.diffs[2].kernel, "a fiemap 0 8192 4096 last");

	out = open_memstream(&text, &len);
	conform_print(out, &r, &all);
	fclose(out);
	assert_non_null(strstr(text, "op 2 write a 0 4096, write: 1 missing, 1 too many"));
	assert_non_null(strstr(text, "lost 3 events"));
	free(text);
	conform_free(&r);
}

/* Level of DETERMINISM.txt: order counts only where two runs of the kernel agree on it. */
static void levels(void **state)
{
	struct conform_result r;

	(void)state;
	put("kernel", "events.txt",
	    T "ext4_write_begin: dev 7,40 ino 12 pos 0 len 1\n"
	    T "ext4_write_begin: dev 7,40 ino 13 pos 0 len 2\n");
	put("sim", "events.txt",
	    T "ext4_write_begin: dev 7,40 ino 13 pos 0 len 2\n"
	    T "ext4_write_begin: dev 7,40 ino 12 pos 0 len 1\n");
	assert_int_equal(compare(&r), 0);
	assert_int_equal(r.align.how, ALIGN_NOT);
	assert_int_equal(r.count[CONFORM_WRITE].matched, 1);
	conform_free(&r);
	put("", "DETERMINISM.txt", "other: same\nkernel: threads jbd2_handle_stats:1\n");
	assert_int_equal(compare(&r), 0);
	assert_string_equal(r.capture.level, "threads");
	assert_int_equal(r.count[CONFORM_WRITE].matched, 2);
	conform_free(&r);
}

/* A trace without markers: operations by its system calls, else by order. */
static void no_markers(void **state)
{
	struct conform_filter all = { .all = true };
	struct conform_result r;
	char path[256], sim[256], *text;
	size_t len;
	FILE *out;

	(void)state;
	snprintf(path, sizeof(path), "%s/kernel/trace.txt", root);
	snprintf(sim, sizeof(sim), "%s/sim", root);
	put("sim", "ops.txt", "1 open a\n2 write a 0 4096\n3 write a 4096 8192\n4 fsync a\n");
	put("sim", "events.txt",
	    T "tracing_mark_write: foliosim op 1 open a\n"
	    T "jbd2_handle_start: dev 7,40 tid 7 type 4 line_no 9 requested_blocks 47\n"
	    T "tracing_mark_write: foliosim op 2 write a 0 4096\n"
	    T "ext4_write_begin: dev 7,40 ino 12 pos 0 len 4096\n"
	    T "tracing_mark_write: foliosim op 3 write a 4096 8192\n"
	    T "ext4_write_begin: dev 7,40 ino 12 pos 4096 len 8192\n"
	    T "mm_filemap_add_to_page_cache: dev 7:40 ino c pfn=0x0 ofs=4096 order=0\n"
	    T "tracing_mark_write: foliosim op 4 fsync a\n"
	    T "ext4_write_end: dev 7,40 ino 12 pos 0 len 1 copied 1\n");
	put("kernel", "trace.txt",
	    "CPU:0 [LOST 5 EVENTS]\n"
	    T "sys_openat(dfd: 0xffffff9c, filename: 0x7f, flags: 0x42, mode: 0x1a4)\n"
	    T "sys_openat(dfd: 0xffffff9c, filename: 0x7f, flags: 0x42, mode: 0x1a4)\n"
	    T "jbd2_handle_start: dev 7,70 tid 3 type 4 line_no 1 requested_blocks 47\n"
	    T "ext4_some_new_event: dev 7,70 ino 12 colour blue\n"
	    T "sys_write(fd: 1, buf: 0x7f, count: 5)\n"
	    T "sys_pwrite64(fd: 3, buf: 0x7f, count: 0x1000, pos: 0)\n"
	    T "ext4_write_begin: dev 7,70 ino 12 pos 0 len 4096\n"
	    T "ext4_write_begin: dev 8,1 ino 99 pos 0 len 4096\n"
	    T "sys_pwrite64(fd: 3, buf: 0x7f, count: 0x2000, pos: 0x1000)\n"
	    T "ext4_write_begin: dev 7,70 ino 12 pos 4096 len 4096\n"
	    T "sys_fsync(fd: 3)\n"
	    T "ext4_write_end: dev 7,70 ino 12 pos 0 len 1 copied 1\n");
	assert_int_equal(conform_compare(path, sim, "7,70", &r), 0);
	assert_int_equal(r.align.how, ALIGN_CALLS);
	assert_int_equal(r.align.calls, 6);
	assert_int_equal(r.align.events, 4);
	assert_int_equal(r.align.placed, 4);
	assert_int_equal(r.align.ops, 4);
	assert_int_equal(r.align.ops_placed, 4);
	assert_int_equal(r.foreign, 1);
	assert_int_equal(r.lost_kernel, 5);
	assert_int_equal(r.nr_diffs, 1);
	assert_int_equal(r.diffs[0].op, 3);
	assert_int_equal(r.count[CONFORM_WRITE].matched, 2);
	/* the trace has no folio events: those of the model do not count */
	assert_int_equal(r.count[CONFORM_FOLIO].sim, 0);
	assert_int_equal(r.nr_left_out, 2);
	assert_string_equal(r.left_out[0].name, "ext4_some_new_event");
	assert_string_equal(r.left_out[1].name, "mm_filemap_add_to_page_cache");
	assert_int_equal(r.left_out[1].count, 0);
	conform_free(&r);

	/* no calls; operation 1 is not there at all, an event that nothing says belongs to 2 */
	put("kernel", "trace.txt",
	    T "ext4_write_begin: dev 7,70 ino 12 pos 0 len 4096\n"
	    T "ext4_write_end: dev 7,70 ino 12 pos 0 len 4096 copied 4096\n"
	    T "ext4_write_begin: dev 7,70 ino 12 pos 4096 len 8192\n"
	    T "ext4_write_end: dev 7,70 ino 12 pos 0 len 1 copied 1\n"
	    T "jbd2_handle_start: dev 7,70 tid 3 type 5 line_no 1 requested_blocks 9\n");
	assert_int_equal(conform_compare(path, sim, NULL, &r), 0);
	assert_int_equal(r.align.how, ALIGN_ORDER);
	assert_int_equal(r.align.placed, 3);
	assert_int_equal(r.align.ops, 4);
	assert_int_equal(r.align.ops_placed, 3);
	assert_int_equal(r.align.lost_op[0], 1);
	assert_int_equal(r.count[CONFORM_WRITE].matched, 3);
	assert_int_equal(r.count[CONFORM_WRITE].kernel, 4);
	out = open_memstream(&text, &len);
	conform_print(out, &r, &all);
	fclose(out);
	assert_non_null(strstr(text, "aligned by order; 3 of 5 events"));
	assert_non_null(strstr(text, "1 of 4 operations with events were not found: op 1 open a"));
	assert_non_null(strstr(text, "op 2 write a 0 4096, write: 1 missing, 0 too many"));
	free(text);
	conform_free(&r);
}

static int make_root(void **state)
{
	(void)state;
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alignment),   cmocka_unit_test(multisets),
		cmocka_unit_test(lines),       cmocka_unit_test(read_back),
		cmocka_unit_test(what_counts), cmocka_unit_test(captures),
		cmocka_unit_test(levels),      cmocka_unit_test(no_markers),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
