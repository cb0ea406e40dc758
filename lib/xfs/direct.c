// SPDX-License-Identifier: MIT
/*
 * O_DIRECT: xfs_file_dio_write_aligned/_unaligned, xfs_file_dio_read, iomap_dio_rw,
 * xfs_direct_write_iomap_begin, xfs_dio_write_end_io (v6.18).
 */
#include "xfs.h"

/* Whether @r lets a write that may only overwrite go on: one written map of all of it. */
static bool overwritable(const struct ffs_xrec *r, u64 end, bool parts)
{
	return r->state != FFS_XFS_DELAYED && ffs_xrec_end(r) >= end &&
	       (r->state == FFS_XFS_WRITTEN || !parts);
}

/* A map for [pos, pos + len): holes get unwritten blocks, shared ones others to write to. */
static int dio_begin(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 len, u32 flags,
		     struct ffs_iomap *map, struct ffs_iomap *src)
{
	u64 off = pos >> sb->env.block_bits, end = ffs_blocks_up(&sb->env, pos + len);
	bool only = flags & FFS_IOMAP_OVERWRITE_ONLY, shared;
	u16 new = 0;
	struct ffs_xrec r, cow;
	int err;

	/* The answer is cut to what was asked for. */
	if (!(flags & FFS_IOMAP_WRITE))
		return ffs_xfs_iomap.read->begin(sb, inode, pos, len, flags, map, src);
	if (!ffs_xfs_lookup(inode, FFS_XFS_DATA, off, &r) || r.off > off) {
		u64 stop = ffs_xfs_lookup(inode, FFS_XFS_DATA, off, &r) ? min(end, r.off) : end;

		if (only)
			return -EAGAIN;
		err = ffs_xfs_alloc_space(sb, inode, off << sb->env.block_bits,
					  (stop - off) << sb->env.block_bits);
		if (err)
			return err;
		new = FFS_IOMAP_F_NEW;
		ffs_xfs_lookup(inode, FFS_XFS_DATA, off, &r);
		end = stop;
	}
	ffs_xrec_trim(&r, off, end);
	if (only && !overwritable(&r, end, (pos | len) & (ffs_block_size(&sb->env) - 1)))
		return -EAGAIN;
	if (!new) {
		err = ffs_xfs_direct_cow(sb, inode, &r, &cow, &shared);
		if (err)
			return err;
		if (shared) {
			ffs_xfs_to_iomap(sb, inode, &r, 0, 0, src);
			ffs_xfs_to_iomap(sb, inode, &cow, FFS_IOMAP_F_SHARED, 0, map);
			return 0;
		}
	}
	ffs_xfs_to_iomap(sb, inode, &r, new, 0, map);
	return 0;
}

static const struct ffs_iomap_ops dio_ops = { .begin = dio_begin };

/* What a write of part of a block that held nothing leaves of it. */
static void zero_piece(struct ffs_super *sb, u64 addr, u64 len)
{
	if (!len)
		return;
	ffs_content_zero(&sb->disk, addr, addr + len);
	ffs_iomap_bio(sb, "WS", addr, len);
}

static void write_piece(struct ffs_iomap_iter *it, u64 len)
{
	struct ffs_super *sb = it->sb;
	u64 addr = ffs_iomap_addr(&it->map, it->pos), block = ffs_block_size(&sb->env);
	u64 end = it->pos + len;
	bool zero = it->map.type == FFS_IOMAP_UNWRITTEN || (it->map.flags & FFS_IOMAP_F_NEW);
	struct ffs_runs data = { 0 };

	if (zero)
		zero_piece(sb, addr - (it->pos & (block - 1)), it->pos & (block - 1));
	ffs_store_content(sb, it->inode, &data, it->pos, end);
	ffs_content_copy(&sb->disk, addr, &data, it->pos, len, FFS_SRC_ZERO);
	ffs_runs_free(&data);
	ffs_iomap_bio(sb, "WS", addr, len);
	/* A block that EOF ends in holds nothing behind it either. */
	if (zero || end >= it->inode->i_size)
		zero_piece(sb, addr + len, -end & (block - 1));
}

/* What the blocks of [pos, pos + len) were for the write that has ended. */
struct dio_blocks {
	bool unwritten, shared;
};

/* xfs_dio_write_end_io */
static void written(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 len,
		    struct dio_blocks blocks)
{
	u64 off = pos >> sb->env.block_bits, end = ffs_blocks_up(&sb->env, pos + len);
	u64 old = inode->i_disksize;

