/* SPDX-License-Identifier: MIT */
/*
 * Where operations begin in a trace that has no markers of its own.
 *
 *	by system calls	the trace has the enter events of system calls (sys_enter_NAME, or
 *			sys_NAME(...) as tracefs prints them) and every operation finds its
 *			call in them, in order: it begins there
 *	by order	the events are matched with the simulated ones in order; each belongs to
 *			the operation of its partner, those without to that of the one before
 */
#ifndef CONFORM_ALIGN_H
#define CONFORM_ALIGN_H

#include "capture_dir.h"
#include "events.h"

#define ALIGN_LISTED 5

struct conform_alignment {
	enum conform_align_how {
		ALIGN_MARKERS, /* nothing was to be done */
		ALIGN_CALLS,
		ALIGN_ORDER,
		ALIGN_NOT, /* the simulation has no markers either */
	} how;
	size_t events, placed; /* of the kernel; those with a partner, or behind a call */
	size_t ops, ops_placed; /* that have events in the simulation; of those the found */
	uint32_t lost_op[ALIGN_LISTED]; /* the first operations that were not found */
	size_t calls; /* enter events of system calls in the trace */
};

/*
 * Give the events of @kernel, in trace order and without markers, the operations of @sim, in
 * trace order.  @ops: texts of the operations.
 */
void conform_align(struct conform_events *kernel, const struct conform_events *sim,
		   const struct capture_dir *ops, struct conform_alignment *a);

#endif
