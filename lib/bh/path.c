// SPDX-License-Identifier: MIT
/* The data path on buffer heads, as lib/ops sees it. */
#include "bh.h"

static void inode_init(struct ffs_super *sb, struct ffs_inode *inode)
{
	(void)sb;
	inode->data_path = ffs_zalloc(sizeof(struct ffs_bh_inode));
}

static void inode_destroy(struct ffs_super *sb, struct ffs_inode *inode)
{
	(void)sb;
	ffs_runs_free(&ffs_bh_inode(inode)->inline_data);
	free(inode->data_path);
	inode->data_path = NULL;
}

const struct ffs_data_path ffs_bh_path = {
	.inode_init = inode_init,
	.inode_destroy = inode_destroy,
	.write_begin = ffs_bh_write_begin,
	.write_end = ffs_bh_write_end,
	.read_folios = ffs_bh_read_folios,
	.is_uptodate = ffs_bh_is_uptodate,
	.mkwrite = ffs_bh_mkwrite,
	.writepages = ffs_bh_writepages,
	.invalidate = ffs_bh_invalidate,
	.release = ffs_bh_release,
	.zero_partial = ffs_bh_zero_partial,
	.settle_tail = ffs_bh_settle_tail,
	.submit_ordered = ffs_bh_submit_ordered,
	.map = ffs_bh_map,
	.move_piece = ffs_bh_move_piece,
	.convert_inline = ffs_inline_convert,
	.cut_inline = ffs_inline_cut,
};
