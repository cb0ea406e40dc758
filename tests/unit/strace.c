// SPDX-License-Identifier: MIT
/*
 * Logs of strace, written by hand in every style.  Operations are compared as text: number of the
 * operation, time in microseconds where it is of interest, the op with #SLOT for open files.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "trace/oplist.h"
#include "trace/trace.h"

static struct trace t;
static struct trace_options opt;
static char err[512];

static int load(const char *log, bool gz)
{
	char path[] = "/tmp/strace-test-XXXXXX";
	int fd = mkstemp(path), ret;
	gzFile z;

	assert_true(fd >= 0);
	if (gz) {
		z = gzdopen(dup(fd), "wb");
		gzputs(z, log);
		gzclose(z);
	} else {
		assert_int_equal(write(fd, log, strlen(log)), (ssize_t)strlen(log));
	}
	close(fd);
	ret = trace_load(path, &opt, &t, err, sizeof(err));
	unlink(path);
	return ret;
}

static char *list(bool times)
{
	static char out[16384];
	char buf[512], f[16], g[16];
	size_t n = 0;

	out[0] = '\0';
	for (uint32_t i = 0; i < t.v.nr; i++) {
		const struct foliofs_op *op = &t.v.ops[i];

		snprintf(f, sizeof(f), "#%d", op->file);
		snprintf(g, sizeof(g), "#%d", op->file2);
		n += (size_t)snprintf(out + n, sizeof(out) - n, "%u ", op->id);
		if (times)
			n += (size_t)snprintf(out + n, sizeof(out) - n, "@%llu ",
					      (unsigned long long)op->time_ns / 1000);
		n += (size_t)snprintf(out + n, sizeof(out) - n, "%s",
				      oplist_format(op, f, g, buf, sizeof(buf)));
		if (op->kind == FOLIOFS_OP_OPEN)
			n += (size_t)snprintf(out + n, sizeof(out) - n, " -> %s", f);
		n += (size_t)snprintf(out + n, sizeof(out) - n, "\n");
	}
	return out;
}

static void is(const char *log, bool times, const char *expected)
{
	if (load(log, false))
		fail_msg("%s", err);
	assert_string_equal(list(times), expected);
	trace_free(&t);
}

/* The message, with the name of the file taken off. */
static void refused(const char *log, const char *message)
{
	assert_int_equal(load(log, false), -EINVAL);
	assert_non_null(strchr(err, ':'));
	assert_string_equal(strchr(err, ':') + 1, message);
}

static const struct trace_call *call(const char *name)
{
	for (uint32_t i = 0; i < t.nr_calls; i++)
		if (!strcmp(t.calls[i].name, name))
			return &t.calls[i];
	fail_msg("%s is not counted", name);
	return NULL;
}

static int setup(void **state)
{
	(void)state;
	memset(&opt, 0, sizeof(opt));
	return 0;
}

#define OPENED "openat(AT_FDCWD, \"/mnt/a\", O_RDWR|O_CREAT, 0644) = 3\n"

