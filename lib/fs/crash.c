// SPDX-License-Identifier: MIT
/*
 * Power cuts: what each commit made durable is kept, and a crash makes a file
 * system of it: journal replay gives the last committed metadata, the orphan list
 * is processed, data is what had reached the device.
 *
 * SIMPLIFIED: without a journal the metadata of the last commit-like point (a sync
 * of the whole file system) is taken to be on disk.
 */
#include <stdio.h>
#include "fs.h"

static struct ffs_committed *committed_find(const struct foliofs_fs *fs, u32 ino)
{
	u32 i;

	for (i = 0; i < fs->nr_committed; i++)
		if (fs->committed[i].inode.ino == ino)
			return &fs->committed[i];
	return NULL;
}

static void drop_tree(struct foliofs_fs *fs, struct ffs_committed *c)
{
	ffs_blockmap_destroy(&fs->ops.sb.bm, &c->inode);
}

static void record_inode(struct foliofs_fs *fs, const struct ffs_inode *inode)
{
	struct ffs_committed *c = committed_find(fs, inode->ino);
	u64 generation = ffs_blockmap_generation(inode);
	struct ffs_inode copy = *inode;

	if (!c) {
		if (fs->nr_committed == fs->cap_committed) {
			fs->cap_committed = fs->cap_committed ? 2 * fs->cap_committed : 16;
			fs->committed = ffs_realloc(fs->committed,
						    fs->cap_committed * sizeof(*fs->committed));
		}
		c = &fs->committed[fs->nr_committed++];
		*c = (struct ffs_committed){ .generation = ~generation };
	}
	/* The tree is copied only where it changed. */
	if (c->generation != generation) {
		if (c->inode.tree || c->inode.ind)
			drop_tree(fs, c);
		c->inode.tree = NULL;
		c->inode.ind = NULL;
		ffs_blockmap_clone(&c->inode, inode);
		c->generation = generation;
	}
	copy.tree = c->inode.tree;
	copy.ind = c->inode.ind;
	copy.es = NULL;
	copy.pas = NULL;
	copy.mapping = NULL;
	copy.data_path = NULL;
	copy.vfs = NULL;
	copy.opens = copy.writers = copy.reserved = 0;
	/* What is on disk is the inode as it was last written to its buffer. */
	copy.i_size = copy.i_disksize = copy.raw_disksize;
	c->inode = copy;
	c->live = true;
}

static void record_name(void *priv, const char *path, uint32_t ino, uint32_t mode)
{
	struct foliofs_fs *fs = priv;

	(void)mode;
	if (fs->nr_names == fs->cap_names) {
		fs->cap_names = fs->cap_names ? 2 * fs->cap_names : 16;
		fs->names = ffs_realloc(fs->names, fs->cap_names * sizeof(*fs->names));
	}
	fs->names[fs->nr_names++] = (struct ffs_name){ strdup(path), ino };
}

static void forget_names(struct foliofs_fs *fs)
{
	u32 i;

	for (i = 0; i < fs->nr_names; i++)
		free(fs->names[i].path);
	fs->nr_names = 0;
}

void ffs_record_commit(struct foliofs_fs *fs)
{
	struct ffs_super *sb = &fs->ops.sb;
	u32 i;

	for (i = 0; i < fs->nr_committed; i++)
		fs->committed[i].live = false;
	for (i = 0; i < sb->cap_inodes; i++)
		if (sb->inodes[i])
			record_inode(fs, sb->inodes[i]);
	for (i = 0; i < fs->nr_committed;) {
		if (fs->committed[i].live) {
			i++;
			continue;
		}
		drop_tree(fs, &fs->committed[i]);
		fs->committed[i] = fs->committed[--fs->nr_committed];
	}
	forget_names(fs);
	foliofs_fs_for_each_name(fs, record_name, fs);
	fs->orphans = ffs_realloc(fs->orphans, sb->nr_orphans * sizeof(*fs->orphans));
	if (sb->nr_orphans)
		memcpy(fs->orphans, sb->orphans, sb->nr_orphans * sizeof(*fs->orphans));
	fs->nr_orphans = sb->nr_orphans;
}

void ffs_committed_free(struct foliofs_fs *fs)
{
	u32 i;

	for (i = 0; i < fs->nr_committed; i++)
		drop_tree(fs, &fs->committed[i]);
	free(fs->committed);
	forget_names(fs);
	free(fs->names);
	free(fs->orphans);
}

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
	if (!(inode->flags & FFS_INODE_INLINE_DATA)) {
		ffs_blockmap_destroy(&o->sb.bm, inode);
		ffs_blockmap_init(&o->sb.bm, inode);
		ffs_blockmap_replace(&o->sb.bm, inode, &c->inode);
		ffs_for_each_run(inode, mark_run, o->sb.alloc);
		ffs_for_each_tree_block(inode, mark_run, o->sb.alloc);
	}
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
	v->no_block = ffs_is_dir(inode) ? v->no_block : v->no_block;
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
	struct foliofs_options options = fs->options;
	struct foliofs_fs *to;
	char err[160];
	u32 i;
	int ret;

	if (!fs->options.crash_states)
		return -EINVAL;
	options.crash_states = false;
	options.rules = false;
	ret = foliofs_fs_new(&sb->env.kernel, &sb->env.geo, &options, &to, err, sizeof(err));
	if (ret)
		return ret;
	to->ops.sb.env.muted = true;
	ffs_runs_copy(&to->ops.sb.disk, &sb->disk);
	for (i = 0; i < fs->nr_committed; i++)
		restore_inode(to, &fs->committed[i]);
	for (i = 0; i < fs->nr_names; i++)
		restore_name(to, &fs->names[i]);
	process_orphans(to, fs->orphans, fs->nr_orphans);
	*after = to;
	return 0;
}
