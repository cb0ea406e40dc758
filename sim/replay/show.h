/* SPDX-License-Identifier: MIT */
/*
 * The state of a file system around one operation, and its events, in text.
 *
 *	show_begin(&s, fs)		remember the files as they are
 *	foliofs_fs_add_sink(fs, &s.sink)
 *	... the operation ...
 *	show_end(&s, f)			before, events, after; of the files it had to do with
 */
#ifndef REPLAY_SHOW_H
#define REPLAY_SHOW_H

#include <stdio.h>

#include <foliofs/fs.h>

#define SHOW_TOUCHED 64

struct show {
	struct foliofs_sink sink;
	struct foliofs_fs *fs;
	struct foliofs_event_form form;
	FILE *events; /* memory */
	char *events_text, *journal;
	size_t events_len;
	struct show_file {
		uint32_t ino;
		char *text;
	} *before; /* every file */
	size_t nr, max;
	uint32_t touched[SHOW_TOUCHED]; /* inodes that events name */
	unsigned int nr_touched;
	bool on;
};

/* 0, or -ENOMEM. */
int show_begin(struct show *s, struct foliofs_fs *fs);
/* Print and free; the sink must not be called any more (s->on stops it). */
void show_end(struct show *s, FILE *f);
/* All files of @fs, its journal and free blocks. */
void show_state(FILE *f, const struct foliofs_fs *fs);

#endif
