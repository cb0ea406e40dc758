// SPDX-License-Identifier: MIT
/*
 * Inodes in core, dirtying them, the orphan list, and workers: see super.h.
 * Stands for ext4_mark_inode_dirty, ext4_dirty_inode, ext4_orphan_add/del and the
 * workqueues that finish I/O.
 */
#include "data_path.h"

static u32 inode_slot(const struct ffs_super *sb, u32 ino)
{
	return (u32)(ino * 2654435761u) & (sb->cap_inodes - 1);
}

struct ffs_inode *ffs_inode_find(const struct ffs_super *sb, u32 ino)
{
	u32 i;

	if (!sb->cap_inodes)
		return NULL;
	for (i = inode_slot(sb, ino); sb->inodes[i]; i = (i + 1) & (sb->cap_inodes - 1))
		if (sb->inodes[i]->ino == ino)
			return sb->inodes[i];
	return NULL;
}

static void place(struct ffs_super *sb, struct ffs_inode *inode)
{
	u32 i;

	for (i = inode_slot(sb, inode->ino); sb->inodes[i]; i = (i + 1) & (sb->cap_inodes - 1))
		;
	sb->inodes[i] = inode;
}

void ffs_inode_add(struct ffs_super *sb, struct ffs_inode *inode)
{
	if (2 * (sb->nr_inodes + 1) > sb->cap_inodes) {
		struct ffs_inode **old = sb->inodes;
		u32 n = sb->cap_inodes, i;

		sb->cap_inodes = n ? 2 * n : 64;
		sb->inodes = ffs_zalloc(sb->cap_inodes * sizeof(*sb->inodes));
		for (i = 0; i < n; i++)
			if (old[i])
				place(sb, old[i]);
		free(old);
	}
	place(sb, inode);
	inode->seq = ++sb->inode_seq;
	sb->nr_inodes++;
}

void ffs_inode_remove(struct ffs_super *sb, struct ffs_inode *inode)
{
	u32 i = inode_slot(sb, inode->ino);

	while (sb->inodes[i] != inode)
		i = (i + 1) & (sb->cap_inodes - 1);
	sb->inodes[i] = NULL;
	sb->nr_inodes--;
	/* Those behind it in the same cluster find their place anew. */
	for (i = (i + 1) & (sb->cap_inodes - 1); sb->inodes[i]; i = (i + 1) & (sb->cap_inodes - 1)) {
		struct ffs_inode *moved = sb->inodes[i];

		sb->inodes[i] = NULL;
		place(sb, moved);
	}
	ffs_inode_cleaned(sb, inode);
}

void ffs_inode_cleaned(struct ffs_super *sb, struct ffs_inode *inode)
{
	u32 d;

	if (!inode->on_dirty_list)
		return;
	inode->on_dirty_list = false;
	for (d = 0; d < sb->nr_dirty; d++)
		if (sb->dirty[d] == inode) {
			memmove(&sb->dirty[d], &sb->dirty[d + 1],
				(--sb->nr_dirty - d) * sizeof(*sb->dirty));
			return;
		}
}

void ffs_inode_dirtied(struct ffs_super *sb, struct ffs_inode *inode)
{
	if (inode->on_dirty_list)
		return;
	inode->on_dirty_list = true;
	if (sb->nr_dirty == sb->cap_dirty) {
		sb->cap_dirty = sb->cap_dirty ? 2 * sb->cap_dirty : 16;
		sb->dirty = ffs_realloc(sb->dirty, sb->cap_dirty * sizeof(*sb->dirty));
	}
	sb->dirty[sb->nr_dirty++] = inode;
}

bool ffs_should_journal_data(const struct ffs_super *sb, const struct ffs_inode *inode)
{
	/* An inode on iomap does not look at its flag. */
	if (inode->flags & FFS_INODE_IOMAP)
		return false;
	return foliofs_journals_data(&sb->env.kernel, &sb->env.geo, ffs_is_reg(inode),
				     inode->flags & FFS_INODE_JOURNAL_DATA,
				     inode->mapping ? inode->mapping->max_order : 0);
}

bool ffs_should_order_data(const struct ffs_super *sb, const struct ffs_inode *inode)
{
	return ffs_journal_present(sb->journal) && ffs_is_reg(inode) &&
	       sb->env.geo.mount.data != FOLIOFS_DATA_WRITEBACK &&
	       !((inode->flags & FFS_INODE_IOMAP) && ffs_sb_has(sb, FOLIOFS_CHANGE_IM_NOORDER)) &&
	       !ffs_should_journal_data(sb, inode);
}

