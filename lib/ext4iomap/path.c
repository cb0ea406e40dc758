// SPDX-License-Identifier: MIT
/* The data path of ext4's iomap inodes, as lib/ops sees it: the core's with ext4's own entries. */
#include "ext4iomap.h"

/*
 * The folio is not yet locked: space is looked at here, since that may write data back.
 * Until im-mkwrite a fault goes the way of all other inodes, which takes what hangs on a folio for
 * buffer heads, or hangs them there.
 */
static int mkwrite(struct ffs_super *sb, struct ffs_inode *inode, struct ffs_folio *f)
{
	u32 index = f->index;

	if (!ffs_sb_has(sb, FOLIOFS_CHANGE_IM_MKWRITE)) {
		ffs_emit(&sb->env, foliofs_assert, inode->ino,
			 ffs_str("page_mkwrite puts buffer heads on folios of the iomap path"));
		return -EFAULT;
	}
	if (!sb->env.geo.mount.nodelalloc)
		ffs_ext4im_low_space(sb);
	f = ffs_folio_find(inode->mapping, index);
	return f ? ffs_iomap_mkwrite(sb, inode, f) : -EFAULT;
}

/*
 * The table of im-aops is of empty entries: nothing is read ahead, a folio is left locked and not
 * up to date.  im-read fills these two.
 */
static bool no_read(const struct ffs_super *sb)
{
	return !ffs_sb_has(sb, FOLIOFS_CHANGE_IM_READ);
}

static void read_folios(struct ffs_super *sb, struct ffs_mapping *m, struct ffs_folio **f, u32 n)
{
	if (!no_read(sb))
		ffs_iomap_readahead(sb, m, f, n);
}

static void read_folio(struct ffs_super *sb, struct ffs_mapping *m, struct ffs_folio *f)
{
	if (!no_read(sb))
		ffs_iomap_read_folio(sb, m, f);
	else
		ffs_emit(&sb->env, foliofs_livelock, m->inode->ino, 1,
			 ffs_str("a reader waits for a folio that nobody unlocks"));
}

static int map(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode, struct ffs_map *m,
	       u32 flags)
{
	return ffs_map_blocks(&sb->bm, h, inode, m, flags);
}

static void inode_destroy(struct ffs_super *sb, struct ffs_inode *inode)
{
	ffs_ext4im_order_free(inode);
	ffs_iomap_inode_destroy(sb, inode);
}

/* Inodes with data in them are never on this path. */
static int convert_inline(struct ffs_super *sb, struct ffs_inode *inode)
{
	(void)sb, (void)inode;
	return 0;
}

const struct ffs_iomap_fs ffs_ext4im_fs = {
	.read = &ffs_ext4im_read_ops,
	.write = &ffs_ext4im_write_ops,
	.zero = &ffs_ext4im_zero_ops,
	.valid = ffs_ext4im_valid,
	.wb_map = ffs_ext4im_wb_map,
	.wb_discard = ffs_ext4im_wb_discard,
	.wb_submit = ffs_ext4im_wb_submit,
	.wb_end = ffs_ext4im_wb_end,
	.punch_delayed = ffs_ext4im_punch_delayed,
};

const struct ffs_data_path ffs_ext4im_path = {
	.inode_init = ffs_iomap_inode_init,
	.inode_destroy = inode_destroy,
	.write = ffs_iomap_write,
	.read_folios = read_folios,
	.read_folio = read_folio,
	.is_uptodate = ffs_iomap_is_uptodate,
	.mkwrite = mkwrite,
	.writepages = ffs_ext4im_writepages,
	.invalidate = ffs_iomap_invalidate,
	.release = ffs_iomap_release,
	.zero_partial = ffs_ext4im_zero_partial,
	.settle_tail = ffs_ext4im_settle_tail,
	.map = map,
	.convert_inline = convert_inline,
	.submit_ordered = ffs_ext4im_submit_ordered,
};
