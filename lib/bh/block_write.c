// SPDX-License-Identifier: MIT
/*
 * The blocks of one step of a write: ext4_block_write_begin, block_commit_write,
 * folio_zero_new_buffers (v6.18), with each buffer's state in bitmaps.
 */
#include "bh.h"

int ffs_bh_map(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode,
	       struct ffs_map *map, u32 flags)
{
	int ret = ffs_map_blocks(&sb->bm, h, inode, map, flags);
	u64 first = (u64)map->lblk << sb->env.block_bits;

	if (ret <= 0 || !(flags & FFS_GET_CREATE))
		return ret;
	if (map->flags & FFS_MAP_NEW)
		ffs_update_fsync_tid(h, inode, !(flags & FFS_GET_UNWRIT));
	/* Written blocks that were not zeroed must not show old content after a crash. */
	if ((map->flags & FFS_MAP_NEW) && !(map->flags & FFS_MAP_UNWRITTEN) &&
	    !(flags & FFS_GET_ZERO) && ffs_should_order_data(sb, inode))
		ffs_order_data(sb, h, inode, first,
			       first + ((u64)map->len << sb->env.block_bits) - 1,
			       !(flags & FFS_GET_IO_SUBMIT));
	return ret;
}

void ffs_bh_apply(struct ffs_folio *f, u32 first, u32 n, const struct ffs_map *map)
{
	u32 end = first + n;
	bool mapped = map->flags & (FFS_MAP_MAPPED | FFS_MAP_DELAYED);

	/* The answer replaces new, mapped, unwritten and delayed as a set (folios.md 6.4). */
	(mapped ? ffs_bh_set : ffs_bh_clear)(f, FFS_BH_MAPPED, first, end);
	(map->flags & FFS_MAP_NEW ? ffs_bh_set : ffs_bh_clear)(f, FFS_BH_NEW, first, end);
	(map->flags & FFS_MAP_UNWRITTEN ? ffs_bh_set : ffs_bh_clear)(f, FFS_BH_UNWRITTEN, first, end);
	(map->flags & FFS_MAP_DELAYED ? ffs_bh_set : ffs_bh_clear)(f, FFS_BH_DELAY, first, end);
	if (map->flags & (FFS_MAP_MAPPED | FFS_MAP_UNWRITTEN))
		ffs_bh_set_blocknr(f, first, end, map->pblk);
}

int ffs_ensure_extent(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode)
{
	struct foliofs_inode_kind kind = ffs_inode_kind(sb, inode);
	s32 credits = (s32)foliofs_meta_credits(&sb->env.kernel, &sb->env.geo, &kind, 1, 1).total;
	int ret;

	ret = ffs_handle_ensure(h, credits, credits, 0);
	return ret > 0 ? -EAGAIN : ret;
}

/* Ask for unmapped block @b of the folio; more may be answered where nobody can tell. */
static int get_block(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode,
		     struct ffs_folio *f, u32 b, u32 end, enum ffs_bh_get get, u32 *n)
{
	struct ffs_mapping *m = inode->mapping;
	struct ffs_map map = { .lblk = ffs_folio_block(m, f) + b, .len = 1 };
	int ret;

	*n = 1;
	if (get == FFS_BH_GET_DA) {
		struct ffs_es es;

		/*
		 * The kernel asks block by block.  Where the status tree knows the answer for a
		 * whole range nobody can tell; a look at the disk shows the length asked for.
		 */
		if (ffs_es_lookup(inode, map.lblk, &es))
			map.len = end - b;
		ret = ffs_da_map_blocks(&sb->bm, inode, &map);
		/* Space for some of the range may be left: block by block up to the first failure. */
		if (ret == -ENOSPC && map.len > 1) {
			map = (struct ffs_map){ .lblk = map.lblk, .len = 1 };
			ret = ffs_da_map_blocks(&sb->bm, inode, &map);
		}
		if (ret < 0)
			return ret;
		/* A delayed block is new; one over an unwritten extent is handled like it. */
		if (map.flags & FFS_MAP_DELAYED)
			map.flags = FFS_MAP_DELAYED | FFS_MAP_NEW;
		else if (map.flags & FFS_MAP_UNWRITTEN)
			map.flags = FFS_MAP_MAPPED | FFS_MAP_UNWRITTEN | FFS_MAP_NEW;
		*n = map.len;
	} else {
		u32 flags = FFS_GET_CREATE;

		if (get == FFS_BH_GET_UNWRITTEN)
			flags |= FFS_GET_UNWRIT;
		ret = ffs_bh_map(sb, h, inode, &map, flags);
		if (ret < 0)
			return ret;
		/* unwritten-new: without it nobody fills what the write does not cover. */
		if (get == FFS_BH_GET_UNWRITTEN && (map.flags & FFS_MAP_UNWRITTEN))
			map.flags |= FFS_MAP_MAPPED |
				     (ffs_sb_has(sb, FOLIOFS_CHANGE_UNWRITTEN_NEW) ? FFS_MAP_NEW : 0);
	}
	ffs_bh_apply(f, b, *n, &map);
	return 0;
}