static void prefixes(void **state)
{
	(void)state;
	/* nothing */
	is(OPENED "fsync(3) = 0\n", true, "1 @12000 open a -> #0\n2 @24000 fsync #0\n");
	/* pid column, time since the epoch */
	is("12 1700000000.000100 " OPENED "12 1700000000.000350 fsync(3)   = 0\n", true,
	   "1 @0 open a -> #0\n2 @250 fsync #0\n");
	/* times of the day, over midnight; -T */
	is("23:59:59.999000 openat(AT_FDCWD, \"/mnt/a\", O_RDWR|O_CREAT, 0644) = 3 <0.000022>\n"
	   "00:00:00.001000 fsync(3) = 0 <0.000100>\n", true,
	   "1 @0 open a -> #0\n2 @2000 fsync #0\n");
	/* whole seconds */
	is("12 10:00:01 " OPENED "12 10:00:03 fsync(3) = 0\n", true,
	   "1 @0 open a -> #0\n2 @2000000 fsync #0\n");
	is("1700000000 " OPENED "1700000002 fsync(3) = 0\n", true,
	   "1 @0 open a -> #0\n2 @2000000 fsync #0\n");
	/* -r: since the line before, comments of strace included */
	is("     0.000000 " OPENED "     0.000100 --- SIGALRM {si_signo=SIGALRM} ---\n"
	   "     0.000200 fsync(3) = 0\n", true, "1 @0 open a -> #0\n2 @300 fsync #0\n");
	is("12 1700000000.000100 (+     0.000000) " OPENED
	   "12 1700000000.000350 (+     0.000250) fsync(3) = 0\n", true,
	   "1 @0 open a -> #0\n2 @250 fsync #0\n");
	/* -y, -yy, and a path with what must be escaped */
	is("openat(AT_FDCWD</mnt/d>, \"x y\", O_WRONLY|O_CREAT|O_APPEND, 0600) = 3</mnt/d/x y>\n"
	   "write(3</mnt/d/x y>, \"ab\\\")\"..., 5) = 5\n"
	   "fsync(3</mnt/d/x y>) = 0\n", false,
	   "1 open d/x y wo append mode=0600 -> #0\n2 append #0 5\n3 fsync #0\n");
	is("openat(AT_FDCWD</home>, \"/mnt/q\\74\\303\\244\", O_WRONLY|O_CREAT, 0600) = "
	   "3</mnt/q\\74\\303\\244>\n"
	   "write(1</dev/null<char 1:3>>, \"x\", 1) = 1\n"
	   "read(4<TCP:[127.0.0.1:5->127.0.0.1:6]>, \"x\", 1) = 1\n", false,
	   "1 open q<\303\244 wo mode=0600 -> #0\n");
}

static void without_output_file(void **state)
{
	(void)state;
	/* strace on a terminal: no number until there are two processes; the first is 100. */
	is(OPENED
	   "fork() = 101\n"
	   "strace: Process 101 attached\n"
	   "[pid   100] write(3, \"x\", 1) = 1\n"
	   "[pid   101] write(3, \"y\", 1 <unfinished ...>\n"
	   "[pid   100] openat(AT_FDCWD, \"/mnt/b\", O_RDONLY) = 4\n"
	   "[pid   101] <... write resumed>) = 1\n"
	   "[pid   101] fsync(4) = -1 EBADF (Bad file descriptor)\n"
	   "[pid   101] exit_group(0) = ?\n"
	   "[pid   101] +++ exited with 0 +++\n"
	   "--- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=101} ---\n"
	   "write(3, \"z\", 1) = 1\n"
	   "+++ exited with 0 +++\n", false,
	   "1 open a -> #0\n2 write #0 0 1\n3 open b ro -> #1\n4 write #0 1 1\n5 write #0 2 1\n"
	   "6 close #0\n6 close #1\n");
}

static void fork_tables(void **state)
{
	(void)state;
	/* The child comes before the return of the parent's call; its table is a copy of that. */
	is("10 " OPENED
	   "10 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD <unfinished ...>\n"
	   "11 close(3) = 0\n"
	   "11 openat(AT_FDCWD, \"/mnt/b\", O_RDWR|O_CREAT, 0644) = 3\n"
	   "10 <... clone resumed>, child_tidptr=0x7f) = 11\n"
	   "10 write(3, \"x\", 1) = 1\n"
	   "11 write(3, \"x\", 2) = 2\n"
	   "11 +++ exited with 0 +++\n"
	   "10 close(3) = 0\n",
	   false,
	   "1 open a -> #0\n2 open b -> #1\n3 write #0 0 1\n4 write #1 0 2\n5 close #1\n6 close "
	   "#0\n");
	/* Threads share the table. */
	is("10 " OPENED
	   "10 clone3({flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_THREAD, exit_signal=0} => "
	   "{parent_tid=[11]}, 88) = 11\n"
	   "11 close(3) = 0\n"
	   "10 write(3, \"x\", 1) = -1 EBADF (Bad file descriptor)\n"
	   "11 openat(AT_FDCWD, \"/mnt/b\", O_RDONLY) = 3\n"
	   "10 read(3, \"x\", 7) = 1\n", false,
	   "1 open a -> #0\n2 close #0\n3 open b ro -> #0\n4 read #0 0 7\n");
	/* close takes effect where it begins. */
	is("10 " OPENED
	   "10 clone(child_stack=0x7f, flags=CLONE_VM|CLONE_FS|CLONE_FILES) = 11\n"
	   "10 close(3 <unfinished ...>\n"
	   "11 openat(AT_FDCWD, \"/mnt/b\", O_RDWR|O_CREAT, 0644) = 3\n"
	   "10 <... close resumed>) = 0\n"
	   "11 write(3, \"x\", 1) = 1\n", false,
	   "1 open a -> #0\n2 close #0\n3 open b -> #0\n4 write #0 0 1\n");
	/* execve closes what is close-on-exec, by flag or by fcntl. */
	is("openat(AT_FDCWD, \"/mnt/a\", O_RDWR|O_CREAT|O_CLOEXEC, 0644) = 3\n"
	   "openat(AT_FDCWD, \"/mnt/b\", O_RDWR|O_CREAT, 0644) = 4\n"
	   "openat(AT_FDCWD, \"/mnt/c\", O_RDWR|O_CREAT, 0644) = 5\n"
	   "fcntl(5, F_SETFD, FD_CLOEXEC) = 0\n"
	   "execve(\"/bin/x\", [\"x\"], 0x7f /* 3 vars */) = 0\n"
	   "write(4, \"x\", 1) = 1\n",
	   false,
	   "1 open a -> #0\n2 open b -> #1\n3 open c -> #2\n4 close #0\n4 close #2\n5 write #1 0 "
	   "1\n");
}

