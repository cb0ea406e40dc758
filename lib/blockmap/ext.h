/* SPDX-License-Identifier: MIT */
/*
 * The extent tree, with real nodes: what fs/ext4/extents.c keeps on disk and in
 * the inode.  Internal to lib/blockmap.
 *
 * Glossary
 *	node	a tree block (or the root in the inode): sorted extents (height 0,
 *		a leaf) or sorted indexes
 *	index	a key and the node below it; the key is the first block of that node
 *		when the index was made, later only lowered, or set when its first
 *		entry changes: it may be smaller than what the node holds now
 *	walk	a path from the root to a place in a leaf, and for whom it is walked
 *	own	make the nodes of a walk private before an edit: a snapshot of the
 *		tree shares its nodes with the tree (reference counts), so a commit
 *		costs the root and not the file
 */
#ifndef FFS_EXT_H
#define FFS_EXT_H

#include "blockmap/blockmap.h"

#define FFS_EXT_ROOT_MAX 4u /* entries in the inode: (60 - 12) / 12 */
#define FFS_EXT_DEPTH_MAX 5u
#define FFS_EXT_WRITTEN_MAX 32768u /* blocks of one written extent */
#define FFS_EXT_UNWRITTEN_MAX 32767u

struct ffs_extent {
	u32 lblk;
	u32 len : 31;
	u32 unwritten : 1;
	u64 pblk;
};

struct ffs_ext_node;

struct ffs_ext_index {
	u32 key;
	struct ffs_ext_node *child;
};

struct ffs_ext_node {
	u64 blk; /* where it is; the root: 0 */
	u32 refs; /* trees (the live one, snapshots) that hold it */
	u16 n, max; /* entries, and how many fit on disk */
	u16 cap; /* how many fit in memory now */
	u8 height; /* 0: a leaf */
	bool checked; /* seen since it was read: its extents have been offered to the status tree */
	union {
		struct ffs_extent *ext;
		struct ffs_ext_index *idx;
		void *entries;
	};
};

struct ffs_ext_tree {
	struct ffs_ext_node root;
	u64 generation;
};

struct ffs_ext_step {
	struct ffs_ext_node *node;
	s32 i; /* index or extent the walk goes through; -1: the leaf is empty */
	u32 seen; /* removal: entries of the node when the walk last went down */
};

struct ffs_ext_walk {
	struct ffs_blockmap *bm;
	struct ffs_handle *h;
	struct ffs_inode *inode;
	struct ffs_ext_tree *tree;
	u32 depth;
	struct ffs_ext_step at[FFS_EXT_DEPTH_MAX + 2];
};

static inline u32 ffs_ext_depth(const struct ffs_ext_tree *t)
{
	return t->root.height;
}

static inline u32 ffs_extent_end(const struct ffs_extent *e)
{
	return e->lblk + e->len;
}

static inline bool ffs_extent_has(const struct ffs_extent *e, u32 lblk)
{
	return lblk >= e->lblk && lblk - e->lblk < e->len;
}

/* The leaf of a walk, and the extent it ended at (NULL: empty leaf). */
static inline struct ffs_ext_step *ffs_walk_leaf(struct ffs_ext_walk *w)
{
	return &w->at[w->depth];
}

static inline struct ffs_extent *ffs_walk_extent(struct ffs_ext_walk *w)
{
	struct ffs_ext_step *s = ffs_walk_leaf(w);

	return s->i < 0 ? NULL : &s->node->ext[s->i];
}

/* Blocks of a cluster (bigalloc), else 1. */
static inline u32 ffs_cluster_ratio(const struct ffs_blockmap *bm)
{
	return bm->env->geo.cluster_ratio ? bm->env->geo.cluster_ratio : 1;
}

/* --- ext_tree.c: nodes and lookup --- */

void ffs_walk_init(struct ffs_ext_walk *w, struct ffs_blockmap *bm, struct ffs_handle *h,
		   struct ffs_inode *inode);
