/* SPDX-License-Identifier: MIT */
/*
 * The line between operations and a data path.  lib/ops asks; lib/bh (buffer heads)
 * and lib/iomap answer.  Nothing above knows how a block's state is kept.
 */
#ifndef FFS_DATA_PATH_H
#define FFS_DATA_PATH_H

#include "super.h"

enum ffs_sync_mode { FFS_WB_NONE, FFS_WB_ALL };

/* Writeback control: what to write and how much. */
struct ffs_wbc {
	enum ffs_sync_mode sync_mode;
	s64 nr_to_write; /* pages */
	s64 pages_skipped;
	u64 range_start, range_end; /* bytes, range_end is the last one */
	bool range_cyclic;
	bool for_commit; /* started by a commit: nothing may be mapped */
};

#define FFS_LLONG_MAX 0x7fffffffffffffffll

/* What write_begin leaves for write_end. */
struct ffs_write {
	struct ffs_folio *folio;
	struct ffs_handle *handle;
	bool direct; /* blocks were allocated at once: nodelalloc, data=journal, low space */
	bool inline_data; /* goes into the inode */
};

struct ffs_data_path {
	/* In-core part of a new inode (inode->data_path), and its end. */
	void (*inode_init)(struct ffs_super *sb, struct ffs_inode *inode);
	void (*inode_destroy)(struct ffs_super *sb, struct ffs_inode *inode);
	/*
	 * One step of a write.  begin: finds or makes the folio of @pos and prepares
	 * [pos, pos + *len); *len is cut at the end of the folio.  end: @copied bytes of
	 * @len have been copied; returns how many it accepts (0: rejected), moves sizes.
	 */
	int (*write_begin)(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 *len,
			   struct ffs_write *w);
	s64 (*write_end)(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 len,
			 u64 copied, struct ffs_write *w);
	/*
	 * A path that has its own copy loop (else NULL, and write_begin/_end are used): bytes
	 * written, or a negative errno.  @readable: bytes of the buffer that can be read.
	 */
	s64 (*write)(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 len,
		     u64 readable);
	/* Read one folio that is not uptodate; NULL: read_folios does. */
	void (*read_folio)(struct ffs_super *sb, struct ffs_mapping *m, struct ffs_folio *f);
	/* Read new folios of readahead, or one that is not uptodate. */
	void (*read_folios)(struct ffs_super *sb, struct ffs_mapping *m, struct ffs_folio **f,
			    u32 n);
	/* True if [pos, pos + len) of the folio can be read without I/O. */
	bool (*is_uptodate)(struct ffs_mapping *m, const struct ffs_folio *f, u64 pos, u64 len);
	/* A store to page @index of a write-protected or new mapping. */
	int (*mkwrite)(struct ffs_super *sb, struct ffs_inode *inode, struct ffs_folio *f);
	int (*writepages)(struct ffs_super *sb, struct ffs_inode *inode, struct ffs_wbc *wbc);
	/* Bytes [offset, offset + len) of the folio are thrown away. */
	void (*invalidate)(struct ffs_super *sb, struct ffs_mapping *m, struct ffs_folio *f,
			   u64 offset, u64 len);
	/* True if the folio's private state could be (and was) given up. */
	bool (*release)(struct ffs_mapping *m, struct ffs_folio *f);
	/* Zero the partly covered blocks at the ends of [pos, pos + len).  @h NULL: outside of one. */
	int (*zero_partial)(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode,
			    u64 pos, u64 len);
	/*
	 * Truncate has zeroed the tail [pos, pos + len) of the last block.  Called with its handle,
	 * with trunc-zero-early before that too (@h NULL): one of the two sees to it that no crash
	 * shows the old bytes once the size grows again.
	 */
	int (*settle_tail)(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode,
			   u64 pos, u64 len);
	/*
	 * Exchange *len blocks of one page (or folio: cut at its end) of two files; *moved: how
	 * many.  NULL: the path cannot.
	 */
	int (*move_piece)(struct ffs_super *sb, struct ffs_inode *orig, struct ffs_inode *donor,
			  u32 lblk, u32 donor_lblk, u32 *len, u32 *moved);
	/* Map blocks for an operation that allocates (FFS_GET_*): what commits have to order follows. */
	int (*map)(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode,
		   struct ffs_map *map, u32 flags);
	/* Data in the inode moves to a block, if it is there. */
	int (*convert_inline)(struct ffs_super *sb, struct ffs_inode *inode);
	/* Data in the inode at and behind @size goes. */
	void (*cut_inline)(struct ffs_inode *inode, u64 size);
	/* Commit of @tid: write ordered data. */
	void (*submit_ordered)(struct ffs_super *sb, u32 tid);
};

static inline const struct ffs_data_path *ffs_path_of(const struct ffs_super *sb,
						      const struct ffs_inode *inode)
{
	return inode->flags & FFS_INODE_IOMAP ? sb->iomap : sb->bh;
}

/* One folio, for a reader that waits for it. */
static inline void ffs_read_folio(struct ffs_super *sb, struct ffs_mapping *m, struct ffs_folio *f)
{
	const struct ffs_data_path *path = ffs_path_of(sb, m->inode);

	if (path->read_folio)
		path->read_folio(sb, m, f);
	else
		path->read_folios(sb, m, &f, 1);
}

typedef int (*ffs_zero_in_block_fn)(struct ffs_super *sb, struct ffs_handle *h,
				    struct ffs_inode *inode, u64 pos, u64 end);
/*
 * truncate.c: what zero_partial has to do: @zero for each block that [pos, pos + len) covers in
 * part, one or two, with its range in the block (ext4_zero_partial_blocks).
 */
int ffs_zero_edges(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode, u64 pos,
		   u64 len, ffs_zero_in_block_fn zero);

/*
 * z-didzero, z-len: zeroing tells how much it has zeroed.  Truncate down of the iomap series goes by
 * that alone, and does not order or wait for what it is not told of.
 */
static inline bool ffs_zeroing_told(const struct ffs_super *sb)
{
	return ffs_sb_has(sb, FOLIOFS_CHANGE_IM_Z_DIDZERO) && ffs_sb_has(sb, FOLIOFS_CHANGE_IM_Z_LEN);
}

/* True if an allocation that failed with -ENOSPC may be tried again (a commit may free space). */
bool ffs_should_retry_alloc(struct ffs_super *sb, u32 *retries);

/* truncate.c: page cache of [pos, end) is dropped, edges zeroed, folios split. */
void ffs_truncate_cache(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 end);
/* Size grew from @from to @to: what is dirty of the page of the old EOF is zeroed behind it. */
void ffs_isize_extended(struct ffs_super *sb, struct ffs_inode *inode, u64 from, u64 to);
/* Drop clean folios that lie in pages [first, last] (invalidate_mapping_pages). */
void ffs_invalidate_clean(struct ffs_super *sb, struct ffs_inode *inode, u32 first, u32 last);
/* Drop every clean folio that touches pages [first, last] (invalidate_inode_pages2_range). */
void ffs_invalidate_range(struct ffs_super *sb, struct ffs_inode *inode, u32 first, u32 last);

/* i_size and i_disksize move through these: events, list of dirty inodes. */
void ffs_set_isize(struct ffs_super *sb, struct ffs_inode *inode, u64 size);
void ffs_set_disksize(struct ffs_super *sb, struct ffs_inode *inode, u64 size);

#endif
