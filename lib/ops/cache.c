// SPDX-License-Identifier: MIT
/* Dropping cached pages: fadvise, drop_caches (mm/fadvise.c, fs/drop_caches.c, v6.18). */
#include "ops.h"

int ffs_fadvise(struct ffs_ops *o, struct ffs_file *f, u64 off, u64 len, u32 advice)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_inode *inode = f->inode;
	u8 bits = sb->env.page_bits;
	u64 page = ffs_page_size(&sb->env), end = len ? off + len : FFS_LLONG_MAX + 1ull;
	u64 first, last;
	struct ffs_reader r = ffs_reader(o);

	switch (advice) {
	case FOLIOFS_FADV_NORMAL:
		f->ra.ra_pages = (u32)(((u64)sb->env.geo.read_ahead_kb << 10) >> bits);
		f->ra.random = false;
		return 0;
	case FOLIOFS_FADV_RANDOM:
		f->ra.random = true;
		return 0;
	case FOLIOFS_FADV_SEQUENTIAL:
		f->ra.ra_pages = (u32)(((u64)sb->env.geo.read_ahead_kb << 10) >> bits) * 2;
		f->ra.random = false;
		return 0;
	case FOLIOFS_FADV_WILLNEED:
		first = off >> bits;
		last = (end - 1) >> bits;
		ffs_ra_force(inode->mapping, &f->ra, &r, (u32)first,
			     (u32)min(last - first + 1, (u64)0xffffffff));
		return 0;
	case FOLIOFS_FADV_DONTNEED:
		ffs_filemap_flush(o, inode, off, end - 1, FFS_WB_NONE);
		first = (off + page - 1) >> bits;
		last = (end - 1) >> bits;
		/* A partial last page stays, unless the file ends in it. */
		if (((end - 1) & (page - 1)) != page - 1 && end != inode->i_size && last)
			last--;
		else if (((end - 1) & (page - 1)) != page - 1 && end != inode->i_size)
			return 0;
		if (last >= first)
			ffs_invalidate_clean(sb, inode, (u32)first, (u32)min(last, (u64)0xffffffff));
		return 0;
	default:
		return 0;
	}
}

static int newest_first(const void *a, const void *b)
{
	const struct ffs_inode *const *x = a, *const *y = b;

	return (*x)->seq < (*y)->seq ? 1 : -1;
}

/* A page of the device stays while the journal holds one of its buffers. */
static bool page_held(void *priv, u64 blk)
{
	const struct ffs_super *sb = priv;
	u64 n = 1ull << (sb->env.page_bits - min(sb->env.page_bits, sb->env.block_bits));
	u64 first = round_down_pow2(blk, n), b;

	for (b = first; b < first + n; b++)
		if (ffs_journal_holds(sb->journal, b))
			return true;
	return false;
}

/*
 * The shrinker of status entries asks a per-CPU counter how many there are, which stays at 0
 * until a CPU has counted this many (percpu_counter_batch; measured: a few entries survive).
 * SIMPLIFIED: those of now, not how the counter came to its value.
 */
#define COUNTER_BATCH 32u

void ffs_drop_caches(struct ffs_ops *o, u32 what)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_inode **list = ffs_zalloc(sb->nr_inodes * sizeof(*list));
	u32 n = 0, entries = 0, i;

	for (i = 0; i < sb->cap_inodes; i++)
		if (sb->inodes[i])
			list[n++] = sb->inodes[i];
	qsort(list, n, sizeof(*list), newest_first);
	for (i = 0; i < n; i++)
		entries += ffs_es_count_clean(list[i]);
	for (i = 0; i < n; i++) {
		if (what & 1)
			ffs_invalidate_clean(sb, list[i], 0, ~0u);
		/* Inodes nobody uses are read from disk again; status of blocks is forgotten. */
		if (what & 2) {
			if (!list[i]->opens && !list[i]->mapping->nr_folios && !list[i]->reserved) {
				ffs_reread_unused(o, list[i]);
			} else if (entries >= COUNTER_BATCH) {
				ffs_es_drop_clean(list[i]);
			}
		}
		if (what & 1)
			ffs_blockmap_drop_buffers(list[i], page_held, sb);
	}
	free(list);
}
