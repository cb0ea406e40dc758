/* SPDX-License-Identifier: MIT */
/*
 * Logical block to physical block: the one question of the data paths
 * (ext4_map_blocks), and what changes the answer.
 *
 *	ext.h	the extent tree		es.h	the extent status tree
 *	ind.h	the indirect map	this file: the question over all three
 */
#ifndef FFS_BLOCKMAP_H
#define FFS_BLOCKMAP_H

#include "alloc/alloc.h"

/* What of one file system the block maps need. */
struct ffs_blockmap {
	struct ffs_env *env;
	struct ffs_journal *journal;
	struct ffs_alloc *alloc;
	void *priv;
	/*
	 * ext4_mark_inode_dirty of @inode by @caller: prints the event and dirties the
	 * inode's table block in @h.
	 */
	int (*mark_inode_dirty)(void *priv, struct ffs_handle *h, struct ffs_inode *inode,
				const char *caller);
	/* Bytes of a block range were zeroed on disk (zero-out of a split extent). */
	void (*zeroed_out)(void *priv, struct ffs_inode *inode, u32 lblk, u64 pblk, u32 len);
	/* A lookup reads a pointer block of an indirect map, and waits for it.  May be NULL. */
	void (*read_meta)(void *priv, u64 blk);
	/* Logical range [lblk, lblk + len) of @inode maps to something else from now on. */
	void (*mapping_changed)(void *priv, struct ffs_inode *inode, u32 lblk, u32 len);
	/* i_blocks of @inode changed when a reservation was claimed: as the allocator's hook. */
	void (*i_blocks_changed)(void *priv, struct ffs_inode *inode);
	/*
	 * What the credit formulas ask of @inode; NULL: as for a new inode of its type, with
	 * its own flags and depth (wrong only where an inode's folio order is not the mount's).
	 */
	void (*inode_kind)(void *priv, const struct ffs_inode *inode,
			   struct foliofs_inode_kind *kind);
	/*
	 * Delayed ranges are made at once, not block by block (the iomap path): one argument more
	 * than their events have fields tells the recorder to leave them whole.
	 */
	bool whole_ranges;
	/* sysfs extent_max_zeroout_kb; 0: 32, the default; FFS_ZEROOUT_OFF: none */
	u32 max_zeroout_kb;
};
#define FFS_ZEROOUT_OFF 0xffffffffu

/* Flags of the question; printed by %m of events.def in this order. */
#define FFS_GET_CREATE 0x0001u /* CREATE */
#define FFS_GET_UNWRIT 0x0002u /* UNWRIT: allocate unwritten */
#define FFS_GET_DELALLOC 0x0004u /* DELALLOC: blocks were reserved */
#define FFS_GET_PRE_IO 0x0008u /* PRE_IO: split before the I/O */
#define FFS_GET_CONVERT 0x0010u /* CONVERT: unwritten to written */
#define FFS_GET_METADATA_NOFAIL 0x0020u /* METADATA_NOFAIL */
#define FFS_GET_NO_NORMALIZE 0x0040u /* NO_NORMALIZE */
#define FFS_GET_CONVERT_UNWRITTEN 0x0100u /* CONVERT_UNWRITTEN: written to unwritten */
#define FFS_GET_ZERO 0x0200u /* ZERO */
#define FFS_GET_IO_SUBMIT 0x0400u /* IO_SUBMIT */
#define FFS_GET_EX_NOCACHE 0x0800u /* EX_NOCACHE */

/* State of a mapping; printed by %M in this order: N M U B */
#define FFS_MAP_NEW 0x1u
#define FFS_MAP_MAPPED 0x2u
#define FFS_MAP_UNWRITTEN 0x4u
#define FFS_MAP_BOUNDARY 0x8u
#define FFS_MAP_DELAYED 0x10u /* not printed by map_blocks_exit */

struct ffs_map {
	u32 lblk, len; /* asked; what the answer covers */
	u64 pblk;
	u32 flags; /* FFS_MAP_* */
};

#define FFS_LBLK_MAX 0xffffffffu /* one more than the last logical block */

/*
 * Map [map->lblk, + map->len).  Returns the number of blocks mapped (map->len),
 * 0 for a hole (map->len is how long the hole is), or a negative error.
 * Status tree first, then the tree on disk under the kernel's locking rules;
 * with FFS_GET_CREATE holes are allocated; answers go to the status tree.
 */
int ffs_map_blocks(struct ffs_blockmap *bm, struct ffs_handle *h, struct ffs_inode *inode,
		   struct ffs_map *map, u32 flags);

