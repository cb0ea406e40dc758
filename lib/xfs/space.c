// SPDX-License-Identifier: MIT
/*
 * fallocate: xfs_file_fallocate, xfs_alloc_file_space, xfs_free_file_space,
 * xfs_collapse_file_space, xfs_insert_file_space, xfs_flush_unmap_range (v6.18).
 */
#include "xfs.h"

int ffs_xfs_flush_unmap(struct ffs_super *sb, struct ffs_inode *inode, u64 off, u64 len)
{
	u64 unit = max((u64)ffs_block_size(&sb->env), (u64)ffs_page_size(&sb->env));
	u64 start = round_down_pow2(off, unit), end = round_up_pow2(off + len, unit);
	int err = ffs_iomap_write_and_wait(sb, inode, start, end - 1);

	if (!err)
		ffs_truncate_cache(sb, inode, start, end);
	return err;
}

/* The transaction asks for tree blocks as well (XFS_DIOSTRAT_SPACE_RES); it needs none. */
static bool reserve(struct ffs_super *sb, u64 blocks)
{
	u64 tree = ffs_xfs(sb)->levels - 1;

	if (!ffs_xfs_promise(sb, blocks + tree)) {
		ffs_xfs_gc(ffs_ops(sb));
		if (!ffs_xfs_promise(sb, blocks + tree))
			return false;
	}
	ffs_xfs_unpromise(sb, tree);
	return true;
}

int ffs_xfs_alloc_space(struct ffs_super *sb, struct ffs_inode *inode, u64 off, u64 len)
{
	u64 b = off >> sb->env.block_bits, end = ffs_blocks_up(&sb->env, off + len);
	struct ffs_xrec r;

	while (b < end) {
		bool delayed = false;
		u64 stop = end, n;

		if (ffs_xfs_lookup(inode, FFS_XFS_DATA, b, &r)) {
			stop = min(end, r.off <= b ? ffs_xrec_end(&r) : r.off);
			delayed = r.off <= b && r.state == FFS_XFS_DELAYED;
			if (r.off <= b && !delayed) {
				/* Nothing to allocate: the transaction marks the file all the same. */
				ffs_xfs_inode(inode)->prealloc = true;
				ffs_xfs_log(inode, true);
				b = stop;
				continue;
			}
		}
		/* Of a delayed extent only this part is allocated. */
		if (!delayed && !reserve(sb, stop - b))
			return -ENOSPC;
		r = (struct ffs_xrec){ .off = b, .state = FFS_XFS_UNWRITTEN };
		r.blk = ffs_xfs_alloc(sb, ffs_xfs_target(sb, inode, FFS_XFS_DATA, b, stop - b),
				      stop - b, &n);
		if (!r.blk)
			n = 0;
		if (!delayed)
			ffs_xfs_unpromise(sb, stop - b - n);
		else
			inode->reserved -= (u32)n;
		if (!r.blk)
			return -ENOSPC;
		r.len = n;
		ffs_xfs_set(inode, FFS_XFS_DATA, &r);
		inode->i_blocks += n;
		ffs_xfs_inode(inode)->prealloc = true;
		ffs_xfs_log(inode, true);
		b += n;
	}
	return 0;
}

static int free_space(struct ffs_super *sb, struct ffs_inode *inode, u64 off, u64 len)
{
	u64 first = ffs_blocks_up(&sb->env, off), end = (off + len) >> sb->env.block_bits;
	u64 page = ffs_page_size(&sb->env), size = inode->i_size;
	struct ffs_xrec r;
	bool did = false;
	int err = ffs_xfs_flush_unmap(sb, inode, off, len);

	if (err)
		return err;
	/* Over a hole the transaction has nothing to log. */
	if (end > first && ffs_xfs_lookup(inode, FFS_XFS_DATA, first, &r) && r.off < end) {
		ffs_xfs_unmap(sb, inode, FFS_XFS_DATA, first, end);
		ffs_xfs_log(inode, true);
	}
	/* Blocks that are partly in it are zeroed, but not behind EOF. */
	if (off >= size)
		return 0;
	len = min(len, size - off);
	err = ffs_iomap_zero_range(sb, inode, off, len, &did);
	if (!err && off + len >= size && ((off + len) & (page - 1)))
		err = ffs_iomap_write_and_wait(sb, inode, round_down_pow2(off + len, page),
					       FFS_LLONG_MAX);
	return err;
}

