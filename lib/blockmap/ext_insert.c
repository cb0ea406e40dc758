// SPDX-License-Identifier: MIT
/*
 * Inserting an extent: merging with neighbours, finding or making room for a
 * new entry, keys above the leaf.  Stands for ext4_ext_insert_extent,
 * ext4_ext_create_new_leaf, ext4_ext_split, ext4_ext_grow_indepth,
 * ext4_ext_insert_index, ext4_ext_correct_indexes, ext4_ext_try_to_merge and its
 * helpers.
 */
#include "blockmap/es.h"
#include "blockmap/ext.h"

bool ffs_extents_merge(const struct ffs_extent *a, const struct ffs_extent *b)
{
	u32 limit = a->unwritten ? FFS_EXT_UNWRITTEN_MAX : FFS_EXT_WRITTEN_MAX;

	return a->unwritten == b->unwritten && ffs_extent_end(a) == b->lblk &&
	       a->pblk + a->len == b->pblk && (u32)a->len + b->len <= limit;
}

bool ffs_ext_merge_right(struct ffs_ext_node *leaf, u32 i)
{
	bool merged = false;

	while (i + 1 < leaf->n && ffs_extents_merge(&leaf->ext[i], &leaf->ext[i + 1])) {
		leaf->ext[i].len += leaf->ext[i + 1].len;
		ffs_ext_remove_at(leaf, i + 1);
		merged = true;
	}
	return merged;
}

int ffs_free_meta_block(struct ffs_blockmap *bm, struct ffs_handle *h, struct ffs_inode *inode,
			u64 blk)
{
	return ffs_free_blocks(bm->alloc, h, inode, blk, 1,
			       FFS_FREE_METADATA | FFS_FREE_FORGET | FFS_FREE_VALIDATED);
}

/* A tree of one leaf with few extents goes back into the inode. */
static void merge_up(struct ffs_ext_walk *w)
{
	struct ffs_ext_node *root = &w->tree->root, *leaf;
	struct ffs_ext_index *idx;
	u64 blk;

	if (w->depth != 1 || root->n != 1 || w->at[1].node->n > FFS_EXT_ROOT_MAX)
		return;
	/* bitmap and descriptor; without the credits the tree stays as it is */
	if (ffs_handle_extend(w->h, 2, ffs_cluster_ratio(w->bm)))
		return;
	leaf = w->at[1].node;
	blk = leaf->blk;
	idx = root->idx;
	root->entries = NULL;
	root->n = 0;
	root->cap = 0;
	root->height = 0;
	ffs_ext_move_tail(root, leaf, 0);
	free(idx);
	ffs_ext_node_put(leaf);
	w->depth = 0;
	w->at[0].i = w->at[1].i;
	w->tree->generation++;
	ffs_free_meta_block(w->bm, w->h, w->inode, blk);
}

void ffs_walk_merge(struct ffs_ext_walk *w)
{
	struct ffs_ext_step *s = ffs_walk_leaf(w);

	if (s->i > 0 && ffs_ext_merge_right(s->node, (u32)s->i - 1))
		s->i--;
	else
		ffs_ext_merge_right(s->node, (u32)s->i);
	merge_up(w);
}

int ffs_walk_fix_keys(struct ffs_ext_walk *w)
{
	const struct ffs_ext_step *s = ffs_walk_leaf(w);
	u32 level = w->depth, key;
	int err;

	if (!level || s->i != 0)
		return 0;
	key = s->node->ext[0].lblk;
	do {
		level--;
		w->at[level].node->idx[w->at[level].i].key = key;
		err = ffs_walk_dirty(w, level, "ext4_ext_correct_indexes");
	} while (!err && level && w->at[level].i == 0);
	return err;
}

/* --- making room --- */

