/* SPDX-License-Identifier: MIT */
/*
 * The data path on iomap (fs/iomap/buffered-io.c, iter.c, ioend.c; v6.18): an
 * operation asks the file system for one map after the other and does its work
 * folio by folio inside it.  No block remembers where it lies; what is kept per
 * block is "uptodate" and "dirty", in the bitmaps that the other path uses for
 * its buffers (folio.h), and only for folios of more than one block.
 *
 *	iter.c		the iterator: questions, answers, stale maps
 *	folio_state.c	uptodate and dirty blocks of a folio
 *	buffered_write.c	write_begin, copy loop, write_end, delayed blocks taken back
 *	buffered_read.c	reads, batched into bios
 *	writeback.c	dirty runs, maps used again	ioend.c	what is under I/O, its end
 *	zero.c		zero_range, truncate_page, unshare
 *	path.c		the other entries of data_path.h: faults, invalidation, release
 *
 * The core does not know who maps: struct ffs_iomap_fs (lib/xfs, lib/ext4iomap).
 *
 * Glossary: map - one answer; source - the second map of copy-on-write, what the
 * bytes around a write are read from; cookie - by which a map is known to be current;
 * run - adjacent dirty blocks of one folio; ioend - one bio of writeback.
 * Positions and lengths are in bytes, ranges half-open.
 */
#ifndef FFS_IOMAP_H
#define FFS_IOMAP_H

#include "pagecache/data_path.h"

#define FFS_IOMAP_NO_ADDR (~0ull)

enum ffs_iomap_type {
	FFS_IOMAP_HOLE, FFS_IOMAP_DELALLOC, FFS_IOMAP_MAPPED, FFS_IOMAP_UNWRITTEN, FFS_IOMAP_INLINE,
};

/* Flags of a map: the kernel's numbers, which events print. */
#define FFS_IOMAP_F_NEW 0x001u /* allocated or reserved by this question */
#define FFS_IOMAP_F_DIRTY 0x002u /* metadata is not yet durable */
#define FFS_IOMAP_F_SHARED 0x004u /* copy-on-write */
#define FFS_IOMAP_F_BOUNDARY 0x040u /* no bio may reach over its start */
#define FFS_IOMAP_F_SIZE_CHANGED 0x100u /* the write moved i_size */
#define FFS_IOMAP_F_STALE 0x200u /* out of date: ask again */
/* Unwritten, and some of the cache over it is dirty: zeroing visits these folios alone (6.19). */
#define FFS_IOMAP_F_BATCH 0x2000u

/* What an operation is: the kernel's numbers. */
#define FFS_IOMAP_WRITE 0x01u
#define FFS_IOMAP_ZERO 0x02u
#define FFS_IOMAP_REPORT 0x04u
#define FFS_IOMAP_FAULT 0x08u
#define FFS_IOMAP_DIRECT 0x10u
#define FFS_IOMAP_OVERWRITE_ONLY 0x40u
#define FFS_IOMAP_UNSHARE 0x80u

struct ffs_iomap {
	u64 offset, length; /* length 0: no map */
	u64 addr; /* on the device; FFS_IOMAP_NO_ADDR: nowhere (hole, delayed) */
	u8 type; /* enum ffs_iomap_type */
	u16 flags;
	u64 cookie;
};

static inline u64 ffs_iomap_end(const struct ffs_iomap *map)
{
	return map->offset + map->length;
}

/* Where byte @pos of the file lies on the device. */
static inline u64 ffs_iomap_addr(const struct ffs_iomap *map, u64 pos)
{
	return map->addr + (pos - map->offset);
}

/*
 * Questions of one kind of operation.  begin: the map of @pos (it may begin before and
 * reach beyond [pos, pos + len)), and a source where it differs (else src->length 0).
 * end (may be NULL): the operation has done @written bytes of [pos, pos + len) of it.
 * 0 or a negative errno.
 */
struct ffs_iomap_ops {
	int (*begin)(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 len, u32 flags,
		     struct ffs_iomap *map, struct ffs_iomap *src);
	int (*end)(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 len, u64 written,
		   u32 flags, const struct ffs_iomap *map);
};

/* One bio of writeback. */
struct ffs_ioend {
	struct ffs_ioend *next;
	u64 pos, bytes; /* what is sent: whole blocks */
	u64 size; /* of it, what lies below i_size: what the end of I/O accounts for */
	u64 addr;
	u32 vecs; /* pieces of folios in it */
	bool unwritten, shared, boundary;
	bool deferred; /* a worker finishes it */
	int error;
};

