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
	const struct ffs_node *path[12];
	u32 level, slot;
	u64 index;
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
		c->level--;
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

/* One step left: true if what is there is cached. */
static bool step_left(struct cursor *c, const struct ffs_mapping *m)
{
	if (!c->index)
		return false;
	c->index--;
	if (c->level == 0 || c->slot != ffs_slot_of(c->index, c->level)) {
		while (!c->slot) {
			if (++c->level == m->levels)
				return false;
			c->node = c->path[c->level];
			c->slot = ffs_slot_of(c->index + 1, c->level);
		}
		c->slot--;
	}
	if (!((c->node->present >> c->slot) & 1))
		return false;
	if ((c->node->leaf >> c->slot) & 1)
		return true;
	return descend(c, false);
}

static bool step_right(struct cursor *c, const struct ffs_mapping *m)
{
	c->index++;
	if (c->level == 0 || c->slot != ffs_slot_of(c->index, c->level)) {
		while (c->slot == FFS_SLOTS - 1) {
			if (++c->level == m->levels)
				return false;
			c->node = c->path[c->level];
			c->slot = ffs_slot_of(c->index - 1, c->level);
		}
		c->slot++;
	}
	if (!((c->node->present >> c->slot) & 1))
		return false;
	if ((c->node->leaf >> c->slot) & 1)
		return true;
	return descend(c, false);
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
