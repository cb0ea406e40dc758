// SPDX-License-Identifier: MIT
/*
 * Power cuts: a file system is made of what the last commit left (committed.c):
 * journal replay gives that metadata, the orphan list is processed
 * (ext4_orphan_cleanup), data is what had reached the device.
 */
#include <stdio.h>
#include "bh/bh.h"
#include "fs.h"
#include "ops/fs_type.h"

/* Blocks of a restored file are in use in the new file system's bitmaps. */
static void mark_run(void *priv, const struct ffs_map_run *run)
{
	ffs_alloc_mark(priv, run->pblk, run->pblk + run->len, true);
}

static void restore_inode(struct foliofs_fs *to, const struct ffs_committed *c)
{
	struct ffs_ops *o = &to->ops;
	struct ffs_inode *inode;

	if (c->inode.ino == FFS_ROOT_INO)
		return;
	inode = ffs_inode_new(o, c->inode.ino, c->inode.mode, c->inode.flags);
	inode->nlink = c->inode.nlink;
	inode->i_blocks = c->inode.i_blocks;
	inode->i_size = inode->i_disksize = inode->raw_disksize = c->inode.i_disksize;
	if (inode->flags & FFS_INODE_INLINE_DATA) {
		ffs_runs_copy(&ffs_bh_inode(inode)->inline_data, &c->tree->inline_data);
		return;
	}
	ffs_blockmap_destroy(&o->sb.bm, inode);
	ffs_blockmap_init(&o->sb.bm, inode);
	ffs_blockmap_replace(&o->sb.bm, inode, &c->inode);
	ffs_for_each_run(inode, mark_run, o->sb.alloc);
	ffs_for_each_tree_block(inode, mark_run, o->sb.alloc);
}

static void restore_name(struct foliofs_fs *to, const struct ffs_name *n)
{
	const char *name;
	struct ffs_inode *dir = ffs_lookup_parent(&to->ops, n->path, &name);
	struct ffs_inode *inode = ffs_inode_find(&to->ops.sb, n->ino);
	struct ffs_vfs_inode *v;

	if (!dir || !inode)
		return;
	v = ffs_vfs(dir);
	if (v->nr_entries == v->cap_entries) {
		v->cap_entries = v->cap_entries ? 2 * v->cap_entries : 8;
		v->entry = ffs_realloc(v->entry, v->cap_entries * sizeof(*v->entry));
	}
	v->entry[v->nr_entries++] = (struct ffs_dirent){ .name = strdup(name), .ino = n->ino };
	ffs_vfs(inode)->parent = dir->ino;
}

/* ext4_orphan_cleanup: linked inodes are truncated to their size, others deleted. */
static void process_orphans(struct foliofs_fs *to, const u32 *orphans, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		struct ffs_inode *inode = ffs_inode_find(&to->ops.sb, orphans[i]);

		if (!inode)
			continue;
		if (!inode->nlink)
			ffs_evict(&to->ops, inode);
		else
			ffs_truncate(&to->ops.sb, inode);
	}
	ffs_journal_force_commit(to->ops.sb.journal);
}

int foliofs_fs_crash(const struct foliofs_fs *fs, struct foliofs_fs **after)
{
	const struct ffs_super *sb = &fs->ops.sb;
	const struct ffs_snapshot *s = fs->durable;
	struct foliofs_options options = fs->options;
	struct foliofs_fs *to;
	char err[160];
	u32 i;
	int ret;

	if (!fs->options.crash_states)
		return -EINVAL;
	if (sb->type && !sb->type->restore)
		return -EOPNOTSUPP;
	options.crash_states = false;
	options.rules = false;
	options.old_blocks = false;
	ret = foliofs_fs_new(&sb->env.kernel, &sb->env.geo, &options, &to, err, sizeof(err));
	if (ret)
		return ret;
	to->ops.sb.env.muted = true;
	to->ops.sb.env.op = sb->env.op;
	ffs_runs_copy(&to->ops.sb.disk, &sb->disk);
	if (sb->type) {
		sb->type->restore(&to->ops, &fs->ops);
		if (fs->options.rules)
			ffs_type_crash_rules(fs, to);
		*after = to;
		return 0;
	}
	for (i = 0; i < s->nr; i++)
		restore_inode(to, &s->inode[i]);
	for (i = 0; s->names && i < s->names->nr; i++)
		restore_name(to, &s->names->name[i]);
	process_orphans(to, s->orphans, s->nr_orphans);
	if (fs->options.rules)
		ffs_crash_rules(fs, ffs_keep_broken, to);
	*after = to;
	return 0;
}

uint64_t foliofs_fs_crash_state(const struct foliofs_fs *fs)
{
	/* Each of them only grows. */
	return fs->commits + fs->ops.sb.disk.changes + fs->promises;
}
