// SPDX-License-Identifier: MIT
/* What the file system is like now: sizes, extents, content, folios. */
#include <stdio.h>
#include "fs.h"
#include "bh/bh.h"
#include "ops/fs_type.h"

static const struct ffs_super *super(const struct foliofs_fs *fs)
{
	return &fs->ops.sb;
}

int foliofs_fs_stat_ino(const struct foliofs_fs *fs, uint32_t ino, struct foliofs_stat *st)
{
	const struct ffs_super *sb = super(fs);
	const struct ffs_inode *inode = ffs_inode_find(sb, ino);
	u64 delayed;

	if (!inode)
		return -ENOENT;
	delayed = (u64)inode->reserved * sb->env.geo.cluster_ratio;
	*st = (struct foliofs_stat){
		.ino = ino, .mode = inode->mode, .nlink = inode->nlink,
		.size = inode->i_size, .disksize = inode->i_disksize,
		.sectors = (inode->i_blocks + delayed) << (sb->env.block_bits - 9),
		.delayed = inode->reserved,
		.max_order = inode->mapping->max_order,
		.extents = inode->flags & FFS_INODE_EXTENTS,
		.inline_data = inode->flags & FFS_INODE_INLINE_DATA,
	};
	/* Something is in the file: st_blocks says so even where it lies in the inode. */
	if (st->inline_data)
		st->sectors += (inode->i_size + 511) >> 9;
	return 0;
}

int foliofs_fs_stat(const struct foliofs_fs *fs, const char *path, struct foliofs_stat *st)
{
	struct ffs_inode *inode = ffs_lookup((struct ffs_ops *)&fs->ops, path);

	return inode ? foliofs_fs_stat_ino(fs, inode->ino, st) : -ENOENT;
}

static void walk_names(const struct foliofs_fs *fs, const struct ffs_inode *dir, char *path,
		       size_t len, foliofs_name_fn fn, void *priv)
{
	const struct ffs_vfs_inode *v = ffs_vfs(dir);
	u32 done = 0;
	const char *last = "";

	/* Ascending by name: the smallest one behind the last. */
	while (done < v->nr_entries) {
		const struct ffs_dirent *best = NULL;
		const struct ffs_inode *inode;
		u32 i;

		for (i = 0; i < v->nr_entries; i++)
			if ((!done || strcmp(v->entry[i].name, last) > 0) &&
			    (!best || strcmp(v->entry[i].name, best->name) < 0))
				best = &v->entry[i];
		if (!best)
			return;
		last = best->name;
		done++;
		if (len + strlen(best->name) + 2 > 4096)
			continue;
		sprintf(path + len, "%s%s", len ? "/" : "", best->name);
		inode = ffs_inode_find(super(fs), best->ino);
		fn(priv, path, best->ino, inode->mode);
		if (ffs_is_dir(inode))
			walk_names(fs, inode, path, strlen(path), fn, priv);
	}
}

void foliofs_fs_for_each_name(const struct foliofs_fs *fs, foliofs_name_fn fn, void *priv)
{
	char path[4097] = "";

	walk_names(fs, fs->ops.root, path, 0, fn, priv);
}

/* The next run of allocated or delayed blocks at or behind @lblk. */
struct piece {
	u32 lblk, len;
	u64 pblk; /* 0: delayed */
	bool unwritten, shared;
};

static bool type_piece(const struct ffs_super *sb, const struct ffs_inode *inode, u64 lblk,
		       struct piece *p)
{
	struct ffs_type_run r;

	if (!sb->type->next_run(sb, inode, lblk, &r))
		return false;
	*p = (struct piece){ (u32)r.lblk, (u32)r.len, r.pblk, r.unwritten, r.shared };
	return true;
}

/* @end: what begins behind it may be left out. */
static bool next_piece(const struct ffs_super *sb, const struct ffs_inode *inode, u64 lblk, u64 end,
		       struct piece *p)
{
	struct ffs_map_run run;
	struct ffs_es es;
	bool have = !sb->type && lblk < FFS_LBLK_MAX && !(inode->flags & FFS_INODE_INLINE_DATA) &&
		    ffs_next_run(inode, (u32)lblk, &run);
	/* Only what lies before the run counts; the status tree has no index of what is delayed. */
	bool delayed = inode->es && !(have && run.lblk <= lblk) &&
		       ffs_es_find_delayed(inode, lblk, have ? (u64)run.lblk : end, &es);

