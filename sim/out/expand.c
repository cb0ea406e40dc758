// SPDX-License-Identifier: MIT
/* Delayed ranges block by block: see expand.h. */
#include "expand.h"

/* Fields of ext4_da_reserve_space, and of the two events for a delayed range. */
enum { RESERVE_BLOCKS = 3, RESERVED_ALL = 4 };
enum { RANGE_LBLK = 1, RANGE_LEN = 2, FIRST_ALLOCATED = 5, LAST_ALLOCATED = 6 };

static bool is_range(const struct foliofs_event *ev)
{
	return ev->id == FOLIOFS_EV_ext4_es_insert_delayed_extent ||
	       ev->id == FOLIOFS_EV_ext4_es_insert_delayed_block;
}

/* Made at once: it has an argument more than fields, and that is set. */
static bool is_whole(const struct foliofs_event *ev)
{
	unsigned int fields = ev->id == FOLIOFS_EV_ext4_es_insert_delayed_extent ? 7 :
			      ev->id == FOLIOFS_EV_ext4_es_insert_delayed_block  ? 6 :
										   5;

	return ev->nargs > fields && ev->arg[fields];
}

/* The @n-th of the reservations held (from 0), each of one cluster. */
static void reserve_one(struct expand *x, uint64_t n)
{
	struct foliofs_event ev = x->held;

	ev.arg[RESERVED_ALL] = ev.arg[RESERVED_ALL] - ev.arg[RESERVE_BLOCKS] + n + 1;
	ev.arg[RESERVE_BLOCKS] = 1;
	x->event(x->priv, &ev);
}

void expand_flush(struct expand *x)
{
	uint64_t n;

	if (!x->have_held)
		return;
	x->have_held = false;
	for (n = 0; n < x->held.arg[RESERVE_BLOCKS]; n++)
		reserve_one(x, n);
}

/*
 * Which clusters of [@lblk, @end) are reserved: all, but for the first or the last
 * where somebody has them already.  That is told by the number reserved and by
 * the flags of the range; a cluster that the range covers cannot have been delayed.
 */
static void taken(const struct foliofs_event *ev, uint64_t reserved, uint64_t ratio, bool *first,
		  bool *last)
{
	uint64_t lblk = ev->arg[RANGE_LBLK], end = lblk + ev->arg[RANGE_LEN];
	uint64_t clusters = (end - 1) / ratio - lblk / ratio + 1;
	uint64_t others = clusters > reserved ? clusters - reserved : 0;

	*first = *last = false;
	if (!others)
		return;
	if (others >= 2 || clusters == 1) {
		*first = *last = true;
		return;
	}
	if (ev->arg[FIRST_ALLOCATED])
		*first = true;
	else if (ev->arg[LAST_ALLOCATED] || !(lblk % ratio))
		*last = true;
	else
		*first = true;
}

static void expand_range(struct expand *x, const struct foliofs_event *range)
{
	uint64_t lblk = range->arg[RANGE_LBLK], end = lblk + range->arg[RANGE_LEN], b, n = 0;
	uint64_t reserved = x->have_held ? x->held.arg[RESERVE_BLOCKS] : 0;
	uint64_t ratio = x->cluster_ratio;
	bool first, last;

	taken(range, reserved, ratio, &first, &last);
	for (b = lblk; b < end; b++) {
		bool in_first = b / ratio == lblk / ratio, in_last = b / ratio == (end - 1) / ratio;
		struct foliofs_event ev = *range;

		if ((b == lblk || !(b % ratio)) && !(in_first && first) && !(in_last && last) &&
		    n < reserved)
			reserve_one(x, n++);
		ev.arg[RANGE_LBLK] = b;
		ev.arg[RANGE_LEN] = 1;
		/* one cluster: its state is printed as that of the first; then it is delayed */
		ev.arg[FIRST_ALLOCATED] = b == lblk			  ? range->arg[FIRST_ALLOCATED] :
					  in_last && !(b % ratio) ? range->arg[LAST_ALLOCATED] :
								    0;
		ev.arg[LAST_ALLOCATED] = 0;
		x->event(x->priv, &ev);
	}
	x->have_held = false;
}

void expand_event(struct expand *x, const struct foliofs_event *ev)
{
	bool range = x->cluster_ratio && is_range(ev) && ev->arg[RANGE_LEN] > 1 && !is_whole(ev);

	if (x->have_held && (!range || ev->arg[0] != x->held.arg[0]))
		expand_flush(x);
	/* with clusters one reservation may stand in the middle of a range */
	if (x->cluster_ratio && ev->id == FOLIOFS_EV_ext4_da_reserve_space && !is_whole(ev) &&
	    (ev->arg[RESERVE_BLOCKS] > 1 || x->cluster_ratio > 1)) {
		x->held = *ev;
		x->have_held = true;
		return;
	}
	if (range)
		expand_range(x, ev);
	else
		x->event(x->priv, ev);
}
