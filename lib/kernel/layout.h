/* SPDX-License-Identifier: MIT */
/*
 * Which blocks and inodes are in use right after mke2fs, computed from a geometry.
 *
 *	group      see groups.h
 *	tables     block bitmap, inode bitmap and inode table of a group
 *	used       taken by superblocks, descriptors, tables or one of mke2fs's files;
 *	           with bigalloc in whole clusters
 *	file       root directory, lost+found, journal, orphan file
 *
 * Block numbers are file system blocks, ranges half-open.
 */
#ifndef FFS_LAYOUT_H
#define FFS_LAYOUT_H

#include <foliofs/geometry.h>
#include "base/base.h"

struct ffs_blk_range {
	u64 first, end;
};

/* Blocks of a file: its ranges in logical order, without holes. */
struct ffs_layout_file {
	struct ffs_blk_range *ranges;
	u32 count;
};

struct ffs_layout;

/*
 * The layout for @g.  Takes 24 bytes a group and 8 for every used range.
 * NULL: tables or files of mke2fs find no room; it would fail, too.
 */
struct ffs_layout *ffs_layout_new(const struct foliofs_geometry *g);
void ffs_layout_free(struct ffs_layout *l);

/*
 * Used blocks of @group: writes up to @max ranges to @out, sorted, not adjacent.
 * Returns how many there are (may be more than @max).
 */
u32 ffs_layout_used(const struct ffs_layout *l, u32 group, struct ffs_blk_range *out, u32 max);
/* Free blocks of @group, of the whole file system. */
u64 ffs_layout_group_free(const struct ffs_layout *l, u32 group);
u64 ffs_layout_free_blocks(const struct ffs_layout *l);

u64 ffs_layout_block_bitmap(const struct ffs_layout *l, u32 group);
u64 ffs_layout_inode_bitmap(const struct ffs_layout *l, u32 group);
u64 ffs_layout_inode_table(const struct ffs_layout *l, u32 group);
/* Descriptor block (first copy) that holds the descriptor of @group. */
u64 ffs_layout_descriptor(const struct ffs_layout *l, u32 group);
/* Flags of the descriptor: this bitmap was never written.  Only with checksums of groups. */
bool ffs_layout_block_uninit(const struct ffs_layout *l, u32 group);
bool ffs_layout_inode_uninit(const struct ffs_layout *l, u32 group);

/* Block of the inode table that holds inode @ino. */
u64 ffs_layout_inode_block(const struct ffs_layout *l, u32 ino);
/* First inode that is free; all before it are in use, all behind it free. */
u32 ffs_layout_first_inode(const struct ffs_layout *l);
/* Inodes in use and directories of @group. */
u32 ffs_layout_used_inodes(const struct ffs_layout *l, u32 group);
u32 ffs_layout_dirs(const struct ffs_layout *l, u32 group);
u64 ffs_layout_free_inodes(const struct ffs_layout *l);
#define FFS_ROOT_INO 2u
#define FFS_JOURNAL_INO 8u
#define FFS_LOST_FOUND_INO 11u
/* Inode of the orphan file, 0 if there is none. */
u32 ffs_layout_orphan_ino(const struct ffs_layout *l);

/* Files; without blocks: count 0. */
const struct ffs_layout_file *ffs_layout_root(const struct ffs_layout *l);
const struct ffs_layout_file *ffs_layout_lost_found(const struct ffs_layout *l);
const struct ffs_layout_file *ffs_layout_journal(const struct ffs_layout *l);
const struct ffs_layout_file *ffs_layout_orphan(const struct ffs_layout *l);
/* Physical block of logical block @lblk; 0 behind the end. */
u64 ffs_layout_file_block(const struct ffs_layout_file *f, u32 lblk);

#endif
