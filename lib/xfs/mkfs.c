// SPDX-License-Identifier: MIT
/*
 * What mkfs.xfs and the mount leave: free space of each allocation group, limits.
 *
 * SIMPLIFIED: the blocks that headers and roots of trees take are counted so that the first
 * file lies where it does in the captures; the internal log is at the start of the
 * middle group.
 */
#include "xfs.h"

#define ALLOC_UNIT (64u << 10) /* bytes: unit of preallocation without allocsize= */
#define FREE_LIST 4u /* blocks kept for the free space trees of a group */
#define FIRST_INODES 64u /* inodes of the chunk that holds the root directory */

static void free_run(struct ffs_xfs *x, u64 first, u64 end, u32 ag)
{
	if (first >= end)
		return;
	ffs_runs_set(&x->free, first, end, 0, ag + 1);
	x->nr_free += end - first;
}

/* Blocks of a btree of @records, @per at least in each block (xfs_btree_calc_size). */
static u64 tree_size(u64 records, u64 per_leaf, u64 per_node)
{
	u64 n = div_up(records, per_leaf), total = n;

	while (n > 1) {
		n = div_up(n, per_node);
		total += n;
	}
	return total;
}

#define TREE_HEADER 56u /* bytes of a short-form btree block */

/*
 * What a group keeps for its free inode and refcount trees to grow
 * (xfs_finobt_calc_reserves, xfs_refcountbt_calc_reserves), less the roots they have.
 */
static u64 group_reserve(const struct foliofs_geometry *g, u64 blocks)
{
	u64 room = g->block_size - TREE_HEADER;
	u64 chunks = blocks * (g->block_size / g->inode_size) / FIRST_INODES;
	u64 keep = tree_size(chunks, room / 16 / 2, room / 8 / 2) - 1;

	if (g->reflink)
		keep += tree_size(blocks, room / 12 / 2, room / 8 / 2) - 1;
	return keep;
}

/* Levels that the extent tree of a file can have (xfs_bmap_compute_maxlevels). */
static u32 extent_levels(u32 block_size)
{
	u64 per = (block_size - 72) / 16 / 2, n = div_up(0x7fffffff, per);
	u32 levels = 1;

	while (n > 1) {
		n = n <= 3 ? 1 : div_up(n, per); /* the root in the inode has room for 3 */
		levels++;
	}
	return levels;
}

void ffs_xfs_mkfs(struct ffs_super *sb)
{
	const struct foliofs_geometry *g = &sb->env.geo;
	struct ffs_xfs *x = ffs_zalloc(sizeof(*x));
	u8 bits = sb->env.block_bits;
	/* Superblock and three headers in sectors, roots of four or five trees, their reserve. */
	u64 head = div_up(4 * 512, 1ull << bits) + 4 + g->reflink + FREE_LIST;
	u64 inodes = div_up((u64)FIRST_INODES * g->inode_size, 1ull << bits);
	u64 root = div_up(head, inodes) * inodes; /* the chunk is aligned to its size */
	u32 i, log_ag = g->ag_count / 2;

	sb->fs_private = x;
	x->ag_blocks = g->ag_blocks;
	x->ag_count = g->ag_count;
	for (i = 0; i < g->ag_count; i++) {
		u64 first = (u64)i * g->ag_blocks, end = min(first + g->ag_blocks, g->blocks_count);
		u64 at = first + head;

		if (i == log_ag)
			at += g->log_blocks;
		if (!i) {
			free_run(x, at, root, i);
			at = max(at, root) + inodes;
		}
		free_run(x, at, end, i);
		/* Blocks of the free list count as free; what trees may need does not. */
		x->nr_free += FREE_LIST;
		x->nr_free -= group_reserve(g, end - first - (i == log_ag ? g->log_blocks : 0));
	}
	/* For the last resort, and for the free space trees: xfs_default_resblks, set_aside. */
	x->nr_free -= min(g->blocks_count / 20, (u64)8192);
	x->reserved_blocks = (u64)g->ag_count * (FREE_LIST + 4);
	x->levels = extent_levels(g->block_size);
	for (i = 0; i < 5; i++)
		x->low_space[i] = g->blocks_count * (i + 1) / 100;
	x->fixed_alloc = g->allocsize;
	x->alloc_unit = (u32)max((g->allocsize ? g->allocsize : ALLOC_UNIT) >> bits, (u64)1);
	x->root_ino = (u32)((root << bits) / g->inode_size);
	x->next_ino = x->root_ino + 3; /* two of the realtime device follow the root */
}
