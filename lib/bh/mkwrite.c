// SPDX-License-Identifier: MIT
/*
 * Write faults: ext4_page_mkwrite, block_page_mkwrite, ext4_block_page_mkwrite
 * (v6.18).  The whole folio below i_size gets its blocks; then all are dirty.
 */
#include "bh.h"

/* The fault marks the folio dirty, and with it every buffer (block_dirty_folio). */
static void dirty_all(struct ffs_super *sb, struct ffs_inode *inode, struct ffs_folio *f)
{
	if (ffs_has_buffers(f))
		ffs_bh_set(f, FFS_BH_DIRTY, 0, f->bpf);
	f->flags &= (u8)~FFS_FOLIO_MARK;
	ffs_folio_set_dirty(f);
	ffs_inode_dirtied(sb, inode);
}

/* Bytes of the folio below i_size. */
static u64 below_eof(const struct ffs_inode *inode, const struct ffs_folio *f)
{
	return min(ffs_folio_size(inode->mapping, f),
		   inode->i_size - ffs_folio_pos(inode->mapping, f));
}

static int da_mkwrite(struct ffs_super *sb, struct ffs_inode *inode, struct ffs_folio *f)
{
	u64 pos = ffs_folio_pos(inode->mapping, f), len = below_eof(inode, f);
	u32 retries = 0;
	int err;

	do {
		err = ffs_generic_write_begin(sb, NULL, inode, f, pos, len, FFS_BH_GET_DA);
		if (!err) {
			ffs_stop(&sb->env, FAULT_PREPARED, inode->ino, FFS_HELD_FOLIOS, pos,
				 ffs_folio_end(inode->mapping, f));
			ffs_block_commit(sb, NULL, inode, f, pos, len, false);
			dirty_all(sb, inode, f);
			return 0;
		}
	} while (err == -ENOSPC && ffs_should_retry_alloc(sb, &retries));
	return err;
}

static int alloc_mkwrite(struct ffs_super *sb, struct ffs_inode *inode, struct ffs_folio *f,
			 bool journalled)
{
	u64 pos = ffs_folio_pos(inode->mapping, f), len = below_eof(inode, f);
	struct foliofs_inode_kind kind = ffs_inode_kind(sb, inode);
	enum ffs_bh_get get = FFS_BH_GET_BLOCK;
	struct ffs_handle *h;
	u32 retries = 0, rounds = 0;
	int err;

	if (!journalled && foliofs_dioread_nolock(&sb->env.kernel, &sb->env.geo, &kind))
		get = FFS_BH_GET_UNWRITTEN;
	do {
		err = ffs_start(sb, inode, FOLIOFS_CREDIT_PAGE_MKWRITE, 0, "ext4_page_mkwrite", &h);
		if (err)
			return err;
		/* Through the loop of write_begin since mkwrite-refactor, before by fs/buffer.c. */
		err = ffs_sb_has(sb, FOLIOFS_CHANGE_CF_MKWRITE) ?
			      ffs_block_write_begin(sb, h, inode, f, pos, len, get) :
			      ffs_generic_write_begin(sb, h, inode, f, pos, len, get);
		if (!err) {
			ffs_stop(&sb->env, FAULT_PREPARED, inode->ino,
				 FFS_HELD_FOLIOS | FFS_HELD_HANDLE, pos,
				 ffs_folio_end(inode->mapping, f));
			err = ffs_block_commit(sb, h, inode, f, pos, len, journalled);
			if (journalled)
				ffs_update_fsync_tid(h, inode, true);
		}
		ffs_handle_stop(h);
		if (err == -EAGAIN && ++rounds >= FFS_LIVELOCK_ROUNDS) {
			ffs_emit(&sb->env, foliofs_livelock, inode->ino, rounds,
				 ffs_str("page_mkwrite"));
			return -EAGAIN;
		}
	} while (err == -EAGAIN || (err == -ENOSPC && ffs_should_retry_alloc(sb, &retries)));
	return err;
}

int ffs_bh_mkwrite(struct ffs_super *sb, struct ffs_inode *inode, struct ffs_folio *f)
{
	bool journalled = ffs_should_journal_data(sb, inode), writeback = false;
	int err;

	/* Both passes, preparing and committing, go over the whole ring. */
	ffs_emit(&sb->env, foliofs_mkwrite, inode->ino, f->index, f->order,
		 ffs_folio_size(inode->mapping, f) >> sb->env.block_bits);
	err = ffs_inline_convert(sb, inode);
	if (err)
		return err;
	if (f->flags & FFS_FOLIO_WRITEBACK)
		ffs_sleep(sb);
	if (journalled) {
		err = alloc_mkwrite(sb, inode, f, true);
		/*
		 * Its buffers have joined the journal above.  "ext4: Mark pages for delayed
		 * dirtying only if they are pinned" (v6.3): before, writeback put every page that
		 * a mapping had dirtied into the journal once more.
		 */
		if (!ffs_sb_has(sb, FOLIOFS_CHANGE_WRITEPAGES_JDATA))
			f->flags |= FFS_FOLIO_JDATA;
		f->flags &= (u8)~FFS_FOLIO_MARK;
		ffs_folio_set_dirty(f);
		ffs_inode_dirtied(sb, inode);
		return err;
	}
	if (!sb->env.geo.mount.nodelalloc && !ffs_nonda_switch(sb->alloc, &writeback)) {
		if (writeback)
			sb->flush_all(sb);
		return da_mkwrite(sb, inode, f);
	}
	if (writeback)
		sb->flush_all(sb);
	/* All mapped: nothing to allocate. */
	if (!ffs_has_buffers(f) ||
	    !ffs_bh_all(f, FFS_BH_MAPPED, 0,
			(u32)div_up(below_eof(inode, f), ffs_block_size(&sb->env)))) {
		err = alloc_mkwrite(sb, inode, f, false);
		if (err)
			return err;
	}
	dirty_all(sb, inode, f);
	return 0;
}
