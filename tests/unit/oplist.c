// SPDX-License-Identifier: MIT
/* Op lists: fields of every operation, names over rename, loops, numbers and messages. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/oplist.h"

static struct oplist l;
static char err[256];

static int setup(void **state)
{
	(void)state;
	oplist_init(&l, 1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	oplist_free(&l);
	return 0;
}

static int parse(const char *text)
{
	struct trace_where w = { "F", 7, 1, err, sizeof(err) };

	err[0] = '\0';
	return oplist_parse_line(&l, text, &w);
}

static const struct foliofs_op *last(void)
{
	return &l.v.ops[l.v.nr - 1];
}

static const struct foliofs_op *op(const char *text)
{
	if (parse(text))
		fail_msg("%s: %s", text, err);
	return last();
}

static void refused(const char *text, const char *message)
{
	uint32_t nr = l.v.nr;

	assert_int_equal(parse(text), -EINVAL);
	assert_string_equal(err, message);
	assert_int_equal(l.v.nr, nr);
}

static void fields(void **state)
{
	const struct foliofs_op *o;

	(void)state;
	o = op("open a");
	assert_int_equal(o->kind, FOLIOFS_OP_OPEN);
	assert_int_equal(o->flags, FOLIOFS_O_CREAT);
	assert_int_equal(o->mode, 0644);
	assert_int_equal(o->file, 0);
	assert_string_equal(o->path, "a");
	assert_int_equal(o->id, 1);
	assert_int_equal(o->time_ns, 12000000);
	o = op("open b ro");
	assert_int_equal(o->flags, FOLIOFS_O_RDONLY);
	assert_int_equal(o->file, 1);
	o = op("open dir/c trunc excl dsync direct mode=0600 as=x");
	assert_int_equal(o->flags, FOLIOFS_O_CREAT | FOLIOFS_O_TRUNC | FOLIOFS_O_EXCL |
			 FOLIOFS_O_DSYNC | FOLIOFS_O_DIRECT);
	assert_int_equal(o->mode, 0600);
	assert_int_equal(o->file, 2);
	assert_int_equal(oplist_slot(&l, "x"), 2);
	assert_int_equal(oplist_slot(&l, "dir/c"), -1);
	o = op("write a 1M 70000 chunk=4K pause=5");
	assert_int_equal(o->off, 1048576);
	assert_int_equal(o->len, 70000);
	assert_int_equal(o->chunk, 4096);
	assert_int_equal(o->pause_ns, 5000000);
	assert_int_equal(o->time_ns, 48000000);
	o = op("append a 0x100"); /* 18 pieces before: 17 pauses of 5 ms */
	assert_int_equal(o->len, 256);
	assert_int_equal(o->time_ns, 48000000 + 17 * 5000000 + 12000000);
	o = op("fallocate a zero_keep 4096 8192");
	assert_int_equal(o->flags, 0x11);
	o = op("fallocate a punch 0 1K");
	assert_int_equal(o->flags, 0x03);
	assert_int_equal(o->len, 1024);
	o = op("mtouch a 10 20 5 pause=1");
	assert_int_equal(o->stride, 5);
	o = op("mread a 0 100 madv=huge");
	assert_int_equal(o->flags, FOLIOFS_MADV_HUGEPAGE);
	assert_int_equal(op("syncrange a 0 4096")->flags, 7);
	assert_int_equal(op("syncrange a 0 4096 how=start")->flags, 2);
	assert_int_equal(op("dropcaches")->flags, 1);
	assert_int_equal(op("dropcaches 3")->flags, 3);
	assert_int_equal(op("fadvise a 0 0 dontneed")->flags, FOLIOFS_FADV_DONTNEED);
	o = op("moveext a b 8192 4096");
	assert_int_equal(o->file, 0);
	assert_int_equal(o->file2, 1);
	assert_int_equal(o->off2, 8192);
	assert_int_equal(op("moveext a b 8192 4096 0")->off2, 0);
	assert_int_equal(op("chattr_j a on")->len, 1);
	o = op("copyrange a 1 b 2 3");
	assert_int_equal(o->off, 1);
	assert_int_equal(o->off2, 2);
	assert_int_equal(o->len, 3);
	assert_int_equal(o->file2, 1);
	assert_int_equal(op("writebad a 0 8192 100")->good, 100);
	o = op("punchevery a 0 1M 1K 4K");
	assert_int_equal(o->chunk, 1024);
	assert_int_equal(o->stride, 4096);
	assert_int_equal(op("fill a")->len, 67108864);
	assert_int_equal(op("fill a 1M")->len, 1048576);
	o = op("stat a");
	assert_int_equal(o->file, 0);
	assert_null(o->path);
	o = op("stat /a");
	assert_int_equal(o->file, -1);
	assert_string_equal(o->path, "/a");
	assert_int_equal(op("stat nobody")->file, -1);
	assert_int_equal(op("setxattr a 100")->len, 100);
	o = op("truncate /a 5");
	assert_int_equal(o->file, -1);
	assert_int_equal(o->len, 5);
	o = op("symlink new target");
	assert_string_equal(o->path, "new");
	assert_string_equal(o->path2, "target");
	o = op("writeback");
	assert_int_equal(o->file, -1);
	assert_int_equal(o->len, 0);
	o = op("writeback a 4096 pages=3");
	assert_int_equal(o->file, 0);
	assert_int_equal(o->off, 4096);
	assert_int_equal(o->len, 3);
	assert_int_equal(op("mkdir d")->mode, 0755);
	assert_int_equal(op("sleep_ms 250")->len, 250);
	assert_string_equal(op("crash here")->path, "here");
}

