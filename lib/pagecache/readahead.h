/* SPDX-License-Identifier: MIT */
/*
 * Readahead: which folios a read, a fault or an advice brings in, and of what order
 * (mm/readahead.c as of v6.18; the state belongs to an open file).
 */
#ifndef FFS_READAHEAD_H
#define FFS_READAHEAD_H

#include "folio.h"

struct ffs_ra {
	u32 start, size, async_size; /* current window, pages */
	u8 order; /* of its folios */
	u32 mmap_miss;
	u32 ra_pages; /* largest window of this file; 0: no readahead */
	bool random;
	u64 prev_pos; /* bytes, where the last read ended; ~0: none yet */
};

/* Who reads the folios that were brought in: @n new folios in ascending order. */
struct ffs_reader {
	void (*read)(void *priv, struct ffs_mapping *m, struct ffs_folio **folios, u32 n);
	void *priv;
};

void ffs_ra_init(struct ffs_ra *ra, const struct ffs_env *env);

/* read(2) found page @index missing; @want pages are left of the request (page_cache_sync_ra). */
void ffs_ra_sync(struct ffs_mapping *m, struct ffs_ra *ra, const struct ffs_reader *r, u32 index,
		 u32 want);
/* A folio with the mark was hit at page @index; @want pages are left (page_cache_async_ra). */
void ffs_ra_async(struct ffs_mapping *m, struct ffs_ra *ra, const struct ffs_reader *r,
		  struct ffs_folio *f, u32 index, u32 want);
/* fadvise WILLNEED and the like: @nr pages from @index in order 0 (force_page_cache_ra). */
void ffs_ra_force(struct ffs_mapping *m, struct ffs_ra *ra, const struct ffs_reader *r, u32 index,
		  u32 nr);

enum ffs_ra_advice { FFS_RA_NORMAL, FFS_RA_RANDOM, FFS_RA_SEQUENTIAL, FFS_RA_HUGEPAGE };
/*
 * A fault found page @index missing in a mapping with @advice
 * (do_sync_mmap_readahead); [@vma_start, @vma_end): pages of the file it maps.
 */
void ffs_ra_fault(struct ffs_mapping *m, struct ffs_ra *ra, const struct ffs_reader *r, u32 index,
		  enum ffs_ra_advice advice);

#endif
