/* SPDX-License-Identifier: MIT */
/*
 * Logical block to physical block: the one question of the data paths
 * (ext4_map_blocks), and what changes the answer.
 *
 *	ext.h	the extent tree		es.h	the extent status tree
 *	ind.h	the indirect map	this file: the question over all three
 */
#ifndef FFS_BLOCKMAP_H
#define FFS_BLOCKMAP_H

#include "alloc/alloc.h"

/* What of one file system the block maps need. */
struct ffs_blockmap {
	struct ffs_env *env;
	struct ffs_journal *journal;
	struct ffs_alloc *alloc;
	void *priv;
	/*
	 * ext4_mark_inode_dirty of @inode by @caller: prints the event and dirties the
	 * inode's table block in @h.
	 */
	int (*mark_inode_dirty)(void *priv, struct ffs_handle *h, struct ffs_inode *inode,
				const char *caller);
	/* Bytes of a block range were zeroed on disk (zero-out of a split extent). */
	void (*zeroed_out)(void *priv, struct ffs_inode *inode, u32 lblk, u64 pblk, u32 len);
	/* Logical range [lblk, lblk + len) of @inode maps to something else from now on. */
	void (*mapping_changed)(void *priv, struct ffs_inode *inode, u32 lblk, u32 len);
};

/* Flags of the question; printed by %m of events.def in this order. */
#define FFS_GET_CREATE 0x0001u /* CREATE */
#define FFS_GET_UNWRIT 0x0002u /* UNWRIT: allocate unwritten */
#define FFS_GET_DELALLOC 0x0004u /* DELALLOC: blocks were reserved */
#define FFS_GET_PRE_IO 0x0008u /* PRE_IO: split before the I/O */
#define FFS_GET_CONVERT 0x0010u /* CONVERT: unwritten to written */
#define FFS_GET_METADATA_NOFAIL 0x0020u /* METADATA_NOFAIL */
#define FFS_GET_NO_NORMALIZE 0x0040u /* NO_NORMALIZE */
#define FFS_GET_CONVERT_UNWRITTEN 0x0100u /* CONVERT_UNWRITTEN: written to unwritten */
#define FFS_GET_ZERO 0x0200u /* ZERO */
#define FFS_GET_IO_SUBMIT 0x0400u /* IO_SUBMIT */
#define FFS_GET_EX_NOCACHE 0x0800u /* EX_NOCACHE */

/* State of a mapping; printed by %M in this order: N M U B */
#define FFS_MAP_NEW 0x1u
#define FFS_MAP_MAPPED 0x2u
#define FFS_MAP_UNWRITTEN 0x4u
#define FFS_MAP_BOUNDARY 0x8u
#define FFS_MAP_DELAYED 0x10u /* not printed by map_blocks_exit */

struct ffs_map {
	u32 lblk, len; /* asked; what the answer covers */
	u64 pblk;
	u32 flags; /* FFS_MAP_* */
};

#define FFS_LBLK_MAX 0xffffffffu /* one more than the last logical block */

/*
 * Map [map->lblk, + map->len).  Returns the number of blocks mapped (map->len),
 * 0 for a hole (map->len is how long the hole is), or a negative error.
 * Status tree first, then the tree on disk under the kernel's locking rules;
 * with FFS_GET_CREATE holes are allocated; answers go to the status tree.
 */
int ffs_map_blocks(struct ffs_blockmap *bm, struct ffs_handle *h, struct ffs_inode *inode,
		   struct ffs_map *map, u32 flags);

/*
 * Delayed allocation of block map->lblk (ext4_da_map_blocks): 0 and the state of
 * the block (MAPPED, MAPPED|UNWRITTEN, or DELAYED with the reservation made),
 * -ENOSPC.  @map->len: 1 on the buffer-head path; how many were handled on return.
 */
int ffs_da_map_blocks(struct ffs_blockmap *bm, struct ffs_inode *inode, struct ffs_map *map);

/* Reserve and give back delayed clusters of an inode (events ext4_da_*_space). */
int ffs_da_reserve(struct ffs_blockmap *bm, struct ffs_inode *inode, u32 clusters);
void ffs_da_release(struct ffs_blockmap *bm, struct ffs_inode *inode, u32 clusters);
void ffs_da_update_reserve(struct ffs_blockmap *bm, struct ffs_inode *inode, u32 used,
			   bool quota_claim);

/* A new in-core inode's maps: an empty extent tree, or indirect map, and status tree. */
void ffs_blockmap_init(struct ffs_blockmap *bm, struct ffs_inode *inode);
void ffs_blockmap_destroy(struct ffs_blockmap *bm, struct ffs_inode *inode);

/*
 * Truncate to @first blocks inside handle @h (ext4_ext_truncate, ext4_ind_truncate):
 * status tree, removal of blocks, restarts as the kernel does.
 */
int ffs_truncate_blocks(struct ffs_blockmap *bm, struct ffs_handle *h, struct ffs_inode *inode,
			u32 first);
/* Remove [first, end) inside handle @h: what punch does after the status tree. */
int ffs_remove_range(struct ffs_blockmap *bm, struct ffs_handle *h, struct ffs_inode *inode,
		     u32 first, u32 end);

/* What the map looks like, for states, rules and snapshots: calls back run by run, ascending. */
struct ffs_map_run {
	u32 lblk, len;
	u64 pblk;
	bool unwritten;
};
void ffs_for_each_run(const struct ffs_inode *inode,
		      void (*fn)(void *priv, const struct ffs_map_run *run), void *priv);

/*
 * Deep copy of @from's extent tree or indirect map into @to (which has none):
 * what a commit makes durable.  The status tree is not copied.
 */
void ffs_blockmap_clone(struct ffs_inode *to, const struct ffs_inode *from);
/* Changes whenever the tree or the indirect map does: equal numbers, equal trees. */
u64 ffs_blockmap_generation(const struct ffs_inode *inode);

/* Depth of the extent tree, 0: in the inode. */
u32 ffs_inode_depth(const struct ffs_inode *inode);

struct ffs_tree_info {
	bool extents; /* else indirect */
	u32 depth, index_blocks, leaf_blocks, extents_nr, unwritten;
};
void ffs_tree_info(const struct ffs_inode *inode, struct ffs_tree_info *info);

#endif