static void numbers(void **state)
{
	(void)state;
	op("5 open a");
	assert_int_equal(last()->id, 5);
	op("fsync a");
	assert_int_equal(last()->id, 6);
	op("  16001   fsync a   # comment");
	assert_int_equal(last()->id, 16001);
	assert_string_equal(l.v.texts[l.v.nr - 1], "fsync a");
	refused("16001 fsync a",
		"F:7:1: expected an operation number of at least 16002, got 16001");
	assert_int_equal(parse(""), 0);
	assert_int_equal(parse("# open b"), 0);
	assert_int_equal(l.v.nr, 3);
}

static void renames(void **state)
{
	(void)state;
	op("open a");
	op("open b");
	op("rename a b");
	assert_int_equal(op("fsync b")->file, 0); /* the file that was a */
	assert_int_equal(op("fsync b~")->file, 1);
	refused("fsync a", "F:7:7: expected a file that has been opened, got \"a\"");
	op("open a");
	assert_int_equal(last()->file, 2);
	op("close a");
	assert_int_equal(op("open a")->file, 2); /* its slot again */
	assert_int_equal(op("rename x y")->kind, FOLIOFS_OP_RENAME);
}

static void open_twice(void **state)
{
	(void)state;
	op("open a");
	op("open a trunc");
	assert_int_equal(l.v.nr, 3);
	assert_int_equal(l.v.ops[1].file, 1);
	assert_int_equal(l.v.ops[2].kind, FOLIOFS_OP_CLOSE);
	assert_int_equal(l.v.ops[2].file, 0);
	assert_int_equal(l.v.ops[2].id, 2);
	assert_null(l.v.texts[2]);
	assert_int_equal(op("fsync a")->file, 1);
	assert_int_equal(op("open a excl")->file, 2); /* fails: a is there */
	assert_int_equal(op("fsync a")->file, 1);
	op("unlink a");
	op("open a excl");
	assert_int_equal(last()->kind, FOLIOFS_OP_CLOSE);
	assert_int_equal(op("fsync a")->file, 3);
}

static void loops(void **state)
{
	(void)state;
	op("open a");
	assert_int_equal(parse("for i 0 16384 4096: write a {i} 4K"), 0);
	assert_int_equal(l.v.nr, 5);
	assert_int_equal(last()->off, 12288);
	assert_int_equal(last()->id, 5);
	assert_string_equal(l.v.texts[4], "write a 12288 4K");
	assert_int_equal(parse("for i 0 2 1: write a {65536+i*8192} {(i+1)*K}"), 0);
	assert_int_equal(last()->off, 73728);
	assert_int_equal(last()->len, 2048);
	assert_int_equal(parse("for n 4 0 -1: truncate a {n * 1M // 3 % 1000}"), 0);
	assert_int_equal(l.v.nr, 11);
	assert_int_equal(last()->len, 525); /* 1048576 / 3 = 349525 */
	assert_int_equal(parse("for i 5 5 1: fsync a"), 0);
	assert_int_equal(l.v.nr, 11);
}

static void expressions(void **state)
{
	static const struct {
		const char *text;
		int64_t value;
	} good[] = {
		{ "1+2*3", 7 }, { "(1+2)*3", 9 }, { "-7/2", -4 }, { "-7%2", 1 }, { "7%-2", -1 },
		{ "2-3-4", -5 }, { "0x10+010", 24 }, { "64K", 65536 }, { "v*M", 10485760 },
		{ "- -v", 10 }, { "100/10/5", 2 },
	};
	static const char *const bad[] = {"",	   "1+",  "(1",	 "1 2",
					  "w",	   "1/0", "1%0", "9223372036854775807+1",
					  "8G*8G", "v v", "1)"};
	const char *expected;
	int64_t v;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(oplist_expression(good[i].text, strlen(good[i].text), "v", 10, &v,
						   &expected), 0);
		assert_int_equal(v, good[i].value);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(oplist_expression(bad[i], strlen(bad[i]), "v", 10, &v, &expected),
				 -EINVAL);
		assert_non_null(expected);
	}
}

