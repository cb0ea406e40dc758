// SPDX-License-Identifier: MIT
/*
 * Lookup and allocation in the indirect map: ext4_ind_map_blocks with
 * ext4_find_near, ext4_blks_to_allocate, ext4_alloc_branch, ext4_splice_branch.
 *
 * Missing pointer blocks are allocated first, from the top, each near the one
 * before; then the data, which never passes the end of its pointer block.  Only at
 * the end the new branch is hung into the map.
 */
#include "blockmap/es.h"
#include "blockmap/ext.h"
#include "blockmap/ind.h"

struct branch {
	struct ffs_ind_step chain[4];
	struct ffs_ind_path path;
	u32 partial; /* first missing pointer of the chain */
	u32 missing; /* pointer blocks to be allocated */
};

static u64 find_goal(struct ffs_blockmap *bm, struct ffs_inode *inode, const struct branch *b)
{
	const struct ffs_ind_step *s = &b->chain[b->partial];
	const u32 *ptr = s->node ? s->node->ptr : inode->ind->ptr;
	s32 i;

	for (i = s->off - 1; i >= 0; i--)
		if (ptr[i])
			return ptr[i];
	return s->node ? s->node->blk : ffs_inode_goal(bm->alloc, inode);
}

static u32 count_to_allocate(struct ffs_ind_map *m, const struct branch *b, u32 len)
{
	struct ffs_ind_step s = b->chain[b->partial];
	u32 n = 1, limit = min(len, b->path.to_boundary + 1);

	if (b->missing)
		return limit;
	for (s.off++; n < limit && !*ffs_ind_slot(m, &s); s.off++)
		n++;
	return n;
}

/* Blocks for the branch: blk[0 .. missing) for pointers, blk[missing] the first of data. */
static int allocate_branch(struct ffs_blockmap *bm, struct ffs_handle *h, const struct branch *b,
			   struct ffs_alloc_request *ar, u64 blk[4])
{
	u32 i, n = b->missing;
	int err = 0;

	for (i = 0; i <= n; i++) {
		if (i == n) {
			blk[i] = ffs_alloc_blocks(bm->alloc, h, ar, &err);
		} else {
			blk[i] = ffs_alloc_meta_block(bm->alloc, h, ar->inode, ar->goal,
						      ar->flags & FFS_MB_DELALLOC, &err);
			ar->goal = blk[i];
		}
		if (!blk[i])
			goto failed;
		if (i)
			err = ffs_journal_dirty(h, blk[i - 1]);
		if (err) {
			i++;
			goto failed;
		}
	}
	return 0;
failed:
	while (i--) {
		if (i < n)
			ffs_journal_forget(h, blk[i]);
		ffs_free_blocks(bm->alloc, h, ar->inode, blk[i], i == n ? ar->len : 1, 0);
	}
	return err;
}

/* Hang the new branch into the map. */
static int splice_branch(struct ffs_blockmap *bm, struct ffs_handle *h, struct ffs_inode *inode,
			 struct branch *b, const struct ffs_alloc_request *ar, const u64 blk[4])
{
	struct ffs_ind_map *m = inode->ind;
	struct ffs_ind_step s;
	u32 i;

	ffs_ind_own(m, b->chain, b->partial);
	s = b->chain[b->partial];
	for (i = 0; i < b->missing; i++) {
		struct ffs_ind_node *node;

		node = ffs_ind_node_new(m, blk[i], (u8)(b->missing - i));
		*ffs_ind_slot(m, &s) = (u32)blk[i];
		*ffs_ind_child(m, &s) = node;
		s.node = node;
		s.off = (s32)b->path.off[b->partial + i + 1];
	}
	for (i = 0; i < ar->len; i++, s.off++)
		*ffs_ind_slot(m, &s) = (u32)(blk[b->missing] + i);
	if (b->chain[b->partial].node)
		return ffs_journal_dirty(h, b->chain[b->partial].node->blk);
	return bm->mark_inode_dirty(bm->priv, h, inode, "ext4_ind_map_blocks");
}

