// SPDX-License-Identifier: MIT
/*
 * Looking at the maps from outside, without events and without caching anything:
 * runs for states, rules and snapshots; the shape of the tree.  And what a mount or
 * a drop of caches does to what is in memory.
 */
#include "blockmap/es.h"
#include "blockmap/ext.h"
#include "blockmap/ind.h"

static void fill_run(struct ffs_map_run *run, const struct ffs_extent *e)
{
	run->lblk = e->lblk;
	run->len = e->len;
	run->pblk = e->pblk;
	run->unwritten = e->unwritten;
}

static void walk_node(const struct ffs_ext_node *node,
		      void (*fn)(void *priv, const struct ffs_map_run *run), void *priv)
{
	struct ffs_map_run run;
	u32 i;

	for (i = 0; i < node->n; i++) {
		if (node->height) {
			walk_node(node->idx[i].child, fn, priv);
			continue;
		}
		fill_run(&run, &node->ext[i]);
		fn(priv, &run);
	}
}

/* The run of the indirect map at or behind @lblk. */
static bool next_ind_run(struct ffs_ind_map *m, u64 lblk, struct ffs_map_run *run)
{
	struct ffs_ind_step chain[4];
	struct ffs_ind_path p;
	u32 at, i;

	run->len = 0;
	run->unwritten = false;
	for (;;) {
		u64 skip = 1;

		ffs_ind_path(m, lblk, &p);
		if (!p.depth || lblk >= FFS_LBLK_MAX)
			return run->len;
		at = ffs_ind_branch(m, &p, p.depth, chain);
		if (at == p.depth) {
			struct ffs_ind_step *s = &chain[p.depth - 1];
			u32 blk = *ffs_ind_slot(m, s);

			if (run->len && run->pblk + run->len != blk)
				return true;
			if (!run->len) {
				run->lblk = (u32)lblk;
				run->pblk = blk;
			}
			run->len++;
			lblk++;
			continue;
		}
		if (run->len)
			return true;
		/* to the end of the missing subtree */
		for (i = at + 1, skip = 0; i < p.depth; i++)
			skip = skip * m->per_block + (m->per_block - p.off[i] - 1);
		lblk += skip + 1;
	}
}

bool ffs_next_run(const struct ffs_inode *inode, u32 lblk, struct ffs_map_run *run)
{
	const struct ffs_ext_node *node;
	u32 i;

	if (inode->ind)
		return next_ind_run(inode->ind, lblk, run);
	if (!inode->tree)
		return false;
	/* keys may be too small, so the leaf may end before @lblk: then the next one */
	for (;;) {
		u32 next = FFS_LBLK_MAX;

		for (node = &inode->tree->root; node->height; node = node->idx[i].child) {
			u32 lo = 1, hi = node->n;

			while (lo < hi) {
				u32 mid = (lo + hi) / 2;

				if (node->idx[mid].key <= lblk)
					lo = mid + 1;
				else
					hi = mid;
			}
			i = lo - 1;
			if (lo < node->n)
				next = node->idx[lo].key;
		}
		{
			u32 lo = 0, hi = node->n;

			while (lo < hi) {
				u32 mid = (lo + hi) / 2;

				if (ffs_extent_end(&node->ext[mid]) <= lblk)
					lo = mid + 1;
				else
					hi = mid;
			}
			if (lo < node->n) {
				fill_run(run, &node->ext[lo]);
				return true;
			}
		}
		if (next == FFS_LBLK_MAX)
			return false;
		lblk = next;
	}
}

void ffs_for_each_run(const struct ffs_inode *inode,
		      void (*fn)(void *priv, const struct ffs_map_run *run), void *priv)
{
	struct ffs_map_run run;
	u64 lblk = 0;

	if (inode->tree) {
		walk_node(&inode->tree->root, fn, priv);
		return;
	}
	while (inode->ind && next_ind_run(inode->ind, lblk, &run)) {
		fn(priv, &run);
		lblk = (u64)run.lblk + run.len;
	}
}

static void count_node(const struct ffs_ext_node *node, struct ffs_tree_info *info, bool root)
{
	u32 i;

	if (!root && node->height)
		info->index_blocks++;
	if (!root && !node->height)
		info->leaf_blocks++;
	for (i = 0; i < node->n; i++) {
		if (node->height) {
			count_node(node->idx[i].child, info, false);
			continue;
		}
		info->extents_nr++;
		info->unwritten += node->ext[i].unwritten;
	}
}

static void count_ind(const struct ffs_ind_map *m, const struct ffs_ind_node *node,
		      struct ffs_tree_info *info)
{
	u32 i;

	if (!node)
		return;
	info->index_blocks++;
	for (i = 0; node->child && i < m->per_block; i++)
		count_ind(m, node->child[i], info);
}

static void count_run(void *priv, const struct ffs_map_run *run)
{
	struct ffs_tree_info *info = priv;

	(void)run;
	info->extents_nr++;
}

void ffs_tree_info(const struct ffs_inode *inode, struct ffs_tree_info *info)
{
	u32 i;

	memset(info, 0, sizeof(*info));
	if (inode->tree) {
		info->extents = true;
		info->depth = inode->tree->root.height;
		count_node(&inode->tree->root, info, true);
	}
	if (inode->ind) {
		for (i = 0; i < ARRAY_SIZE(inode->ind->child); i++)
			count_ind(inode->ind, inode->ind->child[i], info);
		ffs_for_each_run(inode, count_run, info);
	}
}

static void forget_node(struct ffs_ext_node *node, bool (*held)(void *priv, u64 blk), void *priv)
{
	u32 i;

	if (node->blk && (!held || !held(priv, node->blk)))
		node->checked = false;
	if (node->height)
		for (i = 0; i < node->n; i++)
			forget_node(node->idx[i].child, held, priv);
}

void ffs_blockmap_drop_buffers(struct ffs_inode *inode, bool (*held)(void *priv, u64 blk),
			       void *priv)
{
	if (inode->tree)
		forget_node(&inode->tree->root, held, priv);
	if (inode->ind)
		ffs_ind_drop(inode->ind, held, priv);
}

void ffs_blockmap_reread(struct ffs_inode *inode, bool blocks)
{
	ffs_es_free(inode);
	ffs_es_init(inode);
	if (blocks)
		ffs_blockmap_drop_buffers(inode, NULL, NULL);
}
