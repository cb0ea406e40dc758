// SPDX-License-Identifier: MIT
/*
 * The allocator as others see it: requests, space accounting, places of metadata.
 *
 * Stands for ext4_mb_new_blocks, ext4_new_meta_blocks, ext4_claim_free_clusters,
 * ext4_nonda_switch, ext4_inode_to_goal_block and ext4_mb_mark_context.
 *
 * SIMPLIFIED: quota limits are not modelled, only that i_blocks changes; the caller
 * runs as root (it may use the blocks reserved for root); no other task holds a
 * group's lock, so nothing is skipped or retried for that.
 */
#include "internal.h"

#include <foliofs/mkfs.h>
#include "kernel/groups.h"

#define DEFAULT_CPUS 2 /* of the machine that the captures were made on */
#define FLEX_DIR_SCHEME 4 /* flex groups of at least this size: first group is for metadata */

void ffs_block_place(const struct ffs_alloc *a, u64 blk, u32 *group, u32 *cluster)
{
	const struct foliofs_geometry *g = &a->env->geo;
	u64 off = blk - g->first_data_block;

	*group = (u32)(off / g->blocks_per_group);
	*cluster = (u32)(off % g->blocks_per_group) >> a->cluster_bits;
}

u32 ffs_group_of(const struct ffs_alloc *a, u64 blk)
{
	return ffs_group_of_block(&a->env->geo, blk);
}

u64 ffs_bitmap_block(const struct ffs_alloc *a, u32 group)
{
	return ffs_layout_block_bitmap(a->layout, group);
}

u64 ffs_descriptor_block(const struct ffs_alloc *a, u32 group)
{
	return ffs_layout_descriptor(a->layout, group);
}

u64 ffs_inode_bitmap_block(const struct ffs_alloc *a, u32 group)
{
	return ffs_layout_inode_bitmap(a->layout, group);
}

u64 ffs_inode_table_block(const struct ffs_alloc *a, u32 ino)
{
	return ffs_layout_inode_block(a->layout, ino);
}

int ffs_mark_context(struct ffs_alloc *a, struct ffs_handle *h, u32 group, s64 n)
{
	struct ffs_group *g = &a->group[group];
	int err;

	err = ffs_journal_dirty(h, ffs_bitmap_block(a, group));
	if (!err)
		err = ffs_journal_dirty(h, ffs_descriptor_block(a, group));
	g->flags &= (u8)~FFS_GROUP_BLOCK_UNINIT;
	g->disk_free = (u32)(g->disk_free - n);
	a->flex[group >> a->flex_bits].clusters -= (u64)n;
	return err;
}

/* What a mount sets up from the super block and its options. */
static void mount_init(struct ffs_alloc *a)
{
	const struct foliofs_geometry *g = &a->env->geo;
	u32 stripe_clusters;

	a->stream_req = 16;
	a->min_to_scan = 10;
	a->max_to_scan = 200;
	a->order2_req = 2;
	a->trim_order = 3;
	a->max_linear_groups = 0; /* not a rotational device */
	a->stripe = foliofs_stripe(g);
	a->group_prealloc = max(512u >> a->cluster_bits, 32u);
	stripe_clusters = a->stripe >> a->cluster_bits;
	if (stripe_clusters > 1)
		a->group_prealloc = (u32)(div_up(a->group_prealloc, stripe_clusters) *
					  stripe_clusters);
	a->reserved = ffs_feature(a->env, FOLIOFS_FEATURE_EXTENTS) ?
		min((g->blocks_count >> a->cluster_bits) / 50, (u64)4096) : 0;
	free(a->last_group);
	a->nr_last = 1;
	if (ffs_has(a->env, FOLIOFS_CHANGE_MB_STREAM_GOALS))
		a->nr_last = min(a->cpus, (u32)div_up(a->groups, 4));
	a->last_group = ffs_zalloc(a->nr_last * sizeof(*a->last_group));
}

struct ffs_alloc *ffs_alloc_new(struct ffs_env *env, const struct ffs_alloc_hooks *hooks)
{
	const struct foliofs_geometry *g = &env->geo;
	struct ffs_layout *layout = ffs_layout_new(g);
	struct ffs_alloc *a;
	u32 i;

