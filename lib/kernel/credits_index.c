// SPDX-License-Identifier: MIT
/*
 * The building blocks of all credit formulas: tree blocks, and the metadata of mapping.
 *
 * Stands for ext4_ext_index_trans_blocks, ext4_ind_trans_blocks, ext4_index_trans_blocks and
 * ext4_meta_trans_blocks.  Words: credits.h.
 */
#include "credits.h"

bool ffs_has_journal(const struct foliofs_geometry *g)
{
	return foliofs_has_feature(g, FOLIOFS_FEATURE_HAS_JOURNAL) && g->journal_blocks;
}

bool ffs_quota_capable(const struct foliofs_geometry *g)
{
	return foliofs_has_feature(g, FOLIOFS_FEATURE_QUOTA) || g->mount.quota;
}

u32 ffs_quota_blocks(const struct foliofs_geometry *g)
{
	return ffs_quota_capable(g) ? FFS_QUOTA : 0;
}

/* The feature of the file system counts here, not the flag of the inode. */
static u32 singledata(const struct foliofs_geometry *g)
{
	return foliofs_has_feature(g, FOLIOFS_FEATURE_EXTENTS) ? FFS_SINGLEDATA_EXTENTS :
								 FFS_SINGLEDATA_INDIRECT;
}

u32 ffs_data_trans(const struct foliofs_geometry *g)
{
	return singledata(g) + FFS_XATTR - 2 + ffs_quota_blocks(g);
}

/* Four data blocks of the quota tree, the entry itself, and its inode and superblock. */
u32 ffs_quota_init(const struct foliofs_geometry *g)
{
	return ffs_quota_capable(g) ? 4 * (singledata(g) - 3) + 3 + 2 : 0;
}

u32 ffs_quota_del(const struct foliofs_geometry *g)
{
	return ffs_quota_capable(g) ? 3 + 6 : 0;
}

/* A node has a header of 12 bytes, entries of 12 bytes, and keeps room for a checksum. */
u32 ffs_extents_per_block(const struct foliofs_geometry *g)
{
	return (g->block_size - 12) / 12;
}

u32 ffs_pointers_per_block(const struct foliofs_geometry *g)
{
	return g->block_size / 4;
}

/* Pointer blocks of contiguous @l blocks, and a branch of three levels with its start. */
static u32 indirect_index(const struct foliofs_geometry *g, u32 l)
{
	return (u32)div_up(l, ffs_pointers_per_block(g)) + 4;
}

/*
 * Extent trees.  One extent: a split at every level needs two blocks a level; more of them: three,
 * because the insertions may go apart.  The leaves that the extents themselves fill came with the
 * large-folio series, and were lost in its first merge.
 */
u32 foliofs_index_credits(const struct foliofs_kernel *k, const struct foliofs_geometry *g,
			  const struct foliofs_inode_kind *i, uint32_t len, uint32_t pextents)
{
	u32 depth = i->depth, leaves = 0;

	if (!i->extents)
		return indirect_index(g, len);
	if (foliofs_kernel_has(k, FOLIOFS_CHANGE_WORST_DEPTH))
		depth = FFS_MAX_DEPTH;
	if (foliofs_kernel_has(k, FOLIOFS_CHANGE_LF_LEAF_CREDITS) &&
	    !foliofs_kernel_has(k, FOLIOFS_CHANGE_LF_MISMERGE))
		leaves = pextents <= 1 ? pextents :
					 (u32)div_up(pextents, ffs_extents_per_block(g));
	return (pextents <= 1 ? 2 : 3) * depth + leaves;
}

/* The large-folio series dropped the extents themselves from the groups they may lie in. */
u32 ffs_group_seed(const struct foliofs_kernel *k, u32 index, u32 p)
{
	if (foliofs_kernel_has(k, FOLIOFS_CHANGE_LF_LEAF_CREDITS) &&
	    !foliofs_kernel_has(k, FOLIOFS_CHANGE_CF_COUNT_EXTENTS))
		return index;
	return index + p;
}

/*
 * Every tree block and every extent may lie in a group of its own: a bitmap and a descriptor each,
 * but not more bitmaps than groups, nor more descriptors than there are blocks of them.  The
 * second cap is decided by the capped bitmaps and falls back to the uncapped count, so a file
 * system of one group pays descriptors for all of them; the kernel has it so, we too.
 */
struct foliofs_credits foliofs_meta_credits(const struct foliofs_kernel *k,
					    const struct foliofs_geometry *g,
					    const struct foliofs_inode_kind *i, uint32_t len,
					    uint32_t pextents)
{
	u32 index = foliofs_index_credits(k, g, i, len, pextents);
	u32 seed = ffs_group_seed(k, index, pextents);
	struct foliofs_credits c = {
		.index = index,
		.bitmaps = min(seed, g->groups),
		.fixed = FFS_META + ffs_quota_blocks(g),
	};

	c.descriptors = c.bitmaps > g->gdb_count ? g->gdb_count : seed;
	c.total = c.index + c.bitmaps + c.descriptors + c.fixed;
	return c;
}
