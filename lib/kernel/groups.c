// SPDX-License-Identifier: MIT
/*
 * Where copies of superblock and group descriptors are.  Stands for
 * ext2fs_bg_has_super() and ext2fs_super_and_bgd_loc2() of libext2fs 1.47 (the
 * kernel's ext4_bg_has_super() and ext4_bg_num_gdb() say the same).
 */
#include "groups.h"

static bool power_of(u32 n, u32 base)
{
	while (n % base == 0)
		n /= base;
	return n == 1;
}

bool ffs_group_has_super(const struct foliofs_geometry *g, u32 group)
{
	if (group == 0)
		return true;
	if (foliofs_has_feature(g, FOLIOFS_FEATURE_SPARSE_SUPER2))
		return group == g->backup_bgs[0] || group == g->backup_bgs[1];
	if (group == 1 || !foliofs_has_feature(g, FOLIOFS_FEATURE_SPARSE_SUPER))
		return true;
	return power_of(group, 3) || power_of(group, 5) || power_of(group, 7);
}

/* First block of the group that may hold a superblock. */
static u64 super_block(const struct foliofs_geometry *g, u32 group)
{
	u64 first = ffs_group_first(g, group);

	return first == 0 && g->block_size == 1024 ? 1 : first;
}

u64 ffs_group_super_end(const struct foliofs_geometry *g, u32 group, u64 *first)
{
	u32 per_block = ffs_descs_per_block(g), n = group % per_block;
	bool super = ffs_group_has_super(g, group);
	u64 count = super;

	*first = super_block(g, group);
	if (!foliofs_has_feature(g, FOLIOFS_FEATURE_META_BG)) {
		if (super)
			count += g->gdb_count + g->reserved_gdt_blocks;
	} else if (group / per_block < g->first_meta_bg) {
		if (super)
			count += g->first_meta_bg;
	} else if (n == 0 || n == 1 || n == per_block - 1) {
		count++; /* the block with the descriptors of this meta group */
	}
	return min(*first + count, g->blocks_count);
}

u64 ffs_group_descriptor_block(const struct foliofs_geometry *g, u32 group)
{
	u32 per_block = ffs_descs_per_block(g), n = group / per_block;

	if (!foliofs_has_feature(g, FOLIOFS_FEATURE_META_BG) || n < g->first_meta_bg)
		return super_block(g, 0) + 1 + n;
	group = n * per_block;
	return super_block(g, group) + ffs_group_has_super(g, group);
}