/*
 * Delayed allocation of block map->lblk (ext4_da_map_blocks): 0 and the state of
 * the block (MAPPED, MAPPED|UNWRITTEN, or DELAYED with the reservation made),
 * -ENOSPC.  @map->len: 1 on the buffer-head path; how many were handled on return.
 */
int ffs_da_map_blocks(struct ffs_blockmap *bm, struct ffs_inode *inode, struct ffs_map *map);

/* Reserve and give back delayed clusters of an inode (events ext4_da_*_space). */
int ffs_da_reserve(struct ffs_blockmap *bm, struct ffs_inode *inode, u32 clusters);
void ffs_da_release(struct ffs_blockmap *bm, struct ffs_inode *inode, u32 clusters);
void ffs_da_update_reserve(struct ffs_blockmap *bm, struct ffs_inode *inode, u32 used,
			   bool quota_claim);

/*
 * A new in-core inode's maps by its flags: an empty extent tree, or an indirect
 * map (neither while FFS_INODE_INLINE_DATA is set), and a status tree.
 */
void ffs_blockmap_init(struct ffs_blockmap *bm, struct ffs_inode *inode);
void ffs_blockmap_destroy(struct ffs_blockmap *bm, struct ffs_inode *inode);
/*
 * Inline data moves out to a block: the inode gets the map it would have had (an
 * extent tree if the file system has extents, then also FFS_INODE_EXTENTS).  The
 * caller has cleared FFS_INODE_INLINE_DATA.
 */
void ffs_blockmap_from_inline(struct ffs_blockmap *bm, struct ffs_inode *inode);
/* Data goes into the inode: the (empty) map goes. The caller sets FFS_INODE_INLINE_DATA. */
void ffs_blockmap_to_inline(struct ffs_blockmap *bm, struct ffs_inode *inode);
/*
 * The in-core inode was dropped and read again: the status tree is empty (nothing
 * may be delayed), and with @blocks the tree blocks are read anew as well, so that
 * their extents are cached when a lookup first comes to them.
 */
void ffs_blockmap_reread(struct ffs_inode *inode, bool blocks);
/*
 * The page cache of the device was dropped, and the buffers of tree blocks with it, but for those
 * that @held says stay (NULL: all go).
 */
void ffs_blockmap_drop_buffers(struct ffs_inode *inode, bool (*held)(void *priv, u64 blk),
			       void *priv);

/*
 * Truncate to @first blocks inside handle @h (ext4_ext_truncate, ext4_ind_truncate):
 * i_disksize = i_size (event foliofs_disksize if that moves it), an extent inode is
 * marked dirty; status tree, removal of blocks, restarts as the kernel does.
 * Discarding preallocations before, and the mark_inode_dirty behind, are the caller's.
 */
int ffs_truncate_blocks(struct ffs_blockmap *bm, struct ffs_handle *h, struct ffs_inode *inode,
			u32 first);
/*
 * Remove [first, end) inside handle @h: what punch does between ffs_es_remove and
 * ffs_es_insert_hole of the same range.  -ENOSPC: a cut needed a tree block.
 */
int ffs_remove_range(struct ffs_blockmap *bm, struct ffs_handle *h, struct ffs_inode *inode,
		     u32 first, u32 end);

/*
 * Shift what lies at or behind @first by @shift blocks (ext4_ext_shift_extents); to
 * the left the place must be free.  -EINVAL: it is not, or a block would pass the end.
 */
int ffs_ext_shift(struct ffs_blockmap *bm, struct ffs_handle *h, struct ffs_inode *inode,
		  u32 first, u32 shift, bool right);
/*
 * Collapse range [first, end) under i_data_sem: status tree, removal, discard of
 * preallocations, shift to the left.  The discard in front, sizes and the final
 * mark_inode_dirty are the caller's.
 */
int ffs_collapse_blocks(struct ffs_blockmap *bm, struct ffs_handle *h, struct ffs_inode *inode,
			u32 first, u32 end);
/* Insert range: make a hole of @len blocks at @at (cut there, status tree, shift to the right). */
int ffs_insert_blocks(struct ffs_blockmap *bm, struct ffs_handle *h, struct ffs_inode *inode,
		      u32 at, u32 len);
/*
 * Exchange @count blocks of @inode_a from @lblk_a with those of @inode_b from @lblk_b
 * (ext4_swap_extents); with @unwritten those that @inode_b gets become unwritten.
 * Returns how many were exchanged (holes are skipped); *err: why it stopped early.
 */
u32 ffs_ext_swap(struct ffs_blockmap *bm, struct ffs_handle *h, struct ffs_inode *inode_a,
		 struct ffs_inode *inode_b, u32 lblk_a, u32 lblk_b, u32 count, bool unwritten,
		 int *err);