static void dup_tables(void **state)
{
	(void)state;
	is(OPENED
	   "dup(3) = 4\n"
	   "write(3, \"x\", 10) = 10\n"
	   "close(3) = 0\n"
	   "write(4, \"x\", 5) = 5\n" /* the position is shared */
	   "dup2(4, 7) = 7\n"
	   "fcntl(7, F_DUPFD_CLOEXEC, 10) = 10\n"
	   "close_range(4, 7, 0) = 0\n"
	   "lseek(10, -3, SEEK_END) = 12\n"
	   "write(10, \"x\", 1) = 1\n"
	   "openat(AT_FDCWD, \"/mnt/b\", O_RDWR|O_CREAT, 0644) = 3\n"
	   "dup3(3, 10, O_CLOEXEC) = 10\n", /* the last of a is closed */
	   false,
	   "1 open a -> #0\n2 write #0 0 10\n3 write #0 10 5\n4 write #0 12 1\n5 open b -> #1\n"
	   "6 close #0\n");
}

static void reads_and_writes(void **state)
{
	(void)state;
	is(OPENED
	   "pwrite64(3, \"x\"..., 100, 0) = 100\n"
	   "writev(3, [{iov_base=\"x\", iov_len=3}, {iov_base=\"iov_len=9\", iov_len=4}], 2) = 7\n"
	   "pwritev(3, [{iov_base=\"x\"..., iov_len=30}], 1, 4096) = 30\n"
	   "pwritev2(3, [{iov_base=\"x\"..., iov_len=30}], 1, -1, RWF_DSYNC) = 30\n"
	   "lseek(3, 0, SEEK_SET) = 0\n"
	   "readv(3, [{iov_base=\"x\", iov_len=30}, {iov_base=\"x\", iov_len=40}], 2) = 70\n"
	   "read(3, \"x\"..., 4096) = 4056\n"
	   "preadv(3, [{iov_base=\"x\", iov_len=8}], 1, 16) = 8\n"
	   "write(3, \"\", 0) = 0\n"
	   "write(3, \"x\"..., 8192) = 512\n" /* no space for more */
	   "read(0, \"x\", 1) = 1\n",
	   false,
	   "1 open a -> #0\n2 write #0 0 100\n3 write #0 0 7\n4 write #0 4096 30\n5 write #0 7 30\n"
	   "5 fdatasync #0\n6 read #0 0 70\n7 read #0 70 4096\n8 read #0 16 8\n9 write #0 4126 "
	   "512\n");
}

