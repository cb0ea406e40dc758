// SPDX-License-Identifier: MIT
/* Limits and small waits that several operations share. */
#include "ops.h"

u64 ffs_max_size(const struct ffs_super *sb, const struct ffs_inode *inode)
{
	u8 bits = sb->env.block_bits;
	u64 pointers = ffs_block_size(&sb->env) / 4, blocks;

	if (inode->flags & FFS_INODE_EXTENTS)
		return ((u64)FFS_LBLK_MAX) << bits;
	blocks = 12 + pointers + pointers * pointers + pointers * pointers * pointers;
	return min(blocks, (u64)FFS_LBLK_MAX) << bits;
}

void ffs_wait_committing_tail(struct ffs_ops *o, struct ffs_inode *inode, u64 size)
{
	u64 page = ffs_page_size(&o->sb.env), offset = size & (page - 1);
	struct ffs_folio *f;

	/* The model's commits are over when they return: only the page's invalidation is left. */
	if (!ffs_should_journal_data(&o->sb, inode) || !offset ||
	    offset > page - ffs_block_size(&o->sb.env))
		return;
	f = ffs_folio_find(inode->mapping, (u32)(size >> o->sb.env.page_bits));
	if (f && ffs_folio_end(inode->mapping, f) > size)
		ffs_path_of(&o->sb, inode)->invalidate(&o->sb, inode->mapping, f,
						       size - ffs_folio_pos(inode->mapping, f),
						       ffs_folio_end(inode->mapping, f) - size);
}