	if (sb->type)
		return type_piece(sb, inode, lblk, p);
	if (have && run.lblk < lblk) {
		run.pblk += lblk - run.lblk;
		run.len -= (u32)(lblk - run.lblk);
		run.lblk = (u32)lblk;
	}
	if (delayed && es.lblk < lblk) {
		es.len -= (u32)(lblk - es.lblk);
		es.lblk = (u32)lblk;
	}
	/* Delayed over unwritten (older kernels): the allocation is what is seen. */
	if (delayed && (!have || es.lblk < run.lblk)) {
		*p = (struct piece){ .lblk = es.lblk, .len = es.len };
		if (have)
			p->len = min(p->len, run.lblk - es.lblk);
		return true;
	}
	if (have)
		*p = (struct piece){ run.lblk, run.len, run.pblk, run.unwritten, false };
	return have;
}

int foliofs_fs_for_each_extent(const struct foliofs_fs *fs, uint32_t ino, foliofs_extent_fn fn,
			       void *priv)
{
	const struct ffs_super *sb = super(fs);
	const struct ffs_inode *inode = ffs_inode_find(sb, ino);
	u8 bits = sb->env.block_bits;
	struct piece p = { 0 }, next = { 0 };
	bool have, more;

	if (!inode)
		return -ENOENT;
	for (have = next_piece(sb, inode, 0, FFS_LBLK_MAX, &p); have; have = more, p = next) {
		struct foliofs_extent x = { 0 };

		while ((more = next_piece(sb, inode, (u64)p.lblk + p.len, FFS_LBLK_MAX, &next)) &&
		       next.lblk == p.lblk + p.len && !next.pblk == !p.pblk &&
		       next.unwritten == p.unwritten && next.shared == p.shared &&
		       (!p.pblk || next.pblk == p.pblk + p.len))
			p.len += next.len;
		x.logical = (u64)p.lblk << bits;
		x.physical = p.pblk << bits;
		x.len = (u64)p.len << bits;
		x.flags = p.unwritten ? FOLIOFS_EXTENT_UNWRITTEN : 0;
		if (!p.pblk)
			x.flags |= FOLIOFS_EXTENT_UNKNOWN | FOLIOFS_EXTENT_DELALLOC;
		if (sb->type && sb->type->in_memory) {
			/* What lseek calls data: no place, no more than the size. */
			x.flags = FOLIOFS_EXTENT_DATA;
			if (x.logical >= inode->i_size)
				break;
			x.len = min(x.len, inode->i_size - x.logical);
			fn(priv, &x);
			continue;
		}
		if (p.shared)
			x.flags |= FOLIOFS_EXTENT_SHARED;
		if (!more)
			x.flags |= FOLIOFS_EXTENT_LAST;
		fn(priv, &x);
	}
	return 0;
}

/* Collects pieces of content; joins those that go on. */
struct joiner {
	struct foliofs_content c;
	foliofs_content_fn fn;
	void *priv;
};

void ffs_content_describe(struct foliofs_content *c, u64 pos, u64 len, u64 src, u64 src_off,
			  bool mapped)
{
	*c = (struct foliofs_content){ .offset = pos, .len = len };
	if (src == FFS_SRC_ZERO) {
		c->kind = mapped ? FOLIOFS_SOURCE_ZERO : FOLIOFS_SOURCE_HOLE;
	} else if (src == FFS_SRC_UNKNOWN) {
		c->kind = FOLIOFS_SOURCE_UNKNOWN;
	} else {
		c->kind = src & FFS_SRC_STALE ? FOLIOFS_SOURCE_STALE : FOLIOFS_SOURCE_OP;
		c->source = ffs_src_op(src);
		c->owner = ffs_src_ino(src);
		c->source_offset = src_off;
	}
}