static void sizes_and_syncs(void **state)
{
	(void)state;
	is(OPENED "ftruncate(3, 5000) = 0\n"
		  "truncate(\"/mnt/a\", 4000) = 0\n"
		  "fallocate(3, FALLOC_FL_KEEP_SIZE|FALLOC_FL_PUNCH_HOLE, 0, 1024) = 0\n"
		  "fallocate(3, 0, 0, 8192) = 0\n"
		  "lseek(3, 0, SEEK_END) = 8192\n"
		  "fdatasync(3) = 0\n"
		  "sync_file_range(3, 0, 0, SYNC_FILE_RANGE_WRITE) = 0\n"
		  "syncfs(3) = 0\n"
		  "sync() = 0\n"
		  "fadvise64(3, 0, 0, POSIX_FADV_DONTNEED) = 0\n"
		  "readahead(3, 0, 65536) = 0\n"
		  "openat(AT_FDCWD, \"/proc/sys/vm/drop_caches\", O_WRONLY) = 4\n"
		  "write(4, \"3\\n\", 2) = 2\n",
	   false,
	   "1 open a -> #0\n2 truncate #0 5000\n3 truncate /a 4000\n4 fallocate #0 punch 0 1024\n"
	   "5 fallocate #0 0 0 8192\n6 fdatasync #0\n7 syncrange #0 0 0 how=start\n8 syncfs\n9 "
	   "sync\n"
	   "10 fadvise #0 0 0 dontneed\n11 fadvise #0 0 65536 willneed\n12 dropcaches 3\n");
}

static void copies(void **state)
{
	(void)state;
	is("openat(AT_FDCWD, \"/mnt/a\", O_RDONLY) = 3\n"
	   "openat(AT_FDCWD, \"/mnt/b\", O_WRONLY|O_CREAT|O_EXCL, 0644) = 4\n"
	   "copy_file_range(3, NULL, 4, NULL, 9223372035781033984, 0) = 100\n"
	   "copy_file_range(3, NULL, 4, NULL, 9223372035781033984, 0) = 0\n"
	   "copy_file_range(3, [10], 4, [2000], 50, 0) = 50\n"
	   "sendfile(4, 3, [0] => [60], 60) = 60\n"
	   "splice(5, NULL, 4, NULL, 4096, 0) = 40\n"
	   "ioctl(4, FICLONE, 3) = -1 EOPNOTSUPP (Operation not supported)\n", false,
	   "1 open a ro -> #0\n2 open b wo excl -> #1\n3 copyrange #0 0 #1 0 100\n"
	   "4 copyrange #0 10 #1 2000 50\n5 read #0 0 60\n5 write #1 100 60\n6 write #1 160 40\n");
}

static void names(void **state)
{
	(void)state;
	is("mkdir(\"/mnt/d\", 0755) = 0\n"
	   "chdir(\"/mnt/d\") = 0\n"
	   "openat(AT_FDCWD, \"../d/./x\", O_RDWR|O_CREAT, 0644) = 3\n"
	   "openat(AT_FDCWD, \"..\", O_RDONLY|O_DIRECTORY) = 4\n"
	   "mkdirat(4, \"e\", 0700) = 0\n"
	   "renameat(AT_FDCWD, \"x\", 4, \"e/y\") = 0\n"
	   "fchdir(4) = 0\n"
	   "linkat(AT_FDCWD, \"e/y\", AT_FDCWD, \"z\", 0) = 0\n"
	   "symlink(\"e/y\", \"/mnt/s\") = 0\n"
	   "openat(AT_FDCWD, \"s\", O_RDONLY) = 5\n"
	   "unlinkat(4, \"d\", AT_REMOVEDIR) = 0\n"
	   "unlink(\"z\") = 0\n"
	   "rename(\"e\", \"f\") = 0\n"
	   "openat(AT_FDCWD, \"f/y\", O_RDONLY) = 6\n"
	   "fsync(4) = 0\n"
	   "fchmod(3, 0600) = 0\n"
	   "utimensat(3, NULL, [UTIME_NOW, UTIME_NOW], 0) = 0\n"
	   "fchownat(AT_FDCWD, \"f/y\", 0, 0, AT_SYMLINK_NOFOLLOW) = 0\n"
	   "fsetxattr(3, \"user.a\", \"xyz\", 3, 0) = 0\n"
	   "newfstatat(6, \"\", {st_mode=S_IFREG|0600, st_size=0, ...}, AT_EMPTY_PATH) = 0\n",
	   false,
	   "1 mkdir d\n2 open d/x -> #0\n3 open / ro dir -> #1\n4 mkdir e mode=0700\n5 rename d/x e/y\n"
	   "6 link e/y z\n7 symlink s e/y\n8 open e/y ro -> #2\n9 rmdir d\n10 unlink z\n"
	   "11 rename e f\n12 open f/y ro -> #3\n13 fsync #1\n14 setattr #0\n15 setattr #0\n"
	   "16 chown /f/y\n17 setxattr #0 3\n18 stat #3\n");
	/* An unnamed file gets a name. */
	is("openat(AT_FDCWD, \"/mnt\", O_RDWR|O_TMPFILE, 0600) = 3\n"
	   "write(3, \"x\", 1) = 1\n"
	   "linkat(AT_FDCWD, \"/proc/self/fd/3\", AT_FDCWD, \"/mnt/t\", AT_SYMLINK_FOLLOW) = 0\n"
	   "openat(AT_FDCWD, \"/mnt/t\", O_RDONLY) = 4\n", false,
	   "1 open / tmpfile mode=0600 -> #0\n2 write #0 0 1\n3 link #0 t\n4 open t ro -> #1\n");
}

