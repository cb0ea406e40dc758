// SPDX-License-Identifier: MIT
/*
 * The files that mke2fs makes: root directory, lost+found, resize inode, journal,
 * MMP block, quota files, orphan file, in that order.  Stands for ext2fs_mkdir(),
 * ext2fs_expand_dir(), ext2fs_create_resize_inode(), ext2fs_fallocate(),
 * ext2fs_bmap2(), ext2fs_mmp_init() and ext2fs_create_orphan_file() of libext2fs 1.47.
 */
#include "layout_state.h"

#define has(l, f) foliofs_has_feature(&(l)->g, FOLIOFS_FEATURE_##f)

#define MAX_EXTENT 32768u /* blocks */
#define MAX_DEPTH 5

static void append(struct ffs_layout_file *f, u64 first, u64 end)
{
	if (f->count && f->ranges[f->count - 1].end == first) {
		f->ranges[f->count - 1].end = end;
		return;
	}
	if (is_pow2(f->count) || !f->count)
		f->ranges = ffs_realloc(f->ranges, (f->count ? f->count * 2 : 1) *
							   sizeof(*f->ranges));
	f->ranges[f->count++] = (struct ffs_blk_range){ first, end };
}

/* Mark [first, end), whole clusters, and count them in their groups. */
static void claim(struct ffs_layout *l, u64 first, u64 end)
{
	u32 ratio = l->g.cluster_ratio;

	end = min(round_up_pow2(end, ratio), l->g.blocks_count);
	first = round_down_pow2(first, ratio);
	ffs_layout_mark(l, first, end);
	while (first < end) {
		u32 group = ffs_group_of_block(&l->g, first);
		u64 stop = min(end, ffs_group_end(&l->g, group));

		ffs_layout_count(l, group, (stop - first) / ratio);
		l->groups[group].block_uninit = false;
		first = stop;
	}
}

/* Goal of an inode without blocks: its group's first block, or its flex group's. */
static u64 inode_goal(const struct ffs_layout *l, u32 ino)
{
	u32 group = (ino - 1) / l->g.inodes_per_group;

	return ffs_group_first(&l->g, group - group % l->g.flex_bg_size);
}

/* One block (a cluster) from @goal on, from the start if there is none: 0 if full. */
static u64 new_block(struct ffs_layout *l, u64 goal)
{
	u64 at;

	if (goal >= l->g.blocks_count)
		goal = 0;
	goal = round_down_pow2(goal, l->g.cluster_ratio);
	at = ffs_layout_next_free(l, goal, l->g.blocks_count);
	if (at == UINT64_MAX)
		at = ffs_layout_next_free(l, 0, goal);
	if (at == UINT64_MAX)
		return 0;
	claim(l, at, at + 1);
	return at;
}

/* The next block of @f: behind @last in its cluster, else a new one from there on. */
static u64 append_block(struct ffs_layout *l, struct ffs_layout_file *f, u64 last)
{
	bool inside = f->count && (last + 1) % l->g.cluster_ratio;
	u64 blk = inside ? last + 1 : new_block(l, last);

	if (blk)
		append(f, blk, blk + 1);
	return blk;
}

/* Pointer blocks that an indirect mapped file gets just before logical block @lblk. */
static u32 pointer_blocks(u64 lblk, u64 per_block)
{
	u64 span = per_block, start = 12;
	u32 levels = 1;

	/* single, double, triple: @span blocks from @start on */
	while (lblk >= start + span && levels < 3) {
		start += span;
		span *= per_block;
		levels++;
	}
	if (lblk < start)
		return 0;
	if (lblk == start)
		return levels;
	/* a lower level begins at each multiple of what it can point to */
	for (u32 n = levels - 1; n > 0; n--) {
		span /= per_block;
		if ((lblk - start) % span == 0)
			return n;
	}
	return 0;
}

/* Rightmost path of an extent tree that grows at its end. */
struct tree {
	struct {
		u32 entries;
		u64 first, last; /* block of the node's first and last entry */
	} level[MAX_DEPTH + 1];
	u32 depth;
	u64 next; /* the last extent grows if this block comes next, */
	u32 len; /* up to a length of MAX_EXTENT */
	u32 ino;
};

