// SPDX-License-Identifier: MIT
/*
 * The end of I/O: a worker converts what was unwritten and moves the size on disk, in a
 * handle that it starts then, as any other (ext4_iomap_end_bio, ext4_iomap_end_io,
 * ext4_iomap_finish_ioend).
 */
#include "ext4iomap.h"

bool ffs_ext4im_wb_submit(struct ffs_super *sb, struct ffs_inode *inode, struct ffs_ioend *io)
{
	return io->unwritten || io->pos + io->size > inode->i_disksize ||
	       (io->error && sb->env.geo.mount.data_err_abort);
}

int ffs_ext4im_convert(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode, u64 pos,
		       u64 len)
{
	u32 lblk = (u32)(pos >> sb->env.block_bits);
	u32 end = (u32)ffs_blocks_up(&sb->env, pos + len), credits_len = end - lblk;
	int err = 0;

	while (lblk < end && !err) {
		struct ffs_map m = { .lblk = lblk, .len = end - lblk };
		struct ffs_handle *own = h;
		int ret;

		if (!h)
			err = ffs_start(sb, inode, FOLIOFS_CREDIT_CONVERT_PLAIN, credits_len,
					"ext4_convert_unwritten_extents", &own);
		if (err)
			return err;
		ret = ffs_map_blocks(&sb->bm, own, inode, &m, ffs_convert_flags(&sb->bm));
		err = ffs_mark_inode_dirty(sb, own, inode, "ext4_convert_unwritten_extents");
		if (!h)
			ffs_handle_stop(own);
		if (ret <= 0)
			return ret;
		lblk += (u32)ret;
	}
	return err;
}

void ffs_ext4im_wb_end(struct ffs_super *sb, struct ffs_inode *inode, const struct ffs_ioend *io)
{
	u32 lblk = (u32)(io->pos >> sb->env.block_bits);
	u32 end = (u32)ffs_blocks_up(&sb->env, io->pos + io->size);
	u64 size = min(io->pos + io->size, inode->i_size);
	struct ffs_handle *h;
	int err;

	if (io->error) {
		if (sb->env.geo.mount.data_err_abort)
			ffs_journal_abort(sb->journal, io->error, "data of a file could not be written");
		return;
	}
	err = ffs_start(sb, inode, FOLIOFS_CREDIT_CONVERT, end - lblk, "ext4_iomap_finish_ioend", &h);
	if (!err && io->unwritten)
		err = ffs_ext4im_convert(sb, h, inode, io->pos, io->size);
	/* The size on disk follows the data, never before it. */
	if (!err && size > inode->i_disksize) {
		ffs_set_disksize(sb, inode, size);
		err = ffs_mark_inode_dirty(sb, h, inode, "ext4_iomap_finish_ioend");
	}
	if (h)
		ffs_handle_stop(h);
	if (!err)
		return;
	ffs_emit(&sb->env, foliofs_message, ffs_str("failed to convert unwritten extents"));
	ffs_emit(&sb->env, foliofs_io_error, inode->ino, io->addr >> sb->env.block_bits, end - lblk,
		 io->pos);
	inode->wb_err++;
	inode->wb_told = false;
	sb->wb_error = err;
}
