// SPDX-License-Identifier: MIT
/*
 * Counting reservations in the status tree, and the pending reservations of
 * bigalloc: count_rsvd, get_rsvd, __revise_pending, __es_delayed_clu.
 *
 * A delayed block reserves its cluster.  A cluster that is allocated already and
 * also holds delayed blocks is "pending": it costs nothing now, and becomes a
 * reservation if the allocated part goes.
 */
#include "blockmap/es.h"

static u32 cluster_ratio(const struct ffs_blockmap *bm)
{
	return bm->env->geo.cluster_ratio ? bm->env->geo.cluster_ratio : 1;
}

void ffs_es_set_pending(struct ffs_inode *inode, u64 lclu)
{
	/* the value keeps neighbouring clusters apart */
	ffs_runs_set(&inode->es->pending, lclu, lclu + 1, 0, lclu);
}

static bool is_pending(const struct ffs_inode *inode, u64 lclu)
{
	return ffs_runs_find(&inode->es->pending, lclu) != NULL;
}

bool ffs_es_is_pending(const struct ffs_blockmap *bm, const struct ffs_inode *inode, u32 lblk)
{
	return is_pending(inode, lblk / cluster_ratio(bm));
}

void ffs_es_remove_pending(const struct ffs_blockmap *bm, struct ffs_inode *inode, u32 lblk)
{
	u64 lclu = lblk / cluster_ratio(bm);

	ffs_runs_clear(&inode->es->pending, lclu, lclu + 1);
}

/* Only delayed, not (as before rsv-in-status-tree) unwritten and delayed. */
static bool delayed_only(const struct ffs_run *r)
{
	return r->b == FFS_ES_DELAYED;
}

static bool any_delayed(const struct ffs_inode *inode, u64 first, u64 end)
{
	const struct ffs_run *r;
	struct ffs_runs_pos pos;

	ffs_runs_for_each(&inode->es->runs, r, pos, first, end)
		if (delayed_only(r))
			return true;
	return false;
}

/* Clusters with delayed blocks in [first, end), the first and last of these blocks. */
static u32 count_clusters(const struct ffs_blockmap *bm, const struct ffs_inode *inode, u64 first,
			  u64 end, u64 *lo, u64 *hi)
{
	u32 ratio = cluster_ratio(bm), n = 0;
	u64 counted = 0; /* one more than the last cluster counted */
	const struct ffs_run *r;
	struct ffs_runs_pos pos;

	ffs_runs_for_each(&inode->es->runs, r, pos, first, end) {
		u64 a = max(r->first, first), b = min(r->end, end) - 1;
		u64 c = max(a / ratio, counted);

		if (!delayed_only(r))
			continue;
		if (!n)
			*lo = a;
		*hi = b;
		if (b / ratio >= c)
			n += (u32)(b / ratio - c + 1);
		counted = b / ratio + 1;
	}
	return n;
}

u32 ffs_es_delayed_clusters(const struct ffs_blockmap *bm, const struct ffs_inode *inode, u32 lblk,
			    u32 len)
{
	u64 lo, hi;

	return count_clusters(bm, inode, lblk, (u64)lblk + len, &lo, &hi);
}

u32 ffs_es_count_removed(const struct ffs_blockmap *bm, struct ffs_inode *inode, u64 first,
			 u64 end)
{
	u32 ratio = cluster_ratio(bm), n;
	u64 lo = 0, hi = 0, c1, c2;
	bool left, right = false;

	n = count_clusters(bm, inode, first, end, &lo, &hi);
	if (ratio == 1 || !n)
		return n;
	c1 = lo / ratio;
	c2 = hi / ratio;
	/* clusters at the ends that keep delayed blocks outside stay reserved */
	left = c1 * ratio < first && any_delayed(inode, c1 * ratio, first);
	if (!left || c1 != c2)
		right = (c2 + 1) * ratio > end && any_delayed(inode, end, (c2 + 1) * ratio);
	n -= left + right;
	if (c1 == c2 && (left || right))
		return n;
	for (c1 += left, c2 -= right; c1 <= c2;) {
		struct ffs_runs_pos pos;
		const struct ffs_run *r = ffs_runs_at(&inode->es->pending, c1, &pos);

		if (!r || r->first > c2)
			break;
		c1 = r->end;
		n--;
		ffs_runs_clear(&inode->es->pending, r->first, r->end);
	}
	return n;
}

static u32 update_pending(struct ffs_inode *inode, u64 lclu, bool delayed)
{
	u32 added = delayed && !is_pending(inode, lclu);

	if (delayed)
		ffs_es_set_pending(inode, lclu);
	else
		ffs_runs_clear(&inode->es->pending, lclu, lclu + 1);
	return added;
}

u32 ffs_es_revise_pending(const struct ffs_blockmap *bm, struct ffs_inode *inode, u32 lblk,
			  u32 len)
{
	u32 ratio = cluster_ratio(bm);
	u64 end = (u64)lblk + len, c1 = lblk / ratio, c2 = (end - 1) / ratio;
	bool left, right;

	if (ratio == 1)
		return 0;
	left = any_delayed(inode, c1 * ratio, lblk);
	right = any_delayed(inode, end, (c2 + 1) * ratio);
	if (c1 == c2)
		return update_pending(inode, c1, left || right);
	return update_pending(inode, c1, left) + update_pending(inode, c2, right);
}
