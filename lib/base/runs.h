/* SPDX-License-Identifier: MIT */
/*
 * A sorted map of runs: disjoint ranges [first, end) of u64 with a value each.
 *
 * Values do not depend on the position inside the run (a mapping is kept as
 * pblk - lblk, content as source offset - offset), so that a run can be cut and
 * equal neighbours merged without asking anybody.  Kept as chunks of sorted
 * arrays: O(log n) lookup, cheap in-order walks, 32 bytes a run.
 *
 * Used for extent status, content of files and of the disk, free space.
 */
#ifndef FFS_RUNS_H
#define FFS_RUNS_H

#include "base.h"

struct ffs_run {
	u64 first, end;
	u64 a, b; /* the value */
};

/* Small: an insertion moves half of it.  (And below what malloc() calls large.) */
#define FFS_RUNS_CHUNK 30

struct ffs_runs_chunk {
	u32 n;
	struct ffs_run run[FFS_RUNS_CHUNK];
};

/* Position of a run; valid until the next change. */
struct ffs_runs_pos {
	u32 chunk, i;
};

struct ffs_runs {
	struct ffs_runs_chunk **chunk; /* none is empty */
	u64 *end; /* of the last run of each chunk: all that a lookup reads before its chunk */
	u32 nr_chunks, cap_chunks;
	u64 nr; /* runs in all */
	u64 changes; /* grows with every change: equal numbers, equal contents */
	u64 changed_first, changed_end; /* what changed since somebody set changed_end to 0 */
	/* Where the last lookup ended: the next one is often close. A guess, always checked. */
	struct ffs_runs_pos hint;
};

void ffs_runs_free(struct ffs_runs *m);
void ffs_runs_copy(struct ffs_runs *to, const struct ffs_runs *from);

/* Set [first, end) to the value (a, b), whatever was there; merges with equal neighbours. */
void ffs_runs_set(struct ffs_runs *m, u64 first, u64 end, u64 a, u64 b);
/* Remove [first, end). */
void ffs_runs_clear(struct ffs_runs *m, u64 first, u64 end);

/* First run that ends behind @key (contains it, or is the next one); NULL if none. */
const struct ffs_run *ffs_runs_at(const struct ffs_runs *m, u64 key, struct ffs_runs_pos *pos);
/* The run after / before @pos, which moves; NULL at the end. */
const struct ffs_run *ffs_runs_next(const struct ffs_runs *m, struct ffs_runs_pos *pos);
const struct ffs_run *ffs_runs_prev(const struct ffs_runs *m, struct ffs_runs_pos *pos);
/* The run that contains @key, NULL if none. */
const struct ffs_run *ffs_runs_find(const struct ffs_runs *m, u64 key);

/* for (run in [first, end) of m): runs are not cut to the range. */
#define ffs_runs_for_each(m, r, pos, from, to)                                                     \
	for ((r) = ffs_runs_at(m, from, &(pos)); (r) && (r)->first < (to);                         \
	     (r) = ffs_runs_next(m, &(pos)))

#endif
