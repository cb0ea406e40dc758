// SPDX-License-Identifier: MIT
/*
 * fsync and its kin: ext4_sync_file, filemap_write_and_wait_range,
 * sync_filesystem, sync_file_range (v6.18).
 */
#include "ops.h"

int ffs_filemap_flush(struct ffs_ops *o, struct ffs_inode *inode, u64 first, u64 last,
		      enum ffs_sync_mode mode)
{
	struct ffs_wbc wbc = {
		.sync_mode = mode, .nr_to_write = FFS_LLONG_MAX,
		.range_start = first, .range_end = last,
	};

	/* Nothing dirty: the file system is not asked at all. */
	if (!ffs_mapping_tagged(inode->mapping, FFS_TAG_DIRTY))
		return 0;
	return ffs_path_of(&o->sb, inode)->writepages(&o->sb, inode, &wbc);
}

/* Wait for what is under writeback in the range. */
static void wait_range(struct ffs_ops *o, struct ffs_inode *inode, u64 first, u64 last)
{
	struct ffs_folio *f = ffs_folio_next_tagged(inode->mapping,
						    (u32)(first >> o->sb.env.page_bits),
						    FFS_TAG_WRITEBACK);

	if (f && f->index <= last >> o->sb.env.page_bits)
		ffs_sleep(&o->sb);
}

/* file_write_and_wait_range without its look at the errors of the file. */
static int write_and_wait(struct ffs_ops *o, struct ffs_inode *inode, u64 first, u64 last)
{
	int err;

	if (!ffs_mapping_tagged(inode->mapping, FFS_TAG_DIRTY) &&
	    !ffs_mapping_tagged(inode->mapping, FFS_TAG_WRITEBACK))
		return 0;
	err = ffs_filemap_flush(o, inode, first, last, FFS_WB_ALL);
	if (err != -EIO)
		wait_range(o, inode, first, last);
	return err;
}

int ffs_write_and_wait(struct ffs_ops *o, struct ffs_inode *inode, u64 first, u64 last)
{
	int err = write_and_wait(o, inode, first, last), ret = ffs_mapping_check_error(inode);

	return err ? err : ret;
}

static int sync_journal(struct ffs_ops *o, struct ffs_inode *inode, bool datasync)
{
	int ret;

	/* "ext4: Drop special handling of journalled data from ext4_sync_file()" (v6.3) */
	if (!ffs_is_reg(inode) || (!ffs_sb_has(&o->sb, FOLIOFS_CHANGE_WRITEPAGES_JDATA) &&
				   ffs_should_journal_data(&o->sb, inode)))
		ret = ffs_journal_force_commit(o->sb.journal);
	else
		ret = ffs_journal_wait_commit(o->sb.journal,
					      datasync ? inode->datasync_tid : inode->sync_tid);
	return ret < 0 ? ret : 0;
}

int ffs_tell_error(struct ffs_file *f, int err)
{
	if (!f)
		return err;
	f->inode->as_eio = f->inode->as_enospc = false;
	if (f->wb_seen == f->inode->wb_err)
		return err;
	f->wb_seen = f->inode->wb_err;
	f->inode->wb_told = true;
	return err ? err : f->inode->wb_errno;
}

/* @f NULL: nobody to tell of failed writes. */
static int do_fsync(struct ffs_ops *o, struct ffs_inode *inode, struct ffs_file *f, u64 first,
		    u64 last, bool datasync)
{
	struct ffs_super *sb = &o->sb;
	int err;

	ffs_emit(&sb->env, ext4_sync_file_enter, inode->ino, ffs_vfs(inode)->parent, datasync);
	err = ffs_journal_error(sb->journal);
	if (!err)
		err = write_and_wait(o, inode, first, last);
	/* Lost data is told without a commit. */
	err = ffs_tell_error(f, err);
	if (!err && ffs_journal_present(sb->journal))
		err = sync_journal(o, inode, datasync);
	else if (!err && !datasync && !ffs_mapping_tagged(inode->mapping, FFS_TAG_DIRTY))
		ffs_inode_cleaned(sb, inode); /* without a journal it is written out itself */
	err = ffs_tell_error(f, err);
	ffs_emit(&sb->env, ext4_sync_file_exit, inode->ino, (u64)(s64)err);
	return err;
}

int ffs_fsync(struct ffs_ops *o, struct ffs_inode *inode, u64 first, u64 last, bool datasync)
{
	return do_fsync(o, inode, NULL, first, last, datasync);
}

int ffs_fsync_file(struct ffs_ops *o, struct ffs_file *f, u64 first, u64 last, bool datasync)
{
	return do_fsync(o, f->inode, f, first, last, datasync);
}

/*
 * One pass of the flusher over the inodes that are dirty now, oldest first
 * (writeback_sb_inodes): true if a page was written or an inode became clean.
 */
