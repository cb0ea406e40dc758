// SPDX-License-Identifier: MIT
/*
 * Answers to the iomap path: ext4_iomap_buffered_read_begin,
 * ext4_iomap_buffered_write_begin (with and without delayed allocation),
 * ext4_iomap_buffered_da_write_end, ext4_iomap_zero_begin, ext4_iomap_valid.
 */
#include "ext4iomap.h"

#define NO_COOKIE (~0ull)

/* Logical blocks of [pos, pos + len), as a question. */
static struct ffs_map ask(const struct ffs_super *sb, u64 pos, u64 len)
{
	u8 bits = sb->env.block_bits;
	u64 first = pos >> bits, end = min(ffs_blocks_up(&sb->env, pos + len), (u64)FFS_LBLK_MAX);

	return (struct ffs_map){ .lblk = (u32)first, .len = (u32)(end - first) };
}

/* fdatasync of the inode would have to wait for a commit (ext4_inode_datasync_dirty). */
static bool map_dirty(const struct ffs_super *sb, const struct ffs_inode *inode)
{
	return ffs_journal_present(sb->journal) &&
	       (s32)(inode->datasync_tid - ffs_journal_committed_tid(sb->journal)) > 0;
}

void ffs_ext4im_to_iomap(const struct ffs_super *sb, const struct ffs_inode *inode,
			 const struct ffs_map *m, u16 flags, struct ffs_iomap *map)
{
	u8 bits = sb->env.block_bits;

	*map = (struct ffs_iomap){
		.offset = (u64)m->lblk << bits, .length = (u64)m->len << bits,
		.addr = FFS_IOMAP_NO_ADDR, .type = FFS_IOMAP_HOLE, .flags = flags,
		.cookie = ffs_es_seq(inode),
	};
	/* no-fdirty: the test costs a lock that all processors share. */
	if (!ffs_sb_has(sb, FOLIOFS_CHANGE_IM_NO_FDIRTY) && map_dirty(sb, inode))
		map->flags |= FFS_IOMAP_F_DIRTY;
	if (m->flags & FFS_MAP_UNWRITTEN)
		map->type = FFS_IOMAP_UNWRITTEN;
	else if (m->flags & FFS_MAP_MAPPED)
		map->type = FFS_IOMAP_MAPPED;
	else if (m->flags & FFS_MAP_DELAYED)
		map->type = FFS_IOMAP_DELALLOC;
	if (map->type == FFS_IOMAP_UNWRITTEN || map->type == FFS_IOMAP_MAPPED)
		map->addr = m->pblk << bits;
}

static int read_begin(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 len, u32 flags,
		      struct ffs_iomap *map, struct ffs_iomap *src)
{
	struct ffs_map m = ask(sb, pos, len);
	int ret = ffs_map_blocks(&sb->bm, NULL, inode, &m, 0);

	(void)src;
	if (ret < 0)
		return ret;
	ffs_ext4im_trace(sb, ext4_iomap_buffered_read_begin, inode, &m, pos, len, flags);
	ffs_ext4im_to_iomap(sb, inode, &m, 0, map);
	return 0;
}

bool ffs_ext4im_low_space(struct ffs_super *sb)
{
	bool flush = false, low = ffs_nonda_switch(sb->alloc, &flush);

	if (flush)
		sb->flush_all(sb);
	return low;
}

/* Promise space to the hole at @m, as much of it as the request covers. */
static int delay(struct ffs_super *sb, struct ffs_inode *inode, struct ffs_map *m, u16 *flags)
{
	struct ffs_es es;
	bool was;
	int err;

	/* Before da-multi one block was put in at a time. */
	if (!ffs_sb_has(sb, FOLIOFS_CHANGE_DA_MULTI))
		m->len = 1;
	was = ffs_es_lookup(inode, m->lblk, &es) && (es.type & FFS_ES_DELAYED);
	sb->bm.whole_ranges = true;
	err = ffs_da_map_blocks(&sb->bm, inode, m);
	sb->bm.whole_ranges = false;
	if (!err && (m->flags & FFS_MAP_DELAYED) && !was)
		*flags = FFS_IOMAP_F_NEW;
	return err;
}

