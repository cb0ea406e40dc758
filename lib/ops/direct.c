// SPDX-License-Identifier: MIT
/*
 * O_DIRECT: ext4_dio_write_iter, ext4_iomap_begin, ext4_handle_inode_extension
 * (v6.18).  Data goes to the device at once, around the page cache.
 */
#include "ops.h"

#define DIO_MAX_BLOCKS 4096u

/* Bytes [pos, pos + len) go to the device at what [map] says. */
static void device_write(struct ffs_ops *o, struct ffs_inode *inode, const struct ffs_map *map,
			 u64 pos, u64 len)
{
	struct ffs_super *sb = &o->sb;
	u64 base = (u64)map->lblk << sb->env.block_bits, at = map->pblk << sb->env.block_bits;
	struct ffs_runs data = { 0 };

	ffs_content_write(&data, pos, pos + len, ffs_src(sb->env.op, inode->ino));
	ffs_content_copy(&sb->disk, at + (pos - base), &data, pos, len, FFS_SRC_ZERO);
	ffs_runs_free(&data);
	ffs_emit(&sb->env, foliofs_bio, inode->ino, 1, map->pblk, map->len, pos);
}

/* New blocks that the write covers only in part are zero around it. */
static void zero_rest(struct ffs_ops *o, const struct ffs_map *map, u64 pos, u64 end)
{
	struct ffs_super *sb = &o->sb;
	u64 base = (u64)map->lblk << sb->env.block_bits, at = map->pblk << sb->env.block_bits;
	u64 stop = base + ((u64)map->len << sb->env.block_bits);

	if (!(map->flags & (FFS_MAP_NEW | FFS_MAP_UNWRITTEN)))
		return;
	if (pos > base)
		ffs_content_zero(&sb->disk, at, at + (pos - base));
	if (end < stop)
		ffs_content_zero(&sb->disk, at + (end - base), at + (stop - base));
}

/* Map one piece for writing (ext4_iomap_begin, ext4_iomap_alloc). */
static int map_piece(struct ffs_ops *o, struct ffs_inode *inode, struct ffs_map *map, bool overwrite,
		     bool extending)
{
	struct ffs_super *sb = &o->sb;
	u32 asked = map->len, retries = 0;
	struct ffs_handle *h;
	u32 flags = FFS_GET_CREATE;
	int ret;

	if (overwrite || !extending) {
		ret = ffs_map_blocks(&sb->bm, NULL, inode, map, 0);
		if (ret < 0)
			return ret;
		if (ret > 0 && (map->flags & FFS_MAP_MAPPED))
			return ret;
		/* dio-unwritten: the blocks are there, converted when the I/O is done. */
		if ((map->flags & FFS_MAP_UNWRITTEN) &&
		    ffs_sb_has(sb, FOLIOFS_CHANGE_DIO_UNWRITTEN))
			return (int)map->len;
		map->len = asked;
		map->flags = 0;
	}
	/* Beyond i_size nobody can see the blocks before the size moves: written at once. */
	if (inode->flags & FFS_INODE_EXTENTS)
		if (((u64)map->lblk << sb->env.block_bits) < inode->i_size)
			flags |= FFS_GET_UNWRIT | FFS_GET_PRE_IO;
	do {
		ret = ffs_start(sb, inode, FOLIOFS_CREDIT_DIO_ALLOC, map->len, "ext4_iomap_begin", &h);
		if (ret)
			return ret;
		ret = ffs_path_of(sb, inode)->map(sb, h, inode, map, flags);
		ffs_handle_stop(h);
	} while (ret == -ENOSPC && ffs_should_retry_alloc(sb, &retries));
	return ret;
}

