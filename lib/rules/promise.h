/* SPDX-License-Identifier: MIT */
/*
 * What a power cut must leave of a file: promises.c keeps it, promise_changes.c takes from
 * it; what it must not leave: cuts.c.  crash_rules.c holds what recovery would find against it.
 */
#ifndef FFS_PROMISE_H
#define FFS_PROMISE_H

#include "fs/fs.h"

struct ffs_promise {
	u32 ino;
	u64 seq; /* of the in-core inode: numbers are used again */
	/* What was synced. Key: file offset; content as in content.h, a: source offset - key. */
	struct ffs_runs bytes;
	/* With stops: the bytes as they were when the sync began that runs. */
	struct ffs_runs starting;
	/*
	 * Bytes cut off (cuts.c), key: file offset.  a: time of the cut, what is older must not
	 * come back; b: commits that there must have been before that is promised.  Those of cut
	 * bind, those of cutting did not when somebody last looked.
	 */
	struct ffs_runs cut, cutting;
	/* Given in exchange for blocks: the cache may still hold what was there before. */
	struct ffs_runs undefined;
	/*
	 * Blocks of a failed write.  Their buffers are mapped and no longer unwritten, the
	 * extent still is: no writeback will ever convert it, so data that is written there
	 * later is as lost, and no fsync says so (measured on 6.18.44): a rule of its own.
	 */
	struct ffs_runs io_lost;
	bool untold; /* a write failed, and no fsync has said so */
	bool fresh; /* has not been looked at since it changed */
	u64 write_size; /* i_disksize that a write_end has set, 0: another moved it later */
};

/* The promise of inode @ino; NULL: none.  *@at: its place in the order of numbers. */
struct ffs_promise *ffs_promise_find(const struct foliofs_fs *fs, u32 ino, u32 *at);
/* The same, an empty one if there was none, or one of another file with its number. */
struct ffs_promise *ffs_promise_get(struct foliofs_fs *fs, const struct ffs_inode *inode);
/* promise_changes.c: @op begins: what it may change is no longer promised. */
void ffs_promise_take_back(struct foliofs_fs *fs, const struct foliofs_op *op);
/* It failed, or has done @result bytes of what it was asked for: the rest is undefined. */
void ffs_promise_failed(struct foliofs_fs *fs, const struct foliofs_op *op,
			const struct ffs_inode *inode, s64 result);
/* Nobody can say what bytes [first, end) are: what changed them failed.  @inode may be NULL. */
void ffs_promise_undefined(struct foliofs_fs *fs, const struct ffs_inode *inode, u64 first, u64 end);
/* Recovery is over: what it has found is on disk, and nothing else was promised. */
void ffs_promise_recovered(struct foliofs_fs *fs);
/*
 * Bytes [first, end) are lost: the rule that says so, @rule or, where a write to the device had
 * failed, the one of that.  @p may be NULL.
 */
enum foliofs_rule ffs_lost_rule(const struct ffs_promise *p, u64 first, u64 end,
				enum foliofs_rule rule);

/* cuts.c: recovery is over: what lies behind the size of a file is not to come back. */
void ffs_cut_recovered(struct foliofs_fs *fs);
/* Bytes of @src are what run @cut of a promise must keep away. */
bool ffs_cut_off(const struct foliofs_fs *fs, const struct ffs_run *cut, u64 src);

#endif