/* Writeback of one inode. */
struct ffs_wpc {
	struct ffs_super *sb;
	struct ffs_inode *inode;
	struct ffs_wbc *wbc;
	struct ffs_iomap map; /* used again as long as it reaches and is current */
	u64 cookie2; /* a second cookie, for a file system with two trees of maps */
	struct ffs_ioend *ioend; /* being filled */
	u32 nr_folios; /* in it */
};

/* What a file system has to answer. */
struct ffs_iomap_fs {
	const struct ffs_iomap_ops *read, *write;
	/* For zeroing, if it answers with FFS_IOMAP_F_BATCH; NULL: write, and dirty data is written. */
	const struct ffs_iomap_ops *zero;
	/* True if @map is still current; asked under the folio lock.  NULL: it always is. */
	bool (*valid)(struct ffs_super *sb, const struct ffs_inode *inode,
		      const struct ffs_iomap *map);
	/* Writeback of the file begins; NULL: nothing to do. */
	void (*wb_begin)(struct ffs_inode *inode);
	/* Make w->map cover @pos; up to @len bytes are dirty from there on. */
	int (*wb_map)(struct ffs_wpc *w, u64 pos, u64 len);
	/* Mapping failed: delayed blocks of [pos, end) lose their reservation. */
	void (*wb_discard)(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 end);
	/* A bio is sent: anything to do before; true if a worker has to finish it. */
	bool (*wb_submit)(struct ffs_super *sb, struct ffs_inode *inode, struct ffs_ioend *ioend);
	/* I/O of a deferred bio is done: convert, move the size on disk. */
	void (*wb_end)(struct ffs_super *sb, struct ffs_inode *inode, const struct ffs_ioend *ioend);
	/* Delayed blocks of [pos, end) were reserved by a write that did not fill them. */
	void (*punch_delayed)(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 end,
			      const struct ffs_iomap *map);
};

/* The path's part of an inode. */
struct ffs_iomap_inode {
	struct ffs_ioend *sent, **sent_tail; /* under I/O, in the order sent */
	struct ffs_work work;
	bool queued;
};

static inline struct ffs_iomap_inode *ffs_iomap_inode(const struct ffs_inode *inode)
{
	return inode->data_path;
}

extern const struct ffs_data_path ffs_iomap_path;
/* Its entries, for a file system that has more to say (path.c). */
void ffs_iomap_inode_init(struct ffs_super *sb, struct ffs_inode *inode);
void ffs_iomap_inode_destroy(struct ffs_super *sb, struct ffs_inode *inode);
int ffs_iomap_mkwrite(struct ffs_super *sb, struct ffs_inode *inode, struct ffs_folio *f);
void ffs_iomap_invalidate(struct ffs_super *sb, struct ffs_mapping *m, struct ffs_folio *f,
			  u64 offset, u64 len);
bool ffs_iomap_release(struct ffs_mapping *m, struct ffs_folio *f);

/* --- iter.c --- */
struct ffs_iomap_iter {
	struct ffs_super *sb;
	struct ffs_inode *inode;
	u64 pos, len; /* what is left */
	u64 start; /* where the present map was asked for */
	u32 flags; /* FFS_IOMAP_WRITE ... */
	int status; /* of the body: 0 or a negative errno */
	u32 stale; /* maps in a row that were out of date before anything was done with them */
	struct ffs_iomap map, src;
	const char *caller; /* as events print it */
};

/* 1: a map to work on; 0: done; else a negative errno (iomap_iter). */
int ffs_iomap_iter(struct ffs_iomap_iter *it, const struct ffs_iomap_ops *ops);
/* What of it->pos, it->len the present map covers. */
u64 ffs_iomap_length(const struct ffs_iomap_iter *it);
void ffs_iomap_advance(struct ffs_iomap_iter *it, u64 bytes);

/* What bytes outside a write are read from. */
static inline const struct ffs_iomap *ffs_iomap_source(const struct ffs_iomap_iter *it)
{
	return it->src.length ? &it->src : &it->map;
}

