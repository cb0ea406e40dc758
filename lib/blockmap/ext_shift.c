// SPDX-License-Identifier: MIT
/*
 * Moving extents to the left (collapse range) or to the right (insert range):
 * ext4_ext_shift_extents, ext4_ext_shift_path_extents, and what collapse and
 * insert range do to the maps under i_data_sem.
 *
 * One leaf after the other: right shifts from the last leaf to the left, left
 * shifts from the first one shifted to the right.  A restart of the handle
 * continues where it was.
 */
#include "blockmap/ext.h"

/* Shift the extents of the walk's leaf: from its place to the end of the leaf. */
static int shift_leaf(struct ffs_ext_walk *w, u32 shift, bool right)
{
	struct ffs_ext_step *s = ffs_walk_leaf(w);
	struct foliofs_inode_kind kind;
	struct foliofs_ask ask;
	bool keys = s->i == 0;
	u32 first = (u32)s->i, i, level = w->depth;
	int err;

	ffs_map_inode_kind(w->bm, w->inode, &kind);
	ask = foliofs_ask(&w->bm->env->kernel, &w->bm->env->geo, &kind, FOLIOFS_CREDIT_COLLAPSE, 0);
	err = ffs_datasem_ensure(w->bm, w->h, w->inode, keys ? (s32)level + 2 : 3,
				 (s32)ask.credits.total, 0);
	if (err)
		return err > 0 ? -EAGAIN : err;
	ffs_walk_own(w, level);
	if (right) {
		for (i = s->node->n; i-- > first;) {
			s->node->ext[i].lblk += shift;
			ffs_ext_merge_right(s->node, i);
		}
	} else {
		u32 left = s->node->n - first;

		for (i = first; left--;) {
			s->node->ext[i].lblk -= shift;
			if (!i || !ffs_ext_merge_right(s->node, i - 1))
				i++;
		}
	}
	err = ffs_walk_dirty(w, level, "ext4_ext_shift_extents");
	while (!err && keys && level) {
		struct ffs_ext_step *up = &w->at[--level];
		struct ffs_ext_index *idx = &up->node->idx[up->i];

		idx->key = right ? idx->key + shift : idx->key - shift;
		err = ffs_walk_dirty(w, level, "ext4_ext_shift_extents");
		keys = up->i == 0;
	}
	return err;
}

static int shift_left(struct ffs_ext_walk *w, u32 first, u32 stop, u32 shift)
{
	int err;

	while (first <= stop) {
		struct ffs_ext_step *s;
		const struct ffs_extent *e;
		u32 next;

		ffs_walk_find(w, first, FFS_GET_EX_NOCACHE);
		s = ffs_walk_leaf(w);
		e = ffs_walk_extent(w);
		if (!e)
			return -EINVAL;
		if (first > e->lblk) {
			if (s->i + 1 >= s->node->n) {
				first = ffs_walk_next_block(w);
				continue;
			}
			s->i++;
		}
		next = ffs_extent_end(&s->node->ext[s->node->n - 1]);
		err = shift_leaf(w, shift, false);
		if (err == -EAGAIN)
			continue;
		if (err)
			return err;
		first = next;
	}
	return 0;
}

static int shift_right(struct ffs_ext_walk *w, u32 first, u32 stop, u32 shift)
{
	bool more = true;
	int err;

	while (more && first <= stop) {
		struct ffs_ext_step *s;
		u32 next = stop;

		ffs_walk_find(w, stop, FFS_GET_EX_NOCACHE);
		s = ffs_walk_leaf(w);
		if (s->i < 0)
			return -EINVAL;
		s->i = 0;
		if (s->node->ext[0].lblk > first) {
			next = s->node->ext[0].lblk - 1;
		} else {
			while (s->i < s->node->n && s->node->ext[s->i].lblk < first)
				s->i++;
			if (s->i == s->node->n)
				break;
			more = false;
		}
		err = shift_leaf(w, shift, true);
		if (err == -EAGAIN) {
			more = true;
			continue;
		}
		if (err)
			return err;
		stop = next;
	}
	return 0;
}

int ffs_ext_shift(struct ffs_blockmap *bm, struct ffs_handle *h, struct ffs_inode *inode,
		  u32 first, u32 shift, bool right)
{
	struct ffs_ext_walk w;
	const struct ffs_extent *e;
	u32 stop, end;

	ffs_walk_init(&w, bm, h, inode);
	ffs_walk_find(&w, FFS_LBLK_MAX - 1, FFS_GET_EX_NOCACHE);
	e = ffs_walk_extent(&w);
	if (!e)
		return 0;
	stop = e->lblk;
	if (right) {
		if (shift > FFS_LBLK_MAX - ffs_extent_end(e))
			return -EINVAL;
		return shift_right(&w, first, stop, shift);
	}
	/* the hole on the left must be large enough */
	ffs_walk_find(&w, first - 1, FFS_GET_EX_NOCACHE);
	e = ffs_walk_extent(&w);
	end = ffs_extent_end(e);
	if ((first == e->lblk && shift > e->lblk) || (end <= first && shift > first - end))
		return -EINVAL;
	return shift_left(&w, first, stop, shift);
}

int ffs_collapse_blocks(struct ffs_blockmap *bm, struct ffs_handle *h, struct ffs_inode *inode,
			u32 first, u32 end)
{
	int err;

	ffs_es_remove(bm, inode, first, FFS_LBLK_MAX - first);
	err = ffs_ext_remove_space(bm, inode, first, end - 1);
	if (err)
		return err;
	ffs_discard_preallocations(bm->alloc, inode);
	return ffs_ext_shift(bm, h, inode, end, end - first, false);
}

int ffs_insert_blocks(struct ffs_blockmap *bm, struct ffs_handle *h, struct ffs_inode *inode,
		      u32 at, u32 len)
{
	const struct ffs_extent *e;
	struct ffs_ext_walk w;
	u32 start = 0;
	int err;

	ffs_walk_init(&w, bm, h, inode);
	ffs_walk_find(&w, at, 0);
	e = ffs_walk_extent(&w);
	if (e) {
		start = e->lblk;
		if (at > start && at < ffs_extent_end(e)) {
			err = ffs_split_keep(&w, at, true);
			if (err)
				return err;
		}
	}
	ffs_es_remove(bm, inode, at, FFS_LBLK_MAX - at);
	return ffs_ext_shift(bm, h, inode, max(start, at), len, true);
}