static void mappings(void **state)
{
	const char *log =
		OPENED
		"ftruncate(3, 10000) = 0\n"
		"mmap(NULL, 16384, PROT_READ|PROT_WRITE, MAP_SHARED, 3, 0) = 0x7f0000000000\n"
		"close(3) = 0\n" /* the mapping keeps it open */
		"msync(0x7f0000001000, 4096, MS_SYNC) = 0\n"
		"madvise(0x7f0000000000, 16384, MADV_WILLNEED) = 0\n"
		"munmap(0x7f0000000000, 4096) = 0\n"
		"mremap(0x7f0000001000, 12288, 4096, MREMAP_MAYMOVE) = 0x7f0000010000\n"
		"munmap(0x7f0000010000, 4096) = 0\n";

	(void)state;
	is(log, false,
	   "1 open a -> #0\n2 truncate #0 10000\n3 msync #0 4096 4096\n4 fadvise #0 0 16384 "
	   "willneed\n"
	   "5 close #0\n");
	opt.mmap_dirty = true;
	is(log, false,
	   "1 open a -> #0\n2 truncate #0 10000\n3 mwrite #0 4096 4096\n3 msync #0 4096 4096\n"
	   "4 fadvise #0 0 16384 willneed\n5 mwrite #0 0 4096\n6 mwrite #0 4096 5904\n"
	   "7 mwrite #0 4096 4096\n7 close #0\n");
}

static void assumptions(void **state)
{
	(void)state;
	if (load("openat(AT_FDCWD, \"/mnt/d/read\", O_RDONLY) = 3\n"
		 "read(3, \"x\"..., 4096) = 4096\n"
		 "read(3, \"x\"..., 4096) = 100\n"
		 "openat(AT_FDCWD, \"/mnt/end\", O_RDWR|O_CREAT, 0644) = 4\n"
		 "lseek(4, 0, SEEK_END) = 777\n"
		 "newfstatat(AT_FDCWD, \"/mnt/gone\", 0x7f, 0) = -1 ENOENT (No such file or "
		 "directory)\n"
		 "openat(AT_FDCWD, \"/mnt/gone\", O_RDWR|O_CREAT, 0644) = 5\n"
		 "openat(AT_FDCWD, \"/mnt/log\", O_WRONLY|O_APPEND) = 6\n"
		 "write(6, \"x\"..., 50) = 50\n"
		 "fstat(6, {st_mode=S_IFREG|0644, st_size=1050, ...}) = 0\n"
		 "openat(AT_FDCWD, \"/mnt/map\", O_RDONLY) = 7\n"
		 "mmap(NULL, 5000, PROT_READ, MAP_PRIVATE, 7, 0x1000) = 0x7f0000000000\n"
		 "rename(\"/mnt/d\", \"/mnt/e\") = 0\n"
		 "openat(AT_FDCWD, \"/mnt/e/other\", O_RDONLY) = 8\n",
		 false))
		fail_msg("%s", err);
	assert_int_equal(t.nr_assumptions, 6);
	assert_string_equal(t.assumptions[0].path, "d");
	assert_true(t.assumptions[0].dir);
	assert_string_equal(t.assumptions[1].path, "d/other"); /* by its first name */
	assert_string_equal(t.assumptions[2].path, "d/read");
	assert_int_equal(t.assumptions[2].size, 4196);
	assert_string_equal(t.assumptions[3].path, "end");
	assert_int_equal(t.assumptions[3].size, 777);
	assert_string_equal(t.assumptions[4].path, "log");
	assert_int_equal(t.assumptions[4].size, 1000); /* 1050 less the 50 appended */
	assert_string_equal(t.assumptions[5].path, "map");
	assert_int_equal(t.assumptions[5].size, 9096);
	assert_int_equal(t.contradictions, 0);
	trace_free(&t);
	/* Open before the trace, which -y shows. */
	is("write(5</mnt/old>, \"x\", 3) = 3\n", false,
	   "1 open old nocreat -> #0\n1 write #0 0 3\n");
	/* More in the file than was written. */
	assert_int_equal(load("openat(AT_FDCWD, \"/mnt/a\", O_RDWR|O_CREAT|O_TRUNC, 0644) = 3\n"
			      "read(3, \"x\", 10) = 10\n", false), 0);
	assert_int_equal(t.contradictions, 1);
	trace_free(&t);
}

