/* SPDX-License-Identifier: MIT */
/* Input text of the trace readers: a file or standard input ("-"), gzip or plain, held whole. */
#ifndef SIM_TRACE_INPUT_H
#define SIM_TRACE_INPUT_H

#include "trace/opvec.h"

struct trace_text {
	char *data; /* [len + 1], ends in a NUL */
	size_t len;
	const char *name; /* for messages */
};

/*
 * Read all of @path.  0, or a negative errno with the message in @w (whose name and line it sets):
 * -EINVAL for what is not text or a gzip file cut short, else what the system said.
 */
int trace_text_load(const char *path, struct trace_text *t, struct trace_where *w);
void trace_text_free(struct trace_text *t);
/*
 * The line at *@pos, which is moved behind it; NULL at the end.  The line is cut out of the text:
 * its newline (and carriage return) becomes a NUL, so a text can be read once.
 */
char *trace_text_line(struct trace_text *t, size_t *pos);

#endif
