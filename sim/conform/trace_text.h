/* SPDX-License-Identifier: MIT */
/*
 * Lines of a trace as tracefs (file "trace") or trace-cmd (report) prints them:
 *
 *	   COMM-PID  [CPU] FLAGS  SECONDS.MICROS: EVENT: TEXT
 *
 * FLAGS may be missing.  Comment lines and lines of another form are passed over.
 */
#ifndef CONFORM_TRACE_TEXT_H
#define CONFORM_TRACE_TEXT_H

#include "text.h"

struct trace_line {
	struct piece comm, event, text;
	uint64_t time_ns;
	uint64_t lost; /* the note that so many events were lost; no event then */
	uint32_t number; /* of the line, from 1 */
	/* The marker "foliosim op N TEXT". */
	bool marker;
	uint32_t op;
	struct piece op_text;
	/* Name of the system call that is entered; len 0: the line is no such event. */
	struct piece call;
};

struct trace_cursor {
	const struct text *text;
	size_t at;
	uint32_t number;
};

/* Next event, marker or note; false at the end. */
bool trace_text_next(struct trace_cursor *t, struct trace_line *line);

#endif
