// SPDX-License-Identifier: MIT
/*
 * Search for free space: groups in the order of the criteria, runs inside a group.
 *
 * Stands for ext4_mb_regular_allocator and what it calls.  The criteria:
 *   POWER2      length is a power of two: a chunk of at least its order
 *   FAST        group whose average run is long enough
 *   BEST_AVAIL  the same with shorter and shorter lengths (v6.5)
 *   SLOW        group with enough free clusters, in whatever pieces
 *   ANY         any group with free clusters
 *
 * SIMPLIFIED: reading a bitmap never fails, no group is busy.
 */
#include "internal.h"

#define FLEX_DIR_SCHEME 4

static bool has(const struct ffs_ac *ac, enum foliofs_change c)
{
	return ffs_has(ac->a->env, c);
}

/* Take the best candidate, not more than was wanted of it (ext4_mb_use_best_found). */
static void use_best(struct ffs_ac *ac)
{
	struct ffs_alloc *a = ac->a;

	ac->b.len = min(ac->b.len, ac->g.len);
	ac->b.lblk = ac->g.lblk;
	ffs_group_take(a, ac->b.group, ac->b.start, ac->b.len);
	ac->status = FFS_AC_FOUND;
	if (ac->flags & FFS_MB_STREAM)
		a->last_group[ac->inode->ino % a->nr_last] = ac->b.group;
	if (ac->o.len < ac->b.len)
		ffs_pa_new(ac);
}

static void check_limits(struct ffs_ac *ac, bool end_of_group)
{
	if (ac->status == FFS_AC_FOUND)
		return;
	if (ac->found > ac->a->max_to_scan) {
		ac->status = FFS_AC_BREAK;
		return;
	}
	if (ac->b.len < ac->g.len)
		return;
	if (end_of_group || ac->found > ac->a->min_to_scan)
		use_best(ac);
}

/* One more candidate: exact ones are taken, else the smallest that is enough, else the largest. */
static void measure(struct ffs_ac *ac, struct ffs_extent ex)
{
	ac->found++;
	if (ex.len == ac->g.len) {
		ac->b = ex;
		use_best(ac);
		return;
	}
	if (!ac->b.len) {
		ac->b = ex;
		return; /* the limits are not looked at after the first */
	}
	if (ac->b.len < ac->g.len) {
		if (ex.len > ac->b.len)
			ac->b = ex;
	} else if (ex.len > ac->g.len && ex.len < ac->b.len) {
		ac->b = ex;
	}
	check_limits(ac, false);
}

static void scan_runs(struct ffs_ac *ac, u32 group)
{
	struct ffs_alloc *a = ac->a;
	struct ffs_group *g = ffs_group_bits(a, group);
	bool skip_short = ac->criterion < FFS_CR_SLOW && has(ac, FOLIOFS_CHANGE_MB_BEST_AVAIL);
	u32 i = g->first_free, free = g->free;

	while (free && ac->status == FFS_AC_CONTINUE) {
		u32 len;

		i = ffs_next_zero(g->bits, a->cpg, i);
		if (skip_short) {
			len = ffs_next_one(g->bits, min(i + ac->g.len, a->cpg), i) - i;
			if (len < ac->g.len) {
				i += len;
				free -= len;
				continue;
			}
		}
		len = ffs_group_measure(a, g, i, ac->g.len);
		measure(ac, (struct ffs_extent){ 0, group, i, len });
		i += len;
		free -= len;
	}
	check_limits(ac, true);
}

/* Lowest chunk of the smallest order that is enough. */
static void scan_chunks(struct ffs_ac *ac, u32 group)
{
	struct ffs_alloc *a = ac->a;
	struct ffs_group *g = ffs_group_bits(a, group);
	u32 o;

	for (o = ac->order2; o < a->orders; o++) {
		u32 k;

		if (!g->chunks[o])
			continue;
		k = ffs_next_one(ffs_chunk_bits(a, g, o), (a->cpg >> o) + 1, 0);
		ac->found++;
		ac->b = (struct ffs_extent){ 0, group, k << o, 1u << o };
		use_best(ac);
		return;
	}
}

/* Requests of whole stripes: at a multiple of the stripe. */
static void scan_aligned(struct ffs_ac *ac, u32 group)
{
	struct ffs_alloc *a = ac->a;
	struct ffs_group *g = ffs_group_bits(a, group);
	u64 first = ffs_cluster_block(a, group, 0);
	u32 stripe = a->stripe >> a->cluster_bits;
	u32 i = (u32)(div_up(first, a->stripe) * a->stripe - first) >> a->cluster_bits;

	for (; i < a->cpg; i += stripe) {
		u32 len = ffs_group_measure(a, g, i, stripe);

		if (len < stripe)
			continue;
		ac->found++;
		ac->b = (struct ffs_extent){ 0, group, i, len };
		use_best(ac);
		return;
	}
}

