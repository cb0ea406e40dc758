// SPDX-License-Identifier: MIT
/*
 * Operations of file systems that are not ext4, as far as they are all alike: names
 * (directories cost nothing here; they say which inode a name means), open files,
 * and operations made of others.
 */
#include "fs_type.h"

struct ffs_inode *ffs_simple_inode(struct ffs_ops *o, u32 ino, u32 mode)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_inode *inode = ffs_zalloc(sizeof(*inode));

	inode->ino = ino;
	inode->mode = mode;
	inode->nlink = 1;
	inode->vfs = ffs_zalloc(sizeof(struct ffs_vfs_inode));
	ffs_vfs(inode)->no_block = true;
	inode->mapping = ffs_zalloc(sizeof(*inode->mapping));
	ffs_mapping_init(inode->mapping, &sb->env, inode);
	ffs_inode_add(sb, inode);
	return inode;
}

void ffs_simple_inode_free(struct ffs_ops *o, struct ffs_inode *inode)
{
	ffs_inode_remove(&o->sb, inode);
	ffs_mapping_destroy(inode->mapping);
	ffs_dir_free(inode);
	free(inode->mapping);
	free(inode->vfs);
	free(inode);
}

bool ffs_simple_busy(const struct ffs_ops *o)
{
	u32 i;

	for (i = 0; i < o->nr_files; i++)
		if (o->file[i]->inode)
			return true;
	return false;
}

void ffs_simple_add_entry(struct ffs_inode *dir, const char *name, u32 ino)
{
	struct ffs_vfs_inode *v = ffs_vfs(dir);

	if (v->nr_entries == v->cap_entries) {
		v->cap_entries = v->cap_entries ? 2 * v->cap_entries : 8;
		v->entry = ffs_realloc(v->entry, v->cap_entries * sizeof(*v->entry));
	}
	v->entry[v->nr_entries++] = (struct ffs_dirent){ .name = strdup(name), .ino = ino };
	v->no_block = true;
}

static void remove_entry(struct ffs_inode *dir, struct ffs_dirent *d)
{
	struct ffs_vfs_inode *v = ffs_vfs(dir);
	u32 at = (u32)(d - v->entry);

	free(d->name);
	memmove(d, d + 1, (--v->nr_entries - at) * sizeof(*d));
}

static void changed(struct ffs_ops *o, struct ffs_inode *inode)
{
	if (o->sb.type->changed)
		o->sb.type->changed(inode);
}

static int create(struct ffs_ops *o, const char *path, u32 mode, struct ffs_inode **out)
{
	const char *name;
	struct ffs_inode *dir = ffs_lookup_parent(o, path, &name);

	if (!dir)
		return -ENOENT;
	if (strlen(name) > 255)
		return -ENAMETOOLONG;
	*out = o->sb.type->inode_new(o, mode);
	ffs_set_times(o, *out);
	ffs_vfs(*out)->atime = ffs_vfs(*out)->mtime;
	ffs_vfs(*out)->parent = dir->ino;
	ffs_simple_add_entry(dir, name, (*out)->ino);
	ffs_set_times(o, dir);
	changed(o, dir);
	changed(o, *out);
	return 0;
}

static void drop_link(struct ffs_ops *o, struct ffs_inode *inode)
{
	inode->nlink--;
	changed(o, inode);
	if (!inode->nlink && !inode->opens)
		o->sb.type->inactivate(o, inode);
}

static int unlink(struct ffs_ops *o, const char *path, bool dir_wanted)
{
	const char *name;
	struct ffs_inode *dir = ffs_lookup_parent(o, path, &name), *inode = ffs_lookup(o, path);

	if (!dir || !inode)
		return -ENOENT;
	if (ffs_is_dir(inode) != dir_wanted)
		return dir_wanted ? -ENOTDIR : -EISDIR;
	if (dir_wanted && ffs_vfs(inode)->nr_entries)
		return -ENOTEMPTY;
	remove_entry(dir, ffs_dir_find(dir, name));
	ffs_set_times(o, dir);
	changed(o, dir);
	if (dir_wanted)
		inode->nlink = 1;
	drop_link(o, inode);
	return 0;
}

