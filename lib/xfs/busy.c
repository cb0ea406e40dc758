// SPDX-License-Identifier: MIT
/*
 * Busy extents: blocks freed by transactions that are not yet durable.  They are free, but
 * may not be used again before a log force (xfs_extent_busy_insert, xfs_extent_busy_trim,
 * xfs_extent_busy_clear, v6.18).
 *
 * The kernel keeps them in a red-black tree and trims a free extent in the order in which
 * it walks down that tree, so the tree's shape decides which part of it is offered.
 */
#include "xfs.h"

#define NONE (~0u)

static struct ffs_xbusy *node(struct ffs_xfs *x, u32 n)
{
	return &x->busy[n];
}

static void set_child(struct ffs_xfs *x, u32 parent, u32 old, u32 new)
{
	if (parent == NONE)
		x->busy_root = new;
	else if (node(x, parent)->child[0] == old)
		node(x, parent)->child[0] = new;
	else
		node(x, parent)->child[1] = new;
	if (new != NONE)
		node(x, new)->parent = parent;
}

/* The child on the other side of @n comes up, @n goes down to side @side. */
static void rotate(struct ffs_xfs *x, u32 n, u32 side)
{
	u32 up = node(x, n)->child[!side], inner = node(x, up)->child[side];

	set_child(x, node(x, n)->parent, n, up);
	node(x, n)->child[!side] = inner;
	if (inner != NONE)
		node(x, inner)->parent = n;
	node(x, up)->child[side] = n;
	node(x, n)->parent = up;
}

static bool red(struct ffs_xfs *x, u32 n)
{
	return n != NONE && node(x, n)->red;
}

static void rebalance(struct ffs_xfs *x, u32 n)
{
	u32 parent;

	while (red(x, parent = node(x, n)->parent)) {
		u32 grand = node(x, parent)->parent;
		u32 side = node(x, grand)->child[1] == parent; /* of the parent */
		u32 uncle = node(x, grand)->child[!side];

		if (red(x, uncle)) {
			node(x, parent)->red = node(x, uncle)->red = false;
			node(x, grand)->red = true;
			n = grand;
			continue;
		}
		if (node(x, parent)->child[!side] == n) {
			rotate(x, parent, side);
			n = parent;
			parent = node(x, n)->parent;
		}
		node(x, parent)->red = false;
		node(x, grand)->red = true;
		rotate(x, grand, !side);
	}
	node(x, x->busy_root)->red = false;
}

void ffs_xfs_busy_add(struct ffs_xfs *x, u64 first, u64 end)
{
	u32 n = x->nr_busy, parent = NONE, at;

	if (n == x->cap_busy) {
		x->cap_busy = n ? 2 * n : 16;
		x->busy = ffs_realloc(x->busy, x->cap_busy * sizeof(*x->busy));
	}
	x->nr_busy++;
	*node(x, n) = (struct ffs_xbusy){
		.first = first, .end = end, .child = { NONE, NONE }, .red = true,
	};
	at = n ? x->busy_root : NONE;
	while (at != NONE) {
		parent = at;
		at = node(x, at)->child[first > node(x, at)->first];
	}
	node(x, n)->parent = parent;
	if (parent == NONE)
		x->busy_root = n;
	else
		node(x, parent)->child[first > node(x, parent)->first] = n;
	rebalance(x, n);
}

bool ffs_xfs_busy_trim(struct ffs_xfs *x, u64 want, u64 *first, u64 *end)
{
	u32 at = x->nr_busy ? x->busy_root : NONE;
	u64 f = *first, e = *end;

	while (at != NONE && e - f >= want) {
		const struct ffs_xbusy *b = node(x, at);

		if (e <= b->first) {
			at = b->child[0];
		} else if (f >= b->end) {
			at = b->child[1];
		} else if (b->first <= f) {
			if (e <= b->end)
				return false;
			f = b->end;
		} else if (b->end >= e) {
			e = b->first;
		} else if (b->first - f >= want) {
			e = b->first; /* what lies before it fits */
		} else if (e - b->end >= 4 * want) {
			f = b->end;
		} else {
			return false;
		}
	}
	*first = f;
	*end = e;
	return e - f >= want;
}

void ffs_xfs_busy_clear(struct ffs_super *sb)
{
	struct ffs_xfs *x = ffs_xfs(sb);
	u8 bits = sb->env.block_bits;
	u32 i;

	for (i = 0; i < x->nr_busy; i++)
		ffs_content_stale(&sb->disk, x->busy[i].first << bits, x->busy[i].end << bits);
	x->nr_busy = 0;
}