	if (!layout)
		return NULL;
	a = ffs_zalloc(sizeof(*a));
	a->env = env;
	a->layout = layout;
	if (hooks)
		a->hooks = *hooks;
	a->groups = g->groups;
	a->cpg = g->clusters_per_group;
	a->cluster_bits = (u8)ilog2(max(g->cluster_ratio, 1u));
	a->flex_bits = (u8)ilog2(max(g->flex_bg_size, 1u));
	a->orders = (u8)(env->block_bits + 2);
	a->desc_csum = ffs_feature(env, FOLIOFS_FEATURE_METADATA_CSUM) ||
		       ffs_feature(env, FOLIOFS_FEATURE_GDT_CSUM);
	a->optimize = a->env->geo.mount.mb_optimize_scan ?
			      a->env->geo.mount.mb_optimize_scan > 0 : a->groups >= 16;
	a->cpus = g->cpus ? g->cpus : DEFAULT_CPUS;
	a->pid_colour = 3;
	for (i = 0; i < FFS_LG_LISTS; i++)
		ffs_link_init(&a->lg[i]);
	ffs_sets_init(a);
	ffs_groups_init(a);
	a->nr_flex = ((a->groups - 1) >> a->flex_bits) + 1;
	a->flex = ffs_zalloc(a->nr_flex * sizeof(*a->flex));
	for (i = 0; i < a->groups; i++) {
		if (ffs_layout_block_uninit(layout, i))
			a->group[i].flags |= FFS_GROUP_BLOCK_UNINIT;
		a->flex[i >> a->flex_bits].clusters += a->group[i].disk_free;
		a->free.count += a->group[i].disk_free;
	}
	ffs_ialloc_init(a);
	mount_init(a);
	return a;
}

void ffs_alloc_free(struct ffs_alloc *a)
{
	u32 i;

	if (!a)
		return;
	ffs_pa_forget_all(a);
	ffs_ialloc_free(a);
	ffs_sets_free(a);
	for (i = 0; i < a->groups; i++)
		free(a->group[i].bits);
	free(a->group);
	free(a->last_group);
	free(a->flex);
	free(a->pending);
	ffs_layout_free(a->layout);
	free(a);
}

void ffs_alloc_set_policy(struct ffs_alloc *a, enum ffs_alloc_policy policy)
{
	a->policy = policy;
}

void ffs_alloc_mark(struct ffs_alloc *a, u64 first, u64 end, bool used)
{
	while (first < end) {
		u32 group, at, n;
		struct ffs_group *g;
		u64 stop;

		ffs_block_place(a, first, &group, &at);
		g = ffs_group_bits(a, group);
		stop = min(end, ffs_group_end(&a->env->geo, group));
		n = at + (u32)div_up(stop - ffs_cluster_block(a, group, at), 1u << a->cluster_bits);
		while (at < n) {
			/* only what changes, so that images may overlap what mke2fs uses */
			u32 from = used ? ffs_next_zero(g->bits, n, at) :
					  ffs_next_one(g->bits, n, at);
			u32 to = used ? ffs_next_one(g->bits, n, from) :
					ffs_next_zero(g->bits, n, from);
			s64 delta = (s64)to - from;

			if (from >= n)
				break;
			if (used)
				ffs_group_take(a, group, from, to - from);
			else
				ffs_group_give(a, group, from, to - from);
			delta = used ? delta : -delta;
			g->flags &= (u8)~FFS_GROUP_BLOCK_UNINIT;
			g->disk_free = (u32)(g->disk_free - delta);
			a->flex[group >> a->flex_bits].clusters -= (u64)delta;
			a->free.count -= delta;
			at = to;
		}
		first = stop;
	}
}

void ffs_alloc_remount(struct ffs_alloc *a)
{
	u32 i;

	ffs_alloc_committed(a, UINT32_MAX);
	ffs_pa_forget_all(a);
	for (i = 0; i < a->groups; i++)
		a->group[i].flags &= FFS_GROUP_BLOCK_UNINIT | FFS_GROUP_SEEN;
	a->nr_loaded = 0;
	ffs_sets_clear(a);
	a->free = (struct ffs_counter){ .count = ffs_counter_sum(&a->free) };
	a->dirty = (struct ffs_counter){ .count = ffs_counter_sum(&a->dirty) };
	ffs_ialloc_remount(a);
	mount_init(a);
}

void ffs_alloc_load_all(struct ffs_alloc *a)
{
	u32 i;

	for (i = 0; i < a->groups; i++)
		ffs_group_load(a, i);
}

void ffs_alloc_set_reserved_clusters(struct ffs_alloc *a, u64 clusters)
{
	a->reserved = clusters;
}

