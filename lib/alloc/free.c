// SPDX-License-Identifier: MIT
/*
 * Freeing of blocks.
 *
 * Stands for ext4_free_blocks, ext4_mb_clear_bb, ext4_forget and
 * ext4_process_freed_data.  Freed blocks leave the on-disk bitmap at once; in the
 * bitmap that the search looks at they stay used until the transaction has
 * committed, so that nobody writes into what a crash would bring back.
 */
#include "internal.h"

void ffs_released(struct ffs_alloc *a, u32 group, u32 start, u32 len)
{
	u64 first = ffs_cluster_block(a, group, start);

	if (a->hooks.released)
		a->hooks.released(a->hooks.priv, first, first + ((u64)len << a->cluster_bits));
}

void ffs_pending_add(struct ffs_alloc *a, u32 tid, u32 group, u32 start, u32 len)
{
	struct ffs_pending *p = a->nr_pending ? &a->pending[a->nr_pending - 1] : NULL;

	if (p && p->tid == tid && p->group == group) {
		if (p->start + p->len == start) {
			p->len += len;
			return;
		}
		if (start + len == p->start) {
			p->start = start;
			p->len += len;
			return;
		}
	}
	if (a->nr_pending == a->cap_pending) {
		a->cap_pending = a->cap_pending ? 2 * a->cap_pending : 64;
		a->pending = ffs_realloc(a->pending, a->cap_pending * sizeof(*a->pending));
	}
	a->pending[a->nr_pending++] = (struct ffs_pending){ tid, group, start, len };
}

void ffs_alloc_committed(struct ffs_alloc *a, u32 tid)
{
	u32 i, kept = 0;

	for (i = 0; i < a->nr_pending; i++) {
		struct ffs_pending *p = &a->pending[i];

		/* transaction numbers wrap; UINT32_MAX: all (unmount) */
		if (tid != UINT32_MAX && (s32)(p->tid - tid) > 0) {
			a->pending[kept++] = *p;
			continue;
		}
		ffs_group_load(a, p->group);
		ffs_group_give(a, p->group, p->start, p->len);
		ffs_released(a, p->group, p->start, p->len);
	}
	a->nr_pending = kept;
}

bool ffs_alloc_has_pending(const struct ffs_alloc *a)
{
	return a->nr_pending != 0;
}

/*
 * Blocks that the journal may know must not be written again: metadata is revoked,
 * data only if the inode's flag alone has it journalled.  Under a data=journal mount
 * nothing is ever revoked, metadata is forgotten.
 */
static int forget(struct ffs_alloc *a, struct ffs_handle *h, u64 blk, u64 count, bool metadata)
{
	bool whole = a->env->geo.mount.data == FOLIOFS_DATA_JOURNAL;
	int err = 0;
	u64 i;

	if (whole && !metadata)
		return 0;
	for (i = 0; i < count && !err; i++) {
		if (whole)
			ffs_journal_forget(h, blk + i);
		else
			err = ffs_journal_revoke(h, blk + i);
	}
	return err;
}

static bool at_once(const struct ffs_alloc *a, const struct ffs_handle *h,
		    const struct ffs_inode *inode, bool metadata)
{
	if (h->nojournal)
		return true;
	if (a->hooks.free_at_once)
		return a->hooks.free_at_once(a->hooks.priv, inode, metadata);
	return !metadata && a->env->geo.mount.data == FOLIOFS_DATA_WRITEBACK;
}

/* Free whole clusters, group by group. */
static int clear(struct ffs_alloc *a, struct ffs_handle *h, struct ffs_inode *inode, u64 blk,
		 u64 count, u32 flags)
{
	bool now = at_once(a, h, inode, flags & FFS_FREE_METADATA);

	while (count) {
		u32 group, start;
		u64 n;
		u32 clusters;
		int err;

		ffs_block_place(a, blk, &group, &start);
		n = min(count, (u64)a->env->geo.blocks_per_group -
			       ((u64)start << a->cluster_bits));
		clusters = (u32)(n >> a->cluster_bits);
		ffs_group_load(a, group);
		err = ffs_mark_context(a, h, group, -(s64)clusters);
		if (now) {
			ffs_group_give(a, group, start, clusters);
			ffs_released(a, group, start, clusters);
		} else {
			ffs_pending_add(a, h->tid, group, start, clusters);
		}
		ffs_counter_add(&a->free, clusters);
		if (!(flags & (FFS_FREE_RERESERVE | FFS_FREE_NO_QUOTA))) {
			inode->i_blocks -= n;
			if (a->hooks.i_blocks_changed)
				a->hooks.i_blocks_changed(a->hooks.priv, inode);
		}
		if (err)
			return err;
		blk += n;
		count -= n;
	}
	return 0;
}

int ffs_free_blocks(struct ffs_alloc *a, struct ffs_handle *h, struct ffs_inode *inode, u64 blk,
		    u64 count, u32 flags)
{
	u32 ratio = 1u << a->cluster_bits;
	u32 off;
	int err = 0;

	ffs_emit(a->env, ext4_free_blocks, inode->ino, inode->mode, blk, count,
		 flags | FFS_FREE_VALIDATED);
	/* clusters that are shared at the ends: kept, or freed as a whole */
	off = (u32)(blk & (ratio - 1));
	if (off) {
		if (!(flags & FFS_FREE_NOFREE_FIRST)) {
			blk -= off;
			count += off;
		} else if (count > ratio - off) {
			blk += ratio - off;
			count -= ratio - off;
		} else {
			return 0;
		}
	}
	off = (u32)(count & (ratio - 1));
	if (off) {
		if (!(flags & FFS_FREE_NOFREE_LAST))
			count += ratio - off;
		else if (count > off)
			count -= off;
		else
			return 0;
	}
	if (flags & FFS_FREE_FORGET)
		err = forget(a, h, blk, count, flags & FFS_FREE_METADATA);
	if (!err)
		err = clear(a, h, inode, blk, count, flags);
	return err;
}
