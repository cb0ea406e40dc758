// SPDX-License-Identifier: MIT
/*
 * Shared blocks: xfs_file_remap_range, xfs_reflink_remap_prep, xfs_reflink_remap_blocks,
 * xfs_reflink_unshare (v6.18).
 */
#include "xfs.h"

static int flush_both(struct ffs_super *sb, struct ffs_inode *in, u64 from, struct ffs_inode *out,
		      u64 to, u64 len)
{
	int err = ffs_iomap_write_and_wait(sb, in, from, from + len - 1);

	return err ? err : ffs_iomap_write_and_wait(sb, out, to, to + len - 1);
}

/* What is mapped at @off, up to @end: blk and state 0 for a hole. */
static struct ffs_xrec map_at(const struct ffs_inode *inode, u64 off, u64 end)
{
	struct ffs_xrec r;

	if (!ffs_xfs_lookup(inode, FFS_XFS_DATA, off, &r))
		return (struct ffs_xrec){ .off = off, .len = end - off };
	if (r.off > off)
		return (struct ffs_xrec){ .off = off, .len = min(r.off, end) - off };
	ffs_xrec_trim(&r, off, end);
	return r;
}

/*
 * @from takes the place of @to in @out, both of one length (xfs_reflink_remap_extent).  Unwritten
 * blocks are holes of the copy, but where there are such blocks already these stay.
 */
static void remap_extent(struct ffs_super *sb, struct ffs_inode *out, const struct ffs_xrec *from,
			 const struct ffs_xrec *to)
{
	struct ffs_xrec new = { .off = to->off, .len = to->len, .blk = from->blk,
				.state = from->state };

	if ((from->blk == to->blk && from->state == to->state) ||
	    (from->state == FFS_XFS_UNWRITTEN && to->state == FFS_XFS_UNWRITTEN))
		return;
	if (new.state == FFS_XFS_WRITTEN)
		ffs_xfs_share(sb, new.blk, new.len);
	ffs_xfs_unmap(sb, out, FFS_XFS_DATA, to->off, ffs_xrec_end(to));
	if (new.state == FFS_XFS_WRITTEN) {
		ffs_xfs_set(out, FFS_XFS_DATA, &new);
		out->i_blocks += new.len;
	}
	if (new.state == FFS_XFS_WRITTEN || to->blk)
		ffs_xfs_log(out, true);
}

/* The extents of @in at [off, end) are those of @out at @to as well. */
static void remap(struct ffs_super *sb, struct ffs_inode *in, u64 off, u64 end,
		  struct ffs_inode *out, u64 to)
{
	while (off < end) {
		struct ffs_xrec from = map_at(in, off, end);
		struct ffs_xrec there = map_at(out, to, to + from.len);

		remap_extent(sb, out, &from, &there);
		off += there.len;
		to += there.len;
	}
}

static void set_flag(struct ffs_inode *inode)
{
	if (ffs_xfs_inode(inode)->reflink)
		return;
	ffs_xfs_inode(inode)->reflink = true;
	ffs_xfs_log(inode, true);
}

/*
 * How much of *len can be shared: to EOF of @in, else whole blocks; a clone does not take less
 * than it asked for, a copy does (generic_remap_checks).
 */
static int check_range(const struct ffs_super *sb, const struct ffs_inode *in, u64 from,
		       const struct ffs_inode *out, u64 to, bool shorten, u64 *len)
{
	u64 block = ffs_block_size(&sb->env), n = min(*len, in->i_size - from), blocks;

	if ((from | to) & (block - 1))
		return -EINVAL;
	if (from + n == in->i_size)
		blocks = round_up_pow2(n, block);
	else
		blocks = n &= ~(block - 1);
	if (in == out && from < to + blocks && to < from + blocks)
		return -EINVAL;
	if (n != *len && !shorten)
		return -EINVAL;
	*len = n;
	return 0;
}

/* A last block that is not whole: only where both files end (generic_remap_check_len). */
static int check_end(const struct ffs_super *sb, const struct ffs_inode *out, u64 to, bool shorten,
		     u64 *len)
{
	u64 block = ffs_block_size(&sb->env);

	if (!(*len & (block - 1)) || to + *len >= out->i_size)
		return 0;
	if (!shorten)
		return -EINVAL;
	*len &= ~(block - 1);
	return 0;
}

