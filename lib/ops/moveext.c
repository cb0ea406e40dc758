// SPDX-License-Identifier: MIT
/* EXT4_IOC_MOVE_EXT: ext4_move_extents (v6.18: page by page). */
#include "ops.h"

static int check(const struct ffs_ops *o, const struct ffs_inode *orig,
		 const struct ffs_inode *donor, u32 in_page, u32 donor_in_page)
{
	if (ffs_feature(&o->sb.env, FOLIOFS_FEATURE_BIGALLOC))
		return -EOPNOTSUPP;
	if (orig == donor || ffs_is_dir(orig) || ffs_is_dir(donor))
		return -EINVAL;
	if (!(orig->flags & FFS_INODE_EXTENTS) || !(donor->flags & FFS_INODE_EXTENTS))
		return -EOPNOTSUPP;
	if (ffs_should_journal_data(&o->sb, orig) || ffs_should_journal_data(&o->sb, donor))
		return -EOPNOTSUPP;
	if (in_page != donor_in_page || !orig->i_size || !donor->i_size)
		return -EINVAL;
	return 0;
}

/* Extents are exchanged under buffer heads: an inode on another path is refused, or given up to them. */
static int check_path(struct ffs_ops *o, struct ffs_inode *inode)
{
	struct ffs_super *sb = &o->sb;

	if (ffs_path_of(sb, inode)->move_piece)
		return 0;
	if (ffs_sb_has(sb, FOLIOFS_CHANGE_IM_MEXT_FALLBACK))
		return ffs_fall_back(o, inode);
	if (!ffs_sb_has(sb, FOLIOFS_CHANGE_IM_NODEFRAG))
		ffs_emit(&sb->env, foliofs_assert, inode->ino,
			 ffs_str("move extents puts buffer heads on folios of the iomap path"));
	return -EOPNOTSUPP;
}

/*
 * Blocks from @start on that are cut at the end of a file - one block late, as the kernel does it,
 * and no blocks from block 0 on are taken for very many: all of the file.
 */
static u64 cut_at_eof(const struct ffs_super *sb, const struct ffs_inode *inode, u64 start, u64 n)
{
	u64 eof = ffs_blocks_up(&sb->env, inode->i_size);

	if (eof <= start)
		return 0;
	return eof < start + n - 1 ? eof - start : n;
}

s64 ffs_move_extents(struct ffs_ops *o, struct ffs_file *f, struct ffs_file *donor, u64 off,
		     u64 len, u64 donor_off)
{
	struct ffs_super *sb = &o->sb;
	u8 bits = sb->env.block_bits;
	u32 per_page = max(sb->env.geo.page_size >> bits, 1u), total = 0;
	u32 lblk = (u32)(off >> bits), dblk = (u32)(donor_off >> bits), end;
	u64 blocks;
	/* The call counts in blocks: bytes that are none of a whole block are not asked for. */
	int err = check(o, f->inode, donor->inode, lblk & (per_page - 1), dblk & (per_page - 1));

	if (!err)
		err = check_path(o, f->inode);
	if (!err)
		err = check_path(o, donor->inode);
	if (err)
		return err;
	/* Nothing behind the end of either file is moved. */
	blocks = cut_at_eof(sb, f->inode, lblk, len >> bits);
	if (blocks)
		blocks = cut_at_eof(sb, donor->inode, dblk, blocks);
	if (!blocks)
		return -EINVAL;
	end = lblk + (u32)blocks;
	while (lblk < end) {
		struct ffs_map_run run;
		u32 n, moved = 0;

		ffs_blockmap_look(f->inode, lblk);
		if (!ffs_next_run(f->inode, lblk, &run)) {
			err = -ENODATA;
			break;
		}
		if (run.lblk > lblk) {
			dblk += run.lblk - lblk;
			lblk = run.lblk;
			if (lblk >= end)
				break;
		}
		n = min(run.lblk + run.len - lblk, end - lblk);
		if (!ffs_sb_has(sb, FOLIOFS_CHANGE_FOLIO_DEFRAG))
			n = min(n, per_page - (lblk & (per_page - 1)));
		err = ffs_path_of(sb, f->inode)->move_piece(sb, f->inode, donor->inode, lblk, dblk, &n,
							    &moved);
		total += moved;
		if (err)
			break;
		lblk += n;
		dblk += n;
	}
	if (total) {
		ffs_discard_preallocations(sb->alloc, f->inode);
		ffs_discard_preallocations(sb->alloc, donor->inode);
	}
	/* How much was moved is told beside the error; the call fails all the same. */
	return err ? err : (s64)total;
}
