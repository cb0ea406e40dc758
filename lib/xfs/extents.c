// SPDX-License-Identifier: MIT
/*
 * The extent lists of an inode: xfs_iext_*, xfs_bunmapi, xfs_bmap_punch_delalloc_range,
 * xfs_bmapi_convert_delalloc, xfs_bmap_add_extent_unwritten_real (v6.18).
 */
#include "xfs.h"

static void to_rec(const struct ffs_run *r, struct ffs_xrec *x)
{
	*x = (struct ffs_xrec){
		.off = r->first, .len = r->end - r->first, .state = (enum ffs_xfs_state)r->b,
		.blk = r->b == FFS_XFS_DELAYED ? 0 : r->first + r->a,
	};
}

bool ffs_xfs_lookup(const struct ffs_inode *inode, enum ffs_xfs_fork fork, u64 off,
		    struct ffs_xrec *x)
{
	struct ffs_runs_pos at;
	const struct ffs_run *r = ffs_runs_at(&ffs_xfs_inode(inode)->fork[fork], off, &at);

	if (r)
		to_rec(r, x);
	return r;
}

bool ffs_xfs_prev(const struct ffs_inode *inode, enum ffs_xfs_fork fork, u64 off,
		  struct ffs_xrec *x)
{
	const struct ffs_runs *m = &ffs_xfs_inode(inode)->fork[fork];
	const struct ffs_run *r = NULL;
	struct ffs_runs_pos at;

	if (ffs_runs_at(m, off, &at)) {
		r = ffs_runs_prev(m, &at);
	} else if (m->nr_chunks) {
		const struct ffs_runs_chunk *last = m->chunk[m->nr_chunks - 1];

		r = &last->run[last->n - 1];
	}
	if (r)
		to_rec(r, x);
	return r;
}

#define INLINE_EXTENTS 12u /* that fit into an inode of 512 bytes */
#define TREE_HEADER 72u /* bytes of a tree block that hold no extents */

/* Blocks of the extent tree: leaves alone, and all full. SIMPLIFIED: no levels above, no splits. */
static void count_tree(struct ffs_inode *inode)
{
	struct ffs_xfs_inode *i = ffs_xfs_inode(inode);
	const struct ffs_runs *m = &i->fork[FFS_XFS_DATA];
	u32 leaf = (ffs_block_size(inode->mapping->env) - TREE_HEADER) / 16;
	u64 n = m->nr, blocks;
	struct ffs_runs_pos at;
	const struct ffs_run *r;

	/* Delayed extents are only in memory; of many they do not count. */
	if (n > INLINE_EXTENTS && n <= 4 * INLINE_EXTENTS)
		for (r = ffs_runs_at(m, 0, &at); r; r = ffs_runs_next(m, &at))
			n -= r->b == FFS_XFS_DELAYED;
	blocks = n > INLINE_EXTENTS ? div_up(n, leaf) : 0;
	inode->i_blocks += blocks - i->tree_blocks;
	i->tree_blocks = (u32)blocks;
}

/* Tree blocks promised to the delayed extents that touch [off, end). */
static u64 indirect(struct ffs_super *sb, const struct ffs_runs *m, u64 off, u64 end)
{
	struct ffs_runs_pos at;
	const struct ffs_run *r;
	u64 n = 0;

	ffs_runs_for_each(m, r, at, off ? off - 1 : 0, end + 1)
		if (r->b == FFS_XFS_DELAYED)
			n += ffs_xfs_indirect(sb, r->end - r->first);
	return n;
}

static struct ffs_super *super_of(struct ffs_inode *inode)
{
	return container_of(inode->mapping->env, struct ffs_super, env);
}

void ffs_xfs_set(struct ffs_inode *inode, enum ffs_xfs_fork fork, const struct ffs_xrec *r)
{
	struct ffs_xfs_inode *i = ffs_xfs_inode(inode);
	struct ffs_super *sb = super_of(inode);
	u64 end = ffs_xrec_end(r), before = indirect(sb, &i->fork[fork], r->off, end);

	ffs_runs_set(&i->fork[fork], r->off, end,
		     r->state == FFS_XFS_DELAYED ? 0 : r->blk - r->off, r->state);
	ffs_xfs(sb)->nr_free += before - indirect(sb, &i->fork[fork], r->off, end);
	i->seq[fork]++;
	if (fork == FFS_XFS_DATA)
		count_tree(inode);
}

