// SPDX-License-Identifier: MIT
/*
 * Removing a range from the extent tree: ext4_ext_remove_space, ext4_ext_rm_leaf,
 * ext4_remove_blocks, ext4_ext_rm_idx, ext4_ext_more_to_rm,
 * ext4_datasem_ensure_credits.
 *
 * It goes from right to left.  Before every extent the handle is extended or, if
 * that is refused, restarted; then everything begins anew from the right end.
 *
 * bigalloc: a cluster is freed with the last of its blocks.  What is known about
 * the cluster at the left edge of what was removed last walks along as "partial":
 * nothing, to be freed once nobody else turns out to use it, or in use.
 */
#include "blockmap/es.h"
#include "blockmap/ext.h"

enum partial_state { PARTIAL_NONE, PARTIAL_FREE, PARTIAL_KEEP };

struct partial {
	u64 pclu;
	u32 lblk;
	u32 state; /* enum partial_state */
};

struct removal {
	struct ffs_ext_walk w;
	u32 first, last;
	struct partial partial;
};

int ffs_datasem_ensure(struct ffs_blockmap *bm, struct ffs_handle *h, struct ffs_inode *inode,
		       s32 check, s32 restart, s32 revokes)
{
	int err = ffs_handle_ensure(h, check, restart, revokes);

	if (err <= 0)
		return err;
	/* i_data_sem is dropped here: others may map what was preallocated */
	ffs_discard_preallocations(bm->alloc, inode);
	err = ffs_handle_restart(h, (u32)restart, (u32)revokes);
	return err < 0 ? err : 1;
}

/* Free one whole cluster; blocks in it that are still delayed are reserved again. */
static int free_cluster(struct removal *r, u64 pblk, u32 lblk)
{
	struct ffs_ext_walk *w = &r->w;
	u32 ratio = ffs_cluster_ratio(w->bm);
	bool pending = ffs_es_is_pending(w->bm, w->inode, lblk);
	int err = ffs_free_data(w->bm, w->h, w->inode, pblk - pblk % ratio, ratio,
				pending ? FFS_FREE_RERESERVE : 0);

	if (pending)
		ffs_da_rereserve(w->bm, w->inode, lblk);
	return err;
}

static int free_partial(struct removal *r)
{
	return free_cluster(r, r->partial.pclu * ffs_cluster_ratio(r->w.bm), r->partial.lblk);
}

/* Free the blocks of [from, end of @e), its tail or all of it. */
static int remove_blocks(struct removal *r, const struct ffs_extent *e, u32 from)
{
	struct ffs_ext_walk *w = &r->w;
	u32 ratio = ffs_cluster_ratio(w->bm), to = ffs_extent_end(e) - 1;
	u64 pblk = e->pblk + (from - e->lblk), last = e->pblk + e->len - 1;
	struct partial *p = &r->partial;
	int err;

	ffs_emit(w->bm->env, ext4_remove_blocks, w->inode->ino, e->lblk, e->pblk, e->len, from, to,
		 p->pclu, p->lblk, p->state);

	if (p->state != PARTIAL_NONE && p->pclu != last / ratio) {
		if (p->state == PARTIAL_FREE) {
			err = free_partial(r);
			if (err)
				return err;
		}
		p->state = PARTIAL_NONE;
	}
	if (to % ratio != ratio - 1 && to - to % ratio >= from && p->state != PARTIAL_KEEP) {
		err = free_cluster(r, last, to);
		if (err)
			return err;
		p->state = PARTIAL_NONE;
	}
	err = ffs_free_data(w->bm, w->h, w->inode, pblk, to - from + 1,
			    FFS_FREE_NOFREE_FIRST | FFS_FREE_NOFREE_LAST);
	if (err)
		return err;
	if (p->state != PARTIAL_NONE && p->pclu != pblk / ratio)
		p->state = PARTIAL_NONE;
	if (from % ratio && from == e->lblk) {
		if (p->state == PARTIAL_NONE) {
			p->pclu = pblk / ratio;
			p->lblk = from;
			p->state = PARTIAL_FREE;
		}
	} else {
		p->state = PARTIAL_NONE;
	}
	return 0;
}

