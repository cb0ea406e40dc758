// SPDX-License-Identifier: MIT
/*
 * The index of a mapping: a radix tree of 64 slots a node with tags, as the
 * kernel's xarray with multi-index entries (lib/xarray.c, mm/filemap.c).
 */
#include "node.h"

void ffs_mapping_init(struct ffs_mapping *m, struct ffs_env *env, struct ffs_inode *inode)
{
	*m = (struct ffs_mapping){ .inode = inode, .env = env };
}

static void free_folio(struct ffs_folio *f)
{
	ffs_folio_strip_buffers(f);
	free(f);
}

static void free_node(struct ffs_node *n)
{
	const void *last = NULL;
	u32 i;

	for (i = 0; i < FFS_SLOTS; i++) {
		if (!((n->present >> i) & 1) || n->slot[i] == last)
			continue;
		last = n->slot[i];
		if ((n->leaf >> i) & 1)
			free_folio(n->slot[i]);
		else
			free_node(n->slot[i]);
	}
	free(n);
}

void ffs_mapping_destroy(struct ffs_mapping *m)
{
	if (m->root)
		free_node(m->root);
	m->root = NULL;
	m->levels = 0;
	m->nr_folios = m->nr_pages = 0;
	ffs_runs_free(&m->content);
	ffs_runs_free(&m->poison);
}

struct ffs_folio *ffs_folio_find(const struct ffs_mapping *m, u32 index)
{
	const struct ffs_node *n = m->root;
	u32 level;

	if (!ffs_mapping_covers(m, index))
		return NULL;
	for (level = m->levels; level--;) {
		u32 s = ffs_slot_of(index, level);

		if (!((n->present >> s) & 1))
			return NULL;
		if ((n->leaf >> s) & 1)
			return n->slot[s];
		n = n->slot[s];
	}
	return NULL;
}

/* First folio that ends behind @index among those whose slots are in @tag (< 0: any). */
static struct ffs_folio *first_from(const struct ffs_mapping *m, u64 index, int tag)
{
	const struct ffs_node *path[12];
	const struct ffs_node *n = m->root;
	u32 level = m->levels - 1u;

	if (!ffs_mapping_covers(m, index))
		return NULL;
	for (;;) {
		u32 s = ffs_slot_of(index, level), shift = FFS_SLOT_BITS * level;
		u64 used = (tag < 0 ? n->present : n->tag[tag]) & (~0ull << s);

		if (!used) {
			/* Nothing more in this node: on behind it, as far up as that is the end. */
			index = ((index >> shift) | (FFS_SLOTS - 1)) + 1;
			index <<= shift;
			do {
				if (++level == m->levels)
					return NULL;
			} while (!ffs_slot_of(index, level));
			n = path[level];
			continue;
		}
		if (s != (u32)__builtin_ctzll(used)) {
			s = (u32)__builtin_ctzll(used);
			index = ((index >> shift & ~(u64)(FFS_SLOTS - 1)) | s) << shift;
		}
		if ((n->leaf >> s) & 1)
			return n->slot[s];
		path[level--] = n;
		n = n->slot[s];
	}
}

struct ffs_folio *ffs_folio_next(const struct ffs_mapping *m, u32 index)
{
	return first_from(m, index, -1);
}

struct ffs_folio *ffs_folio_next_tagged(const struct ffs_mapping *m, u32 index,
					enum ffs_folio_tag tag)
{
	return first_from(m, index, (int)tag);
}

bool ffs_mapping_tagged(const struct ffs_mapping *m, enum ffs_folio_tag tag)
{
	return m->root && m->root->tag[tag];
}

static u32 folio_level(u8 order)
{
	return order / FFS_SLOT_BITS;
}

/* Slots that a folio fills in its node. */
static u64 folio_slots(const struct ffs_folio *f, u32 level)
{
	u32 n = 1u << (f->order - FFS_SLOT_BITS * level), s = ffs_slot_of(f->index, level);

	return (n == 64 ? ~0ull : (1ull << n) - 1) << s;
}

struct ffs_folio *ffs_folio_after(const struct ffs_mapping *m, const struct ffs_folio *f)
{
	const struct ffs_node *n = f->node;
	u32 index = f->index + ffs_folio_pages(f), s = ffs_slot_of(index, n->level);

	if (s && (n->leaf >> s) & 1)
		return n->slot[s];
	return ffs_folio_find(m, index);
}

struct ffs_folio *ffs_folio_after_tagged(const struct ffs_mapping *m, const struct ffs_folio *f,
					 enum ffs_folio_tag tag)
{
	const struct ffs_node *n = f->node;
	u32 index = f->index + ffs_folio_pages(f), s = ffs_slot_of(index, n->level);
	u64 used = s ? n->tag[tag] & (~0ull << s) : 0;

