// SPDX-License-Identifier: MIT
/*
 * Maps for writeback and the end of its I/O: xfs_map_blocks, xfs_discard_folio,
 * xfs_submit_ioend, xfs_end_ioend, xfs_iomap_write_unwritten, xfs_reflink_end_cow,
 * xfs_setfilesize (v6.18).
 */
#include "xfs.h"

static bool still_valid(const struct ffs_wpc *w, u64 pos)
{
	const struct ffs_xfs_inode *i = ffs_xfs_inode(w->inode);

	if (pos < w->map.offset || pos >= ffs_iomap_end(&w->map))
		return false;
	if (w->map.flags & FFS_IOMAP_F_SHARED)
		return w->cookie2 == i->seq[FFS_XFS_COW];
	return w->map.cookie == i->seq[FFS_XFS_DATA] &&
	       (!i->fork[FFS_XFS_COW].nr || w->cookie2 == i->seq[FFS_XFS_COW]);
}

static int convert(struct ffs_wpc *w, enum ffs_xfs_fork fork, u64 off)
{
	struct ffs_xrec r;
	int err = ffs_xfs_convert_delayed(w->sb, w->inode, fork, off, &r);

	if (err)
		return err;
	/* The map is made before its own transaction commits. */
	ffs_xfs_to_iomap(w->sb, w->inode, &r, fork == FFS_XFS_COW ? FFS_IOMAP_F_SHARED : 0,
			 ffs_xfs_inode(w->inode)->seq[fork], &w->map);
	if (fork == FFS_XFS_COW)
		w->cookie2 = ffs_xfs_inode(w->inode)->seq[FFS_XFS_COW];
	ffs_xfs_log(w->inode, true);
	return 0;
}

/* What a truncate left is on its way. */
void ffs_xfs_wb_begin(struct ffs_inode *inode)
{
	ffs_xfs_inode(inode)->truncated = false;
}

int ffs_xfs_wb_map(struct ffs_wpc *w, u64 pos, u64 len)
{
	struct ffs_xfs_inode *i = ffs_xfs_inode(w->inode);
	u8 bits = w->sb->env.block_bits;
	u64 off = pos >> bits, cow_off = ~0ull;
	struct ffs_xrec r, cow;
	int err;

	if (still_valid(w, pos))
		return 0;
	if (i->reflink && ffs_xfs_lookup(w->inode, FFS_XFS_COW, off, &cow))
		cow_off = cow.off;
	/* If none is met the number stays old, and each run of blocks is looked up. */
	if (cow_off <= off) {
		w->cookie2 = i->seq[FFS_XFS_COW];
		if (cow.state == FFS_XFS_DELAYED)
			return convert(w, FFS_XFS_COW, off);
		ffs_xfs_to_iomap(w->sb, w->inode, &cow, FFS_IOMAP_F_SHARED, i->seq[FFS_XFS_COW],
				 &w->map);
		return 0;
	}
	if (still_valid(w, pos))
		return 0;
	if (!ffs_xfs_lookup(w->inode, FFS_XFS_DATA, off, &r) || r.off > off) {
		u64 end = ffs_xfs_lookup(w->inode, FFS_XFS_DATA, off, &r) ?
				  r.off : ffs_blocks_up(&w->sb->env, pos + len);

		w->map = (struct ffs_iomap){
			.offset = off << bits, .length = (min(end, cow_off) - off) << bits,
			.addr = FFS_IOMAP_NO_ADDR, .type = FFS_IOMAP_HOLE,
			.flags = ffs_xfs_map_dirty(w->inode), .cookie = i->seq[FFS_XFS_DATA],
		};
		return 0;
	}
	if (r.state == FFS_XFS_DELAYED) {
		err = convert(w, FFS_XFS_DATA, off);
		if (err)
			return err;
	} else {
		ffs_xfs_to_iomap(w->sb, w->inode, &r, 0, i->seq[FFS_XFS_DATA], &w->map);
	}
	if (cow_off != ~0ull && (cow_off << bits) < ffs_iomap_end(&w->map))
		w->map.length = (cow_off << bits) - w->map.offset;
	return 0;
}

void ffs_xfs_wb_discard(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 end)
{
	ffs_xfs_punch_delayed(sb, inode, FFS_XFS_DATA, pos >> sb->env.block_bits,
			      end >> sb->env.block_bits);
}

bool ffs_xfs_wb_submit(struct ffs_super *sb, struct ffs_inode *inode, struct ffs_ioend *io)
{
	/* Blocks that hold data now are told from those only reserved around them. */
	if (io->shared)
		ffs_xfs_convert_unwritten(inode, FFS_XFS_COW, io->pos >> sb->env.block_bits,
					  ffs_blocks_up(&sb->env, io->pos + io->size));
	return io->unwritten || io->shared || io->pos + io->size > inode->i_disksize;
}

/* The size on disk follows, up to @end but not beyond i_size: true if it moved. */
static bool new_disksize(struct ffs_super *sb, struct ffs_inode *inode, u64 end)
{
	end = min(end, inode->i_size);
	if (end <= inode->i_disksize)
		return false;
	ffs_set_disksize(sb, inode, end);
	return true;
}

void ffs_xfs_end_cow(struct ffs_super *sb, struct ffs_inode *inode, u64 off, u64 end)
{
	struct ffs_xrec cow;

	while (off < end && ffs_xfs_lookup(inode, FFS_XFS_COW, off, &cow) && cow.off < end) {
		ffs_xrec_trim(&cow, off, end);
		off = ffs_xrec_end(&cow);
		if (cow.state != FFS_XFS_WRITTEN)
			continue;
		ffs_xfs_unmap(sb, inode, FFS_XFS_DATA, cow.off, ffs_xrec_end(&cow));
		ffs_xfs_clear(inode, FFS_XFS_COW, cow.off, ffs_xrec_end(&cow));
		ffs_xfs_set(inode, FFS_XFS_DATA, &cow);
		inode->reserved -= (u32)cow.len;
		inode->i_blocks += cow.len;
	}
	ffs_xfs_log(inode, true);
}

void ffs_xfs_wb_end(struct ffs_super *sb, struct ffs_inode *inode, const struct ffs_ioend *io)
{
	u8 bits = sb->env.block_bits;
	u64 off = io->pos >> bits, end = ffs_blocks_up(&sb->env, io->pos + io->size);
	bool append = io->pos + io->size > inode->i_disksize;

	if (io->error) {
		ffs_xfs_punch_delayed(sb, inode, io->shared ? FFS_XFS_COW : FFS_XFS_DATA, off, end);
		return;
	}
	if (io->shared) {
		ffs_xfs_end_cow(sb, inode, off, end);
	} else if (io->unwritten) {
		ffs_emit(&sb->env, xfs_unwritten_convert, inode->ino, inode->i_size,
			 inode->i_disksize, io->pos, io->size);
		ffs_xfs_convert_unwritten(inode, FFS_XFS_DATA, off, end);
		new_disksize(sb, inode, io->pos + io->size);
		ffs_xfs_log(inode, true);
		return;
	}
	if (append && io->pos + io->size > inode->i_disksize) {
		u64 old = inode->i_disksize;

		if (!new_disksize(sb, inode, io->pos + io->size))
			return;
		ffs_emit(&sb->env, xfs_setfilesize, inode->ino, inode->i_size, old, io->pos,
			 io->size);
		ffs_xfs_log(inode, true);
	}
}
