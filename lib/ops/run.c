// SPDX-License-Identifier: MIT
/* Runs one struct foliofs_op: the system call, then what others do until the next one. */
#include "fs_type.h"

static struct ffs_inode *target(struct ffs_ops *o, const struct foliofs_op *op)
{
	struct ffs_file *f = ffs_file(o, op->file);

	if (f)
		return f->inode;
	return op->path ? ffs_lookup(o, op->path) : NULL;
}

s64 ffs_not_for_dirs(const struct ffs_file *f, const struct foliofs_op *op)
{
	if (!ffs_is_dir(f->inode))
		return 0;
	switch (op->kind) {
	case FOLIOFS_OP_READ:
	case FOLIOFS_OP_COPY_RANGE:
		return -EISDIR;
	case FOLIOFS_OP_WRITE:
	case FOLIOFS_OP_APPEND:
	case FOLIOFS_OP_WRITE_BAD:
	case FOLIOFS_OP_FALLOCATE:
		return -EBADF; /* it is never open for writing */
	case FOLIOFS_OP_MREAD:
	case FOLIOFS_OP_MWRITE:
	case FOLIOFS_OP_MTOUCH:
		return -ENODEV;
	default:
		return 0;
	}
}

s64 ffs_in_chunks(struct ffs_ops *o, struct ffs_file *f, const struct foliofs_op *op, ffs_read_fn read,
		  ffs_write_fn write)
{
	u64 off = op->kind == FOLIOFS_OP_APPEND ? f->inode->i_size : op->off, done = 0;
	u64 chunk = op->chunk ? op->chunk : op->len;

	do {
		u64 n = min(chunk, op->len - done);
		s64 ret;

		if (done && op->pause_ns) {
			ffs_sleep(&o->sb);
			o->sb.env.now_ns += op->pause_ns;
		}
		ret = op->kind == FOLIOFS_OP_READ ? read(o, f, off + done, n) :
						    write(o, f, off + done, n, n);
		if (ret < 0)
			return done ? (s64)done : ret;
		done += (u64)ret;
		if ((u64)ret < n || !n)
			break;
	} while (done < op->len);
	return (s64)done;
}

/*
 * copy_file_range through a pipe: pieces of 16 pages are read, then written.  The pages are those
 * of the page cache, or new ones that a direct read fills (copy_splice_read, v6.5).
 */
s64 ffs_copy_range(struct ffs_ops *o, struct ffs_file *in, struct ffs_file *out,
		   const struct foliofs_op *op, ffs_read_fn read, ffs_write_fn write)
{
	u64 page = ffs_page_size(&o->sb.env), piece = 16 * page, done = 0, len;
	struct ffs_direct_data direct = { 0 };

	/* Only what lies before EOF; nothing of it: the source is not even looked at. */
	if (op->off >= in->inode->i_size)
		return 0;
	len = min(op->len, in->inode->i_size - op->off);
	if (in->inode == out->inode && op->off < op->off2 + len && op->off2 < op->off + len)
		return -EINVAL;
	while (done < len) {
		u64 skew = in->flags & FOLIOFS_O_DIRECT ? 0 : (op->off + done) & (page - 1);
		u64 n = min(piece - skew, len - done);
		s64 ret;

		/* Asked for is as much as if the first page were whole. */
		direct.more = min(piece, len - done) - n;
		direct.there = false;
		o->sb.direct_data = &direct;
		ret = read(o, in, op->off + done, n);
		o->sb.direct_data = NULL;
		if (ret > 0) {
			o->sb.copy_from = direct.there ? &direct.bytes : &in->inode->mapping->content;
			o->sb.copy_shift = op->off - op->off2;
			ret = write(o, out, op->off2 + done, (u64)ret, (u64)ret);
			o->sb.copy_from = NULL;
		}
		ffs_runs_free(&direct.bytes);
		if (ret < 0)
			return done ? (s64)done : ret;
		if (!ret)
			break;
		done += (u64)ret;
	}
	return (s64)done;
}

static s64 set_journal_flag(struct ffs_ops *o, struct ffs_inode *inode, bool on)
{
	struct ffs_handle *h;
	int err;

	if (!ffs_is_reg(inode))
		return -EOPNOTSUPP;
	if (o->no_sys_resource)
		return -EPERM;
	ffs_write_and_wait(o, inode, 0, FFS_LLONG_MAX);
	err = ffs_start(&o->sb, inode, FOLIOFS_CREDIT_JOURNAL_FLAG, 0, "ext4_change_inode_journal_flag",
			&h);
	if (err)
		return err;
	if (on)
		inode->flags |= FFS_INODE_JOURNAL_DATA;
	else
		inode->flags &= ~FFS_INODE_JOURNAL_DATA;
	err = ffs_mark_inode_dirty(&o->sb, h, inode, "ext4_change_inode_journal_flag");
	h->sync = true;
	ffs_handle_stop(h);
	/* The cache is dropped and the order set anew: before 6.19 not until it is read again. */
	if (ffs_sb_has(&o->sb, FOLIOFS_CHANGE_LARGE_BLOCK_SIZE)) {
		ffs_invalidate_clean(&o->sb, inode, 0, ~0u);
		ffs_decide_order(o, inode);
	}
	return err;
}

