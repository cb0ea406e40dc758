// SPDX-License-Identifier: MIT
/*
 * Reading folios: ext4_mpage_readpages with its fallback to single blocks
 * (block_read_full_folio), block_is_partially_uptodate (v6.18).
 */
#include "bh.h"
#include "pagecache/requests.h"

static void read_blocks(struct ffs_super *sb, struct ffs_mapping *m, struct ffs_folio *f, u32 first,
			u32 end)
{
	u8 bits = sb->env.block_bits;
	u32 base = ffs_folio_block(m, f), b;

	for (b = first; b < end; b++) {
		u64 pblk = ffs_bh_blocknr(f, b), pos = (u64)(base + b) << bits;

		if (ffs_bh_test(f, FFS_BH_MAPPED, b) && !ffs_bh_test(f, FFS_BH_DELAY, b)) {
			ffs_emit(&sb->env, foliofs_bio, m->inode->ino, 0, pblk, 1, pos);
			ffs_request_add(sb, pblk << bits, 1u << bits);
			ffs_device_fill(sb, m, pos, pblk << bits, 1u << bits);
		} else {
			ffs_content_zero(&m->content, pos, pos + (1u << bits));
		}
	}
	ffs_bh_set(f, FFS_BH_UPTODATE, first, end);
}

void ffs_bh_read_blocks(struct ffs_super *sb, struct ffs_mapping *m, struct ffs_folio *f, u32 first,
			u32 end)
{
	read_blocks(sb, m, f, first, end);
	ffs_requests_done(sb);
}

/* The folio cannot be read in one piece: every block that is not uptodate by itself. */
static void read_confused(struct ffs_super *sb, struct ffs_mapping *m, struct ffs_folio *f)
{
	u32 base = ffs_folio_block(m, f), b, asked = 0;
	u64 eof = ffs_blocks_up(&sb->env, m->inode->i_size);

	/* read-fallback: before it the buffer-by-buffer read insisted on a small folio. */
	if (f->order && !ffs_sb_has(sb, FOLIOFS_CHANGE_READ_FALLBACK))
		ffs_bh_assert(sb, m->inode, "block by block read of a large folio");
	ffs_folio_attach_buffers(m, f);
	for (b = ffs_bh_next_clear(f, FFS_BH_UPTODATE, 0, f->bpf); b < f->bpf;
	     b = ffs_bh_next_clear(f, FFS_BH_UPTODATE, b, f->bpf)) {
		if (!ffs_bh_test(f, FFS_BH_MAPPED, b)) {
			struct ffs_map map = { .lblk = base + b, .len = 1 };

			if (base + (u64)b < eof) {
				asked++;
				if (ffs_map_blocks(&sb->bm, NULL, m->inode, &map, 0) < 0)
					return;
				/* An unwritten block reads as a hole. */
				if (map.flags & FFS_MAP_UNWRITTEN)
					map.flags &= ~FFS_MAP_MAPPED;
				ffs_bh_apply(f, b, 1, &map);
			}
		}
		read_blocks(sb, m, f, b, b + 1);
	}
	ffs_emit(&sb->env, foliofs_block_loop, m->inode->ino, ffs_str("read"), f->index, 0, f->bpf,
		 asked);
	f->flags |= FFS_FOLIO_UPTODATE;
}

/*
 * A hole that was asked for is in the status tree, so asking again for its other blocks shows
 * nothing: not so with block maps (ind-hole-cache).
 */
static bool hole_is_known(const struct ffs_super *sb, const struct ffs_inode *inode)
{
	return (inode->flags & FFS_INODE_EXTENTS) || ffs_sb_has(sb, FOLIOFS_CHANGE_IND_HOLE_CACHE);
}

/* What the folio before was mapped by, used again where it reaches; and the bio that grows. */
struct mpage_map {
	struct ffs_map map;
	bool valid;
	u64 addr, len; /* bytes of the device, not sent yet; len 0: none */
};

static void send_bio(struct ffs_super *sb, struct mpage_map *last)
{
	if (last->len)
		ffs_request_add(sb, last->addr, last->len);
	last->len = 0;
}

/*
 * Blocks of a folio join the bio, or begin another.  It is sent at once behind a hole, and where
 * @used_up: the map that this folio asked for ends with it and before a pointer block.
 */
static void add_to_bio(struct ffs_super *sb, struct mpage_map *last, u64 addr, u64 len, bool used_up)
{
	if (last->len && last->addr + last->len != addr)
		send_bio(sb, last);
	if (!last->len)
		last->addr = addr;
	last->len += len;
	if (used_up)
		send_bio(sb, last);
}

/*
 * Blocks of one folio in one bio (maps are asked for up to the end of the window, block
 * @window_end, or EOF): mapped ones from the start, adjacent on disk, then
 * a hole to the end.  False: it is not like that.
 */