/* One more level: a block takes over what was in the root. */
static int grow(struct ffs_ext_walk *w, u32 mb_flags)
{
	struct ffs_ext_node *root = &w->tree->root, *child;
	u64 goal = 0, blk;
	u32 key;
	int err = 0;

	if (root->height)
		goal = root->idx[0].child->blk;
	if (goal > w->bm->env->geo.first_data_block) {
		mb_flags |= FFS_MB_TRY_GOAL;
		goal--;
	} else {
		goal = ffs_inode_goal(w->bm->alloc, w->inode);
	}
	blk = ffs_alloc_meta_block(w->bm->alloc, w->h, w->inode, goal, mb_flags, &err);
	if (!blk)
		return err;
	err = ffs_journal_dirty(w->h, blk);
	if (err)
		return err;

	child = ffs_ext_node_new(blk, root->height, ffs_ext_block_max(w->bm));
	child->checked = true;
	child->entries = root->entries;
	child->n = root->n;
	child->cap = root->cap;
	key = root->height ? root->idx[0].key : root->ext[0].lblk;
	root->entries = NULL;
	root->n = 0;
	root->cap = 0;
	root->height++;
	ffs_ext_insert_index(root, 0, key, child);
	w->tree->generation++;
	return w->bm->mark_inode_dirty(w->bm->priv, w->h, w->inode, "ext4_ext_insert_extent");
}

/*
 * New nodes below the free index slot at level @at: a leaf with the extents to
 * the right of the walk, and index nodes likewise.  Nothing is balanced.
 */
static int split_nodes(struct ffs_ext_walk *w, u32 mb_flags, u32 lblk, u32 at)
{
	struct ffs_ext_step *leaf = ffs_walk_leaf(w);
	u64 blk[FFS_EXT_DEPTH_MAX];
	u32 level = w->depth, n = level - at, i, border, pos;
	struct ffs_ext_node *below = NULL;
	int err = 0;

	border = leaf->i + 1 < leaf->node->max ? leaf->node->ext[leaf->i + 1].lblk : lblk;
	for (i = 0; i < n; i++) {
		blk[i] = ffs_alloc_meta_block(w->bm->alloc, w->h, w->inode, ffs_walk_goal(w, lblk),
					      mb_flags, &err);
		if (!blk[i])
			goto free_blocks;
	}
	/* the block allocated last becomes the leaf, the one before its parent, ... */
	for (; level > at; level--) {
		struct ffs_ext_step *s = &w->at[level];
		struct ffs_ext_node *node = ffs_ext_node_new(blk[level - at - 1], s->node->height,
							     ffs_ext_block_max(w->bm));
		u32 first = (u32)s->i + 1;
		bool moved = first < s->node->n;

		if (below)
			ffs_ext_insert_index(node, 0, border, below);
		ffs_ext_move_tail(node, s->node, first);
		below = node;
		err = ffs_journal_dirty(w->h, node->blk);
		if (!err && moved)
			err = ffs_walk_dirty(w, level, NULL);
		if (err)
			break; /* the journal is aborted: the tree is kept whole, not the ledger */
	}
	pos = border > w->at[at].node->idx[w->at[at].i].key ? (u32)w->at[at].i + 1 :
							     (u32)w->at[at].i;
	ffs_ext_insert_index(w->at[at].node, pos, border, below);
	return err ? err : ffs_walk_dirty(w, at, "ext4_ext_insert_extent");

free_blocks:
	while (i--)
		ffs_free_blocks(w->bm->alloc, w->h, w->inode, blk[i], 1,
				FFS_FREE_METADATA | FFS_FREE_VALIDATED);
	return err;
}