static int rename_to(struct ffs_ops *o, const char *from, const char *to)
{
	const char *old, *new;
	struct ffs_inode *dir = ffs_lookup_parent(o, from, &old);
	struct ffs_inode *target = ffs_lookup_parent(o, to, &new);
	struct ffs_inode *inode = ffs_lookup(o, from), *there = ffs_lookup(o, to);

	if (!dir || !target || !inode)
		return -ENOENT;
	if (there == inode)
		return 0;
	if (there && ffs_is_dir(there) && ffs_vfs(there)->nr_entries)
		return -ENOTEMPTY;
	if (there)
		remove_entry(target, ffs_dir_find(target, new));
	remove_entry(dir, ffs_dir_find(dir, old));
	ffs_simple_add_entry(target, new, inode->ino);
	ffs_vfs(inode)->parent = target->ino;
	changed(o, dir);
	changed(o, target);
	changed(o, inode);
	if (there)
		drop_link(o, there);
	return 0;
}

static int link_to(struct ffs_ops *o, const struct foliofs_op *op)
{
	struct ffs_file *f = ffs_file(o, op->file);
	struct ffs_inode *inode = f ? f->inode : op->path ? ffs_lookup(o, op->path) : NULL;
	const char *name;
	struct ffs_inode *dir = ffs_lookup_parent(o, op->path2, &name);

	if (!inode || !dir)
		return -ENOENT;
	if (ffs_lookup(o, op->path2))
		return -EEXIST;
	ffs_simple_add_entry(dir, name, inode->ino);
	inode->nlink++;
	changed(o, dir);
	changed(o, inode);
	return 0;
}

static s64 name_op(struct ffs_ops *o, const struct foliofs_op *op)
{
	struct ffs_inode *inode;
	int err;

	switch (op->kind) {
	case FOLIOFS_OP_UNLINK:
		return unlink(o, op->path, false);
	case FOLIOFS_OP_RMDIR:
		return unlink(o, op->path, true);
	case FOLIOFS_OP_RENAME:
		return rename_to(o, op->path, op->path2);
	case FOLIOFS_OP_LINK:
		return link_to(o, op);
	default:
		if (ffs_lookup(o, op->path))
			return -EEXIST;
		err = create(o, op->path, FFS_S_IFDIR | (op->mode & 07777), &inode);
		if (!err)
			inode->nlink = 2;
		return err;
	}
}

static s64 open_file(struct ffs_ops *o, const struct foliofs_op *op)
{
	struct ffs_inode *inode = ffs_lookup(o, op->path);
	struct ffs_file *f;
	int err = 0;

	if (op->file < 0)
		return -EBADF;
	if (ffs_file(o, op->file)) {
		ffs_error(&o->sb.env, "open-file slot %d is in use", op->file);
		return -EBUSY;
	}
	if (op->flags & FOLIOFS_O_TMPFILE)
		return -EOPNOTSUPP; /* not modelled */
	if (inode && (op->flags & FOLIOFS_O_CREAT) && (op->flags & FOLIOFS_O_EXCL))
		return -EEXIST;
	if (inode && ffs_is_dir(inode) &&
	    !(op->flags & (FOLIOFS_O_RDONLY | FOLIOFS_O_PATH | FOLIOFS_O_DIRECTORY)))
		return -EISDIR;
	if (!inode && !(op->flags & FOLIOFS_O_CREAT))
		return -ENOENT;
	if (!inode)
		err = create(o, op->path, FFS_S_IFREG | (op->mode & 07777), &inode);
	else if ((op->flags & FOLIOFS_O_TRUNC) && ffs_is_reg(inode))
		err = o->sb.type->setsize(&o->sb, inode, 0);
	if (err)
		return err;
	f = ffs_file_slot(o, (u32)op->file);
	*f = (struct ffs_file){ .inode = inode, .flags = op->flags };
	ffs_ra_init(&f->ra, &o->sb.env);
	if (o->sb.type->opened)
		o->sb.type->opened(o, inode);
	inode->opens++;
	if (!(op->flags & (FOLIOFS_O_RDONLY | FOLIOFS_O_PATH)))
		inode->writers++;
	return inode->ino;
}

static int close_file(struct ffs_ops *o, struct ffs_file *f)
{
	struct ffs_inode *inode = f->inode;

	if (o->sb.type->closing)
		o->sb.type->closing(o, f);
	if (!(f->flags & (FOLIOFS_O_RDONLY | FOLIOFS_O_PATH)))
		inode->writers--;
	inode->opens--;
	f->inode = NULL;
	if (!inode->opens && !inode->nlink)
		o->sb.type->inactivate(o, inode);
	return 0;
}