	if (used & n->leaf & -used)
		return n->slot[__builtin_ctzll(used)];
	return index ? ffs_folio_next_tagged(m, index, tag) : NULL;
}

/* A node has a slot tagged: so have those above it; or none has any more. */
static void tag_up(struct ffs_node *n, enum ffs_folio_tag tag)
{
	for (; n->parent && !((n->parent->tag[tag] >> n->slot_above) & 1); n = n->parent)
		n->parent->tag[tag] |= 1ull << n->slot_above;
}

static void untag_up(struct ffs_node *n, enum ffs_folio_tag tag)
{
	for (; n->parent && !n->tag[tag]; n = n->parent)
		n->parent->tag[tag] &= ~(1ull << n->slot_above);
}

void ffs_folio_tag(struct ffs_folio *f, enum ffs_folio_tag tag, bool set)
{
	struct ffs_node *n = f->node;
	u64 slots = folio_slots(f, n->level);

	if (set) {
		n->tag[tag] |= slots;
		tag_up(n, tag);
	} else if (n->tag[tag] & slots) {
		n->tag[tag] &= ~slots;
		untag_up(n, tag);
	}
}

bool ffs_folio_is_tagged(const struct ffs_folio *f, enum ffs_folio_tag tag)
{
	return (f->node->tag[tag] >> ffs_slot_of(f->index, f->node->level)) & 1;
}

/* Make the tree high enough for page @last and for a folio at @level. */
static void grow(struct ffs_mapping *m, u64 last, u32 level)
{
	while (!ffs_mapping_covers(m, last) || m->levels <= level) {
		struct ffs_node *n = ffs_zalloc(sizeof(*n));

		n->level = m->levels;
		if (m->root) {
			u32 t;

			n->slot[0] = m->root;
			n->present = 1;
			m->root->parent = n;
			for (t = 0; t < FFS_TAG_NR; t++)
				n->tag[t] = m->root->tag[t] ? 1 : 0;
		}
		m->root = n;
		m->levels++;
	}
}

static struct ffs_node *new_child(struct ffs_node *parent, u32 s)
{
	struct ffs_node *n = ffs_zalloc(sizeof(*n));

	n->parent = parent;
	n->level = (u8)(parent->level - 1);
	n->slot_above = (u8)s;
	parent->slot[s] = n;
	parent->present |= 1ull << s;
	return n;
}

static bool range_used(const struct ffs_mapping *m, u64 index, u64 pages)
{
	const struct ffs_folio *f = ffs_folio_next(m, (u32)index);

	return f && f->index < index + pages;
}

/* Put @f into the tree; its range is free. */
static void insert(struct ffs_mapping *m, struct ffs_folio *f)
{
	u32 at = folio_level(f->order), level, s;
	struct ffs_node *n;
	u64 slots, rest;

	grow(m, (u64)f->index + ffs_folio_pages(f) - 1, at);
	n = m->root;
	for (level = m->levels - 1u; level > at; level--) {
		s = ffs_slot_of(f->index, level);
		n = (n->present >> s) & 1 ? n->slot[s] : new_child(n, s);
	}
	f->node = n;
	slots = folio_slots(f, at);
	/* Empty nodes left below (folios of smaller orders that are gone) make room. */
	for (rest = slots & n->present & ~n->leaf; rest; rest &= rest - 1)
		free_node(n->slot[__builtin_ctzll(rest)]);
	n->present |= slots;
	n->leaf |= slots;
	for (rest = slots; rest; rest &= rest - 1)
		n->slot[__builtin_ctzll(rest)] = f;
	m->nr_folios++;
	m->nr_pages += ffs_folio_pages(f);
}

struct ffs_folio *ffs_folio_add(struct ffs_mapping *m, u32 index, u8 order)
{
	struct ffs_folio *f;

	if (range_used(m, index, 1ull << order))
		return NULL;
	f = ffs_zalloc(sizeof(*f));
	f->index = index;
	f->order = order;
	insert(m, f);
	ffs_emit(m->env, mm_filemap_add_to_page_cache, m->inode->ino, ffs_folio_pos(m, f), order);
	return f;
}