/* Room for an entry at @lblk; the walk leads to it afterwards. */
static int make_room(struct ffs_ext_walk *w, u32 mb_flags, u32 lblk, u32 flags)
{
	int err;

	for (;;) {
		u32 level = w->depth;

		while (level && w->at[level].node->n >= w->at[level].node->max)
			level--;
		if (w->at[level].node->n < w->at[level].node->max) {
			ffs_walk_own(w, w->depth);
			err = split_nodes(w, mb_flags, lblk, level);
			ffs_walk_find(w, lblk, flags);
			return err;
		}
		if (w->depth >= FFS_EXT_DEPTH_MAX)
			return -ENOSPC;
		err = grow(w, mb_flags);
		if (err)
			return err;
		ffs_walk_find(w, lblk, flags);
		/* only the first growth makes room in the leaf */
		if (ffs_walk_leaf(w)->node->n < ffs_walk_leaf(w)->node->max)
			return 0;
	}
}

/*
 * Merge @e into an extent next to the place of the walk: true if it is gone.
 * The key test of the caller looks at the place the walk came to, so the walk's
 * own position must not change here; *at is the entry that took the extent.
 */
static bool merge_into_neighbour(struct ffs_ext_walk *w, const struct ffs_extent *e, s32 *at)
{
	struct ffs_ext_step *s = ffs_walk_leaf(w);
	struct ffs_extent *x;
	s32 i = s->i;

	if (i < 0)
		return false;
	ffs_walk_own(w, w->depth);
	x = &s->node->ext[i];
	if (i + 1 < s->node->n && ffs_extent_end(x) < e->lblk) {
		i++;
		goto prepend;
	}
	if (i > 0 && ffs_extent_end(e) < x->lblk)
		i--;
	x = &s->node->ext[i];
	if (ffs_extents_merge(x, e)) {
		x->len += e->len;
		*at = i;
		return true;
	}
prepend:
	x = &s->node->ext[i];
	if (ffs_extents_merge(e, x)) {
		x->lblk = e->lblk;
		x->pblk = e->pblk;
		x->len += e->len;
		*at = i;
		return true;
	}
	return false;
}

int ffs_ext_insert(struct ffs_ext_walk *w, const struct ffs_extent *e, u32 flags)
{
	bool merge = !(flags & FFS_GET_PRE_IO);
	struct ffs_ext_walk next_walk;
	struct ffs_ext_step *s;
	u32 mb_flags = 0, next;
	s32 at, found;
	int err;

	if (flags & FFS_GET_DELALLOC)
		mb_flags |= FFS_MB_DELALLOC;
	found = ffs_walk_leaf(w)->i;
	if (merge && merge_into_neighbour(w, e, &at))
		goto merge;

	s = ffs_walk_leaf(w);
	if (s->node->n >= s->node->max) {
		next = FFS_LBLK_MAX;
		if (e->lblk > s->node->ext[s->node->n - 1].lblk)
			next = ffs_walk_next_leaf(w);
		if (next != FFS_LBLK_MAX) {
			ffs_walk_init(&next_walk, w->bm, w->h, w->inode);
			ffs_walk_find(&next_walk, next, flags);
			s = ffs_walk_leaf(&next_walk);
		}
		if (next != FFS_LBLK_MAX && s->node->n < s->node->max) {
			w = &next_walk;
		} else {
			if (flags & FFS_GET_METADATA_NOFAIL)
				mb_flags |= FFS_MB_USE_RESERVED;
			err = make_room(w, mb_flags, e->lblk, flags);
			if (err)
				return err;
		}
	}
	ffs_walk_own(w, w->depth);
	s = ffs_walk_leaf(w);
	if (s->i < 0)
		at = 0;
	else
		at = e->lblk > s->node->ext[s->i].lblk ? s->i + 1 : s->i;
	ffs_ext_insert_at(s->node, (u32)at, e);
	found = at;
merge:
	s = ffs_walk_leaf(w);
	s->i = at;
	if (merge) {
		u32 depth = w->depth;

		ffs_walk_merge(w);
		/* back in the inode: there are no keys any more */
		if (depth != w->depth)
			found = 0;
	}
	ffs_walk_leaf(w)->i = found;
	err = ffs_walk_fix_keys(w);
	if (err)
		return err;
	return ffs_walk_dirty(w, w->depth, "ext4_ext_insert_extent");
}
