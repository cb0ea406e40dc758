// SPDX-License-Identifier: MIT
/*
 * Answers to the iomap path: xfs_buffered_write_iomap_begin/_end, xfs_read_iomap_begin,
 * xfs_iomap_prealloc_size, xfs_bmapi_reserve_delalloc, xfs_bmbt_to_iomap (v6.18).
 */
#include "xfs.h"

#define WRITE_CHUNK_PAGES 1024u /* most that one write question reserves */
#define MAX_EXTENT 0x1fffffull /* blocks of one extent (XFS_MAX_BMBT_EXTLEN) */
#define COW_UNIT 32u /* blocks: default hint for copy-on-write */

static u64 end_block(const struct ffs_super *sb, u64 end)
{
	return ffs_blocks_up(&sb->env, end);
}

u16 ffs_xfs_map_dirty(const struct ffs_inode *inode)
{
	const struct ffs_xfs_inode *i = ffs_xfs_inode(inode);

	return i->pinned && i->core ? FFS_IOMAP_F_DIRTY : 0;
}

void ffs_xfs_to_iomap(const struct ffs_super *sb, const struct ffs_inode *inode,
		      const struct ffs_xrec *r, u16 flags, u64 cookie, struct ffs_iomap *map)
{
	u8 bits = sb->env.block_bits;

	*map = (struct ffs_iomap){
		.offset = r->off << bits, .length = r->len << bits,
		.addr = r->blk ? r->blk << bits : FFS_IOMAP_NO_ADDR,
		.type = r->state == FFS_XFS_DELAYED   ? FFS_IOMAP_DELALLOC :
			r->state == FFS_XFS_UNWRITTEN ? FFS_IOMAP_UNWRITTEN :
							FFS_IOMAP_MAPPED,
		.flags = flags | ffs_xfs_map_dirty(inode),
		.cookie = cookie,
	};
}

/* xfs_hole_to_iomap: without flags. */
static void hole(const struct ffs_super *sb, u64 off, u64 end, struct ffs_iomap *map)
{
	*map = (struct ffs_iomap){
		.offset = off << sb->env.block_bits, .length = (end - off) << sb->env.block_bits,
		.addr = FFS_IOMAP_NO_ADDR, .type = FFS_IOMAP_HOLE,
	};
}

static u64 cookie_of(const struct ffs_inode *inode, bool shared)
{
	const struct ffs_xfs_inode *i = ffs_xfs_inode(inode);

	return i->seq[FFS_XFS_DATA] | (shared ? i->seq[FFS_XFS_COW] << 32 : 0);
}

void ffs_xfs_trim_shared(const struct ffs_super *sb, const struct ffs_inode *inode,
			 struct ffs_xrec *r, bool *shared)
{
	u64 at, n;

	*shared = false;
	if (!ffs_xfs_inode(inode)->reflink || !r->blk ||
	    !ffs_xfs_find_shared(sb, r->blk, r->len, &at, &n))
		return;
	if (at == r->blk) {
		r->len = n;
		*shared = true;
	} else {
		r->len = at - r->blk;
	}
}

static int read_begin(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 len, u32 flags,
		      struct ffs_iomap *map, struct ffs_iomap *src)
{
	u64 off = pos >> sb->env.block_bits, end = end_block(sb, pos + len);
	struct ffs_xrec r;
	bool shared = false;

	(void)src;
	if (!ffs_xfs_lookup(inode, FFS_XFS_DATA, off, &r) || r.off > off) {
		u64 stop = ffs_xfs_lookup(inode, FFS_XFS_DATA, off, &r) ? min(r.off, end) : end;

		hole(sb, off, stop, map);
		map->flags = ffs_xfs_map_dirty(inode);
		return 0;
	}
	ffs_xrec_trim(&r, off, end);
	if (flags & FFS_IOMAP_REPORT)
		ffs_xfs_trim_shared(sb, inode, &r, &shared);
	ffs_xfs_to_iomap(sb, inode, &r, shared ? FFS_IOMAP_F_SHARED : 0, cookie_of(inode, false),
			 map);
	return 0;
}

