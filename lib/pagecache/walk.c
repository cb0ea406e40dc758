// SPDX-License-Identifier: MIT
/*
 * The walks with which readahead counts cached pages to the left and looks for a
 * missing one to the right (page_cache_prev_miss, page_cache_next_miss).
 *
 * They step through the slots of the index, not through pages: the first step
 * lands on the head slot of the folio found while the page counted is the one
 * asked for; every later step moves one slot and counts one page.  Next to large
 * folios the result is therefore off, and the kernel's windows with it (measured,
 * v6.18).  node.h gives the shape of the tree.
 */
#include "node.h"

struct cursor {
	const struct ffs_node *node; /* NULL: outside the tree */
	const struct ffs_node *path[12]; /* nodes above, by level */
	u32 at[12]; /* slot of the node of a level in the node above it */
	u32 level, slot;
	u64 index; /* page counted; it need not lie where the cursor stands */
};

/* Go down from the node at @level to the slot that holds c->index; head slot if a tail. */
static bool descend(struct cursor *c, bool to_head)
{
	for (;;) {
		c->path[c->level] = c->node;
		if (!((c->node->present >> c->slot) & 1))
			return false;
		if ((c->node->leaf >> c->slot) & 1)
			break;
		c->node = c->node->slot[c->slot];
		c->at[--c->level] = c->slot;
		c->slot = ffs_slot_of(c->index, c->level);
	}
	while (to_head && c->slot && ((c->node->leaf >> (c->slot - 1)) & 1) &&
	       c->node->slot[c->slot - 1] == c->node->slot[c->slot])
		c->slot--;
	return true;
}

/* Start at page @index: true if it is cached. */
static bool start(struct cursor *c, const struct ffs_mapping *m, u64 index)
{
	c->index = index;
	if (!ffs_mapping_covers(m, index))
		return false;
	c->node = m->root;
	c->level = m->levels - 1u;
	c->slot = ffs_slot_of(index, c->level);
	return descend(c, true);
}

/*
 * The page counted is now one further in direction @by: true if what is there is cached.
 * Inside the lowest node that moves the cursor a slot.  At the end of that node, or higher
 * up, it stays where it is if the page counted belongs to its slot by number; leaving a
 * node goes on beside the place that the node has in the one above, and down from there
 * by the page counted (__xas_prev, __xas_next).
 */
static bool step(struct cursor *c, const struct ffs_mapping *m, int by)
{
	const u32 end = by < 0 ? 0 : FFS_SLOTS - 1;

	if (c->level == 0 && c->slot != end) {
		c->slot += (u32)by;
	} else if (c->slot != ffs_slot_of(c->index, c->level)) {
		while (c->slot == end) {
			if (c->level + 1 == m->levels)
				return false;
			c->slot = c->at[c->level++];
			c->node = c->path[c->level];
		}
		c->slot += (u32)by;
	}
	if (!((c->node->present >> c->slot) & 1))
		return false;
	if ((c->node->leaf >> c->slot) & 1)
		return true;
	return descend(c, false);
}

static bool step_left(struct cursor *c, const struct ffs_mapping *m)
{
	if (!c->index)
		return false;
	c->index--;
	return step(c, m, -1);
}

static bool step_right(struct cursor *c, const struct ffs_mapping *m)
{
	c->index++;
	return step(c, m, 1);
}

u32 ffs_walk_cached_left(const struct ffs_mapping *m, u32 index, u32 limit)
{
	struct cursor c;
	u32 n;

	if (!start(&c, m, index))
		return 0;
	for (n = 1; n < limit; n++)
		if (!step_left(&c, m))
			return n;
	return limit;
}

u32 ffs_walk_missing_right(const struct ffs_mapping *m, u32 index, u32 limit)
{
	struct cursor c;
	u32 n;

	if (!limit || !start(&c, m, index))
		return index;
	for (n = 1; n < limit; n++)
		if (!step_right(&c, m))
			return index + n;
	return index + limit;
}