/* --- the status tree --- */

#define FFS_ES_WRITTEN 1u
#define FFS_ES_UNWRITTEN 2u
#define FFS_ES_DELAYED 4u /* with UNWRITTEN only before rsv-in-status-tree */
#define FFS_ES_HOLE 8u

struct ffs_es {
	u32 lblk, len;
	u64 pblk; /* 0 for D and H */
	u32 type; /* FFS_ES_* */
};

/* The entry that holds @lblk; false: unknown, ask the disk. */
bool ffs_es_lookup(const struct ffs_inode *inode, u32 lblk, struct ffs_es *es);
/* The entry that holds @lblk or the next one; false: none. */
bool ffs_es_next(const struct ffs_inode *inode, u64 lblk, struct ffs_es *es);
/* First entry with delayed blocks that meets [first, end); not cut to the range. */
bool ffs_es_find_delayed(const struct ffs_inode *inode, u64 first, u64 end, struct ffs_es *es);
/*
 * Forget [lblk, + len) (ext4_es_remove_extent: event also for an empty range);
 * reservations of delayed blocks in it are released (ext4_da_release_space).
 */
void ffs_es_remove(struct ffs_blockmap *bm, struct ffs_inode *inode, u32 lblk, u32 len);
/* [lblk, + len) is known to be a hole now (punch). */
void ffs_es_insert_hole(struct ffs_blockmap *bm, struct ffs_inode *inode, u32 lblk, u32 len);
/*
 * How often the status of blocks was changed: inserted, delayed, removed, also to what it was
 * before; until es-cache also what a lookup found on disk.  A map is current while it is the same.
 */
u64 ffs_es_seq(const struct ffs_inode *inode);
/* Entries that memory pressure could take: all but delayed ones. */
u32 ffs_es_count_clean(const struct ffs_inode *inode);
/* Memory pressure: everything but delayed entries is dropped, without events. */
void ffs_es_drop_clean(struct ffs_inode *inode);

/*
 * What fsync (and fdatasync) of @inode has to wait for is @h's transaction
 * (ext4_update_inode_fsync_trans).
 */
void ffs_update_fsync_tid(const struct ffs_handle *h, struct ffs_inode *inode, bool datasync);

/*
 * Flags as the kernel's callers pass them, by what @bm's kernel does: writeback
 * of an extent (without UNWRIT, PRE_IO and DELALLOC, which depend on the inode),
 * and conversion of an io_end or a finished direct write.
 */
u32 ffs_writeback_flags(const struct ffs_blockmap *bm);
u32 ffs_convert_flags(const struct ffs_blockmap *bm);

/* What the map looks like, for states, rules and snapshots: calls back run by run, ascending. */
struct ffs_map_run {
	u32 lblk, len;
	u64 pblk;
	bool unwritten;
};
void ffs_for_each_run(const struct ffs_inode *inode,
		      void (*fn)(void *priv, const struct ffs_map_run *run), void *priv);

/*
 * Deep copy of @from's extent tree or indirect map into @to (which has none):
 * what a commit makes durable.  The status tree is not copied.
 */
void ffs_blockmap_clone(struct ffs_inode *to, const struct ffs_inode *from);
/* The map of @inode becomes a copy of that of @from; its status tree stays. */
void ffs_blockmap_replace(struct ffs_blockmap *bm, struct ffs_inode *inode,
			  const struct ffs_inode *from);
/*
 * The tree blocks on the way to @lblk are read by somebody who caches nothing of them (move
 * extents, EXT4_EX_NOCACHE): later lookups find them checked and cache extents one by one.
 */
void ffs_blockmap_look(struct ffs_inode *inode, u32 lblk);
/* Every block of the map itself (tree nodes, indirect blocks): run->pblk, one at a time. */
void ffs_for_each_tree_block(const struct ffs_inode *inode,
			     void (*fn)(void *priv, const struct ffs_map_run *run), void *priv);
/* Changes whenever the tree or the indirect map does: equal numbers, equal trees. */
u64 ffs_blockmap_generation(const struct ffs_inode *inode);

/* The run that holds @lblk, or the next one; false: none.  No events, nothing is cached. */
bool ffs_next_run(const struct ffs_inode *inode, u32 lblk, struct ffs_map_run *run);
/* Depth of the extent tree; 0 without one. */
u32 ffs_inode_depth(const struct ffs_inode *inode);

struct ffs_tree_info {
	bool extents; /* else indirect */
	u32 depth, index_blocks, leaf_blocks, extents_nr, unwritten;
};
void ffs_tree_info(const struct ffs_inode *inode, struct ffs_tree_info *info);

#endif
