/* SPDX-License-Identifier: MIT */
/*
 * The data path on buffer heads (fs/ext4/inode.c, page-io.c, readpage.c, fs/buffer.c):
 * what its files share.
 *
 *	write.c		write_begin, write_end	block_write.c	the loop over the blocks of a step
 *	read.c		reading folios		zero.c		partial zeroing
 *	writepages.c	rounds, PREP		map_submit.c	MAP, partial folios, i_disksize
 *	submit.c	SUB: folio to bios	end_io.c	END: conversion
 *	plug.c		bios to requests, and the order in which these are done
 *	ordered.c	data=ordered lists	mkwrite.c	write faults
 *	writepage.c	page by page, 6.1
 *	invalidate.c	buffers thrown away	journalled.c	data=journal
 */
#ifndef FFS_BH_H
#define FFS_BH_H

#include "pagecache/data_path.h"

/* In-core part of an inode for this path. */
struct ffs_bh_inode {
	/* data=ordered: the range of this transaction (jbd2_inode) */
	u32 order_tid; /* transaction that lists it, 0: none */
	bool order_write; /* set for good by the first "write" entry */
	u64 order_first, order_last; /* bytes, order_last is the last one */
	struct ffs_runs inline_data; /* content of the bytes that lie in the inode */
};

/*
 * Where @pos lies in its folio.  Code that @change has not reached yet takes the offset in a
 * page: for a large folio that is a place in its first page.
 */
static inline u64 ffs_lf_offset(const struct ffs_super *sb, enum foliofs_change change,
				const struct ffs_mapping *m, const struct ffs_folio *f, u64 pos)
{
	u64 offset = pos - ffs_folio_pos(m, f);

	return ffs_sb_has(sb, change) ? offset : offset & (ffs_page_size(&sb->env) - 1);
}

/* The kernel would stop here: told, for the rule. */
static inline void ffs_bh_assert(struct ffs_super *sb, const struct ffs_inode *inode,
				 const char *what)
{
	ffs_emit(&sb->env, foliofs_assert, inode->ino, ffs_str(what));
}

static inline struct ffs_bh_inode *ffs_bh_inode(const struct ffs_inode *inode)
{
	return inode->data_path;
}

/* --- block_write.c --- */

/* How write_begin asks for a block that is not mapped. */
enum ffs_bh_get {
	FFS_BH_GET_DA, /* reserve (ext4_da_get_block_prep) */
	FFS_BH_GET_BLOCK, /* allocate written */
	FFS_BH_GET_UNWRITTEN, /* allocate unwritten */
};

/* Prepare [pos, pos + len) of @f: ext4_block_write_begin, and __block_write_begin of fs/buffer.c. */
int ffs_block_write_begin(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode,
			  struct ffs_folio *f, u64 pos, u64 len, enum ffs_bh_get get);
int ffs_generic_write_begin(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode,
			    struct ffs_folio *f, u64 pos, u64 len, enum ffs_bh_get get);
/* Copied bytes become uptodate and dirty (block_commit_write); @journal: the handle they go through. */
int ffs_block_commit(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode,
		     struct ffs_folio *f, u64 pos, u64 len, bool journalled);
/*
 * New blocks of [pos, pos + len) that nobody filled are zeroed and dirtied (folio_zero_new_buffers);
 * with data=journal through @h (ext4_journalled_zero_new_buffers).
 */
void ffs_zero_new_buffers(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode,
			  struct ffs_folio *f, u64 pos, u64 len);
/*
 * Credits for one more extent (ext4_journal_ensure_extent_credits, "restart handle if credits
 * are insufficient", v6.17): 0, or -EAGAIN where the transaction has no room.
 */
int ffs_ensure_extent(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode);
/* Map through the block map, with data=ordered lists and fsync's transaction kept. */
int ffs_bh_map(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode,
	       struct ffs_map *map, u32 flags);
/* A mapping becomes the state of buffers [first, first + n) of @f. */
void ffs_bh_apply(struct ffs_folio *f, u32 first, u32 n, const struct ffs_map *map);

