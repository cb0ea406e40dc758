/* SPDX-License-Identifier: MIT */
/*
 * Delayed ranges block by block.
 *
 * The kernel's buffer-head path reserves and caches the blocks of a folio one at
 * a time, each with two events.  The model does the whole range at once and emits
 * one of each; here they become what the kernel prints:
 *
 *	ext4_da_reserve_space		reserve_blocks 1
 *	ext4_es_insert_delayed_extent	es [block/1)
 *
 * On the iomap path the kernel does it at once, too: such events say so, and stay.
 */
#ifndef OUT_EXPAND_H
#define OUT_EXPAND_H

#include <stdbool.h>

#include <foliofs/event.h>

struct expand {
	void (*event)(void *priv, const struct foliofs_event *ev);
	void *priv;
	uint32_t cluster_ratio; /* blocks per cluster; 0: ranges stay as they are */
	bool have_held;
	struct foliofs_event held; /* a reservation whose range has not come yet */
};

/* Pass @ev on, expanded if it is a range. */
void expand_event(struct expand *x, const struct foliofs_event *ev);
/* No more events belong to what is held back. */
void expand_flush(struct expand *x);

#endif