s64 ffs_xfs_reflink(struct ffs_ops *o, const struct foliofs_op *op)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_file *f = ffs_file(o, op->file), *g = ffs_file(o, op->file2);
	u64 from = op->off, to = op->off2, len = op->len, size;
	bool copy = op->kind == FOLIOFS_OP_COPY_RANGE, did = false;
	struct ffs_inode *in, *out;
	int err;

	sb->copy_shared = false;
	if (!f || !g)
		return -EBADF;
	if (!sb->env.geo.reflink)
		return -EOPNOTSUPP;
	in = f->inode;
	out = g->inode;
	if (from >= in->i_size)
		return copy || (!len && from == in->i_size) ? 0 : -EINVAL;
	/* A copy is cut at EOF first; a clone of no length is one up to EOF. */
	if (!len || (copy && len > in->i_size - from))
		len = copy && !len ? 0 : in->i_size - from;
	if (!len)
		return 0;
	err = check_range(sb, in, from, out, to, copy, &len);
	if (!err && len)
		err = flush_both(sb, in, from, out, to, len);
	if (!err)
		err = check_end(sb, out, to, copy, &len);
	if (err || !len)
		return err;
	size = out->i_size;
	err = ffs_update_time(o, out);
	if (!err)
		err = ffs_xfs_zero_eof(sb, out, to, &did);
	if (err)
		return err;
	set_flag(in);
	set_flag(out);
	ffs_stop(&sb->env, CLONE_ZEROED, out->ino, FFS_HELD_INODE, 0, 0);
	/* Zeros that were just made behind EOF are written too. */
	err = to > size ? ffs_xfs_flush_unmap(sb, out, size, len + (to - size)) :
			  ffs_xfs_flush_unmap(sb, out, to, len);
	if (err)
		return err;
	ffs_stop(&sb->env, CLONE_FLUSHED, out->ino, FFS_HELD_INODE, 0, 0);
	sb->copy_shared = true;
	remap(sb, in, from >> sb->env.block_bits, ffs_blocks_up(&sb->env, from + len), out,
	      to >> sb->env.block_bits);
	if (to + len > out->i_size) {
		ffs_set_isize(sb, out, to + len);
		ffs_set_disksize(sb, out, to + len);
		ffs_xfs_log(out, true);
	}
	return copy ? (s64)len : 0;
}

void ffs_xfs_clear_empty(struct ffs_inode *inode)
{
	struct ffs_xfs_inode *i = ffs_xfs_inode(inode);

	if (!i->fork[FFS_XFS_DATA].nr && !i->fork[FFS_XFS_COW].nr)
		i->reflink = false;
}

/*
 * Nothing of the file is shared: no need to look any more, nor to keep blocks for copies.  Not
 * while the flusher still has to visit it, even if no page is dirty any more (measured: after
 * syncfs the flag goes, after fsync it stays).
 */
static void clear_unshared(struct ffs_super *sb, struct ffs_inode *inode)
{
	struct ffs_xrec r;
	u64 off, at, n;

	if (inode->on_dirty_list)
		return;
	for (off = 0; ffs_xfs_lookup(inode, FFS_XFS_DATA, off, &r); off = ffs_xrec_end(&r))
		if (r.blk && ffs_xfs_find_shared(sb, r.blk, r.len, &at, &n))
			return;
	ffs_xfs_unmap(sb, inode, FFS_XFS_COW, 0, ~0ull >> 1);
	ffs_xfs_inode(inode)->reflink = false;
	ffs_xfs_log(inode, true);
}

/* xfs_reflink_unshare: write shared blocks again, and wait for it. */
int ffs_xfs_unshare(struct ffs_super *sb, struct ffs_inode *inode, u64 off, u64 len)
{
	int err;

	if (!ffs_xfs_inode(inode)->reflink)
		return 0;
	err = ffs_iomap_unshare(sb, inode, off, len);
	if (!err)
		err = ffs_iomap_write_and_wait(sb, inode, off, off + len - 1);
	if (!err)
		clear_unshared(sb, inode);
	return err;
}