bool ffs_flusher_pass(struct ffs_ops *o, struct ffs_wbc proto)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_inode **list = sb->dirty;
	u32 n = sb->nr_dirty, i;
	u8 thread = sb->env.thread;
	bool progress = false;

	sb->dirty = NULL;
	sb->nr_dirty = sb->cap_dirty = 0;
	for (i = 0; i < n; i++)
		list[i]->on_dirty_list = false;
	sb->env.thread = FOLIOFS_THREAD_FLUSHER;
	for (i = 0; i < n; i++) {
		struct ffs_wbc wbc = proto;

		if (ffs_is_reg(list[i]))
			ffs_path_of(sb, list[i])->writepages(sb, list[i], &wbc);
		progress |= proto.nr_to_write - wbc.nr_to_write > wbc.pages_skipped;
		/* Dirtied by its own writeback, it has been written; pages left are visited again. */
		if (ffs_mapping_tagged(list[i]->mapping, FFS_TAG_DIRTY)) {
			ffs_inode_dirtied(sb, list[i]);
		} else {
			ffs_inode_cleaned(sb, list[i]);
			progress = true;
		}
	}
	sb->env.thread = thread;
	free(list);
	return progress;
}

/*
 * Passes as long as they get on (wb_writeback).  SIMPLIFIED: in the kernel a pass that lasts
 * beyond its clock tick is the last one: what is still dirty then counts as dirtied later.
 */
static void flusher(struct ffs_ops *o, struct ffs_wbc proto)
{
	while (o->sb.nr_dirty && ffs_flusher_pass(o, proto))
		;
}

/* Pages of one chunk of background writeback. SIMPLIFIED: the kernel's depends on bandwidth. */
#define WRITEBACK_CHUNK 6144

static const struct ffs_wbc wbc_all = {
	.sync_mode = FFS_WB_ALL, .nr_to_write = FFS_LLONG_MAX, .range_end = FFS_LLONG_MAX,
};

/* The end of sync and syncfs: commits asked for without and then with waiting. */
static int finish_sync(struct ffs_ops *o)
{
	struct ffs_super *sb = &o->sb;
	u32 tid;
	int ret = 0;

	ffs_emit(&sb->env, ext4_sync_fs, 0);
	if (ffs_journal_tid(sb->journal))
		ffs_journal_request_commit(sb->journal);
	flusher(o, wbc_all);
	ffs_sleep(sb);
	ffs_emit(&sb->env, ext4_sync_fs, 1);
	tid = ffs_journal_tid(sb->journal);
	if (tid)
		ret = ffs_journal_wait_commit(sb->journal, tid);
	ffs_journal_written(sb->journal);
	ffs_home_synced(sb);
	return ret < 0 ? ret : 0;
}

int ffs_syncfs(struct ffs_ops *o)
{
	int ret;
	const struct ffs_wbc none = {
		.sync_mode = FFS_WB_NONE, .nr_to_write = FFS_LLONG_MAX, .range_end = FFS_LLONG_MAX,
	};

	flusher(o, none);
	ffs_run_work(&o->sb);
	ret = finish_sync(o);
	/* Data that could not be written since the last time (s_wb_err). */
	if (!ret)
		ret = o->sb.wb_error;
	o->sb.wb_error = 0;
	return ret;
}

int ffs_sync(struct ffs_ops *o)
{
	const struct ffs_wbc none = {
		.sync_mode = FFS_WB_NONE, .nr_to_write = WRITEBACK_CHUNK,
		.range_end = FFS_LLONG_MAX, .range_cyclic = true,
	};

	flusher(o, none);
	ffs_run_work(&o->sb);
	return finish_sync(o);
}

void ffs_flush_all(struct ffs_super *sb)
{
	const struct ffs_wbc none = {
		.sync_mode = FFS_WB_NONE, .nr_to_write = FFS_LLONG_MAX, .range_end = FFS_LLONG_MAX,
	};

	flusher(ffs_ops(sb), none);
	ffs_run_work(sb);
}

int ffs_sync_range(struct ffs_ops *o, struct ffs_file *f, u64 off, u64 len, u32 flags)
{
	u64 last = len ? off + len - 1 : FFS_LLONG_MAX;
	int err = 0;

	if (flags & FOLIOFS_SYNC_RANGE_WAIT_BEFORE)
		wait_range(o, f->inode, off, last);
	if (flags & FOLIOFS_SYNC_RANGE_WRITE)
		err = ffs_filemap_flush(o, f->inode, off, last,
					(flags & FOLIOFS_SYNC_RANGE_WAIT_BEFORE) &&
							(flags & FOLIOFS_SYNC_RANGE_WAIT_AFTER) ?
						FFS_WB_ALL :
						FFS_WB_NONE);
	if (!err && (flags & FOLIOFS_SYNC_RANGE_WAIT_AFTER)) {
		wait_range(o, f->inode, off, last);
		err = ffs_tell_error(f, 0);
	}
	return err;
}
