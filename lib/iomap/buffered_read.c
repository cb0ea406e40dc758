// SPDX-License-Identifier: MIT
/*
 * Reads: iomap_readahead, iomap_read_folio, iomap_is_partially_uptodate (v6.18).
 * Pieces go into one bio as long as the next one follows on the device; it is sent
 * when one does not, or at the end - never before the next map is asked for.
 */
#include "iomap.h"
#include "pagecache/requests.h"

/* The bio that is being filled. */
struct read_bio {
	u64 addr, len; /* len 0: none */
	const struct ffs_folio *folio; /* of the last piece */
	u32 vecs, max_vecs; /* folios in it, and for how many it has room */
	bool ahead;
};

/*
 * Room of a bio made for @pages pages (bio_alloc, bvec_alloc).  SIMPLIFIED: the kernel takes
 * folios that happen to be adjacent in memory for one.
 */
static u32 bio_room(u64 pages)
{
	return pages <= 4 ? 4 : pages <= 16 ? 16 : pages <= 64 ? 64 : pages <= 128 ? 128 : 256;
}

void ffs_iomap_bio(struct ffs_super *sb, const char *rwbs, u64 addr, u64 len)
{
	static const char *const comm[] = {
		"oprun", "kworker/0:1", "jbd2/loop40-8", "kworker/u8:1",
	};

	ffs_emit(&sb->env, block_bio_queue, ffs_str(rwbs), addr >> 9, len >> 9,
		 ffs_str(comm[sb->env.thread & 3]));
}

void ffs_iomap_bio_piece(struct ffs_super *sb, const struct ffs_inode *inode, bool write, u64 pos,
			 u64 addr, u64 len)
{
	u8 bits = sb->env.block_bits;

	ffs_emit(&sb->env, foliofs_bio, inode->ino, write, addr >> bits, len >> bits, pos);
}

static void send(struct ffs_super *sb, struct read_bio *bio)
{
	if (bio->len) {
		ffs_iomap_bio(sb, bio->ahead ? "RA" : "R", bio->addr, bio->len);
		ffs_request_add(sb, bio->addr, bio->len);
	}
	bio->len = 0;
}

/* @map_left: bytes of the map from here on, which a new bio is made for. */
static void add(struct ffs_super *sb, struct read_bio *bio, const struct ffs_folio *f, u64 addr,
		u64 len, u64 map_left)
{
	if (bio->len && (bio->addr + bio->len != addr ||
			 (bio->folio != f && bio->vecs == bio->max_vecs)))
		send(sb, bio);
	if (!bio->len) {
		bio->addr = addr;
		bio->folio = NULL;
		bio->vecs = 0;
		bio->max_vecs = bio_room(div_up(map_left, ffs_page_size(&sb->env)));
	}
	bio->len += len;
	bio->vecs += bio->folio != f;
	bio->folio = f;
}

/* One map: the folios of @m that it covers, or what is left of one. */
static void read_map(struct ffs_iomap_iter *it, struct ffs_mapping *m, struct read_bio *bio)
{
	u64 left = ffs_iomap_length(it);

	while (left) {
		struct ffs_folio *f = ffs_folio_find(m, (u32)(it->pos >> m->env->page_bits));
		u64 stop = min(it->pos + left, ffs_folio_end(m, f));

		left -= stop - it->pos;
		ffs_ifs_alloc(m, f);
		while (it->pos < stop) {
			u64 pos = it->pos, len = stop - it->pos, off;

			ffs_ifs_read_range(m, f, &pos, &len);
			if (!len) {
				ffs_iomap_advance(it, stop - it->pos);
				break;
			}
			off = pos - ffs_folio_pos(m, f);
			if (it->map.type != FFS_IOMAP_MAPPED || (it->map.flags & FFS_IOMAP_F_NEW) ||
			    pos >= it->inode->i_size) {
				ffs_content_zero(&m->content, pos, pos + len);
			} else {
				u64 addr = ffs_iomap_addr(&it->map, pos);

				add(it->sb, bio, f, addr, len, ffs_iomap_length(it));
				ffs_iomap_bio_piece(it->sb, it->inode, false, pos, addr, len);
				ffs_device_fill(it->sb, m, pos, addr, len);
			}
			ffs_ifs_set_uptodate(m, f, off, len);
			ffs_iomap_advance(it, pos + len - it->pos);
		}
	}
}

static void read_range(struct ffs_super *sb, struct ffs_mapping *m, u64 pos, u64 len, bool ahead)
{
	struct read_bio bio = { .ahead = ahead };
	struct ffs_iomap_iter it = {
		.sb = sb, .inode = m->inode, .pos = pos, .len = len,
		.caller = ahead ? "iomap_readahead" : "iomap_read_folio",
	};

	while (ffs_iomap_iter(&it, sb->iomap_fs->read) > 0) {
		read_map(&it, m, &bio);
		/* im-send-each-map: what this map gave is under way before the next is asked for. */
		if (ffs_sb_has(sb, FOLIOFS_CHANGE_IM_SEND_EACH_MAP))
			send(sb, &bio);
	}
	send(sb, &bio);
	ffs_requests_done(sb);
}

void ffs_iomap_readahead(struct ffs_super *sb, struct ffs_mapping *m, struct ffs_folio **f, u32 n)
{
	u64 pos = ffs_folio_pos(m, f[0]), end = ffs_folio_end(m, f[n - 1]);

	ffs_emit(&sb->env, iomap_readahead, m->inode->ino, (end - pos) >> m->env->page_bits);
	read_range(sb, m, pos, end - pos, true);
}

void ffs_iomap_read_folio(struct ffs_super *sb, struct ffs_mapping *m, struct ffs_folio *f)
{
	ffs_emit(&sb->env, iomap_readpage, m->inode->ino, 1);
	read_range(sb, m, ffs_folio_pos(m, f), ffs_folio_size(m, f), false);
}

bool ffs_iomap_is_uptodate(struct ffs_mapping *m, const struct ffs_folio *f, u64 pos, u64 len)
{
	u64 start = ffs_folio_pos(m, f), end = min(pos + len, ffs_folio_end(m, f));

	if (f->flags & FFS_FOLIO_UPTODATE)
		return true;
	if (!ffs_has_buffers(f))
		return false;
	pos = max(pos, start);
	return ffs_bh_all(f, FFS_BH_UPTODATE, (u32)((pos - start) >> m->env->block_bits),
			  (u32)ffs_blocks_up(m->env, end - start));
}
