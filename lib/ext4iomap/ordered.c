// SPDX-License-Identifier: MIT
/*
 * What a series without im-noorder does: the inode joins the list of the transaction, and the
 * commit locks its folios to write them.  Writeback of such an inode locks the folio first and
 * then wants a handle, which it can have when the commit is over.
 */
#include "ext4iomap.h"

/* Kept in inode->fs_private; made by the first order. */
struct order {
	u32 tid;
	u64 pos, len;
};

void ffs_ext4im_order(struct ffs_handle *h, struct ffs_inode *inode, u64 pos, u64 len)
{
	struct order *o = inode->fs_private;

	if (h->nojournal)
		return;
	if (!o)
		o = inode->fs_private = ffs_zalloc(sizeof(*o));
	*o = (struct order){ .tid = h->tid, .pos = pos, .len = len };
}

void ffs_ext4im_order_free(struct ffs_inode *inode)
{
	free(inode->fs_private);
	inode->fs_private = NULL;
}

void ffs_ext4im_submit_ordered(struct ffs_super *sb, u32 tid)
{
	u32 i;

	if (ffs_sb_has(sb, FOLIOFS_CHANGE_IM_NOORDER))
		return;
	for (i = 0; i < sb->cap_inodes; i++) {
		struct ffs_inode *inode = sb->inodes[i];
		struct order *o = inode && (inode->flags & FFS_INODE_IOMAP) ? inode->fs_private : NULL;
		struct ffs_map m;

		if (!o || o->tid != tid)
			continue;
		o->tid = 0;
		ffs_lock(&sb->env, FFS_LOCK_FOLIO, inode->ino);
		ffs_unlock(&sb->env, FFS_LOCK_FOLIO);
		/* SIMPLIFIED: only what has its block is written; the real commit waits for the rest. */
		m = (struct ffs_map){ .lblk = (u32)(o->pos >> sb->env.block_bits), .len = 1 };
		if (ffs_map_blocks(&sb->bm, NULL, inode, &m, 0) > 0 && (m.flags & FFS_MAP_MAPPED))
			ffs_iomap_write_and_wait(sb, inode, o->pos, o->pos + o->len - 1);
	}
}
