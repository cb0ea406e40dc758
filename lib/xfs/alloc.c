// SPDX-License-Identifier: MIT
/*
 * Free space: xfs_alloc_vextent_near_bno, xfs_bmap_adjacent, xfs_refcount_* of v6.18, as
 * far as they decide how a file's extents lie to each other.
 *
 * SIMPLIFIED: of the free pieces that are large enough the nearest is taken, whatever
 * the shape of the trees by block and by size.
 */
#include "xfs.h"

static u32 group_of(const struct ffs_xfs *x, u64 blk)
{
	return min((u32)(blk / x->ag_blocks), x->ag_count - 1);
}

static u64 longest(const struct ffs_xfs *x, u32 ag)
{
	u64 first = (u64)ag * x->ag_blocks, best = 0;
	struct ffs_runs_pos at;
	const struct ffs_run *r;

	ffs_runs_for_each(&x->free, r, at, first, first + x->ag_blocks)
		best = max(best, r->end - r->first);
	return best;
}

/*
 * Where in free blocks [first, end) @want blocks of data would begin
 * (xfs_alloc_compute_diff).  A piece that ends before @target is taken from its start: the
 * file may grow into the rest.
 */
static u64 place(u64 first, u64 end, u64 target, u64 want)
{
	return first < target && end >= target + want ? target : first;
}

/* The nearest @want blocks of group @ag, *blk; false: none.  *busy: some cannot be used yet. */
static bool near(struct ffs_xfs *x, u32 ag, u64 target, u64 want, u64 *blk, bool *busy)
{
	u64 start = (u64)ag * x->ag_blocks, best = ~0ull;
	struct ffs_runs_pos at;
	const struct ffs_run *r;

	ffs_runs_for_each(&x->free, r, at, start, start + x->ag_blocks) {
		u64 first = r->first, end = r->end, b, distance;

		if (end - first < want)
			continue;
		if (!ffs_xfs_busy_trim(x, want, &first, &end)) {
			*busy = true;
			continue;
		}
		b = place(first, end, target, want);
		distance = b > target ? b - target : target - b;
		if (distance >= best)
			continue;
		best = distance;
		*blk = b;
	}
	return best != ~0ull;
}

u64 ffs_xfs_alloc(struct ffs_super *sb, u64 target, u64 want, u64 *got)
{
	struct ffs_xfs *x = ffs_xfs(sb);
	u32 first = group_of(x, target), i;
	u64 best = 0, blk = 0;

	for (i = 0; i < x->ag_count; i++)
		best = max(best, longest(x, i));
	if (!best)
		return 0;
	want = min(want, best);
	for (i = 0; i < x->ag_count; i++) {
		u32 ag = (first + i) % x->ag_count;
		u64 goal = i ? (u64)ag * x->ag_blocks : target;
		bool busy = false;

		if (near(x, ag, goal, want, &blk, &busy))
			break;
		if (!busy)
			continue;
		/* All that would do was freed a moment ago: once that is durable it can be had. */
		ffs_xfs_log_force(sb);
		if (near(x, ag, goal, want, &blk, &busy))
			break;
	}
	ffs_runs_clear(&x->free, blk, blk + want);
	*got = want;
	return blk;
}

static void give_back(struct ffs_super *sb, u64 blk, u64 end)
{
	struct ffs_xfs *x = ffs_xfs(sb);

	ffs_runs_set(&x->free, blk, end, 0, group_of(x, blk) + 1u);
	ffs_xfs_busy_add(x, blk, end);
	x->nr_free += end - blk;
}

void ffs_xfs_free(struct ffs_super *sb, u64 blk, u64 len)
{
	struct ffs_xfs *x = ffs_xfs(sb);
	u64 end = blk + len;

	while (blk < end) {
		struct ffs_runs_pos at;
		const struct ffs_run *r = ffs_runs_at(&x->refs, blk, &at);
		struct ffs_run cut;

		if (!r || r->first >= end) {
			give_back(sb, blk, end);
			return;
		}
		cut = *r;
		if (cut.first > blk)
			give_back(sb, blk, cut.first);
		blk = max(cut.first, blk);
		cut.end = min(cut.end, end);
		if (cut.b > 2)
			ffs_runs_set(&x->refs, blk, cut.end, 0, cut.b - 1);
		else
			ffs_runs_clear(&x->refs, blk, cut.end);
		blk = cut.end;
	}
}

