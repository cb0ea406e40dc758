// SPDX-License-Identifier: MIT
/*
 * What becomes of what an operation asks: whether the journal grants it, and whether it is enough
 * for the worst that one handle may have to do.  Stands for no kernel function.
 *
 * The worst case: every extent lies in a group of its own, and so does every new tree block.  A
 * handle that is followed by another where it stands (removal restarts; writeback and write_begin
 * since they grow) cannot run dry, so its worst case is what it asks.
 */
#include "credits.h"

static bool has(const struct foliofs_kernel *k, enum foliofs_change c)
{
	return foliofs_kernel_has(k, c);
}

/*
 * Tree blocks that inserting @p neighbouring extents dirties: the path, a split of the leaf and
 * the leaves that the extents fill, the index blocks above them, and a new level.
 */
static u32 worst_tree(const struct foliofs_geometry *g, const struct foliofs_inode_kind *i, u32 p)
{
	const u32 root = 4, entries = ffs_extents_per_block(g);
	u32 n, total;

	if (!i->extents)
		return (u32)div_up(p, ffs_pointers_per_block(g)) + 4;
	if (!i->depth) {
		/* the root may have been full: all its entries move down */
		n = (u32)div_up(root + p, entries);
		n += n > 1;
		total = n;
	} else {
		n = 1 + (u32)div_up(p, entries);
		total = i->depth + n;
	}
	for (unsigned int level = 1; level < i->depth || n > root; level++) {
		n = (u32)div_up(n, entries);
		total += n;
	}
	return total + (i->depth && i->depth < FFS_MAX_DEPTH);
}

/* Allocating @p extents: bitmaps and descriptors of data and new tree blocks, tree, inode. */
static u32 worst_mapping(const struct foliofs_geometry *g, const struct foliofs_inode_kind *i,
			 u32 p)
{
	u32 tree = worst_tree(g, i, p), fresh = tree - min(tree, (u32)i->depth) + p;

	return tree + min(fresh, g->groups) + min(fresh, g->gdb_count) + 1;
}

/* Extents that the blocks of one folio can be in. */
static u32 folio_extents(const struct foliofs_geometry *g, const struct foliofs_inode_kind *i)
{
	u64 blocks = ((u64)g->page_size << i->order) / g->block_size;

	return (u32)max(div_up(blocks, g->cluster_ratio), (u64)1);
}

static u32 worst_convert(const struct foliofs_kernel *k, const struct foliofs_geometry *g,
			 const struct foliofs_inode_kind *i, u32 asked)
{
	u32 p = folio_extents(g, i);

	if (has(k, FOLIOFS_CHANGE_CF_RSV_PER_FOLIO) || foliofs_buffered_iomap(k, g, i))
		return asked;
	/* the extents are there already: their leaves, and the inode */
	return 1 + (p <= 4 && !i->depth ? 0 : 1 + (u32)div_up(p, ffs_extents_per_block(g)));
}

uint32_t foliofs_worst_case(const struct foliofs_kernel *k, const struct foliofs_geometry *g,
			    const struct foliofs_inode_kind *i, enum foliofs_credit_op op,
			    uint32_t len)
{
	struct foliofs_ask ask = foliofs_ask(k, g, i, op, len);
	bool grows = has(k, FOLIOFS_CHANGE_CF_RESTART);
	u32 data = i->journal_data ? ffs_folio_blocks(g, i) : 0;

	switch (op) {
	case FOLIOFS_CREDIT_WRITEBACK:
		if (grows)
			break;
		return worst_mapping(g, i, foliofs_buffered_iomap(k, g, i) ? 1 : folio_extents(g, i));
	case FOLIOFS_CREDIT_WRITE_BEGIN:
		if (grows)
			break;
		return worst_mapping(g, i, folio_extents(g, i)) + data + 1;
	case FOLIOFS_CREDIT_PAGE_MKWRITE:
		if (grows)
			break;
		return worst_mapping(g, i, folio_extents(g, i)) + data;
	case FOLIOFS_CREDIT_DIO_ALLOC:
	case FOLIOFS_CREDIT_FALLOCATE:
		return worst_mapping(g, i, 1);
	case FOLIOFS_CREDIT_CONVERT:
		return worst_convert(k, g, i, ask.credits.total);
	default:
		break;
	}
	return ask.credits.total;
}

static enum foliofs_verdict start(const struct foliofs_journal_limits *l,
				  const struct foliofs_ask *ask)
{
	return foliofs_start_verdict(l, foliofs_requested(l, ask->credits.total, ask->revokes),
				     ask->rsv);
}

/*
 * A write beyond EOF gives its blocks back when the handle cannot grow, and tries again: if one
 * folio's worst case is more than a handle may have, it may do so for ever.
 */
