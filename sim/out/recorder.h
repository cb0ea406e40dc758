/* SPDX-License-Identifier: MIT */
/*
 * Recorder: a consumer of events that writes them as tracefs prints them
 * (file events.txt of a capture), with a marker before each operation:
 *
 *	oprun-1000   [000] ...1.     1.012000: tracing_mark_write: foliosim op 2 write a 0 4096
 *	oprun-1000   [000] .....     1.012000: ext4_da_write_begin: dev 7,40 ino 12 pos 0 len 4096
 */
#ifndef OUT_RECORDER_H
#define OUT_RECORDER_H

#include <stdbool.h>
#include <stdio.h>

#include <foliofs/event.h>

struct recorder;

struct recorder_options {
	const char *dev; /* "7,40" */
	uint32_t page_size; /* bytes; 0: 4096 */
	bool own; /* the model's own events (foliofs_*) too */
	/*
	 * Blocks per cluster: delayed ranges are printed block by block (expand.h), as the
	 * buffer-head path does; 0: as ranges.
	 */
	uint32_t cluster_ratio;
	/* Names of the events to write, as this kernel calls them; NULL: all that it has. */
	char *const *only;
	size_t nr_only;
};

/*
 * Write to @out (not closed here).  @out is as it must be after recorder_end();
 * if it can seek, the header then tells the number of events.
 */
struct recorder *recorder_new(FILE *out, const struct foliofs_kernel *k,
			      const struct recorder_options *opt);
/* The consumer to add to the file system; lives as long as the recorder. */
const struct foliofs_sink *recorder_sink(struct recorder *r);
/* Operation @id with text @text begins at @time_ns. */
void recorder_op(struct recorder *r, uint32_t id, const char *text, uint64_t time_ns);
/* "foliosim end", and everything is written.  0, or a negative errno of the output. */
int recorder_end(struct recorder *r, uint64_t time_ns);
/* True if events of this id are written. */
bool recorder_wants(const struct recorder *r, unsigned int id);
void recorder_free(struct recorder *r);

#endif