/* --- read.c --- */
void ffs_bh_read_folios(struct ffs_super *sb, struct ffs_mapping *m, struct ffs_folio **f, u32 n);
/* Fill blocks [first, end) of the folio from the disk, as their buffers say; they become uptodate. */
void ffs_bh_read_blocks(struct ffs_super *sb, struct ffs_mapping *m, struct ffs_folio *f,
			u32 first, u32 end);
bool ffs_bh_is_uptodate(struct ffs_mapping *m, const struct ffs_folio *f, u64 pos, u64 len);

/* --- zero.c --- */
/* What truncate zeroed gets ordered, where zeroing itself no longer does that. */
int ffs_bh_settle_tail(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode, u64 pos,
		       u64 len);
int ffs_bh_zero_partial(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode,
			u64 pos, u64 len);

/* --- write.c --- */
int ffs_bh_write_begin(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 *len,
		       struct ffs_write *w);
s64 ffs_bh_write_end(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 len, u64 copied,
		     struct ffs_write *w);
/* The folio of @pos, found or made for a write of @len bytes (__filemap_get_folio). */
struct ffs_folio *ffs_write_folio(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 len);

/* Rounds after which a retry without progress is called a livelock. */
#define FFS_LIVELOCK_ROUNDS 64u

/*
 * --- inline.c: data in the inode ---
 * 1: the write goes into the inode (w->inline_data), 0: go on with blocks, negative: error.
 */
int ffs_inline_da_write_begin(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 len,
			      struct ffs_write *w);
int ffs_inline_write_begin(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 len,
			   struct ffs_write *w);
s64 ffs_inline_write_end(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 len,
			 u64 copied, struct ffs_write *w);
/* Before the first writeback of a file that outgrew its inode (ext4_destroy_inline_data). */
int ffs_inline_destroy(struct ffs_super *sb, struct ffs_inode *inode);
/* Bytes at and behind @size go (truncate). */
void ffs_inline_cut(struct ffs_inode *inode, u64 size);
/* Readahead of inline data: the folio is zeroes behind the data (ext4_readpage_inline). */
void ffs_inline_read(struct ffs_super *sb, struct ffs_mapping *m, struct ffs_folio *f);
/* Blocks that a failed write left behind EOF go (ext4_truncate_failed_write). */
void ffs_truncate_failed(struct ffs_super *sb, struct ffs_inode *inode);
/* To a block at once: truncate up, stores, fallocate, punch (ext4_convert_inline_data). */
int ffs_inline_convert(struct ffs_super *sb, struct ffs_inode *inode);

/* --- mkwrite.c --- */
int ffs_bh_mkwrite(struct ffs_super *sb, struct ffs_inode *inode, struct ffs_folio *f);

/* --- writepages.c, map_submit.c, submit.c, end_io.c --- */
struct ffs_io_vec {
	u64 offset, size; /* bytes */
};

/* ext4_io_end: what one handle iteration submitted. */
struct ffs_io_end {
	struct ffs_work work;
	struct ffs_handle *rsv; /* reserved handle for the conversion */
	struct ffs_io_vec *vec;
	u32 nr_vec, cap_vec;
	struct ffs_folio **folio; /* under writeback because of it */
	u32 nr_folio, cap_folio;
	u32 plug; /* number of the plug when it was submitted */
	/* the bio that grows: blocks and pages of it */
	u64 bio_first, bio_end;
	u32 bio_pages, bio_last_page;
	/* where the last of its bios to be done is in the plug; request 0: it has none */
	u32 batch, request, place;
	bool unwritten; /* needs conversion */
	bool failed; /* an I/O error: no conversion */
};

/* mpage_da_data: the state of one writepages call. */
struct ffs_mpd {
	struct ffs_super *sb;
	struct ffs_inode *inode;
	struct ffs_mapping *m;
	struct ffs_wbc *wbc;
	u64 start_pos, next_pos, end_pos; /* bytes */
	u32 map_lblk, map_len;
	u64 map_pblk;
	u32 map_state; /* FFS_MPD_* of the blocks of the extent */
	u32 rsv; /* credits reserved for the conversion, fixed at the start of the call */
	bool can_map, do_map, scanned_until_end;
	struct ffs_folio *locked; /* the folio that PREP stopped in */
	struct ffs_io_end *io_end;
};

