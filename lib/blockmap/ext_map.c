// SPDX-License-Identifier: MIT
/*
 * The question "which blocks are at map->lblk" asked of the extent tree:
 * ext4_ext_map_blocks with ext4_ext_find_goal, ext4_ext_check_overlap,
 * get_implied_cluster_alloc, ext4_ext_find_hole, ext4_clu_mapped.
 */
#include "blockmap/es.h"
#include "blockmap/ext.h"

/* --- holes --- */

/* The hole around @lblk, which is in no extent: its start, and its length from there. */
static void find_hole(struct ffs_ext_walk *w, u32 lblk, u32 *start, u32 *len)
{
	const struct ffs_extent *e = ffs_walk_extent(w);

	*start = lblk;
	if (!e) {
		*start = 0;
		*len = FFS_LBLK_MAX;
	} else if (lblk < e->lblk) {
		*len = e->lblk - lblk;
	} else {
		*start = ffs_extent_end(e);
		*len = ffs_walk_next_block(w) - *start;
	}
}

/* --- bigalloc --- */

bool ffs_ext_cluster_mapped(struct ffs_blockmap *bm, struct ffs_inode *inode, u32 lclu)
{
	u32 ratio = ffs_cluster_ratio(bm), next;
	struct ffs_ext_walk w;
	const struct ffs_extent *e;

	if (!inode->tree)
		return false;
	ffs_walk_init(&w, bm, NULL, inode);
	ffs_walk_find(&w, lclu * ratio, 0);
	e = ffs_walk_extent(&w);
	if (!e || lclu < e->lblk / ratio)
		return false;
	if (lclu <= (ffs_extent_end(e) - 1) / ratio)
		return true;
	next = ffs_walk_next_block(&w);
	return next != FFS_LBLK_MAX && next / ratio == lclu;
}

/*
 * The cluster of map->lblk already belongs to extent @e: the answer is in it, no
 * allocation is needed.
 */
static bool implied_cluster(struct ffs_ext_walk *w, struct ffs_map *map,
			    const struct ffs_extent *e)
{
	u32 ratio = ffs_cluster_ratio(w->bm), offset = map->lblk % ratio;
	u32 cluster = map->lblk / ratio;
	bool at_end = cluster == (ffs_extent_end(e) - 1) / ratio;
	u64 pblk = e->pblk;

	if (!at_end && cluster != e->lblk / ratio)
		return false;
	if (at_end)
		pblk += e->len - 1;
	map->pblk = pblk - pblk % ratio + offset;
	map->len = min(map->len, ratio - offset);
	if (map->lblk < e->lblk)
		map->len = min(map->len, e->lblk - map->lblk);
	if (map->lblk > e->lblk)
		map->len = min(map->len, ffs_walk_next_block(w) - map->lblk);
	return true;
}

/* --- allocation --- */

u64 ffs_walk_goal(struct ffs_ext_walk *w, u32 lblk)
{
	const struct ffs_extent *e = ffs_walk_extent(w);

	if (e)
		return e->pblk + lblk - e->lblk;
	if (w->depth)
		return ffs_walk_leaf(w)->node->blk;
	return ffs_inode_goal(w->bm->alloc, w->inode);
}

/* How much of [lblk, + len) is free of extents, and of the clusters of the next one. */
static u32 cut_overlap(struct ffs_ext_walk *w, u32 lblk, u32 len)
{
	const struct ffs_extent *e = ffs_walk_extent(w);
	u32 ratio = ffs_cluster_ratio(w->bm), next;

	if (e) {
		next = e->lblk - e->lblk % ratio;
		if (next < lblk) {
			next = ffs_walk_next_block(w);
			if (next == FFS_LBLK_MAX)
				return min(len, FFS_LBLK_MAX - lblk);
			next -= next % ratio;
		}
		if ((u64)lblk + len > next)
			return next - lblk;
	}
	return min(len, FFS_LBLK_MAX - lblk);
}

static u32 request_flags(const struct ffs_inode *inode, u32 flags)
{
	u32 mb = ffs_is_reg(inode) ? FFS_MB_DATA : 0;

	if (flags & FFS_GET_NO_NORMALIZE)
		mb |= FFS_MB_NOPREALLOC;
	if (flags & FFS_GET_DELALLOC)
		mb |= FFS_MB_DELALLOC;
	if (flags & FFS_GET_METADATA_NOFAIL)
		mb |= FFS_MB_USE_RESERVED;
	return mb;
}

/*
 * Before rsv-in-status-tree the allocation itself settles the reservation: all of
 * a delayed allocation, or what was delayed in the clusters that somebody else got.
 */
static void settle_reservation(struct ffs_ext_walk *w, u32 lblk, u32 clusters, u32 flags)
{
	u32 ratio = ffs_cluster_ratio(w->bm), n;

	if (ffs_has(w->bm->env, FOLIOFS_CHANGE_ES_RSV_IN_STATUS) || !ffs_delalloc(w->bm))
		return;
	if (flags & FFS_GET_DELALLOC) {
		ffs_da_update_reserve(w->bm, w->inode, clusters, true);
		return;
	}
	n = ffs_es_delayed_clusters(w->bm, w->inode, lblk - lblk % ratio, clusters * ratio);
	if (n)
		ffs_da_update_reserve(w->bm, w->inode, n, false);
}

