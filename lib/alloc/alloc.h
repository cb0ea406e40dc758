/* SPDX-License-Identifier: MIT */
/*
 * Block and inode allocation: groups, bitmaps, buddies, preallocations, counters.
 *
 * Block numbers (goal, pleft, results, ranges to free) are file system blocks,
 * logical blocks too.  The length of a request and of its result is in clusters, as
 * the kernel's events print it; without bigalloc that is the same.
 *
 * Exactness: placement, preallocation and inode numbers are those of the kernel when
 * everything runs on one CPU.  The rules changed in v6.5 (FOLIOFS_CHANGE_MB_BEST_AVAIL)
 * and v6.17 (MB_STREAM_GOALS, MB_SETS_BY_NUMBER); tests/unit/alloc_replay.c holds the
 * model to the requests of recorded kernels.
 */
#ifndef FFS_ALLOC_H
#define FFS_ALLOC_H

#include "journal/journal.h"

struct ffs_alloc;

/* Flags of a request, by the words the events print. */
#define FFS_MB_DATA 0x0001u /* HINT_DATA */
#define FFS_MB_NOPREALLOC 0x0002u /* HINT_NOPREALLOC, as printed */
#define FFS_MB_TRY_GOAL 0x0004u /* HINT_TRY_GOAL */
#define FFS_MB_DELALLOC 0x0008u /* DELALLOC_RESV */
#define FFS_MB_USE_RESERVED 0x0010u /* USE_RESV */
#define FFS_MB_STREAM 0x0020u /* STREAM_ALLOC */
#define FFS_MB_GROUP 0x0040u /* HINT_GRP_ALLOC */
#define FFS_MB_MERGE 0x0080u /* HINT_MERGE */

/* Flags of a free. */
#define FFS_FREE_METADATA 0x01u
#define FFS_FREE_FORGET 0x02u
#define FFS_FREE_VALIDATED 0x04u
#define FFS_FREE_NO_QUOTA 0x08u
#define FFS_FREE_NOFREE_FIRST 0x10u /* 1ST_CLUSTER */
#define FFS_FREE_NOFREE_LAST 0x20u /* LAST_CLUSTER */
#define FFS_FREE_RERESERVE 0x40u

struct ffs_alloc_request {
	struct ffs_inode *inode;
	u32 flags; /* FFS_MB_* */
	u32 len; /* clusters wanted, at least 1; what was got on return */
	u32 lblk; /* logical block; bigalloc: lowered to the start of its cluster, goal too */
	u64 goal;
	u32 lleft, lright; /* nearest allocated logical blocks, the logical block itself if none */
	u64 pleft, pright; /* and where they are, 0 if none */
};

enum ffs_alloc_policy {
	FFS_ALLOC_KERNEL, /* the kernel's rules on the layout of mke2fs */
	FFS_ALLOC_PATTERN, /* the kernel's rules on a free space described by a pattern */
	FFS_ALLOC_WORST, /* adversary: each request gets one block in a group not used before */
};

struct ffs_alloc_hooks {
	void *priv;
	/* i_blocks of @inode changed (quota accounting): the kernel dirties the inode here. */
	void (*i_blocks_changed)(void *priv, struct ffs_inode *inode);
	/* Blocks [first, end) may be used again from now on: what they hold is stale (may be NULL). */
	void (*released)(void *priv, u64 first, u64 end);
	/* True if the kernel's data=writeback / no journal rule frees data blocks at once. */
	bool (*free_at_once)(void *priv, const struct ffs_inode *inode, bool metadata);
};

/*
 * Free space right after mke2fs for @env's geometry; nothing loaded, as after a
 * mount.  @env has to live as long; @hooks is copied, NULL: none.
 * NULL if mke2fs would not find room for its tables.
 */
struct ffs_alloc *ffs_alloc_new(struct ffs_env *env, const struct ffs_alloc_hooks *hooks);
/* Ends also the preallocations of inodes that are still in memory. */
void ffs_alloc_free(struct ffs_alloc *a);
void ffs_alloc_set_policy(struct ffs_alloc *a, enum ffs_alloc_policy policy);
/*
 * Take or give back [first, end) outside any transaction (free-space patterns, images).
 * Blocks that are so already stay as they are.  No event, no hook, no i_blocks.
 */
void ffs_alloc_mark(struct ffs_alloc *a, u64 first, u64 end, bool used);
/*
 * Unmount and mount: all frees are committed, preallocations, loaded buddies and
 * remembered groups forgotten, tunables and the reserve set back.
 */
void ffs_alloc_remount(struct ffs_alloc *a);
/* Load all buddies (reading mb_groups does that). */
void ffs_alloc_load_all(struct ffs_alloc *a);
void ffs_alloc_set_reserved_clusters(struct ffs_alloc *a, u64 clusters);
/*
 * Tunables of /sys/fs/ext4/DEV: mb_stream_req, mb_group_prealloc, mb_min_to_scan,
 * mb_max_to_scan, mb_order2_req, mb_max_linear_groups (0; 4 on a rotational device),
 * mb_best_avail_max_trim_order, reserved_clusters.  And what depends on the machine:
 * cpus (2; set it before anything else), pid_mod_16 (3; goals without delayed
 * allocation).  -ENOENT: no such name, -EINVAL: no such value.
 */
