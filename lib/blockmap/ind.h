/* SPDX-License-Identifier: MIT */
/*
 * The indirect map of an inode without extents: 12 direct pointers, then one
 * single, one double and one triple indirect block.  Internal to lib/blockmap.
 *
 * Pointer blocks are shared with snapshots as extent tree nodes are (ext.h).
 */
#ifndef FFS_IND_H
#define FFS_IND_H

#include "blockmap/blockmap.h"

#define FFS_IND_DIRECT 12u
#define FFS_IND_SLOTS 15u

struct ffs_ind_node {
	u64 blk;
	u32 refs;
	u8 level; /* 1: points to data, 2: to blocks of level 1, ... */
	bool cold; /* its block is not in the cache of the device */
	u32 *ptr; /* block numbers, 0: none */
	struct ffs_ind_node **child; /* level > 1 */
};

struct ffs_ind_map {
	u32 ptr[FFS_IND_SLOTS];
	struct ffs_ind_node *child[FFS_IND_SLOTS - FFS_IND_DIRECT];
	u32 per_block; /* pointers in a block */
	u64 generation;
};

/* A pointer: slot @off of @node, or of the inode (NULL). */
struct ffs_ind_step {
	struct ffs_ind_node *node;
	s32 off;
};

struct ffs_ind_path {
	u32 depth; /* 1: direct; 0: @lblk is too large */
	u32 off[4];
	u32 to_boundary; /* blocks behind this one in the same pointer block */
};

static inline u32 *ffs_ind_slot(struct ffs_ind_map *m, const struct ffs_ind_step *s)
{
	return s->node ? &s->node->ptr[s->off] : &m->ptr[s->off];
}

static inline struct ffs_ind_node **ffs_ind_child(struct ffs_ind_map *m,
						  const struct ffs_ind_step *s)
{
	return s->node ? &s->node->child[s->off] : &m->child[s->off - (s32)FFS_IND_DIRECT];
}

/* ext4_block_to_path */
void ffs_ind_path(const struct ffs_ind_map *m, u64 lblk, struct ffs_ind_path *p);
/*
 * Follow @p for at most @depth pointers (ext4_get_branch): fills chain[], returns
 * the number of the first pointer that is 0, or @depth if the branch is whole.
 */
u32 ffs_ind_branch(struct ffs_ind_map *m, const struct ffs_ind_path *p, u32 depth,
		   struct ffs_ind_step chain[4]);
/* Pointer blocks of chain[1 .. n] that are cold are read, from the top. */
void ffs_ind_read(const struct ffs_ind_step chain[4], u32 n, void (*read)(void *priv, u64 blk),
		  void *priv);
/* All pointer blocks are cold, but for those that @held says stay (NULL: none stays). */
void ffs_ind_drop(struct ffs_ind_map *m, bool (*held)(void *priv, u64 blk), void *priv);
/* Make the pointer blocks of chain[1 .. n] private. */
void ffs_ind_own(struct ffs_ind_map *m, struct ffs_ind_step chain[4], u32 n);
/* Make the block below slot @s private, and return it. */
struct ffs_ind_node *ffs_ind_own_child(struct ffs_ind_map *m, const struct ffs_ind_step *s);
struct ffs_ind_node *ffs_ind_node_new(const struct ffs_ind_map *m, u64 blk, u8 level);
void ffs_ind_node_put(const struct ffs_ind_map *m, struct ffs_ind_node *node);

void ffs_ind_new(struct ffs_blockmap *bm, struct ffs_inode *inode);
void ffs_ind_free(struct ffs_inode *inode);
void ffs_ind_copy(struct ffs_inode *to, const struct ffs_inode *from);

/* ext4_ind_map_blocks: results as ffs_map_blocks. */
int ffs_ind_map_blocks(struct ffs_blockmap *bm, struct ffs_handle *h, struct ffs_inode *inode,
		       struct ffs_map *map, u32 flags);
/* ext4_ind_truncate behind the status tree; ext4_ind_remove_space. */
int ffs_ind_truncate(struct ffs_blockmap *bm, struct ffs_handle *h, struct ffs_inode *inode,
		     u32 first);
int ffs_ind_remove(struct ffs_blockmap *bm, struct ffs_handle *h, struct ffs_inode *inode,
		   u32 first, u32 end);

#endif
