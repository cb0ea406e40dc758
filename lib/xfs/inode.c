// SPDX-License-Identifier: MIT
/*
 * Inodes: xfs_init_new_inode, xfs_setup_inode, xfs_file_release, xfs_inactive (v6.18).
 */
#include "xfs.h"

struct ffs_inode *ffs_xfs_inode_new(struct ffs_ops *o, u32 ino, u32 mode)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_inode *inode = ffs_simple_inode(o, ino, mode);
	u8 block = sb->env.block_bits, page = sb->env.page_bits;

	inode->flags = FFS_INODE_IOMAP;
	inode->fs_private = ffs_zalloc(sizeof(struct ffs_xfs_inode));
	if (ffs_is_reg(inode)) {
		inode->mapping->max_order = 9; /* of a PMD */
		inode->mapping->min_order = block > page ? block - page : 0;
	}
	sb->iomap->inode_init(sb, inode);
	return inode;
}

struct ffs_inode *ffs_xfs_create(struct ffs_ops *o, u32 mode)
{
	u32 ino = ffs_xfs(&o->sb)->next_ino;

	/* The lowest that is free. */
	while (ffs_inode_find(&o->sb, ino))
		ino++;
	return ffs_xfs_inode_new(o, ino, mode);
}

void ffs_xfs_inode_free(struct ffs_ops *o, struct ffs_inode *inode)
{
	struct ffs_xfs_inode *i = ffs_xfs_inode(inode);

	o->sb.iomap->inode_destroy(&o->sb, inode);
	ffs_runs_free(&i->fork[FFS_XFS_DATA]);
	ffs_runs_free(&i->fork[FFS_XFS_COW]);
	free(i);
	ffs_simple_inode_free(o, inode);
}

void ffs_xfs_inactivate(struct ffs_ops *o, struct ffs_inode *inode)
{
	struct ffs_super *sb = &o->sb;

	ffs_truncate_cache(sb, inode, 0, ~0ull);
	ffs_run_work(sb);
	ffs_xfs_unmap(sb, inode, FFS_XFS_COW, 0, ~0ull >> 1);
	ffs_xfs_unmap(sb, inode, FFS_XFS_DATA, 0, ~0ull >> 1);
	ffs_xfs_inode_free(o, inode);
}

void ffs_xfs_opened(struct ffs_ops *o, struct ffs_inode *inode)
{
	if (!ffs_xfs_inode(inode)->unread)
		return;
	/* Caches are dropped in the order in which inodes came into core. */
	ffs_xfs_inode(inode)->unread = false;
	inode->seq = ++o->sb.inode_seq;
}

void ffs_xfs_closing(struct ffs_ops *o, struct ffs_file *f)
{
	struct ffs_inode *inode = f->inode;
	struct ffs_xfs_inode *i = ffs_xfs_inode(inode);

	if (i->truncated) {
		i->truncated = false;
		i->eof_released = false;
		if (inode->reserved)
			ffs_filemap_flush(o, inode, 0, FFS_LLONG_MAX, FFS_WB_NONE);
	}
	/* The first close gives back what was reserved behind EOF. */
	if (inode->nlink && !(f->flags & (FOLIOFS_O_RDONLY | FOLIOFS_O_PATH)) && !i->eof_released &&
	    ffs_xfs_can_free_eof(&o->sb, inode)) {
		i->eof_released = true;
		ffs_xfs_free_eof(&o->sb, inode);
	}
}
