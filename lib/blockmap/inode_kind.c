// SPDX-License-Identifier: MIT
/*
 * What the block maps ask of an inode and its mount: the facts that credit
 * formulas need, whether its data is journalled, and what freeing its data means
 * for the journal (get_default_free_blocks_flags, ext4_update_inode_fsync_trans).
 */
#include "blockmap/ext.h"

void ffs_map_inode_kind(const struct ffs_blockmap *bm, const struct ffs_inode *inode,
		    struct foliofs_inode_kind *kind)
{
	const struct ffs_env *env = bm->env;

	if (bm->inode_kind) {
		bm->inode_kind(bm->priv, inode, kind);
		return;
	}
	foliofs_inode_kind_init(&env->kernel, &env->geo, kind);
	kind->extents = inode->flags & FFS_INODE_EXTENTS;
	kind->journal_flag = inode->flags & FFS_INODE_JOURNAL_DATA;
	kind->regular = ffs_is_reg(inode);
	if (!kind->regular)
		kind->order = 0;
	kind->journal_data = foliofs_journals_data(&env->kernel, &env->geo, kind->regular,
						   kind->journal_flag, kind->order);
	kind->depth = (u8)ffs_inode_depth(inode);
	kind->i_blocks = inode->i_blocks;
}

bool ffs_journals_data(const struct ffs_blockmap *bm, const struct ffs_inode *inode)
{
	struct foliofs_inode_kind kind;

	ffs_map_inode_kind(bm, inode, &kind);
	return kind.journal_data;
}

bool ffs_delalloc(const struct ffs_blockmap *bm)
{
	const struct foliofs_mount *m = &bm->env->geo.mount;

	return !m->nodelalloc && m->data != FOLIOFS_DATA_JOURNAL;
}

void ffs_update_fsync_tid(const struct ffs_handle *h, struct ffs_inode *inode, bool datasync)
{
	if (!h || h->nojournal || h->aborted)
		return;
	inode->sync_tid = h->tid;
	if (datasync)
		inode->datasync_tid = h->tid;
}

int ffs_free_data(struct ffs_blockmap *bm, struct ffs_handle *h, struct ffs_inode *inode, u64 pblk,
		  u64 count, u32 flags)
{
	/* blocks of directories and symbolic links are metadata */
	if (!ffs_is_reg(inode))
		flags |= FFS_FREE_METADATA | FFS_FREE_FORGET;
	else if (ffs_journals_data(bm, inode))
		flags |= FFS_FREE_FORGET;
	return ffs_free_blocks(bm->alloc, h, inode, pblk, count, flags | FFS_FREE_VALIDATED);
}