/* The group may satisfy the request by its counts (they are right only if it is loaded). */
static bool good_group(const struct ffs_ac *ac, u32 group)
{
	const struct ffs_alloc *a = ac->a;
	const struct ffs_group *g = &a->group[group];
	u32 flex = 1u << a->flex_bits;

	if (!g->free || !(g->flags & FFS_GROUP_LOADED))
		return false;
	switch (ac->criterion) {
	case FFS_CR_POWER2:
		if ((ac->flags & FFS_MB_DATA) && flex >= FLEX_DIR_SCHEME && group % flex == 0)
			return false;
		if (g->free < ac->g.len)
			return false;
		for (u32 o = ac->order2; o < a->orders; o++)
			if (g->chunks[o])
				return true;
		return false;
	case FFS_CR_FAST:
	case FFS_CR_BEST_AVAIL:
		return g->free / g->fragments >= ac->g.len;
	case FFS_CR_SLOW:
		return g->free >= ac->g.len;
	default:
		return true;
	}
}

/* Before that: what can be said without the bitmap, and whether it is worth reading it. */
static bool visit(struct ffs_ac *ac, u32 group)
{
	struct ffs_alloc *a = ac->a;
	const struct ffs_group *g = &a->group[group];

	if (!g->free || (ac->criterion < FFS_CR_ANY && g->free < ac->g.len))
		return false;
	if (!(g->flags & FFS_GROUP_LOADED)) {
		/*
		 * The strict criteria only look at what is in memory, but for the first
		 * group of a flex group, where metadata should go, and for bitmaps that
		 * need no reading.
		 */
		if (ac->criterion < FFS_CR_SLOW &&
		    (!a->flex_bits || group & ((1u << a->flex_bits) - 1)) &&
		    !(a->desc_csum && (g->flags & FFS_GROUP_BLOCK_UNINIT)))
			return false;
		ffs_group_load(a, group);
	}
	return good_group(ac, group);
}

/* Groups that a read-ahead at @group covers. */
static u32 prefetch_count(const struct ffs_alloc *a, u32 group)
{
	u32 flex = 1u << a->flex_bits;
	u32 most = ffs_feature(a->env, FOLIOFS_FEATURE_FLEX_BG) ?
		8 * min(flex, 65536u >> (a->env->block_bits - 9)) : 32;

	most = min(most, a->groups);
	return ffs_feature(a->env, FOLIOFS_FEATURE_FLEX_BG) ?
		min(flex - (group & (flex - 1)), most) : most;
}

static u32 prefetch_limit(const struct ffs_alloc *a)
{
	u32 flex = 1u << a->flex_bits;
	u32 most = ffs_feature(a->env, FOLIOFS_FEATURE_FLEX_BG) ?
		8 * min(flex, 65536u >> (a->env->block_bits - 9)) : 32;

	return min(4 * min(most, a->groups), a->groups);
}

/* The descriptor @desc says that reading the bitmap is of use. */
static bool prefetch_wants(const struct ffs_ac *ac, u32 desc)
{
	const struct ffs_alloc *a = ac->a;
	const struct ffs_group *g = &a->group[desc];

	/* a bitmap that is not on disk: included since v6.5 */
	return g->disk_free && (has(ac, FOLIOFS_CHANGE_MB_BEST_AVAIL) || !a->desc_csum ||
				!(g->flags & FFS_GROUP_BLOCK_UNINIT));
}

/* At the group where the last read-ahead ended: the next batch (ext4_mb_might_prefetch). */
static void might_prefetch(struct ffs_ac *ac, u32 group)
{
	struct ffs_alloc *a = ac->a;
	u32 before = ac->prefetch_ios, i;

	if (ac->prefetch_group != group || a->nr_loaded == a->groups)
		return;
	if (ac->criterion < FFS_CR_SLOW && ac->prefetch_ios >= prefetch_limit(a))
		return;
	ac->prefetch_nr = prefetch_count(a, group);
	for (i = 0; i < ac->prefetch_nr; i++) {
		struct ffs_group *g = &a->group[group];

		if (!(g->flags & (FFS_GROUP_READ | FFS_GROUP_LOADED)) &&
		    prefetch_wants(ac, group) &&
		    !(a->desc_csum && (g->flags & FFS_GROUP_BLOCK_UNINIT)))
			ac->prefetch_ios++;
		g->flags |= FFS_GROUP_READ;
		group = group + 1 < a->groups ? group + 1 : 0;
	}
	ac->prefetch_group = group;
	/* before v6.5 a batch that started no I/O was not finished either */
	if (!has(ac, FOLIOFS_CHANGE_MB_BEST_AVAIL) && ac->prefetch_ios == before)
		ac->prefetch_nr = 0;
}