static void messages(void **state)
{
	(void)state;
	refused("opne a", "F:7:1: expected an operation, got \"opne\"");
	refused("  write a 0 1", "F:7:9: expected a file that has been opened, got \"a\"");
	op("open a");
	refused("write a x 1", "F:7:9: expected an offset, got \"x\"");
	refused("write a 0", "F:7:10: expected a length, got the end of the line");
	refused("3 write a 0", "F:7:12: expected a length, got the end of the line");
	refused("write a 0 1 2", "F:7:13: expected chunk=BYTES or pause=MS, got \"2\"");
	refused("read a 0 1 pause=3", "F:7:12: expected chunk=BYTES, got \"pause=3\"");
	refused("fsync a b", "F:7:9: expected the end of the line, got \"b\"");
	refused("write a 0 99999999999999999999",
		"F:7:11: expected a length, got \"99999999999999999999\"");
	refused("write a 9223372036854775807 1",
		"F:7:30: expected an end below 2^63, got the end of the line");
	refused("fallocate a hole 0 1",
		"F:7:13: expected a fallocate mode (0, keep_size, punch, zero, zero_keep, "
		"collapse, insert or unshare), got \"hole\"");
	refused("mtouch a 0 10 0", "F:7:15: expected a length above 0, got \"0\"");
	refused("chattr_j a maybe", "F:7:12: expected on or off, got \"maybe\"");
	refused("dropcaches 4", "F:7:12: expected 1, 2 or 3, got \"4\"");
	refused("for i 0 10: fsync a", "F:7:1: expected \"for VAR START STOP STEP: operation\", "
				       "got \"for i 0 10: fsync a\"");
	refused("for i 0 10 0: fsync a", "F:7:1: expected a step other than 0, got \"0\"");
	refused("for i 0 10 1: write a {i 4",
		"F:7:15: expected \"}\" after \"{\", got the end of the line");
	refused("for i 0 10 1: write a {j} 4",
		"F:7:15: expected the loop's variable or K, M, G, T, got \"{j}\"");
}

static void program_ends(void **state)
{
	(void)state;
	op("open a");
	op("open b");
	op("open c");
	op("close b");
	op("remount");
	assert_int_equal(l.v.nr, 7);
	assert_int_equal(l.v.ops[4].kind, FOLIOFS_OP_CLOSE);
	assert_int_equal(l.v.ops[4].file, 0);
	assert_int_equal(l.v.ops[4].id, 5);
	assert_string_equal(l.v.texts[4], "remount");
	assert_int_equal(l.v.ops[5].file, 2);
	assert_null(l.v.texts[5]);
	assert_int_equal(l.v.ops[6].kind, FOLIOFS_OP_REMOUNT);
	assert_null(l.v.texts[6]);
	assert_string_equal(op("debugfs set_inode_field a flags 0x84000")->path,
			    "set_inode_field a flags 0x84000");
	assert_int_equal(l.v.nr, 8); /* nothing is open any more */
	assert_int_equal(op("sysfs reserved_clusters 0")->len, 0);
}

static void format(void **state)
{
	static const char *const texts[] = {
		"open a",
		"open a ro",
		"open a trunc excl",
		"open a nocreat",
		"close a",
		"write a 1 2 chunk=3 pause=4",
		"append a 5",
		"read a 1 2",
		"truncate a 7",
		"fallocate a zero_keep 1 2",
		"mwrite a 1 2 pause=3",
		"mtouch a 1 2 3",
		"mread a 1 2 madv=seq",
		"fsync a",
		"sync",
		"syncrange a 1 2",
		"syncrange a 1 2 how=wait",
		"dropcaches 2",
		"fadvise a 1 2 random",
		"copyrange a 1 a 2 3",
		"rename x y",
		"mkdir d",
		"mkdir d mode=0700",
		"open z wo mode=0600",
		"writebad a 1 2 1",
		"setxattr a 3",
		"sleep_ms 4",
		"writeback a 1 pages=2",
		"punchevery a 1 2 3 4",
		"stat /x",
		"stat a",
		"chattr_j a off",
	};
	char buf[100];
	uint32_t nr;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		nr = l.v.nr;
		op(texts[i]);
		oplist_format(&l.v.ops[nr], "a", "a", buf, sizeof(buf));
		assert_string_equal(buf, texts[i]);
	}
	op("open a");
	assert_string_equal(oplist_format(op("write a 123 456"), "a", NULL, buf, 10), "write a 1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(fields, setup, teardown),
		cmocka_unit_test_setup_teardown(numbers, setup, teardown),
		cmocka_unit_test_setup_teardown(renames, setup, teardown),
		cmocka_unit_test_setup_teardown(open_twice, setup, teardown),
		cmocka_unit_test_setup_teardown(loops, setup, teardown),
		cmocka_unit_test_setup_teardown(expressions, setup, teardown),
		cmocka_unit_test_setup_teardown(messages, setup, teardown),
		cmocka_unit_test_setup_teardown(program_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(format, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