static u32 tree_room(const struct ffs_layout *l, u32 level)
{
	return level ? (l->g.block_size - 12) / 12 : 4;
}

/* Split the full node at @level; libext2fs wants the new node before its first block. */
static int tree_split(struct ffs_layout *l, struct tree *t, u32 level)
{
	u64 goal = t->level[level].first - l->g.cluster_ratio, blk;

	if (level && t->level[level - 1].entries >= tree_room(l, level - 1)) {
		u32 depth = t->depth;

		if (tree_split(l, t, level - 1))
			return -ENOSPC;
		level += t->depth - depth;
	}
	blk = new_block(l, goal ? goal : inode_goal(l, t->ino));
	if (!blk || t->depth == MAX_DEPTH)
		return -ENOSPC;
	if (!level) { /* all of the root moves down */
		memmove(&t->level[1], &t->level[0], (t->depth + 1) * sizeof(t->level[0]));
		t->level[0].entries = 1;
		t->level[0].first = t->level[0].last = blk;
		t->depth++;
		return 0;
	}
	/* at the end of the file only the last entry moves over */
	t->level[level].entries = 1;
	t->level[level].first = t->level[level].last;
	t->level[level - 1].entries++;
	t->level[level - 1].last = blk;
	return 0;
}

/* A new entry for an extent that begins at @blk. */
static int tree_add(struct ffs_layout *l, struct tree *t, u64 blk)
{
	if (t->level[t->depth].entries >= tree_room(l, t->depth) && tree_split(l, t, t->depth))
		return -ENOSPC;
	if (!t->level[t->depth].entries++)
		t->level[t->depth].first = blk;
	t->level[t->depth].last = blk;
	return 0;
}

/* One block more, that continues the last extent or begins a new one. */
static int tree_append(struct ffs_layout *l, struct tree *t, u64 blk)
{
	if (!t->len || t->next != blk || t->len == MAX_EXTENT) {
		if (tree_add(l, t, blk))
			return -ENOSPC;
		t->len = 0;
	}
	t->len++;
	t->next = blk + 1;
	return 0;
}

/* @count blocks for file @ino one by one, the first from @goal on. */
static int append_blocks(struct ffs_layout *l, struct ffs_layout_file *f, u32 ino, u64 goal,
			 u32 count)
{
	struct tree tree = { .ino = ino };
	bool extents = has(l, EXTENTS);
	u64 last = goal;

	for (u32 lblk = 0; lblk < count; lblk++) {
		u32 pointers = extents ? 0 : pointer_blocks(lblk, l->g.block_size / 4);

		while (pointers--) {
			last = new_block(l, last);
			if (!last)
				return -ENOSPC;
		}
		last = append_block(l, f, last);
		if (!last || (extents && tree_append(l, &tree, last)))
			return -ENOSPC;
	}
	return 0;
}

/* Directories and the inodes that are always there. */
static int make_directories(struct ffs_layout *l)
{
	/* 16K, at least two blocks, none behind the direct ones */
	u32 blocks = min(max(16384 / l->g.block_size, 2u), 12u);
	u32 group = (FFS_LOST_FOUND_INO - 1) / l->g.inodes_per_group;
	u64 goal = has(l, INLINE_DATA) ? 0 : inode_goal(l, FFS_LOST_FOUND_INO);

	if (FFS_LOST_FOUND_INO > (u64)l->g.inodes_per_group * l->g.groups ||
	    append_blocks(l, &l->root, FFS_ROOT_INO, inode_goal(l, FFS_ROOT_INO), 1))
		return -ENOSPC;
	l->groups[0].dirs++;
	/* looking for a free inode initialises the bitmaps of the group */
	l->groups[group].dirs++;
	l->groups[group].block_uninit = false;
	for (u32 i = 0; i <= group; i++)
		l->groups[i].inode_uninit = false;
	l->first_inode = FFS_LOST_FOUND_INO + 1;
	if (has(l, INLINE_DATA)) /* what it is made with needs no block */
		blocks--;
	return append_blocks(l, &l->lost_found, FFS_LOST_FOUND_INO, goal, blocks);
}