/* Blocks to reserve behind EOF; @off: where the write begins (xfs_iomap_prealloc_size). */
static u64 prealloc_size(struct ffs_super *sb, struct ffs_inode *inode, enum ffs_xfs_fork fork,
			 u64 off)
{
	const struct ffs_xfs *x = ffs_xfs(sb);
	u64 blocks, nr_free = x->nr_free, length;
	struct ffs_xrec prev, got;
	u32 shift = 0, i;

	if (inode->i_size < (u64)x->alloc_unit << sb->env.block_bits)
		return 0;
	if (!ffs_xfs_prev(inode, fork, off, &prev) || ffs_xrec_end(&prev) < off)
		return x->alloc_unit;
	length = prev.len;
	while (ffs_xfs_prev(inode, fork, prev.off, &got)) {
		if (length > MAX_EXTENT / 2 || got.state == FFS_XFS_DELAYED ||
		    ffs_xrec_end(&got) != prev.off || got.blk + got.len != prev.blk)
			break;
		length += got.len;
		prev = got;
	}
	blocks = 2 * length;
	if (blocks > MAX_EXTENT)
		blocks = off;
	blocks = min(blocks, MAX_EXTENT + 1);
	if (nr_free < x->low_space[4]) {
		shift = 2;
		for (i = 4; i--;)
			shift += nr_free < x->low_space[i];
	}
	blocks >>= shift;
	if (blocks)
		blocks = 1ull << ilog2(blocks);
	blocks = min(blocks, MAX_EXTENT);
	while (blocks && blocks >= nr_free)
		blocks >>= 4;
	blocks = max(blocks, (u64)x->alloc_unit);
	ffs_emit(&sb->env, xfs_iomap_prealloc_size, inode->ino, blocks, shift, x->alloc_unit);
	return blocks;
}

/*
 * [*off, *end) rounded out to the unit of copy-on-write; in the way of another extent of the
 * fork it moves, and is cut where it does not fit (xfs_bmap_extsize_align).
 */
static void align_cow(const struct ffs_inode *inode, u64 *off, u64 *end)
{
	u64 first = round_down_pow2(*off, COW_UNIT), stop = *end, before = 0, behind = ~0ull, len;
	struct ffs_xrec r;

	len = round_up_pow2(stop - first, COW_UNIT);
	if (ffs_xfs_prev(inode, FFS_XFS_COW, *off, &r))
		before = ffs_xrec_end(&r);
	if (ffs_xfs_lookup(inode, FFS_XFS_COW, *off, &r))
		behind = r.off;
	if (first != *off)
		first = max(first, before);
	if (first + len != stop && first + len > behind)
		first = behind > len ? behind - len : 0;
	if (first != *off)
		first = max(first, before);
	if (first + len != stop && first + len > behind)
		len = behind - first;
	*off = first;
	*end = first + len;
}

/* Reserve [off, off + len) and @more blocks behind it: the new extent in @r. */
static int reserve(struct ffs_super *sb, struct ffs_inode *inode, enum ffs_xfs_fork fork, u64 off,
		   u64 len, u64 more, struct ffs_xrec *r)
{
	struct ffs_xrec next;
	u64 limit = ffs_xfs_lookup(inode, fork, off, &next) ? next.off : ~0ull;
	bool plain;

	do {
		u64 first = off, end = min(off + min(len + more, MAX_EXTENT), limit);

		if (fork == FFS_XFS_COW && !more)
			align_cow(inode, &first, &end);
		plain = !more && first == off && end == off + len;
		/* The tree blocks it may need are taken when it is in the list. */
		if (ffs_xfs_promise(sb, end - first + ffs_xfs_indirect(sb, end - first))) {
			ffs_xfs_unpromise(sb, ffs_xfs_indirect(sb, end - first));
			inode->reserved += (u32)(end - first);
			*r = (struct ffs_xrec){ .off = first, .len = end - first,
						.state = FFS_XFS_DELAYED };
			ffs_xfs_set(inode, fork, r);
			return 0;
		}
		more = 0; /* no space: without what is only speculative */
	} while (!plain);
	return -ENOSPC;
}