int ffs_alloc_tune(struct ffs_alloc *a, const char *name, u64 value)
{
	const struct { const char *name; u32 *value; } tunables[] = {
		{ "mb_stream_req", &a->stream_req },
		{ "mb_group_prealloc", &a->group_prealloc },
		{ "mb_min_to_scan", &a->min_to_scan },
		{ "mb_max_to_scan", &a->max_to_scan },
		{ "mb_order2_req", &a->order2_req },
		{ "mb_max_linear_groups", &a->max_linear_groups },
		{ "mb_best_avail_max_trim_order", &a->trim_order },
		{ "cpus", &a->cpus },
		{ "pid_mod_16", &a->pid_colour },
	};
	u32 i;

	if (!strcmp(name, "reserved_clusters")) {
		a->reserved = value;
		return 0;
	}
	for (i = 0; i < ARRAY_SIZE(tunables); i++) {
		if (strcmp(name, tunables[i].name))
			continue;
		if (value > INT32_MAX || (tunables[i].value == &a->cpus && !value))
			return -EINVAL;
		*tunables[i].value = (u32)value;
		if (tunables[i].value == &a->cpus)
			mount_init(a);
		return 0;
	}
	return -ENOENT;
}

/* ---- space ---- */

u64 ffs_free_clusters(const struct ffs_alloc *a)
{
	return (u64)ffs_counter_sum(&a->free);
}

u64 ffs_delayed_clusters(const struct ffs_alloc *a)
{
	return (u64)ffs_counter_sum(&a->dirty);
}

/*
 * The kernel reads its counters without their per-CPU parts while there is plenty
 * of space, and exactly otherwise: the outcome is that of the exact sums.
 * The caller is root, so the blocks reserved for root do not count.
 */
static bool has_free(const struct ffs_alloc *a, u64 clusters, u32 flags)
{
	u64 need = clusters + ffs_delayed_clusters(a);

	if (ffs_free_clusters(a) >= need + a->reserved)
		return true;
	return (flags & FFS_MB_USE_RESERVED) && ffs_free_clusters(a) >= need;
}

int ffs_claim_delayed(struct ffs_alloc *a, u64 clusters)
{
	if (!has_free(a, clusters, 0))
		return -ENOSPC;
	ffs_counter_add(&a->dirty, (s64)clusters);
	return 0;
}

void ffs_release_delayed(struct ffs_alloc *a, u64 clusters)
{
	ffs_counter_add(&a->dirty, -(s64)clusters);
}

bool ffs_nonda_switch(struct ffs_alloc *a, bool *start_writeback)
{
	u64 free = ffs_counter_read(&a->free), dirty = ffs_counter_read(&a->dirty);

	*start_writeback = dirty && free < 2 * dirty;
	return 2 * free < 3 * dirty || free < dirty + 4ull * FFS_COUNTER_BATCH * a->cpus;
}

u64 ffs_inode_goal(const struct ffs_alloc *a, const struct ffs_inode *inode)
{
	const struct foliofs_geometry *g = &a->env->geo;
	u32 group = (inode->ino - 1) / g->inodes_per_group;
	u64 start, last = g->blocks_count - 1, part;

	if (g->flex_bg_size >= FLEX_DIR_SCHEME) {
		group &= ~(g->flex_bg_size - 1);
		if (ffs_is_reg(inode))
			group++; /* not compared with the number of groups */
	}
	start = ffs_group_first(g, group);
	if (!g->mount.nodelalloc && g->mount.data != FOLIOFS_DATA_JOURNAL)
		return start;
	/* files are spread over the group by process; the product is kept in 32 bits, signed */
	part = start + g->blocks_per_group <= last ? g->blocks_per_group / 16 : (last - start) / 16;
	return start + (u64)(s64)(s32)(a->pid_colour * part);
}

/* ---- requests ---- */

static void change_i_blocks(struct ffs_alloc *a, struct ffs_inode *inode, s64 clusters)
{
	inode->i_blocks += (u64)(clusters * (1 << a->cluster_bits));
	if (a->hooks.i_blocks_changed)
		a->hooks.i_blocks_changed(a->hooks.priv, inode);
}

/*
 * The adversary: one cluster, in a group that was not used before, and the groups
 * taken such that their descriptors are in different blocks as long as possible.
 */
static bool worst(struct ffs_ac *ac)
{
	struct ffs_alloc *a = ac->a;
	u32 stride = min(ffs_descs_per_block(&a->env->geo), a->groups), tries;

	for (tries = 0; tries < 2 * (a->groups + stride); tries++) {
		u32 group = a->worst_group;
		u32 at;

		a->worst_group += stride;
		if (a->worst_group >= a->groups) {
			a->worst_start = (a->worst_start + 1) % stride;
			a->worst_group = a->worst_start;
		}
		if (!a->group[group].free)
			continue;
		ffs_group_load(a, group);
		at = ffs_next_zero(ffs_group_bits(a, group)->bits, a->cpg,
				   a->group[group].first_free);
		ffs_group_take(a, group, at, 1);
		ac->b = (struct ffs_extent){ ac->o.lblk, group, at, 1 };
		return true;
	}
	return false;
}

