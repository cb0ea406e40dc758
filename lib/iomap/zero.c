// SPDX-License-Identifier: MIT
/*
 * Zeroing and unsharing in the cache: iomap_zero_range, iomap_zero_iter,
 * iomap_truncate_page, iomap_file_unshare (v6.18).
 */
#include "iomap.h"

/* Some folio of [pos, end) is dirty or under writeback. */
static bool needs_writeback(struct ffs_mapping *m, u64 pos, u64 end)
{
	u32 first = (u32)(pos >> m->env->page_bits), last = (u32)((end - 1) >> m->env->page_bits);
	struct ffs_folio *f = ffs_folio_next_tagged(m, first, FFS_TAG_DIRTY);

	if (f && f->index <= last)
		return true;
	f = ffs_folio_next_tagged(m, first, FFS_TAG_WRITEBACK);
	return f && f->index <= last;
}

/* im-size-write: before it the end of any step moved i_size, not of writes alone. */
static void size_follows(struct ffs_iomap_iter *it, u64 end)
{
	if (end > it->inode->i_size && !ffs_sb_has(it->sb, FOLIOFS_CHANGE_IM_SIZE_WRITE))
		ffs_set_isize(it->sb, it->inode, end);
}

/* With a batch only dirty folios are visited: goes on to the next one; false: none is left. */
static bool next_dirty(struct ffs_iomap_iter *it, u64 *len)
{
	struct ffs_mapping *m = it->inode->mapping;
	u64 end = it->pos + *len;
	struct ffs_folio *f = ffs_folio_next_tagged(m, (u32)(it->pos >> m->env->page_bits),
						    FFS_TAG_DIRTY);

	if (!f || ffs_folio_pos(m, f) >= end) {
		ffs_iomap_advance(it, *len);
		return false;
	}
	if (ffs_folio_pos(m, f) > it->pos)
		ffs_iomap_advance(it, ffs_folio_pos(m, f) - it->pos);
	*len = end - it->pos;
	return true;
}

/* Behind EOF alone: no byte of the file has been changed yet, whatever runs here. */
static void stop_mapped(const struct ffs_iomap_iter *it, u64 len)
{
	struct ffs_super *sb = it->sb;
	u32 held = FFS_HELD_INODE | FFS_HELD_INVALIDATE;

	if (likely(!sb->env.stop) || it->pos < it->inode->i_size)
		return;
	if (sb->journal && ffs_journal_current(sb->journal))
		held |= FFS_HELD_HANDLE;
	ffs_stop(&sb->env, ZERO_MAPPED, it->inode->ino, held, it->pos, it->pos + len);
}

static void zero_map(struct ffs_iomap_iter *it, bool *did)
{
	struct ffs_mapping *m = it->inode->mapping;
	bool batch = it->map.flags & FFS_IOMAP_F_BATCH;
	u64 len;

	while ((len = ffs_iomap_length(it))) {
		struct ffs_folio *f;

		if (batch && !next_dirty(it, &len))
			return;
		stop_mapped(it, len);
		it->status = ffs_iomap_write_begin(it, &len, &f);
		if (it->status || !f)
			return;
		ffs_emit(&it->sb->env, iomap_zero_iter, it->inode->ino, it->inode->i_size, it->pos,
			 len);
		ffs_content_zero(&m->content, it->pos, it->pos + len);
		ffs_emit(&it->sb->env, foliofs_zero, it->inode->ino, it->pos, len,
			 ffs_str("in the cache"));
		ffs_iomap_write_end(it, len, len, f);
		size_follows(it, it->pos + len);
		*did = true;
		ffs_iomap_advance(it, len);
	}
}

int ffs_iomap_zero_range(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 len,
			 bool *did)
{
	const struct ffs_iomap_fs *fs = sb->iomap_fs;
	const struct ffs_iomap_ops *ops = fs->zero ? fs->zero : fs->write;
	struct ffs_iomap_iter it = {
		.sb = sb, .inode = inode, .pos = pos, .len = len, .flags = FFS_IOMAP_ZERO,
		.caller = "iomap_zero_range",
	};
	u64 block = ffs_block_size(&sb->env), edge;
	/* Before v6.12 unwritten blocks were taken for zero whatever the cache had. */
	bool look = ffs_sb_has(sb, FOLIOFS_CHANGE_IM_ZERO_DIRTY), dirty;
	int ret;

	if (!len)
		return 0;
	edge = min(len, block - (pos & (block - 1)));
	/* A dirty first block is zeroed in the cache, whatever is mapped there (6.19: a batch). */
	if (look && !fs->zero && (pos & (block - 1)) && needs_writeback(inode->mapping, pos, pos + edge)) {
		it.len = edge;
		while ((ret = ffs_iomap_iter(&it, ops)) > 0)
			zero_map(&it, did);
		it.len = len - (it.pos - pos);
		if (ret || !it.len)
			return ret;
	}
	dirty = look && needs_writeback(inode->mapping, it.pos, it.pos + it.len);
	while ((ret = ffs_iomap_iter(&it, ops)) > 0) {
		const struct ffs_iomap *src = ffs_iomap_source(&it);

		if ((src->type != FFS_IOMAP_HOLE && src->type != FFS_IOMAP_UNWRITTEN) ||
		    (src->flags & FFS_IOMAP_F_BATCH)) {
			zero_map(&it, did);
		} else if (dirty) {
			/* Writeback may turn the map into data: once, then ask again. */
			dirty = false;
			it.map.flags |= FFS_IOMAP_F_STALE;
			it.status = ffs_iomap_write_and_wait(sb, inode, it.pos,
							     it.pos + it.len - 1);
		} else {
			ffs_iomap_advance(&it, ffs_iomap_length(&it));
		}
	}
	return ret;
}

int ffs_iomap_truncate_page(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, bool *did)
{
	u64 block = ffs_block_size(&sb->env), off = pos & (block - 1);

	return off ? ffs_iomap_zero_range(sb, inode, pos, block - off, did) : 0;
}

static void unshare_map(struct ffs_iomap_iter *it)
{
	u64 len = ffs_iomap_length(it);

	if (!(it->map.flags & FFS_IOMAP_F_SHARED) ||
	    ffs_iomap_source(it)->type != FFS_IOMAP_MAPPED) {
		ffs_iomap_advance(it, len);
		return;
	}
	while ((len = ffs_iomap_length(it))) {
		struct ffs_folio *f;

		it->status = ffs_iomap_write_begin(it, &len, &f);
		if (it->status || !f)
			return;
		ffs_iomap_write_end(it, len, len, f);
		size_follows(it, it->pos + len);
		ffs_iomap_advance(it, len);
	}
}

int ffs_iomap_unshare(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 len)
{
	struct ffs_iomap_iter it = {
		.sb = sb, .inode = inode, .pos = pos, .flags = FFS_IOMAP_WRITE | FFS_IOMAP_UNSHARE,
		.caller = "iomap_file_unshare",
	};
	int ret;

	if (pos >= inode->i_size)
		return 0;
	it.len = min(len, inode->i_size - pos);
	while ((ret = ffs_iomap_iter(&it, sb->iomap_fs->write)) > 0)
		unshare_map(&it);
	return ret;
}
