// SPDX-License-Identifier: MIT
/*
 * Data in the inode: ext4_da_write_inline_data_begin, ext4_try_to_write_inline_data,
 * ext4_destroy_inline_data, ext4_convert_inline_data (v6.18).
 *
 * SIMPLIFIED: the room in the inode is that of an inode without other attributes.
 */
#include "bh.h"

/* Bytes that fit: i_block, and what a data attribute can take of the rest of the inode. */
static u64 inline_room(const struct ffs_super *sb)
{
	const u32 i_block = 60, fixed = 128 + 32, header = 4, entry = 20, end = 4;
	u32 size = sb->env.geo.inode_size;

	if (size < fixed + header + entry + end)
		return i_block;
	return i_block + ((size - fixed - header - entry - end) & ~3u);
}

static bool is_inline(const struct ffs_inode *inode)
{
	return inode->flags & FFS_INODE_INLINE_DATA;
}

void ffs_inline_read(struct ffs_super *sb, struct ffs_mapping *m, struct ffs_folio *f)
{
	u64 pos = ffs_folio_pos(m, f);

	if (!pos)
		ffs_content_copy(&m->content, 0, &ffs_bh_inode(m->inode)->inline_data, 0,
				 ffs_folio_size(m, f), FFS_SRC_ZERO);
	else
		ffs_content_zero(&m->content, pos, ffs_folio_end(m, f));
	(void)sb;
	f->flags |= FFS_FOLIO_UPTODATE;
}

/* The folio of the data, filled. */
static struct ffs_folio *inline_folio(struct ffs_super *sb, struct ffs_inode *inode)
{
	struct ffs_folio *f = ffs_write_folio(sb, inode, 0, 1);

	if (!(f->flags & FFS_FOLIO_UPTODATE))
		ffs_inline_read(sb, inode->mapping, f);
	return f;
}

/* The first data goes into the inode: it maps no blocks now (ext4_create_inline_data). */
static void create(struct ffs_super *sb, struct ffs_inode *inode)
{
	if (is_inline(inode))
		return;
	ffs_blockmap_to_inline(&sb->bm, inode);
	inode->flags &= ~FFS_INODE_EXTENTS;
	inode->flags |= FFS_INODE_INLINE_DATA;
}

/* The inode has no data any more and maps blocks (ext4_destroy_inline_data_nolock). */
static void destroy(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode)
{
	inode->flags &= ~(FFS_INODE_INLINE_DATA | FFS_INODE_HAS_INLINE_SPACE);
	ffs_blockmap_from_inline(&sb->bm, inode);
	ffs_runs_free(&ffs_bh_inode(inode)->inline_data);
	ffs_mark_inode_dirty(sb, h, inode, "ext4_destroy_inline_data_nolock");
}

int ffs_inline_destroy(struct ffs_super *sb, struct ffs_inode *inode)
{
	struct ffs_handle *h;
	int err;

	if (!is_inline(inode))
		return 0;
	err = ffs_start(sb, inode, FOLIOFS_CREDIT_INLINE_DESTROY, 0, "ext4_do_writepages", &h);
	if (err)
		return err;
	destroy(sb, h, inode);
	ffs_handle_stop(h);
	return 0;
}

int ffs_inline_da_write_begin(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 len,
			      struct ffs_write *w)
{
	struct ffs_handle *h;
	u64 step;
	int err;

	if (!(inode->flags & FFS_INODE_HAS_INLINE_SPACE))
		return 0;
	err = ffs_start(sb, inode, FOLIOFS_CREDIT_INLINE_WRITE, 0, "ext4_generic_write_inline_data",
			&h);
	if (err)
		return err;
	if (pos + len <= inline_room(sb)) {
		create(sb, inode);
		w->handle = h;
		w->folio = inline_folio(sb, inode);
		w->inline_data = true;
		return 1;
	}
	/* Too big now: block 0 becomes delayed, the data moves at writeback. */
	ffs_handle_stop(h);
	inode->flags &= ~FFS_INODE_HAS_INLINE_SPACE;
	if (!is_inline(inode)) {
		ffs_write_folio(sb, inode, 0, 1);
		return 0;
	}
	w->folio = inline_folio(sb, inode);
	step = min(inode->i_size ? inode->i_size : 1, (u64)ffs_block_size(&sb->env));
	err = ffs_block_write_begin(sb, NULL, inode, w->folio, 0, step, FFS_BH_GET_DA);
	if (err)
		return err;
	ffs_bh_set(w->folio, FFS_BH_DIRTY, 0, 1);
	ffs_bh_set(w->folio, FFS_BH_UPTODATE, 0, w->folio->bpf);
	ffs_folio_set_dirty(w->folio);
	ffs_inode_dirtied(sb, inode);
	return 0;
}