static s64 chown(struct ffs_ops *o, struct ffs_inode *inode)
{
	struct ffs_handle *h;
	int err = ffs_start(&o->sb, inode, FOLIOFS_CREDIT_SETATTR_OWNER, 0, "ext4_setattr", &h);

	if (err)
		return err;
	ffs_mark_inode_dirty(&o->sb, h, inode, "ext4_setattr");
	ffs_handle_stop(h);
	return ffs_dirty_inode(&o->sb, inode);
}

/*
 * SIMPLIFIED: the value always lies in the inode; an attribute block is not modelled.
 */
static s64 setxattr(struct ffs_ops *o, struct ffs_inode *inode, u64 len)
{
	struct ffs_handle *h;
	int err = ffs_start(&o->sb, inode, FOLIOFS_CREDIT_SETXATTR, (u32)len, "ext4_xattr_set", &h);

	if (err)
		return err;
	err = ffs_journal_dirty(h, ffs_inode_table_block(o->sb.alloc, inode->ino));
	ffs_handle_stop(h);
	return err;
}

/* Operations on an inode by slot or path. */
static s64 inode_op(struct ffs_ops *o, const struct foliofs_op *op)
{
	struct ffs_inode *inode = target(o, op);

	if (!inode)
		return op->file >= 0 ? -EBADF : -ENOENT;
	switch (op->kind) {
	case FOLIOFS_OP_TRUNCATE: {
		struct ffs_file *f = ffs_file(o, op->file);

		if (f && (f->flags & FOLIOFS_O_RDONLY))
			return -EINVAL;
		return ffs_is_reg(inode) ? ffs_setattr_size(o, inode, op->len) : -EINVAL;
	}
	case FOLIOFS_OP_SETATTR:
		return ffs_dirty_inode(&o->sb, inode);
	case FOLIOFS_OP_CHOWN:
		return chown(o, inode);
	case FOLIOFS_OP_SETXATTR:
		return setxattr(o, inode, op->len);
	case FOLIOFS_OP_STAT:
		ffs_vfs(inode)->queried = true;
		return 0;
	case FOLIOFS_OP_SET_JOURNAL_FLAG:
		return set_journal_flag(o, inode, op->len);
	case FOLIOFS_OP_FSYNC:
	case FOLIOFS_OP_FDATASYNC:
		return ffs_file(o, op->file) ?
			       ffs_fsync_file(o, ffs_file(o, op->file), 0, FFS_LLONG_MAX,
					      op->kind == FOLIOFS_OP_FDATASYNC) :
			       ffs_fsync(o, inode, 0, FFS_LLONG_MAX,
					 op->kind == FOLIOFS_OP_FDATASYNC);
	default:
		return -EINVAL;
	}
}

static s64 background_writeback(struct ffs_ops *o, struct ffs_inode *inode, u64 pages)
{
	struct ffs_wbc wbc = {
		.sync_mode = FFS_WB_NONE, .nr_to_write = pages ? (s64)pages : FFS_LLONG_MAX,
		.range_end = FFS_LLONG_MAX, .range_cyclic = true,
	};
	int err;

	o->sb.env.thread = FOLIOFS_THREAD_FLUSHER;
	err = ffs_path_of(&o->sb, inode)->writepages(&o->sb, inode, &wbc);
	o->sb.env.thread = FOLIOFS_THREAD_TASK;
	return err;
}

