// SPDX-License-Identifier: MIT
/*
 * Nodes of the extent tree, and finding a place in them: ext4_find_extent,
 * ext4_cache_extents, ext4_ext_next_allocated_block, ext4_ext_next_leaf_block,
 * ext4_ext_search_left and _right, ext4_ext_dirty.
 *
 * A snapshot of a tree shares its nodes (ext.h: own), so nodes are never edited
 * before ffs_walk_own() has made them private.
 */
#include "blockmap/es.h"
#include "blockmap/ext.h"

/* --- nodes --- */

static size_t entry_size(const struct ffs_ext_node *node)
{
	return node->height ? sizeof(struct ffs_ext_index) : sizeof(struct ffs_extent);
}

static void reserve(struct ffs_ext_node *node, u32 n)
{
	u32 cap = node->cap ? node->cap : FFS_EXT_ROOT_MAX;

	if (n <= node->cap)
		return;
	while (cap < n)
		cap *= 2;
	if (cap > node->max && node->max >= n)
		cap = node->max;
	node->entries = ffs_realloc(node->entries, cap * entry_size(node));
	node->cap = (u16)cap;
}

struct ffs_ext_node *ffs_ext_node_new(u64 blk, u8 height, u16 max)
{
	struct ffs_ext_node *node = ffs_zalloc(sizeof(*node));

	node->blk = blk;
	node->refs = 1;
	node->height = height;
	node->max = max;
	return node;
}

static void release_entries(struct ffs_ext_node *node)
{
	u32 i;

	if (node->height)
		for (i = 0; i < node->n; i++)
			ffs_ext_node_put(node->idx[i].child);
	free(node->entries);
	node->entries = NULL;
	node->n = 0;
	node->cap = 0;
}

void ffs_ext_node_put(struct ffs_ext_node *node)
{
	if (--node->refs)
		return;
	release_entries(node);
	free(node);
}

/* @to gets the entries of @from; nodes below are shared from now on. */
static void share_entries(struct ffs_ext_node *to, const struct ffs_ext_node *from)
{
	u32 i;

	to->n = 0;
	to->height = from->height;
	to->max = from->max;
	reserve(to, from->n);
	if (from->n)
		memcpy(to->entries, from->entries, from->n * entry_size(from));
	to->n = from->n;
	if (from->height)
		for (i = 0; i < from->n; i++)
			from->idx[i].child->refs++;
}

u16 ffs_ext_block_max(const struct ffs_blockmap *bm)
{
	return (u16)((ffs_block_size(bm->env) - 12) / 12);
}

void ffs_ext_insert_at(struct ffs_ext_node *leaf, u32 i, const struct ffs_extent *e)
{
	reserve(leaf, leaf->n + 1u);
	memmove(&leaf->ext[i + 1], &leaf->ext[i], (leaf->n - i) * sizeof(*e));
	leaf->ext[i] = *e;
	leaf->n++;
}

void ffs_ext_insert_index(struct ffs_ext_node *node, u32 i, u32 key, struct ffs_ext_node *child)
{
	reserve(node, node->n + 1u);
	memmove(&node->idx[i + 1], &node->idx[i], (node->n - i) * sizeof(*node->idx));
	node->idx[i].key = key;
	node->idx[i].child = child;
	node->n++;
}

void ffs_ext_remove_at(struct ffs_ext_node *node, u32 i)
{
	size_t size = entry_size(node);
	char *base = node->entries;

	node->n--;
	memmove(base + i * size, base + (i + 1) * size, (node->n - i) * size);
}

void ffs_ext_move_tail(struct ffs_ext_node *to, struct ffs_ext_node *from, u32 first)
{
	size_t size = entry_size(from);
	u32 n = from->n - first;

	if (!n)
		return;
	reserve(to, to->n + n);
	memcpy((char *)to->entries + to->n * size, (char *)from->entries + first * size, n * size);
	to->n = (u16)(to->n + n);
	from->n = (u16)first;
}

/* --- trees --- */

void ffs_ext_tree_new(struct ffs_inode *inode)
{
	struct ffs_ext_tree *t = ffs_zalloc(sizeof(*t));

	t->root.refs = 1;
	t->root.max = FFS_EXT_ROOT_MAX;
	inode->tree = t;
}

void ffs_ext_tree_free(struct ffs_inode *inode)
{
	if (!inode->tree)
		return;
	release_entries(&inode->tree->root);
	free(inode->tree);
	inode->tree = NULL;
}

void ffs_ext_tree_copy(struct ffs_inode *to, const struct ffs_inode *from)
{
	ffs_ext_tree_new(to);
	share_entries(&to->tree->root, &from->tree->root);
	to->tree->generation = from->tree->generation;
}

/* --- walks --- */

void ffs_walk_init(struct ffs_ext_walk *w, struct ffs_blockmap *bm, struct ffs_handle *h,
		   struct ffs_inode *inode)
{
	w->bm = bm;
	w->h = h;
	w->inode = inode;
	w->tree = inode->tree;
	w->depth = 0;
}