int ffs_inline_convert(struct ffs_super *sb, struct ffs_inode *inode)
{
	struct ffs_handle *h;
	struct ffs_map map = { .lblk = 0, .len = 1 };
	struct ffs_folio *f;
	struct ffs_runs saved;
	int err;

	inode->flags &= ~FFS_INODE_HAS_INLINE_SPACE;
	if (!is_inline(inode))
		return 0;
	f = inode->i_size ? inline_folio(sb, inode) : NULL;
	err = ffs_start(sb, inode, FOLIOFS_CREDIT_INLINE_CONVERT, 0, "ext4_convert_inline_data", &h);
	if (err)
		return err;
	if (!f) {
		destroy(sb, h, inode);
		ffs_handle_stop(h);
		return 0;
	}
	saved = ffs_bh_inode(inode)->inline_data;
	ffs_bh_inode(inode)->inline_data = (struct ffs_runs){ 0 };
	destroy(sb, h, inode);
	err = ffs_bh_map(sb, h, inode, &map, FFS_GET_CREATE);
	if (err <= 0) {
		/* The data goes back into the inode (ext4_restore_inline_data). */
		ffs_blockmap_to_inline(&sb->bm, inode);
		inode->flags |= FFS_INODE_INLINE_DATA | FFS_INODE_HAS_INLINE_SPACE;
		ffs_bh_inode(inode)->inline_data = saved;
		ffs_mark_inode_dirty(sb, h, inode, "ext4_convert_inline_data_nolock");
	} else {
		ffs_runs_free(&saved);
		ffs_home_log(sb, map.pblk, &inode->mapping->content, 0);
		/* SIMPLIFIED: data=journal: the file's own buffer of the block is the same one. */
		err = ffs_journal_dirty(h, map.pblk);
	}
	ffs_handle_stop(h);
	return err;
}

/* One try to move the data to a block that the page cache holds. */
static int to_block(struct ffs_super *sb, struct ffs_inode *inode)
{
	enum ffs_bh_get get = FFS_BH_GET_BLOCK;
	struct foliofs_inode_kind kind;
	struct ffs_folio *f;
	struct ffs_handle *h;
	int err;

	err = ffs_start(sb, inode, FOLIOFS_CREDIT_INLINE_CONVERT, 0,
			"ext4_convert_inline_data_to_extent", &h);
	if (err)
		return err;
	/* A retry finds that the data is not in the inode any more. */
	if (!is_inline(inode)) {
		ffs_write_folio(sb, inode, 0, 1);
		ffs_handle_stop(h);
		return 0;
	}
	f = inline_folio(sb, inode);
	destroy(sb, h, inode);
	kind = ffs_inode_kind(sb, inode);
	if (foliofs_dioread_nolock(&sb->env.kernel, &sb->env.geo, &kind))
		get = FFS_BH_GET_UNWRITTEN;
	err = inode->i_size ? ffs_block_write_begin(sb, h, inode, f, 0, inode->i_size, get) : 0;
	if (!err) {
		ffs_block_commit(sb, NULL, inode, f, 0, inode->i_size, false);
		ffs_handle_stop(h);
		return 0;
	}
	ffs_orphan_add(sb, h, inode);
	ffs_handle_stop(h);
	ffs_truncate_failed(sb, inode);
	if (inode->nlink)
		ffs_orphan_del(sb, NULL, inode);
	return err;
}

/* A write that allocates at once needs more room (ext4_convert_inline_data_to_extent). */
static int convert_to_extent(struct ffs_super *sb, struct ffs_inode *inode)
{
	u32 retries = 0;
	int err;

	if (!is_inline(inode)) {
		inode->flags &= ~FFS_INODE_HAS_INLINE_SPACE;
		return 0;
	}
	do {
		err = to_block(sb, inode);
	} while (err == -ENOSPC && ffs_should_retry_alloc(sb, &retries));
	return err;
}

int ffs_inline_write_begin(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 len,
			   struct ffs_write *w)
{
	struct ffs_handle *h;
	int err;

	if (!(inode->flags & FFS_INODE_HAS_INLINE_SPACE))
		return 0;
	if (pos + len > inline_room(sb))
		return convert_to_extent(sb, inode);
	err = ffs_start(sb, inode, FOLIOFS_CREDIT_INLINE_WRITE, 0, "ext4_generic_write_inline_data", &h);
	if (err)
		return err;
	create(sb, inode);
	w->handle = h;
	w->folio = inline_folio(sb, inode);
	w->inline_data = true;
	return 1;
}

s64 ffs_inline_write_end(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 len,
			 u64 copied, struct ffs_write *w)
{
	struct ffs_bh_inode *bi = ffs_bh_inode(inode);

	(void)len;
	ffs_store_content(sb, inode, &inode->mapping->content, pos, pos + copied);
	ffs_store_content(sb, inode, &bi->inline_data, pos, pos + copied);
	if (pos + copied > inode->i_size) {
		ffs_set_isize(sb, inode, pos + copied);
		ffs_set_disksize(sb, inode, pos + copied);
	}
	ffs_dirty_inode(sb, inode);
	ffs_handle_stop(w->handle);
	return (s64)copied;
}

void ffs_inline_cut(struct ffs_inode *inode, u64 size)
{
	ffs_runs_clear(&ffs_bh_inode(inode)->inline_data, size, ~0ull);
}
