// SPDX-License-Identifier: MIT
/*
 * A question that meets an unwritten extent (ext4_ext_handle_unwritten_extents),
 * and the two conversions: to written, at the end of I/O
 * (ext4_convert_unwritten_extents_endio) or when the block is mapped for a write
 * (ext4_ext_convert_to_initialized), and back to unwritten for zero range
 * (convert_initialized_extent).
 */
#include "blockmap/es.h"
#include "blockmap/ext.h"

/* One behind the last block that may become written: never beyond EOF without data. */
static u32 eof_block(const struct ffs_ext_walk *w, const struct ffs_map *map)
{
	u64 eof = ffs_blocks_up(w->bm->env, w->inode->i_disksize);

	return (u32)min(max(eof, (u64)map->lblk + map->len), (u64)FFS_LBLK_MAX);
}

/* ext4_split_convert_extents: cut [map->lblk, + map->len) out, its state is kept. */
static int split_convert(struct ffs_ext_walk *w, const struct ffs_map *map, u32 flags)
{
	const struct ffs_extent *e = ffs_walk_extent(w);
	u32 sf;

	if (flags & FFS_GET_CONVERT_UNWRITTEN) {
		sf = FFS_SPLIT_VALID1;
	} else {
		sf = FFS_SPLIT_UNWRITTEN2 | FFS_SPLIT_VALID2;
		if (ffs_extent_end(e) <= eof_block(w, map))
			sf |= FFS_SPLIT_MAY_ZERO;
	}
	return ffs_split_range(w, map->lblk, map->len, sf, flags | FFS_GET_PRE_IO);
}

static int set_state(struct ffs_ext_walk *w, bool unwritten)
{
	ffs_walk_own(w, w->depth);
	ffs_walk_extent(w)->unwritten = unwritten;
	ffs_walk_merge(w);
	return ffs_walk_dirty(w, w->depth, "ext4_ext_map_blocks");
}

static int convert_at_end_io(struct ffs_ext_walk *w, const struct ffs_map *map)
{
	const struct ffs_extent *e = ffs_walk_extent(w);

	if (e->lblk != map->lblk || e->len > map->len) {
		/* endio-nofail; part of deferred-split: only then the split comes so late. */
		bool nofail = ffs_has(w->bm->env, FOLIOFS_CHANGE_IM_ENDIO_NOFAIL) ||
			      ffs_has(w->bm->env, FOLIOFS_CHANGE_DEFERRED_SPLIT);
		int err = split_convert(w, map,
					FFS_GET_CONVERT | (nofail ? FFS_GET_METADATA_NOFAIL : 0));

		if (err < 0)
			return err;
		ffs_walk_find(w, map->lblk, 0);
	}
	return set_state(w, false);
}

/*
 * Move the written blocks over to a written neighbour in the same leaf: 0 if that
 * does not go, else how many; no entry is made.
 */
static u32 transfer(struct ffs_ext_walk *w, const struct ffs_map *map)
{
	struct ffs_ext_step *s = ffs_walk_leaf(w);
	struct ffs_extent *e, *next;
	u32 n = map->len;

	ffs_walk_own(w, w->depth);
	e = ffs_walk_extent(w);
	if (n >= e->len)
		return 0;
	if (map->lblk == e->lblk && s->i > 0) {
		next = e - 1;
		if (next->unwritten || ffs_extent_end(next) != e->lblk ||
		    next->pblk + next->len != e->pblk || next->len + n >= FFS_EXT_WRITTEN_MAX)
			return 0;
		e->lblk += n;
		e->pblk += n;
		e->len -= n;
		next->len += n;
		s->i--;
		return n;
	}
	if (map->lblk + n == ffs_extent_end(e) && s->i + 1 < s->node->n) {
		next = e + 1;
		if (next->unwritten || next->lblk != ffs_extent_end(e) ||
		    e->pblk + e->len != next->pblk || next->len + n >= FFS_EXT_WRITTEN_MAX)
			return 0;
		next->lblk -= n;
		next->pblk -= n;
		next->len += n;
		e->len -= n;
		s->i++;
		return n;
	}
	return 0;
}

static u32 max_zeroout(const struct ffs_blockmap *bm)
{
	u32 kb = bm->max_zeroout_kb ? bm->max_zeroout_kb : 32;

	if (bm->max_zeroout_kb == FFS_ZEROOUT_OFF)
		return 0;
	return (u32)((u64)kb * 1024 >> bm->env->block_bits);
}

static void zero_piece(struct ffs_ext_walk *w, const struct ffs_extent *e, u32 lblk, u32 len,
		       struct ffs_extent *zero)
{
	zero->lblk = lblk;
	zero->len = len;
	zero->pblk = e->pblk + (lblk - e->lblk);
	ffs_zero_out(w, zero);
}

/*
 * Conversion when a write is mapped.  Short remains are zeroed on disk rather
 * than kept as entries of their own, if all of the extent lies inside the file.
 * Returns how many blocks from map->lblk are written now, or an error.
 */