static bool may_loop(const struct foliofs_kernel *k, const struct foliofs_geometry *g,
		     const struct foliofs_inode_kind *i, enum foliofs_credit_op op,
		     const struct foliofs_journal_limits *l)
{
	return op == FOLIOFS_CREDIT_WRITE_BEGIN && has(k, FOLIOFS_CHANGE_CF_RESTART) &&
	       !foliofs_buffered_iomap(k, g, i) &&
	       worst_mapping(g, i, folio_extents(g, i)) + 1 > l->max_handle;
}

enum foliofs_verdict foliofs_start_verdict(const struct foliofs_journal_limits *l,
					   uint32_t requested, uint32_t rsv)
{
	if (!l->max_transaction)
		return FOLIOFS_FITS;
	if (rsv > l->max_reserved || (u64)requested + rsv > l->max_handle)
		return FOLIOFS_REFUSED;
	/* an empty transaction has its overhead in it; such a start commits it and tries again */
	if ((u64)requested + rsv + l->overhead > l->max_transaction)
		return FOLIOFS_LOOPS;
	return FOLIOFS_FITS;
}

/* The context of a new file is no start: it must fit into what create has asked for. */
static bool context_fits(const struct foliofs_kernel *k, const struct foliofs_geometry *g,
			 const struct foliofs_inode_kind *i, u32 tested)
{
	return tested <= foliofs_ask(k, g, i, FOLIOFS_CREDIT_CREATE, 0).credits.total;
}

enum foliofs_verdict foliofs_credit_verdict(const struct foliofs_kernel *k,
					    const struct foliofs_geometry *g,
					    const struct foliofs_inode_kind *i,
					    enum foliofs_credit_op op, uint32_t len)
{
	struct foliofs_ask ask = foliofs_ask(k, g, i, op, len);
	struct foliofs_journal_limits l;
	enum foliofs_verdict v;

	if (!ffs_has_journal(g))
		return FOLIOFS_FITS;
	foliofs_journal_limits(k, g, &l);
	if (op == FOLIOFS_CREDIT_SET_CONTEXT)
		return context_fits(k, g, i, ask.credits.total) ? FOLIOFS_FITS : FOLIOFS_REFUSED;
	/* the reserve was tested when writeback started */
	if (op != FOLIOFS_CREDIT_CONVERT || foliofs_buffered_iomap(k, g, i)) {
		v = start(&l, &ask);
		if (v != FOLIOFS_FITS)
			return v;
	}
	if (foliofs_worst_case(k, g, i, op, len) > ask.credits.total)
		return FOLIOFS_RUNS_DRY;
	return may_loop(k, g, i, op, &l) ? FOLIOFS_LOOPS : FOLIOFS_FITS;
}

/* Nested and test sizes are not starts of their own: nothing can refuse them. */
static bool is_start(enum foliofs_credit_op op)
{
	return op != FOLIOFS_CREDIT_EXT_REMOVE && op != FOLIOFS_CREDIT_CONVERT &&
	       op != FOLIOFS_CREDIT_SET_CONTEXT;
}

static bool all_granted(const struct foliofs_kernel *k, const struct foliofs_geometry *g,
			const struct foliofs_inode_kind *i)
{
	struct foliofs_journal_limits l;

	foliofs_journal_limits(k, g, &l);
	for (unsigned int n = 0; n < FOLIOFS_CREDIT_COUNT; n++) {
		enum foliofs_credit_op op = (enum foliofs_credit_op)n;
		struct foliofs_ask ask;

		if (!is_start(op) || !foliofs_credit_op_applies(k, g, i, op))
			continue;
		ask = foliofs_ask(k, g, i, op, 0);
		if (start(&l, &ask) == FOLIOFS_REFUSED)
			return false;
	}
	return true;
}

uint32_t foliofs_min_journal(const struct foliofs_kernel *k, const struct foliofs_geometry *g,
			     const struct foliofs_inode_kind *i)
{
	const u32 smallest = 1024, largest = 10240000;
	struct foliofs_geometry trial = *g;
	u32 fc = 0, low = smallest, high = largest;

	if (!ffs_has_journal(g))
		return 0;
	/* mke2fs puts the fast-commit blocks on top of what is asked for */
	if (foliofs_has_feature(g, FOLIOFS_FEATURE_FAST_COMMIT))
		fc = g->fast_commit_blocks ? g->fast_commit_blocks : 256;
	trial.journal_blocks = largest + fc;
	if (!all_granted(k, &trial, i))
		return 0;
	while (low < high) {
		u32 mid = low + (high - low) / 2;

		trial.journal_blocks = mid + fc;
		if (all_granted(k, &trial, i))
			high = mid;
		else
			low = mid + 1;
	}
	return low + fc;
}