/* Extents at and behind @at move by @delta blocks, the first of them or the last first. */
static void shift(struct ffs_inode *inode, u64 at, s64 delta)
{
	struct ffs_runs *m = &ffs_xfs_inode(inode)->fork[FFS_XFS_DATA];
	struct ffs_runs moved = { 0 };
	struct ffs_runs_pos pos;
	const struct ffs_run *r;

	ffs_runs_for_each(m, r, pos, at, ~0ull) {
		u64 first = max(r->first, at);

		ffs_runs_set(&moved, first + (u64)delta, r->end + (u64)delta,
			     r->b == FFS_XFS_DELAYED ? 0 : r->a - (u64)delta, r->b);
	}
	ffs_runs_clear(m, delta < 0 ? at + (u64)delta : at, ~0ull);
	for (r = ffs_runs_at(&moved, 0, &pos); r; r = ffs_runs_next(&moved, &pos))
		ffs_runs_set(m, r->first, r->end, r->a, r->b);
	ffs_runs_free(&moved);
	ffs_xfs_inode(inode)->seq[FFS_XFS_DATA]++;
	ffs_xfs_log(inode, true);
}

/* Nothing behind EOF, nothing cached from @off on (xfs_prepare_shift). */
static int prepare_shift(struct ffs_super *sb, struct ffs_inode *inode, u64 off)
{
	u64 block = ffs_block_size(&sb->env), start;
	int err;

	if (ffs_xfs_can_free_eof(sb, inode))
		ffs_xfs_free_eof(sb, inode);
	/* One block before it too: the extent there may be merged with what moves. */
	start = round_down_pow2(off, block);
	if (start)
		start -= block;
	/* As long as the file, counted from there: the folio that EOF lies in goes as a whole. */
	err = ffs_xfs_flush_unmap(sb, inode, start, inode->i_size);
	/* Blocks kept for copies would be at the wrong place. */
	if (!err)
		ffs_xfs_unmap(sb, inode, FFS_XFS_COW, start >> sb->env.block_bits, ~0ull >> 1);
	return err;
}

static int collapse(struct ffs_super *sb, struct ffs_inode *inode, u64 off, u64 len)
{
	u64 block = ffs_block_size(&sb->env);
	int err;

	if (((off | len) & (block - 1)) || off + len >= inode->i_size)
		return -EINVAL;
	err = free_space(sb, inode, off, len);
	if (!err)
		err = prepare_shift(sb, inode, off);
	if (err)
		return err;
	shift(inode, (off + len) >> sb->env.block_bits, -(s64)(len >> sb->env.block_bits));
	return ffs_xfs_setsize(sb, inode, inode->i_size - len);
}

static int insert(struct ffs_super *sb, struct ffs_inode *inode, u64 off, u64 len)
{
	u64 block = ffs_block_size(&sb->env);
	int err;

	if (((off | len) & (block - 1)) || off >= inode->i_size)
		return -EINVAL;
	err = ffs_xfs_setsize(sb, inode, inode->i_size + len);
	if (!err)
		err = prepare_shift(sb, inode, off);
	if (err)
		return err;
	shift(inode, off >> sb->env.block_bits, (s64)(len >> sb->env.block_bits));
	return 0;
}

int ffs_xfs_fallocate(struct ffs_ops *o, struct ffs_file *f, u32 mode, u64 off, u64 len)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_inode *inode = f->inode;
	u64 block = ffs_block_size(&sb->env), size = 0, start;
	int err;

	if (!len || (f->flags & FOLIOFS_O_RDONLY))
		return len ? -EBADF : -EINVAL;
	err = ffs_update_time(o, inode);
	if (err)
		return err;
	if (!(mode & FOLIOFS_FALLOC_KEEP_SIZE) && off + len > inode->i_size)
		size = off + len;
	switch (mode & ~FOLIOFS_FALLOC_KEEP_SIZE) {
	case FOLIOFS_FALLOC_PUNCH_HOLE:
		return free_space(sb, inode, off, len);
	case FOLIOFS_FALLOC_COLLAPSE_RANGE:
		return collapse(sb, inode, off, len);
	case FOLIOFS_FALLOC_INSERT_RANGE:
		return insert(sb, inode, off, len);
	case FOLIOFS_FALLOC_ZERO_RANGE:
		err = free_space(sb, inode, off, len);
		start = round_down_pow2(off, block);
		if (!err)
			err = ffs_xfs_alloc_space(sb, inode, start,
						  round_up_pow2(off + len, block) - start);
		break;
	case FOLIOFS_FALLOC_UNSHARE_RANGE:
		err = ffs_xfs_unshare(sb, inode, off, len);
		if (!err)
			err = ffs_xfs_alloc_space(sb, inode, off, len);
		break;
	case 0:
		err = ffs_xfs_alloc_space(sb, inode, off, len);
		break;
	default:
		return -EOPNOTSUPP;
	}
	if (!err && size)
		err = ffs_xfs_setsize(sb, inode, size);
	return err;
}
