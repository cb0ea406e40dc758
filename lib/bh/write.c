// SPDX-License-Identifier: MIT
/*
 * write_begin and write_end of buffered writes: ext4_da_write_begin/_end,
 * ext4_write_begin/_end, ext4_journalled_write_end, and the folio they find or make
 * (__filemap_get_folio with an order hint), as of v6.18.
 */
#include "bh.h"

/* Order that a write of @len bytes asks for (folios.md 2.2). */
static u8 order_hint(const struct ffs_super *sb, u64 len)
{
	u32 bits = ilog2(len);

	return bits <= sb->env.page_bits ? 0 : (u8)(bits - sb->env.page_bits);
}

struct ffs_folio *ffs_write_folio(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 len)
{
	struct ffs_mapping *m = inode->mapping;
	u32 index = (u32)(pos >> sb->env.page_bits);
	struct ffs_folio *f = ffs_folio_find(m, index);
	u8 order;

	if (f)
		return f;
	index &= ~((1u << m->min_order) - 1);
	order = min(max(order_hint(sb, len), m->min_order), m->max_order);
	if (index & ((1u << order) - 1))
		order = (u8)__builtin_ctz(index);
	/* Before order one was possible in the page cache. */
	if (order == 1 && m->min_order == 0 && !ffs_sb_has(sb, FOLIOFS_CHANGE_ORDER_ONE))
		order = 0;
	/* Something in the way (or, in the kernel, no memory): one order less. */
	while ((order > m->min_order && ffs_fails(&sb->env, MEMORY)) ||
	       !(f = ffs_folio_add(m, index, order)))
		order--;
	return f;
}

/* Size of one folio step: the folio may end before the request does. */
static u64 cut(const struct ffs_mapping *m, const struct ffs_folio *f, u64 pos, u64 len)
{
	return min(len, ffs_folio_end(m, f) - pos);
}

void ffs_truncate_failed(struct ffs_super *sb, struct ffs_inode *inode)
{
	ffs_truncate_cache(sb, inode, inode->i_size, ~0ull);
	sb->truncate(sb, inode);
}

static int da_write_begin(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 *len,
			  struct ffs_write *w)
{
	u64 asked = *len;
	u32 retries = 0;
	int err;

	ffs_emit(&sb->env, ext4_da_write_begin, inode->ino, pos, asked);
	err = ffs_inline_da_write_begin(sb, inode, pos, asked, w);
	if (err)
		return err < 0 ? err : 0;
	do {
		w->folio = ffs_write_folio(sb, inode, pos, asked);
		*len = cut(inode->mapping, w->folio, pos, asked);
		err = ffs_block_write_begin(sb, NULL, inode, w->folio, pos, *len, FFS_BH_GET_DA);
		if (!err)
			return 0;
		if (pos + *len > inode->i_size)
			ffs_truncate_failed(sb, inode);
	} while (err == -ENOSPC && ffs_should_retry_alloc(sb, &retries));
	return err;
}

/* The handle of a step; @ask was counted when the step began, for an inode that has moved since. */
static int start_step(struct ffs_super *sb, struct ffs_inode *inode, const struct foliofs_ask *ask,
		      struct ffs_handle **h)
{
	return ffs_handle_start(sb->journal, inode->ino, ask->type, ask->credits.total, ask->rsv,
				ask->revokes, "ext4_write_begin", h);
}

/* A retry starts its handle before it sees that its folio has been truncated: it stops it again. */
static int start_for_nothing(struct ffs_super *sb, struct ffs_inode *inode,
			     const struct foliofs_ask *ask)
{
	struct ffs_handle *h;
	int err = start_step(sb, inode, ask, &h);

	if (!err)
		ffs_handle_stop(h);
	return err;
}

/* Blocks are allocated here: nodelalloc, data=journal, or no space to promise. */
static int direct_write_begin(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 *len,
			      struct ffs_write *w)
{
	struct ffs_mapping *m = inode->mapping;
	struct foliofs_inode_kind before = ffs_inode_kind(sb, inode);
	/* Before data leaves the inode: a file with data in it asks like one without extents. */
	struct foliofs_ask ask = foliofs_ask(&sb->env.kernel, &sb->env.geo, &before,
					     FOLIOFS_CREDIT_WRITE_BEGIN, 0);
	u64 asked = *len;
	u32 retries = 0, rounds = 0;
	bool gone = false;
	int err;