static int convert_at_map(struct ffs_ext_walk *w, const struct ffs_map *map, u32 flags)
{
	struct ffs_extent e = *ffs_walk_extent(w), zero1 = { .len = 0 }, zero2 = { .len = 0 };
	u32 lblk = map->lblk, len = map->len, allocated, limit = 0, sf = FFS_SPLIT_VALID2;
	int err;

	allocated = transfer(w, map);
	if (allocated) {
		err = ffs_walk_dirty(w, w->depth, "ext4_ext_map_blocks");
		return err ? err : (int)allocated;
	}
	allocated = ffs_extent_end(&e) - map->lblk;
	if (ffs_extent_end(&e) <= eof_block(w, map)) {
		sf |= FFS_SPLIT_MAY_ZERO;
		limit = max_zeroout(w->bm);
	}
	if (limit && allocated > len) {
		if (allocated <= limit) {
			zero_piece(w, &e, lblk + len, allocated - len, &zero1);
			len = allocated;
		}
		if (lblk - e.lblk + len < limit) {
			if (lblk != e.lblk)
				zero_piece(w, &e, e.lblk, lblk - e.lblk, &zero2);
			len += lblk - e.lblk;
			lblk = e.lblk;
			allocated = map->len;
		}
	}
	err = ffs_split_range(w, lblk, len, sf, flags);
	if (err < 0)
		return err;
	if (zero1.len)
		ffs_es_insert_mapped(w->bm, w->inode, zero1.lblk, zero1.len, zero1.pblk,
				     FFS_ES_WRITTEN, false);
	if (zero2.len)
		ffs_es_insert_mapped(w->bm, w->inode, zero2.lblk, zero2.len, zero2.pblk,
				     FFS_ES_WRITTEN, false);
	return (int)allocated;
}

int ffs_ext_to_unwritten(struct ffs_ext_walk *w, struct ffs_map *map, u32 flags, u32 *allocated)
{
	const struct ffs_extent *e = ffs_walk_extent(w);
	int err;

	/* an unwritten extent is shorter than a written one may be */
	if (map->len > FFS_EXT_UNWRITTEN_MAX)
		map->len = FFS_EXT_UNWRITTEN_MAX / 2;
	map->pblk = e->pblk + (map->lblk - e->lblk);
	if (e->lblk != map->lblk || e->len > map->len) {
		err = split_convert(w, map, FFS_GET_CONVERT_UNWRITTEN);
		if (err == -ENOSPC && ffs_has(w->bm->env, FOLIOFS_CHANGE_ZEROOUT_WRITTEN)) {
			struct ffs_extent zero;

			ffs_walk_find(w, map->lblk, flags);
			*allocated = min(*allocated, map->len);
			zero_piece(w, ffs_walk_extent(w), map->lblk, *allocated, &zero);
			map->flags |= FFS_MAP_MAPPED;
			map->len = *allocated;
			return 0;
		}
		if (err < 0)
			return err;
		ffs_walk_find(w, map->lblk, 0);
	}
	err = set_state(w, true);
	if (err)
		return err;
	ffs_update_fsync_tid(w->h, w->inode, true);
	map->flags |= FFS_MAP_UNWRITTEN;
	*allocated = min(*allocated, map->len);
	map->len = *allocated;
	return 0;
}

int ffs_ext_handle_unwritten(struct ffs_ext_walk *w, struct ffs_map *map, u32 flags, u32 allocated,
			     u64 newblock)
{
	int ret;

	/* the block is the file's: what its entry needs must not fail for want of space */
	flags |= FFS_GET_METADATA_NOFAIL;
	ffs_emit(w->bm->env, ext4_ext_handle_unwritten_extents, w->inode->ino, map->lblk, map->pblk,
		 map->len, flags, allocated, newblock);

	if (flags & FFS_GET_PRE_IO) {
		ret = split_convert(w, map, flags | FFS_GET_CONVERT);
		if (ret < 0)
			return ret;
		map->flags |= FFS_MAP_UNWRITTEN | FFS_MAP_NEW | FFS_MAP_MAPPED;
		if (ffs_has(w->bm->env, FOLIOFS_CHANGE_ZEROOUT_PARTIAL)) {
			/* zeroed in the place of a cut: it is written, and said to be */
			ffs_walk_find(w, map->lblk, flags);
			if (!ffs_walk_extent(w)->unwritten)
				map->flags &= ~FFS_MAP_UNWRITTEN;
		}
		allocated = (u32)ret;
	} else if (flags & FFS_GET_CONVERT) {
		ret = convert_at_end_io(w, map);
		if (ret < 0)
			return ret;
		ffs_update_fsync_tid(w->h, w->inode, true);
		map->flags |= FFS_MAP_MAPPED;
	} else if (flags & FFS_GET_UNWRIT) {
		map->flags |= FFS_MAP_UNWRITTEN | FFS_MAP_MAPPED;
	} else if (!(flags & FFS_GET_CREATE)) {
		map->flags |= FFS_MAP_UNWRITTEN;
	} else {
		ret = convert_at_map(w, map, flags);
		if (ret < 0)
			return ret;
		ffs_update_fsync_tid(w->h, w->inode, true);
		allocated = (u32)ret;
		map->flags |= FFS_MAP_NEW | FFS_MAP_MAPPED;
	}
	map->pblk = newblock;
	map->len = min(allocated, map->len);
	return (int)map->len;
}
