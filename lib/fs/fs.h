/* SPDX-License-Identifier: MIT */
/* The file system object behind <foliofs/fs.h>, for lib/fs and lib/rules. */
#ifndef FFS_FS_H
#define FFS_FS_H

#include <foliofs/fs.h>
#include <foliofs/rules.h>
#include "ops/ops.h"

/* The block map of an inode as a commit found it; snapshots share it. */
struct ffs_tree_copy {
	u32 refs;
	u64 seq, generation; /* of the inode and of its tree when it was copied */
	bool is_inline;
	struct ffs_inode inode; /* only the tree, or the indirect map */
	struct ffs_map_run *run; /* what it maps, ascending: quicker to look at than the tree */
	u32 nr_runs, cap_runs;
	u64 first, end; /* blocks of the device that it maps lie in here */
	struct ffs_runs inline_data; /* bytes that lie in the inode */
};

/* What a commit makes durable of one inode. */
struct ffs_committed {
	struct ffs_inode inode; /* pointers of other layers are NULL */
	struct ffs_tree_copy *tree;
	bool changed; /* is not as in the snapshot before */
};

struct ffs_name {
	char *path;
	u32 ino;
};

/* The name space as a commit found it; snapshots share it. */
struct ffs_names {
	u32 refs, nr, cap;
	u64 changed; /* ffs_ops.names_changed of that time */
	struct ffs_name *name;
};

struct ffs_snapshot {
	struct ffs_committed *inode; /* ascending by number */
	u32 nr, cap;
	struct ffs_names *names; /* NULL: none */
	u32 *orphans; /* newest first */
	u32 nr_orphans;
};

/* What the bytes of each file have to be: see lib/rules/truth.h. */
struct ffs_truths;

/* What a power cut must leave of one inode: see lib/rules/promise.h. */
struct ffs_promise;

#define FFS_MAX_SINKS 8u
#define FFS_MAX_BROKEN 1000u

struct foliofs_fs {
	struct ffs_ops ops;
	struct foliofs_options options;
	const struct foliofs_sink *sinks[FFS_MAX_SINKS + 1];
	struct foliofs_sink rules_sink;

	struct ffs_runs marked; /* blocks taken or free outside of files; key: block, a: taken */

	/* committed.c: what the last commit made durable, what the present one will */
	struct ffs_snapshot snapshot[2], *durable, *pending;
	bool commit_pending;
	u64 commits;
	struct ffs_power_off *power_off; /* recover.c: at a stop the power was cut; NULL: it is on */
	bool recovered; /* it has gone on behind a power cut */

	/* promises.c, crash_rules.c */
	struct foliofs_sink crash_sink;
	struct ffs_promise *promise; /* ascending by inode */
	u32 nr_promises, cap_promises;
	u64 promises; /* grows with every change of them */
	u64 append_pos; /* where the append that runs began */
	u32 in_write_end; /* inode whose write_end runs, 0: none */
	u64 commits_seen; /* by ffs_crash_news() */
	u64 op_clock; /* operations begun, or gone on with behind a stop */
	struct ffs_runs op_time; /* key: number of an operation, a: op_clock of its last turn - key */

	/* stop.c */
	foliofs_stop_fn stop_fn;
	void *stop_priv;
	const struct ffs_stopped *stopped; /* innermost task that has come to a stop */

	/* rules */
	struct ffs_truths *truths; /* NULL: nothing is known yet */
	/* [held * FFS_LOCK_NR + taken]: the operation that took one with the other first; 0: none */
	u32 lock_op[FFS_LOCK_NR * FFS_LOCK_NR];
	u32 since_check; /* operations since the whole status tree was looked through */
	struct foliofs_broken *broken;
	size_t nr_broken, nr_kept;
};

/* fs.c: the layers put together on what mke2fs leaves, -EINVAL: no room for its tables; and gone. */
int ffs_fs_mount(struct foliofs_fs *fs);
void ffs_fs_drop(struct foliofs_fs *fs);

/* crash.c: the files of @s into @to, which is as mke2fs leaves it; orphans are processed. */
void ffs_restore(struct foliofs_fs *to, const struct ffs_snapshot *s);

/* recover.c: the operation recover. */
s64 ffs_recover(struct foliofs_fs *fs, const struct foliofs_op *op);
/* The operation that had stopped when the power was cut is over: what was durable then goes on. */
void ffs_power_on(struct foliofs_fs *fs);