	ffs_emit(&sb->env, ext4_write_begin, inode->ino, pos, asked);
	w->direct = true;
	err = ffs_inline_write_begin(sb, inode, pos, asked, w);
	if (err)
		return err < 0 ? err : 0;
	do {
		struct foliofs_inode_kind kind = ffs_inode_kind(sb, inode);
		enum ffs_bh_get get = FFS_BH_GET_BLOCK;
		bool extended;

		if (gone) {
			err = start_for_nothing(sb, inode, &ask);
			if (err)
				return err;
		}
		w->folio = ffs_write_folio(sb, inode, pos, asked);
		*len = cut(m, w->folio, pos, asked);
		ffs_folio_attach_buffers(m, w->folio);
		err = start_step(sb, inode, &ask, &w->handle);
		if (err)
			return err;
		/* Stable pages: what is under I/O is waited for. */
		if (w->folio->flags & FFS_FOLIO_WRITEBACK)
			ffs_sleep(sb);
		if (foliofs_dioread_nolock(&sb->env.kernel, &sb->env.geo, &kind))
			get = FFS_BH_GET_UNWRITTEN;
		err = ffs_block_write_begin(sb, w->handle, inode, w->folio, pos, *len, get);
		if (!err)
			return 0;
		extended = pos + *len > inode->i_size;
		if (extended)
			ffs_orphan_add(sb, w->handle, inode);
		ffs_handle_stop(w->handle);
		w->handle = NULL;
		if (extended) {
			ffs_truncate_failed(sb, inode);
			if (inode->nlink)
				ffs_orphan_del(sb, NULL, inode);
		}
		gone = !ffs_folio_find(m, (u32)(pos >> sb->env.page_bits));
		/* v6.17 and v6.18 retry without limit: what was mapped behind EOF is gone each time. */
		if (err == -EAGAIN && ++rounds >= FFS_LIVELOCK_ROUNDS) {
			ffs_emit(&sb->env, foliofs_livelock, inode->ino, rounds,
				 ffs_str("write_begin"));
			return -EAGAIN;
		}
	} while (err == -EAGAIN || (err == -ENOSPC && ffs_should_retry_alloc(sb, &retries)));
	return err;
}

int ffs_bh_write_begin(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 *len,
		       struct ffs_write *w)
{
	bool writeback = false;

	*w = (struct ffs_write){ 0 };
	if (sb->env.geo.mount.nodelalloc || ffs_should_journal_data(sb, inode))
		return direct_write_begin(sb, inode, pos, len, w);
	if (ffs_nonda_switch(sb->alloc, &writeback)) {
		if (writeback)
			sb->flush_all(sb);
		return direct_write_begin(sb, inode, pos, len, w);
	}
	if (writeback)
		sb->flush_all(sb);
	return da_write_begin(sb, inode, pos, len, w);
}

/* What a short copy rejects: the step is done again with less. */
static u64 accepted(const struct ffs_folio *f, u64 len, u64 copied)
{
	return copied < len && !(f->flags & FFS_FOLIO_UPTODATE) ? 0 : copied;
}

/* zero-old-eof, until the write does it before the copy (zero-eof-before-append). */
static bool zeroes_old_eof(const struct ffs_super *sb)
{
	return ffs_sb_has(sb, FOLIOFS_CHANGE_ZERO_OLD_EOF) &&
	       !ffs_sb_has(sb, FOLIOFS_CHANGE_IM_ZERO_EOF_BEFORE_APPEND);
}

/* The size grew beyond an old EOF that the write left behind it. */
static int zero_old_eof(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode,
			u64 old, u64 pos)
{
	ffs_isize_extended(sb, inode, old, pos);
	if (!zeroes_old_eof(sb))
		return 0;
	return ffs_bh_zero_partial(sb, h, inode, old, pos - old);
}

/* May i_disksize follow at once?  Only if the block of the last byte is plainly allocated. */
static bool eof_block_allocated(const struct ffs_super *sb, const struct ffs_mapping *m,
				const struct ffs_folio *f, u64 size)
{
	u32 b = (u32)(ffs_lf_offset(sb, FOLIOFS_CHANGE_LF_WRITE, m, f, size - 1) >>
		      sb->env.block_bits);

	return ffs_bh_test(f, FFS_BH_MAPPED, b) && !ffs_bh_test(f, FFS_BH_DELAY, b) &&
	       !ffs_bh_test(f, FFS_BH_UNWRITTEN, b);
}