struct foliofs_inode_kind ffs_inode_kind(const struct ffs_super *sb, const struct ffs_inode *inode)
{
	struct foliofs_inode_kind kind = {
		.extents = (inode->flags & FFS_INODE_EXTENTS) &&
			   !(inode->flags & FFS_INODE_INLINE_DATA),
		.regular = ffs_is_reg(inode),
		.journal_flag = inode->flags & FFS_INODE_JOURNAL_DATA,
		.journal_data = ffs_should_journal_data(sb, inode),
		.order = inode->mapping ? inode->mapping->max_order : 0,
		.i_blocks = inode->i_blocks,
	};

	if (inode->flags & FFS_INODE_IOMAP)
		kind.journal_flag = false;
	else
		kind.buffer_heads = true;
	if (kind.extents)
		kind.depth = (u8)ffs_inode_depth(inode);
	return kind;
}

int ffs_start(struct ffs_super *sb, struct ffs_inode *inode, enum foliofs_credit_op op, u32 len,
	      const char *caller, struct ffs_handle **h)
{
	struct foliofs_inode_kind kind = ffs_inode_kind(sb, inode);
	struct foliofs_ask ask = foliofs_ask(&sb->env.kernel, &sb->env.geo, &kind, op, len);

	return ffs_handle_start(sb->journal, inode->ino, ask.type, ask.credits.total, ask.rsv,
				ask.revokes, caller, h);
}

int ffs_start_sb(struct ffs_super *sb, enum foliofs_credit_op op, const char *caller,
		 struct ffs_handle **h)
{
	struct foliofs_inode_kind kind;
	struct foliofs_ask ask;

	foliofs_inode_kind_init(&sb->env.kernel, &sb->env.geo, &kind);
	ask = foliofs_ask(&sb->env.kernel, &sb->env.geo, &kind, op, 0);
	return ffs_handle_start(sb->journal, 0, ask.type, ask.credits.total, ask.rsv, ask.revokes,
				caller, h);
}

int ffs_mark_inode_dirty(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode,
			 const char *caller)
{
	ffs_emit(&sb->env, ext4_mark_inode_dirty, inode->ino, ffs_str(caller));
	/* fdatasync must see a new size: the raw inode is compared with i_disksize. */
	ffs_update_fsync_tid(h, inode, inode->raw_disksize != inode->i_disksize);
	inode->raw_disksize = inode->i_disksize;
	return ffs_journal_dirty(h, ffs_inode_table_block(sb->alloc, inode->ino));
}

int ffs_dirty_inode(struct ffs_super *sb, struct ffs_inode *inode)
{
	struct ffs_handle *h;
	int err;

	/* XFS: its log alone has the times, the flusher nothing to do. */
	if (sb->dirty_inode)
		return sb->dirty_inode(sb, inode);
	ffs_inode_dirtied(sb, inode);
	err = ffs_start(sb, inode, FOLIOFS_CREDIT_DIRTY_INODE, 0, "ext4_dirty_inode", &h);
	if (err)
		return err;
	err = ffs_mark_inode_dirty(sb, h, inode, "ext4_dirty_inode");
	ffs_handle_stop(h);
	return err;
}

bool ffs_is_orphan(const struct ffs_super *sb, u32 ino)
{
	u32 i;

	for (i = 0; i < sb->nr_orphans; i++)
		if (sb->orphans[i] == ino)
			return true;
	return false;
}

/* Block that the orphan file (CPU 0: its first block) or the list's head is kept in. */
static u64 orphan_block(const struct ffs_super *sb)
{
	return ffs_feature(&sb->env, FOLIOFS_FEATURE_ORPHAN_FILE) ? sb->orphan_file_block :
								     sb->sb_block;
}

int ffs_orphan_add(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode)
{
	int err = 0;

	/* Without a journal there is no orphan processing. */
	if (!ffs_journal_present(sb->journal) || ffs_is_orphan(sb, inode->ino))
		return 0;
	if (sb->nr_orphans == sb->cap_orphans) {
		sb->cap_orphans = sb->cap_orphans ? 2 * sb->cap_orphans : 16;
		sb->orphans = ffs_realloc(sb->orphans, sb->cap_orphans * sizeof(*sb->orphans));
	}
	memmove(&sb->orphans[1], &sb->orphans[0], sb->nr_orphans++ * sizeof(*sb->orphans));
	sb->orphans[0] = inode->ino;
	err = ffs_journal_dirty(h, orphan_block(sb));
	if (!err && !ffs_feature(&sb->env, FOLIOFS_FEATURE_ORPHAN_FILE))
		err = ffs_journal_dirty(h, ffs_inode_table_block(sb->alloc, inode->ino));
	return err;
}

