/* SPDX-License-Identifier: MIT */
/*
 * Page cache: folios of any order by page index.
 *
 * A mapping is a radix tree of 64 slots a node, as the kernel's xarray is: a
 * folio of order k sits at level k / 6 and fills 2^(k mod 6) slots.  (The walk of
 * readahead counts slots, so the shape of the tree is visible: readahead.h.)
 *
 * Glossary: mapping - the cached folios of one inode; folio - 2^order pages,
 * index a multiple of that; bpf - blocks per folio; buffer - the state of one
 * block of a folio, here one bit in each of FFS_BH_NR bitmaps.
 */
#ifndef FFS_FOLIO_H
#define FFS_FOLIO_H

#include "base/env.h"
#include "base/inode.h"
#include "base/runs.h"

#define FFS_FOLIO_UPTODATE 0x01u
#define FFS_FOLIO_DIRTY 0x02u
#define FFS_FOLIO_WRITEBACK 0x04u
#define FFS_FOLIO_MARK 0x08u /* readahead mark, also "reclaim" */
#define FFS_FOLIO_BUFFERS 0x10u /* buffers are attached */
#define FFS_FOLIO_MAPPED 0x20u /* some page table maps it */
#define FFS_FOLIO_JDATA 0x40u /* dirtied through a mapping with data=journal (checked) */
#define FFS_FOLIO_SCATTERED 0x80u /* its buffers are not all adjacent on disk: blocknrs */

/* State bits of a buffer. */
enum ffs_bh_state {
	FFS_BH_UPTODATE, FFS_BH_DIRTY, FFS_BH_MAPPED, FFS_BH_NEW, FFS_BH_DELAY, FFS_BH_UNWRITTEN,
	FFS_BH_WRITE, /* under I/O */
	FFS_BH_JDIRTY, /* in the journal, to be checkpointed from here (data=journal) */
	FFS_BH_NR
};

struct ffs_node;

struct ffs_folio {
	struct ffs_node *node; /* of the index; its slots begin with that of @index */
	u32 index; /* pages */
	u8 order;
	u8 flags;
	u16 bpf; /* blocks, at most 2^15 are used */
	union {
		u32 write_pending; /* iomap: bytes under I/O; 1 more while they are being sent */
		/*
		 * b_blocknr of the buffers that have one (mapped or unwritten, not delayed): that of
		 * block 0, as all are adjacent; or that of each.
		 */
		u64 blocknr;
		u64 *blocknrs;
	};
	union {
		u8 tiny[FFS_BH_NR]; /* bpf <= 8 */
		u64 *bits; /* FFS_BH_NR bitmaps of words(bpf) each */
	};
};

/* Tags of the index, as the kernel's: which folios to look at. */
enum ffs_folio_tag {
	FFS_TAG_DIRTY, FFS_TAG_TOWRITE, FFS_TAG_WRITEBACK, FFS_TAG_NR
};

struct ffs_mapping {
	struct ffs_inode *inode;
	struct ffs_env *env;
	struct ffs_node *root;
	u8 levels; /* height of the tree, 0: empty */
	u8 max_order, min_order;
	u64 nr_folios, nr_pages;
	u32 writeback_index; /* pages: where cyclic writeback goes on */
	u64 alloc_end; /* pages: tmpfs keeps what was allocated behind EOF up to here */

	/*
	 * Content of the cached bytes: key file offset; a = source offset - offset,
	 * b = source (see content.h).
	 */
	struct ffs_runs content;
	struct ffs_runs poison; /* pages whose memory has failed */
};

static inline u32 ffs_folio_pages(const struct ffs_folio *f)
{
	return 1u << f->order;
}

static inline u64 ffs_folio_pos(const struct ffs_mapping *m, const struct ffs_folio *f)
{
	return (u64)f->index << m->env->page_bits;
}

static inline u64 ffs_folio_size(const struct ffs_mapping *m, const struct ffs_folio *f)
{
	return (u64)1 << (m->env->page_bits + f->order);
}

static inline u64 ffs_folio_end(const struct ffs_mapping *m, const struct ffs_folio *f)
{
	return ffs_folio_pos(m, f) + ffs_folio_size(m, f);
}