static void give(struct joiner *j, u64 pos, u64 len, u64 src, u64 src_off, bool mapped)
{
	struct foliofs_content c;

	ffs_content_describe(&c, pos, len, src, src_off, mapped);
	if (j->c.len && j->c.kind == c.kind && j->c.source == c.source && j->c.owner == c.owner &&
	    (c.kind < FOLIOFS_SOURCE_STALE && c.kind != FOLIOFS_SOURCE_OP ? true :
	     j->c.source_offset + j->c.len == c.source_offset)) {
		j->c.len += len;
		return;
	}
	if (j->c.len)
		j->fn(j->priv, &j->c);
	j->c = c;
}

/* Bytes [pos, end) come from @map at @from (their key there); missing ones are @missing. */
static void give_runs(struct joiner *j, u64 pos, u64 end, const struct ffs_runs *map, u64 from,
		      u64 missing, bool mapped)
{
	struct ffs_runs_pos at;
	const struct ffs_run *r;
	u64 key = from, stop = from + (end - pos);

	ffs_runs_for_each(map, r, at, from, stop) {
		u64 first = max(r->first, from), last = min(r->end, stop);

		if (first > key)
			give(j, pos + (key - from), first - key, missing, 0, mapped);
		give(j, pos + (first - from), last - first, r->b, first + r->a, mapped);
		key = last;
	}
	if (key < stop)
		give(j, pos + (key - from), stop - key, missing, 0, mapped);
}

/*
 * End of the uptodate bytes of @f from @pos on; @pos itself if there are none.  @f is the first
 * folio that ends behind @pos.
 */
static u64 uptodate_end(const struct ffs_mapping *m, const struct ffs_folio *f, u64 pos, u64 *next)
{
	u32 b;

	*next = ~0ull;
	if (!f)
		return pos;
	if (ffs_folio_pos(m, f) > pos) {
		*next = ffs_folio_pos(m, f);
		return pos;
	}
	if (f->flags & FFS_FOLIO_UPTODATE)
		return ffs_folio_end(m, f);
	if (!ffs_has_buffers(f)) {
		*next = ffs_folio_end(m, f);
		return pos;
	}
	b = (u32)((pos - ffs_folio_pos(m, f)) >> m->env->block_bits);
	if (ffs_bh_test(f, FFS_BH_UPTODATE, b))
		return ffs_folio_pos(m, f) +
		       ((u64)ffs_bh_next_clear(f, FFS_BH_UPTODATE, b, f->bpf) << m->env->block_bits);
	*next = ffs_folio_pos(m, f) +
		((u64)ffs_bh_next(f, FFS_BH_UPTODATE, b, f->bpf) << m->env->block_bits);
	return pos;
}

u64 ffs_cached_end(const struct ffs_inode *inode, u64 pos, u64 stop, u64 *next)
{
	const struct ffs_mapping *m = inode->mapping;
	const struct ffs_folio *f = ffs_folio_next(m, (u32)(pos >> m->env->page_bits));
	u64 end;

	while ((end = uptodate_end(m, f, pos, next)) > pos) {
		pos = end;
		if (pos >= stop)
			return stop;
		if (pos == ffs_folio_end(m, f) && !(f = ffs_folio_after(m, f)))
			return pos;
	}
	return pos;
}

void ffs_content_walk(const struct foliofs_fs *fs, const struct ffs_inode *inode, u64 first,
		      u64 stop, bool cached, foliofs_content_fn fn, void *priv)
{
	const struct ffs_super *sb = super(fs);
	struct joiner j = { .fn = fn, .priv = priv };
	u8 bits = sb->env.block_bits;
	u64 pos = first, end, in_cache, next = ~0ull;

	stop = min(stop, inode->i_size);
	while (pos < stop) {
		struct piece p = { 0 };
		bool have = next_piece(sb, inode, pos >> bits, div_up(stop, 1ull << bits), &p);
		bool mapped = have && ((u64)p.lblk << bits) <= pos;

		end = stop;
		if (have)
			end = min(end, (u64)(mapped ? p.lblk + p.len : p.lblk) << bits);
		if (inode->flags & FFS_INODE_INLINE_DATA)
			mapped = true;
		in_cache = cached ? ffs_cached_end(inode, pos, end, &next) : pos;
		if (in_cache > pos) {
			end = in_cache;
			give_runs(&j, pos, end, &inode->mapping->content, pos, FFS_SRC_ZERO, mapped);
		} else {
			end = min(end, next);
			if (mapped && p.pblk && !p.unwritten) {
				u64 at = (p.pblk << bits) + (pos - ((u64)p.lblk << bits));
				u64 n = end - pos;
				const struct ffs_runs *disk = ffs_device_view(sb, at, &n);

				end = pos + n;
				give_runs(&j, pos, end, disk, at, FFS_SRC_ZERO, true);
			} else if (inode->flags & FFS_INODE_INLINE_DATA) {
				give_runs(&j, pos, end, &ffs_bh_inode(inode)->inline_data, pos,
					  FFS_SRC_ZERO, true);
			} else {
				give(&j, pos, end - pos, FFS_SRC_ZERO, 0, mapped);
			}
		}
		pos = end;
	}
	if (j.c.len)
		fn(priv, &j.c);
}