/* End of the search: the groups read ahead last become usable. */
static void prefetch_finish(struct ffs_ac *ac)
{
	struct ffs_alloc *a = ac->a;
	u32 group = ac->prefetch_group;

	for (; ac->prefetch_nr; ac->prefetch_nr--) {
		u32 desc = group;

		group = (group ? group : a->groups) - 1;
		/* before v6.5 it was the descriptor of the group behind that was asked */
		if (has(ac, FOLIOFS_CHANGE_MB_BEST_AVAIL))
			desc = group;
		if (prefetch_wants(ac, desc))
			ffs_group_load(a, group);
	}
}

static void scan_group(struct ffs_ac *ac, u32 group)
{
	struct ffs_alloc *a = ac->a;
	u32 stripe = a->stripe >> a->cluster_bits;

	might_prefetch(ac, group);
	if (!visit(ac, group))
		return;
	if (ac->criterion == FFS_CR_POWER2) {
		scan_chunks(ac, group);
		return;
	}
	if (ac->criterion < FFS_CR_SLOW && stripe && ac->g.len % stripe == 0) {
		scan_aligned(ac, group);
		if (!has(ac, FOLIOFS_CHANGE_MB_BEST_AVAIL))
			return;
	}
	if (ac->status == FFS_AC_CONTINUE)
		scan_runs(ac, group);
}

static u32 group_limit(const struct ffs_ac *ac)
{
	const struct ffs_alloc *a = ac->a;
	u64 limit;

	if (ac->inode->flags & FFS_INODE_EXTENTS)
		return a->groups;
	/* block maps hold 32-bit numbers */
	limit = ((1ull << 32) - a->env->geo.first_data_block) / a->env->geo.blocks_per_group;
	return (u32)min(limit, (u64)a->groups);
}

/* Groups one after the other, from @start and around; returns where it stopped. */
static u32 linear(struct ffs_ac *ac, u32 start, u32 count)
{
	u32 n = group_limit(ac), i;

	for (i = 0; i < count && ac->status == FFS_AC_CONTINUE; i++) {
		scan_group(ac, start);
		start = start + 1 >= n ? 0 : start + 1;
	}
	return start;
}

/* Visit the members of one set in [from, to), or the whole queue. */
static void walk_set(struct ffs_ac *ac, const struct ffs_sets *s, u32 order, u32 from, u32 to)
{
	struct ffs_alloc *a = ac->a;
	u32 group;

	if (!s->next) {
		for (group = ffs_set_at(a, s, order, from, to);
		     group < to && ac->status == FFS_AC_CONTINUE;
		     group = ffs_set_at(a, s, order, group + 1, to))
			scan_group(ac, group);
		return;
	}
	for (group = ffs_set_next(a, s, order, a->groups); group < a->groups;
	     group = ffs_set_next(a, s, order, group)) {
		if (!good_group(ac, group))
			continue;
		scan_group(ac, group);
		if (ac->status != FFS_AC_CONTINUE)
			return;
	}
}

/* Shorter and shorter lengths; @want: the one that was not found. */
static void walk_best_avail(struct ffs_ac *ac, u32 want, u32 from, u32 to)
{
	int order = (int)ilog2(want);
	int least = order - (int)ac->a->trim_order, i;
	u32 stripe = ac->a->stripe >> ac->a->cluster_bits;

	least = max(least, 0);
	if (stripe && 1u << least < stripe)
		least = (int)ilog2(stripe);
	if (1u << least < ac->o.len)
		least = (int)ilog2(ac->o.len) + 1;
	for (i = order; i >= least && ac->status == FFS_AC_CONTINUE; i--) {
		ac->g.len = 1u << i;
		if (stripe)
			ac->g.len = (u32)(div_up(ac->g.len, stripe) * stripe);
		walk_set(ac, &ac->a->avg, ffs_avg_order(ac->a, ac->g.len), from, to);
	}
}

/* All sets of the criterion for the groups [from, to). */
static void walk_sets(struct ffs_ac *ac, u32 want, u32 from, u32 to)
{
	struct ffs_alloc *a = ac->a;
	u32 o;

	switch (ac->criterion) {
	case FFS_CR_POWER2:
		for (o = ac->order2; o < a->orders && ac->status == FFS_AC_CONTINUE; o++)
			walk_set(ac, &a->largest, o, from, to);
		break;
	case FFS_CR_FAST:
		for (o = ffs_avg_order(a, ac->g.len);
		     o < a->orders && ac->status == FFS_AC_CONTINUE; o++)
			walk_set(ac, &a->avg, o, from, to);
		break;
	default:
		walk_best_avail(ac, want, from, to);
	}
}

