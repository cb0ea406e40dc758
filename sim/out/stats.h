/* SPDX-License-Identifier: MIT */
/*
 * Statistics of a run: a consumer of events.  Memory does not grow with the
 * length of the run: what is drawn over the run is kept in a fixed number of
 * steps that get wider.
 *
 * Credits are in blocks.  asked: what a handle was granted at its start (trace:
 * jbd2_handle_start requested_blocks, with the part for revoke records, without
 * the reservation); extended: what was added later; dirtied: what it used.
 */
#ifndef OUT_STATS_H
#define OUT_STATS_H

#include <foliofs/credits.h>
#include <foliofs/event.h>

#define STATS_STEPS 512 /* of a curve */
#define STATS_ORDERS 16 /* folio orders 0 to 15 */
#define STATS_HIST 33 /* lengths by powers of two: [n] is 2^n to 2^(n+1) - 1 */
#define STATS_CALLERS 96
#define STATS_RULES 64

struct stats_type {
	uint64_t handles, asked, rsv, extends, extended, dirtied;
	uint64_t restarts, extends_refused, refused, dry;
	uint64_t used_up; /* handles that used every credit */
	int64_t asked_max, dirtied_max, rsv_max;
};

/* Handles of one type started by one function. */
struct stats_caller {
	char name[48];
	uint8_t type;
	uint64_t handles;
	/* of the largest one (asked + reserved) */
	int64_t asked, rsv, extended, dirtied;
	uint32_t op, tid;
	int64_t dirtied_max; /* of all */
};

struct stats_step {
	uint64_t n;
	int64_t asked_max, dirtied_max, rsv_max;
};

struct stats_rule {
	char id[40];
	uint64_t count;
	uint32_t op; /* first */
	char text[200];
};

struct stats {
	struct foliofs_sink sink;

	uint64_t events, ops;
	uint32_t last_op;
	struct stats_type type[FOLIOFS_HT_COUNT];
	struct stats_type all;
	struct stats_caller caller[STATS_CALLERS];
	uint32_t nr_callers;

	/* credits over the run: step n is handles [n * width, (n + 1) * width) */
	struct stats_step step[STATS_STEPS];
	uint64_t step_width;

	/* transactions */
	uint64_t transactions, t_handles, t_blocks, t_logged;
	uint64_t t_handles_max, t_blocks_max, t_logged_max;

	/* folios: of step n are operations [n * width, (n + 1) * width) */
	uint64_t order[STATS_ORDERS], deleted;
	uint32_t order_step[STATS_STEPS][STATS_ORDERS];
	uint64_t order_width;

	/* writeback */
	uint64_t rounds, rounds_empty, folios_written;
	uint64_t extents_mapped, blocks_mapped, extent_hist[STATS_HIST];
	/*
	 * The device: blocks, and requests of them; what continues the request before, in the file and
	 * on disk, is taken for a part of it (the block layer would merge it).
	 */
	struct stats_io {
		uint64_t bios, blocks;
		uint64_t ino, block, pos; /* where the last one ended */
	} io[2]; /* read, written */
	uint64_t iomaps; /* maps that the iomap path was answered with */
	/* allocator: pieces it gave */
	uint64_t pieces, piece_blocks, piece_hist[STATS_HIST];
	uint64_t frees, freed_blocks;

	/* what went wrong */
	struct stats_rule rule[STATS_RULES];
	uint32_t nr_rules;
	uint64_t broken; /* all in all */
	uint64_t aborts, stale, livelocks;
	char first_message[240];

	/* what a start printed and jbd2 has not answered yet; the handle that runs: by thread */
	struct stats_handle {
		bool open;
		uint8_t type;
		int64_t asked, rsv, extended;
		char caller[48];
		uint32_t op;
	} pending[4], handle[4];
};

void stats_init(struct stats *s);
/* Count @ev: also what the sink does. */
void stats_event(struct stats *s, const struct foliofs_event *ev);
/* Credits used of those granted: 1.0 if none were granted. */
double stats_tightness(const struct stats_type *t);
/* "write page" and so on; never NULL. */
const char *stats_type_name(unsigned int type);

#endif
