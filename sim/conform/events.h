/* SPDX-License-Identifier: MIT */
/*
 * The events of one capture, ready for comparison: what counts of each as a
 * number, by operation and family, in trace order.
 */
#ifndef CONFORM_EVENTS_H
#define CONFORM_EVENTS_H

#include "family.h"
#include "intern.h"

struct conform_event {
	uint32_t op;
	uint8_t family; /* enum conform_family_id */
	uint32_t kind; /* number of its name, in the table of names */
	uint32_t id; /* number of what counts of it, in the table of events */
	uint32_t line; /* in the trace, from 1 */
	struct piece text; /* the whole line, for messages */
};

/* How often a kind of event occurs. */
struct conform_kind {
	char *name;
	uint64_t count;
	bool compared;
};

/* A system call that a task enters. */
struct conform_call {
	struct piece name, text; /* text: its arguments */
	uint32_t at; /* number of the first event behind it */
};

struct conform_events {
	struct text text;
	struct conform_event *v; /* by operation, family, order */
	size_t nr, room;
	struct conform_kind *kinds; /* by the number of the name */
	size_t nr_kinds;
	struct conform_call *calls;
	size_t nr_calls, room_calls;
	uint64_t lost; /* by the trace's own notes */
	uint64_t foreign; /* events of other devices, passed over */
	bool markers; /* there were any */
};

/* Tables that both captures share. */
struct conform_tables {
	struct intern names, events;
};

/*
 * Read @path (a capture folder, or a file with the trace, gzip or plain).
 * @dev: "MAJOR,MINOR" of the device whose events count; NULL or "": all.
 * 0, or a negative errno; a folder without a trace has no events.
 */
int conform_events_read(struct conform_events *e, struct conform_tables *t, const char *path,
			const char *dev);
/* All events belong to operation 0 from now on: the other side has no markers. */
void conform_events_flatten(struct conform_events *e);
/* Sort by operation, family, order. */
void conform_events_sort(struct conform_events *e);
void conform_events_free(struct conform_events *e);

#endif
