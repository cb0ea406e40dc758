// SPDX-License-Identifier: MIT
/*
 * In-core inodes: what is decided when one is made (ext4_set_aops, large folio
 * support; "ext4: enable large folio for regular file", v6.16; the data path).
 */
#include "ops.h"

/* ext4_should_use_buffered_iomap: asked when an inode is made or read, not while it is in core. */
static void decide_path(struct ffs_ops *o, struct ffs_inode *inode)
{
	const struct foliofs_inode_kind kind = {
		.extents = (inode->flags & FFS_INODE_EXTENTS) &&
			   !(inode->flags & FFS_INODE_INLINE_DATA),
		.regular = ffs_is_reg(inode),
		.journal_flag = inode->flags & FFS_INODE_JOURNAL_DATA,
	};

	if (foliofs_buffered_iomap(&o->sb.env.kernel, &o->sb.env.geo, &kind))
		inode->flags |= FFS_INODE_IOMAP;
	else
		inode->flags &= ~FFS_INODE_IOMAP;
}

void ffs_decide_order(struct ffs_ops *o, struct ffs_inode *inode)
{
	struct ffs_super *sb = &o->sb;
	bool iomap = inode->flags & FFS_INODE_IOMAP;

	if (!ffs_is_reg(inode))
		return;
	inode->mapping->max_order =
		foliofs_max_order(&sb->env.kernel, &sb->env.geo,
				  (inode->flags & FFS_INODE_JOURNAL_DATA) && !iomap);
	/* The series of 2024 gave large folios to its own inodes only. */
	if (ffs_sb_has(sb, FOLIOFS_CHANGE_IM_2024) && !iomap)
		inode->mapping->max_order = 0;
	inode->mapping->min_order = foliofs_min_order(&sb->env.kernel, &sb->env.geo);
}

void ffs_reread_inode(struct ffs_ops *o, struct ffs_inode *inode)
{
	struct ffs_super *sb = &o->sb;

	ffs_path_of(sb, inode)->inode_destroy(sb, inode);
	ffs_mapping_destroy(inode->mapping);
	ffs_mapping_init(inode->mapping, &sb->env, inode);
	ffs_blockmap_reread(inode, true);
	decide_path(o, inode);
	ffs_decide_order(o, inode);
	ffs_path_of(sb, inode)->inode_init(sb, inode);
}

int ffs_fall_back(struct ffs_ops *o, struct ffs_inode *inode)
{
	struct ffs_super *sb = &o->sb;
	u8 order = inode->mapping->max_order;
	int err = ffs_write_and_wait(o, inode, 0, FFS_LLONG_MAX);

	if (err)
		return err;
	ffs_truncate_cache(sb, inode, 0, ~0ull);
	ffs_path_of(sb, inode)->inode_destroy(sb, inode);
	inode->flags &= ~FFS_INODE_IOMAP;
	ffs_path_of(sb, inode)->inode_init(sb, inode);
	ffs_decide_order(o, inode);
	if (!ffs_sb_has(sb, FOLIOFS_CHANGE_IM_CLEAR_LARGE))
		inode->mapping->max_order = order;
	return 0;
}

void ffs_reread_unused(struct ffs_ops *o, struct ffs_inode *inode)
{
	struct ffs_super *sb = &o->sb;
	u32 flags = inode->flags;

	ffs_blockmap_reread(inode, false);
	decide_path(o, inode);
	if ((flags ^ inode->flags) & FFS_INODE_IOMAP) {
		u32 now = inode->flags;

		inode->flags = flags;
		ffs_path_of(sb, inode)->inode_destroy(sb, inode);
		inode->flags = now;
		ffs_path_of(sb, inode)->inode_init(sb, inode);
	}
	ffs_decide_order(o, inode);
}

struct ffs_inode *ffs_inode_new(struct ffs_ops *o, u32 ino, u32 mode, u32 flags)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_inode *inode = ffs_zalloc(sizeof(*inode));

	inode->ino = ino;
	inode->mode = mode;
	inode->flags = flags;
	inode->vfs = ffs_zalloc(sizeof(struct ffs_vfs_inode));
	ffs_blockmap_init(&sb->bm, inode);
	inode->mapping = ffs_zalloc(sizeof(*inode->mapping));
	ffs_mapping_init(inode->mapping, &sb->env, inode);
	decide_path(o, inode);
	ffs_decide_order(o, inode);
	ffs_path_of(sb, inode)->inode_init(sb, inode);
	ffs_inode_add(sb, inode);
	return inode;
}

void ffs_inode_free(struct ffs_ops *o, struct ffs_inode *inode)
{
	ffs_inode_remove(&o->sb, inode);
	ffs_path_of(&o->sb, inode)->inode_destroy(&o->sb, inode);
	ffs_mapping_destroy(inode->mapping);
	ffs_blockmap_destroy(&o->sb.bm, inode);
	ffs_dir_free(inode);
	free(inode->mapping);
	free(inode->vfs);
	free(inode);
}
