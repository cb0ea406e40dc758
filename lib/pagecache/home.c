// SPDX-License-Identifier: MIT
/*
 * File blocks that are written through the log by way of the device's page cache, as
 * ext4_convert_inline_data does.  The file's own page cache reads and writes the device itself
 * and knows nothing of that copy, nor does who frees the block and takes it for another file:
 *
 * - a page that was dropped comes back with what the block held before (measured: 6.1, 6.18);
 * - what was written to the block meanwhile is overwritten when the copy is written home, by
 *   syncfs, sync or a checkpoint, and by recovery as long as the log is read from there (measured
 *   on 6.18.44: behind syncfs, another fsync, and for a block that was freed in between).
 *
 * sb->disk is what recovery finds: the log's copy where it is replayed.  Where the device holds
 * something else this is in not_home, and in alias what its cache has still to write there.
 */
#include "super.h"

/* @pblk is read and written apart from what recovery finds there. */
static bool apart(const struct ffs_super *sb, u64 pblk)
{
	return sb->logged.nr && ffs_runs_find(&sb->logged, pblk);
}

void ffs_home_log(struct ffs_super *sb, u64 pblk, const struct ffs_runs *src, u64 pos)
{
	u64 byte = pblk << sb->env.block_bits, block = ffs_block_size(&sb->env);

	/* SIMPLIFIED: without a journal the device's cache is written back at once. */
	if (ffs_journal_present(sb->journal)) {
		if (!apart(sb, pblk))
			ffs_content_copy(&sb->not_home, byte, &sb->disk, byte, block, FFS_SRC_ZERO);
		ffs_content_copy(&sb->alias, byte, src, pos, block, FFS_SRC_ZERO);
		ffs_runs_set(&sb->logged, pblk, pblk + 1, 0, ffs_journal_tid(sb->journal));
	}
	ffs_content_copy(&sb->disk, byte, src, pos, block, FFS_SRC_ZERO);
}

void ffs_home_logged_again(struct ffs_super *sb, u64 pblk, u32 tid)
{
	if (apart(sb, pblk))
		ffs_runs_set(&sb->logged, pblk, pblk + 1, 0, tid);
}

void ffs_home_synced(struct ffs_super *sb)
{
	struct ffs_runs_pos at;
	const struct ffs_run *r;

	for (r = ffs_runs_at(&sb->alias, 0, &at); r; r = ffs_runs_next(&sb->alias, &at))
		ffs_content_copy(&sb->not_home, r->first, &sb->alias, r->first, r->end - r->first,
				 FFS_SRC_ZERO);
	ffs_runs_free(&sb->alias);
}

void ffs_home_settle(struct ffs_super *sb)
{
	u64 block = ffs_block_size(&sb->env), pblk = 0, byte;
	struct ffs_runs_pos at;
	const struct ffs_run *r;

	while ((r = ffs_runs_at(&sb->logged, pblk, &at))) {
		pblk = max(pblk, r->first);
		if (ffs_journal_replays(sb->journal, pblk, (u32)r->b)) {
			pblk++;
			continue;
		}
		/* The log goes on only when the copy is home. */
		byte = pblk << sb->env.block_bits;
		ffs_content_copy(&sb->disk, byte,
				 ffs_runs_find(&sb->alias, byte) ? &sb->alias : &sb->not_home, byte,
				 block, FFS_SRC_ZERO);
		ffs_runs_clear(&sb->alias, byte, byte + block);
		ffs_runs_clear(&sb->not_home, byte, byte + block);
		ffs_runs_clear(&sb->logged, pblk, pblk + 1);
		pblk++;
	}
}

/* What holds the bytes of the device from @byte on; *n is cut where that ends. */
static struct ffs_runs *holder(struct ffs_super *sb, u64 byte, u64 *n)
{
	u64 block = ffs_block_size(&sb->env), pblk = byte >> sb->env.block_bits;
	struct ffs_runs_pos at;
	const struct ffs_run *r;

	if (!sb->logged.nr)
		return &sb->disk;
	r = ffs_runs_at(&sb->logged, pblk, &at);
	if (r && r->first <= pblk) {
		*n = min(*n, block - (byte & (block - 1)));
		return &sb->not_home;
	}
	if (r)
		*n = min(*n, (r->first << sb->env.block_bits) - byte);
	return &sb->disk;
}

const struct ffs_runs *ffs_device_view(const struct ffs_super *sb, u64 byte, u64 *n)
{
	return holder((struct ffs_super *)sb, byte, n); /* who asks changes nothing */
}

void ffs_device_write(struct ffs_super *sb, u64 addr, const struct ffs_runs *src, u64 pos, u64 len,
		      u64 missing)
{
	u64 stop = addr + len, n;

	for (; addr < stop; pos += n, addr += n) {
		struct ffs_runs *disk;

		n = stop - addr;
		disk = holder(sb, addr, &n);
		ffs_content_copy(disk, addr, src, pos, n, missing);
	}
}

void ffs_device_zero(struct ffs_super *sb, u64 addr, u64 end)
{
	u64 n;

	for (; addr < end; addr += n) {
		struct ffs_runs *disk;

		n = end - addr;
		disk = holder(sb, addr, &n);
		ffs_content_zero(disk, addr, addr + n);
	}
}

void ffs_device_stale(struct ffs_super *sb, u64 addr, u64 end)
{
	ffs_content_stale(&sb->disk, addr, end);
	if (!sb->logged.nr)
		return;
	ffs_content_stale(&sb->not_home, addr, end);
	ffs_content_stale(&sb->alias, addr, end);
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