void ffs_xfs_share(struct ffs_super *sb, u64 blk, u64 len)
{
	struct ffs_xfs *x = ffs_xfs(sb);
	u64 end = blk + len;

	while (blk < end) {
		struct ffs_runs_pos at;
		const struct ffs_run *r = ffs_runs_at(&x->refs, blk, &at);
		u64 stop = r ? min(end, r->first > blk ? r->first : r->end) : end;
		u64 users = r && r->first <= blk ? r->b : 1;

		ffs_runs_set(&x->refs, blk, stop, 0, users + 1);
		blk = stop;
	}
}

bool ffs_xfs_find_shared(const struct ffs_super *sb, u64 blk, u64 len, u64 *at, u64 *n)
{
	const struct ffs_xfs *x = ffs_xfs(sb);
	struct ffs_runs_pos pos;
	const struct ffs_run *r = ffs_runs_at(&x->refs, blk, &pos);
	u64 end = blk + len, stop;

	if (!r || r->first >= end)
		return false;
	*at = max(r->first, blk);
	stop = r->end;
	while ((r = ffs_runs_next(&x->refs, &pos)) && r->first == stop)
		stop = r->end;
	*n = min(stop, end) - *at;
	return true;
}

#define GAP_UNITS 4u /* a gap of up to so many times the length is kept free on the device too */

u64 ffs_xfs_target(const struct ffs_super *sb, const struct ffs_inode *inode,
		   enum ffs_xfs_fork fork, u64 off, u64 len)
{
	const struct ffs_xfs *x = ffs_xfs(sb);
	u64 own = ((u64)inode->ino * sb->env.geo.inode_size) >> sb->env.block_bits;
	u64 before = 0, before_gap = ~0ull, behind = 0, behind_gap = ~0ull, gap;
	struct ffs_xrec prev, next;
	bool eof = !ffs_xfs_lookup(inode, fork, off, &next);

	if (ffs_xfs_prev(inode, fork, off, &prev) && prev.state != FFS_XFS_DELAYED) {
		before = prev.blk + prev.len;
		before_gap = gap = off - ffs_xrec_end(&prev);
		if ((eof || gap <= GAP_UNITS * len) &&
		    group_of(x, before + gap) == group_of(x, prev.blk))
			before += gap;
	}
	/* A delayed extent that is being allocated is itself what comes next. */
	if (!eof && next.state != FFS_XFS_DELAYED) {
		behind = next.blk;
		behind_gap = gap = next.off - off;
		if (gap <= GAP_UNITS * len && behind > gap &&
		    group_of(x, behind - gap) == group_of(x, behind))
			behind -= gap;
		else if (behind > len)
			behind -= len;
	}
	if (before_gap == ~0ull && behind_gap == ~0ull)
		return own;
	return before_gap <= behind_gap ? before : behind;
}

u64 ffs_xfs_indirect(const struct ffs_super *sb, u64 len)
{
	u64 per = (ffs_block_size(&sb->env) - 72) / 16, total = 0;
	u32 levels = ffs_xfs(sb)->levels, level;

	for (level = 0; level < levels; level++) {
		len = div_up(len, per);
		total += len;
		if (len == 1)
			return total + levels - level - 1;
	}
	return total;
}

bool ffs_xfs_promise(struct ffs_super *sb, u64 blocks)
{
	struct ffs_xfs *x = ffs_xfs(sb);

	if (x->nr_free < blocks + x->reserved_blocks)
		return false;
	x->nr_free -= blocks;
	return true;
}

void ffs_xfs_unpromise(struct ffs_super *sb, u64 blocks)
{
	ffs_xfs(sb)->nr_free += blocks;
}
