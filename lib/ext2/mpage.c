// SPDX-License-Identifier: MIT
/*
 * mpage_readahead: do_mpage_readpage (v6.18).  A bio grows from folio to folio as long as the
 * next one follows on the device.  It is sent early where the next map would have to be
 * read first: behind a map with the boundary flag, used up by this folio.  ext4 has a copy of its
 * own (lib/bh/read.c), which is another loop by now: a map that an earlier folio asked for never ends
 * a bio there, and holes are in the status tree.
 */
#include "ext2.h"
#include "pagecache/requests.h"

struct mpage {
	struct ffs_super *sb;
	struct ffs_mapping *m;
	struct ffs_map map; /* used again where it reaches */
	bool valid;
	u64 addr, len; /* the bio; len 0: none */
};

static void send(struct mpage *r)
{
	if (!r->len)
		return;
	ffs_iomap_bio(r->sb, "RA", r->addr, r->len);
	ffs_request_add(r->sb, r->addr, r->len);
	r->len = 0;
}

/* Each block by itself (block_read_full_folio): all are mapped before any is read. */
static void read_confused(struct mpage *r, struct ffs_folio *f, u64 eof)
{
	struct ffs_env *env = &r->sb->env;
	u32 base = ffs_folio_block(r->m, f), blocks = (u32)(ffs_folio_size(r->m, f) >> env->block_bits);
	u64 pblk[128] = { 0 }, size = ffs_block_size(env);
	u32 b;

	send(r);
	r->valid = false;
	for (b = 0; b < blocks && base + b < eof; b++) {
		struct ffs_map map = { .lblk = base + b, .len = 1 };

		ffs_ext2_map(r->sb, r->m->inode, &map);
		pblk[b] = map.pblk;
	}
	for (b = 0; b < blocks; b++) {
		u64 pos = (u64)(base + b) * size;

		if (!pblk[b]) {
			ffs_content_zero(&r->m->content, pos, pos + size);
			continue;
		}
		ffs_iomap_bio(r->sb, "R", pblk[b] * size, size);
		ffs_request_add(r->sb, pblk[b] * size, size);
		ffs_device_fill(r->sb, r->m, pos, pblk[b] * size, size);
	}
	f->flags |= FFS_FOLIO_UPTODATE;
}

/* Blocks of the folio from @b on that the map at hand covers; a new one is asked for if none does. */
static u32 next_map(struct mpage *r, u32 lblk, u64 window_end)
{
	u64 end = (u64)r->map.lblk + r->map.len;

	if (!r->valid || lblk < r->map.lblk || lblk >= end) {
		r->map = (struct ffs_map){ .lblk = lblk, .len = (u32)(window_end - lblk) };
		ffs_ext2_map(r->sb, r->m->inode, &r->map);
		r->valid = r->map.flags & FFS_MAP_MAPPED;
		end = (u64)lblk + r->map.len;
	}
	return (u32)(end - lblk);
}

static void read_one(struct mpage *r, struct ffs_folio *f, u64 window_end)
{
	struct ffs_env *env = &r->sb->env;
	u64 size = ffs_block_size(env), eof = ffs_blocks_up(env, r->m->inode->i_size), start = 0, pos;
	u32 base = ffs_folio_block(r->m, f), blocks = (u32)(ffs_folio_size(r->m, f) >> env->block_bits);
	u32 b = 0, hole = blocks;
	bool boundary = false;

	while (b < blocks && base + b < eof) {
		u32 n = min(next_map(r, base + b, min(window_end, eof)), blocks - b);
		u64 pblk = r->map.pblk + (base + b - r->map.lblk);

		if (!r->valid) {
			hole = min(hole, b);
			b++;
			continue;
		}
		if (hole != blocks || (b && start + b != pblk)) {
			read_confused(r, f, eof);
			return;
		}
		if (!b)
			start = pblk;
		b += n;
		boundary = (r->map.flags & FFS_MAP_BOUNDARY) &&
			   base + b == r->map.lblk + r->map.len;
	}
	if (base + b >= eof)
		hole = min(hole, b);
	pos = ffs_folio_pos(r->m, f);
	ffs_content_zero(&r->m->content, pos + hole * size, ffs_folio_end(r->m, f));
	f->flags |= FFS_FOLIO_UPTODATE;
	if (!hole)
		return;
	if (r->len && r->addr + r->len != start * size)
		send(r);
	if (!r->len)
		r->addr = start * size;
	r->len += hole * size;
	ffs_device_fill(r->sb, r->m, pos, start * size, hole * size);
	if (boundary || hole != blocks)
		send(r);
}

static void read_folios(struct ffs_super *sb, struct ffs_mapping *m, struct ffs_folio **f, u32 n)
{
	struct mpage r = { .sb = sb, .m = m };
	u64 end = ffs_folio_end(m, f[n - 1]) >> sb->env.block_bits;
	u32 i;

	for (i = 0; i < n; i++)
		read_one(&r, f[i], end);
	send(&r);
	ffs_requests_done(sb);
}

static bool is_uptodate(struct ffs_mapping *m, const struct ffs_folio *f, u64 pos, u64 len)
{
	(void)m;
	(void)pos;
	(void)len;
	return f->flags & FFS_FOLIO_UPTODATE;
}

static void invalidate(struct ffs_super *sb, struct ffs_mapping *m, struct ffs_folio *f, u64 offset,
		       u64 len)
{
	(void)sb;
	(void)m;
	(void)f;
	(void)offset;
	(void)len;
}

static bool release(struct ffs_mapping *m, struct ffs_folio *f)
{
	(void)m;
	(void)f;
	return true;
}

const struct ffs_data_path ffs_ext2_mpage = {
	.read_folios = read_folios,
	.is_uptodate = is_uptodate,
	.invalidate = invalidate,
	.release = release,
};
