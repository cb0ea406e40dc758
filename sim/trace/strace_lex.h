/* SPDX-License-Identifier: MIT */
/*
 * Lines of strace and their parts.
 *
 *	[pid 12] 12:00:00.123456 pwrite64(3</mnt/a>, "..."..., 10, 0) = 10 <0.000021>
 *	prefix                   name     arguments                     result
 */
#ifndef SIM_TRACE_STRACE_LEX_H
#define SIM_TRACE_STRACE_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum strace_kind {
	STRACE_EMPTY,
	STRACE_COMMENT, /* # ... */
	STRACE_NOTE, /* of strace itself: signals, attaching, detaching */
	STRACE_EXIT, /* the process is gone */
	STRACE_SUPERSEDED, /* a thread became process @other by execve */
	STRACE_CALL,
	STRACE_UNFINISHED, /* begins a call: the arguments so far in @rest */
	STRACE_RESUMED, /* ends one: what follows in @rest */
	STRACE_GARBLED,
};

struct strace_line {
	enum strace_kind kind;
	int pid; /* 0: the line has none */
	int other;
	int64_t time_ns; /* < 0: none; of the epoch, of the day, or since the line before */
	bool relative, of_day;
	char *name; /* of the call */
	char *rest; /* what follows the opening parenthesis, or "resumed>" */
	const char *expected; /* garbled: what should have come, and where */
	const char *at;
};

/* Take @text (a whole line, which is changed) apart. */
void strace_lex_line(char *text, struct strace_line *l);

#define STRACE_ARGS 10

struct strace_span {
	const char *s;
	size_t len;
};

struct strace_call {
	const char *name;
	struct strace_span args[STRACE_ARGS];
	unsigned int nr; /* arguments; those after the last are dropped */
	bool finished; /* false: "= ?", the process went away in the call */
	bool failed; /* -1 ERRNO */
	int64_t result;
	struct strace_span error; /* ENOENT ... */
	struct strace_span path; /* -y: what the file descriptor returned stands for */
};

/*
 * Arguments and result of a call from what follows its opening parenthesis.
 * 0, or -1 with what was expected and where.
 */
int strace_lex_call(const char *rest, struct strace_call *c, const char **expected,
		    const char **at);

/* Argument values; false if it is not one. */
bool strace_int(struct strace_span a, int64_t *v); /* also 0x.., 0.., and 3</mnt/a> */
/* First number in brackets: [3] or [3] => [4]; false for NULL. */
bool strace_pointed(struct strace_span a, int64_t *v);
/* Is @flag among FLAG|FLAG|... ? */
bool strace_flag(struct strace_span a, const char *flag);
/* Value of NAME= in a structure: what follows it. */
bool strace_field(struct strace_span a, const char *name, struct strace_span *v);
/* What stands in <> behind a descriptor (-y), if it is a path; " (deleted)" taken off. */
bool strace_path_of(struct strace_span a, struct strace_span *path, bool *deleted);
/*
 * A quoted string with its escapes undone, or the same for bytes of a path as -y prints it
 * (no quotes).  The length, cut at @size - 1; -1 if it is no string.  @whole: not cut by strace.
 */
int strace_string(struct strace_span a, char *buf, size_t size, bool *whole);
int strace_unescape(struct strace_span a, char *buf, size_t size);
/* Sum of iov_len over an array of struct iovec; false if strace has not printed all of it. */
bool strace_iov_len(struct strace_span a, uint64_t *len);

#endif