#define FFS_MPD_DELAY 1u
#define FFS_MPD_UNWRITTEN 2u
#define FFS_MAX_WRITEPAGES_EXTENT_LEN 2048u

int ffs_bh_writepages(struct ffs_super *sb, struct ffs_inode *inode, struct ffs_wbc *wbc);
/*
 * Blocks of @f from @b on, @base being the number of its first one: 1 all done, 0 an extent to map
 * was found or PREP has to stop.
 */
int ffs_mpage_process_bufs(struct ffs_mpd *mpd, struct ffs_folio *f, u32 base, u32 b);
void ffs_mpage_folio_done(struct ffs_mpd *mpd, struct ffs_folio *f);
int ffs_mpage_map_and_submit(struct ffs_mpd *mpd, struct ffs_handle *h, bool *give_up);
void ffs_mpage_submit_folio(struct ffs_mpd *mpd, struct ffs_folio *f);
/* Bios of [0, len) bytes of the folio (ext4_bio_write_folio). */
void ffs_bio_write_folio(struct ffs_super *sb, struct ffs_mapping *m, struct ffs_folio *f, u64 len,
			 struct ffs_wbc *wbc, struct ffs_io_end *io);
struct ffs_io_end *ffs_io_end_new(struct ffs_inode *inode);
struct ffs_io_vec *ffs_io_end_vec(struct ffs_io_end *io, u64 offset);
void ffs_io_end_folio(struct ffs_io_end *io, struct ffs_folio *f);
/* All is submitted: END runs when the task sleeps. Frees an empty one. */
void ffs_io_end_submit(struct ffs_super *sb, struct ffs_io_end *io);

/* --- plug.c --- */
/* A plug begins to collect requests, @sync: of a writer who waits for them; its number. */
u32 ffs_io_plug(struct ffs_super *sb, bool sync);
/* @n blocks of @io are sent, adjacent on disk from @pblk on and on the file from @lblk on. */
void ffs_io_end_blocks(struct ffs_super *sb, struct ffs_io_end *io, u64 pblk, u64 n, u64 lblk);
/* The bio that grows is sent. */
void ffs_io_bio_submit(struct ffs_super *sb, struct ffs_io_end *io);
/* The plug is flushed: before plug-order what it held reaches the device newest first. */
void ffs_io_unplug(struct ffs_super *sb, u32 plug);

/* --- writepage.c --- */
/* Dirty pages of the range one by one, nothing is mapped (6.1: commit, data=journal). */
int ffs_bh_write_cache_pages(struct ffs_super *sb, struct ffs_inode *inode, struct ffs_wbc *wbc);

/* --- ordered.c --- */
void ffs_order_data(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode, u64 first,
		    u64 last, bool write);
void ffs_bh_submit_ordered(struct ffs_super *sb, u32 tid);

/* --- invalidate.c --- */
void ffs_bh_invalidate(struct ffs_super *sb, struct ffs_mapping *m, struct ffs_folio *f, u64 offset,
		       u64 len);
bool ffs_bh_release(struct ffs_mapping *m, struct ffs_folio *f);

/* --- move_extent.c --- */
int ffs_bh_move_piece(struct ffs_super *sb, struct ffs_inode *orig, struct ffs_inode *donor,
		      u32 lblk, u32 donor_lblk, u32 *len, u32 *moved);

/* --- journalled.c --- */
/* Block @b of the folio goes through the journal with @h. */
int ffs_dirty_journalled(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode,
			 struct ffs_folio *f, u32 b);
/* The running transaction is locked: the log gets its data blocks as they are now. */
void ffs_journalled_locked(struct ffs_super *sb);
/* It has committed: its data blocks are to be checkpointed. */
void ffs_journalled_committed(struct ffs_super *sb, u32 tid);

extern const struct ffs_data_path ffs_bh_path;

#endif
