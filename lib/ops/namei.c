// SPDX-License-Identifier: MIT
/*
 * Names: ext4_create, ext4_mkdir, ext4_unlink, ext4_rmdir, ext4_link, ext4_symlink,
 * ext4_rename, ext4_tmpfile (v6.18).  The order of the marks in each handle is that
 * of inodes.md section 1.
 */
#include "ops.h"

static int start_dir(struct ffs_ops *o, struct ffs_inode *inode, enum foliofs_credit_op op,
		     const char *caller, struct ffs_handle **h)
{
	int err = inode ? ffs_start(&o->sb, inode, op, 0, caller, h) :
			  ffs_start_sb(&o->sb, op, caller, h);

	if (!err && (o->sb.env.geo.mount.dirsync || o->sb.env.geo.mount.sync))
		(*h)->sync = true;
	return err;
}

/* __ext4_new_inode: number, bitmaps, in-core inode; the handle stays open. */
static int new_inode(struct ffs_ops *o, struct ffs_inode *dir, const char *name, u32 mode,
		     enum foliofs_credit_op op, struct ffs_handle **h, struct ffs_inode **out)
{
	struct ffs_super *sb = &o->sb;
	u32 ino, flags = 0, kind = mode & FFS_S_IFMT;
	struct ffs_inode *inode;
	int err;

	err = start_dir(o, NULL, op, "__ext4_new_inode", h);
	if (err)
		return err;
	err = ffs_new_inode_number(sb->alloc, *h, dir, mode, name, &ino);
	if (err) {
		ffs_handle_stop(*h);
		return err;
	}
	if (ffs_feature(&sb->env, FOLIOFS_FEATURE_INLINE_DATA) &&
	    (kind == FFS_S_IFREG || kind == FFS_S_IFDIR))
		flags |= kind == FFS_S_IFDIR ? FFS_INODE_INLINE_DATA : FFS_INODE_HAS_INLINE_SPACE;
	if (ffs_feature(&sb->env, FOLIOFS_FEATURE_EXTENTS))
		flags |= FFS_INODE_EXTENTS;
	inode = ffs_inode_new(o, ino, mode, flags);
	ffs_set_times(o, inode);
	ffs_vfs(inode)->atime = ffs_vfs(inode)->mtime;
	ffs_vfs(inode)->parent = dir->ino;
	inode->nlink = 1;
	if (flags & FFS_INODE_EXTENTS)
		ffs_mark_inode_dirty(sb, *h, inode, "__ext4_new_inode");
	err = ffs_mark_inode_dirty(sb, *h, inode, "__ext4_new_inode");
	/* fdatasync too has to make a new inode durable (__ext4_new_inode sets i_datasync_tid). */
	ffs_update_fsync_tid(*h, inode, true);
	*out = inode;
	return err;
}

s64 ffs_create(struct ffs_ops *o, struct ffs_inode *dir, const char *name, u32 mode,
	       struct ffs_inode **out)
{
	struct ffs_handle *h;
	int err;

	if (strlen(name) > 255)
		return -ENAMETOOLONG;
	err = new_inode(o, dir, name, mode, FOLIOFS_CREDIT_CREATE, &h, out);
	if (err)
		return err;
	err = ffs_dir_add(o, h, dir, name, (*out)->ino);
	if (!err)
		err = ffs_mark_inode_dirty(&o->sb, h, *out, "ext4_add_nondir");
	ffs_handle_stop(h);
	return err;
}

int ffs_tmpfile(struct ffs_ops *o, struct ffs_inode *dir, u32 mode, struct ffs_inode **out)
{
	struct ffs_handle *h;
	int err;

	err = new_inode(o, dir, "", FFS_S_IFREG | (mode & 07777), FOLIOFS_CREDIT_TMPFILE, &h, out);
	if (err)
		return err;
	(*out)->nlink = 0;
	err = ffs_orphan_add(&o->sb, h, *out);
	ffs_dirty_inode(&o->sb, *out);
	ffs_dirty_inode(&o->sb, *out);
	ffs_handle_stop(h);
	return err;
}

/* First block of a new directory (ext4_init_new_dir). */
static int first_dir_block(struct ffs_ops *o, struct ffs_handle *h, struct ffs_inode *inode)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_map map = { .lblk = 0, .len = 1 };
	int ret;

	if (inode->flags & FFS_INODE_INLINE_DATA) {
		ffs_vfs(inode)->no_block = true;
		return 0;
	}
	ret = ffs_map_blocks(&sb->bm, h, inode, &map, FFS_GET_CREATE);
	if (ret < 0)
		return ret;
	ffs_set_isize(sb, inode, ffs_block_size(&sb->env));
	ffs_set_disksize(sb, inode, ffs_block_size(&sb->env));
	ffs_mark_inode_dirty(sb, h, inode, "ext4_append");
	ffs_dir_init(o, inode, map.pblk, 0);
	return ffs_journal_dirty(h, map.pblk);
}

