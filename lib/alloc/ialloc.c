// SPDX-License-Identifier: MIT
/*
 * Inode numbers.
 *
 * Stands for __ext4_new_inode (the choice of the number), find_group_orlov,
 * find_group_other and ext4_free_inode.  Orlov's idea: directories in the root are
 * spread over the disk, deeper ones stay near their parent unless it is full; files
 * stay near their directory.
 *
 * Averages come from per-CPU counters whose small changes nobody sees yet, the
 * numbers of a group or flex group are exact.
 *
 * SIMPLIFIED: a directory remembers where its last inode went until unmount (the
 * kernel: until its in-core inode is dropped); without a journal the inode table
 * block of a deleted inode counts as dirty until its number may be used again.
 */
#include "internal.h"

#define NO_GROUP UINT32_MAX
#define RECENT_SECONDS 360 /* 60, and 300 while the table block is dirty */

static u32 ipg(const struct ffs_alloc *a)
{
	return a->env->geo.inodes_per_group;
}

void ffs_ialloc_init(struct ffs_alloc *a)
{
	u32 i;

	for (i = 0; i < a->groups; i++) {
		struct ffs_group *g = &a->group[i];
		u32 used = ffs_layout_used_inodes(a->layout, i);

		g->inodes_free = ipg(a) - used;
		g->inode_hint = used; /* mke2fs takes the first ones */
		g->dirs = ffs_layout_dirs(a->layout, i);
		a->flex[i >> a->flex_bits].inodes += g->inodes_free;
		a->flex[i >> a->flex_bits].dirs += g->dirs;
		a->inodes.count += g->inodes_free;
		a->dirs.count += g->dirs;
	}
}

void ffs_ialloc_free(struct ffs_alloc *a)
{
	u32 i;

	for (i = 0; i < a->groups; i++) {
		free(a->group[i].inode_bits);
		free(a->group[i].deleted);
	}
	free(a->dir_goal);
}

void ffs_ialloc_remount(struct ffs_alloc *a)
{
	a->inodes = (struct ffs_counter){ .count = ffs_counter_sum(&a->inodes) };
	a->dirs = (struct ffs_counter){ .count = ffs_counter_sum(&a->dirs) };
	free(a->dir_goal);
	a->dir_goal = NULL;
	a->nr_dir_goals = a->cap_dir_goals = 0;
}

/* ---- group of the last inode made in a directory ---- */

static struct ffs_dir_goal *dir_goal(const struct ffs_alloc *a, u32 ino)
{
	u32 mask = a->cap_dir_goals - 1, i = ino * 2654435761u & mask;

	while (a->dir_goal[i].ino && a->dir_goal[i].ino != ino)
		i = (i + 1) & mask;
	return &a->dir_goal[i];
}

static u32 last_alloc_group(const struct ffs_alloc *a, u32 dir)
{
	const struct ffs_dir_goal *d = a->cap_dir_goals ? dir_goal(a, dir) : NULL;

	return d && d->ino ? d->group : NO_GROUP;
}

static void set_last_alloc_group(struct ffs_alloc *a, u32 dir, u32 group)
{
	struct ffs_dir_goal *d;

	if (2 * a->nr_dir_goals >= a->cap_dir_goals) {
		struct ffs_dir_goal *old = a->dir_goal;
		u32 n = a->cap_dir_goals, i;

		a->cap_dir_goals = n ? 2 * n : 64;
		a->dir_goal = ffs_zalloc(a->cap_dir_goals * sizeof(*old));
		for (i = 0; i < n; i++)
			if (old[i].ino)
				*dir_goal(a, old[i].ino) = old[i];
		free(old);
	}
	d = dir_goal(a, dir);
	if (!d->ino)
		a->nr_dir_goals++;
	*d = (struct ffs_dir_goal){ dir, group };
}

/* ---- choice of the group ---- */

static u32 first_with_inode(const struct ffs_alloc *a, u32 from, u32 count)
{
	u32 i;

	for (i = from; i < from + count && i < a->groups; i++)
		if (a->group[i].inodes_free)
			return i;
	return NO_GROUP;
}

static u32 orlov_fallback(const struct ffs_alloc *a, u32 parent_group)
{
	u32 least = (u32)(ffs_counter_read(&a->inodes) / a->groups);
	u32 i;

	for (;;) {
		for (i = 0; i < a->groups; i++) {
			u32 group = (parent_group + i) % a->groups;

			if (a->group[group].inodes_free &&
			    a->group[group].inodes_free >= least)
				return group;
		}
		if (!least)
			return NO_GROUP;
		least = 0; /* the average may be stale: anything will do */
	}
}