/* Drop the index at @level - 1 that leads to the empty node at @level, and its block. */
static int remove_index(struct removal *r, u32 level)
{
	struct ffs_ext_walk *w = &r->w;
	struct ffs_ext_step *s = &w->at[--level];
	u32 i = (u32)s->i;
	struct ffs_ext_node *node = s->node->idx[i].child;
	u64 blk = node->blk;
	int err;

	ffs_walk_own(w, level);
	ffs_ext_remove_at(s->node, i);
	ffs_ext_node_put(node);
	err = ffs_walk_dirty(w, level, "ext4_ext_rm_idx");
	if (err)
		return err;
	err = ffs_free_meta_block(w->bm, w->h, w->inode, blk);
	while (!err && level && w->at[level].i == 0) {
		struct ffs_ext_node *below = w->at[level].node;

		level--;
		/* an empty node keeps the key of what was its first entry */
		if (below->n)
			w->at[level].node->idx[w->at[level].i].key = below->idx[0].key;
		err = ffs_walk_dirty(w, level, "ext4_ext_rm_idx");
	}
	return err;
}

/* Credits for removing @e: leaf, inode, superblock and what it frees. */
static int ensure_credits(struct removal *r, const struct ffs_extent *e, u32 blocks, bool first)
{
	struct ffs_ext_walk *w = &r->w;
	const struct foliofs_geometry *g = &w->bm->env->geo;
	u32 ratio = ffs_cluster_ratio(w->bm);
	s32 credits = (s32)(7 + 2 * (e->len / g->blocks_per_group));
	s32 revokes = (s32)(ratio * w->depth);
	int err;

	if (first)
		credits += (s32)w->depth + 1;
	if (ffs_feature(w->bm->env, FOLIOFS_FEATURE_QUOTA) || g->mount.quota)
		credits += 3;
	if (g->mount.data != FOLIOFS_DATA_JOURNAL && ffs_journals_data(w->bm, w->inode))
		revokes += (s32)(blocks + 2 * (ratio - 1));
	err = ffs_datasem_ensure(w->bm, w->h, w->inode, credits, credits, revokes);
	return err > 0 ? -EAGAIN : err;
}

static int remove_from_leaf(struct removal *r)
{
	struct ffs_ext_walk *w = &r->w;
	struct ffs_ext_step *s = ffs_walk_leaf(w);
	u32 ratio = ffs_cluster_ratio(w->bm);
	bool fix_keys = false;
	int err = 0;

	if (s->i < 0)
		s->i = s->node->n - 1;
	for (; s->i >= 0; s->i--) {
		struct ffs_extent *e = &s->node->ext[s->i], old = *e;
		u32 a, b;

		if (ffs_extent_end(e) <= r->first)
			break;
		a = max(e->lblk, r->first);
		b = min(ffs_extent_end(e) - 1, r->last);
		if (r->last < e->lblk) {
			/* right of the range: its first cluster is in use */
			if (ratio > 1) {
				r->partial.pclu = e->pblk / ratio;
				r->partial.state = PARTIAL_KEEP;
			}
			continue;
		}
		fix_keys |= s->i == 0;
		err = ensure_credits(r, e, b - a + 1, s->i == 0);
		if (err)
			return err;
		ffs_walk_own(w, w->depth);
		e = &s->node->ext[s->i];
		err = remove_blocks(r, &old, a);
		if (err)
			return err;
		if (a == old.lblk)
			ffs_ext_remove_at(s->node, (u32)s->i);
		else
			e->len = a - old.lblk;
		err = ffs_walk_dirty(w, w->depth, "ext4_ext_remove_space");
		if (err)
			return err;
	}
	if (fix_keys && s->node->n) {
		s32 i = s->i;

		s->i = 0;
		err = ffs_walk_fix_keys(w);
		s->i = i;
	}
	if (r->partial.state == PARTIAL_FREE && s->i >= 0) {
		const struct ffs_extent *e = &s->node->ext[s->i];

		if (r->partial.pclu != (e->pblk + e->len - 1) / ratio) {
			int err2 = free_partial(r);

			err = err ? err : err2;
		}
		r->partial.state = PARTIAL_NONE;
	}
	if (!err && !s->node->n && w->depth)
		err = remove_index(r, w->depth);
	return err;
}

/*
 * A range that ends inside the file: cut the extent that crosses its end, and see
 * whether the cluster right of it is in use.  False: there is no extent at all.
 */
