// SPDX-License-Identifier: MIT
/* Telling the formats of traces apart; logs of fio and of fsx. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace/oplist.h"
#include "trace/trace.h"

static struct trace t;
static struct trace_options opt;
static char err[512];

static int load(const char *log, size_t len)
{
	char path[] = "/tmp/trace-test-XXXXXX";
	int fd = mkstemp(path), ret;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, log, len), (ssize_t)len);
	close(fd);
	ret = trace_load(path, &opt, &t, err, sizeof(err));
	unlink(path);
	return ret;
}

static void is(const char *log, enum trace_format format, const char *expected)
{
	char out[4096], buf[512], f[16];
	size_t n = 0;

	if (load(log, strlen(log)))
		fail_msg("%s", err);
	assert_int_equal(t.format, format);
	for (uint32_t i = 0; i < t.v.nr; i++) {
		const struct foliofs_op *op = &t.v.ops[i];

		snprintf(f, sizeof(f), "#%d", op->file);
		n += (size_t)snprintf(out + n, sizeof(out) - n, "%llu %s\n",
				      (unsigned long long)op->time_ns / 1000,
				      oplist_format(op, f, f, buf, sizeof(buf)));
	}
	assert_string_equal(out, expected);
}

static void refused(const char *log, const char *message)
{
	assert_int_equal(load(log, strlen(log)), -EINVAL);
	assert_non_null(strchr(err, ':'));
	assert_string_equal(strchr(err, ':') + 1, message);
}

static void formats(void **state)
{
	(void)state;
	is("# a list\n\n1 open a\n2 write a 0 5\n", TRACE_OPLIST,
	   "12000 open a\n24000 write #0 0 5\n");
	trace_free(&t);
	is("# op 1 open a\nopenat(AT_FDCWD, \"/mnt/a\", O_RDONLY) = 3\n", TRACE_STRACE,
	   "12000 open a ro\n");
	trace_free(&t);
	assert_int_equal(trace_format_find("fsx"), TRACE_FSX);
	assert_int_equal(trace_format_find("elf"), -ENOENT);
	assert_int_equal(trace_load("/nonexistent/x", NULL, &t, err, sizeof(err)), -ENOENT);
	assert_string_equal(err, "/nonexistent/x: cannot open: No such file or directory");
	assert_int_equal(load("open a\nfs\0nc a\n", 14), -EINVAL);
	assert_string_equal(strchr(err, ':'), ":2: expected text, got a NUL byte");
	assert_int_equal(load("\x1f\x8b\x08\0\0\0\0\0\0\3K", 11), -EINVAL); /* gzip, cut short */
	assert_non_null(strstr(err, ": expected a whole gzip file, got one that is"));
	refused("",
		" expected operations on the modelled file system (root /), got none in 0 lines");
}

static void iolog(void **state)
{
	(void)state;
	opt.root = "/srv";
	is("fio version 3 iolog\n"
	   "34 /srv/d/f add\n"
	   "304 /srv/d/f open\n"
	   "311 /srv/d/f write 0 4096\n"
	   "359 /srv/d/f read 8192 4096\n"
	   "100451 /srv/d/f sync 28672 0\n"
	   "100500 /srv/d/f datasync 0 0\n"
	   "100600 /srv/d/f trim 0 1024\n"
	   "405989 /srv/d/f close\n", TRACE_IOLOG,
	   "304 open d/f\n311 write #0 0 4096\n359 read #0 8192 4096\n100451 fsync #0\n"
	   "100500 fdatasync #0\n100600 fallocate #0 punch 0 1024\n405989 close #0\n");
	assert_int_equal(t.nr_assumptions, 2);
	assert_string_equal(t.assumptions[0].path, "d");
	assert_true(t.assumptions[0].dir);
	assert_string_equal(t.assumptions[1].path, "d/f");
	assert_int_equal(t.assumptions[1].size, 12288);
	trace_free(&t);
	opt.root = NULL;
	is("fio version 2 iolog\n"
	   "f add\n"
	   "g add\n"
	   "g open\n"
	   "g write 0 512\n"
	   "g wait 1500 0\n"
	   "g write 512 512\n", TRACE_IOLOG,
	   "0 open g\n1 write #1 0 512\n1502 write #1 512 512\n");
	assert_int_equal(t.nr_slots, 2);
	trace_free(&t);
	refused("fio version 1 iolog\n", "1: expected \"fio version 2 iolog\" or 3, got "
		"\"fio version 1 iolog\"");
	refused("fio version 2 iolog\nf open\n",
		"2: expected \"add\" of the file before, got \"f open\"");
	refused("fio version 2 iolog\nf add\nf write 0 1\n",
		"3: expected \"open\" of the file before, got \"write\"");
	refused("fio version 3 iolog\n1 f add\n2 f open\n3 f fly 0 1\n",
		"4: expected add, open, close, read, write, trim, sync or datasync, got \"fly\"");
	refused("fio version 3 iolog\nf add\n",
		"2: expected \"TIME FILE ACTION [OFFSET LENGTH]\", got 2 words");
	refused("fio version 3 iolog\nx f add\n", "2: expected a time in microseconds, got \"x\"");
}

static void fsx(void **state)
{
	(void)state;
	is("# as recorded\n"
	   "write 0x1000 0x200 0x0\n"
	   "skip read 0x5000 0x100 0x1200\n"
	   "truncate 0x0 0x800 0x1200 close_open\n"
	   "mapwrite 0x100 0x80 0x800 *\n"
	   "fallocate 0x0 0x4000 0x800 keep_size\n"
	   "punch_hole 0x400 0x400 0x800 keep_size\n"
	   "zero_range 0x0 0x100 0x800\n"
	   "copy_range 0x0 0x100 0x1000\n"
	   "fsync 0x0 0x0 0x0\n", TRACE_FSX,
	   "12000 open fsx trunc mode=0666\n24000 write #0 4096 512\n36000 truncate #0 2048\n48000 close #0\n"
	   "60000 open fsx nocreat\n72000 mwrite #0 256 128\n84000 fallocate #0 keep_size 0 16384\n"
	   "96000 fallocate #0 punch 1024 1024\n108000 fallocate #0 zero 0 256\n"
	   "120000 copyrange #0 0 #0 4096 256\n132000 fsync #0\n");
	assert_int_equal(t.calls[1].failed, 1);
	trace_free(&t);
	refused("write 0x0 0x1 0x0\nwriet 0x0 0x1 0x0\n",
		"2: expected an operation of fsx, got \"wriet\"");
}

static void fsx_messages(void **state)
{
	(void)state;
	refused("write 0x0 0x1 0x0\nread 0x0 12 0x0\n",
		"2: expected a number in hexadecimal, got \"12\"");
	refused("write 0x0 0x1 0x0\nread 0x0\n",
		"2: expected a number in hexadecimal, got the end of the line");
	refused("write 0x0 0x1 0x0 fast\n", "1: expected keep_size, close_open or *, got \"fast\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats),
		cmocka_unit_test(iolog),
		cmocka_unit_test(fsx),
		cmocka_unit_test(fsx_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