static int allocate(struct ffs_blockmap *bm, struct ffs_handle *h, struct ffs_inode *inode,
		    struct branch *b, struct ffs_map *map, u32 flags, u64 *first)
{
	struct ffs_alloc_request ar = { .inode = inode, .lblk = map->lblk };
	u64 blk[4];
	int err;

	if (ffs_is_reg(inode))
		ar.flags = FFS_MB_DATA;
	if (flags & FFS_GET_DELALLOC)
		ar.flags |= FFS_MB_DELALLOC;
	if (flags & FFS_GET_METADATA_NOFAIL)
		ar.flags |= FFS_MB_USE_RESERVED;
	ar.goal = find_goal(bm, inode, b) & UINT32_MAX;
	b->missing = b->path.depth - b->partial - 1;
	ar.len = count_to_allocate(inode->ind, b, map->len);
	err = allocate_branch(bm, h, b, &ar, blk);
	if (err)
		return err;
	err = splice_branch(bm, h, inode, b, &ar, blk);
	if (err)
		return err;
	map->flags |= FFS_MAP_NEW;
	ffs_update_fsync_tid(h, inode, true);
	if ((flags & FFS_GET_DELALLOC) && !ffs_has(bm->env, FOLIOFS_CHANGE_ES_RSV_IN_STATUS))
		ffs_da_update_reserve(bm, inode, ar.len, true);
	*first = blk[b->missing];
	return (int)ar.len;
}

/* Length of the hole: up to the end of the missing subtree. */
static u32 hole_length(const struct ffs_ind_map *m, const struct branch *b)
{
	u64 n = 0;
	u32 i;

	for (i = b->partial + 1; i < b->path.depth; i++)
		n = n * m->per_block + (m->per_block - b->path.off[i] - 1);
	return (u32)min(n + 1, (u64)FFS_LBLK_MAX);
}

static int map_at(struct ffs_blockmap *bm, struct ffs_handle *h, struct ffs_inode *inode,
		  struct ffs_map *map, u32 flags)
{
	struct ffs_ind_map *m = inode->ind;
	struct branch b = { .missing = 0 };
	u64 first = 0;
	u32 hole;
	int n;

	ffs_ind_path(m, map->lblk, &b.path);
	if (!b.path.depth)
		return -EIO;
	b.partial = ffs_ind_branch(m, &b.path, b.path.depth, b.chain);
	ffs_ind_read(b.chain, min(b.partial, b.path.depth - 1), bm->read_meta, bm->priv);
	if (b.partial == b.path.depth) {
		struct ffs_ind_step s = b.chain[b.path.depth - 1];

		first = *ffs_ind_slot(m, &s);
		for (n = 1; (u32)n < map->len && (u32)n <= b.path.to_boundary; n++) {
			s.off++;
			if (*ffs_ind_slot(m, &s) != first + (u32)n)
				break;
		}
	} else if (!(flags & FFS_GET_CREATE)) {
		map->pblk = 0;
		hole = hole_length(m, &b);
		if (ffs_has(bm->env, FOLIOFS_CHANGE_IND_HOLE_CACHE))
			hole = ffs_es_cache_hole(bm, inode, map->lblk, map->lblk, hole);
		map->len = min(map->len, hole);
		return 0;
	} else {
		n = allocate(bm, h, inode, &b, map, flags, &first);
		if (n < 0)
			return n;
	}
	map->flags |= FFS_MAP_MAPPED;
	map->pblk = first;
	map->len = (u32)n;
	if ((u32)n > b.path.to_boundary)
		map->flags |= FFS_MAP_BOUNDARY;
	return n;
}

int ffs_ind_map_blocks(struct ffs_blockmap *bm, struct ffs_handle *h, struct ffs_inode *inode,
		       struct ffs_map *map, u32 flags)
{
	int ret = map_at(bm, h, inode, map, flags);

	ffs_emit(bm->env, ext4_ind_map_blocks_exit, inode->ino, flags, map->lblk, map->pblk,
		 map->len, map->flags & ~FFS_MAP_DELAYED, (u64)(s64)ret);
	return ret;
}