/* fill, punchevery, writeevery: as for ext4 (prepare.c). */
static s64 many(struct ffs_ops *o, struct ffs_file *f, const struct foliofs_op *op)
{
	u64 block = ffs_block_size(&o->sb.env), unit = op->len ? op->len : 64ull << 20, done = 0, pos;

	if (op->kind == FOLIOFS_OP_FILL) {
		while (unit >= block) {
			int err = o->sb.type->fallocate(o, f, 0, round_up_pow2(f->inode->i_size, block),
						    unit);

			if (err == -ENOSPC)
				unit /= 2;
			else if (err)
				return err;
		}
		return (s64)f->inode->i_size;
	}
	if (!op->stride)
		return -EINVAL;
	for (pos = op->off; pos < op->off + op->len; pos += op->stride, done++) {
		s64 ret = op->kind == FOLIOFS_OP_WRITE_EVERY ?
				  o->sb.type->write(o, f, pos, op->chunk, op->chunk) :
				  o->sb.type->fallocate(o, f, FOLIOFS_FALLOC_PUNCH_HOLE |
						    FOLIOFS_FALLOC_KEEP_SIZE, pos, op->chunk);

		if (ret < 0)
			return ret;
	}
	return (s64)done;
}

static s64 file_op(struct ffs_ops *o, const struct foliofs_op *op)
{
	struct ffs_file *f = ffs_file(o, op->file);
	s64 ret;

	if (!f)
		return -EBADF;
	ret = ffs_not_for_dirs(f, op);
	if (ret)
		return ret;
	switch (op->kind) {
	case FOLIOFS_OP_CLOSE:
		return close_file(o, f);
	case FOLIOFS_OP_WRITE:
	case FOLIOFS_OP_APPEND:
	case FOLIOFS_OP_READ:
		return ffs_in_chunks(o, f, op, o->sb.type->read, o->sb.type->write);
	case FOLIOFS_OP_WRITE_BAD:
		return o->sb.type->write(o, f, op->off, op->len, op->good);
	case FOLIOFS_OP_FALLOCATE:
		return o->sb.type->fallocate(o, f, op->flags, op->off, op->len);
	case FOLIOFS_OP_FILL:
	case FOLIOFS_OP_PUNCH_EVERY:
	case FOLIOFS_OP_WRITE_EVERY:
		return many(o, f, op);
	default:
		return o->sb.type->run(o, op);
	}
}

/* By open file or by path. */
static s64 inode_op(struct ffs_ops *o, const struct foliofs_op *op)
{
	struct ffs_file *f = ffs_file(o, op->file);
	struct ffs_inode *inode = f ? f->inode : op->path ? ffs_lookup(o, op->path) : NULL;

	if (!inode)
		return op->file >= 0 ? -EBADF : -ENOENT;
	if (op->kind == FOLIOFS_OP_TRUNCATE) {
		if ((f && (f->flags & FOLIOFS_O_RDONLY)) || !ffs_is_reg(inode))
			return -EINVAL;
		return o->sb.type->setsize(&o->sb, inode, op->len);
	}
	if (op->kind == FOLIOFS_OP_STAT)
		ffs_vfs(inode)->queried = true;
	else
		changed(o, inode);
	return 0;
}

s64 ffs_simple_run(struct ffs_ops *o, const struct foliofs_op *op)
{
	switch (op->kind) {
	case FOLIOFS_OP_OPEN:
		return open_file(o, op);
	case FOLIOFS_OP_UNLINK:
	case FOLIOFS_OP_RMDIR:
	case FOLIOFS_OP_RENAME:
	case FOLIOFS_OP_LINK:
	case FOLIOFS_OP_MKDIR:
		return name_op(o, op);
	case FOLIOFS_OP_TRUNCATE:
	case FOLIOFS_OP_STAT:
	case FOLIOFS_OP_SETATTR:
	case FOLIOFS_OP_CHOWN:
	case FOLIOFS_OP_SETXATTR:
		return inode_op(o, op);
	case FOLIOFS_OP_SLEEP:
		ffs_sleep(&o->sb);
		o->sb.env.now_ns += op->len * 1000000ull;
		return 0;
	case FOLIOFS_OP_CRASH:
		return 0;
	case FOLIOFS_OP_REMOUNT:
		return o->sb.type->remount(o);
	case FOLIOFS_OP_SYNC:
	case FOLIOFS_OP_SYNCFS:
	case FOLIOFS_OP_DROP_CACHES:
	case FOLIOFS_OP_COMMIT:
	case FOLIOFS_OP_FSYNC:
	case FOLIOFS_OP_FDATASYNC:
		return o->sb.type->run(o, op);
	default:
		return file_op(o, op);
	}
}