/* --- folio_state.c: ranges in bytes from the start of the folio --- */
/* Make the state of a folio of several blocks; false: it has one block, its flags are the state. */
bool ffs_ifs_alloc(struct ffs_mapping *m, struct ffs_folio *f);
/* Every block touched by the range; the folio is uptodate when all are. */
void ffs_ifs_set_uptodate(struct ffs_mapping *m, struct ffs_folio *f, u64 off, u64 len);
void ffs_ifs_set_dirty(struct ffs_mapping *m, struct ffs_folio *f, u64 off, u64 len);
void ffs_ifs_clear_dirty(struct ffs_mapping *m, struct ffs_folio *f);
/* A part of the folio is thrown away: blocks that lie wholly in it (im-dirty-clear-round). */
void ffs_ifs_clear_dirty_range(struct ffs_mapping *m, struct ffs_folio *f, u64 off, u64 len);
/* First run of dirty blocks of [*pos, end) of the file: its length, *pos its start; 0: none. */
u64 ffs_ifs_dirty_run(struct ffs_mapping *m, const struct ffs_folio *f, u64 *pos, u64 end);
/*
 * The first run in [*pos, *pos + *len) that is not uptodate, cut behind the block of
 * i_size - 1; *len 0: none (iomap_adjust_read_range).
 */
void ffs_ifs_read_range(struct ffs_mapping *m, const struct ffs_folio *f, u64 *pos, u64 *len);
/* Mark the folio dirty with all its blocks: a store through a mapping. */
void ffs_ifs_dirty_folio(struct ffs_mapping *m, struct ffs_folio *f);

/* --- buffered_write.c --- */
/* @readable of @len bytes can be copied; bytes written, or a negative errno. */
s64 ffs_iomap_write(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 len, u64 readable);
/*
 * Find or make the folio of it->pos, trim *len to it, read or zero around the write.
 * A stale map is flagged and *f NULL.
 */
int ffs_iomap_write_begin(struct ffs_iomap_iter *it, u64 *len, struct ffs_folio **f);
/* False: the step is rejected. */
bool ffs_iomap_write_end(struct ffs_iomap_iter *it, u64 len, u64 copied, struct ffs_folio *f);
/*
 * For the end of a new delayed map: blocks of [start, end) that are not under a dirty
 * block of the cache lose their reservation (iomap_write_delalloc_release).
 */
void ffs_iomap_release_delayed(struct ffs_super *sb, struct ffs_inode *inode, u64 start, u64 end,
			       const struct ffs_iomap *map);

/* --- buffered_read.c --- */
void ffs_iomap_readahead(struct ffs_super *sb, struct ffs_mapping *m, struct ffs_folio **f, u32 n);
void ffs_iomap_read_folio(struct ffs_super *sb, struct ffs_mapping *m, struct ffs_folio *f);
bool ffs_iomap_is_uptodate(struct ffs_mapping *m, const struct ffs_folio *f, u64 pos, u64 len);
/*
 * A bio of @len bytes at @addr (block_bio_queue); @rwbs as the block layer calls it ("RA", "WS").
 * What of the file is in it: ffs_iomap_bio_piece().
 */
void ffs_iomap_bio(struct ffs_super *sb, const char *rwbs, u64 addr, u64 len);
/* foliofs_bio: bytes [pos, pos + len) of @inode go to, or come from, @addr. */
void ffs_iomap_bio_piece(struct ffs_super *sb, const struct ffs_inode *inode, bool write, u64 pos,
			 u64 addr, u64 len);

/* --- writeback.c, ioend.c --- */
int ffs_iomap_writepages(struct ffs_super *sb, struct ffs_inode *inode, struct ffs_wbc *wbc);
/* Write [first, last] back and wait (filemap_write_and_wait_range). */
int ffs_iomap_write_and_wait(struct ffs_super *sb, struct ffs_inode *inode, u64 first, u64 last);
/* Add [pos, pos + len) of @f, which lies in w->map, to a bio; @eof: where the data ends. */
void ffs_ioend_add(struct ffs_wpc *w, struct ffs_folio *f, u64 pos, u64 len, u64 eof);
/* Send the bio that is being filled. */
void ffs_ioend_submit(struct ffs_wpc *w, int error);
void ffs_ioend_free_all(struct ffs_iomap_inode *i);

/* --- zero.c --- */
/* Zeroes in [pos, pos + len), in the cache, where the file is not zero anyway; *did: some were. */
int ffs_iomap_zero_range(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 len,
			 bool *did);
/* From @pos to the end of its block. */
int ffs_iomap_truncate_page(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, bool *did);
/* Write the same bytes again, so that shared blocks become its own. */
int ffs_iomap_unshare(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 len);

#endif