/* A new block of a folio that is not uptodate: what of it the write does not cover is zero. */
static void zero_around(struct ffs_super *sb, struct ffs_mapping *m, u64 block, u64 pos, u64 end)
{
	u64 next = block + ffs_block_size(&sb->env);

	if (block < pos) {
		ffs_content_zero(&m->content, block, pos);
		ffs_emit(&sb->env, foliofs_zero, m->inode->ino, block, pos - block, ffs_str("new block"));
	}
	if (end < next) {
		ffs_content_zero(&m->content, end, next);
		ffs_emit(&sb->env, foliofs_zero, m->inode->ino, end, next - end, ffs_str("new block"));
	}
}

/* Block @b is only partly covered by the write: it may have to be read first. */
static void prepare_partial(struct ffs_super *sb, struct ffs_inode *inode, struct ffs_folio *f,
			    u32 b, u64 pos, u64 end)
{
	struct ffs_mapping *m = inode->mapping;

	if (ffs_bh_test(f, FFS_BH_NEW, b)) {
		if (!(f->flags & FFS_FOLIO_UPTODATE))
			zero_around(sb, m, (u64)(ffs_folio_block(m, f) + b) << sb->env.block_bits,
				    pos, end);
		return;
	}
	if (ffs_bh_test(f, FFS_BH_UPTODATE, b) || ffs_bh_test(f, FFS_BH_DELAY, b) ||
	    ffs_bh_test(f, FFS_BH_UNWRITTEN, b))
		return;
	ffs_emit(&sb->env, foliofs_read_block, inode->ino,
		 (u64)(ffs_folio_block(m, f) + b) << sb->env.block_bits,
		 ffs_block_size(&sb->env));
	ffs_bh_read_blocks(sb, m, f, b, b + 1);
}

static int write_begin(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode,
		       struct ffs_folio *f, u64 pos, u64 len, enum ffs_bh_get get, bool ensure)
{
	struct ffs_mapping *m = inode->mapping;
	u8 bits = sb->env.block_bits;
	u64 start = ffs_folio_pos(m, f), end = pos + len, block = ffs_block_size(&sb->env);
	u32 first = (u32)((pos - start) >> bits), last = (u32)div_up(end - start, block), b, n;
	u32 asked = 0;
	int err = 0;

	ffs_folio_attach_buffers(m, f);
	if (f->flags & FFS_FOLIO_UPTODATE)
		ffs_bh_set(f, FFS_BH_UPTODATE, 0, f->bpf);
	ffs_bh_clear(f, FFS_BH_NEW, first, last);
	for (b = ffs_bh_next_clear(f, FFS_BH_MAPPED, first, last); b < last;
	     b = ffs_bh_next_clear(f, FFS_BH_MAPPED, b + n, last)) {
		if (ensure) {
			err = ffs_ensure_extent(sb, h, inode);
			if (err)
				break;
		}
		err = get_block(sb, h, inode, f, b, ffs_bh_next(f, FFS_BH_MAPPED, b, last), get, &n);
		if (err)
			break;
		asked += n;
		if (!(f->flags & FFS_FOLIO_UPTODATE))
			continue;
		ffs_bh_set(f, FFS_BH_UPTODATE, b, b + n);
		/*
		 * A new block of it is dirty at once.  data=journal: write access takes that from the
		 * buffer, the folio stays dirty though the journal has all of it.
		 */
		if (ffs_bh_any(f, FFS_BH_NEW, b, b + n) && ffs_should_journal_data(sb, inode)) {
			ffs_folio_set_dirty(f);
			ffs_inode_dirtied(sb, inode);
		}
	}
	ffs_emit(&sb->env, foliofs_block_loop, inode->ino, ffs_str("write"), f->index, first, last,
		 asked);
	if (err) {
		/* What the write does not cover of new blocks was zeroed as each was mapped. */
		if ((pos & (block - 1)) && ffs_bh_test(f, FFS_BH_NEW, first))
			prepare_partial(sb, inode, f, first, pos, end);
		if ((end & (block - 1)) && last - 1 != first && ffs_bh_test(f, FFS_BH_NEW, last - 1))
			prepare_partial(sb, inode, f, last - 1, pos, end);
		ffs_zero_new_buffers(sb, h, inode, f, pos, len);
		return err;
	}
	if (pos & (block - 1))
		prepare_partial(sb, inode, f, first, pos, end);
	if ((end & (block - 1)) && !((pos & (block - 1)) && first == last - 1))
		prepare_partial(sb, inode, f, last - 1, pos, end);
	return 0;
}

