// SPDX-License-Identifier: MIT
/*
 * File blocks that are written through the log by way of the device's page cache, as
 * ext4_convert_inline_data does.  The file's own page cache reads the device itself, so until the
 * checkpoint a page that was dropped comes back with what the block held before (measured: 6.1,
 * 6.18).  The disk of the model has the new content at once, since a crash finds it in the log.
 *
 * SIMPLIFIED: what the file's pages write to the block before the log's copy goes home stays
 * written.
 */
#include "super.h"

/* Forget the blocks that have been written home. */
static void settle(struct ffs_super *sb)
{
	u8 bits = sb->env.block_bits;
	struct ffs_runs_pos at;
	const struct ffs_run *r;
	u64 byte = 0;

	while ((r = ffs_runs_at(&sb->not_home, byte, &at))) {
		u64 pblk = max(r->first, byte) >> bits;

		byte = (pblk + 1) << bits;
		if (!ffs_journal_holds(sb->journal, pblk))
			ffs_runs_clear(&sb->not_home, pblk << bits, byte);
	}
}

void ffs_home_later(struct ffs_super *sb, u64 pblk)
{
	u64 byte = pblk << sb->env.block_bits;

	settle(sb);
	/* SIMPLIFIED: without a journal the device's cache is written back at once. */
	if (ffs_journal_present(sb->journal))
		ffs_content_copy(&sb->not_home, byte, &sb->disk, byte, ffs_block_size(&sb->env),
				 FFS_SRC_ZERO);
}

void ffs_home_written(struct ffs_super *sb, u64 pblk, u64 n)
{
	if (sb->not_home.nr)
		ffs_runs_clear(&sb->not_home, pblk << sb->env.block_bits,
			       (pblk + n) << sb->env.block_bits);
}

const struct ffs_runs *ffs_device_view(const struct ffs_super *sb, u64 byte, u64 *n)
{
	u64 block = ffs_block_size(&sb->env);
	struct ffs_runs_pos at;
	const struct ffs_run *r;

	if (!sb->not_home.nr)
		return &sb->disk;
	r = ffs_runs_at(&sb->not_home, byte, &at);
	if (!r || r->first > byte) {
		if (r)
			*n = min(*n, r->first - byte);
		return &sb->disk;
	}
	*n = min(*n, block - (byte & (block - 1)));
	return ffs_journal_holds(sb->journal, byte >> sb->env.block_bits) ? &sb->not_home : &sb->disk;
}

void ffs_device_fill(struct ffs_super *sb, struct ffs_mapping *m, u64 pos, u64 addr, u64 len)
{
	u64 stop = addr + len, n, end;
	struct ffs_runs_pos at;
	const struct ffs_run *r;

	for (; addr < stop; pos += n, addr += n) {
		const struct ffs_runs *disk;

		n = stop - addr;
		disk = ffs_device_view(sb, addr, &n);
		ffs_content_copy(&m->content, pos, disk, addr, n, FFS_SRC_ZERO);
		if (pos >= m->inode->i_size)
			continue;
		end = addr + min(n, m->inode->i_size - pos);
		ffs_runs_for_each(disk, r, at, addr, end)
			if (r->b & FFS_SRC_STALE)
				ffs_emit(&sb->env, foliofs_stale, m->inode->ino,
					 pos + max(r->first, addr) - addr,
					 min(r->end, end) - max(r->first, addr), ffs_src_op(r->b),
					 ffs_src_ino(r->b));
	}
}
