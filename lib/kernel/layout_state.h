/* SPDX-License-Identifier: MIT */
/*
 * Inside of a layout, for the three files that build it:
 * layout_space.c the set of used blocks, layout_tables.c what every group needs,
 * layout_files.c the files of mke2fs.  layout.c answers the questions.
 */
#ifndef FFS_LAYOUT_STATE_H
#define FFS_LAYOUT_STATE_H

#include "groups.h"
#include "layout.h"

/* A used range inside a group, relative to its first block. */
struct ffs_group_range {
	u32 first, end;
};

struct ffs_layout_group {
	u64 block_bitmap, inode_bitmap, inode_table; /* 0: not placed yet */
	struct ffs_group_range *used; /* sorted, not adjacent */
	u16 count, room;
	bool block_uninit, inode_uninit;
	u8 dirs;
};

struct ffs_layout {
	struct foliofs_geometry g;
	struct ffs_layout_group *groups;
	struct ffs_layout_file root, lost_found, journal, orphan;
	u32 table_blocks; /* of one inode table */
	u32 first_inode, orphan_ino;
	/* mke2fs's count of free blocks by group while it works; NULL afterwards */
	u32 *free;
	bool clusters; /* blocks are taken in whole clusters from now on */
};

/* Used blocks. */
void ffs_layout_mark(struct ffs_layout *l, u64 first, u64 end);
/*
 * First used range with an end behind @block and a start before @limit, cut at
 * groups; first is UINT64_MAX if there is none.  @block: at least the first data block.
 */
struct ffs_blk_range ffs_layout_next_used(const struct ffs_layout *l, u64 block, u64 limit);
/* First free block from @block on, before @limit; UINT64_MAX if none. */
u64 ffs_layout_next_free(const struct ffs_layout *l, u64 block, u64 limit);
/* First block from @block on where @num blocks are free; UINT64_MAX if there is none. */
u64 ffs_layout_find_run(const struct ffs_layout *l, u64 block, u64 num);
/* Round all used ranges to clusters. */
void ffs_layout_to_clusters(struct ffs_layout *l);

/* Superblocks, descriptors and tables: 0 or -ENOSPC. */
int ffs_layout_tables(struct ffs_layout *l);
/* Directories, resize inode, journal, ... in mke2fs's order: 0 or -ENOSPC. */
int ffs_layout_files(struct ffs_layout *l);

/* Count @n of a group's blocks as used, as the group descriptor can hold it. */
static inline void ffs_layout_count(struct ffs_layout *l, u32 group, u64 n)
{
	u32 mask = l->g.desc_size > 32 ? UINT32_MAX : UINT16_MAX;

	l->free[group] = (l->free[group] - (u32)n) & mask;
}

#endif