/* Allocate it, unwritten; the handle is over before any folio is touched. */
static int allocate(struct ffs_super *sb, struct ffs_inode *inode, struct ffs_map *m, u64 end,
		    bool fault, u16 *flags)
{
	u32 asked = m->len;
	struct ffs_handle *h;
	int ret;

	/* Inside the file the blocks may be there: then no handle is needed. */
	if (end <= round_up_pow2(inode->i_size, ffs_block_size(&sb->env))) {
		ret = ffs_map_blocks(&sb->bm, NULL, inode, m, 0);
		if (ret || (m->flags & FFS_MAP_DELAYED))
			return min(ret, 0);
		m->len = asked;
	}
	ret = ffs_start(sb, inode,
			fault ? FOLIOFS_CREDIT_PAGE_MKWRITE : FOLIOFS_CREDIT_WRITE_BEGIN, m->len,
			"ext4_iomap_buffered_write_begin", &h);
	if (ret)
		return ret;
	ret = ffs_map_blocks(&sb->bm, h, inode, m, FFS_GET_CREATE | FFS_GET_UNWRIT);
	ffs_handle_stop(h);
	if (ret < 0)
		return ret;
	if (m->flags & FFS_MAP_NEW)
		*flags = FFS_IOMAP_F_NEW;
	return 0;
}

static int write_begin(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 len, u32 flags,
		       struct ffs_iomap *map, struct ffs_iomap *src)
{
	bool fault = flags & FFS_IOMAP_FAULT, unused, delayed;
	struct ffs_map m;
	u32 retries = 0;
	u16 new = 0;
	int err;

	(void)src;
	/* A fault has the folio locked: it has looked before that, and nothing is written now. */
	delayed = !sb->env.geo.mount.nodelalloc &&
		  !(fault ? ffs_nonda_switch(sb->alloc, &unused) : ffs_ext4im_low_space(sb));
	do {
		m = ask(sb, pos, len);
		err = delayed ? delay(sb, inode, &m, &new) :
				allocate(sb, inode, &m, pos + len, fault, &new);
	} while (err == -ENOSPC && ffs_should_retry_alloc(sb, &retries));
	if (err)
		return err;
	ffs_ext4im_trace(sb, ext4_iomap_buffered_write_begin, inode, &m, pos, len, flags);
	ffs_ext4im_to_iomap(sb, inode, &m, new, map);
	/* Looked up in the status tree, a delayed map came without the number it was found under. */
	if (map->type == FFS_IOMAP_DELALLOC && ffs_sb_has(sb, FOLIOFS_CHANGE_IM_ENABLE) &&
	    !ffs_sb_has(sb, FOLIOFS_CHANGE_IM_DA_SEQ))
		map->cookie = 0;
	return 0;
}

/*
 * nodelalloc-trim: the size on disk follows at once, and blocks that a short write has allocated
 * behind EOF go again, protected by the orphan list.
 */
static int trim(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 len, u64 written)
{
	u64 end = min(pos + written, inode->i_size);
	bool behind = pos + len > inode->i_size;
	struct ffs_handle *h;
	int err;

	if (end <= inode->i_disksize && !behind)
		return 0;
	err = ffs_start(sb, inode, FOLIOFS_CREDIT_DA_WRITE_END, 0, "ext4_iomap_buffered_write_end", &h);
	if (err)
		return err;
	if (end > inode->i_disksize) {
		ffs_set_disksize(sb, inode, end);
		ffs_mark_inode_dirty(sb, h, inode, "ext4_iomap_buffered_write_end");
	}
	if (behind)
		ffs_orphan_add(sb, h, inode);
	ffs_handle_stop(h);
	if (behind) {
		ffs_truncate_cache(sb, inode, inode->i_size, ~0ull);
		err = sb->truncate(sb, inode);
		if (inode->nlink)
			ffs_orphan_del(sb, NULL, inode);
	}
	return err;
}

