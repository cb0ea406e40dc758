/* SPDX-License-Identifier: MIT */
/*
 * A sink that keeps the events of the kinds it is told to.
 */
#ifndef SCENARIO_RECORD_H
#define SCENARIO_RECORD_H

#include <stdio.h>

#include <foliofs/event.h>

struct recorder {
	struct foliofs_sink sink;
	struct foliofs_event *event; /* in order; texts are copies */
	size_t nr, max;
	char **text; /* the copies */
	size_t nr_texts, max_texts;
	FILE *log; /* NULL: none; every event is printed there */
	bool failed; /* out of memory: events are missing */
};

void recorder_init(struct recorder *r, FILE *log);
void recorder_want(struct recorder *r, enum foliofs_event_id id);
void recorder_free(struct recorder *r);
/* True if field @field of events @id is a text (its arg is a const char *). */
bool event_field_is_text(unsigned int id, int field);

#endif