static bool prepare_end(struct removal *r, int *err)
{
	struct ffs_ext_walk *w = &r->w;
	u32 ratio = ffs_cluster_ratio(w->bm);
	struct ffs_extent *e, right;

	*err = 0;
	ffs_walk_find(w, r->last, FFS_GET_EX_NOCACHE);
	e = ffs_walk_extent(w);
	if (!e)
		return false;
	if (r->last >= e->lblk && r->last < ffs_extent_end(e) - 1) {
		if (ratio > 1) {
			r->partial.pclu = (e->pblk + (r->last - e->lblk) + 1) / ratio;
			r->partial.state = PARTIAL_KEEP;
		}
		*err = ffs_split_keep(w, r->last + 1, true);
		ffs_walk_find(w, r->last, FFS_GET_EX_NOCACHE);
	} else if (ratio > 1 && r->last >= ffs_extent_end(e) - 1 &&
		   r->partial.state == PARTIAL_NONE &&
		   ffs_walk_right(w, ffs_extent_end(e), &right)) {
		r->partial.pclu = right.pblk / ratio;
		r->partial.state = PARTIAL_KEEP;
	}
	return true;
}

/* Leaf by leaf to the left, as long as the leaf before was emptied. */
static int remove_leaves(struct removal *r, u32 level)
{
	struct ffs_ext_walk *w = &r->w;
	s32 i = (s32)level;
	int err = 0;

	while (i >= 0 && !err) {
		struct ffs_ext_step *s = &w->at[i];
		struct ffs_ext_node *child;

		if ((u32)i == w->depth) {
			err = remove_from_leaf(r);
			i--;
			continue;
		}
		if (s->i < 0 && s->seen == UINT32_MAX) {
			s->i = s->node->n - 1;
			s->seen = s->node->n + 1u;
		} else {
			s->i--;
		}
		if (s->i >= 0 && s->node->n != s->seen) {
			child = s->node->idx[s->i].child;
			ffs_ext_check(w->inode, child, false);
			s->seen = s->node->n;
			i++;
			w->at[i].node = child;
			w->at[i].i = -1;
			w->at[i].seen = UINT32_MAX;
			continue;
		}
		if (!s->node->n && i > 0)
			err = remove_index(r, (u32)i);
		i--;
	}
	return err;
}

static int remove_once(struct removal *r)
{
	struct ffs_ext_walk *w = &r->w;
	struct ffs_ext_node *root = &w->tree->root;
	u32 level = 0, l;
	int err;

	w->depth = root->height;
	if (r->last < FFS_LBLK_MAX - 1) {
		if (!prepare_end(r, &err) || err)
			return err;
		for (level = w->depth, l = 1; l < level; l++)
			w->at[l].seen = w->at[l].node->n + 1u;
		/* the root: the leaf left of the first one is entered whatever happens in it */
		if (level)
			w->at[0].seen = 0;
	} else {
		w->at[0].node = root;
		w->at[0].i = -1;
		w->at[0].seen = UINT32_MAX;
	}
	err = remove_leaves(r, level);
	if (!err && r->partial.state == PARTIAL_FREE) {
		err = free_partial(r);
		r->partial.state = PARTIAL_NONE;
	}
	if (!root->n) {
		int err2;

		root->height = 0;
		free(root->entries);
		root->entries = NULL;
		root->cap = 0;
		w->tree->generation++;
		err2 = w->bm->mark_inode_dirty(w->bm->priv, w->h, w->inode,
					       "ext4_ext_remove_space");
		err = err2 ? err2 : err;
	}
	return err;
}

int ffs_ext_remove_space(struct ffs_blockmap *bm, struct ffs_inode *inode, u32 first, u32 last)
{
	struct removal r = { .first = first, .last = last };
	u32 depth = ffs_inode_depth(inode);
	struct ffs_handle *h;
	int err, err2;

	err = ffs_handle_start(bm->journal, inode->ino, FOLIOFS_HT_TRUNCATE, depth + 1, 0,
			       ffs_cluster_ratio(bm) * depth, "ext4_ext_remove_space", &h);
	if (err)
		return err;
	ffs_walk_init(&r.w, bm, h, inode);
	do {
		ffs_emit(bm->env, ext4_ext_remove_space, inode->ino, first, last,
			 ffs_inode_depth(inode));
		err = remove_once(&r);
	} while (err == -EAGAIN);
	err2 = ffs_handle_stop(h);
	return err ? err : err2;
}
