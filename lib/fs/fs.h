/* SPDX-License-Identifier: MIT */
/* The file system object behind <foliofs/fs.h>, for lib/fs and lib/rules. */
#ifndef FFS_FS_H
#define FFS_FS_H

#include <foliofs/fs.h>
#include <foliofs/rules.h>
#include "ops/ops.h"

/* What the last commit made durable of one inode. */
struct ffs_committed {
	struct ffs_inode inode; /* its own copy of the tree; pointers of other layers are NULL */
	u64 generation; /* of the tree that was copied */
	bool live; /* seen by the commit that is being recorded */
};

struct ffs_name {
	char *path;
	u32 ino;
};

/* What the bytes of each file have to be: see lib/rules/truth.h. */
struct ffs_truths;

#define FFS_MAX_SINKS 8u
#define FFS_MAX_BROKEN 1000u

struct foliofs_fs {
	struct ffs_ops ops;
	struct foliofs_options options;
	const struct foliofs_sink *sinks[FFS_MAX_SINKS + 1];
	struct foliofs_sink rules_sink;

	/* crash.c */
	struct ffs_committed *committed;
	u32 nr_committed, cap_committed;
	struct ffs_name *names; /* the committed name space */
	u32 nr_names, cap_names;
	u32 *orphans;
	u32 nr_orphans;

	/* rules */
	struct ffs_truths *truths; /* NULL: nothing is known yet */
	u32 since_check; /* operations since the whole status tree was looked through */
	struct foliofs_broken *broken;
	size_t nr_broken, nr_kept;
};

/* A commit: the present metadata is durable from the end of it on. */
void ffs_record_commit(struct foliofs_fs *fs);
void ffs_committed_free(struct foliofs_fs *fs);

/*
 * query.c: what a read of bytes [first, end) finds; @cached false: what the device alone has.
 * No further than i_size.
 */
void ffs_content_walk(const struct foliofs_fs *fs, const struct ffs_inode *inode, u64 first, u64 end,
		      bool cached, foliofs_content_fn fn, void *priv);

/* rules.c */
void ffs_rules_event(void *priv, const struct foliofs_event *ev);
void ffs_rules_wanted(struct foliofs_sink *sink);
void ffs_rules_after_op(struct foliofs_fs *fs, const struct foliofs_op *op, s64 result);
__attribute__((format(printf, 4, 5))) void ffs_rule_broken(struct foliofs_fs *fs,
							   enum foliofs_rule rule, u32 ino,
							   const char *format, ...);

#endif
