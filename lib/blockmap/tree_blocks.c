// SPDX-License-Identifier: MIT
/* The blocks that a map itself takes: nodes of the extent tree, indirect blocks. */
#include "blockmap/ext.h"
#include "blockmap/ind.h"

static void node_blocks(const struct ffs_ext_node *node,
			void (*fn)(void *priv, const struct ffs_map_run *run), void *priv)
{
	u16 i;

	if (node->blk) {
		const struct ffs_map_run run = { .len = 1, .pblk = node->blk };

		fn(priv, &run);
	}
	for (i = 0; node->height && i < node->n; i++)
		node_blocks(node->idx[i].child, fn, priv);
}

static void ind_blocks(const struct ffs_ind_map *m, const struct ffs_ind_node *node,
		       void (*fn)(void *priv, const struct ffs_map_run *run), void *priv)
{
	const struct ffs_map_run run = { .len = 1, .pblk = node->blk };
	u32 i;

	fn(priv, &run);
	for (i = 0; node->level > 1 && i < m->per_block; i++)
		if (node->child[i])
			ind_blocks(m, node->child[i], fn, priv);
}

void ffs_for_each_tree_block(const struct ffs_inode *inode,
			     void (*fn)(void *priv, const struct ffs_map_run *run), void *priv)
{
	u32 i;

	if (inode->tree)
		node_blocks(&inode->tree->root, fn, priv);
	for (i = 0; inode->ind && i < FFS_IND_SLOTS - FFS_IND_DIRECT; i++)
		if (inode->ind->child[i])
			ind_blocks(inode->ind, inode->ind->child[i], fn, priv);
}

void ffs_blockmap_replace(struct ffs_blockmap *bm, struct ffs_inode *inode,
			  const struct ffs_inode *from)
{
	(void)bm;
	ffs_ext_tree_free(inode);
	ffs_ind_free(inode);
	ffs_blockmap_clone(inode, from);
}

void ffs_blockmap_to_inline(struct ffs_blockmap *bm, struct ffs_inode *inode)
{
	(void)bm;
	ffs_ext_tree_free(inode);
	ffs_ind_free(inode);
}

void ffs_blockmap_look(struct ffs_inode *inode, u32 lblk)
{
	struct ffs_ext_node *node = inode->tree ? &inode->tree->root : NULL;

	while (node && node->height) {
		u16 i = 0;

		while (i + 1 < node->n && node->idx[i + 1].key <= lblk)
			i++;
		node = node->n ? node->idx[i].child : NULL;
		if (node)
			node->checked = true;
	}
}