void ffs_ext_cache_leaf(struct ffs_inode *inode, const struct ffs_ext_node *node)
{
	u32 prev = 0, i;

	for (i = 0; i < node->n; i++) {
		const struct ffs_extent *e = &node->ext[i];

		/* no hole is cached in front of the first extent, and none that starts at 0 */
		if (prev && prev != e->lblk)
			ffs_es_cache(inode, prev, e->lblk - prev, 0, FFS_ES_HOLE);
		ffs_es_cache(inode, e->lblk, e->len, e->pblk,
			     e->unwritten ? FFS_ES_UNWRITTEN : FFS_ES_WRITTEN);
		prev = ffs_extent_end(e);
	}
}

void ffs_ext_check(struct ffs_inode *inode, struct ffs_ext_node *node, bool cache)
{
	if (node->checked)
		return;
	node->checked = true;
	if (cache && !node->height)
		ffs_ext_cache_leaf(inode, node);
}

/* Last index with key <= lblk, or the first. */
static s32 find_index(const struct ffs_ext_node *node, u32 lblk)
{
	s32 lo = 1, hi = node->n - 1;

	while (lo <= hi) {
		s32 mid = lo + (hi - lo) / 2;

		if (lblk < node->idx[mid].key)
			hi = mid - 1;
		else
			lo = mid + 1;
	}
	return lo - 1;
}

static s32 find_extent(const struct ffs_ext_node *node, u32 lblk)
{
	s32 lo = 1, hi = node->n - 1;

	if (!node->n)
		return -1;
	while (lo <= hi) {
		s32 mid = lo + (hi - lo) / 2;

		if (lblk < node->ext[mid].lblk)
			hi = mid - 1;
		else
			lo = mid + 1;
	}
	return lo - 1;
}

void ffs_walk_find(struct ffs_ext_walk *w, u32 lblk, u32 flags)
{
	struct ffs_ext_node *node = &w->tree->root;
	bool cache = !(flags & FFS_GET_EX_NOCACHE);
	u32 level = 0;

	w->depth = node->height;
	if (cache && !node->height)
		ffs_ext_cache_leaf(w->inode, node);
	for (; node->height; level++) {
		w->at[level].node = node;
		w->at[level].i = find_index(node, lblk);
		node = node->idx[w->at[level].i].child;
		ffs_ext_check(w->inode, node, cache);
	}
	w->at[level].node = node;
	w->at[level].i = find_extent(node, lblk);
}

void ffs_walk_own(struct ffs_ext_walk *w, u32 level)
{
	u32 l;

	for (l = 1; l <= level; l++) {
		struct ffs_ext_node *node = w->at[l].node, *copy;

		if (node->refs == 1)
			continue;
		copy = ffs_ext_node_new(node->blk, node->height, node->max);
		copy->checked = node->checked;
		share_entries(copy, node);
		node->refs--;
		w->at[l - 1].node->idx[w->at[l - 1].i].child = copy;
		w->at[l].node = copy;
	}
	w->tree->generation++;
}

int ffs_walk_dirty(struct ffs_ext_walk *w, u32 level, const char *caller)
{
	if (!level)
		return w->bm->mark_inode_dirty(w->bm->priv, w->h, w->inode, caller);
	/* whoever changes a node in memory vouches for it */
	w->at[level].node->checked = true;
	return ffs_journal_dirty(w->h, w->at[level].node->blk);
}

u32 ffs_walk_next_leaf(const struct ffs_ext_walk *w)
{
	u32 level = w->depth;

	while (level--) {
		const struct ffs_ext_step *s = &w->at[level];

		if (s->i + 1 < s->node->n)
			return s->node->idx[s->i + 1].key;
	}
	return FFS_LBLK_MAX;
}

u32 ffs_walk_next_block(const struct ffs_ext_walk *w)
{
	const struct ffs_ext_step *s = &w->at[w->depth];

	if (s->i >= 0 && s->i + 1 < s->node->n)
		return s->node->ext[s->i + 1].lblk;
	return ffs_walk_next_leaf(w);
}

bool ffs_walk_left(struct ffs_ext_walk *w, u32 lblk, u32 *lleft, u64 *pleft)
{
	const struct ffs_extent *e = ffs_walk_extent(w);

	*lleft = lblk;
	*pleft = 0;
	if (!e || lblk < e->lblk)
		return false;
	*lleft = ffs_extent_end(e) - 1;
	*pleft = e->pblk + e->len - 1;
	return true;
}

bool ffs_walk_right(struct ffs_ext_walk *w, u32 lblk, struct ffs_extent *right)
{
	struct ffs_ext_step *s = ffs_walk_leaf(w);
	struct ffs_extent *e = ffs_walk_extent(w);
	u32 level = w->depth;

	if (!e)
		return false;
	if (lblk < e->lblk) {
		*right = *e;
		return true;
	}
	if (s->i + 1 < s->node->n) {
		*right = s->node->ext[s->i + 1];
		return true;
	}
	while (level--) {
		struct ffs_ext_node *node = w->at[level].node;

		if (w->at[level].i + 1 >= node->n)
			continue;
		node = node->idx[w->at[level].i + 1].child;
		/* this way down caches what it reads, whatever the question was */
		for (ffs_ext_check(w->inode, node, true); node->height;
		     ffs_ext_check(w->inode, node, true))
			node = node->idx[0].child;
		*right = node->ext[0];
		return true;
	}
	return false;
}
