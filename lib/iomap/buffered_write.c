// SPDX-License-Identifier: MIT
/*
 * Buffered writes: iomap_file_buffered_write, iomap_write_iter, iomap_write_begin/_end,
 * iomap_write_failed, iomap_write_delalloc_release (v6.18).
 */
#include "iomap.h"

/* Order that a step of @len bytes asks for (folios.md 2.2). */
static u8 order_hint(const struct ffs_env *env, u64 len)
{
	u32 bits = ilog2(len);

	return bits <= env->page_bits ? 0 : (u8)(bits - env->page_bits);
}

static struct ffs_folio *get_folio(struct ffs_mapping *m, u64 pos, u64 len)
{
	u32 index = (u32)(pos >> m->env->page_bits);
	struct ffs_folio *f = ffs_folio_find(m, index);
	u8 order;

	if (f)
		return f;
	index &= ~((1u << m->min_order) - 1);
	order = min(max(order_hint(m->env, len), m->min_order), m->max_order);
	if (index & ((1u << order) - 1))
		order = (u8)__builtin_ctz(index);
	/* Before order one was possible in the page cache. */
	if (order == 1 && !m->min_order && !ffs_has(m->env, FOLIOFS_CHANGE_ORDER_ONE))
		order = 0;
	/* Something in the way (or, in the kernel, no memory): one order less. */
	while ((order > m->min_order && ffs_fails(m->env, MEMORY)) ||
	       !(f = ffs_folio_add(m, index, order)))
		order--;
	return f;
}

/*
 * What a write leaves of the blocks at [pos, pos + len): read where they hold data, else zeros.
 * The blocks count as up to date from here on, before anything is copied: if that falls short, what
 * is not copied is the memory that the folio was made of (measured on 6.18.44).
 */
static void prepare(struct ffs_iomap_iter *it, struct ffs_folio *f, u64 len)
{
	const struct ffs_iomap *src = ffs_iomap_source(it);
	struct ffs_mapping *m = it->inode->mapping;
	u64 block = ffs_block_size(m->env), from = it->pos, to = it->pos + len;
	u64 pos = round_down_pow2(from, block), end = round_up_pow2(to, block);
	bool unshare = it->flags & FFS_IOMAP_UNSHARE;

	if (!unshare && from <= ffs_folio_pos(m, f) && to >= ffs_folio_end(m, f))
		return;
	ffs_ifs_alloc(m, f);
	if (f->flags & FFS_FOLIO_UPTODATE)
		return;
	while (pos < end) {
		u64 n = end - pos;

		ffs_ifs_read_range(m, f, &pos, &n);
		if (!n)
			return;
		if (!unshare && from <= pos && to >= pos + n) {
			pos += n;
			continue;
		}
		if (src->type != FFS_IOMAP_MAPPED || (src->flags & FFS_IOMAP_F_NEW) ||
		    pos >= it->inode->i_size) {
			if (from > pos)
				ffs_content_zero(&m->content, pos, min(from, pos + n));
			if (to < pos + n)
				ffs_content_zero(&m->content, max(to, pos), pos + n);
			if (max(from, pos) < min(to, pos + n))
				ffs_content_write(&m->content, max(from, pos), min(to, pos + n),
						  FFS_SRC_UNKNOWN);
		} else {
			u64 addr = ffs_iomap_addr(src, pos);

			ffs_iomap_bio(it->sb, "RS", addr, n);
			ffs_iomap_bio_piece(it->sb, it->inode, false, pos, addr, n);
			ffs_device_fill(it->sb, m, pos, addr, n);
		}
		ffs_ifs_set_uptodate(m, f, pos - ffs_folio_pos(m, f), n);
		pos += n;
	}
}

