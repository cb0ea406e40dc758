/* SPDX-License-Identifier: MIT */
/*
 * The extent status tree of an inode: what fs/ext4/extents_status.c knows about
 * logical blocks without looking at the disk, delayed blocks included.  What the
 * data paths need of it is in blockmap.h; this is for lib/blockmap only.
 *
 * Entries are runs of one type; W and U carry pblk - lblk, so that neighbours
 * that continue on disk merge by themselves.  A block without an entry means:
 * look at the tree on disk.
 */
#ifndef FFS_ES_H
#define FFS_ES_H

#include "base/runs.h"
#include "blockmap/blockmap.h"

struct ffs_es_tree {
	struct ffs_runs runs;
	/* bigalloc: allocated clusters that also hold delayed blocks, [lclu, lclu + 1) each */
	struct ffs_runs pending;
	u64 seq; /* changes of what it says (i_es_seq) */
};

/*
 * Status of a range that was just mapped (ext4_es_insert_extent with the
 * reservation): prints the event, settles what delayed blocks it replaces.
 * @claim: they were reserved for this allocation (else: somebody else allocated
 * over them and has paid already).
 */
void ffs_es_insert_mapped(struct ffs_blockmap *bm, struct ffs_inode *inode, u32 lblk, u32 len,
			  u64 pblk, u32 type, bool claim);
/* The answer of a lookup on disk goes to the status tree; @type of a hole: FFS_ES_HOLE. */
void ffs_es_cache_answer(struct ffs_blockmap *bm, struct ffs_inode *inode, u32 lblk, u32 len,
			 u64 pblk, u32 type);
/*
 * A lookup of @lblk found the hole [start, + len): cache it, cut at delayed blocks.
 * Returns its length from @lblk on.
 */
u32 ffs_es_cache_hole(struct ffs_blockmap *bm, struct ffs_inode *inode, u32 lblk, u32 start,
		      u32 len);
/* Put a piece in only if nothing of it is known; no event (ext4_es_cache_extent). */
void ffs_es_cache(struct ffs_inode *inode, u32 lblk, u32 len, u64 pblk, u32 type);
/* Delayed blocks; allocated: the first or last cluster already is (a pending reservation). */
void ffs_es_insert_delayed(struct ffs_blockmap *bm, struct ffs_inode *inode, u32 lblk, u32 len,
			   bool first_allocated, bool last_allocated);
/* Clusters of [lblk, + len) with delayed blocks (before rsv-in-status-tree). */
u32 ffs_es_delayed_clusters(const struct ffs_blockmap *bm, const struct ffs_inode *inode, u32 lblk,
			    u32 len);
/* Any block of [first, end) has a type in @types. */
bool ffs_es_scan(const struct ffs_inode *inode, u64 first, u64 end, u32 types);

/* bigalloc: logical cluster @lclu is allocated and holds delayed blocks. */
void ffs_es_set_pending(struct ffs_inode *inode, u64 lclu);
/* bigalloc: the cluster of @lblk has a pending reservation. */
bool ffs_es_is_pending(const struct ffs_blockmap *bm, const struct ffs_inode *inode, u32 lblk);
void ffs_es_remove_pending(const struct ffs_blockmap *bm, struct ffs_inode *inode, u32 lblk);
/*
 * After [lblk, + len) was mapped: its end clusters are pending if delayed blocks
 * remain in them.  Returns how many became pending now (__revise_pending).
 */
u32 ffs_es_revise_pending(const struct ffs_blockmap *bm, struct ffs_inode *inode, u32 lblk,
			  u32 len);
/* Reservations that removing [first, end) gives back; pending ones inside are dropped. */
u32 ffs_es_count_removed(const struct ffs_blockmap *bm, struct ffs_inode *inode, u64 first,
			 u64 end);

/* --- reserve.c --- */

/* Reserve for @len delayed blocks from @lblk and enter them (ext4_insert_delayed_blocks). */
int ffs_da_insert(struct ffs_blockmap *bm, struct ffs_inode *inode, u32 lblk, u32 len);
/* A freed cluster still holds delayed blocks: it is reserved again. */
void ffs_da_rereserve(struct ffs_blockmap *bm, struct ffs_inode *inode, u32 lblk);

void ffs_es_init(struct ffs_inode *inode);
void ffs_es_free(struct ffs_inode *inode);

#endif
