/* SPDX-License-Identifier: MIT */
/*
 * What a piece of work costs, by device and class of operation: data/cost-constants.csv, which
 * explains itself.  Times in microseconds.
 */
#ifndef COST_CONSTANTS_H
#define COST_CONSTANTS_H

#include "work.h"

enum cost_class {
	COST_READ,
	COST_WRITE_NEW, COST_WRITE_OVER, /* over: every block was there */
	COST_SYNC_NEW, COST_SYNC_OVER, /* the same, with the fsync behind the write */
	/* an fsync that is none of these: it writes back what several operations left */
	COST_FSYNC_NEW, COST_FSYNC_OVER,
	COST_OTHER, /* has no constants */
	COST_CLASSES,
};

#define COST_DEVICE_NAME 24

/* One line of the file. */
struct cost_line {
	char device[COST_DEVICE_NAME];
	enum cost_class class;
	bool writeback;
	double op, copy, step, block, bh;
};

struct cost_constants {
	char path[4200];
	struct cost_line *lines;
	size_t nr;
};

/* "write, new, synced" and so on; for JSON "sync_new". */
const char *cost_class_text(enum cost_class class);
const char *cost_class_name(enum cost_class class);
/* Class of words as in files ("read", "write"; "Y", "N", "-"): it, or -EINVAL. */
int cost_class_of(const char *type, const char *overwrite, const char *sync);
/*
 * Read @path; NULL: the file that is installed, or that of the build tree.
 * 0, or a negative errno with a message FILE:LINE: ...; cost_constants_free() only after 0.
 */
int cost_constants_load(struct cost_constants *c, const char *path, char *err, size_t errlen);
void cost_constants_free(struct cost_constants *c);
/* 0, or -ENOENT with a message that names the devices there are. */
int cost_device(const struct cost_constants *c, const char *device, char *err, size_t errlen);
/*
 * NULL: there is none.  COST_FSYNC_*: what COST_SYNC_* costs more than COST_WRITE_*, if the file has
 * both: a line of sync=Y is a write and the fsync behind it.
 */
const struct cost_line *cost_line(const struct cost_constants *c, const char *device,
				  enum cost_class class);
/* Microseconds that all of @w takes. */
double cost_time(const struct cost_line *l, const struct cost_work *w);

#endif
