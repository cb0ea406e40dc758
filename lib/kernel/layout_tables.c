// SPDX-License-Identifier: MIT
/*
 * Superblocks, descriptors and the tables of every group.  Stands for
 * ext2fs_reserve_super_and_bgd() and ext2fs_allocate_group_table() of libext2fs
 * 1.47: without flex_bg each group keeps its own tables, with it the tables of a
 * flex group lie packed in its first groups.
 */
#include "layout_state.h"

/*
 * The search of ext2fs_get_free_blocks2(): @num free blocks from @start on, the
 * place before @finish (but @start itself is always tried); if @finish is not
 * behind @start it goes on from the first block of the file system.
 */
static u64 find(const struct ffs_layout *l, u64 start, u64 finish, u64 num)
{
	u64 at = ffs_layout_find_run(l, start, num);

	if (at == start || (at != UINT64_MAX && (at < finish || finish <= start)))
		return at;
	if (finish > start)
		return UINT64_MAX;
	at = ffs_layout_find_run(l, 0, num);
	return at < finish ? at : UINT64_MAX;
}

/* What the tables of @group need to know of their flex group. */
struct flex {
	u32 first, last; /* groups */
	u64 start, end; /* blocks: first one, last one */
	u32 left; /* groups from this one to the last */
};

/*
 * Where to start looking for an element of @size blocks with flex_bg: behind the
 * one before (@prev; 0: none) if enough is free near there, else where all that
 * is left of the flex group fits in one piece.
 */
static u64 flex_start(const struct ffs_layout *l, const struct flex *f, u64 prev, u32 size)
{
	u64 all = min((u64)f->left * size, (u64)l->g.blocks_per_group / 4), at;

	if (prev && prev < l->g.blocks_count) {
		at = find(l, prev, prev + all, size);
		if (at != UINT64_MAX)
			return at;
	}
	at = find(l, f->start, f->end, all);
	if (at == UINT64_MAX)
		at = find(l, f->start, f->end, size);
	if (at == UINT64_MAX)
		at = find(l, 0, f->end, size);
	return at == UINT64_MAX ? 0 : at;
}

/*
 * Take [first, first + num).  With flex_bg they are counted where they lie: a
 * bitmap as one cluster, of a table (@unit: cluster ratio) whole clusters only.
 */
static void take(struct ffs_layout *l, u64 first, u64 num, u32 unit)
{
	u64 end = first + num;

	ffs_layout_mark(l, first, end);
	if (l->g.flex_bg_size == 1)
		return;
	while (first < end) {
		u32 group = ffs_group_of_block(&l->g, first);
		u64 stop = min(end, ffs_group_end(&l->g, group));

		ffs_layout_count(l, group, (stop - first) / unit);
		l->groups[group].block_uninit = false;
		first = stop;
	}
}

/* Place a bitmap: from @start on, else anywhere from @base on, up to @last. */
static int place_bitmap(struct ffs_layout *l, u64 start, u64 base, u64 last, u64 *where)
{
	*where = find(l, start, last, 1);
	if (*where == UINT64_MAX)
		*where = find(l, base, last, 1);
	if (*where == UINT64_MAX)
		return -ENOSPC;
	take(l, *where, 1, 1);
	return 0;
}

static int place_table(struct ffs_layout *l, u64 start, u64 last, u64 *where)
{
	*where = find(l, start, last, l->table_blocks);
	if (*where == UINT64_MAX)
		return -ENOSPC;
	take(l, *where, l->table_blocks, l->g.cluster_ratio);
	return 0;
}

static int place_flex(struct ffs_layout *l, u32 group)
{
	u32 size = l->g.flex_bg_size, pos = group % size, gap = size;
	struct ffs_layout_group *grp = &l->groups[group];
	const struct ffs_layout_group *before = pos ? grp - 1 : NULL;
	struct flex f = { .first = group - pos };
	u64 base = ffs_group_first(&l->g, group), start;

	f.last = (u32)min((u64)f.first + size, (u64)l->g.groups) - 1;
	f.left = f.last - group + 1;
	f.start = ffs_group_first(&l->g, f.first);
	f.end = ffs_group_end(&l->g, f.last) - 1;
	/* in the last flex group the tables stay together even if it is not full */
	if (!pos && f.last == l->g.groups - 1 && (f.last & (size - 1)))
		gap = (f.last & (size - 1)) + 1;

	start = flex_start(l, &f, before ? before->block_bitmap + 1 : 0, 1);
	if (place_bitmap(l, start, base, f.end, &grp->block_bitmap))
		return -ENOSPC;
	start = flex_start(l, &f, before ? before->inode_bitmap + 1 : grp->block_bitmap + gap, 1);
	if (place_bitmap(l, start, base, f.end, &grp->inode_bitmap))
		return -ENOSPC;
	start = flex_start(l, &f,
			   before ? before->inode_table + l->table_blocks :
				    grp->inode_bitmap + gap,
			   l->table_blocks);
	return place_table(l, start, f.end, &grp->inode_table);
}

static int place_plain(struct ffs_layout *l, u32 group)
{
	struct ffs_layout_group *grp = &l->groups[group];
	u64 base = ffs_group_first(&l->g, group), last = ffs_group_end(&l->g, group) - 1;
	u64 start = base;

	if (l->g.raid_stride) { /* spread the bitmaps over the disks */
		start = find(l, base, last, 1);
		if (start == UINT64_MAX)
			return -ENOSPC;
		start += l->table_blocks;
		if (start < last)
			start += (u64)(l->g.raid_stride * group) % (last - start + 1);
		if (start >= last)
			start = base;
	}
	if (place_bitmap(l, start, base, last, &grp->block_bitmap) ||
	    place_bitmap(l, start, base, last, &grp->inode_bitmap))
		return -ENOSPC;
	return place_table(l, base, last, &grp->inode_table);
}

int ffs_layout_tables(struct ffs_layout *l)
{
	const struct foliofs_geometry *g = &l->g;
	bool csum = g->features & (FOLIOFS_FEATURE_METADATA_CSUM | FOLIOFS_FEATURE_GDT_CSUM);
	bool flex = g->flex_bg_size > 1;
	int ret = 0;

	if (g->block_size == 1024 && g->cluster_ratio > 1)
		ffs_layout_mark(l, 0, 1); /* boot block */
	for (u32 i = 0; i < g->groups; i++) {
		u64 first, end = ffs_group_super_end(g, i, &first);

		/* the last bitmap is always written: its end is padded */
		l->groups[i].block_uninit = csum && i != g->groups - 1;
		l->groups[i].inode_uninit = csum;
		ffs_layout_mark(l, first, end);
		ffs_layout_count(l, i, end - first);
		ffs_layout_count(l, i, flex ? 0 : 2 + l->table_blocks);
	}
	for (u32 i = 0; i < g->groups && !ret; i++)
		ret = flex ? place_flex(l, i) : place_plain(l, i);
	return ret;
}
