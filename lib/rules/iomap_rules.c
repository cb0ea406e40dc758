// SPDX-License-Identifier: MIT
/* I7-dirty-unmapped of an inode on iomap, whose folios do not know where their blocks lie. */
#include "truth.h"

/* End of the blocks from @lblk on, at most @end, that are delayed or allocated; @lblk: it is not. */
static u64 placed_until(const struct ffs_inode *inode, u64 lblk, u64 end)
{
	struct ffs_map_run run;
	struct ffs_es es;

	if (ffs_es_find_delayed(inode, lblk, lblk + 1, &es))
		return min(end, (u64)es.lblk + es.len);
	if (ffs_next_run(inode, (u32)lblk, &run) && run.lblk <= lblk)
		return min(end, (u64)run.lblk + run.len);
	return lblk;
}

/* Some byte of block @lblk below EOF is not zero. */
static bool holds_data(const struct ffs_inode *inode, u64 lblk)
{
	const struct ffs_mapping *m = inode->mapping;
	u64 pos = lblk << m->env->block_bits;

	return ffs_holds_data(m, pos, min(pos + ffs_block_size(m->env), inode->i_size));
}

/*
 * On iomap a block's place is known to the maps alone.  A dirty block over a hole is skipped by
 * writeback, which does no harm to zeros: a punch, or a store behind EOF, leaves such blocks.
 */
void ffs_iomap_folio_rules(struct foliofs_fs *fs, const struct ffs_inode *inode,
			   const struct ffs_folio *f)
{
	const struct ffs_env *env = &fs->ops.sb.env;
	u64 base = ffs_folio_block(inode->mapping, f), eof = ffs_blocks_up(env, inode->i_size);
	u32 blocks = (u32)(ffs_folio_size(inode->mapping, f) >> env->block_bits);
	u32 end = eof <= base ? 0 : (u32)min((u64)blocks, eof - base), b = 0, stop;

	if (!(f->flags & FFS_FOLIO_DIRTY))
		return;
	for (; b < end; b = stop) {
		stop = end;
		if (ffs_has_buffers(f)) {
			b = ffs_bh_next(f, FFS_BH_DIRTY, b, end);
			stop = ffs_bh_next_clear(f, FFS_BH_DIRTY, b, end);
		}
		while (b < stop) {
			u64 to = placed_until(inode, base + b, base + stop);

			if (to == base + b && !holds_data(inode, to)) {
				to++;
			} else if (to == base + b) {
				ffs_rule_broken(fs, FOLIOFS_RULE_DIRTY_UNMAPPED, inode->ino,
						"block %llu is dirty and maps nothing",
						(unsigned long long)to);
				return;
			}
			b = (u32)(to - base);
		}
	}
}