static bool optimize(const struct ffs_ac *ac)
{
	return ac->a->optimize && ac->criterion < FFS_CR_SLOW &&
	       ((ac->inode->flags & FFS_INODE_EXTENTS) || has(ac, FOLIOFS_CHANGE_MB_SETS_ANY_INODE));
}

/* One criterion, then the next one is set. */
static void run_criterion(struct ffs_ac *ac)
{
	struct ffs_alloc *a = ac->a;
	u32 n = group_limit(ac), start = ac->g.group < n ? ac->g.group : 0;

	ac->prefetch_group = start;
	if (has(ac, FOLIOFS_CHANGE_MB_BEST_AVAIL))
		ac->prefetch_nr = 0; /* before, a batch of an earlier criterion was finished too */
	if (!optimize(ac)) {
		linear(ac, start, n);
		if (ac->status == FFS_AC_CONTINUE)
			ac->criterion++;
	} else {
		u32 first = min(a->max_linear_groups, n), want = ac->g.len;

		/* kernels with queues begin each criterion with the goal's group */
		if (a->largest.next)
			first = max(first, 1u);
		start = linear(ac, start, first);
		if (ac->status == FFS_AC_CONTINUE)
			walk_sets(ac, want, a->largest.next ? 0 : start, n);
		if (ac->status == FFS_AC_CONTINUE && start && !a->largest.next)
			walk_sets(ac, want, 0, start);
		if (ac->status != FFS_AC_CONTINUE)
			return;
		if (ac->criterion == FFS_CR_BEST_AVAIL)
			ac->g.len = ac->goal_len;
		if (ac->criterion == FFS_CR_FAST && !(ac->flags & FFS_MB_DATA))
			ac->criterion = FFS_CR_SLOW;
		else
			ac->criterion++;
	}
	if (ac->criterion == FFS_CR_BEST_AVAIL && !has(ac, FOLIOFS_CHANGE_MB_BEST_AVAIL))
		ac->criterion = FFS_CR_SLOW;
}

/* Exactly at the goal, if the request asks to try that (ext4_mb_find_by_goal). */
static void by_goal(struct ffs_ac *ac)
{
	struct ffs_alloc *a = ac->a;
	u32 group = ac->g.group, stripe = a->stripe >> a->cluster_bits, len;

	if (!(ac->flags & FFS_MB_TRY_GOAL) || !a->group[group].free)
		return;
	ffs_group_load(a, group);
	len = ffs_group_measure(a, ffs_group_bits(a, group), ac->g.start, ac->g.len);
	if (len >= ac->g.len && stripe && ac->g.len == stripe) {
		if (ffs_cluster_block(a, group, ac->g.start) % a->stripe)
			return;
	} else if (len < ac->g.len && !(len && (ac->flags & FFS_MB_MERGE))) {
		return;
	}
	ac->found++;
	ac->b = (struct ffs_extent){ 0, group, ac->g.start, len };
	use_best(ac);
}

/* Sets status FOUND and ac->b (taken in the bitmap), or leaves CONTINUE. */
void ffs_search(struct ffs_ac *ac)
{
	struct ffs_alloc *a = ac->a;
	u32 bits;

	ac->status = FFS_AC_CONTINUE;
	by_goal(ac);
	if (ac->status == FFS_AC_FOUND)
		return;
	bits = ilog2(ac->g.len) + 1;
	ac->order2 = 0;
	if (bits >= a->order2_req && bits <= a->orders && is_pow2(ac->g.len))
		ac->order2 = (u8)(bits - 1);
	if (ac->flags & FFS_MB_STREAM) {
		ac->g.group = a->last_group[ac->inode->ino % a->nr_last];
		if (ffs_has(a->env, FOLIOFS_CHANGE_MB_STREAM_GOALS))
			ac->flags &= ~FFS_MB_TRY_GOAL;
	}
	ac->criterion = ac->order2 ? FFS_CR_POWER2 : FFS_CR_FAST;
	ac->prefetch_ios = ac->prefetch_nr = 0;
	while (ac->criterion < FFS_CR_END && ac->status == FFS_AC_CONTINUE)
		run_criterion(ac);
	if (ac->b.len && ac->status != FFS_AC_FOUND) {
		/* long enough searched: the best one seen, measured again */
		ac->b.len = ffs_group_measure(a, ffs_group_bits(a, ac->b.group), ac->b.start,
					      ac->b.len);
		use_best(ac);
	}
	prefetch_finish(ac);
}
