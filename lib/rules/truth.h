/* SPDX-License-Identifier: MIT */
/*
 * What the bytes of each file have to be, by the operations alone: writes put
 * their bytes, truncate and holes put zeros, nothing else changes any.  A file
 * system without a cache, a journal or blocks; the rules hold the real one
 * against it.
 */
#ifndef FFS_TRUTH_H
#define FFS_TRUTH_H

#include "fs/fs.h"

struct ffs_truth {
	u32 ino;
	bool unknown; /* an operation failed half way: nothing is said of this file */
	u64 max_size; /* largest that an operation has made it */
	/*
	 * Size at which recovery found it: what the device has behind it nobody has zeroed.  Moves with
	 * the last block (collapse, insert).  0: none.
	 */
	u64 found_size;
	struct ffs_runs want; /* as struct ffs_mapping's content; what is not there is zero */
};

struct ffs_truths {
	struct ffs_truth *v; /* ascending by inode */
	u32 nr, cap;
	/* bytes that the running operation moved: checked when it is over */
	struct ffs_touched {
		u32 ino;
		bool disk; /* on the device, else where a read finds them */
		u64 first, end;
	} *touched;
	u32 nr_touched, cap_touched;
	/* bytes that folios of this inode were told to drop while it runs */
	u32 dropped_ino;
	struct ffs_runs dropped;
};

struct ffs_truths *ffs_truths(struct foliofs_fs *fs);
/* The operation is over: what it had to do to its files. */
void ffs_truth_op(struct foliofs_fs *fs, const struct foliofs_op *op, s64 result);
/* Bytes of the file are lost, and the program is told: nothing is said of it any more. */
void ffs_truth_lost(struct foliofs_fs *fs, u32 ino);
/* Bytes [first, end) of the file moved. */
void ffs_truth_touch(struct foliofs_fs *fs, u32 ino, bool disk, u64 first, u64 end);
/* Everything touched, and what the operation read, against what it has to be. */
void ffs_truth_check(struct foliofs_fs *fs, const struct foliofs_op *op, s64 result);
/* What [first, end) of @ino has to be; NULL: not known. */
const struct ffs_runs *ffs_truth_of(const struct foliofs_fs *fs, u32 ino);
/* Recovery found @ino with size @size. */
bool ffs_truth_found_at(const struct foliofs_fs *fs, u32 ino, u64 size);
/* The largest size of @ino behind an operation; ~0: not known. */
u64 ffs_truth_max_size(const struct foliofs_fs *fs, u32 ino);
/* End of the bytes from @pos on that are dirty in the cache (*dirty), or are not. */
u64 ffs_dirty_until(const struct ffs_inode *inode, u64 pos, bool *dirty);
/* Some byte of [pos, end) in the cache is not zero. */
bool ffs_holds_data(const struct ffs_mapping *m, u64 pos, u64 end);
/*
 * A folio is told to drop [first, end), a part of it; the same operation zeroes it, which makes it
 * dirty anew (the tail of an old EOF); the operation is over: what punch hole or zero range has
 * dropped is not written any more.
 */
void ffs_rule_dropping(struct foliofs_fs *fs, u32 ino, u64 first, u64 end);
void ffs_rule_zeroed(struct foliofs_fs *fs, u32 ino, u64 first, u64 end);
void ffs_rule_dropped(struct foliofs_fs *fs, const struct ffs_inode *inode,
		      const struct foliofs_op *op);
/* Recovery is over: what it has found of the files is what they have to be. */
void ffs_truth_recovered(struct foliofs_fs *fs);
void ffs_truths_free(struct ffs_truths *t);

#endif