/* A directory in the root: the emptiest flex group that is not worse than the average. */
static u32 orlov_top(const struct ffs_alloc *a, const char *name, u64 inodes, u64 clusters)
{
	u32 hash = ffs_half_md4(a->env->geo.hash_seed, name, strlen(name));
	u32 best = NO_GROUP, best_dirs = ipg(a), i;

	for (i = 0; i < a->nr_flex; i++) {
		u32 f = (hash % a->nr_flex + i) % a->nr_flex;

		if (!a->flex[f].inodes || a->flex[f].dirs >= best_dirs ||
		    a->flex[f].inodes < inodes || a->flex[f].clusters < clusters)
			continue;
		best = f;
		best_dirs = a->flex[f].dirs;
	}
	return best;
}

static u32 orlov_below(const struct ffs_alloc *a, u32 start, u64 inodes, u64 clusters)
{
	s64 flex = 1 << a->flex_bits;
	u64 max_dirs = ffs_counter_read(&a->dirs) / a->nr_flex + (u64)ipg(a) * (u64)flex / 16;
	s64 min_inodes = (s64)inodes - (s64)ipg(a) * flex / 4;
	s64 min_clusters = (s64)clusters - (s64)a->cpg * flex / 4;
	u32 i;

	min_inodes = max(min_inodes, (s64)1);
	for (i = 0; i < a->nr_flex; i++) {
		u32 f = (start + i) % a->nr_flex;

		if (a->flex[f].dirs < max_dirs && a->flex[f].inodes >= min_inodes &&
		    (s64)a->flex[f].clusters >= min_clusters)
			return f;
	}
	return NO_GROUP;
}

static u32 find_orlov(const struct ffs_alloc *a, const struct ffs_inode *parent, bool top,
		      const char *name)
{
	u32 parent_group = (parent->ino - 1) / ipg(a), last = last_alloc_group(a, parent->ino);
	u64 inodes = ffs_counter_read(&a->inodes) / a->nr_flex;
	/* the product with blocks per cluster is the kernel's */
	u64 clusters = (ffs_counter_read(&a->free) << a->cluster_bits) / a->nr_flex;
	u32 f, group = NO_GROUP;

	if (top)
		f = orlov_top(a, name, inodes, clusters);
	else
		f = orlov_below(a, (last == NO_GROUP ? parent_group : last) >> a->flex_bits,
				inodes, clusters);
	if (f != NO_GROUP)
		group = first_with_inode(a, f << a->flex_bits, 1u << a->flex_bits);
	return group == NO_GROUP ? orlov_fallback(a, parent_group) : group;
}

static u32 find_other(const struct ffs_alloc *a, const struct ffs_inode *parent)
{
	u32 home = (parent->ino - 1) / ipg(a), last = last_alloc_group(a, parent->ino);
	u32 flex = 1u << a->flex_bits, group, i;

	if (flex > 1) {
		group = first_with_inode(a, home & ~(flex - 1), flex);
		if (group == NO_GROUP && last != NO_GROUP)
			group = first_with_inode(a, last & ~(flex - 1), flex);
		return group != NO_GROUP ? group : find_orlov(a, parent, false, NULL);
	}
	if (a->group[home].inodes_free && a->group[home].disk_free)
		return home;
	group = (u32)(((u64)home + parent->ino) % a->groups);
	for (i = 1; i < a->groups; i <<= 1) {
		group += i;
		if (group >= a->groups)
			group -= a->groups;
		if (a->group[group].inodes_free && a->group[group].disk_free)
			return group;
	}
	for (i = 1; i <= a->groups; i++)
		if (a->group[(home + i) % a->groups].inodes_free)
			return (home + i) % a->groups;
	return NO_GROUP;
}

/* ---- the bit in it ---- */

static u64 *inode_bits(struct ffs_alloc *a, u32 group)
{
	struct ffs_group *g = &a->group[group];
	u32 i;

	if (!g->inode_bits) {
		g->inode_bits = ffs_zalloc((ipg(a) + 63) / 64 * sizeof(u64));
		for (i = 0; i < ipg(a) - g->inodes_free; i++)
			g->inode_bits[i / 64] |= 1ull << (i % 64);
	}
	return g->inode_bits;
}

/* Without a journal a number that was just freed is avoided: its inode may come back. */
static bool recently_deleted(const struct ffs_alloc *a, u32 group, u32 bit)
{
	u64 now = a->env->now_ns / 1000000000ull, then = a->group[group].deleted[bit];

	return then && then - 1 < now && then - 1 + RECENT_SECONDS >= now;
}