static s64 da_write_end(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 len, u64 copied,
			struct ffs_write *w)
{
	u64 old = inode->i_size, size;
	bool moved = false, zero;
	struct ffs_handle *h;
	int err;

	ffs_emit(&sb->env, ext4_da_write_end, inode->ino, pos, len, copied);
	if (w->inline_data)
		return ffs_inline_write_end(sb, inode, pos, len, copied, w);
	copied = accepted(w->folio, len, copied);
	if (copied < len)
		ffs_zero_new_buffers(sb, NULL, inode, w->folio, pos + copied, len - copied);
	ffs_store_content(sb, inode, &inode->mapping->content, pos, pos + copied);
	ffs_block_commit(sb, NULL, inode, w->folio, pos, copied, false);
	ffs_stop(&sb->env, WRITE_COPIED, inode->ino, FFS_HELD_INODE | FFS_HELD_FOLIOS, pos,
		 pos + len);
	size = pos + copied;
	if (size > old) {
		ffs_set_isize(sb, inode, size);
		if (copied && eof_block_allocated(sb, inode->mapping, w->folio, size)) {
			if (size > inode->i_disksize)
				ffs_set_disksize(sb, inode, size);
			moved = true;
		}
	}
	if (pos > old)
		ffs_isize_extended(sb, inode, old, pos);
	/* Before da-disksize-handle every step that grew the file dirtied it as its times do. */
	if (!ffs_sb_has(sb, FOLIOFS_CHANGE_DA_DISKSIZE_HANDLE)) {
		if (size > old)
			ffs_dirty_inode(sb, inode);
		return (s64)copied;
	}
	zero = pos > old && zeroes_old_eof(sb);
	if (!moved && !zero)
		return (s64)copied;
	err = ffs_start(sb, inode, FOLIOFS_CREDIT_DA_WRITE_END, 0, "ext4_da_write_end", &h);
	if (err)
		return err;
	if (zero)
		ffs_bh_zero_partial(sb, h, inode, old, pos - old);
	ffs_mark_inode_dirty(sb, h, inode, "ext4_da_write_end");
	ffs_handle_stop(h);
	return (s64)copied;
}

static s64 direct_write_end(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 len,
			    u64 copied, struct ffs_write *w)
{
	bool journalled = ffs_should_journal_data(sb, inode), grew = false;
	u64 old = inode->i_size;

	if (journalled)
		ffs_emit(&sb->env, ext4_journalled_write_end, inode->ino, pos, len, copied);
	else
		ffs_emit(&sb->env, ext4_write_end, inode->ino, pos, len, copied);
	if (w->inline_data)
		return ffs_inline_write_end(sb, inode, pos, len, copied, w);
	copied = accepted(w->folio, len, copied);
	if (copied < len)
		ffs_zero_new_buffers(sb, w->handle, inode, w->folio, pos + copied, len - copied);
	ffs_store_content(sb, inode, &inode->mapping->content, pos, pos + copied);
	ffs_block_commit(sb, w->handle, inode, w->folio, pos, copied, journalled);
	ffs_stop(&sb->env, WRITE_COPIED, inode->ino,
		 FFS_HELD_INODE | FFS_HELD_FOLIOS | FFS_HELD_HANDLE, pos, pos + len);
	if (pos + copied > inode->i_size) {
		ffs_set_isize(sb, inode, pos + copied);
		grew = true;
	}
	if (pos + copied > inode->i_disksize) {
		ffs_set_disksize(sb, inode, pos + copied);
		grew = true;
	}
	if (journalled)
		ffs_update_fsync_tid(w->handle, inode, true);
	if (old < pos)
		zero_old_eof(sb, w->handle, inode, old, pos);
	if (grew)
		ffs_mark_inode_dirty(sb, w->handle, inode,
				     journalled ? "ext4_journalled_write_end" : "ext4_write_end");
	/* Blocks behind the size, from a short copy: trimmed, protected by the orphan list. */
	if (pos + len > inode->i_size)
		ffs_orphan_add(sb, w->handle, inode);
	ffs_handle_stop(w->handle);
	if (pos + len > inode->i_size) {
		ffs_truncate_failed(sb, inode);
		if (inode->nlink)
			ffs_orphan_del(sb, NULL, inode);
	}
	return (s64)copied;
}

s64 ffs_bh_write_end(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 len, u64 copied,
		     struct ffs_write *w)
{
	return w->direct ? direct_write_end(sb, inode, pos, len, copied, w) :
			   da_write_end(sb, inode, pos, len, copied, w);
}
