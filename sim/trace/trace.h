/* SPDX-License-Identifier: MIT */
/*
 * Traces: recorded file operations of programs, turned into operations of the model.
 *
 *	op list		the syntax of oplist.h
 *	strace		logs of strace, with or without -f -o -y -yy -t -tt -ttt -r -T -s; gzipped
 *	iolog		logs of fio (write_iolog=), version 2 and 3
 *	fsx		operation logs of xfstests' fsx (--record-ops, *.fsxops)
 *
 * What a log cannot show is reported, not hidden: files that must have been there before
 * (assumptions), calls that failed, calls on other file systems, calls that the model does not
 * know, and places where the log contradicts itself (notes).
 */
#ifndef SIM_TRACE_TRACE_H
#define SIM_TRACE_TRACE_H

#include "trace/opvec.h"

enum trace_format {
	TRACE_AUTO, /* look at the beginning of the file */
	TRACE_OPLIST,
	TRACE_STRACE,
	TRACE_IOLOG,
	TRACE_FSX,
};

struct trace_options {
	enum trace_format format;
	/*
	 * Directory that is the root of the modelled file system, absolute.  NULL: /mnt if the log
	 * has paths there, else the working directory of the first process (if the log tells it, or
	 * has relative paths that are written to), else / without /proc, /sys, /dev and /run.
	 * For fio logs: taken off the names if they are below.
	 */
	const char *root;
	/* strace: working directory at the beginning.  NULL: as the log shows, else the root. */
	const char *cwd;
	/*
	 * strace does not show stores to memory.  SIMPLIFIED: without this, shared writable maps
	 * write nothing; with it, every byte of them is taken as stored to at each msync and munmap
	 * (up to the end of the file).
	 */
	bool mmap_dirty;
};

/* A file that was there before the trace, at least @size bytes long. */
struct trace_assumption {
	const char *path; /* relative to the root */
	uint64_t size;
	bool dir;
	const char *why; /* what in the trace shows it */
};

/* How often a system call (or action of a log) came, and what became of it. */
struct trace_call {
	const char *name;
	uint64_t total;
	uint64_t replayed; /* became operations */
	uint64_t passive; /* on the file system, or kept account of; nothing for the model to do */
	uint64_t failed; /* failed in the trace, so changed nothing */
	uint64_t outside; /* not on the modelled file system */
	uint64_t unmodelled; /* on it, but the model has no such operation */
};

struct trace {
	enum trace_format format;
	/*
	 * texts[i] is set where a marked operation begins ("foliosim op ID TEXT"), which lasts
	 * until the next one.  Slots of open files in the operations are below nr_slots.
	 */
	struct opvec v;
	uint32_t nr_slots;
	const char *root; /* as used */
	struct trace_assumption *assumptions; /* directories before what is in them */
	struct trace_call *calls; /* by name */
	const char **notes; /* decisions and contradictions, in words */
	uint32_t nr_assumptions, nr_calls, nr_notes;
	uint64_t nr_lines;
	uint64_t contradictions; /* places where the log does not fit what came before */
};

/*
 * Read a trace from @path ("-": standard input).  0; -EINVAL with "FILE:LINE: expected ..., got
 * ..." in @err for what is refused; another negative errno if the file cannot be read.
 * @t needs trace_free() only after 0.
 */
int trace_load(const char *path, const struct trace_options *opt, struct trace *t, char *err,
	       size_t errlen);
void trace_free(struct trace *t);

const char *trace_format_name(enum trace_format format);
/* Value of an enum trace_format by name, or -ENOENT. */
int trace_format_find(const char *name);

#endif
