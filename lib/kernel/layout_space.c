// SPDX-License-Identifier: MIT
/*
 * The set of used blocks while a layout is built: a short sorted list of ranges for
 * each group.  Stands for the block bitmap of libext2fs and its searches.
 */
#include "layout_state.h"

/* Insert [first, end), relative to the group, joining what it touches. */
static void mark_in_group(struct ffs_layout_group *grp, u32 first, u32 end)
{
	u32 i = 0, j;

	while (i < grp->count && grp->used[i].end < first)
		i++;
	for (j = i; j < grp->count && grp->used[j].first <= end; j++) {
		first = min(first, grp->used[j].first);
		end = max(end, grp->used[j].end);
	}
	if (j == i && grp->count == grp->room) {
		grp->room = (u16)(grp->room ? grp->room * 2 : 2);
		grp->used = ffs_realloc(grp->used, grp->room * sizeof(*grp->used));
	}
	if (i < grp->count)
		memmove(&grp->used[i + 1], &grp->used[j], (grp->count - j) * sizeof(*grp->used));
	grp->used[i] = (struct ffs_group_range){ first, end };
	grp->count = (u16)(grp->count + 1 - (j - i));
}

void ffs_layout_mark(struct ffs_layout *l, u64 first, u64 end)
{
	while (first < end) {
		u32 group = ffs_group_of_block(&l->g, first);
		u64 base = ffs_group_first(&l->g, group);
		u64 stop = min(end, ffs_group_end(&l->g, group));

		mark_in_group(&l->groups[group], (u32)(first - base), (u32)(stop - base));
		first = stop;
	}
}

struct ffs_blk_range ffs_layout_next_used(const struct ffs_layout *l, u64 block, u64 limit)
{
	const struct ffs_blk_range none = { UINT64_MAX, UINT64_MAX };
	u64 base;

	limit = min(limit, l->g.blocks_count);
	if (block >= limit)
		return none;
	for (u32 group = ffs_group_of_block(&l->g, block); group < l->g.groups; group++) {
		const struct ffs_layout_group *grp = &l->groups[group];

		base = ffs_group_first(&l->g, group);
		if (base >= limit)
			break;
		for (u32 i = 0; i < grp->count; i++) {
			u64 first = base + grp->used[i].first, end = base + grp->used[i].end;

			if (first >= limit)
				return none;
			if (end > block)
				return (struct ffs_blk_range){ first, end };
		}
	}
	return none;
}

u64 ffs_layout_next_free(const struct ffs_layout *l, u64 block, u64 limit)
{
	block = max(block, (u64)l->g.first_data_block);
	while (block < limit) {
		struct ffs_blk_range r = ffs_layout_next_used(l, block, block + 1);

		if (r.first > block)
			return block;
		block = r.end;
	}
	return UINT64_MAX;
}

u64 ffs_layout_find_run(const struct ffs_layout *l, u64 block, u64 num)
{
	block = max(block, (u64)l->g.first_data_block);
	while (block + num <= l->g.blocks_count) {
		struct ffs_blk_range r = ffs_layout_next_used(l, block, block + num);

		if (r.first >= block + num)
			return block;
		block = r.end;
	}
	return UINT64_MAX;
}

void ffs_layout_to_clusters(struct ffs_layout *l)
{
	u32 ratio = l->g.cluster_ratio;

	l->clusters = true;
	if (ratio == 1)
		return;
	for (u32 group = 0; group < l->g.groups; group++) {
		struct ffs_layout_group *grp = &l->groups[group];
		u32 n = 0;

		for (u32 i = 0; i < grp->count; i++) {
			u32 first = (u32)round_down_pow2(grp->used[i].first, ratio);
			u32 end = (u32)round_up_pow2(grp->used[i].end, ratio);

			if (n && grp->used[n - 1].end >= first)
				grp->used[n - 1].end = end;
			else
				grp->used[n++] = (struct ffs_group_range){ first, end };
		}
		grp->count = (u16)n;
	}
}
