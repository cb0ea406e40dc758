// SPDX-License-Identifier: MIT
/* Punch hole, and what punch and zero range do to cached data first (v6.18). */
#include "ops.h"

int ffs_update_disksize(struct ffs_ops *o, struct ffs_inode *inode, u64 off, u64 len)
{
	struct ffs_super *sb = &o->sb;
	u64 size = inode->i_size;
	struct ffs_handle *h;
	int err;

	if (off > size)
		return 0;
	if (off + len < size) {
		/* Without punch-disksize only a range up to EOF counted. */
		if (!ffs_sb_has(sb, FOLIOFS_CHANGE_PUNCH_DISKSIZE))
			return 0;
		size = off + len;
	}
	if (inode->i_disksize >= size)
		return 0;
	err = ffs_start(sb, inode, FOLIOFS_CREDIT_UPDATE_DISKSIZE, 0,
			"ext4_update_disksize_before_punch", &h);
	if (err)
		return err;
	ffs_set_disksize(sb, inode, size);
	err = ffs_mark_inode_dirty(sb, h, inode, "ext4_update_disksize_before_punch");
	ffs_handle_stop(h);
	return err;
}

int ffs_commit_journalled(struct ffs_ops *o, const struct ffs_inode *inode)
{
	if (ffs_sb_has(&o->sb, FOLIOFS_CHANGE_WRITEPAGES_JDATA) ||
	    !ffs_should_journal_data(&o->sb, inode))
		return 0;
	return min(ffs_journal_force_commit(o->sb.journal), 0);
}

int ffs_drop_cached_range(struct ffs_ops *o, struct ffs_inode *inode, u64 off, u64 end)
{
	/* Journalled data must be checkpointed, or a crash would find the old blocks without it. */
	if (ffs_sb_has(&o->sb, FOLIOFS_CHANGE_WRITEPAGES_JDATA) &&
	    ffs_should_journal_data(&o->sb, inode)) {
		int err = ffs_write_and_wait(o, inode, off, end - 1);

		if (err)
			return err;
	}
	ffs_truncate_cache(&o->sb, inode, off, end);
	return 0;
}

/* Whole blocks [first, end): status, then the blocks, then a hole in the status. */
static int remove_blocks(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode,
			 u32 first, u32 end)
{
	int err;

	ffs_discard_preallocations(sb->alloc, inode);
	ffs_es_remove(&sb->bm, inode, first, end - first);
	err = ffs_remove_range(&sb->bm, h, inode, first, end);
	if (!err && ffs_sb_has(sb, FOLIOFS_CHANGE_PUNCH_HOLE_ENTRY))
		ffs_es_insert_hole(&sb->bm, inode, first, end - first);
	return err;
}

/* Where a hole that reaches EOF ends. */
static u64 hole_end(const struct ffs_super *sb, const struct ffs_inode *inode, u64 off, u64 len)
{
	u64 block = ffs_block_size(&sb->env), end = off + len, max_end;

	max_end = ffs_max_size(sb, inode);
	if (!(inode->flags & FFS_INODE_EXTENTS))
		max_end -= block; /* the last block cannot be punched out of an indirect map */
	if (ffs_sb_has(sb, FOLIOFS_CHANGE_PUNCH_ROUND_BLOCK))
		end = end >= inode->i_size ? round_up_pow2(inode->i_size, block) : end;
	else if (end > inode->i_size && !ffs_sb_has(sb, FOLIOFS_CHANGE_DROP_EDGES))
		/* the page behind an aligned i_size too, as the sum was written */
		end = round_down_pow2(inode->i_size, ffs_page_size(&sb->env)) +
		      ffs_page_size(&sb->env);
	else if (end > inode->i_size)
		end = round_up_pow2(inode->i_size, ffs_page_size(&sb->env));
	return min(end, max_end);
}

/* Cached data of the hole goes; before drop-edges only that of whole blocks, if there are any. */
static int drop_hole(struct ffs_ops *o, struct ffs_inode *inode, u64 off, u64 end)
{
	u64 block = ffs_block_size(&o->sb.env);
	u64 first = off, last = end;
	int err;

	if (!ffs_sb_has(&o->sb, FOLIOFS_CHANGE_DROP_EDGES)) {
		first = round_up_pow2(off, block);
		last = round_down_pow2(end, block);
		if (last <= first)
			return 0;
	}
	err = ffs_update_disksize(o, inode, off, end - off);
	return err ? err : ffs_drop_cached_range(o, inode, first, last);
}

int ffs_punch(struct ffs_ops *o, struct ffs_inode *inode, u64 off, u64 len)
{
	struct ffs_super *sb = &o->sb;
	bool outside = ffs_sb_has(sb, FOLIOFS_CHANGE_IM_ZERO_OUTSIDE_HANDLE);
	struct ffs_handle *h;
	u32 first, last;
	u64 end;
	int err = 0, ret;

	ffs_emit(&sb->env, ext4_punch_hole, inode->ino, off, len, 0);
	if (!ffs_sb_has(sb, FOLIOFS_CHANGE_PUNCH_NO_WRITEBACK) &&
	    ffs_mapping_tagged(inode->mapping, FFS_TAG_DIRTY))
		err = ffs_write_and_wait(o, inode, off, off + len - 1);
	if (err || off >= inode->i_size)
		return err;
	end = hole_end(sb, inode, off, len);
	if (end <= off)
		return 0;
	len = end - off;
	err = ffs_falloc_time(o, inode);
	if (!err)
		err = drop_hole(o, inode, off, end);
	if (err)
		return err;
	ffs_stop(&sb->env, PUNCH_CUT, inode->ino, FFS_HELD_INODE | FFS_HELD_INVALIDATE, 0, 0);
	if (outside)
		err = ffs_path_of(sb, inode)->zero_partial(sb, NULL, inode, off, len);
	if (!err)
		err = ffs_start(sb, inode, FOLIOFS_CREDIT_PUNCH, 0, "ext4_punch_hole", &h);
	if (err)
		return err;
	if (!outside)
		err = ffs_path_of(sb, inode)->zero_partial(sb, h, inode, off, len);
	first = (u32)ffs_blocks_up(&sb->env, off);
	last = (u32)(end >> sb->env.block_bits);
	if (!err && last > first)
		err = remove_blocks(sb, h, inode, first, last);
	if (!err) {
		ret = ffs_mark_inode_dirty(sb, h, inode, "ext4_punch_hole");
		ffs_update_fsync_tid(h, inode, true);
		err = ret;
	}
	h->sync |= sb->env.geo.mount.sync;
	ffs_handle_stop(h);
	return err;
}