/*
 * Walk to @lblk (ext4_find_extent): the last index with a key <= @lblk on each
 * level, the last extent that starts at or before it, or the first if none does.
 * Without FFS_GET_EX_NOCACHE in @flags the extents of a root that is a leaf, and
 * of a leaf not yet checked, are offered to the status tree.
 */
void ffs_walk_find(struct ffs_ext_walk *w, u32 lblk, u32 flags);
/* Offer the extents of leaf @node, and the holes between them, to the status tree. */
void ffs_ext_cache_leaf(struct ffs_inode *inode, const struct ffs_ext_node *node);
/* Mark @node as checked; the first time a leaf's extents are cached if @cache. */
void ffs_ext_check(struct ffs_inode *inode, struct ffs_ext_node *node, bool cache);
/* Make the nodes of the walk down to @level private; the tree's generation moves on. */
void ffs_walk_own(struct ffs_ext_walk *w, u32 level);
/* The node at @level changed: dirty its block, or the inode (then @caller is printed). */
int ffs_walk_dirty(struct ffs_ext_walk *w, u32 level, const char *caller);
/* Start of the next extent or index to the right of the walk, FFS_LBLK_MAX if none. */
u32 ffs_walk_next_block(const struct ffs_ext_walk *w);
/* Key of the next leaf to the right, FFS_LBLK_MAX if none. */
u32 ffs_walk_next_leaf(const struct ffs_ext_walk *w);
/* Where a block for @lblk would best be: behind the extent found, else near the leaf (ext4_ext_find_goal). */
u64 ffs_walk_goal(struct ffs_ext_walk *w, u32 lblk);
/* Nearest allocated block left of @lblk, which is in no extent: false if none. */
bool ffs_walk_left(struct ffs_ext_walk *w, u32 lblk, u32 *lleft, u64 *pleft);
/* The next extent right of @lblk, which is in no extent: false if none. */
bool ffs_walk_right(struct ffs_ext_walk *w, u32 lblk, struct ffs_extent *right);

struct ffs_ext_node *ffs_ext_node_new(u64 blk, u8 height, u16 max);
void ffs_ext_node_put(struct ffs_ext_node *node);
/* Entries that fit a tree block of this file system. */
u16 ffs_ext_block_max(const struct ffs_blockmap *bm);
void ffs_ext_insert_at(struct ffs_ext_node *leaf, u32 i, const struct ffs_extent *e);
void ffs_ext_remove_at(struct ffs_ext_node *node, u32 i);
/* Append entries [first, n) of @from to @to (same height, both private); @from keeps [0, first). */
void ffs_ext_move_tail(struct ffs_ext_node *to, struct ffs_ext_node *from, u32 first);
void ffs_ext_insert_index(struct ffs_ext_node *node, u32 i, u32 key, struct ffs_ext_node *child);
void ffs_ext_tree_new(struct ffs_inode *inode);
void ffs_ext_tree_free(struct ffs_inode *inode);
void ffs_ext_tree_copy(struct ffs_inode *to, const struct ffs_inode *from);

/* --- ext_insert.c: insertion, merging, making room --- */

/*
 * Insert @e, of which no block is mapped, at the place of the walk
 * (ext4_ext_insert_extent).  FFS_GET_PRE_IO: without merging.  The walk is valid
 * afterwards only for its tree; look up anew before using its place.
 * -ENOSPC and journal errors: nothing was inserted.
 */
int ffs_ext_insert(struct ffs_ext_walk *w, const struct ffs_extent *e, u32 flags);
/* True if @b continues @a, logically and on disk, in the same state, within the length limit. */
bool ffs_extents_merge(const struct ffs_extent *a, const struct ffs_extent *b);
/* Merge entry @i of @leaf with what follows, as long as it goes: true if anything merged. */
bool ffs_ext_merge_right(struct ffs_ext_node *leaf, u32 i);
/* Merge the extent of the walk to the left, else to the right, then the tree into the inode. */
void ffs_walk_merge(struct ffs_ext_walk *w);
/* The extent of the walk may be the first of its leaf: rewrite the keys above. */
int ffs_walk_fix_keys(struct ffs_ext_walk *w);
/* Free tree or pointer block @blk, which the journal must not replay any more. */
int ffs_free_meta_block(struct ffs_blockmap *bm, struct ffs_handle *h, struct ffs_inode *inode,
			u64 blk);

