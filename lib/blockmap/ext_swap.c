// SPDX-License-Identifier: MIT
/*
 * Exchanging the blocks of two files (move extents): ext4_swap_extents.
 *
 * Both files are cut until an extent of each covers the same number of blocks,
 * then these change places.
 */
#include "blockmap/ext.h"

/* Blocks that can be skipped because one of the files has a hole; 0: nothing follows. */
static u32 hole_step(struct ffs_ext_walk *a, struct ffs_ext_walk *b, u32 lblk_a, u32 lblk_b)
{
	const struct ffs_extent *ea = ffs_walk_extent(a), *eb = ffs_walk_extent(b);
	u32 next_a = ffs_walk_next_block(a), next_b = ffs_walk_next_block(b);

	if (ea->lblk > lblk_a)
		next_a = ea->lblk;
	if (eb->lblk > lblk_b)
		next_b = eb->lblk;
	if (next_a == FFS_LBLK_MAX || next_b == FFS_LBLK_MAX)
		return 0;
	return max(next_a - lblk_a, next_b - lblk_b);
}

static int exchange(struct ffs_ext_walk *a, struct ffs_ext_walk *b, bool unwritten)
{
	struct ffs_extent *ea, *eb;
	u64 pblk;
	int err;

	ffs_walk_own(a, a->depth);
	ffs_walk_own(b, b->depth);
	ea = ffs_walk_extent(a);
	eb = ffs_walk_extent(b);
	pblk = ea->pblk;
	ea->pblk = eb->pblk;
	eb->pblk = pblk;
	/* the first keeps its state; the second, having got old data, need not be read */
	eb->unwritten = unwritten;
	ffs_walk_merge(b);
	ffs_walk_merge(a);
	err = ffs_walk_dirty(b, b->depth, "ext4_swap_extents");
	return err ? err : ffs_walk_dirty(a, a->depth, "ext4_swap_extents");
}

u32 ffs_ext_swap(struct ffs_blockmap *bm, struct ffs_handle *h, struct ffs_inode *inode_a,
		 struct ffs_inode *inode_b, u32 lblk_a, u32 lblk_b, u32 count, bool unwritten,
		 int *err)
{
	struct ffs_ext_walk a, b;
	u32 swapped = 0;

	*err = 0;
	ffs_es_remove(bm, inode_a, lblk_a, count);
	ffs_es_remove(bm, inode_b, lblk_b, count);
	ffs_walk_init(&a, bm, h, inode_a);
	ffs_walk_init(&b, bm, h, inode_b);
	while (count) {
		const struct ffs_extent *ea, *eb;
		bool split = false;
		u32 len, len_a, len_b;

		ffs_walk_find(&a, lblk_a, FFS_GET_EX_NOCACHE);
		ffs_walk_find(&b, lblk_b, FFS_GET_EX_NOCACHE);
		ea = ffs_walk_extent(&a);
		eb = ffs_walk_extent(&b);
		if (!ea || !eb)
			break;
		if (!ffs_extent_has(ea, lblk_a) || !ffs_extent_has(eb, lblk_b)) {
			len = hole_step(&a, &b, lblk_a, lblk_b);
			if (!len)
				break;
			len = min(len, count);
			lblk_a += len;
			lblk_b += len;
			count -= len;
			continue;
		}
		if (ea->lblk < lblk_a) {
			split = true;
			*err = ffs_split_keep(&a, lblk_a, false);
		}
		if (!*err && eb->lblk < lblk_b) {
			split = true;
			*err = ffs_split_keep(&b, lblk_b, false);
		}
		if (*err)
			break;
		if (split)
			continue;

		len_a = ea->len;
		len_b = eb->len;
		len = min(count, min(len_a, len_b));
		if (len != len_a) {
			split = true;
			*err = ffs_split_keep(&a, lblk_a + len, false);
		}
		if (!*err && len != len_b) {
			split = true;
			*err = ffs_split_keep(&b, lblk_b + len, false);
		}
		if (*err)
			break;
		if (split)
			continue;

		*err = exchange(&a, &b, unwritten);
		if (*err)
			break;
		lblk_a += len;
		lblk_b += len;
		swapped += len;
		count -= len;
	}
	return swapped;
}
