// SPDX-License-Identifier: MIT
/* Pointer blocks of the indirect map and the way to a block in them: see ind.h. */
#include "blockmap/ind.h"

struct ffs_ind_node *ffs_ind_node_new(const struct ffs_ind_map *m, u64 blk, u8 level)
{
	struct ffs_ind_node *node = ffs_zalloc(sizeof(*node));

	node->blk = blk;
	node->refs = 1;
	node->level = level;
	node->ptr = ffs_zalloc(m->per_block * sizeof(*node->ptr));
	if (level > 1)
		node->child = ffs_zalloc(m->per_block * sizeof(struct ffs_ind_node *));
	return node;
}

void ffs_ind_node_put(const struct ffs_ind_map *m, struct ffs_ind_node *node)
{
	u32 i;

	if (!node || --node->refs)
		return;
	for (i = 0; node->child && i < m->per_block; i++)
		ffs_ind_node_put(m, node->child[i]);
	free(node->child);
	free(node->ptr);
	free(node);
}

struct ffs_ind_node *ffs_ind_own_child(struct ffs_ind_map *m, const struct ffs_ind_step *s)
{
	struct ffs_ind_node **slot = ffs_ind_child(m, s), *node = *slot, *copy;
	u32 i;

	m->generation++;
	if (node->refs == 1)
		return node;
	copy = ffs_ind_node_new(m, node->blk, node->level);
	copy->cold = node->cold;
	memcpy(copy->ptr, node->ptr, m->per_block * sizeof(*copy->ptr));
	for (i = 0; copy->child && i < m->per_block; i++) {
		copy->child[i] = node->child[i];
		if (copy->child[i])
			copy->child[i]->refs++;
	}
	node->refs--;
	*slot = copy;
	return copy;
}

void ffs_ind_own(struct ffs_ind_map *m, struct ffs_ind_step chain[4], u32 n)
{
	u32 i;

	m->generation++;
	for (i = 1; i <= n; i++)
		chain[i].node = ffs_ind_own_child(m, &chain[i - 1]);
}

void ffs_ind_path(const struct ffs_ind_map *m, u64 lblk, struct ffs_ind_path *p)
{
	u64 per = m->per_block, size = per;
	u32 level, i;

	if (lblk < FFS_IND_DIRECT) {
		p->depth = 1;
		p->off[0] = (u32)lblk;
		p->to_boundary = FFS_IND_DIRECT - 1 - (u32)lblk;
		return;
	}
	lblk -= FFS_IND_DIRECT;
	for (level = 1; level <= 3 && lblk >= size; level++) {
		lblk -= size;
		size *= per;
	}
	p->depth = level <= 3 ? level + 1 : 0;
	if (!p->depth)
		return;
	p->off[0] = FFS_IND_DIRECT - 1 + level;
	for (i = level; i; i--) {
		p->off[i] = (u32)(lblk % per);
		lblk /= per;
	}
	p->to_boundary = (u32)per - 1 - p->off[level];
}

u32 ffs_ind_branch(struct ffs_ind_map *m, const struct ffs_ind_path *p, u32 depth,
		   struct ffs_ind_step chain[4])
{
	u32 i;

	for (i = 0; i < depth; i++) {
		chain[i].node = i ? *ffs_ind_child(m, &chain[i - 1]) : NULL;
		chain[i].off = (s32)p->off[i];
		if (!*ffs_ind_slot(m, &chain[i]))
			return i;
	}
	return depth;
}

void ffs_ind_read(const struct ffs_ind_step chain[4], u32 n, void (*read)(void *priv, u64 blk),
		  void *priv)
{
	u32 i;

	for (i = 1; i <= n; i++) {
		struct ffs_ind_node *node = chain[i].node;

		if (node->cold && read)
			read(priv, node->blk);
		node->cold = false;
	}
}

static void drop_node(const struct ffs_ind_map *m, struct ffs_ind_node *node,
		      bool (*held)(void *priv, u64 blk), void *priv)
{
	u32 i;

	node->cold |= !held || !held(priv, node->blk);
	for (i = 0; node->child && i < m->per_block; i++)
		if (node->child[i])
			drop_node(m, node->child[i], held, priv);
}

void ffs_ind_drop(struct ffs_ind_map *m, bool (*held)(void *priv, u64 blk), void *priv)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(m->child); i++)
		if (m->child[i])
			drop_node(m, m->child[i], held, priv);
}

void ffs_ind_new(struct ffs_blockmap *bm, struct ffs_inode *inode)
{
	inode->ind = ffs_zalloc(sizeof(*inode->ind));
	inode->ind->per_block = ffs_block_size(bm->env) / 4;
}

void ffs_ind_free(struct ffs_inode *inode)
{
	u32 i;

	if (!inode->ind)
		return;
	for (i = 0; i < ARRAY_SIZE(inode->ind->child); i++)
		ffs_ind_node_put(inode->ind, inode->ind->child[i]);
	free(inode->ind);
	inode->ind = NULL;
}

void ffs_ind_copy(struct ffs_inode *to, const struct ffs_inode *from)
{
	u32 i;

	to->ind = ffs_zalloc(sizeof(*to->ind));
	*to->ind = *from->ind;
	for (i = 0; i < ARRAY_SIZE(to->ind->child); i++)
		if (to->ind->child[i])
			to->ind->child[i]->refs++;
}