/* The size follows; a handle before added the inode to the orphan list. */
static int extend(struct ffs_ops *o, struct ffs_inode *inode, u64 end)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_handle *h;
	int err = ffs_start(sb, inode, FOLIOFS_CREDIT_DIO_EXTEND, 0, "ext4_handle_inode_extension",
			    &h);

	if (err)
		return err;
	if (end > inode->i_size) {
		ffs_set_isize(sb, inode, end);
		ffs_set_disksize(sb, inode, end);
		err = ffs_mark_inode_dirty(sb, h, inode, "ext4_handle_inode_extension");
	}
	if (inode->nlink)
		ffs_orphan_del(sb, h, inode);
	ffs_handle_stop(h);
	return err;
}

static int add_orphan(struct ffs_ops *o, struct ffs_inode *inode)
{
	struct ffs_handle *h;
	int err = ffs_start(&o->sb, inode, FOLIOFS_CREDIT_DIO_EXTEND, 0, "ext4_file_write_iter", &h);

	if (err)
		return err;
	err = ffs_orphan_add(&o->sb, h, inode);
	ffs_handle_stop(h);
	return err;
}

s64 ffs_direct_write(struct ffs_ops *o, struct ffs_file *f, u64 pos, u64 len)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_inode *inode = f->inode;
	u8 bits = sb->env.block_bits;
	u64 end = pos + len, done = pos;
	bool extending = end > inode->i_size;
	int ret = 0;

	if ((pos | len) & 511)
		return -EINVAL;
	if ((inode->flags & FFS_INODE_INLINE_DATA) || ffs_should_journal_data(sb, inode)) {
		f->flags &= ~FOLIOFS_O_DIRECT;
		ret = (int)ffs_write(o, f, pos, len, len);
		f->flags |= FOLIOFS_O_DIRECT;
		return ret;
	}
	ret = ffs_update_time(o, inode);
	if (ret)
		return ret;
	if (extending) {
		ret = add_orphan(o, inode);
		if (ret)
			return ret;
	}
	/* What is cached goes out, then out of the cache. */
	ffs_write_and_wait(o, inode, pos, end - 1);
	ffs_invalidate_range(sb, inode, (u32)(pos >> sb->env.page_bits),
			     (u32)((end - 1) >> sb->env.page_bits));
	while (done < end) {
		struct ffs_map map = { .lblk = (u32)(done >> bits) };
		u64 stop;

		map.len = min((u32)(ffs_blocks_up(&sb->env, end) - map.lblk), DIO_MAX_BLOCKS);
		ret = map_piece(o, inode, &map, false, extending);
		if (ret < 0)
			break;
		stop = min(end, (u64)(map.lblk + map.len) << bits);
		zero_rest(o, &map, done, stop);
		device_write(o, inode, &map, done, stop - done);
		if (map.flags & FFS_MAP_UNWRITTEN)
			ffs_path_of(sb, inode)->convert(sb, NULL, inode, done, stop - done);
		done = stop;
	}
	if (extending)
		extend(o, inode, done);
	if (done > pos && (f->flags & (FOLIOFS_O_SYNC | FOLIOFS_O_DSYNC)))
		ffs_fsync(o, inode, pos, done - 1, !(f->flags & FOLIOFS_O_SYNC));
	return done > pos ? (s64)(done - pos) : ret;
}

s64 ffs_direct_read(struct ffs_ops *o, struct ffs_file *f, u64 pos, u64 len)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_inode *inode = f->inode;
	u8 bits = sb->env.block_bits;
	u64 end = min(pos + len, inode->i_size), done = pos;

	if ((pos | len) & 511)
		return -EINVAL;
	if (pos >= inode->i_size)
		return 0;
	ffs_write_and_wait(o, inode, pos, end - 1);
	while (done < end) {
		struct ffs_map map = { .lblk = (u32)(done >> bits) };
		int ret;

		map.len = (u32)(ffs_blocks_up(&sb->env, end) - map.lblk);
		ret = ffs_map_blocks(&sb->bm, NULL, inode, &map, 0);
		if (ret < 0)
			return ret;
		done = (u64)(map.lblk + max(map.len, 1u)) << bits;
	}
	ffs_touch_atime(o, f, inode);
	return (s64)(end - pos);
}
