/* SPDX-License-Identifier: MIT */
/*
 * A sink that keeps the events of the kinds it is told to.
 */
#ifndef SCENARIO_RECORD_H
#define SCENARIO_RECORD_H

#include <stdio.h>

#include <foliofs/event.h>

struct event_log {
	struct foliofs_sink sink;
	struct foliofs_event *event; /* in order; texts are copies */
	size_t nr, max;
	char **text; /* the copies */
	size_t nr_texts, max_texts;
	FILE *log; /* NULL: none; every event is printed there */
	bool failed; /* out of memory: events are missing */
};

void event_log_init(struct event_log *r, FILE *log);
void event_log_want(struct event_log *r, enum foliofs_event_id id);
void event_log_free(struct event_log *r);
/* True if field @field of events @id is a text (its arg is a const char *). */
bool event_field_is_text(unsigned int id, int field);

#endif
