// SPDX-License-Identifier: MIT
/*
 * The question over status tree and disk: ext4_map_blocks with
 * ext4_map_query_blocks and ext4_map_create_blocks, and its delayed form,
 * ext4_da_map_blocks; then the entry points that choose between extent tree and
 * indirect map.
 */
#include "blockmap/es.h"
#include "blockmap/ext.h"
#include "blockmap/ind.h"

static int map_on_disk(struct ffs_blockmap *bm, struct ffs_handle *h, struct ffs_inode *inode,
		       struct ffs_map *map, u32 flags)
{
	if (inode->tree)
		return ffs_ext_map_blocks(bm, h, inode, map, flags);
	return ffs_ind_map_blocks(bm, h, inode, map, flags);
}

/* Status of an answer; before rsv-in-status-tree an unwritten range may stay delayed. */
static u32 answer_type(const struct ffs_blockmap *bm, const struct ffs_inode *inode,
		       const struct ffs_map *map, u32 flags)
{
	if (!(map->flags & FFS_MAP_UNWRITTEN))
		return FFS_ES_WRITTEN;
	if (!ffs_has(bm->env, FOLIOFS_CHANGE_ES_RSV_IN_STATUS) && !(flags & FFS_GET_DELALLOC) &&
	    ffs_es_scan(inode, map->lblk, (u64)map->lblk + map->len, FFS_ES_DELAYED))
		return FFS_ES_UNWRITTEN | FFS_ES_DELAYED;
	return FFS_ES_UNWRITTEN;
}

static int query(struct ffs_blockmap *bm, struct ffs_inode *inode, struct ffs_map *map, u32 flags)
{
	bool pass = ffs_has(bm->env, FOLIOFS_CHANGE_MAP_NOCACHE_FLAG);
	int ret = map_on_disk(bm, NULL, inode, map, pass ? flags & FFS_GET_EX_NOCACHE : 0);

	if (ret > 0)
		ffs_es_cache_answer(bm, inode, map->lblk, map->len, map->pblk,
				    answer_type(bm, inode, map, flags));
	return ret;
}

static int create(struct ffs_blockmap *bm, struct ffs_handle *h, struct ffs_inode *inode,
		  struct ffs_map *map, u32 flags)
{
	struct ffs_es es;
	int ret;

	/* the status tree, not the caller, says what is delayed */
	if ((map->flags & FFS_MAP_DELAYED) && ffs_has(bm->env, FOLIOFS_CHANGE_ES_RSV_IN_STATUS))
		flags |= FFS_GET_DELALLOC;
	map->flags = 0;
	ret = map_on_disk(bm, h, inode, map, flags);
	if (ret <= 0)
		return ret;
	if ((flags & FFS_GET_ZERO) && (map->flags & FFS_MAP_NEW) &&
	    (map->flags & FFS_MAP_MAPPED) && bm->zeroed_out)
		bm->zeroed_out(bm->priv, inode, map->lblk, map->pblk, map->len);
	/* zeroed in the place of a split: the status tree knows it better */
	if ((flags & FFS_GET_PRE_IO) && !ffs_has(bm->env, FOLIOFS_CHANGE_ZEROOUT_PARTIAL) &&
	    ffs_es_lookup(inode, map->lblk, &es) && (es.type & FFS_ES_WRITTEN))
		return ret;
	ffs_es_insert_mapped(bm, inode, map->lblk, map->len, map->pblk,
			     answer_type(bm, inode, map, flags), flags & FFS_GET_DELALLOC);
	return ret;
}

/* Answer from a status entry that holds map->lblk: as ffs_map_blocks. */
static int map_from_es(struct ffs_map *map, const struct ffs_es *es)
{
	map->len = min(map->len, es->len - (map->lblk - es->lblk));
	if (es->type & (FFS_ES_WRITTEN | FFS_ES_UNWRITTEN)) {
		map->pblk = es->pblk + (map->lblk - es->lblk);
		map->flags |= es->type & FFS_ES_WRITTEN ? FFS_MAP_MAPPED : FFS_MAP_UNWRITTEN;
		return (int)map->len;
	}
	map->pblk = 0;
	if (es->type & FFS_ES_DELAYED)
		map->flags |= FFS_MAP_DELAYED;
	return 0;
}

int ffs_map_blocks(struct ffs_blockmap *bm, struct ffs_handle *h, struct ffs_inode *inode,
		   struct ffs_map *map, u32 flags)
{
	struct ffs_es es;
	int ret;

	map->flags = 0;
	map->len = min(map->len, (u32)INT32_MAX);
	if (map->lblk >= FFS_LBLK_MAX)
		return -EUCLEAN;
	if (ffs_es_lookup(inode, map->lblk, &es))
		ret = map_from_es(map, &es);
	else
		ret = query(bm, inode, map, flags);
	if (ret < 0 || !(flags & FFS_GET_CREATE))
		return ret;
	if (ret > 0 && (map->flags & FFS_MAP_MAPPED) && !(flags & FFS_GET_CONVERT_UNWRITTEN))
		return ret;
	ffs_lock(bm->env, FFS_LOCK_MAP, inode->ino);
	ret = create(bm, h, inode, map, flags);
	ffs_unlock(bm->env, FFS_LOCK_MAP);
	return ret;
}

