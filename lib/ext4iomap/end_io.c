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
		err = ffs_convert_range(sb, h, inode, io->pos, io->size);
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
	ffs_mapping_error(sb, inode, err);
}
