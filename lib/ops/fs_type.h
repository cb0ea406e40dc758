/* SPDX-License-Identifier: MIT */
/*
 * A file system that is not ext4: it carries out operations by itself, with what
 * lib/ops has that knows no ext4: reads, faults, the flusher, and simple.c (names
 * that cost nothing, open files, operations made of others).
 */
#ifndef FFS_FS_TYPE_H
#define FFS_FS_TYPE_H

#include "ops.h"

/* A run of blocks of a file, as FIEMAP tells it. */
struct ffs_type_run {
	u64 lblk, len; /* blocks */
	u64 pblk; /* 0: delayed, or memory alone */
	bool unwritten, shared;
};

struct ffs_fs_type {
	bool in_memory; /* files have no place on a device */
	/* What simple.c does not do. */
	s64 (*run)(struct ffs_ops *o, const struct foliofs_op *op);

	/* A new inode with a number of its choice and one link. */
	struct ffs_inode *(*inode_new)(struct ffs_ops *o, u32 mode);
	/* Nobody names or uses it any more: its blocks and itself go. */
	void (*inactivate)(struct ffs_ops *o, struct ffs_inode *inode);
	/* Its metadata changed. */
	void (*changed)(struct ffs_inode *inode);
	void (*opened)(struct ffs_ops *o, struct ffs_inode *inode);
	/* Before an open file is closed. */
	void (*closing)(struct ffs_ops *o, struct ffs_file *f);
	/* Results as the system calls'. */
	ffs_read_fn read;
	ffs_write_fn write;
	int (*fallocate)(struct ffs_ops *o, struct ffs_file *f, u32 mode, u64 off, u64 len);
	int (*setsize)(struct ffs_super *sb, struct ffs_inode *inode, u64 size);

	/* The next run that ends behind block @lblk; false: none. */
	bool (*next_run)(const struct ffs_super *sb, const struct ffs_inode *inode, u64 lblk,
			 struct ffs_type_run *r);
	/* Free blocks, less what is promised. */
	u64 (*free_blocks)(const struct ffs_super *sb);
	/* Unmount and mount: 0, or -EBUSY. */
	int (*remount)(struct ffs_ops *o);
	/* NULL: power cuts are not modelled.  @to is fresh: make it what a power cut of @from leaves behind recovery. */
	void (*restore)(struct ffs_ops *to, const struct ffs_ops *from);
	/* Everything of its own goes: inodes, fs_private. */
	void (*destroy)(struct ffs_ops *o);
};

/* Set up o->sb (env, journal-less journal) as the type of the geometry: lib/xfs, lib/shmem, lib/ext2. */
void ffs_xfs_mount(struct ffs_ops *o);
void ffs_shmem_mount(struct ffs_ops *o);
void ffs_ext2_mount(struct ffs_ops *o);

/* --- simple.c --- */
s64 ffs_simple_run(struct ffs_ops *o, const struct foliofs_op *op);
/* The parts of an inode that every type needs, and their end; the rest is the type's. */
struct ffs_inode *ffs_simple_inode(struct ffs_ops *o, u32 ino, u32 mode);
void ffs_simple_inode_free(struct ffs_ops *o, struct ffs_inode *inode);
void ffs_simple_add_entry(struct ffs_inode *dir, const char *name, u32 ino);
bool ffs_simple_busy(const struct ffs_ops *o);

#endif
