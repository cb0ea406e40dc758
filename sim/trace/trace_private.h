/* SPDX-License-Identifier: MIT */
/* Between trace_load() and the readers of each format. */
#ifndef SIM_TRACE_PRIVATE_H
#define SIM_TRACE_PRIVATE_H

#include "trace/input.h"
#include "trace/trace.h"

/*
 * Readers: @text is cut to pieces, results are appended to @t.  0, or -EINVAL with the message in
 * @w, whose name is set.
 */
int trace_read_oplist(struct trace *t, struct trace_text *text, struct trace_where *w);
int trace_read_strace(struct trace *t, struct trace_text *text, const struct trace_options *opt,
		      struct trace_where *w);
int trace_read_iolog(struct trace *t, struct trace_text *text, const struct trace_options *opt,
		     struct trace_where *w);
int trace_read_fsx(struct trace *t, struct trace_text *text, struct trace_where *w);

/* Is @line one that strace writes?  For telling formats apart; @line is not changed. */
bool strace_is_line(const char *line);
bool fsx_is_line(const char *line);

/* Append to the results; strings are copied. */
void trace_assume(struct trace *t, const char *path, uint64_t size, bool dir, const char *why);
/* Assume the directories above @path that are not assumed already. */
void trace_assume_above(struct trace *t, const char *path);
void trace_note(struct trace *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The count of @name, found by comparing: for logs with few kinds of actions. */
struct trace_call *trace_count(struct trace *t, const char *name);

#endif
