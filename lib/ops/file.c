// SPDX-License-Identifier: MIT
/*
 * Open, close and the end of an inode: ext4_file_open, ext4_release_file,
 * ext4_evict_inode (v6.18).
 */
#include "ops.h"

struct ffs_file *ffs_file(struct ffs_ops *o, s32 slot)
{
	if (slot < 0 || (u32)slot >= o->nr_files || !o->file[slot]->inode)
		return NULL;
	return o->file[slot];
}

struct ffs_file *ffs_file_slot(struct ffs_ops *o, u32 slot)
{
	if (slot >= o->nr_files) {
		u32 n = max(slot + 1, 2 * o->nr_files);

		o->file = ffs_realloc(o->file, n * sizeof(*o->file));
		while (o->nr_files < n)
			o->file[o->nr_files++] = ffs_zalloc(sizeof(**o->file));
	}
	return o->file[slot];
}

/* The first open of a mount writes the mount point into the superblock. */
static int first_open(struct ffs_ops *o)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_handle *h;
	int err;

	if (sb->first_open_done)
		return 0;
	sb->first_open_done = true;
	err = ffs_start_sb(sb, FOLIOFS_CREDIT_FIRST_OPEN, "ext4_file_open", &h);
	if (err)
		return err;
	err = ffs_journal_dirty(h, sb->sb_block);
	ffs_handle_stop(h);
	return err;
}

/* Finds or makes what @op opens. */
static s64 open_inode(struct ffs_ops *o, const struct foliofs_op *op, struct ffs_inode **inode,
		      bool *created)
{
	const char *name;
	struct ffs_inode *dir;

	if (op->flags & FOLIOFS_O_TMPFILE) {
		dir = ffs_lookup(o, op->path);
		if (!dir || !ffs_is_dir(dir))
			return -ENOENT;
		*created = true;
		return ffs_tmpfile(o, dir, op->mode, inode);
	}
	*inode = ffs_lookup(o, op->path);
	if (*inode) {
		if ((op->flags & FOLIOFS_O_CREAT) && (op->flags & FOLIOFS_O_EXCL))
			return -EEXIST;
		if (ffs_is_dir(*inode) && !(op->flags & (FOLIOFS_O_RDONLY | FOLIOFS_O_PATH |
							 FOLIOFS_O_DIRECTORY)))
			return -EISDIR;
		return 0;
	}
	if (!(op->flags & FOLIOFS_O_CREAT))
		return -ENOENT;
	dir = ffs_lookup_parent(o, op->path, &name);
	if (!dir)
		return -ENOENT;
	*created = true;
	return ffs_create(o, dir, name, FFS_S_IFREG | (op->mode & 07777), inode);
}

s64 ffs_open(struct ffs_ops *o, const struct foliofs_op *op)
{
	struct ffs_inode *inode = NULL;
	bool created = false;
	struct ffs_file *f;
	s64 ret;

	if (op->file < 0)
		return -EBADF;
	if (ffs_file(o, op->file)) {
		ffs_error(&o->sb.env, "open-file slot %d is in use", op->file);
		return -EBUSY;
	}
	ret = open_inode(o, op, &inode, &created);
	if (ret < 0)
		return ret;
	if (ffs_is_reg(inode) && !(op->flags & FOLIOFS_O_PATH)) {
		ret = first_open(o);
		if (ret < 0)
			return ret;
	}
	if ((op->flags & FOLIOFS_O_TRUNC) && ffs_is_reg(inode) && !created) {
		ret = ffs_setattr_size(o, inode, 0);
		if (ret < 0)
			return ret;
	}
	f = ffs_file_slot(o, (u32)op->file);
	*f = (struct ffs_file){ .inode = inode, .flags = op->flags, .wb_seen = inode->wb_err };
	/* An error that nobody has told yet is told by who opens the file later, too. */
	if (inode->wb_err && !inode->wb_told)
		f->wb_seen--;
	ffs_ra_init(&f->ra, &o->sb.env);
	inode->opens++;
	if (!(op->flags & (FOLIOFS_O_RDONLY | FOLIOFS_O_PATH)))
		inode->writers++;
	return inode->ino;
}

void ffs_alloc_da_blocks(struct ffs_ops *o, struct ffs_inode *inode)
{
	if (inode->reserved)
		ffs_filemap_flush(o, inode, 0, FFS_LLONG_MAX, FFS_WB_NONE);
}

int ffs_close(struct ffs_ops *o, struct ffs_file *f)
{
	struct ffs_inode *inode = f->inode;

	if (inode->flags & FFS_INODE_DA_ALLOC_CLOSE) {
		inode->flags &= ~FFS_INODE_DA_ALLOC_CLOSE;
		ffs_alloc_da_blocks(o, inode);
	}
	if (!(f->flags & (FOLIOFS_O_RDONLY | FOLIOFS_O_PATH))) {
		/* The last writer gives the preallocation back, unless delayed blocks still need it. */
		if (inode->writers == 1 && !inode->reserved)
			ffs_discard_preallocations(o->sb.alloc, inode);
		inode->writers--;
	}
	inode->opens--;
	f->inode = NULL;
	if (!inode->opens && !inode->nlink)
		return ffs_evict(o, inode);
	return 0;
}

/*
 * Freeing attributes makes sure of its credits, revokes included: an extend where
 * the tree blocks freed before have used them up (ext4_xattr_delete_inode).
 */
static void ensure_xattr_credits(struct ffs_ops *o, struct ffs_handle *h)
{
	const struct foliofs_geometry *g = &o->sb.env.geo;
	const s32 credits = g->mount.quota || foliofs_has_feature(g, FOLIOFS_FEATURE_QUOTA) ? 33 : 6;

	ffs_handle_ensure(h, credits, credits, (s32)g->cluster_ratio);
}

int ffs_evict(struct ffs_ops *o, struct ffs_inode *inode)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_handle *h;
	int err;

	ffs_truncate_cache(sb, inode, 0, ~0ull);
	ffs_run_work(sb);
	err = ffs_start(sb, inode, FOLIOFS_CREDIT_EVICT, 0, "ext4_evict_inode", &h);
	if (!err) {
		if (sb->env.geo.mount.sync)
			h->sync = true;
		ffs_set_isize(sb, inode, 0);
		err = ffs_mark_inode_dirty(sb, h, inode, "ext4_evict_inode");
		if (inode->i_blocks && !err)
			err = ffs_truncate(sb, inode);
		ensure_xattr_credits(o, h);
		ffs_orphan_del(sb, h, inode);
		ffs_mark_inode_dirty(sb, h, inode, "ext4_evict_inode");
		ffs_discard_preallocations(sb->alloc, inode);
		ffs_es_remove(&sb->bm, inode, 0, FFS_LBLK_MAX);
		ffs_free_inode_number(sb->alloc, h, inode->ino, ffs_is_dir(inode));
		ffs_handle_stop(h);
	}
	ffs_inode_free(o, inode);
	return err;
}
