// SPDX-License-Identifier: MIT
/*
 * O_DIRECT: ext4_dio_write_iter, ext4_iomap_begin, ext4_handle_inode_extension
 * (v6.18).  Data goes to the device at once, around the page cache.
 */
#include "ops.h"

#define DIO_MAX_BLOCKS 4096u
#define SECTOR_SIZE 512u /* of the device: what direct I/O is aligned to */

/* Bytes [pos, pos + len) go to the device at what [map] says. */
static void device_write(struct ffs_ops *o, struct ffs_inode *inode, const struct ffs_map *map,
			 u64 pos, u64 len)
{
	struct ffs_super *sb = &o->sb;
	u64 base = (u64)map->lblk << sb->env.block_bits, at = map->pblk << sb->env.block_bits;
	struct ffs_runs data = { 0 };

	ffs_store_content(sb, inode, &data, pos, pos + len);
	ffs_device_write(sb, at + (pos - base), &data, pos, len, FFS_SRC_ZERO);
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
		ffs_device_zero(sb, at, at + (pos - base));
	if (end < stop)
		ffs_device_zero(sb, at + (end - base), at + (stop - base));
}

/*
 * Map one piece for writing (ext4_iomap_begin, ext4_iomap_alloc); @inside: the write ends
 * inside i_size.  -ENOTBLK: a hole that only the page cache can fill.
 */
static int map_piece(struct ffs_ops *o, struct ffs_inode *inode, struct ffs_map *map, bool inside)
{
	struct ffs_super *sb = &o->sb;
	u32 asked = map->len, retries = 0;
	struct ffs_handle *h;
	u32 flags = FFS_GET_CREATE;
	int ret;

	if (inside) {
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
	map->len = min(map->len, DIO_MAX_BLOCKS);
	/*
	 * Beyond i_size nobody can see the blocks before the size moves: written at once.
	 * Inside it they are unwritten until the data is there; the indirect map has no such
	 * blocks, so its holes are left to a buffered write.
	 */
	if (((u64)map->lblk << sb->env.block_bits) < inode->i_size) {
		if (!(inode->flags & FFS_INODE_EXTENTS)) {
			ret = ffs_start(sb, inode, FOLIOFS_CREDIT_DIO_ALLOC, map->len,
					"ext4_iomap_begin", &h);
			if (ret)
				return ret;
			ret = ffs_map_blocks(&sb->bm, NULL, inode, map, 0);
			ffs_handle_stop(h);
			return ret ? ret : -ENOTBLK;
		}
		flags |= FFS_GET_UNWRIT | FFS_GET_PRE_IO;
	}
	do {
		ret = ffs_start(sb, inode, FOLIOFS_CREDIT_DIO_ALLOC, map->len, "ext4_iomap_begin", &h);
		if (ret)
			return ret;
		ret = ffs_path_of(sb, inode)->map(sb, h, inode, map, flags);
		ffs_handle_stop(h);
	} while (ret == -ENOSPC && ffs_should_retry_alloc(sb, &retries));
	return ret;
}

/* The size follows what was written; a handle before added the inode to the orphan list. */
static int extend(struct ffs_ops *o, struct ffs_inode *inode, u64 end)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_handle *h;
	int err = ffs_start(sb, inode, FOLIOFS_CREDIT_DIO_EXTEND, 0, "ext4_handle_inode_extension",
			    &h);

	if (err)
		return err;
	if (end > inode->i_disksize) {
		ffs_set_isize(sb, inode, max(end, inode->i_size));
		ffs_set_disksize(sb, inode, end);
		err = ffs_mark_inode_dirty(sb, h, inode, "ext4_handle_inode_extension");
	}
	if (inode->nlink)
		ffs_orphan_del(sb, h, inode);
	ffs_handle_stop(h);
	return err;
}

/* The orphan list is to know of the write: its size may not have moved when power fails. */
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

/*
 * ext4_inode_extension_cleanup: blocks of a write that failed go; where writeback of delayed
 * blocks had moved the size meanwhile, the inode is still on the orphan list.
 */