/* Find @ac->o.len clusters or fewer: ac->b is taken in the group's bitmap. */
static bool find(struct ffs_ac *ac)
{
	if (ac->a->policy == FFS_ALLOC_WORST)
		return worst(ac);
	ffs_ac_classify(ac);
	if (ffs_pa_use(ac))
		return true;
	ffs_normalize(ac);
	do {
		ffs_search(ac);
		if (ac->status == FFS_AC_FOUND)
			return true;
	} while (ffs_pa_discard_any(ac->a, ac->o.len));
	return false;
}

static u64 allocate(struct ffs_alloc *a, struct ffs_handle *h, struct ffs_alloc_request *ar,
		    int *err)
{
	const struct foliofs_geometry *g = &a->env->geo;
	struct ffs_ac ac = { .a = a, .inode = ar->inode, .ar = ar, .flags = ar->flags };
	u64 goal = ar->goal, blk = 0;

	if (goal < g->first_data_block || goal >= g->blocks_count)
		goal = g->first_data_block;
	ffs_block_place(a, goal, &ac.o.group, &ac.o.start);
	ac.o.lblk = ar->lblk & ~((1u << a->cluster_bits) - 1);
	ac.o.len = min(ar->len, a->cpg);
	ac.g = ac.o;
	ac.goal_len = ac.o.len;
	if (!find(&ac)) {
		*err = -ENOSPC;
		ar->len = 0;
		return 0;
	}
	*err = ffs_mark_context(a, h, ac.b.group, ac.b.len);
	if (*err) {
		a->group[ac.b.group].disk_free += ac.b.len;
		a->flex[ac.b.group >> a->flex_bits].clusters += ac.b.len;
		ffs_pa_undo(&ac);
		ar->len = 0;
	} else {
		ffs_counter_add(&a->free, -(s64)ac.b.len);
		ar->len = ac.b.len;
		blk = ffs_cluster_block(a, ac.b.group, ac.b.start);
	}
	ffs_pa_done(&ac);
	return blk;
}

static u64 new_blocks(struct ffs_alloc *a, struct ffs_handle *h, struct ffs_alloc_request *ar,
		      int *err)
{
	struct ffs_inode *inode = ar->inode;
	u32 claimed = 0;
	u64 blk;

	*err = 0;
	ffs_emit(a->env, ext4_request_blocks, inode->ino, ar->flags, ar->len, ar->lblk, ar->goal,
		 ar->lleft, ar->lright, ar->pleft, ar->pright);
	if (ffs_fails(a->env, ENOSPC)) {
		ar->len = 0;
		*err = -ENOSPC;
		return 0;
	}
	if (!(ar->flags & FFS_MB_DELALLOC)) {
		while (ar->len && !has_free(a, ar->len, ar->flags))
			ar->len /= 2;
		if (!ar->len) {
			*err = -ENOSPC;
			return 0;
		}
		claimed = ar->len;
		ffs_counter_add(&a->dirty, claimed);
		change_i_blocks(a, inode, claimed);
	}
	blk = allocate(a, h, ar, err);
	if (claimed) {
		if (ar->len < claimed)
			change_i_blocks(a, inode, (s64)ar->len - claimed);
		ffs_counter_add(&a->dirty, -(s64)claimed);
	}
	ffs_emit(a->env, ext4_allocate_blocks, inode->ino, ar->flags, ar->len, blk, ar->lblk,
		 ar->goal, ar->lleft, ar->lright, ar->pleft, ar->pright);
	return blk;
}

u64 ffs_alloc_blocks(struct ffs_alloc *a, struct ffs_handle *h, struct ffs_alloc_request *ar,
		     int *err)
{
	return new_blocks(a, h, ar, err);
}

u64 ffs_alloc_meta_block(struct ffs_alloc *a, struct ffs_handle *h, struct ffs_inode *inode,
			 u64 goal, u32 flags, int *err)
{
	struct ffs_alloc_request ar = { .inode = inode, .flags = flags, .len = 1, .goal = goal };
	u64 blk = new_blocks(a, h, &ar, err);

	/* under writeback of delayed blocks nobody has charged the quota for it */
	if (!*err && (flags & FFS_MB_DELALLOC))
		change_i_blocks(a, inode, 1);
	return blk;
}
