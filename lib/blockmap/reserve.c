// SPDX-License-Identifier: MIT
/*
 * Reservations of delayed allocation: ext4_da_reserve_space,
 * ext4_da_release_space, ext4_da_update_reserve_space,
 * ext4_insert_delayed_blocks, ext4_clu_alloc_state, ext4_rereserve_cluster.
 */
#include "blockmap/es.h"
#include "blockmap/ext.h"

int ffs_da_reserve(struct ffs_blockmap *bm, struct ffs_inode *inode, u32 clusters)
{
	int err = ffs_fails(bm->env, RESERVE) ? -ENOSPC : ffs_claim_delayed(bm->alloc, clusters);

	if (err)
		return err;
	inode->reserved += clusters;
	ffs_emit(bm->env, ext4_da_reserve_space, inode->ino, inode->mode,
		 ffs_i_sectors(inode, bm->env->block_bits), clusters, inode->reserved,
		 bm->whole_ranges);
	return 0;
}

void ffs_da_release(struct ffs_blockmap *bm, struct ffs_inode *inode, u32 clusters)
{
	if (!clusters)
		return;
	ffs_emit(bm->env, ext4_da_release_space, inode->ino, inode->mode,
		 ffs_i_sectors(inode, bm->env->block_bits), clusters, inode->reserved);
	clusters = min(clusters, inode->reserved);
	inode->reserved -= clusters;
	ffs_release_delayed(bm->alloc, clusters);
}

void ffs_da_update_reserve(struct ffs_blockmap *bm, struct ffs_inode *inode, u32 used,
			   bool quota_claim)
{
	u32 claim = quota_claim;

	/* for some releases the status tree passed the flag on as it was */
	if (claim && ffs_has(bm->env, FOLIOFS_CHANGE_ES_RSV_IN_STATUS) &&
	    !ffs_has(bm->env, FOLIOFS_CHANGE_TRACE_CLAIM_BOOL))
		claim = FFS_GET_DELALLOC;
	ffs_emit(bm->env, ext4_da_update_reserve_space, inode->ino, inode->mode,
		 ffs_i_sectors(inode, bm->env->block_bits), used, inode->reserved, claim);
	used = min(used, inode->reserved);
	inode->reserved -= used;
	ffs_release_delayed(bm->alloc, used);
	if (quota_claim) {
		inode->i_blocks += (u64)used * ffs_cluster_ratio(bm);
		if (bm->i_blocks_changed)
			bm->i_blocks_changed(bm->priv, inode);
	}
	/* nothing delayed any more and nobody who could write: no preallocation is needed */
	if (!inode->reserved && !inode->writers)
		ffs_discard_preallocations(bm->alloc, inode);
}

void ffs_da_rereserve(struct ffs_blockmap *bm, struct ffs_inode *inode, u32 lblk)
{
	inode->i_blocks -= ffs_cluster_ratio(bm);
	if (bm->i_blocks_changed)
		bm->i_blocks_changed(bm->priv, inode);
	ffs_claim_delayed(bm->alloc, 1);
	inode->reserved++;
	ffs_es_remove_pending(bm, inode, lblk);
}

enum cluster_state { CLUSTER_FREE, CLUSTER_DELAYED, CLUSTER_ALLOCATED };

/* Who has the cluster of @lblk already; entries of the status tree may be missing. */
static enum cluster_state cluster_state(struct ffs_blockmap *bm, struct ffs_inode *inode, u32 lblk)
{
	u32 ratio = ffs_cluster_ratio(bm);
	u64 first = lblk - lblk % ratio;

	if (ffs_es_scan(inode, first, first + ratio, FFS_ES_DELAYED))
		return CLUSTER_DELAYED;
	if (ffs_es_scan(inode, first, first + ratio, FFS_ES_WRITTEN | FFS_ES_UNWRITTEN) ||
	    ffs_ext_cluster_mapped(bm, inode, lblk / ratio))
		return CLUSTER_ALLOCATED;
	return CLUSTER_FREE;
}

int ffs_da_insert(struct ffs_blockmap *bm, struct ffs_inode *inode, u32 lblk, u32 len)
{
	u32 ratio = ffs_cluster_ratio(bm), end = lblk + len - 1, clusters = len;
	enum cluster_state first = CLUSTER_FREE, last = CLUSTER_FREE;
	int err;

	if (ratio > 1) {
		clusters = end / ratio - lblk / ratio + 1;
		first = cluster_state(bm, inode, lblk);
		if (end / ratio != lblk / ratio)
			last = cluster_state(bm, inode, end);
		clusters -= (first != CLUSTER_FREE) + (last != CLUSTER_FREE);
	}
	if (clusters) {
		err = ffs_da_reserve(bm, inode, clusters);
		if (err)
			return err;
	}
	ffs_es_insert_delayed(bm, inode, lblk, len, first == CLUSTER_ALLOCATED,
			      last == CLUSTER_ALLOCATED);
	return 0;
}