void ffs_xfs_clear(struct ffs_inode *inode, enum ffs_xfs_fork fork, u64 off, u64 end)
{
	struct ffs_xfs_inode *i = ffs_xfs_inode(inode);
	struct ffs_super *sb = super_of(inode);
	u64 before = indirect(sb, &i->fork[fork], off, end);

	ffs_runs_clear(&i->fork[fork], off, end);
	ffs_xfs(sb)->nr_free += before - indirect(sb, &i->fork[fork], off, end);
	i->seq[fork]++;
	if (fork == FFS_XFS_DATA)
		count_tree(inode);
}

void ffs_xrec_trim(struct ffs_xrec *r, u64 off, u64 end)
{
	if (r->off < off) {
		u64 cut = off - r->off;

		r->off += cut;
		r->len -= cut;
		if (r->blk)
			r->blk += cut;
	}
	if (ffs_xrec_end(r) > end)
		r->len = end - r->off;
}

void ffs_xfs_unmap(struct ffs_super *sb, struct ffs_inode *inode, enum ffs_xfs_fork fork, u64 off,
		   u64 end)
{
	struct ffs_xrec r;

	/* From the end, as the kernel does: so is the order in which blocks are freed. */
	while (off < end) {
		if ((!ffs_xfs_lookup(inode, fork, end - 1, &r) || r.off >= end) &&
		    !ffs_xfs_prev(inode, fork, end - 1, &r))
			return;
		if (ffs_xrec_end(&r) <= off)
			return;
		ffs_xrec_trim(&r, off, end);
		if (r.state == FFS_XFS_DELAYED) {
			inode->reserved -= (u32)r.len;
			ffs_xfs_unpromise(sb, r.len);
		} else {
			if (fork == FFS_XFS_DATA)
				inode->i_blocks -= r.len;
			else
				inode->reserved -= (u32)r.len;
			ffs_xfs_free(sb, r.blk, r.len);
		}
		ffs_xfs_clear(inode, fork, r.off, ffs_xrec_end(&r));
		end = r.off;
	}
}

void ffs_xfs_punch_delayed(struct ffs_super *sb, struct ffs_inode *inode, enum ffs_xfs_fork fork,
			   u64 off, u64 end)
{
	struct ffs_xrec r;

	while (off < end && ffs_xfs_lookup(inode, fork, off, &r) && r.off < end) {
		ffs_xrec_trim(&r, off, end);
		if (r.state == FFS_XFS_DELAYED)
			ffs_xfs_unmap(sb, inode, fork, r.off, ffs_xrec_end(&r));
		off = ffs_xrec_end(&r);
	}
}

int ffs_xfs_convert_delayed(struct ffs_super *sb, struct ffs_inode *inode, enum ffs_xfs_fork fork,
			    u64 off, struct ffs_xrec *r)
{
	struct ffs_xrec got;

	/* From the start of the extent, as often as it takes to reach @off. */
	do {
		u64 n;

		if (!ffs_xfs_lookup(inode, fork, off, &got) || got.off > off)
			return -EAGAIN;
		if (got.state != FFS_XFS_DELAYED)
			break;
		got.blk = ffs_xfs_alloc(sb, ffs_xfs_target(sb, inode, fork, got.off, got.len),
					got.len, &n);
		if (!got.blk)
			return -ENOSPC;
		got.len = n;
		got.state = FFS_XFS_UNWRITTEN;
		ffs_xfs_set(inode, fork, &got);
		/* Blocks of the copy-on-write fork count as reserved until they are in the file. */
		if (fork == FFS_XFS_DATA) {
			inode->i_blocks += n;
			inode->reserved -= (u32)n;
		}
	} while (ffs_xrec_end(&got) <= off);
	ffs_xfs_lookup(inode, fork, off, r);
	return 0;
}

void ffs_xfs_convert_unwritten(struct ffs_inode *inode, enum ffs_xfs_fork fork, u64 off, u64 end)
{
	struct ffs_xrec r;

	while (off < end && ffs_xfs_lookup(inode, fork, off, &r) && r.off < end) {
		ffs_xrec_trim(&r, off, end);
		if (r.state == FFS_XFS_UNWRITTEN) {
			r.state = FFS_XFS_WRITTEN;
			ffs_xfs_set(inode, fork, &r);
		}
		off = ffs_xrec_end(&r);
	}
}
