/* SPDX-License-Identifier: MIT */
/*
 * The in-core inode: plain data that several layers read, and one pointer for
 * each layer's own part.  (As in the kernel, the inode is what the layers share;
 * the rules stay in the layers.)
 */
#ifndef FFS_INODE_H
#define FFS_INODE_H

#include "base.h"

#define FFS_INODE_EXTENTS 0x01u /* maps its blocks by extents */
#define FFS_INODE_JOURNAL_DATA 0x02u /* the journal-data flag is set on it */
#define FFS_INODE_INLINE_DATA 0x04u /* its data lies in the inode */
#define FFS_INODE_HAS_INLINE_SPACE 0x08u /* may still hold inline data */
#define FFS_INODE_DA_ALLOC_CLOSE 0x10u /* auto_da_alloc: write back at close */
#define FFS_INODE_TOPDIR 0x20u
#define FFS_INODE_IOMAP 0x40u /* its data path is iomap */

#define FFS_S_IFMT 0170000u
#define FFS_S_IFDIR 0040000u
#define FFS_S_IFREG 0100000u
#define FFS_S_IFLNK 0120000u

struct ffs_inode {
	u32 ino;
	u64 seq; /* order in which inodes came into core */
	u32 mode; /* type and permission bits: events print it */
	u32 flags; /* FFS_INODE_* */
	u32 nlink;
	u64 i_size, i_disksize; /* bytes */
	u64 raw_disksize; /* what the last ext4_mark_inode_dirty wrote */
	bool on_dirty_list; /* sync will visit it */
	u64 i_blocks; /* allocated, in file system blocks (tree blocks included) */
	u32 reserved; /* delayed clusters reserved (i_reserved_data_blocks) */
	u32 writers; /* open file descriptions that may write */
	u32 opens; /* all open file descriptions */
	u32 wb_err; /* failed writes so far: an open file tells each once (errseq) */
	int wb_errno; /* of the last one */
	bool wb_told; /* somebody has told it */
	bool as_eio, as_enospc; /* the same for those who wait for pages, not for a file: told once */
	u32 sync_tid, datasync_tid; /* what fsync and fdatasync have to wait for */

	struct ffs_ext_tree *tree; /* blockmap: extent tree, or */
	struct ffs_ind_map *ind; /* blockmap: indirect map */
	struct ffs_es_tree *es; /* blockmap: extent status */
	struct ffs_inode_pa *pas; /* alloc: inode preallocations */
	struct ffs_mapping *mapping; /* pagecache */
	void *data_path; /* bh or iomap: end-io state, ordered range */
	void *vfs; /* ops: names, times */
	void *fs_private; /* XFS, tmpfs: the file system's own part */
};

static inline bool ffs_is_reg(const struct ffs_inode *inode)
{
	return (inode->mode & FFS_S_IFMT) == FFS_S_IFREG;
}

static inline bool ffs_is_dir(const struct ffs_inode *inode)
{
	return (inode->mode & FFS_S_IFMT) == FFS_S_IFDIR;
}

/* i_blocks in the unit of the inode: 512-byte sectors, as events print it. */
static inline u64 ffs_i_sectors(const struct ffs_inode *inode, u32 block_bits)
{
	return inode->i_blocks << (block_bits - 9);
}

#endif
