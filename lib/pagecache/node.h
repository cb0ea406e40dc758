/* SPDX-License-Identifier: MIT */
/* Nodes of the folio index, for folio.c and walk.c alone. */
#ifndef FFS_NODE_H
#define FFS_NODE_H

#include "folio.h"

#define FFS_SLOT_BITS 6
#define FFS_SLOTS 64u

struct ffs_node {
	struct ffs_node *parent; /* NULL: the root */
	u8 level; /* 0: slots are pages */
	u8 slot_above; /* the slot that the parent has it in */
	u64 present; /* slot is used: by a child, a folio or the tail of one */
	u64 leaf; /* slot holds a folio (head or tail), not a child */
	u64 tag[FFS_TAG_NR];
	void *slot[FFS_SLOTS];
};

/* Slot of page @index in a node at @level (0: slots are pages). */
static inline u32 ffs_slot_of(u64 index, u32 level)
{
	return (u32)(index >> (FFS_SLOT_BITS * level)) & (FFS_SLOTS - 1);
}

static inline bool ffs_mapping_covers(const struct ffs_mapping *m, u64 index)
{
	return m->levels && (FFS_SLOT_BITS * m->levels >= 64 ||
			     !(index >> (FFS_SLOT_BITS * m->levels)));
}

#endif