static void extend_cleanup(struct ffs_ops *o, struct ffs_inode *inode, bool failed)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_handle *h = NULL;

	if (failed) {
		ffs_truncate_cache(sb, inode, inode->i_size, ~0ull);
		sb->truncate(sb, inode);
	} else if (!ffs_is_orphan(sb, inode->ino) || !inode->nlink ||
		   ffs_start(sb, inode, FOLIOFS_CREDIT_DIO_EXTEND, 0,
			     "ext4_inode_extension_cleanup", &h)) {
		return;
	}
	if (inode->nlink)
		ffs_orphan_del(sb, h, inode);
	if (h)
		ffs_handle_stop(h);
}

/* The data of [pos, end), piece by piece: bytes written; *err says what ended it. */
static u64 write_pieces(struct ffs_ops *o, struct ffs_inode *inode, u64 pos, u64 end,
			bool *unwritten, int *err)
{
	struct ffs_super *sb = &o->sb;
	bool inside = end <= inode->i_size;
	u8 bits = sb->env.block_bits;
	u64 done = pos;

	while (done < end) {
		struct ffs_map map = { .lblk = (u32)(done >> bits) };
		u64 stop;

		map.len = (u32)(ffs_blocks_up(&sb->env, end) - map.lblk);
		*err = map_piece(o, inode, &map, inside);
		if (!*err || *err == -ENOTBLK || ((pos | end) & (SECTOR_SIZE - 1))) {
			*err = *err < 0 ? *err : -EINVAL;
			break;
		}
		if (*err < 0)
			break;
		stop = min(end, (u64)(map.lblk + map.len) << bits);
		ffs_stop(&sb->env, DIRECT_MAPPED, inode->ino, FFS_HELD_INODE, 0, 0);
		if (ffs_fails(&sb->env, EIO)) {
			*err = -EIO;
			break;
		}
		zero_rest(o, &map, done, stop);
		device_write(o, inode, &map, done, stop - done);
		ffs_stop(&sb->env, DIRECT_WRITTEN, inode->ino, FFS_HELD_INODE, 0, 0);
		*unwritten |= map.flags & FFS_MAP_UNWRITTEN;
		done = stop;
		*err = 0;
	}
	return done - pos;
}

/* What could not go around the page cache goes through it, and out at once. */
static s64 buffered_rest(struct ffs_ops *o, struct ffs_file *f, u64 pos, u64 len)
{
	struct ffs_super *sb = &o->sb;
	s64 ret;

	f->flags &= ~FOLIOFS_O_DIRECT;
	ret = ffs_write(o, f, pos, len, len);
	f->flags |= FOLIOFS_O_DIRECT;
	if (ret > 0 && !ffs_write_and_wait(o, f->inode, pos, pos + (u64)ret - 1))
		ffs_invalidate_clean(sb, f->inode, (u32)(pos >> sb->env.page_bits),
				     (u32)((pos + (u64)ret - 1) >> sb->env.page_bits));
	return ret;
}

/* The inode's data goes through the page cache whatever the file is opened for. */
static bool never_direct(struct ffs_super *sb, const struct ffs_inode *inode)
{
	return (inode->flags & FFS_INODE_INLINE_DATA) || ffs_should_journal_data(sb, inode);
}

/* One map covers the write, so the lock need not be exclusive (ext4_overwrite_io). */
static bool maps_once(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 end)
{
	struct ffs_map map = { .lblk = (u32)(pos >> sb->env.block_bits) };
	u32 len = (u32)(ffs_blocks_up(&sb->env, end) - map.lblk);

	map.len = len;
	return ffs_map_blocks(&sb->bm, NULL, inode, &map, 0) == (int)len;
}

/* What O_SYNC and O_DSYNC add (generic_write_sync). */
static int sync_written(struct ffs_ops *o, struct ffs_file *f, u64 pos, u64 end)
{
	if (!(f->flags & (FOLIOFS_O_SYNC | FOLIOFS_O_DSYNC)) && !o->sb.env.geo.mount.sync)
		return 0;
	return ffs_fsync(o, f->inode, pos, end - 1, !(f->flags & FOLIOFS_O_SYNC));
}

