// SPDX-License-Identifier: MIT
/*
 * The end of I/O: a worker converts what was unwritten and moves the size on disk, in a
 * handle that it starts then, as any other (ext4_iomap_end_bio, ext4_iomap_end_io,
 * ext4_iomap_finish_ioend).
 */
#include "ext4iomap.h"

bool ffs_ext4im_wb_submit(struct ffs_super *sb, struct ffs_inode *inode, struct ffs_ioend *io)
{
	if (io->error)
		return sb->env.geo.mount.data_err_abort;
	return io->unwritten || io->pos + io->size > inode->i_disksize;
}

/* [lblk, end) becomes written inside @h: 0, or a negative errno. */
static int convert_blocks(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode,
			  u32 lblk, u32 end)
{
	while (lblk < end) {
		struct ffs_map m = { .lblk = lblk, .len = end - lblk };
		int ret = ffs_map_blocks(&sb->bm, h, inode, &m, ffs_convert_flags(&sb->bm));

		if (ret <= 0)
			return ret;
		lblk += (u32)ret;
	}
	return 0;
}

int ffs_ext4im_convert(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode, u64 pos,
		       u64 len)
{
	u32 lblk = (u32)(pos >> sb->env.block_bits);
	u32 end = (u32)ffs_blocks_up(&sb->env, pos + len);
	struct ffs_handle *own = h;
	int err = 0, ret;

	if (!h)
		err = ffs_start(sb, inode, FOLIOFS_CREDIT_CONVERT_PLAIN, end - lblk,
				"ext4_convert_unwritten_extents", &own);
	if (err)
		return err;
	err = convert_blocks(sb, own, inode, lblk, end);
	ret = ffs_mark_inode_dirty(sb, own, inode, "ext4_convert_unwritten_extents");
	if (!h)
		ffs_handle_stop(own);
	return err ? err : ret;
}

void ffs_ext4im_wb_end(struct ffs_super *sb, struct ffs_inode *inode, const struct ffs_ioend *io)
{
	u32 lblk = (u32)(io->pos >> sb->env.block_bits);
	u32 end = (u32)ffs_blocks_up(&sb->env, io->pos + io->size);
	u64 size = io->pos + io->size;
	struct ffs_handle *h;
	int err;

	if (io->error) {
		if (sb->env.geo.mount.data_err_abort)
			ffs_journal_abort(sb->journal, io->error, "data of a file could not be written");
		return;
	}
	err = ffs_start(sb, inode, FOLIOFS_CREDIT_CONVERT, end - lblk, "ext4_iomap_finish_ioend", &h);
	if (!err && io->unwritten)
		err = convert_blocks(sb, h, inode, lblk, end);
	/* The size on disk follows the data, never before it. */
	size = min(size, inode->i_size);
	if (!err && size > inode->i_disksize)
		ffs_set_disksize(sb, inode, size);
	if (h) {
		int ret = ffs_mark_inode_dirty(sb, h, inode, "ext4_iomap_finish_ioend");

		err = err ? err : ret;
		ffs_handle_stop(h);
	}
	if (!err)
		return;
	ffs_emit(&sb->env, foliofs_message, ffs_str("failed to convert unwritten extents"));
	ffs_emit(&sb->env, foliofs_lost, inode->ino, io->pos, io->size,
		 ffs_str("its blocks stay unwritten"));
	inode->wb_err++;
	inode->wb_told = false;
	sb->wb_error = err;
}
