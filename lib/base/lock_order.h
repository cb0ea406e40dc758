/* SPDX-License-Identifier: MIT */
/*
 * In which order tasks take the locks that a deadlock of the two data paths is made of.
 * The model runs one thing at a time and never waits for ever: what is recorded is which
 * lock was taken, or waited for, while another was held.  A cycle of these is a deadlock
 * that real tasks can run into; the rule lock-order looks for one (lib/rules).
 */
#ifndef FFS_LOCK_ORDER_H
#define FFS_LOCK_ORDER_H

#include "base.h"

enum ffs_lock {
	FFS_LOCK_FOLIO, /* of an iomap inode */
	/*
	 * A handle in the running transaction.  Who starts one may wait for a commit, and the
	 * commit waits for all who have one: as if there was one lock.
	 */
	FFS_LOCK_HANDLE,
	FFS_LOCK_MAP, /* i_data_sem, exclusively */
	FFS_LOCK_END_IO, /* a worker is at the end of a folio's I/O; taken by who waits for that */
	FFS_LOCK_NR
};

/* Of the task that runs. */
struct ffs_locks {
	u8 held[FFS_LOCK_NR]; /* how often */
};

/* All tasks: bit n of after[m]: m was taken while n was held. */
struct ffs_lock_order {
	struct ffs_locks now;
	u8 after[FFS_LOCK_NR];
};

/* As words of sentences: "a folio lock". */
const char *ffs_lock_name(u32 lock);

#endif