/* --- ext_split.c: cutting --- */

#define FFS_SPLIT_MAY_ZERO 0x01u /* may be zeroed on disk if there is no space to cut */
#define FFS_SPLIT_UNWRITTEN1 0x02u /* first part becomes (stays) unwritten */
#define FFS_SPLIT_UNWRITTEN2 0x04u /* second part */
#define FFS_SPLIT_VALID1 0x08u /* first part holds valid data, all of it */
#define FFS_SPLIT_VALID2 0x10u /* second part holds valid data */
#define FFS_SPLIT_PARTLY1 0x20u /* valid data lies somewhere in the first part */

/* Cut the extent of the walk at @split (ext4_split_extent_at). */
int ffs_split_at(struct ffs_ext_walk *w, u32 split, u32 split_flags, u32 flags);
/* Cut it at both ends of [lblk, lblk + len): blocks from lblk in its state, or an error. */
int ffs_split_range(struct ffs_ext_walk *w, u32 lblk, u32 len, u32 split_flags, u32 flags);
/* Cut without a change of state; @nofail: tree blocks may come from the reserve. */
int ffs_split_keep(struct ffs_ext_walk *w, u32 split, bool nofail);
/* [lblk, + len) of the extent was zeroed on disk. */
void ffs_zero_out(struct ffs_ext_walk *w, const struct ffs_extent *e);

/* --- ext_convert.c: unwritten and written --- */

/* The extent of the walk is unwritten and holds map->lblk: answer the question. */
int ffs_ext_handle_unwritten(struct ffs_ext_walk *w, struct ffs_map *map, u32 flags, u32 allocated,
			     u64 newblock);
/* It is written, and zero range wants it unwritten; *allocated: what the answer covers. */
int ffs_ext_to_unwritten(struct ffs_ext_walk *w, struct ffs_map *map, u32 flags, u32 *allocated);

/* --- ext_map.c --- */

/* ext4_ext_map_blocks: results as ffs_map_blocks. */
int ffs_ext_map_blocks(struct ffs_blockmap *bm, struct ffs_handle *h, struct ffs_inode *inode,
		       struct ffs_map *map, u32 flags);
/* A block of logical cluster @lclu is mapped (ext4_clu_mapped). */
bool ffs_ext_cluster_mapped(struct ffs_blockmap *bm, struct ffs_inode *inode, u32 lclu);

/* --- ext_remove.c --- */

/* Remove [first, last] (ext4_ext_remove_space), in a nested handle of its own. */
int ffs_ext_remove_space(struct ffs_blockmap *bm, struct ffs_inode *inode, u32 first, u32 last);
/* Credits or a restart that drops what the inode preallocated: 0, 1 restarted, negative. */
int ffs_datasem_ensure(struct ffs_blockmap *bm, struct ffs_handle *h, struct ffs_inode *inode,
		       s32 check, s32 restart, s32 revokes);

/* --- internal helpers of several files (inode_kind.c) --- */

void ffs_map_inode_kind(const struct ffs_blockmap *bm, const struct ffs_inode *inode,
		    struct foliofs_inode_kind *kind);
bool ffs_journals_data(const struct ffs_blockmap *bm, const struct ffs_inode *inode);
/* Delayed allocation is on for this mount. */
bool ffs_delalloc(const struct ffs_blockmap *bm);
/* Free data blocks of the file, with the flags that its kind needs. */
int ffs_free_data(struct ffs_blockmap *bm, struct ffs_handle *h, struct ffs_inode *inode, u64 pblk,
		  u64 count, u32 flags);

#endif