int ffs_orphan_del(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode)
{
	u32 i, newer;
	int err;

	for (i = 0; i < sb->nr_orphans && sb->orphans[i] != inode->ino; i++)
		;
	if (i == sb->nr_orphans)
		return 0;
	newer = i ? sb->orphans[i - 1] : 0;
	memmove(&sb->orphans[i], &sb->orphans[i + 1],
		(--sb->nr_orphans - i) * sizeof(*sb->orphans));
	if (!h)
		return 0;
	if (ffs_feature(&sb->env, FOLIOFS_FEATURE_ORPHAN_FILE))
		return ffs_journal_dirty(h, orphan_block(sb));
	/* The head of the list is in the superblock, any other link in the inode added after it. */
	err = ffs_journal_dirty(h, newer ? ffs_inode_table_block(sb->alloc, newer) : sb->sb_block);
	if (!err)
		err = ffs_journal_dirty(h, ffs_inode_table_block(sb->alloc, inode->ino));
	return err;
}

void ffs_store_content(struct ffs_super *sb, const struct ffs_inode *inode, struct ffs_runs *c,
		       u64 pos, u64 end)
{
	if (sb->copy_from)
		ffs_content_clone(c, pos, sb->copy_from, pos + sb->copy_shift, end - pos,
				  inode->ino);
	else
		ffs_content_write(c, pos, end, ffs_src(sb->env.op, inode->ino));
}

void ffs_direct_bring(struct ffs_super *sb, u64 pos, u64 addr, u64 len)
{
	u64 stop = addr + len, n;

	for (; sb->direct_data && addr < stop; pos += n, addr += n) {
		const struct ffs_runs *disk;

		n = stop - addr;
		disk = ffs_device_view(sb, addr, &n);
		ffs_content_copy(&sb->direct_data->bytes, pos, disk, addr, n, FFS_SRC_ZERO);
	}
}

void ffs_mapping_error(struct ffs_super *sb, struct ffs_inode *inode, int err)
{
	inode->wb_err++;
	inode->wb_errno = err;
	inode->wb_told = false;
	if (err == -ENOSPC)
		inode->as_enospc = true;
	else
		inode->as_eio = true;
	sb->wb_error = err;
}

int ffs_mapping_check_error(struct ffs_inode *inode)
{
	int err = inode->as_eio ? -EIO : inode->as_enospc ? -ENOSPC : 0;

	inode->as_eio = inode->as_enospc = false;
	return err;
}

void ffs_queue_work(struct ffs_super *sb, struct ffs_work *w)
{
	w->next = NULL;
	if (!sb->work)
		sb->work_tail = &sb->work;
	*sb->work_tail = w;
	sb->work_tail = &w->next;
}

void ffs_run_work(struct ffs_super *sb)
{
	u8 thread = sb->env.thread;
	struct ffs_locks locks;
	struct ffs_handle *h;

	if (sb->in_work)
		return;
	/* The task sleeps: its plug is flushed, and the device gets on. */
	sb->plug.batch++;
	sb->plug.requests = sb->plug.in_flight = 0;
	if (!sb->work)
		return;
	sb->in_work = true;
	/* The task that sleeps may hold a handle; workers are other tasks. */
	h = ffs_journal_switch_task(sb->journal, NULL);
	locks = ffs_locks_switch(&sb->env, (struct ffs_locks){ 0 });
	while (sb->work) {
		struct ffs_work *w = sb->work;

		sb->work = w->next;
		sb->env.thread = FOLIOFS_THREAD_WORKER;
		w->run(sb, w);
	}
	ffs_locks_switch(&sb->env, locks);
	ffs_journal_switch_task(sb->journal, h);
	sb->in_work = false;
	sb->env.thread = thread;
}

void ffs_sleep(struct ffs_super *sb)
{
	ffs_run_work(sb);
	ffs_journal_run_thread(sb->journal);
}

void ffs_set_isize(struct ffs_super *sb, struct ffs_inode *inode, u64 size)
{
	if (inode->i_size != size)
		ffs_emit(&sb->env, foliofs_isize, inode->ino, inode->i_size, size);
	inode->i_size = size;
}

void ffs_set_disksize(struct ffs_super *sb, struct ffs_inode *inode, u64 size)
{
	if (inode->i_disksize != size)
		ffs_emit(&sb->env, foliofs_disksize, inode->ino, inode->i_disksize, size);
	inode->i_disksize = size;
}

bool ffs_should_retry_alloc(struct ffs_super *sb, u32 *retries)
{
	if (!ffs_journal_present(sb->journal) || ++*retries > 3)
		return false;
	/* Nothing is about to be freed: any free block at all is worth another try. */
	if (!ffs_alloc_has_pending(sb->alloc)) {
		if (ffs_claim_delayed(sb->alloc, 1))
			return false;
		ffs_release_delayed(sb->alloc, 1);
		return true;
	}
	ffs_journal_force_commit(sb->journal);
	return true;
}
