/* SPDX-License-Identifier: MIT */
/*
 * A line of a trace back into a struct foliofs_event, so that what counts
 * events of the model can count those of a kernel too.
 */
#ifndef CONFORM_EVENT_READ_H
#define CONFORM_EVENT_READ_H

#include <foliofs/event.h>

#include "trace_text.h"

/*
 * Read @line as an event of any of the forms of events.def and event-forms.def.
 * Fields that the form lacks are 0; callers lose their offset ("+0x1/0x2").
 * Strings live in @strings (at least 512 bytes), until the next call.
 * @op: number of the operation that runs.
 * 0; -ENOENT: no event that we know; -EINVAL: its text has another form.
 */
int event_read(const struct trace_line *line, uint32_t op, struct foliofs_event *ev,
	       char *strings);

#endif
