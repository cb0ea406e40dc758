// SPDX-License-Identifier: MIT
/*
 * Sums of credits: the units of the formulas, the reserve, and foliofs_ask().
 *
 * Stands for ext4_writepage_trans_blocks, ext4_chunk_trans_extent, ext4_chunk_trans_blocks and
 * the computation of rsv_blocks in writeback.  What each operation adds up is in credits_ops.c,
 * the texts of explanations are in explain.c.
 */
#include "credits.h"

static bool has(const struct ffs_sum *s, enum foliofs_change c)
{
	return foliofs_kernel_has(s->k, c);
}

u32 ffs_blocks_per_page(const struct foliofs_geometry *g)
{
	return foliofs_blocks_per_folio(g, 0);
}

u32 ffs_folio_blocks(const struct foliofs_geometry *g, const struct foliofs_inode_kind *i)
{
	return foliofs_blocks_per_folio(g, i->order);
}

u32 ffs_unit(const struct foliofs_kernel *k, const struct foliofs_geometry *g,
	     const struct foliofs_inode_kind *i)
{
	u32 blocks;

	if (!foliofs_kernel_has(k, FOLIOFS_CHANGE_LF_CREDITS) ||
	    foliofs_kernel_has(k, FOLIOFS_CHANGE_CF_PAGE_UNIT))
		return ffs_blocks_per_page(g);
	blocks = ffs_folio_blocks(g, i);
	if (foliofs_kernel_has(k, FOLIOFS_CHANGE_LF_SASHA_CAP))
		blocks = min(blocks, (u32)FFS_SASHA_BLOCKS);
	return blocks;
}

static u32 *term_of(struct foliofs_credits *c, enum ffs_term term)
{
	switch (term) {
	case FFS_TERM_INDEX:
		return &c->index;
	case FFS_TERM_BITMAPS:
		return &c->bitmaps;
	case FFS_TERM_DESCRIPTORS:
		return &c->descriptors;
	case FFS_TERM_DATA:
		return &c->data;
	default:
		return &c->fixed;
	}
}

void ffs_add(struct ffs_sum *s, enum ffs_term term, u32 n, const char *what, const char *source)
{
	static const char *const names[] = {
		[FFS_TERM_INDEX] = "index", [FFS_TERM_BITMAPS] = "bitmaps",
		[FFS_TERM_DESCRIPTORS] = "descriptors", [FFS_TERM_FIXED] = "fixed",
		[FFS_TERM_DATA] = "data",
	};

	*term_of(s->to, term) += n;
	s->to->total += n;
	if (s->e && n)
		ffs_explain_line(s, names[term], n, source, "%s", what);
}

void ffs_add_meta(struct ffs_sum *s, u32 times, u32 l, u32 p)
{
	struct foliofs_credits m = foliofs_meta_credits(s->k, s->g, s->i, l, p);

	s->to->index += times * m.index;
	s->to->bitmaps += times * m.bitmaps;
	s->to->descriptors += times * m.descriptors;
	s->to->fixed += times * m.fixed;
	s->to->total += times * m.total;
	if (s->e)
		ffs_explain_meta(s, times, l, p, &m);
}

void ffs_add_index(struct ffs_sum *s, u32 times, u32 l, u32 p)
{
	u32 index = times * foliofs_index_credits(s->k, s->g, s->i, l, p);

	s->to->index += index;
	s->to->total += index;
	if (s->e)
		ffs_explain_index(s, times, l, p, index);
}

void ffs_add_trans(struct ffs_sum *s, u32 times, u32 n)
{
	u32 p = 1;

	if (!has(s, FOLIOFS_CHANGE_CF_TRANS_EXTENT))
		n = p = ffs_unit(s->k, s->g, s->i);
	ffs_add_meta(s, times, n, p);
	if (s->i->journal_data)
		ffs_add(s, FFS_TERM_DATA, times * n, "data blocks that are journalled",
			"data=journal");
}

/*
 * The reserve pays the conversion of what one folio's I/O finds unwritten: at first the metadata
 * of a page in one extent, then the leaves of every block of the largest folio.
 */
void ffs_add_reserve(struct ffs_sum *s)
{
	struct foliofs_inode_kind tree = *s->i;
	const struct foliofs_inode_kind *kind = s->i;

	if (!foliofs_dioread_nolock(s->k, s->g, s->i) || foliofs_buffered_iomap(s->k, s->g, s->i))
		return;
	tree.extents = true;
	s->i = &tree;
	ffs_add(s, FFS_TERM_FIXED, 1, "the inode", "ext4");
	if (has(s, FOLIOFS_CHANGE_CF_RSV_PER_FOLIO))
		ffs_add_index(s, 1, ffs_folio_blocks(s->g, kind), ffs_folio_blocks(s->g, kind));
	else
		ffs_add_meta(s, 1, ffs_blocks_per_page(s->g), 1);
	s->i = kind;
}

static u32 revokes_of(const struct foliofs_kernel *k, const struct foliofs_geometry *g,
		      const struct foliofs_inode_kind *i, enum foliofs_credit_op op, u32 len)
{
	u32 freed = g->cluster_ratio * i->depth;

	switch (op) {
	case FOLIOFS_CREDIT_CONVERT:
		/* a reserved handle has no revoke part; with iomap it is an ordinary start */
		return foliofs_buffered_iomap(k, g, i) ? FFS_DEFAULT_REVOKES * g->cluster_ratio : 0;
	case FOLIOFS_CREDIT_EXT_REMOVE:
		return freed;
	case FOLIOFS_CREDIT_LEAF_REMOVE:
	case FOLIOFS_CREDIT_LEAF_REMOVE_FIRST:
		/* a mount with data=journal forgets data blocks, only the flag revokes them */
		if (i->journal_data && i->journal_flag && g->mount.data != FOLIOFS_DATA_JOURNAL)
			return freed + len + 2 * (g->cluster_ratio - 1);
		return freed;
	default:
		return FFS_DEFAULT_REVOKES * g->cluster_ratio;
	}
}

struct foliofs_ask foliofs_ask_explain(const struct foliofs_kernel *k,
				       const struct foliofs_geometry *g,
				       const struct foliofs_inode_kind *i,
				       enum foliofs_credit_op op, uint32_t len,
				       struct foliofs_explain *e)
{
	struct foliofs_credits reserve = { 0 };
	struct foliofs_ask ask = { .type = ffs_op_type(op) };
	struct ffs_sum s = { .k = k, .g = g, .i = i, .to = &ask.credits, .e = e };

	if (e) {
		e->nr = 0;
		e->rule[0] = '\0';
	}
	if (!len)
		len = foliofs_credit_op_len(g, op);
	ffs_add_op(&s, op, len);
	ask.revokes = revokes_of(k, g, i, op, len);
	if (op == FOLIOFS_CREDIT_WRITEBACK) {
		s.to = &reserve;
		s.reserved = true;
		ffs_add_reserve(&s);
		ask.rsv = reserve.total;
	}
	return ask;
}

struct foliofs_ask foliofs_ask(const struct foliofs_kernel *k, const struct foliofs_geometry *g,
			       const struct foliofs_inode_kind *i, enum foliofs_credit_op op,
			       uint32_t len)
{
	return foliofs_ask_explain(k, g, i, op, len, NULL);
}

uint32_t foliofs_ensure_credits(const struct foliofs_kernel *k, const struct foliofs_geometry *g,
				const struct foliofs_inode_kind *i)
{
	if (!foliofs_kernel_has(k, FOLIOFS_CHANGE_CF_RESTART))
		return 0;
	return foliofs_meta_credits(k, g, i, 1, 1).total;
}
