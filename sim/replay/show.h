/* SPDX-License-Identifier: MIT */
/* The state of a file system in full, and the events of one operation, in text. */
#ifndef REPLAY_SHOW_H
#define REPLAY_SHOW_H

#include <stdio.h>

#include <foliofs/fs.h>

/*
 * Files with sizes, extents, tree and folios; journal; free blocks.  @ino: only this file,
 * with the state of each block of its folios; 0: all.
 */
void show_state(FILE *f, const struct foliofs_fs *fs);

/* A sink that prints every event as tracefs does, indented. */
struct show_events {
	struct foliofs_sink sink;
	FILE *f;
	struct foliofs_event_form form;
	bool on; /* prints now */
};

void show_events_init(struct show_events *s, const struct foliofs_fs *fs, FILE *f);

#endif