	if (blocks.shared)
		ffs_xfs_end_cow(sb, inode, off, end);
	if (blocks.unwritten) {
		ffs_emit(&sb->env, xfs_unwritten_convert, inode->ino, inode->i_size,
			 inode->i_disksize, pos, len);
		ffs_xfs_convert_unwritten(inode, FFS_XFS_DATA, off, end);
		ffs_xfs_log(inode, true);
	} else if (pos + len <= inode->i_size) {
		return;
	}
	if (pos + len > inode->i_size)
		ffs_set_isize(sb, inode, pos + len);
	if (pos + len <= inode->i_disksize)
		return;
	if (!blocks.unwritten)
		ffs_emit(&sb->env, xfs_setfilesize, inode->ino, inode->i_size, old, pos, len);
	ffs_set_disksize(sb, inode, pos + len);
	ffs_xfs_log(inode, true);
}

/* @flags: of the iterator, besides what every direct operation has; @told: as events tell them. */
static int dio(struct ffs_ops *o, struct ffs_inode *inode, u64 pos, u64 len, u32 flags,
	       const char *told)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_iomap_iter it = {
		.sb = sb, .inode = inode, .pos = pos, .len = len,
		.flags = FFS_IOMAP_DIRECT | flags, .caller = "__iomap_dio_rw",
	};
	u8 page = sb->env.page_bits;
	bool write = flags & FFS_IOMAP_WRITE;
	struct dio_blocks blocks = { 0 };
	int ret;

	ffs_emit(&sb->env, iomap_dio_rw_begin, inode->ino, inode->i_size, pos, len, ffs_str(told));
	ret = ffs_iomap_write_and_wait(sb, inode, pos, pos + len - 1);
	if (ret)
		return ret;
	if (write)
		ffs_invalidate_range(sb, inode, (u32)(pos >> page), (u32)((pos + len - 1) >> page));
	while ((ret = ffs_iomap_iter(&it, &dio_ops)) > 0) {
		u64 n = ffs_iomap_length(&it);

		blocks.unwritten |= it.map.type == FFS_IOMAP_UNWRITTEN;
		blocks.shared |= (it.map.flags & FFS_IOMAP_F_SHARED) != 0;
		if (write) {
			write_piece(&it, n);
		} else if (it.map.type == FFS_IOMAP_MAPPED) {
			ffs_direct_bring(sb, it.pos, ffs_iomap_addr(&it.map, it.pos), n);
			ffs_iomap_bio(sb, "RS", ffs_iomap_addr(&it.map, it.pos), n);
		}
		ffs_iomap_advance(&it, n);
	}
	if (!ret && write)
		written(sb, inode, pos, len, blocks);
	return ret;
}

static s64 complete(struct ffs_ops *o, struct ffs_inode *inode, u64 pos, u64 len, int err)
{
	s64 ret = err ? err : (s64)len;

	ffs_emit(&o->sb.env, iomap_dio_complete, inode->ino, inode->i_size, err ? pos : pos + len,
		 (u64)(s64)err, (u64)ret);
	return ret;
}

static s64 try_write(struct ffs_ops *o, struct ffs_inode *inode, u64 pos, u64 len, u32 flags,
		     const char *told)
{
	bool did = false;
	int err = ffs_xfs_zero_eof(&o->sb, inode, pos, &did);

	if (!err)
		err = ffs_update_time(o, inode);
	if (err)
		return err;
	ffs_emit(&o->sb.env, xfs_file_direct_write, inode->ino, inode->i_disksize, pos, len);
	return complete(o, inode, pos, len,
			dio(o, inode, pos, len, FFS_IOMAP_WRITE | flags, told));
}

/*
 * Parts of blocks: inside the file first only over what is written, which others may do at the
 * same time; else alone, as the rest of a new block is zeroed.
 */
static s64 write_parts(struct ffs_ops *o, struct ffs_inode *inode, u64 pos, u64 len)
{
	if (ffs_xfs_inode(inode)->reflink)
		return -ENOTBLK; /* part of a block cannot be unshared */
	if (pos + len < inode->i_size) {
		s64 ret = try_write(o, inode, pos, len, FFS_IOMAP_OVERWRITE_ONLY,
				    "DIO_OVERWRITE_ONLY");

		if (ret != -EAGAIN)
			return ret;
	}
	return try_write(o, inode, pos, len, 0, "DIO_FORCE_WAIT");
}

s64 ffs_xfs_direct_write(struct ffs_ops *o, struct ffs_file *f, u64 pos, u64 len)
{
	if ((pos | len) & 511)
		return -EINVAL;
	if ((pos | len) & (ffs_block_size(&o->sb.env) - 1))
		return write_parts(o, f->inode, pos, len);
	return try_write(o, f->inode, pos, len, 0, "");
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
	err = dio(o, inode, pos, len, 0, "");
	return complete(o, inode, pos, min(len, inode->i_size - pos), err);
}