int ffs_alloc_tune(struct ffs_alloc *a, const char *name, u64 value);

/*
 * Allocate.  Prints ext4_request_blocks and ext4_allocate_blocks, dirties the
 * bitmap and the descriptor of the group, changes i_blocks and counters.
 * Returns the first block, ar->len is what was got; or 0 with *err negative
 * (-ENOSPC, or the error of the journal) and ar->len 0.
 * With FFS_MB_DELALLOC the caller has claimed the space and accounts i_blocks and the
 * delayed clusters itself (ext4_da_update_reserve_space); otherwise i_blocks grows by
 * what was asked before the search and shrinks by what was not got after it.
 */
u64 ffs_alloc_blocks(struct ffs_alloc *a, struct ffs_handle *h, struct ffs_alloc_request *ar,
		     int *err);
/*
 * One block for the extent tree or the indirect map (ext4_new_meta_blocks):
 * no preallocation, quota is charged by the same rules.
 */
u64 ffs_alloc_meta_block(struct ffs_alloc *a, struct ffs_handle *h, struct ffs_inode *inode,
			 u64 goal, u32 flags, int *err);
/*
 * Free [blk, blk + count): prints ext4_free_blocks, forgets or revokes the blocks
 * (FFS_FREE_FORGET; under data=journal metadata is forgotten, data left alone), dirties
 * bitmap and descriptor, gives back i_blocks group by group.  The blocks can be used
 * again when the transaction has committed; at once without a journal and for data
 * under data=writeback.  FFS_FREE_RERESERVE: the clusters become free, i_blocks and the
 * new claim are the caller's.  0, or the error of the journal.
 */
int ffs_free_blocks(struct ffs_alloc *a, struct ffs_handle *h, struct ffs_inode *inode, u64 blk,
		    u64 count, u32 flags);
/* The blocks freed by transaction @tid may be used from now on. */
void ffs_alloc_committed(struct ffs_alloc *a, u32 tid);
/* Blocks freed by transactions not yet committed: an ENOSPC retry commits if there are any. */
bool ffs_alloc_has_pending(const struct ffs_alloc *a);
/*
 * Throw away the inode's preallocations: last writer closed it and nothing is delayed,
 * truncate, punch, collapse, insert, move extents, eviction.  Has to be called before
 * the inode is freed.
 */
void ffs_discard_preallocations(struct ffs_alloc *a, struct ffs_inode *inode);

/* Goal of an inode without blocks (may lie behind the end of the file system). */
u64 ffs_inode_goal(const struct ffs_alloc *a, const struct ffs_inode *inode);

/* Delayed allocation: @clusters promised (0 or -ENOSPC), given back. */
int ffs_claim_delayed(struct ffs_alloc *a, u64 clusters);
void ffs_release_delayed(struct ffs_alloc *a, u64 clusters);

/* Free in the descriptors: preallocated clusters and frees not yet committed are free. */
u64 ffs_free_clusters(const struct ffs_alloc *a);
u64 ffs_delayed_clusters(const struct ffs_alloc *a);
/*
 * True if the file system is so full that delayed writes go the direct way
 * (ext4_nonda_switch); *start_writeback: half of what is free is promised.
 */
bool ffs_nonda_switch(struct ffs_alloc *a, bool *start_writeback);

/* Number of the group descriptor block, block bitmap and inode table block: what gets dirtied. */
u32 ffs_group_of(const struct ffs_alloc *a, u64 blk);
u64 ffs_bitmap_block(const struct ffs_alloc *a, u32 group);
u64 ffs_descriptor_block(const struct ffs_alloc *a, u32 group);
u64 ffs_inode_bitmap_block(const struct ffs_alloc *a, u32 group);
u64 ffs_inode_table_block(const struct ffs_alloc *a, u32 ino);

/*
 * A new inode number (__ext4_new_inode): Orlov for directories, the parent's
 * flex group for the rest.  Dirties inode bitmap, descriptor (and the block
 * bitmap of a group still BLOCK_UNINIT); not the inode table block.
 * @mode: type of the new inode, @name: its name (directories in the root are hashed).
 * Returns 0 and *ino; -ENOSPC, or the error of the journal.
 */
int ffs_new_inode_number(struct ffs_alloc *a, struct ffs_handle *h, const struct ffs_inode *parent,
			 u32 mode, const char *name, u32 *ino);
/* Number @ino is taken, outside any transaction; one that is taken stays as it is. */
void ffs_alloc_mark_inode(struct ffs_alloc *a, u32 ino, bool dir);
/* Descriptor and inode bitmap are dirtied; the number is free at once. */
void ffs_free_inode_number(struct ffs_alloc *a, struct ffs_handle *h, u32 ino, bool dir);

/* Copy for a snapshot of committed state is not needed: bitmaps follow from the inodes. */

#endif