s64 ffs_direct_write(struct ffs_ops *o, struct ffs_file *f, u64 pos, u64 len)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_inode *inode = f->inode;
	u64 end = pos + len, done;
	bool extending = end > inode->i_size || end > inode->i_disksize, unwritten = false;
	s64 ret;
	int err;

	if (never_direct(sb, inode)) {
		f->flags &= ~FOLIOFS_O_DIRECT;
		ret = ffs_write(o, f, pos, len, len);
		f->flags |= FOLIOFS_O_DIRECT;
		return ret;
	}
	if (end <= inode->i_size && !maps_once(sb, inode, pos, end))
		maps_once(sb, inode, pos, end); /* again, with the exclusive lock */
	err = ffs_update_time(o, inode);
	if (!err && extending)
		err = add_orphan(o, inode);
	if (err)
		return err;
	/* What is cached goes out, then out of the cache. */
	ffs_write_and_wait(o, inode, pos, end - 1);
	ffs_invalidate_range(sb, inode, (u32)(pos >> sb->env.page_bits),
			     (u32)((end - 1) >> sb->env.page_bits));
	done = write_pieces(o, inode, pos, end, &unwritten, &err);
	if (err == -ENOTBLK)
		err = 0;
	/* All pieces are written: one end for all of them (ext4_dio_write_end_io). */
	if (!err && done && unwritten)
		err = ffs_convert_range(sb, NULL, inode, pos, done);
	/* dio-size-sync: before, the sync was over when the size came. */
	if (!err && done && !ffs_sb_has(sb, FOLIOFS_CHANGE_DIO_SIZE_SYNC))
		err = sync_written(o, f, pos, pos + done);
	if (!err && (pos + done > inode->i_disksize || pos + done > inode->i_size))
		err = extend(o, inode, pos + done);
	/* What others have read in meanwhile goes, too (kiocb_invalidate_post_direct_write). */
	if (!err && done) {
		ffs_stop(&sb->env, DIRECT_SIZED, inode->ino, FFS_HELD_INODE, 0, 0);
		ffs_invalidate_range(sb, inode, (u32)(pos >> sb->env.page_bits),
				     (u32)((pos + done - 1) >> sb->env.page_bits));
	}
	if (!err && done && ffs_sb_has(sb, FOLIOFS_CHANGE_DIO_SIZE_SYNC))
		err = sync_written(o, f, pos, pos + done);
	if (extending)
		extend_cleanup(o, inode, err < 0);
	if (err)
		return err;
	if (done == len)
		return (s64)done;
	ret = buffered_rest(o, f, pos + done, len - done);
	return ret < 0 ? ret : (s64)done + ret;
}

s64 ffs_direct_read(struct ffs_ops *o, struct ffs_file *f, u64 pos, u64 len)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_inode *inode = f->inode;
	u8 bits = sb->env.block_bits;
	u64 end = pos + len, done = pos;
	int err = 0;
	s64 ret;

	if (never_direct(sb, inode)) {
		f->flags &= ~FOLIOFS_O_DIRECT;
		ret = ffs_read(o, f, pos, len);
		f->flags |= FOLIOFS_O_DIRECT;
		return ret;
	}
	if (sb->direct_data)
		sb->direct_data->there = true;
	if (pos < inode->i_size) {
		ffs_write_and_wait(o, inode, pos, end - 1);
		/* Maps are asked for to the end of the request, behind i_size too. */
		while (done < end && err >= 0) {
			struct ffs_map map = { .lblk = (u32)(done >> bits) };

			map.len = (u32)(ffs_blocks_up(&sb->env, end) - map.lblk);
			err = ffs_map_blocks(&sb->bm, NULL, inode, &map, 0);
			/* Only what the device is asked for has to be aligned, no hole. */
			if (err > 0 && !(map.flags & FFS_MAP_UNWRITTEN) &&
			    ((done | min(end, (u64)(map.lblk + map.len) << bits)) & (SECTOR_SIZE - 1)))
				err = -EINVAL;
			else if (err > 0 && !(map.flags & FFS_MAP_UNWRITTEN))
				ffs_direct_bring(sb, done, ((map.pblk - map.lblk) << bits) + done,
						 ((u64)(map.lblk + map.len) << bits) - done);
			done = (u64)(map.lblk + max(map.len, 1u)) << bits;
		}
		end = min(end, inode->i_size);
	} else {
		end = pos;
	}
	ffs_touch_atime(o, f, inode);
	return err < 0 ? err : (s64)(end - pos);
}