static void counts(void **state)
{
	(void)state;
	assert_int_equal(load(OPENED
			      "brk(NULL) = 0x5000\n"
			      "ioctl(3, _IOC(_IOC_READ|_IOC_WRITE, 0x66, 0xf, 0x28), 0x7f) = 0\n"
			      "lseek(3, 0, SEEK_CUR) = 0\n"
			      "mknod(\"/mnt/p\", S_IFIFO|0600) = 0\n"
			      "openat(AT_FDCWD, \"/etc/passwd\", O_RDONLY) = 4\n"
			      "read(4, \"x\", 10) = 10\n"
			      "read(3, \"x\", 10) = -1 EINTR (Interrupted)\n"
			      "read(3, 0x7f, 10) = ? ERESTARTSYS (To be restarted)\n"
			      "read(3, \"\", 10) = 0\n", false), 0);
	assert_int_equal(call("brk")->outside, 1);
	assert_int_equal(call("ioctl")->unmodelled, 1);
	assert_int_equal(call("mknod")->unmodelled, 1);
	assert_int_equal(call("lseek")->passive, 1);
	assert_int_equal(call("openat")->total, 2);
	assert_int_equal(call("openat")->outside, 1);
	assert_int_equal(call("read")->total, 4);
	assert_int_equal(call("read")->failed, 2);
	assert_int_equal(call("read")->replayed, 1);
	trace_free(&t);
}

static void marks(void **state)
{
	(void)state;
	assert_int_equal(load("# op 3 append a 5\n"
			      "7 1700000000.5 openat(AT_FDCWD</mnt>, \"a\", O_RDWR) = 3</mnt/a>\n"
			      "7 1700000000.6 write(3</mnt/a>, \"x\", 5) = 5\n"
			      "# op 9 fsync a\n"
			      "7 1700000000.7 fsync(3</mnt/a>) = 0\n", false), 0);
	assert_string_equal(list(true), "3 @0 open a nocreat -> #0\n3 @100000 write #0 0 5\n"
			    "9 @200000 fsync #0\n");
	assert_string_equal(t.v.texts[0], "append a 5");
	assert_null(t.v.texts[1]);
	assert_string_equal(t.v.texts[2], "fsync a");
	assert_int_equal(t.v.lines[2], 5);
	trace_free(&t);
	/* Without them, the text is that of the operation. */
	assert_int_equal(load(OPENED "pread64(3, \"x\", 6, 7) = 6\n", false), 0);
	assert_string_equal(t.v.texts[0], "open a");
	assert_string_equal(t.v.texts[1], "read a 7 6");
	trace_free(&t);
}