int ffs_mkdir(struct ffs_ops *o, const char *path, u32 mode)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_inode *dir, *inode;
	struct ffs_handle *h;
	const char *name;
	int err;

	if (ffs_lookup(o, path))
		return -EEXIST;
	dir = ffs_lookup_parent(o, path, &name);
	if (!dir)
		return -ENOENT;
	err = new_inode(o, dir, name, FFS_S_IFDIR | (mode & 07777), FOLIOFS_CREDIT_CREATE, &h, &inode);
	if (err)
		return err;
	inode->nlink = 2;
	err = first_dir_block(o, h, inode);
	ffs_mark_inode_dirty(sb, h, inode, "ext4_mkdir");
	if (!err)
		err = ffs_dir_add(o, h, dir, name, inode->ino);
	dir->nlink++;
	ffs_mark_inode_dirty(sb, h, dir, "ext4_mkdir");
	ffs_handle_stop(h);
	return err;
}

/* A name is gone: the inode goes with the last one, unless somebody has it open. */
static int drop_link(struct ffs_ops *o, struct ffs_inode *inode)
{
	return inode->nlink || inode->opens ? 0 : ffs_evict(o, inode);
}

int ffs_unlink(struct ffs_ops *o, const char *path)
{
	struct ffs_super *sb = &o->sb;
	const char *name;
	struct ffs_inode *dir = ffs_lookup_parent(o, path, &name), *inode;
	struct ffs_dirent *d = dir ? ffs_dir_find(dir, name) : NULL;
	struct ffs_handle *h;
	int err;

	if (!d)
		return -ENOENT;
	inode = ffs_inode_find(sb, d->ino);
	if (ffs_is_dir(inode))
		return -EISDIR;
	err = start_dir(o, dir, FOLIOFS_CREDIT_UNLINK, "__ext4_unlink", &h);
	if (err)
		return err;
	err = ffs_dir_remove(o, h, dir, d);
	ffs_set_times(o, dir);
	ffs_mark_inode_dirty(sb, h, dir, "__ext4_unlink");
	inode->nlink--;
	if (!inode->nlink)
		ffs_orphan_add(sb, h, inode);
	ffs_vfs(inode)->ctime = ffs_vfs(dir)->ctime;
	ffs_mark_inode_dirty(sb, h, inode, "__ext4_unlink");
	ffs_handle_stop(h);
	return err ? err : drop_link(o, inode);
}

int ffs_rmdir(struct ffs_ops *o, const char *path)
{
	struct ffs_super *sb = &o->sb;
	const char *name;
	struct ffs_inode *dir = ffs_lookup_parent(o, path, &name), *inode;
	struct ffs_dirent *d = dir ? ffs_dir_find(dir, name) : NULL;
	struct ffs_handle *h;
	int err;

	if (!d)
		return -ENOENT;
	inode = ffs_inode_find(sb, d->ino);
	if (!ffs_is_dir(inode))
		return -ENOTDIR;
	if (ffs_vfs(inode)->nr_entries)
		return -ENOTEMPTY;
	err = start_dir(o, dir, FOLIOFS_CREDIT_UNLINK, "ext4_rmdir", &h);
	if (err)
		return err;
	err = ffs_dir_remove(o, h, dir, d);
	inode->nlink = 0;
	ffs_set_isize(sb, inode, 0);
	ffs_orphan_add(sb, h, inode);
	ffs_mark_inode_dirty(sb, h, inode, "ext4_rmdir");
	dir->nlink--;
	ffs_set_times(o, dir);
	ffs_mark_inode_dirty(sb, h, dir, "ext4_rmdir");
	ffs_handle_stop(h);
	return err ? err : drop_link(o, inode);
}

int ffs_link(struct ffs_ops *o, const char *from, const char *to)
{
	struct ffs_inode *inode = ffs_lookup(o, from), *dir;
	struct ffs_handle *h;
	const char *name;
	int err;

	if (!inode)
		return -ENOENT;
	if (ffs_is_dir(inode))
		return -EPERM;
	if (ffs_lookup(o, to))
		return -EEXIST;
	dir = ffs_lookup_parent(o, to, &name);
	if (!dir)
		return -ENOENT;
	err = start_dir(o, dir, FOLIOFS_CREDIT_LINK, "ext4_link", &h);
	if (err)
		return err;
	inode->nlink++;
	err = ffs_dir_add(o, h, dir, name, inode->ino);
	if (!err)
		err = ffs_mark_inode_dirty(&o->sb, h, inode, "ext4_link");
	ffs_handle_stop(h);
	return err;
}