/* Take @f out of the tree; empty nodes go, the tree does not shrink but to nothing. */
static void take_out(struct ffs_mapping *m, struct ffs_folio *f)
{
	struct ffs_node *n = f->node;
	u32 t;

	for (t = 0; t < FFS_TAG_NR; t++)
		ffs_folio_tag(f, t, false);
	n->present &= ~folio_slots(f, n->level);
	n->leaf &= ~folio_slots(f, n->level);
	while (n && !n->present) {
		struct ffs_node *parent = n->parent;

		if (parent) {
			parent->present &= ~(1ull << n->slot_above);
		} else {
			m->root = NULL;
			m->levels = 0;
		}
		free(n);
		n = parent;
	}
	m->nr_folios--;
	m->nr_pages -= ffs_folio_pages(f);
}

void ffs_folio_delete(struct ffs_mapping *m, struct ffs_folio *f)
{
	ffs_emit(m->env, mm_filemap_delete_from_page_cache, m->inode->ino, ffs_folio_pos(m, f),
		 f->order);
	take_out(m, f);
	ffs_runs_clear(&m->content, ffs_folio_pos(m, f), ffs_folio_end(m, f));
	if (unlikely(m->poison.nr))
		ffs_runs_clear(&m->poison, f->index, (u64)f->index + ffs_folio_pages(f));
	free_folio(f);
}

void ffs_page_poison(struct ffs_mapping *m, u32 index)
{
	ffs_runs_set(&m->poison, index, (u64)index + 1, 0, 1);
}

u64 ffs_page_poisoned(const struct ffs_mapping *m, u64 first, u64 end)
{
	struct ffs_runs_pos at;
	const struct ffs_run *r = m->poison.nr ? ffs_runs_at(&m->poison, first, &at) : NULL;

	return r && r->first < end ? max(r->first, first) : end;
}

struct ffs_folio *ffs_folio_split(struct ffs_mapping *m, struct ffs_folio *f, u32 at, u64 eof_index)
{
	u32 index = f->index, i;
	u8 order = f->order, flags = f->flags, n = 0, tags = 0, t;
	struct { u32 index; u8 order; } piece[64];
	struct ffs_folio *found = NULL;

	/* The pieces inherit the tags, also of a folio that is clean by now (xas_split). */
	for (t = 0; t < FFS_TAG_NR; t++)
		if (ffs_folio_is_tagged(f, t))
			tags |= (u8)(1u << t);
	take_out(m, f);
	/* Halve, keeping on with the half that contains @at, until @at is a page alone. */
	while (order > m->min_order) {
		u32 half;

		order--;
		half = index + (1u << order);
		if (at >= half) {
			piece[n].index = index;
			piece[n++].order = order;
			index = half;
		} else {
			piece[n].index = half;
			piece[n++].order = order;
		}
	}
	piece[n].index = index;
	piece[n++].order = order;
	free_folio(f);
	/* Ascending: dropped pieces print their deletes in this order. */
	for (i = 0; i < n; i++) {
		u32 j, low = i;
		struct ffs_folio *p;

		for (j = i + 1; j < n; j++)
			if (piece[j].index < piece[low].index)
				low = j;
		if (low != i) {
			u32 t_index = piece[i].index;
			u8 t_order = piece[i].order;

			piece[i] = piece[low];
			piece[low].index = t_index;
			piece[low].order = t_order;
		}
		p = ffs_zalloc(sizeof(*p));
		p->index = piece[i].index;
		p->order = piece[i].order;
		p->flags = flags & (FFS_FOLIO_UPTODATE | FFS_FOLIO_DIRTY);
		insert(m, p);
		for (t = 0; t < FFS_TAG_NR; t++)
			if ((tags >> t) & 1)
				ffs_folio_tag(p, t, true);
		if (p->index >= eof_index)
			ffs_folio_delete(m, p);
		else if (p->index <= at && at < p->index + ffs_folio_pages(p))
			found = p;
	}
	return found;
}

void ffs_folio_set_dirty(struct ffs_folio *f)
{
	if (f->flags & FFS_FOLIO_DIRTY)
		return;
	f->flags |= FFS_FOLIO_DIRTY;
	ffs_folio_tag(f, FFS_TAG_DIRTY, true);
}

void ffs_folio_clear_dirty(struct ffs_folio *f)
{
	f->flags &= (u8)~FFS_FOLIO_DIRTY;
}

void ffs_folio_start_writeback(struct ffs_folio *f, bool keep_towrite)
{
	f->flags |= FFS_FOLIO_WRITEBACK;
	ffs_folio_tag(f, FFS_TAG_WRITEBACK, true);
	if (!(f->flags & FFS_FOLIO_DIRTY))
		ffs_folio_tag(f, FFS_TAG_DIRTY, false);
	if (!keep_towrite)
		ffs_folio_tag(f, FFS_TAG_TOWRITE, false);
}