/* First free inode of @group, as a bit; the number of bits if there is none. */
static u32 find_bit(struct ffs_alloc *a, u32 group)
{
	const u64 *bits = inode_bits(a, group);
	u32 n = ipg(a), at = ffs_next_zero(bits, n, a->group[group].inode_hint), recent = n;

	if (!a->group[group].deleted)
		return at;
	while (at < n && recently_deleted(a, group, at)) {
		recent = at;
		at = ffs_next_zero(bits, n, at + 1);
	}
	return at < n ? at : recent;
}

static int claim(struct ffs_alloc *a, struct ffs_handle *h, u32 group, u32 bit, bool dir)
{
	struct ffs_group *g = &a->group[group];
	int err;

	inode_bits(a, group)[bit / 64] |= 1ull << (bit % 64);
	if (bit == g->inode_hint)
		g->inode_hint++;
	g->inodes_free--;
	a->flex[group >> a->flex_bits].inodes--;
	ffs_counter_add(&a->inodes, -1);
	if (dir) {
		g->dirs++;
		a->flex[group >> a->flex_bits].dirs++;
		ffs_counter_add(&a->dirs, 1);
	}
	err = ffs_journal_dirty(h, ffs_inode_bitmap_block(a, group));
	if (!err && a->desc_csum && (g->flags & FFS_GROUP_BLOCK_UNINIT)) {
		/* the table is in use now, so the block bitmap goes to disk */
		err = ffs_journal_dirty(h, ffs_bitmap_block(a, group));
		g->flags &= (u8)~FFS_GROUP_BLOCK_UNINIT;
	}
	return err ? err : ffs_journal_dirty(h, ffs_descriptor_block(a, group));
}

void ffs_alloc_mark_inode(struct ffs_alloc *a, u32 ino, bool dir)
{
	u32 group = (ino - 1) / ipg(a), bit = (ino - 1) % ipg(a);
	u64 *bits = inode_bits(a, group);
	struct ffs_group *g = &a->group[group];

	if (bits[bit / 64] >> (bit % 64) & 1)
		return;
	bits[bit / 64] |= 1ull << (bit % 64);
	g->inodes_free--;
	a->flex[group >> a->flex_bits].inodes--;
	a->inodes.count--;
	g->flags &= (u8)~FFS_GROUP_BLOCK_UNINIT;
	if (dir) {
		g->dirs++;
		a->flex[group >> a->flex_bits].dirs++;
		a->dirs.count++;
	}
}

int ffs_new_inode_number(struct ffs_alloc *a, struct ffs_handle *h, const struct ffs_inode *parent,
			 u32 mode, const char *name, u32 *ino)
{
	bool dir = (mode & FFS_S_IFMT) == FFS_S_IFDIR;
	bool top = parent->ino == FFS_ROOT_INO || (parent->flags & FFS_INODE_TOPDIR);
	u32 group, i;

	group = dir ? find_orlov(a, parent, top, name) : find_other(a, parent);
	if (group == NO_GROUP)
		return -ENOSPC;
	set_last_alloc_group(a, parent->ino, group);
	for (i = 0; i < a->groups; i++) {
		u32 bit = a->group[group].inodes_free ? find_bit(a, group) : ipg(a);

		if (bit < ipg(a)) {
			*ino = group * ipg(a) + bit + 1;
			return claim(a, h, group, bit, dir);
		}
		group = group + 1 < a->groups ? group + 1 : 0;
	}
	return -ENOSPC;
}

void ffs_free_inode_number(struct ffs_alloc *a, struct ffs_handle *h, u32 ino, bool dir)
{
	u32 group = (ino - 1) / ipg(a), bit = (ino - 1) % ipg(a);
	struct ffs_group *g = &a->group[group];

	inode_bits(a, group)[bit / 64] &= ~(1ull << (bit % 64));
	g->inode_hint = min(g->inode_hint, bit);
	g->inodes_free++;
	a->flex[group >> a->flex_bits].inodes++;
	ffs_counter_add(&a->inodes, 1);
	if (dir) {
		g->dirs--;
		a->flex[group >> a->flex_bits].dirs--;
		ffs_counter_add(&a->dirs, -1);
	}
	if (h->nojournal) {
		if (!g->deleted)
			g->deleted = ffs_zalloc(ipg(a) * sizeof(*g->deleted));
		g->deleted[bit] = (u32)(a->env->now_ns / 1000000000ull) + 1;
	}
	/* an error has aborted the journal; the handle's stop reports it */
	ffs_journal_dirty(h, ffs_descriptor_block(a, group));
	ffs_journal_dirty(h, ffs_inode_bitmap_block(a, group));
}