/* map->lblk is in a hole: allocate, and enter what was got. */
static int allocate(struct ffs_ext_walk *w, struct ffs_map *map, u32 flags)
{
	u32 ratio = ffs_cluster_ratio(w->bm), offset = map->lblk % ratio, got = 0;
	struct ffs_extent right, e = { .lblk = map->lblk };
	struct ffs_alloc_request ar = { .inode = w->inode };
	bool unwritten = flags & FFS_GET_UNWRIT;
	u32 len = min(map->len, unwritten ? FFS_EXT_UNWRITTEN_MAX : FFS_EXT_WRITTEN_MAX);
	u64 first = 0;
	int err = 0;

	if (offset && ffs_walk_extent(w) && implied_cluster(w, map, ffs_walk_extent(w)))
		goto implied;
	ffs_walk_left(w, map->lblk, &ar.lleft, &ar.pleft);
	ar.lright = map->lblk;
	if (ffs_walk_right(w, map->lblk, &right)) {
		ar.lright = right.lblk;
		ar.pright = right.pblk;
		if (ratio > 1 && implied_cluster(w, map, &right))
			goto implied;
	}

	map->len = len;
	len = cut_overlap(w, map->lblk, len);
	ar.goal = ffs_walk_goal(w, map->lblk) - offset;
	ar.lblk = map->lblk - offset;
	ar.len = (u32)div_up(offset + len, ratio); /* a request is in clusters */
	ar.flags = request_flags(w->inode, flags);
	first = ffs_alloc_blocks(w->bm->alloc, w->h, &ar, &err);
	if (!first)
		return err;
	got = ar.len * ratio;
	e.pblk = first + offset;
	e.len = min(len, got - offset);
	goto insert;
implied:
	e.pblk = map->pblk;
	e.len = map->len;
insert:
	e.unwritten = unwritten;
	if (unwritten)
		map->flags |= FFS_MAP_UNWRITTEN;
	err = ffs_ext_insert(w, &e, flags);
	if (err) {
		if (got) {
			ffs_discard_preallocations(w->bm->alloc, w->inode);
			ffs_free_blocks(w->bm->alloc, w->h, w->inode, first, got,
					flags & FFS_GET_DELALLOC ? FFS_FREE_NO_QUOTA : 0);
		}
		return err;
	}
	if (got)
		settle_reservation(w, map->lblk, got / ratio, flags);
	ffs_update_fsync_tid(w->h, w->inode, !unwritten);
	map->flags |= FFS_MAP_NEW | FFS_MAP_MAPPED;
	map->pblk = e.pblk;
	map->len = e.len;
	return (int)map->len;
}

static int map_at(struct ffs_ext_walk *w, struct ffs_map *map, u32 flags)
{
	const struct ffs_extent *e = ffs_walk_extent(w);
	u32 allocated;
	u64 pblk;
	int err;

	if (e && ffs_extent_has(e, map->lblk)) {
		pblk = e->pblk + (map->lblk - e->lblk);
		allocated = ffs_extent_end(e) - map->lblk;
		if (e->unwritten)
			return ffs_ext_handle_unwritten(w, map, flags, allocated, pblk);
		if (flags & FFS_GET_CONVERT_UNWRITTEN) {
			err = ffs_ext_to_unwritten(w, map, flags, &allocated);
			return err ? err : (int)allocated;
		}
		map->flags |= FFS_MAP_MAPPED;
		map->pblk = pblk;
		map->len = min(allocated, map->len);
		return (int)map->len;
	}
	if (!(flags & FFS_GET_CREATE)) {
		u32 start;

		find_hole(w, map->lblk, &start, &allocated);
		allocated = ffs_es_cache_hole(w->bm, w->inode, map->lblk, start, allocated);
		map->pblk = 0;
		map->len = min(map->len, allocated);
		return 0;
	}
	return allocate(w, map, flags);
}

int ffs_ext_map_blocks(struct ffs_blockmap *bm, struct ffs_handle *h, struct ffs_inode *inode,
		       struct ffs_map *map, u32 flags)
{
	struct ffs_ext_walk w;
	int ret;

	ffs_walk_init(&w, bm, h, inode);
	ffs_walk_find(&w, map->lblk,
		      ffs_has(bm->env, FOLIOFS_CHANGE_MAP_NOCACHE_FLAG) ? flags : 0);
	ret = map_at(&w, map, flags);
	ffs_emit(bm->env, ext4_ext_map_blocks_exit, inode->ino, flags, map->lblk, map->pblk,
		 map->len, map->flags & ~FFS_MAP_DELAYED, (u64)(s64)ret);
	return ret;
}
