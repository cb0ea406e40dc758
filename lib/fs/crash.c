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

static void add_owned(void *priv, const struct ffs_map_run *run)
{
	ffs_runs_set(priv, run->pblk, run->pblk + run->len, 0, 0);
}

static void restore_inode(struct foliofs_fs *to, const struct ffs_committed *c)
{
	struct ffs_ops *o = &to->ops;
	struct ffs_inode *inode;

	inode = c->inode.ino == FFS_ROOT_INO ? o->root :
		ffs_inode_new(o, c->inode.ino, c->inode.mode,
			      c->inode.flags & ~FFS_INODE_DA_ALLOC_CLOSE);
	if (inode != o->root)
		ffs_alloc_mark_inode(o->sb.alloc, inode->ino, ffs_is_dir(inode));
	inode->nlink = c->inode.nlink;
	inode->i_blocks = c->inode.i_blocks;
	inode->i_size = inode->i_disksize = inode->raw_disksize = c->inode.i_disksize;
	if (inode->flags & FFS_INODE_INLINE_DATA) {
		ffs_runs_copy(&ffs_bh_inode(inode)->inline_data, &c->tree->inline_data);
		ffs_vfs(inode)->no_block = ffs_is_dir(inode);
		return;
	}
	ffs_blockmap_destroy(&o->sb.bm, inode);
	ffs_blockmap_init(&o->sb.bm, inode);
	ffs_blockmap_replace(&o->sb.bm, inode, &c->inode);
	ffs_for_each_run(inode, mark_run, o->sb.alloc);
	ffs_for_each_tree_block(inode, mark_run, o->sb.alloc);
	if (ffs_is_dir(inode))
		ffs_dir_restore(o, inode);
}

static void restore_name(struct foliofs_fs *to, const struct ffs_name *n)
{
	const char *name;
	struct ffs_inode *dir = ffs_lookup_parent(&to->ops, n->path, &name);
	struct ffs_inode *inode = ffs_inode_find(&to->ops.sb, n->ino);

	if (!dir || !inode)
		return;
	ffs_dir_put(dir, name, n->ino);
	ffs_vfs(inode)->parent = dir->ino;
}

/* What the blocks of no file hold is stale. */
static void mark_stale(struct foliofs_fs *to)
{
	struct ffs_super *sb = &to->ops.sb;
	struct ffs_runs owned = { 0 };
	struct ffs_runs_pos at;
	const struct ffs_run *r;
	u64 from = 0;
	u32 i;

	for (i = 0; i < sb->cap_inodes; i++)
		if (sb->inodes[i] && !(sb->inodes[i]->flags & FFS_INODE_INLINE_DATA))
			ffs_for_each_run(sb->inodes[i], add_owned, &owned);
	for (r = ffs_runs_at(&owned, 0, &at); r; r = ffs_runs_next(&owned, &at)) {
		ffs_content_stale(&sb->disk, from, r->first << sb->env.block_bits);
		from = r->end << sb->env.block_bits;
	}
	ffs_content_stale(&sb->disk, from, ~0ull);
	ffs_runs_free(&owned);
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

/* Free-space patterns: they are in the bitmaps, and in no file. */
static void restore_marks(struct foliofs_fs *to)
{
	struct ffs_runs_pos at;
	const struct ffs_run *r;

	for (r = ffs_runs_at(&to->marked, 0, &at); r; r = ffs_runs_next(&to->marked, &at))
		ffs_alloc_mark(to->ops.sb.alloc, r->first, r->end, r->a);
}

void ffs_restore(struct foliofs_fs *to, const struct ffs_snapshot *s)
{
	u32 i;

	restore_marks(to);
	for (i = 0; i < s->nr; i++)
		restore_inode(to, &s->inode[i]);
	for (i = 0; s->names && i < s->names->nr; i++)
		restore_name(to, &s->names->name[i]);
	mark_stale(to);
	process_orphans(to, s->orphans, s->nr_orphans);
}

int foliofs_fs_crash(const struct foliofs_fs *fs, struct foliofs_fs **after)
{
	const struct ffs_super *sb = &fs->ops.sb;
	struct foliofs_options options = fs->options;
	struct foliofs_fs *to;
	char err[160];
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
	ffs_runs_copy(&to->marked, &fs->marked);
	ffs_restore(to, fs->durable);
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