int ffs_iomap_write_begin(struct ffs_iomap_iter *it, u64 *len, struct ffs_folio **f)
{
	const struct ffs_iomap_fs *fs = it->sb->iomap_fs;
	struct ffs_mapping *m = it->inode->mapping;

	*len = min(*len, ffs_iomap_length(it));
	*f = get_folio(m, it->pos, *len);
	ffs_lock(&it->sb->env, FFS_LOCK_FOLIO, it->inode->ino);
	/* Stable pages: what is under I/O is waited for. */
	if ((*f)->flags & FFS_FOLIO_WRITEBACK) {
		ffs_lock_wait(&it->sb->env, FFS_LOCK_END_IO, it->inode->ino);
		ffs_sleep(it->sb);
	}
	if (fs->valid && !fs->valid(it->sb, it->inode, &it->map)) {
		it->map.flags |= FFS_IOMAP_F_STALE;
		*f = NULL;
		ffs_unlock(&it->sb->env, FFS_LOCK_FOLIO);
		return 0;
	}
	*len = min(*len, ffs_folio_end(m, *f) - it->pos);
	prepare(it, *f, *len);
	return 0;
}

bool ffs_iomap_write_end(struct ffs_iomap_iter *it, u64 len, u64 copied, struct ffs_folio *f)
{
	struct ffs_mapping *m = it->inode->mapping;
	u64 off = it->pos - ffs_folio_pos(m, f);

	/* Zeroing and unsharing copy nothing of a caller. */
	if (it->flags == FFS_IOMAP_WRITE)
		ffs_emit(&it->sb->env, foliofs_step, it->inode->ino, 1, it->pos, copied,
			 ffs_folio_size(m, f));
	/* (Sizes still move under the lock: nothing is taken until then.) */
	ffs_unlock(&it->sb->env, FFS_LOCK_FOLIO);
	if (copied < len && !(f->flags & FFS_FOLIO_UPTODATE))
		return false;
	ffs_ifs_set_uptodate(m, f, off, len);
	ffs_ifs_set_dirty(m, f, off, copied);
	ffs_folio_set_dirty(f);
	ffs_inode_dirtied(it->sb, it->inode);
	return true;
}

/* What the step brought into the cache behind EOF goes again. */
static void write_failed(struct ffs_iomap_iter *it, u64 pos, u64 len)
{
	u64 size = it->inode->i_size;

	if (pos + len > size)
		ffs_truncate_cache(it->sb, it->inode, max(pos, size), pos + len);
}

/* Most that one step copies: no step crosses a boundary of it. */
static u64 step_size(const struct ffs_super *sb, const struct ffs_mapping *m)
{
	return (u64)ffs_page_size(&sb->env)
	       << (ffs_sb_has(sb, FOLIOFS_CHANGE_IM_WRITE_FOLIOS) ? m->max_order : m->min_order);
}

/* Rejected steps in a row that are taken for endless; from the largest folio down to a page: 11. */
#define REJECTED_ROUNDS 64u

/*
 * im-semicolon: a stray ';' made every step the rest of its folio, whatever had been prepared.
 * Bytes that the caller does not have cannot be copied, and a folio that is not up to date
 * takes all or nothing; bytes behind the map are copied into blocks that nobody mapped.
 */
static u64 forced_step(const struct ffs_iomap_iter *it, const struct ffs_folio *f, u64 len)
{
	if (!ffs_sb_has(it->sb, FOLIOFS_CHANGE_IM_SEMICOLON))
		return len;
	return ffs_folio_end(it->inode->mapping, f) - it->pos;
}

/*
 * A step that begins where its map has ended, where the kernel stops with a BUG_ON.  Here it is
 * told, and the next map is asked for.
 */
static bool map_ended(const struct ffs_iomap_iter *it)
{
	if (it->pos <= ffs_iomap_end(&it->map))
		return false;
	ffs_emit(&it->sb->env, foliofs_assert, it->inode->ino,
		 ffs_str("a write goes on behind its map"));
	return true;
}