/* First logical block of the folio. */
static inline u32 ffs_folio_block(const struct ffs_mapping *m, const struct ffs_folio *f)
{
	return (u32)(ffs_folio_pos(m, f) >> m->env->block_bits);
}

void ffs_mapping_init(struct ffs_mapping *m, struct ffs_env *env, struct ffs_inode *inode);
/* Frees all folios without an event. */
void ffs_mapping_destroy(struct ffs_mapping *m);

/* The folio that contains page @index; NULL if none. */
struct ffs_folio *ffs_folio_find(const struct ffs_mapping *m, u32 index);
/* The first folio that ends behind page @index; NULL if none. */
struct ffs_folio *ffs_folio_next(const struct ffs_mapping *m, u32 index);
/* The folio that begins where @f ends; NULL if none. */
struct ffs_folio *ffs_folio_after(const struct ffs_mapping *m, const struct ffs_folio *f);
/* ffs_folio_next() among the folios with @tag; the first one behind @f. */
struct ffs_folio *ffs_folio_next_tagged(const struct ffs_mapping *m, u32 index,
					enum ffs_folio_tag tag);
struct ffs_folio *ffs_folio_after_tagged(const struct ffs_mapping *m, const struct ffs_folio *f,
					 enum ffs_folio_tag tag);
bool ffs_mapping_tagged(const struct ffs_mapping *m, enum ffs_folio_tag tag);
void ffs_folio_tag(struct ffs_folio *f, enum ffs_folio_tag tag, bool set);
bool ffs_folio_is_tagged(const struct ffs_folio *f, enum ffs_folio_tag tag);

/*
 * Insert a new folio of @order at page @index (a multiple of its size).  NULL if a
 * page of the range is cached.  Prints mm_filemap_add_to_page_cache.
 */
struct ffs_folio *ffs_folio_add(struct ffs_mapping *m, u32 index, u8 order);
/* Remove it from the page cache: prints mm_filemap_delete_from_page_cache, frees it. */
void ffs_folio_delete(struct ffs_mapping *m, struct ffs_folio *f);
/*
 * Split a folio without buffers so that page @at starts a folio: non-uniform,
 * halving only the part that contains @at (folios.md 10.3).  Pieces at or behind
 * @eof_index pages are dropped.  Returns the piece that contains @at, NULL if dropped.
 */
struct ffs_folio *ffs_folio_split(struct ffs_mapping *m, struct ffs_folio *f, u32 at,
				  u64 eof_index);

/* Slot walks of readahead (folios.md 4.10): see readahead.c. */
u32 ffs_walk_cached_left(const struct ffs_mapping *m, u32 index, u32 limit);
u32 ffs_walk_missing_right(const struct ffs_mapping *m, u32 index, u32 limit);

/* The memory of page @index fails. */
void ffs_page_poison(struct ffs_mapping *m, u32 index);
/* The first page that failed among [first, end); @end: none. */
u64 ffs_page_poisoned(const struct ffs_mapping *m, u64 first, u64 end);

/* Mark the folio dirty or clean; tags follow. */
void ffs_folio_set_dirty(struct ffs_folio *f);
/* Only the flag: the tags say "dirty" until writeback starts, or the folio goes. */
void ffs_folio_clear_dirty(struct ffs_folio *f);
/* Under writeback; the other tags follow, "to be written" unless part of it stays dirty. */
void ffs_folio_start_writeback(struct ffs_folio *f, bool keep_towrite);

/* Buffers: attach them (uptodate if the folio is), or strip them. */
void ffs_folio_attach_buffers(struct ffs_mapping *m, struct ffs_folio *f);
void ffs_folio_strip_buffers(struct ffs_folio *f);

static inline bool ffs_has_buffers(const struct ffs_folio *f)
{
	return f->flags & FFS_FOLIO_BUFFERS;
}

/*
 * Buffer states of blocks [first, end) of the folio (relative to its start).
 * One word operation for 64 buffers; folios of up to 8 need no loop.
 */