/* Operations on an open file. */
static s64 file_op(struct ffs_ops *o, const struct foliofs_op *op)
{
	struct ffs_file *f = ffs_file(o, op->file), *g;
	s64 ret;

	if (!f)
		return -EBADF;
	ret = ffs_not_for_dirs(f, op);
	if (ret)
		return ret;
	switch (op->kind) {
	case FOLIOFS_OP_CLOSE:
		return ffs_close(o, f);
	case FOLIOFS_OP_WRITE:
	case FOLIOFS_OP_APPEND:
	case FOLIOFS_OP_READ:
		return ffs_in_chunks(o, f, op, ffs_read, ffs_write);
	case FOLIOFS_OP_WRITE_BAD:
		return ffs_write(o, f, op->off, op->len, op->good);
	case FOLIOFS_OP_FALLOCATE:
		return ffs_fallocate(o, f, op->flags, op->off, op->len);
	case FOLIOFS_OP_MWRITE:
	case FOLIOFS_OP_MTOUCH:
		return ffs_mwrite(o, f, op);
	case FOLIOFS_OP_HWPOISON:
		return ffs_hwpoison(o, f, op->off);
	case FOLIOFS_OP_PAGEOUT:
		return ffs_pageout(o, f, op->off, op->len);
	case FOLIOFS_OP_MREAD:
		return ffs_mread(o, f, op);
	case FOLIOFS_OP_MSYNC:
		ret = ffs_touch_atime(o, f, f->inode);
		return ret ? ret :
			     ffs_fsync_file(o, f,
					    round_down_pow2(op->off, ffs_page_size(&o->sb.env)),
					    round_up_pow2(op->off + op->len,
							  ffs_page_size(&o->sb.env)) - 1,
					    true);
	case FOLIOFS_OP_SYNC_RANGE:
		return ffs_sync_range(o, f, op->off, op->len, op->flags);
	case FOLIOFS_OP_FADVISE:
		return ffs_fadvise(o, f, op->off, op->len, op->flags);
	case FOLIOFS_OP_WRITEBACK:
		return background_writeback(o, f->inode, op->len);
	case FOLIOFS_OP_COPY_RANGE:
	case FOLIOFS_OP_MOVE_EXTENTS:
		g = ffs_file(o, op->file2);
		if (!g)
			return -EBADF;
		return op->kind == FOLIOFS_OP_COPY_RANGE ?
			       ffs_copy_range(o, f, g, op, ffs_read, ffs_write) :
			       ffs_move_extents(o, f, g, op->off, op->len, op->off2);
	case FOLIOFS_OP_FILL:
		return ffs_fill(o, f, op->len);
	case FOLIOFS_OP_PUNCH_EVERY:
	case FOLIOFS_OP_WRITE_EVERY:
		return ffs_every(o, f, op);
	case FOLIOFS_OP_REFLINK:
		return -EOPNOTSUPP;
	default:
		return -EINVAL;
	}
}

static s64 dispatch(struct ffs_ops *o, const struct foliofs_op *op)
{
	switch (op->kind) {
	case FOLIOFS_OP_OPEN:
		return ffs_open(o, op);
	case FOLIOFS_OP_UNLINK:
		return ffs_unlink(o, op->path);
	case FOLIOFS_OP_RENAME:
		return ffs_rename(o, op->path, op->path2);
	case FOLIOFS_OP_LINK:
		return ffs_link(o, op->path, op->path2);
	case FOLIOFS_OP_SYMLINK:
		return ffs_symlink(o, op->path, op->path2);
	case FOLIOFS_OP_MKDIR:
		return ffs_mkdir(o, op->path, op->mode);
	case FOLIOFS_OP_RMDIR:
		return ffs_rmdir(o, op->path);
	case FOLIOFS_OP_SYNCFS:
		return ffs_syncfs(o);
	case FOLIOFS_OP_SYNC:
		return ffs_sync(o);
	case FOLIOFS_OP_DROP_CACHES:
		ffs_drop_caches(o, op->flags ? op->flags : 1);
		return 0;
	case FOLIOFS_OP_COMMIT:
		ffs_run_work(&o->sb);
		return min(ffs_journal_force_commit(o->sb.journal), 0);
	case FOLIOFS_OP_SLEEP:
		ffs_sleep(&o->sb);
		o->sb.env.now_ns += op->len * 1000000ull;
		return 0;
	case FOLIOFS_OP_CRASH:
		return 0;
	case FOLIOFS_OP_REMOUNT:
		return ffs_remount(o);
	case FOLIOFS_OP_SYSFS:
		return ffs_sysfs(o, op->path, op->len);
	case FOLIOFS_OP_DEBUGFS:
		return ffs_debugfs(o, op->path);
	case FOLIOFS_OP_LOAD_BUDDIES:
		ffs_alloc_load_all(o->sb.alloc);
		return 0;
	case FOLIOFS_OP_TRUNCATE:
	case FOLIOFS_OP_SETATTR:
	case FOLIOFS_OP_CHOWN:
	case FOLIOFS_OP_SETXATTR:
	case FOLIOFS_OP_STAT:
	case FOLIOFS_OP_SET_JOURNAL_FLAG:
	case FOLIOFS_OP_FSYNC:
	case FOLIOFS_OP_FDATASYNC:
		return inode_op(o, op);
	default:
		return file_op(o, op);
	}
}

s64 ffs_run_op(struct ffs_ops *o, const struct foliofs_op *op)
{
	struct ffs_file *f = ffs_file(o, op->file), *g = ffs_file(o, op->file2);
	struct ffs_env *env = &o->sb.env;
	s64 ret;

	if (f)
		f->calls++;
	if (g)
		g->calls++;
	env->op = op->id;
	env->thread = FOLIOFS_THREAD_TASK;
	env->now_ns = max(env->now_ns, op->time_ns);
	env->error[0] = 0;
	ret = o->sb.type ? ffs_simple_run(o, op) : dispatch(o, op);
	if (f)
		f->calls--;
	if (g)
		g->calls--;
	/* The task sleeps until the next operation: completed I/O and asked-for commits go on. */
	ffs_sleep(&o->sb);
	ffs_home_settle(&o->sb);
	ffs_emit(env, foliofs_op, op->kind, (u64)ret);
	return ret;
}