/* The copy loop inside one map.  @left: bytes of the buffer not yet written, @readable of them. */
static void write_map(struct ffs_iomap_iter *it, u64 *readable)
{
	struct ffs_super *sb = it->sb;
	struct ffs_inode *inode = it->inode;
	struct ffs_mapping *m = inode->mapping;
	u64 page = ffs_page_size(&sb->env), chunk = step_size(sb, m), bytes = it->len;
	u64 total = 0;
	u32 rounds = 0;
	int status = 0;

	do {
		struct ffs_folio *f;
		u64 pos = it->pos, size = inode->i_size, copied, len;
		bool accepted;

		if (map_ended(it))
			break;
		len = min(bytes, chunk - (pos & (chunk - 1)));
		len = min(len, ffs_iomap_length(it));
		if (!*readable) {
			status = -EFAULT;
			break;
		}
		status = ffs_iomap_write_begin(it, &len, &f);
		if (status) {
			write_failed(it, pos, len);
			break;
		}
		if (!f)
			break;
		len = forced_step(it, f, len);
		ffs_stop(&sb->env, WRITE_BEGUN, inode->ino, FFS_HELD_INODE | FFS_HELD_FOLIOS, pos,
			 pos + len);
		copied = min(len, *readable);
		if (ffs_fails(&sb->env, SHORT_COPY))
			copied /= 2;
		accepted = ffs_iomap_write_end(it, len, copied, f);
		if (accepted)
			ffs_store_content(sb, inode, &m->content, pos, pos + copied);
		ffs_stop(&sb->env, WRITE_COPIED, inode->ino, FFS_HELD_INODE | FFS_HELD_FOLIOS, pos,
			 pos + len);
		/* A step that was rejected moves it too: behind EOF, up to where it began. */
		if (pos + (accepted ? copied : 0) > size) {
			ffs_set_isize(sb, inode, pos + (accepted ? copied : 0));
			it->map.flags |= FFS_IOMAP_F_SIZE_CHANGED;
		}
		if (size < pos)
			ffs_isize_extended(sb, inode, size, pos);
		ffs_stop(&sb->env, WRITE_ENDED, inode->ino, FFS_HELD_INODE, 0, 0);
		if (!accepted) {
			write_failed(it, pos, len);
			if (chunk > page)
				chunk /= 2;
			bytes = copied ? copied : it->len;
			if (++rounds < REJECTED_ROUNDS)
				continue;
			ffs_emit(&sb->env, foliofs_livelock, inode->ino, rounds,
				 ffs_str("write: step rejected again and again"));
			status = -EAGAIN;
			break;
		}
		rounds = 0;
		total += copied;
		*readable -= copied;
		ffs_iomap_advance(it, copied);
		bytes = it->len;
	} while (it->len && ffs_iomap_length(it));
	it->status = total ? 0 : status;
}

s64 ffs_iomap_write(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 len, u64 readable)
{
	struct ffs_iomap_iter it = {
		.sb = sb, .inode = inode, .pos = pos, .len = len, .flags = FFS_IOMAP_WRITE,
		.caller = "iomap_file_buffered_write",
	};
	int ret;

	while ((ret = ffs_iomap_iter(&it, sb->iomap_fs->write)) > 0)
		write_map(&it, &readable);
	return it.pos > pos ? (s64)(it.pos - pos) : ret;
}

/* Cached data from @pos on: *start, *end of the first run below @limit; false: none. */
static bool data_run(struct ffs_mapping *m, u64 pos, u64 limit, u64 *start, u64 *end)
{
	struct ffs_folio *f = ffs_folio_next(m, (u32)(pos >> m->env->page_bits));

	if (!f || ffs_folio_pos(m, f) >= limit)
		return false;
	*start = max(pos, ffs_folio_pos(m, f));
	*end = min(ffs_folio_end(m, f), limit);
	return true;
}

void ffs_iomap_release_delayed(struct ffs_super *sb, struct ffs_inode *inode, u64 start, u64 end,
			       const struct ffs_iomap *map)
{
	const struct ffs_iomap_fs *fs = sb->iomap_fs;
	struct ffs_mapping *m = inode->mapping;
	u64 scan_end = min(inode->i_size, end), punch = start, first, last;
	u64 block = ffs_block_size(&sb->env);

	while (start < scan_end && data_run(m, start, scan_end, &first, &last)) {
		struct ffs_folio *f = ffs_folio_find(m, (u32)(first >> m->env->page_bits));
		u64 pos = first, run;

		start = last;
		if (!(f->flags & FFS_FOLIO_DIRTY))
			continue;
		/* A dirty folio stays; with a state, its dirty blocks alone. */
		while ((run = ffs_ifs_dirty_run(m, f, &pos, round_up_pow2(last, block)))) {
			if (pos > punch)
				fs->punch_delayed(sb, inode, punch, pos, map);
			pos += run;
			punch = pos;
		}
	}
	if (punch < end)
		fs->punch_delayed(sb, inode, punch, end, map);
}
