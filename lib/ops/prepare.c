// SPDX-License-Identifier: MIT
/*
 * Operations that prepare a file system for a capture: filling it, many holes or
 * writes at once, remounting, tunables, flags set offline.
 */
#include <stdio.h>
#include "ops.h"

/* fallocate pieces of @unit bytes, halved each time there is no space, down to a block. */
s64 ffs_fill(struct ffs_ops *o, struct ffs_file *f, u64 unit)
{
	u64 block = ffs_block_size(&o->sb.env), at = f->inode->i_size;

	if (!unit)
		unit = 64ull << 20;
	while (unit >= block) {
		int err = ffs_fallocate(o, f, 0, at, unit);

		if (!err) {
			at += unit;
			continue;
		}
		if (err != -ENOSPC)
			return err;
		at = round_up_pow2(f->inode->i_size, block);
		unit /= 2;
	}
	return (s64)at;
}

/* punchevery, writeevery: the same call at off, off + stride, ... */
s64 ffs_every(struct ffs_ops *o, struct ffs_file *f, const struct foliofs_op *op)
{
	u64 pos, done = 0;

	if (!op->stride)
		return -EINVAL;
	for (pos = op->off; pos < op->off + op->len; pos += op->stride, done++) {
		s64 ret;

		if (op->kind == FOLIOFS_OP_PUNCH_EVERY)
			ret = ffs_fallocate(o, f,
					    FOLIOFS_FALLOC_PUNCH_HOLE | FOLIOFS_FALLOC_KEEP_SIZE, pos,
					    op->chunk);
		else
			ret = ffs_write(o, f, pos, op->chunk, op->chunk);
		if (ret < 0)
			return ret;
	}
	return (s64)done;
}

/* Everything that only lives in memory is gone; open files would keep the mount busy. */
static int unmount(struct ffs_ops *o)
{
	struct ffs_super *sb = &o->sb;
	u32 i;

	for (i = 0; i < o->nr_files; i++)
		if (o->file[i]->inode)
			return -EBUSY;
	ffs_syncfs(o);
	ffs_journal_force_commit(sb->journal);
	ffs_drop_caches(o, 3);
	for (i = 0; i < sb->cap_inodes; i++)
		if (sb->inodes[i])
			ffs_reread_inode(o, sb->inodes[i]);
	ffs_alloc_remount(sb->alloc);
	sb->first_open_done = false;
	return 0;
}

int ffs_remount(struct ffs_ops *o)
{
	return unmount(o);
}

int ffs_sysfs(struct ffs_ops *o, const char *name, u64 value)
{
	if (!strcmp(name, "reserved_clusters")) {
		ffs_alloc_set_reserved_clusters(o->sb.alloc, value);
		return 0;
	}
	if (ffs_alloc_tune(o->sb.alloc, name, value)) {
		ffs_error(&o->sb.env, "unknown attribute %s", name);
		return -ENOENT;
	}
	return 0;
}

/* debugfs commands that change a flag of an inode: set_inode_field FILE flags NUMBER. */
int ffs_debugfs(struct ffs_ops *o, const char *command)
{
	const u32 journal_data = 0x4000;
	char name[256], field[32], value[32];
	struct ffs_inode *inode;
	int err;

	if ((sscanf(command, "set_inode_field %255s %31s %31s", name, field, value) != 3 &&
	     sscanf(command, "sif %255s %31s %31s", name, field, value) != 3) ||
	    strcmp(field, "flags")) {
		ffs_error(&o->sb.env, "debugfs command not modelled: %.150s", command);
		return -EOPNOTSUPP;
	}
	err = unmount(o);
	if (err)
		return err;
	inode = ffs_lookup(o, name);
	if (!inode)
		return -ENOENT;
	if (strtoul(value, NULL, 0) & journal_data)
		inode->flags |= FFS_INODE_JOURNAL_DATA;
	else
		inode->flags &= ~FFS_INODE_JOURNAL_DATA;
	ffs_reread_inode(o, inode);
	return 0;
}