/* The block is known: 0 and its state, or -EAGAIN if it is a hole. */
static int da_state(const struct ffs_blockmap *bm, struct ffs_inode *inode, struct ffs_map *map)
{
	struct ffs_es es;

	if (!ffs_es_lookup(inode, map->lblk, &es))
		return -ENOENT;
	/* Block by block the length is one: what is asked of here is a run of such blocks. */
	if (es.type != FFS_ES_HOLE || !bm->whole_ranges || ffs_has(bm->env, FOLIOFS_CHANGE_DA_LEN))
		map->len = min(map->len, es.len - (map->lblk - es.lblk));
	if (es.type == FFS_ES_HOLE)
		return -EAGAIN;
	map_from_es(map, &es);
	return 0;
}

/* What is known of the block, else what the tree says: 1 and its state, 0 for a hole, or an error. */
static int da_ask(struct ffs_blockmap *bm, struct ffs_inode *inode, struct ffs_map *map)
{
	int ret = da_state(bm, inode, map);

	if (!ret)
		return 1;
	return ret == -ENOENT && !(inode->flags & FFS_INODE_INLINE_DATA) ?
		       query(bm, inode, map, 0) : 0;
}

int ffs_da_map_blocks(struct ffs_blockmap *bm, struct ffs_inode *inode, struct ffs_map *map)
{
	int ret;

	map->flags = 0;
	ret = da_ask(bm, inode, map);
	/* once more, now that nobody else can allocate (6.9 and later stable releases) */
	if (!ret)
		ret = da_ask(bm, inode, map);
	if (!ret) {
		ret = ffs_da_insert(bm, inode, map->lblk, map->len);
		if (!ret)
			map->flags |= FFS_MAP_DELAYED;
		return ret;
	}
	/* a buffer over unwritten blocks is mapped all the same */
	if (ret > 0 && (map->flags & FFS_MAP_UNWRITTEN))
		map->flags |= FFS_MAP_MAPPED;
	return ret < 0 ? ret : 0;
}

/* --- the maps of an inode --- */

void ffs_blockmap_init(struct ffs_blockmap *bm, struct ffs_inode *inode)
{
	ffs_es_init(inode);
	if (inode->flags & FFS_INODE_INLINE_DATA)
		return;
	if (inode->flags & FFS_INODE_EXTENTS)
		ffs_ext_tree_new(inode);
	else
		ffs_ind_new(bm, inode);
}

void ffs_blockmap_destroy(struct ffs_blockmap *bm, struct ffs_inode *inode)
{
	(void)bm;
	ffs_ext_tree_free(inode);
	ffs_ind_free(inode);
	ffs_es_free(inode);
}

void ffs_blockmap_from_inline(struct ffs_blockmap *bm, struct ffs_inode *inode)
{
	if (ffs_feature(bm->env, FOLIOFS_FEATURE_EXTENTS)) {
		inode->flags |= FFS_INODE_EXTENTS;
		ffs_ext_tree_new(inode);
	} else {
		ffs_ind_new(bm, inode);
	}
}

void ffs_blockmap_clone(struct ffs_inode *to, const struct ffs_inode *from)
{
	if (from->tree)
		ffs_ext_tree_copy(to, from);
	if (from->ind)
		ffs_ind_copy(to, from);
}

u64 ffs_blockmap_generation(const struct ffs_inode *inode)
{
	if (inode->tree)
		return inode->tree->generation;
	return inode->ind ? inode->ind->generation : 0;
}

u32 ffs_inode_depth(const struct ffs_inode *inode)
{
	return inode->tree ? ffs_ext_depth(inode->tree) : 0;
}

u32 ffs_writeback_flags(const struct ffs_blockmap *bm)
{
	u32 flags = FFS_GET_CREATE | FFS_GET_METADATA_NOFAIL | FFS_GET_IO_SUBMIT;

	if (ffs_has(bm->env, FOLIOFS_CHANGE_MAP_NOCACHE_FLAG))
		flags |= FFS_GET_EX_NOCACHE;
	return flags;
}

u32 ffs_convert_flags(const struct ffs_blockmap *bm)
{
	u32 flags = FFS_GET_CREATE | FFS_GET_UNWRIT | FFS_GET_CONVERT;

	if (ffs_has(bm->env, FOLIOFS_CHANGE_MAP_NOCACHE_FLAG))
		flags |= FFS_GET_IO_SUBMIT | FFS_GET_EX_NOCACHE;
	return flags;
}

int ffs_truncate_blocks(struct ffs_blockmap *bm, struct ffs_handle *h, struct ffs_inode *inode,
			u32 first)
{
	u64 old = inode->i_disksize;
	int err;

	if (inode->tree) {
		inode->i_disksize = inode->i_size;
		if (old != inode->i_size)
			ffs_emit(bm->env, foliofs_disksize, inode->ino, old, inode->i_size);
		err = bm->mark_inode_dirty(bm->priv, h, inode, "ext4_ext_truncate");
		if (err)
			return err;
		ffs_es_remove(bm, inode, first, FFS_LBLK_MAX - first);
		return ffs_ext_remove_space(bm, inode, first, FFS_LBLK_MAX - 1);
	}
	if (!inode->ind)
		return 0;
	ffs_es_remove(bm, inode, first, FFS_LBLK_MAX - first);
	inode->i_disksize = inode->i_size;
	if (old != inode->i_size)
		ffs_emit(bm->env, foliofs_disksize, inode->ino, old, inode->i_size);
	return ffs_ind_truncate(bm, h, inode, first);
}

int ffs_remove_range(struct ffs_blockmap *bm, struct ffs_handle *h, struct ffs_inode *inode,
		     u32 first, u32 end)
{
	if (inode->tree)
		return ffs_ext_remove_space(bm, inode, first, end - 1);
	return inode->ind ? ffs_ind_remove(bm, h, inode, first, end) : 0;
}