/* What was reserved by this question and not written goes back. */
static int write_end(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 len, u64 written,
		     u32 flags, const struct ffs_iomap *map)
{
	u64 block = ffs_block_size(&sb->env), start, end = round_up_pow2(pos + len, block);

	if (map->type == FFS_IOMAP_UNWRITTEN && (map->flags & FFS_IOMAP_F_NEW) &&
	    !(flags & FFS_IOMAP_FAULT) && ffs_sb_has(sb, FOLIOFS_CHANGE_IM_NODELALLOC_TRIM))
		return trim(sb, inode, pos, len, written);
	if (map->type != FFS_IOMAP_DELALLOC || !(map->flags & FFS_IOMAP_F_NEW))
		return 0;
	/* The blocks of a fault are under a folio that is dirty, and each of its maps is used whole. */
	if (flags & FFS_IOMAP_FAULT)
		return 0;
	if (!ffs_sb_has(sb, FOLIOFS_CHANGE_IM_WRITE))
		return 0;
	start = written ? round_up_pow2(pos + written, block) : round_down_pow2(pos, block);
	if (start < end)
		ffs_iomap_release_delayed(sb, inode, start, end, map);
	return 0;
}

/* True if some folio over the map is dirty: zeroing has to visit it though the blocks are zero. */
static bool dirty_above(const struct ffs_super *sb, const struct ffs_inode *inode, u64 pos,
			const struct ffs_iomap *map)
{
	u8 bits = sb->env.page_bits;
	const struct ffs_folio *f = ffs_folio_next_tagged(inode->mapping, (u32)(pos >> bits),
							  FFS_TAG_DIRTY);

	return f && ffs_folio_pos(inode->mapping, f) < ffs_iomap_end(map);
}

/* Zeroing makes no blocks: a hole stays one, and the cache over unwritten blocks is looked at. */
static int zero_begin(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 len, u32 flags,
		      struct ffs_iomap *map, struct ffs_iomap *src)
{
	struct ffs_map m = ask(sb, pos, len);
	int err = ffs_map_blocks(&sb->bm, NULL, inode, &m, 0);

	(void)src;
	if (err < 0)
		return err;
	ffs_ext4im_trace(sb, ext4_iomap_zero_begin, inode, &m, pos, len, flags);
	ffs_ext4im_to_iomap(sb, inode, &m, 0, map);
	if (map->type == FFS_IOMAP_UNWRITTEN && ffs_sb_has(sb, FOLIOFS_CHANGE_IM_ZERO) &&
	    dirty_above(sb, inode, pos, map))
		map->flags |= FFS_IOMAP_F_BATCH;
	/* zero-as-read: a map of a read has no cookie that anybody looks at. */
	if (ffs_sb_has(sb, FOLIOFS_CHANGE_IM_ZERO_AS_READ))
		map->cookie = NO_COOKIE;
	return 0;
}

void ffs_ext4im_punch_delayed(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 end,
			      const struct ffs_iomap *map)
{
	struct ffs_map m = ask(sb, pos, end - pos);

	(void)map;
	ffs_es_remove(&sb->bm, inode, m.lblk, m.len);
}

bool ffs_ext4im_valid(struct ffs_super *sb, const struct ffs_inode *inode,
		      const struct ffs_iomap *map)
{
	(void)sb;
	return map->cookie == ffs_es_seq(inode) || map->cookie == NO_COOKIE;
}

const struct ffs_iomap_ops ffs_ext4im_read_ops = { .begin = read_begin };
const struct ffs_iomap_ops ffs_ext4im_write_ops = { .begin = write_begin, .end = write_end };
const struct ffs_iomap_ops ffs_ext4im_zero_ops = { .begin = zero_begin };