/* committed.c: a commit has been locked, its commit block is on disk. */
void ffs_committed_init(struct foliofs_fs *fs);
void ffs_commit_locked(struct foliofs_fs *fs);
void ffs_commit_done(struct foliofs_fs *fs);
void ffs_committed_free(struct foliofs_fs *fs);
/* @to: the same, sharing trees and names; and it becomes the durable one, which is forgotten. */
void ffs_snapshot_copy(struct ffs_snapshot *to, const struct ffs_snapshot *from);
void ffs_snapshot_replace(struct foliofs_fs *fs, const struct ffs_snapshot *s);
const struct ffs_committed *ffs_committed_find(const struct ffs_snapshot *s, u32 ino);
/* The run that holds @lblk, or the next one; NULL: none. */
const struct ffs_map_run *ffs_committed_run(const struct ffs_committed *c, u64 lblk);
bool ffs_committed_orphan(const struct ffs_snapshot *s, u32 ino);

/*
 * query.c: what a read of bytes [first, end) finds; @cached false: what the device alone has.
 * No further than i_size.
 */
void ffs_content_walk(const struct foliofs_fs *fs, const struct ffs_inode *inode, u64 first, u64 end,
		      bool cached, foliofs_content_fn fn, void *priv);
/*
 * End of the bytes from @pos on that are cached and uptodate, at most @stop; @pos: there are
 * none, and some may begin at *next.
 */
u64 ffs_cached_end(const struct ffs_inode *inode, u64 pos, u64 stop, u64 *next);
/* What @len bytes at @pos with this source are to those who ask; zeros in a hole: @mapped false. */
void ffs_content_describe(struct foliofs_content *c, u64 pos, u64 len, u64 src, u64 src_off,
			  bool mapped);

/* stop.c: @op would have to wait for a stopped task; why is in the message. */
bool ffs_would_wait(struct foliofs_fs *fs, const struct foliofs_op *op);

/* rules.c */
void ffs_rules_event(void *priv, const struct foliofs_event *ev);
void ffs_rules_wanted(struct foliofs_sink *sink);
void ffs_rules_after_op(struct foliofs_fs *fs, const struct foliofs_op *op, s64 result);
/* fsync has succeeded: what must hold. */
void ffs_rule_synced(struct foliofs_fs *fs, const struct ffs_inode *inode);
/* type_rules.c: file systems that are not ext4 */
void ffs_type_rules_after_op(struct foliofs_fs *fs, const struct foliofs_op *op, s64 result);
void ffs_type_crash_rules(const struct foliofs_fs *fs, struct foliofs_fs *after);
void ffs_rule_zero_size(struct foliofs_fs *fs, u32 ino, bool in_core, u64 old, u64 size);
__attribute__((format(printf, 4, 5))) void ffs_rule_broken(struct foliofs_fs *fs,
							   enum foliofs_rule rule, u32 ino,
							   const char *format, ...);

/* iomap_rules.c: dirty blocks of @f have somewhere to go. */
void ffs_iomap_folio_rules(struct foliofs_fs *fs, const struct ffs_inode *inode,
			   const struct ffs_folio *f);
/* lock_rules.c: @taken was taken, or waited for, with @held held. */
void ffs_lock_taken(struct foliofs_fs *fs, u32 ino, u32 held, u32 taken);

/* Keeps @b in the record of the file system @priv. */
void ffs_keep_broken(void *priv, const struct foliofs_broken *b);

/*
 * promises.c, crash_rules.c: what power cuts must not break.  Before an operation: what it may
 * change is no longer promised; behind it: what it has synced is.
 */
void ffs_promise_before(struct foliofs_fs *fs, const struct foliofs_op *op);
void ffs_promise_after(struct foliofs_fs *fs, const struct foliofs_op *op, s64 result);
void ffs_promise_init(struct foliofs_fs *fs);
/*
 * cuts.c: what power cuts must not bring back.  Before an operation: it may bring older bytes
 * elsewhere; behind a stop in it: what it stores from now on is newer than what ran there;
 * behind it: what it has cut off.
 */
void ffs_cut_before(struct foliofs_fs *fs, const struct foliofs_op *op);
void ffs_cut_resumed(struct foliofs_fs *fs);
void ffs_cut_after(struct foliofs_fs *fs, const struct foliofs_op *op, s64 result);
void ffs_promise_free(struct foliofs_fs *fs);
/* Rules that a power cut now would break, to @fn; how many. */
size_t ffs_crash_rules(const struct foliofs_fs *fs, foliofs_broken_fn fn, void *priv);

#endif