/* A new inode: the next one; 0 if there is none. */
static u32 new_inode(struct ffs_layout *l)
{
	u32 group = (l->first_inode - 1) / l->g.inodes_per_group;

	if (group >= l->g.groups)
		return 0;
	l->groups[group].inode_uninit = false;
	l->groups[group].block_uninit = false;
	return l->first_inode++;
}

/* The double indirect block of the resize inode; its other blocks are the reserved ones. */
static int make_resize_inode(struct ffs_layout *l)
{
	u64 first, end = ffs_group_super_end(&l->g, 0, &first);

	return new_block(l, end - 1 + 2 + l->table_blocks) ? 0 : -ENOSPC;
}

/*
 * Where the journal goes: the group in the middle of the file system, its
 * neighbour if that has more free blocks; with flex_bg the flex group.
 */
static u64 journal_goal(const struct ffs_layout *l)
{
	const struct foliofs_geometry *g = &l->g;
	u64 middle = (g->blocks_count - g->first_data_block) / 2;
	u32 group = ffs_group_of_block(g, max(middle, (u64)g->first_data_block));
	u32 size = g->flex_bg_size, start = group ? group - 1 : group, best, end;

	if (size > 1 && group > size) {
		group -= group % size;
		while (group < g->groups && !l->free[group])
			group++;
		if (group == g->groups)
			group = 0;
		start = group;
	}
	end = group + 1 < g->groups ? group + 1 : group;
	best = start;
	for (u32 i = start + 1; i <= end; i++)
		if (l->free[i] > l->free[best])
			best = i;
	return ffs_group_first(g, best);
}

static int make_journal(struct ffs_layout *l)
{
	const struct foliofs_geometry *g = &l->g;
	u64 at = journal_goal(l), left = g->journal_blocks, limit, end;
	struct tree tree = { .ino = FFS_JOURNAL_INO };

	if (!has(l, EXTENTS)) /* block by block, the middle is not asked for */
		return append_blocks(l, &l->journal, FFS_JOURNAL_INO,
				     inode_goal(l, FFS_JOURNAL_INO), g->journal_blocks);
	limit = round_down_pow2(MAX_EXTENT, g->cluster_ratio);
	while (left) {
		u64 run = min(left, limit), from = round_down_pow2(at, g->cluster_ratio);

		at = ffs_layout_next_free(l, from, g->blocks_count);
		if (at == UINT64_MAX)
			at = ffs_layout_next_free(l, 0, g->blocks_count);
		if (at == UINT64_MAX)
			return -ENOSPC;
		end = min(at + run, g->blocks_count);
		end = min(end, ffs_layout_next_used(l, at, end).first);
		claim(l, at, end);
		append(&l->journal, at, end);
		if (tree_add(l, &tree, at))
			return -ENOSPC;
		left -= end - at;
		at = end < g->blocks_count ? end : g->first_data_block;
	}
	return 0;
}

/*
 * Quota files: a header, a tree of four levels and one block of entries, each 1K,
 * which is all that the files of root need.
 */
static int make_quota(struct ffs_layout *l)
{
	u32 blocks = (u32)div_up(6 * 1024, l->g.block_size);

	for (u32 type = 0; type < 3; type++) {
		struct ffs_layout_file f = { NULL, 0 };
		u32 ino = type + 3;
		int ret;

		if (!(l->g.quota_types >> type & 1))
			continue;
		if (type == 2) /* the other two have reserved numbers */
			ino = new_inode(l);
		if (!ino)
			return -ENOSPC;
		ret = append_blocks(l, &f, ino, 0, blocks);
		free(f.ranges);
		if (ret)
			return ret;
	}
	return 0;
}

int ffs_layout_files(struct ffs_layout *l)
{
	if (make_directories(l))
		return -ENOSPC;
	if (has(l, RESIZE_INODE) && make_resize_inode(l))
		return -ENOSPC;
	if (l->g.journal_blocks && make_journal(l))
		return -ENOSPC;
	if (has(l, MMP) && !new_block(l, 0))
		return -ENOSPC;
	if (has(l, QUOTA) && make_quota(l))
		return -ENOSPC;
	if (!has(l, ORPHAN_FILE))
		return 0;
	l->orphan_ino = new_inode(l);
	if (!l->orphan_ino)
		return -ENOSPC;
	return append_blocks(l, &l->orphan, l->orphan_ino, 0, l->g.orphan_file_blocks);
}