#define FAST_SYMLINK 60u /* shorter ones lie in the inode */

int ffs_symlink(struct ffs_ops *o, const char *path, const char *target)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_inode *dir, *inode;
	struct ffs_handle *h;
	const char *name;
	int err;

	if (ffs_lookup(o, path))
		return -EEXIST;
	dir = ffs_lookup_parent(o, path, &name);
	if (!dir)
		return -ENOENT;
	err = new_inode(o, dir, name, FFS_S_IFLNK | 0777, FOLIOFS_CREDIT_CREATE, &h, &inode);
	if (err)
		return err;
	if (strlen(target) >= FAST_SYMLINK) {
		struct ffs_map map = { .lblk = 0, .len = 1 };

		err = ffs_map_blocks(&sb->bm, h, inode, &map, FFS_GET_CREATE);
		if (err > 0)
			err = ffs_journal_dirty(h, map.pblk);
	}
	ffs_set_isize(sb, inode, strlen(target));
	ffs_set_disksize(sb, inode, strlen(target));
	if (!err)
		err = ffs_dir_add(o, h, dir, name, inode->ino);
	ffs_mark_inode_dirty(sb, h, inode, "ext4_add_nondir");
	ffs_handle_stop(h);
	return err;
}

/* Is @dir below @inode (or the same)? */
static bool below(struct ffs_ops *o, const struct ffs_inode *dir, u32 ino)
{
	while (dir && dir->ino != ino && dir != o->root)
		dir = ffs_inode_find(&o->sb, ffs_vfs(dir)->parent);
	return dir && dir->ino == ino;
}

static int rename_check(struct ffs_ops *o, struct ffs_inode *inode, struct ffs_inode *ndir,
			struct ffs_inode *target)
{
	if (target && ffs_is_dir(inode) && !ffs_is_dir(target))
		return -ENOTDIR;
	if (target && !ffs_is_dir(inode) && ffs_is_dir(target))
		return -EISDIR;
	if (target && ffs_is_dir(target) && ffs_vfs(target)->nr_entries)
		return -ENOTEMPTY;
	if (ffs_is_dir(inode) && below(o, ndir, inode->ino))
		return -EINVAL;
	return 0;
}

int ffs_rename(struct ffs_ops *o, const char *from, const char *to)
{
	struct ffs_super *sb = &o->sb;
	const char *oname, *nname;
	struct ffs_inode *odir = ffs_lookup_parent(o, from, &oname), *inode, *target;
	struct ffs_inode *ndir = ffs_lookup_parent(o, to, &nname);
	struct ffs_dirent *d = odir ? ffs_dir_find(odir, oname) : NULL;
	struct ffs_handle *h;
	int err;

	if (!d || !ndir)
		return -ENOENT;
	inode = ffs_inode_find(sb, d->ino);
	target = ffs_lookup(o, to);
	if (target == inode)
		return 0;
	err = rename_check(o, inode, ndir, target);
	if (err)
		return err;
	/* Replacing a file: its successor's data goes out first. */
	if (target && !sb->env.geo.mount.noauto_da_alloc)
		ffs_alloc_da_blocks(o, inode);
	err = start_dir(o, odir, FOLIOFS_CREDIT_RENAME, "ext4_rename", &h);
	if (err)
		return err;
	if (target) {
		struct ffs_dirent *t = ffs_dir_find(ndir, nname);

		t->ino = inode->ino;
		o->names_changed++;
		ffs_dir_dirty(o, h, ndir, t);
		ffs_set_times(o, ndir);
		ffs_mark_inode_dirty(sb, h, ndir, "ext4_setent");
	} else {
		err = ffs_dir_add(o, h, ndir, nname, inode->ino);
		if (err) {
			ffs_handle_stop(h);
			return err;
		}
	}
	ffs_mark_inode_dirty(sb, h, inode, "ext4_rename");
	ffs_dir_remove(o, h, odir, ffs_dir_find(odir, oname));
	if (ffs_is_dir(inode) && ndir != odir) {
		if (ffs_vfs(inode)->nr_blocks)
			ffs_journal_dirty(h, ffs_vfs(inode)->block[0]);
		odir->nlink--;
		ndir->nlink++;
		ffs_mark_inode_dirty(sb, h, ndir, "ext4_rename");
	}
	ffs_vfs(inode)->parent = ndir->ino;
	ffs_set_times(o, odir);
	ffs_mark_inode_dirty(sb, h, odir, "ext4_rename");
	if (target) {
		target->nlink -= ffs_is_dir(target) ? 2 : 1;
		ffs_mark_inode_dirty(sb, h, target, "ext4_rename");
		if (!target->nlink)
			ffs_orphan_add(sb, h, target);
	}
	ffs_handle_stop(h);
	return target ? drop_link(o, target) : 0;
}
