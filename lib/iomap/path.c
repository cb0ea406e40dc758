// SPDX-License-Identifier: MIT
/*
 * The data path on iomap, as lib/ops sees it, with its small entries: stores through a
 * mapping (iomap_page_mkwrite), invalidation and release of a folio's state (v6.18).
 */
#include "iomap.h"

void ffs_iomap_inode_init(struct ffs_super *sb, struct ffs_inode *inode)
{
	(void)sb;
	inode->data_path = ffs_zalloc(sizeof(struct ffs_iomap_inode));
}

void ffs_iomap_inode_destroy(struct ffs_super *sb, struct ffs_inode *inode)
{
	(void)sb;
	ffs_ioend_free_all(ffs_iomap_inode(inode));
	free(inode->data_path);
	inode->data_path = NULL;
}

/* Every map of the folio below i_size is asked for; the whole folio becomes dirty. */
int ffs_iomap_mkwrite(struct ffs_super *sb, struct ffs_inode *inode, struct ffs_folio *f)
{
	struct ffs_mapping *m = inode->mapping;
	struct ffs_iomap_iter it = {
		.sb = sb, .inode = inode, .pos = ffs_folio_pos(m, f),
		.flags = FFS_IOMAP_WRITE | FFS_IOMAP_FAULT, .caller = "iomap_page_mkwrite",
	};
	int ret;

	if (inode->i_size <= it.pos)
		return -EFAULT;
	/* No list of blocks: their bits are set a word at a time. */
	ffs_emit(&sb->env, foliofs_mkwrite, inode->ino, f->index, f->order, 0);
	it.len = min(ffs_folio_size(m, f), inode->i_size - it.pos);
	ffs_lock(&sb->env, FFS_LOCK_FOLIO, inode->ino);
	while ((ret = ffs_iomap_iter(&it, sb->iomap_fs->write)) > 0) {
		ffs_ifs_dirty_folio(m, f);
		ffs_inode_dirtied(sb, inode);
		ffs_iomap_advance(&it, ffs_iomap_length(&it));
	}
	if (!ret)
		ffs_stop(&sb->env, FAULT_PREPARED, inode->ino, FFS_HELD_FOLIOS, ffs_folio_pos(m, f),
			 ffs_folio_end(m, f));
	f->flags &= (u8)~FFS_FOLIO_MARK;
	if (f->flags & FFS_FOLIO_WRITEBACK) {
		ffs_lock_wait(&sb->env, FFS_LOCK_END_IO, inode->ino);
		ffs_sleep(sb);
	}
	ffs_unlock(&sb->env, FFS_LOCK_FOLIO);
	return ret;
}

/* Only a whole folio gives up its state; until im-inval-partial dirty blocks of a part stay dirty. */
void ffs_iomap_invalidate(struct ffs_super *sb, struct ffs_mapping *m, struct ffs_folio *f,
			  u64 offset, u64 len)
{
	ffs_emit(&sb->env, iomap_invalidate_folio, m->inode->ino, m->inode->i_size,
		 ffs_folio_pos(m, f) + offset, len);
	if (offset || len != ffs_folio_size(m, f)) {
		if (ffs_sb_has(sb, FOLIOFS_CHANGE_IM_INVAL_PARTIAL))
			ffs_ifs_clear_dirty_range(m, f, offset, len);
		return;
	}
	ffs_folio_clear_dirty(f);
	ffs_folio_strip_buffers(f);
}

bool ffs_iomap_release(struct ffs_mapping *m, struct ffs_folio *f)
{
	ffs_emit(m->env, iomap_release_folio, m->inode->ino, m->inode->i_size, ffs_folio_pos(m, f),
		 ffs_folio_size(m, f));
	if (f->flags & FFS_FOLIO_DIRTY)
		return false;
	ffs_folio_strip_buffers(f);
	return true;
}

const struct ffs_data_path ffs_iomap_path = {
	.inode_init = ffs_iomap_inode_init,
	.inode_destroy = ffs_iomap_inode_destroy,
	.write = ffs_iomap_write,
	.read_folios = ffs_iomap_readahead,
	.read_folio = ffs_iomap_read_folio,
	.is_uptodate = ffs_iomap_is_uptodate,
	.mkwrite = ffs_iomap_mkwrite,
	.writepages = ffs_iomap_writepages,
	.invalidate = ffs_iomap_invalidate,
	.release = ffs_iomap_release,
};
