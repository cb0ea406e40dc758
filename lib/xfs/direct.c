// SPDX-License-Identifier: MIT
/*
 * O_DIRECT: xfs_file_dio_write_aligned/_unaligned, xfs_file_dio_read, iomap_dio_rw,
 * xfs_direct_write_iomap_begin, xfs_dio_write_end_io (v6.18).
 *
 * SIMPLIFIED: a write of parts of blocks is done like one of whole blocks.
 */
#include "xfs.h"

/* A map for [pos, pos + len): holes get unwritten blocks. */
static int dio_begin(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 len, u32 flags,
		     struct ffs_iomap *map, struct ffs_iomap *src)
{
	u64 off = pos >> sb->env.block_bits, end = ffs_blocks_up(&sb->env, pos + len);
	u16 new = 0;
	struct ffs_xrec r;
	int err;

	/* The answer is cut to what was asked for. */
	if (!(flags & FFS_IOMAP_WRITE))
		return ffs_xfs_iomap.read->begin(sb, inode, pos, len, flags, map, src);
	if (!ffs_xfs_lookup(inode, FFS_XFS_DATA, off, &r) || r.off > off) {
		u64 stop = ffs_xfs_lookup(inode, FFS_XFS_DATA, off, &r) ? min(end, r.off) : end;

		err = ffs_xfs_alloc_space(sb, inode, off << sb->env.block_bits,
					  (stop - off) << sb->env.block_bits);
		if (err)
			return err;
		new = FFS_IOMAP_F_NEW;
		ffs_xfs_lookup(inode, FFS_XFS_DATA, off, &r);
		end = stop;
	}
	ffs_xrec_trim(&r, off, end);
	ffs_xfs_to_iomap(sb, inode, &r, new, 0, map);
	return 0;
}

static const struct ffs_iomap_ops dio_ops = { .begin = dio_begin };

static void write_piece(struct ffs_iomap_iter *it, u64 len)
{
	struct ffs_super *sb = it->sb;
	u64 addr = ffs_iomap_addr(&it->map, it->pos), block = ffs_block_size(&sb->env);
	u64 end = it->pos + len, head = it->pos & (block - 1), tail = -end & (block - 1);
	struct ffs_runs data = { 0 };

	/* Blocks without data that are only partly written are zero around it. */
	if (it->map.type == FFS_IOMAP_UNWRITTEN || (it->map.flags & FFS_IOMAP_F_NEW)) {
		if (head)
			ffs_content_zero(&sb->disk, addr - head, addr);
		if (tail)
			ffs_content_zero(&sb->disk, addr + len, addr + len + tail);
	}
	ffs_store_content(sb, it->inode, &data, it->pos, end);
	ffs_content_copy(&sb->disk, addr, &data, it->pos, len, FFS_SRC_ZERO);
	ffs_runs_free(&data);
	ffs_iomap_bio(sb, "WS", addr, len);
}

static int dio(struct ffs_ops *o, struct ffs_inode *inode, u64 pos, u64 len, bool write)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_iomap_iter it = {
		.sb = sb, .inode = inode, .pos = pos, .len = len,
		.flags = FFS_IOMAP_DIRECT | (write ? FFS_IOMAP_WRITE : 0),
		.caller = "__iomap_dio_rw",
	};
	u8 page = sb->env.page_bits;
	bool unwritten = false;
	int ret;

	ffs_emit(&sb->env, iomap_dio_rw_begin, inode->ino, inode->i_size, pos, len);
	ret = ffs_iomap_write_and_wait(sb, inode, pos, pos + len - 1);
	if (ret)
		return ret;
	if (write)
		ffs_invalidate_range(sb, inode, (u32)(pos >> page), (u32)((pos + len - 1) >> page));
	while ((ret = ffs_iomap_iter(&it, &dio_ops)) > 0) {
		u64 n = ffs_iomap_length(&it);

		unwritten |= it.map.type == FFS_IOMAP_UNWRITTEN;
		if (write) {
			write_piece(&it, n);
		} else if (it.map.type == FFS_IOMAP_MAPPED) {
			ffs_direct_bring(sb, it.pos, ffs_iomap_addr(&it.map, it.pos), n);
			ffs_iomap_bio(sb, "RS", ffs_iomap_addr(&it.map, it.pos), n);
		}
		ffs_iomap_advance(&it, n);
	}
	if (ret || !write)
		return ret;
	if (unwritten)
		ffs_emit(&sb->env, xfs_unwritten_convert, inode->ino, inode->i_size,
			 inode->i_disksize, pos, len);
	if (unwritten)
		ffs_xfs_convert_unwritten(inode, FFS_XFS_DATA, pos >> sb->env.block_bits,
					  ffs_blocks_up(&sb->env, pos + len));
	if (pos + len > inode->i_size)
		ffs_set_isize(sb, inode, pos + len);
	if (pos + len > inode->i_disksize) {
		ffs_set_disksize(sb, inode, pos + len);
		ffs_xfs_log(inode, true);
	}
	if (unwritten)
		ffs_xfs_log(inode, true);
	return 0;
}

static s64 complete(struct ffs_ops *o, struct ffs_inode *inode, u64 pos, u64 len, int err)
{
	s64 ret = err ? err : (s64)len;

	ffs_emit(&o->sb.env, iomap_dio_complete, inode->ino, inode->i_size, err ? pos : pos + len,
		 (u64)(s64)err, (u64)ret);
	return ret;
}

s64 ffs_xfs_direct_write(struct ffs_ops *o, struct ffs_file *f, u64 pos, u64 len)
{
	struct ffs_inode *inode = f->inode;
	bool did = false;
	int err;

	if ((pos | len) & 511)
		return -EINVAL;
	err = ffs_xfs_zero_eof(&o->sb, inode, pos, &did);
	if (!err)
		err = ffs_update_time(o, inode);
	if (err)
		return err;
	ffs_emit(&o->sb.env, xfs_file_direct_write, inode->ino, inode->i_disksize, pos, len);
	return complete(o, inode, pos, len, dio(o, inode, pos, len, true));
}

s64 ffs_xfs_direct_read(struct ffs_ops *o, struct ffs_file *f, u64 pos, u64 len)
{
	struct ffs_inode *inode = f->inode;
	int err;

	if ((pos | len) & 511)
		return -EINVAL;
	if (o->sb.direct_data)
		o->sb.direct_data->there = true;
	ffs_emit(&o->sb.env, xfs_file_direct_read, inode->ino, inode->i_disksize, pos, len);
	ffs_touch_atime(o, f, inode);
	if (pos >= inode->i_size)
		return 0;
	err = dio(o, inode, pos, len, false);
	return complete(o, inode, pos, min(len, inode->i_size - pos), err);
}
