// SPDX-License-Identifier: MIT
/*
 * Buffered writes: ext4_buffered_write_iter, generic_perform_write (v6.18).
 */
#include "ops.h"

/*
 * The copy loop.  No step crosses a boundary of the largest folio; a step that a
 * short copy rejects is halved.  @readable: bytes of the buffer that can be read.
 */
static s64 perform_write(struct ffs_ops *o, struct ffs_file *f, u64 pos, u64 len, u64 readable)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_inode *inode = f->inode;
	const struct ffs_data_path *path = ffs_path_of(sb, inode);
	u64 page = ffs_page_size(&sb->env), chunk = page << inode->mapping->max_order, done = 0;
	u64 bytes = len;
	s64 ret = 0;

	while (done < len) {
		struct ffs_write w;
		u64 step, copied;

		bytes = min(bytes, chunk - ((pos + done) & (chunk - 1)));
		/* Before fault-in-late the buffer was touched before each step. */
		if (done >= readable && !ffs_sb_has(sb, FOLIOFS_CHANGE_FAULT_IN_LATE)) {
			ret = -EFAULT;
			break;
		}
		step = bytes;
		ret = path->write_begin(sb, inode, pos + done, &step, &w);
		if (ret < 0)
			break;
		ffs_stop(&sb->env, WRITE_BEGUN, inode->ino,
			 FFS_HELD_INODE | FFS_HELD_FOLIOS | (w.handle ? FFS_HELD_HANDLE : 0),
			 pos + done, pos + done + step);
		copied = min(step, min(readable, len) > done ? min(readable, len) - done : 0);
		if (ffs_fails(&sb->env, SHORT_COPY))
			copied /= 2;
		if (w.folio)
			ffs_emit(&sb->env, foliofs_step, inode->ino, 1, pos + done, copied,
				 ffs_folio_size(inode->mapping, w.folio));
		ret = path->write_end(sb, inode, pos + done, step, copied, &w);
		if (ret < 0)
			break;
		ffs_stop(&sb->env, WRITE_ENDED, inode->ino, FFS_HELD_INODE, 0, 0);
		if (!ret) {
			if (chunk > page)
				chunk /= 2;
			if (done >= readable) {
				ret = -EFAULT;
				break;
			}
			bytes = copied ? copied : len - done;
			continue;
		}
		done += (u64)ret;
		bytes = len - done;
	}
	return done ? (s64)done : ret;
}

/* zero-eof-before-append: what the write leaves of the block of the old end. */
static int zero_before_append(struct ffs_ops *o, struct ffs_inode *inode, u64 pos)
{
	u64 size = inode->i_size, tail = -size & (ffs_block_size(&o->sb.env) - 1);

	if (pos <= size || !tail || !ffs_sb_has(&o->sb, FOLIOFS_CHANGE_IM_ZERO_EOF_BEFORE_APPEND))
		return 0;
	return ffs_path_of(&o->sb, inode)->zero_partial(&o->sb, NULL, inode, size,
							min(tail, pos - size));
}

s64 ffs_write(struct ffs_ops *o, struct ffs_file *f, u64 pos, u64 len, u64 readable)
{
	s64 ret;
	int err;

	if (f->flags & FOLIOFS_O_RDONLY)
		return -EBADF;
	if (!len)
		return 0;
	if (f->flags & FOLIOFS_O_DIRECT)
		return ffs_direct_write(o, f, pos, len);
	err = ffs_update_time(o, f->inode);
	if (!err)
		err = zero_before_append(o, f->inode, pos);
	if (err)
		return err;
	if (ffs_path_of(&o->sb, f->inode)->write)
		ret = ffs_path_of(&o->sb, f->inode)->write(&o->sb, f->inode, pos, len, readable);
	else
		ret = perform_write(o, f, pos, len, readable);
	if (ret > 0 && ((f->flags & (FOLIOFS_O_SYNC | FOLIOFS_O_DSYNC)) || o->sb.env.geo.mount.sync)) {
		err = ffs_fsync_file(o, f, pos, pos + (u64)ret - 1, !(f->flags & FOLIOFS_O_SYNC));
		if (err)
			return err;
	}
	return ret;
}