int ffs_xfs_direct_cow(struct ffs_super *sb, struct ffs_inode *inode, struct ffs_xrec *r,
		       struct ffs_xrec *cow, bool *shared)
{
	u64 off = r->off;
	int err;

	*shared = false;
	if (!ffs_xfs_inode(inode)->reflink)
		return 0;
	if (ffs_xfs_lookup(inode, FFS_XFS_COW, off, cow) && cow->off <= off) {
		*shared = true;
		ffs_xrec_trim(r, off, ffs_xrec_end(cow));
	} else {
		if (r->state != FFS_XFS_WRITTEN)
			return 0;
		ffs_xfs_trim_shared(sb, inode, r, shared);
		if (!*shared)
			return 0;
		err = reserve(sb, inode, FFS_XFS_COW, off, r->len, 0, cow);
		if (err)
			return err;
	}
	if (cow->state == FFS_XFS_DELAYED) {
		err = ffs_xfs_convert_delayed(sb, inode, FFS_XFS_COW, off, cow);
		if (err)
			return err;
		ffs_xfs_log(inode, true);
	}
	/* The write does not wait for its end to tell these from blocks only reserved. */
	ffs_xrec_trim(r, off, ffs_xrec_end(cow));
	ffs_xfs_convert_unwritten(inode, FFS_XFS_COW, off, ffs_xrec_end(r));
	ffs_xfs_lookup(inode, FFS_XFS_COW, off, cow);
	ffs_xrec_trim(cow, off, ffs_xrec_end(r));
	return 0;
}

/* How far behind [off, end) to reserve for a write that ends behind EOF. */
static u64 speculate(struct ffs_super *sb, struct ffs_inode *inode, enum ffs_xfs_fork fork, u64 pos,
		     u64 len, u64 off, u64 end)
{
	const struct ffs_xfs *x = ffs_xfs(sb);
	u64 blocks = x->fixed_alloc ? x->alloc_unit : prealloc_size(sb, inode, fork, off), last;

	if (!blocks)
		return 0;
	last = round_down_pow2(pos + len - 1, (u64)x->alloc_unit << sb->env.block_bits);
	last = (last >> sb->env.block_bits) + blocks;
	return last > end ? last - end : 0;
}

/* Zeroing that meets delayed blocks behind EOF: they become unwritten, nothing gets dirty. */
static int convert_behind_eof(struct ffs_super *sb, struct ffs_inode *inode, u64 pos,
			      struct ffs_iomap *map)
{
	struct ffs_xrec r;
	int err;

	ffs_truncate_cache(sb, inode, pos, ~0ull);
	err = ffs_xfs_convert_delayed(sb, inode, FFS_XFS_DATA, pos >> sb->env.block_bits, &r);
	if (err)
		return err;
	ffs_xfs_to_iomap(sb, inode, &r, 0, cookie_of(inode, false), map);
	ffs_xfs_log(inode, true);
	return 0;
}

static int write_begin(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 len, u32 flags,
		       struct ffs_iomap *map, struct ffs_iomap *src)
{
	const struct ffs_xfs_inode *i = ffs_xfs_inode(inode);
	u64 off = pos >> sb->env.block_bits, end = end_block(sb, pos + len);
	enum ffs_xfs_fork fork = FFS_XFS_DATA;
	struct ffs_xrec imap, cmap;
	bool eof, found, shared;
	u64 more = 0;
	u16 new = 0;
	int err;