static void roots(void **state)
{
	(void)state;
	/* Paths below /mnt: that is it. */
	is("openat(AT_FDCWD, \"/etc/x\", O_RDONLY) = 3\n" OPENED, false, "1 open a -> #0\n");
	/* Asked for. */
	opt.root = "/srv/";
	is("openat(AT_FDCWD, \"/srv/x\", O_RDONLY) = 3\n"
	   "openat(AT_FDCWD, \"/srvx\", O_RDONLY) = 3\n" OPENED,
	   false, "1 open x ro -> #0\n2 close #0\n");
	opt.cwd = "/srv/d";
	is("openat(AT_FDCWD, \"../x\", O_RDONLY) = 3\n", false, "1 open x ro -> #0\n");
	opt.root = opt.cwd = NULL;
	/* The working directory, known or not. */
	is("openat(AT_FDCWD</home/u>, \"x\", O_RDWR|O_CREAT, 0644) = 3</home/u/x>\n"
	   "openat(AT_FDCWD</home/u>, \"/lib/y\", O_RDONLY) = 4</lib/y>\n",
	   false, "1 open x -> #0\n");
	is("openat(AT_FDCWD, \"/lib/y\", O_RDONLY) = 3\n"
	   "openat(AT_FDCWD, \"x\", O_RDWR|O_CREAT, 0644) = 4\n", false, "1 open x -> #0\n");
	/* Nothing: all but what is no file system of that kind. */
	is("openat(AT_FDCWD, \"/lib/y\", O_RDONLY) = 3\nopenat(AT_FDCWD, \"/proc/x\", O_RDONLY) = "
	   "4\n",
	   false, "1 open lib/y ro -> #0\n");
}

static void aio(void **state)
{
	(void)state;
	is("openat(AT_FDCWD, \"/mnt/a\", O_RDWR|O_CREAT|O_DIRECT, 0644) = 5\n"
	   "io_submit(0x7f, 2, [{aio_data=0x1, aio_lio_opcode=IOCB_CMD_PWRITE, aio_fildes=5, "
	   "aio_buf=\"x\"..., aio_nbytes=4096, aio_offset=8192}, {aio_data=0x2, "
	   "aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=5, aio_buf=0x7f, aio_nbytes=512, "
	   "aio_offset=0}]) = 2\n", false,
	   "1 open a direct -> #0\n2 write #0 8192 4096\n2 read #0 0 512\n");
}

static void gzip(void **state)
{
	(void)state;
	assert_int_equal(load(OPENED "fsync(3) = 0\n", true), 0);
	assert_int_equal(t.format, TRACE_STRACE);
	assert_string_equal(list(false), "1 open a -> #0\n2 fsync #0\n");
	trace_free(&t);
}

static void messages(void **state)
{
	(void)state;
	refused(OPENED "write(3, \"abc",
		"2: expected a closing quotation mark of write, got \"\"abc\"");
	refused(OPENED "write(3, \"abc\", 3\n",
		"2: expected \")\" after the arguments of write, got \"3\"");
	refused(OPENED "fsync(3) 0\n", "2: expected \"= RESULT\" of fsync, got \" 0\"");
	refused(OPENED "\nhello there\n", "3: expected a system call, got \"hello there\"");
	refused(OPENED "fsync(x) = 0\n", "2: expected a number as argument 1 of fsync, got \"x\"");
	refused(OPENED "pwrite64(3, \"x\", 1) = 1\n",
		"2: expected a number as argument 4 of pwrite64, got 3 arguments");
	refused("1 " OPENED "1 read(3, <unfinished ...>\n1 fsync(3) = 0\n",
		"3: expected \"<... read resumed>\" of process 1, got fsync");
	refused("1 " OPENED "1 read(3, <unfinished ...>\n1 <... write resumed>) = 0\n",
		"3: expected \"<... read resumed>\", got \"<... write resumed>\"");
	refused("# op 2 x\n" OPENED "# op 2 y\n",
		"3: expected \"# op N TEXT\" with N of at least 3, got \"# op 2 y\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(prefixes, setup),
		cmocka_unit_test_setup(without_output_file, setup),
		cmocka_unit_test_setup(fork_tables, setup),
		cmocka_unit_test_setup(dup_tables, setup),
		cmocka_unit_test_setup(reads_and_writes, setup),
		cmocka_unit_test_setup(sizes_and_syncs, setup),
		cmocka_unit_test_setup(copies, setup),
		cmocka_unit_test_setup(names, setup),
		cmocka_unit_test_setup(mappings, setup),
		cmocka_unit_test_setup(assumptions, setup),
		cmocka_unit_test_setup(counts, setup),
		cmocka_unit_test_setup(marks, setup),
		cmocka_unit_test_setup(roots, setup),
		cmocka_unit_test_setup(aio, setup),
		cmocka_unit_test_setup(gzip, setup),
		cmocka_unit_test_setup(messages, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
