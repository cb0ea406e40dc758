/* SPDX-License-Identifier: MIT */
/*
 * ext2, as far as the order of its reads: an indirect map whose pointer blocks lie in the
 * middle of the data, read through mpage or (ext2-iomap) through the iomap core.
 *
 *	file.c	operations and mount		map.c	lookup, allocation, answers to iomap
 *	mpage.c	mpage_readahead
 *
 * SIMPLIFIED: a write goes to the device at once and stays out of the cache; blocks are taken one
 * after the other from block 1000 on, a pointer block right before the first block that needs
 * it; nothing is allocated for directories or inodes, and no power is cut.
 */
#ifndef FFS_EXT2_H
#define FFS_EXT2_H

#include "blockmap/ind.h"
#include "iomap/iomap.h"
#include "ops/fs_type.h"

struct ffs_ext2 {
	u64 next; /* first block that is free */
	u32 next_ino;
};

static inline struct ffs_ext2 *ffs_ext2(const struct ffs_super *sb)
{
	return sb->fs_private;
}

/* --- map.c --- */
/*
 * Block map->lblk and those that follow it on the device, at most map->len and not beyond the
 * pointer block (ext2_get_blocks): FFS_MAP_MAPPED, FFS_MAP_BOUNDARY; map->len of a hole is 1.
 * Pointer blocks that are not in memory are read.
 */
void ffs_ext2_map(struct ffs_super *sb, struct ffs_inode *inode, struct ffs_map *map);
/* A block for @lblk, if it has none: its number; 0: no space. */
u64 ffs_ext2_alloc(struct ffs_super *sb, struct ffs_inode *inode, u64 lblk);
extern const struct ffs_iomap_fs ffs_ext2_iomap;

/* --- mpage.c --- */
extern const struct ffs_data_path ffs_ext2_mpage;

#endif