	eof = !ffs_xfs_lookup(inode, FFS_XFS_DATA, off, &imap);
	if (eof)
		imap = (struct ffs_xrec){ .off = end };
	found = imap.off <= off;
	if ((flags & (FFS_IOMAP_UNSHARE | FFS_IOMAP_ZERO)) && !found) {
		hole(sb, off, imap.off, map);
		return 0;
	}
	if ((flags & FFS_IOMAP_ZERO) && found && imap.state == FFS_XFS_DELAYED &&
	    ffs_sb_has(sb, FOLIOFS_CHANGE_XFS_ZERO_DELAYED)) {
		u64 eof_block = end_block(sb, inode->i_size);

		if (off >= eof_block)
			return convert_behind_eof(sb, inode, pos, map);
		if (end > eof_block) {
			end = eof_block;
			ffs_xrec_trim(&imap, off, end);
		}
	}
	if (i->reflink && ffs_xfs_lookup(inode, FFS_XFS_COW, off, &cmap) && cmap.off <= off)
		goto found_cow;
	if (found) {
		if (!i->reflink || ((flags & FFS_IOMAP_ZERO) && imap.state == FFS_XFS_UNWRITTEN))
			goto found_imap;
		ffs_xrec_trim(&imap, off, end);
		ffs_xfs_trim_shared(sb, inode, &imap, &shared);
		if (!shared)
			goto found_imap;
		fork = FFS_XFS_COW;
		end = ffs_xrec_end(&imap);
	} else {
		len = min(len, (u64)WRITE_CHUNK_PAGES << sb->env.page_bits);
		end = end_block(sb, pos + len);
	}
	if (eof && pos + len > inode->i_size)
		more = speculate(sb, inode, fork, pos, len, off, end);
	if (fork == FFS_XFS_COW) {
		err = reserve(sb, inode, fork, off, end - off, more, &cmap);
		if (err)
			return err;
		new = FFS_IOMAP_F_NEW;
		goto found_cow;
	}
	err = reserve(sb, inode, fork, off, end - off, more, &imap);
	if (err)
		return err;
	ffs_xfs_to_iomap(sb, inode, &imap, FFS_IOMAP_F_NEW, cookie_of(inode, false), map);
	return 0;
found_imap:
	ffs_xfs_to_iomap(sb, inode, &imap, 0, cookie_of(inode, false), map);
	return 0;
found_cow:
	if (imap.off <= off)
		ffs_xfs_to_iomap(sb, inode, &imap, 0, cookie_of(inode, false), src);
	else
		ffs_xrec_trim(&cmap, off, imap.off);
	ffs_xfs_to_iomap(sb, inode, &cmap, FFS_IOMAP_F_SHARED | new, cookie_of(inode, true), map);
	return 0;
}

/* What was reserved by this question and not written goes back. */
static int write_end(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 len, u64 written,
		     u32 flags, const struct ffs_iomap *map)
{
	u64 block = ffs_block_size(&sb->env), start, end = round_up_pow2(pos + len, block);

	if (map->type != FFS_IOMAP_DELALLOC || !(map->flags & FFS_IOMAP_F_NEW) ||
	    (flags & FFS_IOMAP_FAULT))
		return 0;
	start = written ? round_up_pow2(pos + written, block) : round_down_pow2(pos, block);
	if (start < end)
		ffs_iomap_release_delayed(sb, inode, start, end, map);
	return 0;
}

static void punch_delayed(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 end,
			  const struct ffs_iomap *map)
{
	u8 bits = sb->env.block_bits;

	ffs_xfs_punch_delayed(sb, inode,
			      map->flags & FFS_IOMAP_F_SHARED ? FFS_XFS_COW : FFS_XFS_DATA,
			      pos >> bits, end_block(sb, end));
}

static bool valid(struct ffs_super *sb, const struct ffs_inode *inode, const struct ffs_iomap *map)
{
	(void)sb;
	return map->type == FFS_IOMAP_HOLE ||
	       map->cookie == cookie_of(inode, map->flags & FFS_IOMAP_F_SHARED);
}

static const struct ffs_iomap_ops read_ops = { .begin = read_begin };
static const struct ffs_iomap_ops write_ops = { .begin = write_begin, .end = write_end };

const struct ffs_iomap_fs ffs_xfs_iomap = {
	.read = &read_ops,
	.write = &write_ops,
	.valid = valid,
	.wb_begin = ffs_xfs_wb_begin,
	.wb_map = ffs_xfs_wb_map,
	.wb_discard = ffs_xfs_wb_discard,
	.wb_submit = ffs_xfs_wb_submit,
	.wb_end = ffs_xfs_wb_end,
	.punch_delayed = punch_delayed,
};