static bool read_whole(struct ffs_super *sb, struct ffs_mapping *m, struct ffs_folio *f,
		       u64 window_end, struct mpage_map *last)
{
	u8 bits = sb->env.block_bits;
	u32 base = ffs_folio_block(m, f);
	u64 size = ffs_sb_has(sb, FOLIOFS_CHANGE_LF_READ) ? ffs_folio_size(m, f) :
							    ffs_page_size(&sb->env);
	u32 blocks = (u32)(size >> bits), b = 0, hole = blocks, asked = 0;
	u64 eof = min(ffs_blocks_up(&sb->env, m->inode->i_size), window_end), start = 0;
	u64 pos = ffs_folio_pos(m, f);
	bool boundary = false;

	if (last->valid && base > last->map.lblk && base < last->map.lblk + last->map.len) {
		u32 offset = base - last->map.lblk;

		start = last->map.pblk + offset;
		b = min(blocks, last->map.len - offset);
		if (b == last->map.len - offset)
			last->valid = false;
	}
	while (b < blocks) {
		/* One struct for all folios of the call, so events show the last answer's block. */
		struct ffs_map map = { .lblk = base + b, .pblk = last->map.pblk };
		u32 n;

		if (base + b >= eof) {
			hole = min(hole, b);
			break;
		}
		map.len = (u32)(eof - base - b);
		asked++;
		if (ffs_map_blocks(&sb->bm, NULL, m->inode, &map, 0) < 0)
			return false;
		last->valid = map.flags & FFS_MAP_MAPPED;
		last->map = map;
		if (!last->valid) {
			hole = min(hole, b);
			/* The kernel asks for each block of it. */
			if (map.pblk)
				last->map.pblk = map.pblk + min(map.len, blocks - b) - 1;
			if (!hole_is_known(sb, m->inode))
				b++;
			else
				b = map.len < blocks - b ? b + max(map.len, 1u) : blocks;
			continue;
		}
		if (hole != blocks || (b && start + b != map.pblk))
			return false;
		if (!b)
			start = map.pblk;
		n = min(map.len, blocks - b);
		boundary = (map.flags & FFS_MAP_BOUNDARY) && n == map.len;
		b += n;
		if (n == map.len)
			last->valid = false;
	}
	ffs_emit(&sb->env, foliofs_block_loop, m->inode->ino, ffs_str("read"), f->index, 0, blocks,
		 asked);
	if (hole) {
		ffs_emit(&sb->env, foliofs_bio, m->inode->ino, 0, start, hole, pos);
		add_to_bio(sb, last, start << bits, (u64)hole << bits, boundary || hole < blocks);
		ffs_device_fill(sb, m, pos, start << bits, (u64)hole << bits);
	}
	if (hole < blocks)
		ffs_content_zero(&m->content, pos + ((u64)hole << bits), ffs_folio_end(m, f));
	else if (size < ffs_folio_size(m, f))
		/* lf-read: without it the rest of the folio is what its memory held. */
		ffs_content_write(&m->content, pos + size, ffs_folio_end(m, f), FFS_SRC_UNKNOWN);
	f->flags |= FFS_FOLIO_UPTODATE;
	return true;
}

void ffs_bh_read_folios(struct ffs_super *sb, struct ffs_mapping *m, struct ffs_folio **f, u32 n)
{
	struct mpage_map last = { .valid = false };
	u64 end = ffs_folio_end(m, f[n - 1]) >> sb->env.block_bits;
	u32 pages = 0, i;

	for (i = 0; i < n; i++) {
		pages += ffs_folio_pages(f[i]);
		if (m->inode->flags & FFS_INODE_INLINE_DATA) {
			ffs_inline_read(sb, m, f[i]);
			continue;
		}
		if (ffs_has_buffers(f[i]) || !read_whole(sb, m, f[i], end, &last)) {
			send_bio(sb, &last);
			read_confused(sb, m, f[i]);
		}
	}
	send_bio(sb, &last);
	ffs_requests_done(sb);
	/* lf-read: without it the loop takes a folio for each page (one alone is not readahead). */
	if (n > 1 && pages > n && !ffs_sb_has(sb, FOLIOFS_CHANGE_LF_READ))
		ffs_bh_assert(sb, m->inode, "readahead goes on behind its last folio");
}

bool ffs_bh_is_uptodate(struct ffs_mapping *m, const struct ffs_folio *f, u64 pos, u64 len)
{
	u64 size = ffs_folio_size(m, f), block = ffs_block_size(m->env), from, to;

	if (f->flags & FFS_FOLIO_UPTODATE)
		return true;
	if (!ffs_has_buffers(f) || block >= size)
		return false;
	if (pos < ffs_folio_pos(m, f)) {
		len -= min(len, ffs_folio_pos(m, f) - pos);
		pos = ffs_folio_pos(m, f);
	}
	from = pos - ffs_folio_pos(m, f);
	if (!from && len >= size)
		return false;
	to = min(from + len, size);
	/* A request from the first into the last block is not looked at. */
	if (from < block && to > size - block)
		return false;
	return ffs_bh_all(f, FFS_BH_UPTODATE, (u32)(from / block), (u32)div_up(to, block));
}
