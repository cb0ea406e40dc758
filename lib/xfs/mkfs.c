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
#define FIRST_INODES 64u /* inodes of the chunk that holds the root directory */

static void free_run(struct ffs_xfs *x, u64 first, u64 end, u32 ag)
{
	if (first >= end)
		return;
	ffs_runs_set(&x->free, first, end, 0, ag + 1);
	x->nr_free += end - first;
}

void ffs_xfs_mkfs(struct ffs_super *sb)
{
	const struct foliofs_geometry *g = &sb->env.geo;
	struct ffs_xfs *x = ffs_zalloc(sizeof(*x));
	u8 bits = sb->env.block_bits;
	/* Superblock and three headers in sectors, roots of four or five trees, their reserve. */
	u64 head = div_up(4 * 512, 1ull << bits) + 4 + g->reflink + 4;
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
	}
	for (i = 0; i < 5; i++)
		x->low_space[i] = g->blocks_count * (i + 1) / 100;
	x->fixed_alloc = g->allocsize;
	x->alloc_unit = (u32)max((g->allocsize ? g->allocsize : ALLOC_UNIT) >> bits, (u64)1);
	x->root_ino = (u32)((root << bits) / g->inode_size);
	x->next_ino = x->root_ino + 3; /* two of the realtime device follow the root */
}