int foliofs_fs_for_each_content(const struct foliofs_fs *fs, uint32_t ino, foliofs_content_fn fn,
				void *priv)
{
	const struct ffs_inode *inode = ffs_inode_find(super(fs), ino);

	if (!inode)
		return -ENOENT;
	ffs_content_walk(fs, inode, 0, inode->i_size, true, fn, priv);
	return 0;
}

int foliofs_fs_tree(const struct foliofs_fs *fs, uint32_t ino, struct foliofs_tree *t)
{
	const struct ffs_inode *inode = ffs_inode_find(super(fs), ino);
	struct ffs_tree_info info = { 0 };

	if (!inode || super(fs)->type)
		return -ENOENT;
	if (!(inode->flags & FFS_INODE_INLINE_DATA))
		ffs_tree_info(inode, &info);
	*t = (struct foliofs_tree){
		.extents = info.extents, .depth = info.depth, .index_blocks = info.index_blocks,
		.leaf_blocks = info.leaf_blocks, .nr_extents = info.extents_nr,
		.unwritten = info.unwritten,
	};
	return 0;
}

int foliofs_fs_for_each_folio(const struct foliofs_fs *fs, uint32_t ino, foliofs_folio_fn fn,
			      void *priv)
{
	const struct ffs_inode *inode = ffs_inode_find(super(fs), ino);
	const struct ffs_folio *f;

	if (!inode)
		return -ENOENT;
	for (f = ffs_folio_next(inode->mapping, 0); f;
	     f = ffs_folio_next(inode->mapping, f->index + ffs_folio_pages(f))) {
		const struct foliofs_folio_state s = {
			.index = f->index, .order = f->order,
			.uptodate = f->flags & FFS_FOLIO_UPTODATE,
			.dirty = f->flags & FFS_FOLIO_DIRTY, .buffers = ffs_has_buffers(f),
		};

		fn(priv, &s);
	}
	return 0;
}

int foliofs_fs_folio_text(const struct foliofs_fs *fs, uint32_t ino, uint64_t index, char *buf,
			  size_t len)
{
	static const struct { enum ffs_bh_state s; char c; } letter[] = {
		{ FFS_BH_UPTODATE, 'U' }, { FFS_BH_DIRTY, 'D' }, { FFS_BH_MAPPED, 'M' },
		{ FFS_BH_NEW, 'N' }, { FFS_BH_DELAY, 'L' }, { FFS_BH_UNWRITTEN, 'W' },
		{ FFS_BH_WRITE, 'A' }, { FFS_BH_JDIRTY, 'J' },
	};
	const struct ffs_inode *inode = ffs_inode_find(super(fs), ino);
	const struct ffs_folio *f = inode ? ffs_folio_find(inode->mapping, (u32)index) : NULL;
	size_t n = 0, i;
	u32 b;

	if (!f || !len)
		return -ENOENT;
	for (b = 0; b < f->bpf && n + 12 < len; b++) {
		size_t word;

		if (b)
			buf[n++] = ' ';
		word = n;
		for (i = 0; i < ARRAY_SIZE(letter); i++)
			if (ffs_bh_test(f, letter[i].s, b))
				buf[n++] = letter[i].c;
		if (n == word)
			buf[n++] = '-';
	}
	buf[n] = 0;
	return 0;
}
