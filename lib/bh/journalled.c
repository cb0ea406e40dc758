// SPDX-License-Identifier: MIT
/*
 * data=journal: data blocks in the running transaction (ext4_dirty_journalled_data,
 * ext4_journal_folio_buffers; v6.18) and what becomes of them when it has committed
 * (__jbd2_journal_refile_buffer).
 */
#include "bh.h"

int ffs_dirty_journalled(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode,
			 struct ffs_folio *f, u32 b)
{
	struct ffs_mapping *m = inode->mapping;
	u64 pblk = ffs_bh_blocknr(f, b);

	ffs_bh_set(f, FFS_BH_UPTODATE, b, b + 1);
	ffs_bh_clear(f, FFS_BH_DIRTY, b, b + 1);
	ffs_bh_set(f, FFS_BH_JDIRTY, b, b + 1);
	/* "ext4: Keep pages with journalled data dirty" (v6.3); before: clean until the commit. */
	if (ffs_sb_has(sb, FOLIOFS_CHANGE_WRITEPAGES_JDATA)) {
		f->flags &= (u8)~FFS_FOLIO_MARK; /* folio_mark_dirty */
		ffs_folio_set_dirty(f);
		ffs_inode_dirtied(sb, inode);
	}
	if (!h)
		return 0;
	ffs_runs_set(&sb->jdata, pblk, pblk + 1, 0,
		     (u64)inode->ino << 32 | (ffs_folio_block(m, f) + b));
	return ffs_journal_dirty(h, pblk);
}

/* The log has the block: now it is an ordinary dirty one that waits for its checkpoint. */
static void committed(struct ffs_super *sb, struct ffs_inode *inode, u32 lblk, u64 pblk)
{
	struct ffs_mapping *m = inode->mapping;
	u8 bits = sb->env.block_bits;
	u64 pos = (u64)lblk << bits;
	struct ffs_folio *f = ffs_folio_find(m, (u32)(pos >> sb->env.page_bits));
	u32 b;

	/* A crash finds it there: it counts as on disk from the commit on. */
	ffs_content_copy(&sb->disk, pblk << bits, &sb->jdata_logged, pblk << bits, 1ull << bits,
			 FFS_SRC_UNKNOWN);
	/* The next transaction has it already, or its page has been thrown away. */
	if (ffs_runs_find(&sb->jdata, pblk))
		return;
	if (!f)
		return;
	b = lblk - ffs_folio_block(m, f);
	if (!ffs_bh_test(f, FFS_BH_JDIRTY, b))
		return;
	ffs_bh_clear(f, FFS_BH_JDIRTY, b, b + 1);
	ffs_bh_set(f, FFS_BH_DIRTY, b, b + 1);
	ffs_folio_set_dirty(f);
	ffs_inode_dirtied(sb, inode);
}

void ffs_journalled_locked(struct ffs_super *sb)
{
	u8 bits = sb->env.block_bits;
	struct ffs_runs_pos at;
	const struct ffs_run *r;

	ffs_runs_free(&sb->jdata_committing);
	ffs_runs_free(&sb->jdata_logged);
	sb->jdata_committing = sb->jdata;
	sb->jdata = (struct ffs_runs){ 0 };
	for (r = ffs_runs_at(&sb->jdata_committing, 0, &at); r;
	     r = ffs_runs_next(&sb->jdata_committing, &at)) {
		struct ffs_inode *inode = ffs_inode_find(sb, (u32)(r->b >> 32));

		if (inode)
			ffs_content_copy(&sb->jdata_logged, r->first << bits, &inode->mapping->content,
					 (u64)(u32)r->b << bits, 1ull << bits, FFS_SRC_UNKNOWN);
	}
}

void ffs_journalled_committed(struct ffs_super *sb, u32 tid)
{
	struct ffs_runs_pos at;
	const struct ffs_run *r;

	for (r = ffs_runs_at(&sb->jdata_committing, 0, &at); r;
	     r = ffs_runs_next(&sb->jdata_committing, &at)) {
		struct ffs_inode *inode = ffs_inode_find(sb, (u32)(r->b >> 32));

		ffs_home_logged_again(sb, r->first, tid);
		if (inode)
			committed(sb, inode, (u32)r->b, r->first);
	}
	ffs_runs_free(&sb->jdata_committing);
	ffs_runs_free(&sb->jdata_logged);
}