/* Does a loop over blocks ask for credits before each one (restart)? */
static bool ensures(const struct ffs_super *sb, const struct ffs_handle *h, enum ffs_bh_get get)
{
	return h && get != FFS_BH_GET_DA && ffs_sb_has(sb, FOLIOFS_CHANGE_CF_RESTART);
}

int ffs_generic_write_begin(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode,
			    struct ffs_folio *f, u64 pos, u64 len, enum ffs_bh_get get)
{
	/* fs/buffer.c knows nothing of handles; in version 2 of the fixes get_block itself did. */
	return write_begin(sb, h, inode, f, pos, len, get,
			   ensures(sb, h, get) &&
				   ffs_sb_has(sb, FOLIOFS_CHANGE_CF_ENSURE_GET_BLOCK));
}

/*
 * lf-write: without it the range is taken inside one page, so the blocks of the first page of a
 * large folio are prepared, and a range that leaves the page is a BUG.
 */
int ffs_block_write_begin(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode,
			  struct ffs_folio *f, u64 pos, u64 len, enum ffs_bh_get get)
{
	u64 from = ffs_lf_offset(sb, FOLIOFS_CHANGE_LF_WRITE, inode->mapping, f, pos);

	if (!ffs_sb_has(sb, FOLIOFS_CHANGE_LF_WRITE) && from + len > ffs_page_size(&sb->env)) {
		ffs_bh_assert(sb, inode, "a step of a write leaves its page");
		return -EIO;
	}
	return write_begin(sb, h, inode, f, ffs_folio_pos(inode->mapping, f) + from, len, get,
			   ensures(sb, h, get));
}

void ffs_zero_new_buffers(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode,
			  struct ffs_folio *f, u64 pos, u64 len)
{
	bool journalled = h && ffs_should_journal_data(sb, inode);
	struct ffs_mapping *m = inode->mapping;
	u8 bits = sb->env.block_bits;
	u64 start = ffs_folio_pos(m, f), end = pos + len;
	u32 b = (u32)((pos - start) >> bits), last = (u32)div_up(end - start, ffs_block_size(&sb->env));

	for (b = ffs_bh_next(f, FFS_BH_NEW, b, last); b < last;
	     b = ffs_bh_next(f, FFS_BH_NEW, b + 1, last)) {
		u64 from = max(start + ((u64)b << bits), pos);
		u64 to = min(start + ((u64)(b + 1) << bits), end);

		if (!(f->flags & FFS_FOLIO_UPTODATE)) {
			ffs_content_zero(&m->content, from, to);
			ffs_bh_set(f, FFS_BH_UPTODATE, b, b + 1);
		}
		ffs_bh_clear(f, FFS_BH_NEW, b, b + 1);
		if (journalled) {
			ffs_dirty_journalled(sb, h, inode, f, b);
			continue;
		}
		ffs_bh_set(f, FFS_BH_DIRTY, b, b + 1);
		ffs_folio_set_dirty(f);
		ffs_inode_dirtied(sb, inode);
	}
}

int ffs_block_commit(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode,
		     struct ffs_folio *f, u64 pos, u64 len, bool journalled)
{
	struct ffs_mapping *m = inode->mapping;
	u8 bits = sb->env.block_bits;
	u64 from = pos - ffs_folio_pos(m, f);
	u32 first, last, b;
	int err = 0;

	if (!len)
		return 0;
	/* write_end of journalled data took the offset in a page until large-block-size. */
	if (journalled)
		from = ffs_lf_offset(sb, FOLIOFS_CHANGE_LARGE_BLOCK_SIZE, m, f, pos);
	first = (u32)(from >> bits);
	last = (u32)min(div_up(from + len, ffs_block_size(&sb->env)), (u64)f->bpf);
	ffs_bh_set(f, FFS_BH_UPTODATE, first, last);
	if (journalled) {
		for (b = first; b < last && !err; b++)
			err = ffs_dirty_journalled(sb, h, inode, f, b);
		/* only the blocks of the range are not new any more */
		ffs_bh_clear(f, FFS_BH_NEW, first, last);
	} else {
		ffs_bh_set(f, FFS_BH_DIRTY, first, last);
		ffs_folio_set_dirty(f);
		ffs_inode_dirtied(sb, inode);
		ffs_bh_clear(f, FFS_BH_NEW, 0, f->bpf);
	}
	if (!(f->flags & FFS_FOLIO_UPTODATE) && ffs_bh_all(f, FFS_BH_UPTODATE, 0, f->bpf))
		f->flags |= FFS_FOLIO_UPTODATE;
	return err;
}
