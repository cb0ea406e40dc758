/* SPDX-License-Identifier: MIT */
/*
 * Where groups begin and which of them hold copies of superblock and descriptors:
 * the arithmetic that mke2fs, libext2fs and the kernel share.
 */
#ifndef FFS_GROUPS_H
#define FFS_GROUPS_H

#include <foliofs/geometry.h>
#include "base/base.h"

static inline u64 ffs_group_first(const struct foliofs_geometry *g, u32 group)
{
	return g->first_data_block + (u64)group * g->blocks_per_group;
}

/* End of the group: half-open; the last group may be short. */
static inline u64 ffs_group_end(const struct foliofs_geometry *g, u32 group)
{
	u64 end = ffs_group_first(g, group) + g->blocks_per_group;

	return min(end, g->blocks_count);
}

/* @block is not less than the first data block. */
static inline u32 ffs_group_of_block(const struct foliofs_geometry *g, u64 block)
{
	return (u32)((block - g->first_data_block) / g->blocks_per_group);
}

static inline u32 ffs_inode_table_blocks(const struct foliofs_geometry *g)
{
	return (u32)div_up((u64)g->inodes_per_group * g->inode_size, g->block_size);
}

static inline u32 ffs_descs_per_block(const struct foliofs_geometry *g)
{
	return g->block_size / g->desc_size;
}

/* True if @group begins with a superblock (ext2fs_bg_has_super, ext4_bg_has_super). */
bool ffs_group_has_super(const struct foliofs_geometry *g, u32 group);

/*
 * Blocks at the start of @group that superblock, descriptors and reserved
 * descriptors take: [*first, return value), empty if it has none of them.  *first
 * is the group's first block, or the one behind it in group 0 of a bigalloc file
 * system with 1K blocks, where the superblock is in block 1 all the same.
 */
u64 ffs_group_super_end(const struct foliofs_geometry *g, u32 group, u64 *first);

/* The descriptor block (first copy) that describes @group. */
u64 ffs_group_descriptor_block(const struct foliofs_geometry *g, u32 group);

#endif