void ffs_bh_set_many(struct ffs_folio *f, enum ffs_bh_state s, u32 first, u32 end);
void ffs_bh_clear_many(struct ffs_folio *f, enum ffs_bh_state s, u32 first, u32 end);
u32 ffs_bh_next_many(const struct ffs_folio *f, enum ffs_bh_state s, u32 from, u32 end);
u32 ffs_bh_next_clear_many(const struct ffs_folio *f, enum ffs_bh_state s, u32 from, u32 end);

static inline bool ffs_bh_is_tiny(const struct ffs_folio *f)
{
	return f->bpf <= 8;
}

/* Bits [first, end) of a tiny folio's bitmap. */
static inline u32 ffs_bh_tiny(u32 first, u32 end)
{
	return first < end ? ((1u << min(end, 8u)) - 1) & (~0u << min(first, 8u)) : 0;
}

static inline void ffs_bh_set(struct ffs_folio *f, enum ffs_bh_state s, u32 first, u32 end)
{
	if (ffs_bh_is_tiny(f))
		f->tiny[s] |= (u8)ffs_bh_tiny(first, end);
	else
		ffs_bh_set_many(f, s, first, end);
}

static inline void ffs_bh_clear(struct ffs_folio *f, enum ffs_bh_state s, u32 first, u32 end)
{
	if (ffs_bh_is_tiny(f))
		f->tiny[s] &= (u8)~ffs_bh_tiny(first, end);
	else
		ffs_bh_clear_many(f, s, first, end);
}

/* First block in [from, end) with the bit set / clear; end if none. */
static inline u32 ffs_bh_next(const struct ffs_folio *f, enum ffs_bh_state s, u32 from, u32 end)
{
	u32 v;

	if (!ffs_bh_is_tiny(f))
		return ffs_bh_next_many(f, s, from, end);
	v = f->tiny[s] & ffs_bh_tiny(from, end);
	return v ? (u32)__builtin_ctz(v) : end;
}

static inline u32 ffs_bh_next_clear(const struct ffs_folio *f, enum ffs_bh_state s, u32 from,
				    u32 end)
{
	u32 v;

	if (!ffs_bh_is_tiny(f))
		return ffs_bh_next_clear_many(f, s, from, end);
	v = ~(u32)f->tiny[s] & ffs_bh_tiny(from, end);
	return v ? (u32)__builtin_ctz(v) : end;
}

static inline bool ffs_bh_any(const struct ffs_folio *f, enum ffs_bh_state s, u32 first, u32 end)
{
	return first < end && ffs_bh_next(f, s, first, end) < end;
}

static inline bool ffs_bh_all(const struct ffs_folio *f, enum ffs_bh_state s, u32 first, u32 end)
{
	return first >= end || ffs_bh_next_clear(f, s, first, end) == end;
}

/* 64 blocks of a state at once, starting at block 64 * @word. */
static inline u64 ffs_bh_word(const struct ffs_folio *f, enum ffs_bh_state s, u32 word)
{
	return ffs_bh_is_tiny(f) ? f->tiny[s] : f->bits[s * ((f->bpf + 63u) / 64) + word];
}

static inline bool ffs_bh_test(const struct ffs_folio *f, enum ffs_bh_state s, u32 block)
{
	return (ffs_bh_word(f, s, block / 64) >> (block % 64)) & 1;
}

/* b_blocknr of block @b, which has one. */
static inline u64 ffs_bh_blocknr(const struct ffs_folio *f, u32 b)
{
	return f->flags & FFS_FOLIO_SCATTERED ? f->blocknrs[b] : f->blocknr + b;
}

/* Blocks [first, end) have the numbers from @pblk on. */
void ffs_bh_set_blocknr(struct ffs_folio *f, u32 first, u32 end, u64 pblk);
/* End of the blocks of [b, end) that are adjacent on disk. */
u32 ffs_bh_adjacent_end(const struct ffs_folio *f, u32 b, u32 end);

static inline bool ffs_bh_busy(const struct ffs_folio *f)
{
	return ffs_bh_any(f, FFS_BH_DIRTY, 0, f->bpf) || ffs_bh_any(f, FFS_BH_WRITE, 0, f->bpf) ||
	       ffs_bh_any(f, FFS_BH_JDIRTY, 0, f->bpf);
}

#endif
