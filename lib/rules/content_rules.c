// SPDX-License-Identifier: MIT
/*
 * Rules of content: what an operation read, zeroed or wrote to the device is what the
 * operations before it say (truth.h), and the rest of the last block is zero on disk.
 */
#include "ops/fs_type.h"
#include "truth.h"

/* Ranges an operation may touch before the rest of them is left to later checks. */
#define MAX_TOUCHED 4096u

void ffs_truth_touch(struct foliofs_fs *fs, u32 ino, bool disk, u64 first, u64 end)
{
	struct ffs_truths *t = ffs_truths(fs);
	struct ffs_touched *last = t->nr_touched ? &t->touched[t->nr_touched - 1] : NULL;

	if (last && last->ino == ino && last->disk == disk && first <= last->end &&
	    end >= last->first) {
		last->first = min(last->first, first);
		last->end = max(last->end, end);
		return;
	}
	if (t->nr_touched == MAX_TOUCHED)
		return;
	if (t->nr_touched == t->cap_touched) {
		t->cap_touched = t->cap_touched ? 2 * t->cap_touched : 16;
		t->touched = ffs_realloc(t->touched, t->cap_touched * sizeof(*t->touched));
	}
	t->touched[t->nr_touched++] = (struct ffs_touched){ ino, disk, first, end };
}

struct check {
	struct foliofs_fs *fs;
	u32 ino;
	const struct ffs_runs *want;
	bool done; /* one report for a check */
};

/* [first, end) should be @src, written at @off (0: zeros), and is @c. */
static void report(struct check *k, u64 first, u64 end, u64 src, const struct foliofs_content *c)
{
	unsigned long long a = first, b = end;
	u32 op = ffs_src_op(src);

	k->done = true;
	if (c->kind == FOLIOFS_SOURCE_UNKNOWN)
		ffs_rule_broken(k->fs, FOLIOFS_RULE_STALE_DATA, k->ino,
				"bytes [%llu,%llu) are memory that nobody filled", a, b);
	else if (src == FFS_SRC_ZERO)
		ffs_rule_broken(k->fs, FOLIOFS_RULE_STALE_DATA, k->ino,
				"bytes [%llu,%llu) have to be zero and are what operation %u wrote",
				a, b, c->source);
	else if (c->kind == FOLIOFS_SOURCE_OP)
		ffs_rule_broken(k->fs, FOLIOFS_RULE_LOST_WRITE, k->ino,
				"bytes [%llu,%llu) of operation %u are what operation %u wrote to "
				"inode %u at %llu", a, b, op, c->source, c->owner,
				(unsigned long long)(c->source_offset + (first - c->offset)));
	else
		ffs_rule_broken(k->fs, FOLIOFS_RULE_LOST_WRITE, k->ino,
				"bytes [%llu,%llu) of operation %u are zero", a, b, op);
}

static void compare(struct check *k, u64 first, u64 end, u64 src, u64 off,
		    const struct foliofs_content *c)
{
	bool zero = c->kind == FOLIOFS_SOURCE_ZERO || c->kind == FOLIOFS_SOURCE_HOLE;

	if (k->done || first >= end)
		return;
	/* Old content of the disk has its own event, and is allowed with data=writeback. */
	if (c->kind == FOLIOFS_SOURCE_STALE)
		return;
	if (src == FFS_SRC_ZERO ? zero :
				  c->kind == FOLIOFS_SOURCE_OP && c->source == ffs_src_op(src) &&
					  c->owner == ffs_src_ino(src) &&
					  c->source_offset + (first - c->offset) == off)
		return;
	report(k, first, end, src, c);
}

static void check_piece(void *priv, const struct foliofs_content *c)
{
	struct check *k = priv;
	u64 at = c->offset, end = c->offset + c->len;
	struct ffs_runs_pos pos;
	const struct ffs_run *r;

	if (k->done)
		return;
	ffs_runs_for_each(k->want, r, pos, at, end) {
		u64 first = max(r->first, at);

		compare(k, at, first, FFS_SRC_ZERO, 0, c);
		compare(k, first, min(r->end, end), r->b, first + r->a, c);
		at = min(r->end, end);
	}
	compare(k, at, end, FFS_SRC_ZERO, 0, c);
}

/* Bytes of the cache: two sorted maps side by side, nobody is asked where the blocks are. */
static void check_cached(struct check *k, const struct ffs_runs *have, u64 first, u64 end)
{
	struct ffs_runs_pos wpos, hpos;
	const struct ffs_run *w = ffs_runs_at(k->want, first, &wpos);
	const struct ffs_run *h = ffs_runs_at(have, first, &hpos);

	while (first < end) {
		u64 next = end, src = FFS_SRC_ZERO, off = 0, is = FFS_SRC_ZERO, is_off = 0;

		if (w && w->first <= first) {
			src = w->b;
			off = first + w->a;
			next = min(next, w->end);
		} else if (w) {
			next = min(next, w->first);
		}
		if (h && h->first <= first) {
			is = h->b;
			is_off = first + h->a;
			next = min(next, h->end);
		} else if (h) {
			next = min(next, h->first);
		}
		if (is != src || (src != FFS_SRC_ZERO && is_off != off)) {
			struct foliofs_content c;

			ffs_content_describe(&c, first, next - first, is, is_off, true);
			compare(k, first, next, src, off, &c);
		}
		first = next;
		if (w && w->end <= first)
			w = ffs_runs_next(k->want, &wpos);
		if (h && h->end <= first)
			h = ffs_runs_next(have, &hpos);
	}
}

static void check_range(struct foliofs_fs *fs, const struct ffs_inode *inode, bool disk, u64 first,
			u64 end)
{
	struct check k = { .fs = fs, .ino = inode->ino, .want = ffs_truth_of(fs, inode->ino) };

	end = min(end, inode->i_size);
	if (!k.want || (inode->flags & FFS_INODE_INLINE_DATA))
		return;
	while (first < end) {
		u64 next = end, to = disk ? first : ffs_cached_end(inode, first, end, &next);

		if (to > first) {
			check_cached(&k, &inode->mapping->content, first, to);
		} else {
			to = disk ? end : min(next, end);
			ffs_content_walk(fs, inode, first, to, !disk, check_piece, &k);
		}
		first = to;
	}
}

u64 ffs_dirty_until(const struct ffs_inode *inode, u64 pos, bool *dirty)
{
	const struct ffs_mapping *m = inode->mapping;
	const struct ffs_folio *f = ffs_folio_next(m, (u32)(pos >> m->env->page_bits));
	u32 b;

	*dirty = false;
	if (!f || ffs_folio_pos(m, f) > pos)
		return f ? ffs_folio_pos(m, f) : ~0ull;
	if (!ffs_has_buffers(f)) {
		*dirty = f->flags & FFS_FOLIO_DIRTY;
		return ffs_folio_end(m, f);
	}
	b = (u32)((pos - ffs_folio_pos(m, f)) >> m->env->block_bits);
	*dirty = ffs_bh_test(f, FFS_BH_DIRTY, b);
	b = *dirty ? ffs_bh_next_clear(f, FFS_BH_DIRTY, b, f->bpf) :
		     ffs_bh_next(f, FFS_BH_DIRTY, b, f->bpf);
	return ffs_folio_pos(m, f) + ((u64)b << m->env->block_bits);
}

bool ffs_holds_data(const struct ffs_mapping *m, u64 pos, u64 end)
{
	struct ffs_runs_pos at;
	const struct ffs_run *r;

	ffs_runs_for_each(&m->content, r, at, pos, end)
		if (r->b != FFS_SRC_ZERO)
			return true;
	return false;
}

/* What of [first, end) is on its way to the disk again is not looked at. */
static void check_disk(struct foliofs_fs *fs, const struct ffs_inode *inode, u64 first, u64 end)
{
	bool dirty;

	/* Journalled data gets to its place some time behind the commit. */
	if (ffs_should_journal_data(&fs->ops.sb, inode))
		return;
	while (first < end) {
		u64 next = ffs_dirty_until(inode, first, &dirty);

		if (!dirty)
			check_range(fs, inode, true, first, min(next, end));
		first = next;
	}
}

/* A block of a write that is clean in the cache, though nothing has written it. */
static void check_kept(struct foliofs_fs *fs, const struct ffs_inode *inode, u64 pos)
{
	const struct ffs_mapping *m = inode->mapping;
	const struct ffs_folio *f = ffs_folio_find(m, (u32)(pos >> m->env->page_bits));
	u64 block = pos & ~(u64)(ffs_block_size(m->env) - 1);
	u32 b;

	if (!f || !ffs_has_buffers(f))
		return;
	b = (u32)((pos - ffs_folio_pos(m, f)) >> m->env->block_bits);
	if (ffs_bh_test(f, FFS_BH_DIRTY, b) || ffs_bh_test(f, FFS_BH_JDIRTY, b) ||
	    ffs_bh_test(f, FFS_BH_WRITE, b))
		return;
	check_range(fs, inode, true, block, block + ffs_block_size(m->env));
}

/* Behind EOF the last block on disk is zero, once it has been written. */
static void check_tail(struct foliofs_fs *fs, const struct ffs_inode *inode)
{
	const struct ffs_super *sb = &fs->ops.sb;
	u64 mask = ffs_block_size(&sb->env) - 1, from, end;
	u32 lblk = (u32)(inode->i_size >> sb->env.block_bits);
	struct ffs_map_run run;
	struct ffs_runs_pos at;
	const struct ffs_run *r;

	/* A truncate that failed half way has not come to zero it. */
	if (sb->env.failures_on && !ffs_truth_of(fs, inode->ino))
		return;
	/* Nor has anybody zeroed what had reached the device before a power cut, unlike the size. */
	if (ffs_truth_found_at(fs, inode->ino, inode->i_size))
		return;
	if (!(inode->i_size & mask) || (inode->flags & FFS_INODE_INLINE_DATA) ||
	    ffs_should_journal_data(sb, inode) || !ffs_next_run(inode, lblk, &run) ||
	    run.lblk > lblk || run.unwritten)
		return;
	from = ((run.pblk + (lblk - run.lblk)) << sb->env.block_bits) + (inode->i_size & mask);
	end = (from | mask) + 1;
	ffs_runs_for_each(&sb->disk, r, at, from, end)
		if (r->b != FFS_SRC_ZERO) {
			ffs_rule_broken(fs, FOLIOFS_RULE_EOF_TAIL, inode->ino,
					"behind EOF %llu bytes [%llu,%llu) on disk are what operation "
					"%u wrote", (unsigned long long)inode->i_size,
					(unsigned long long)(inode->i_size +
							     (max(r->first, from) - from)),
					(unsigned long long)(inode->i_size +
							     (min(r->end, end) - from)),
					ffs_src_op(r->b));
			return;
		}
}

void ffs_rule_dropping(struct foliofs_fs *fs, u32 ino, u64 first, u64 end)
{
	struct ffs_truths *t = ffs_truths(fs);

	if (ino != t->dropped_ino)
		ffs_runs_free(&t->dropped);
	t->dropped_ino = ino;
	ffs_content_zero(&t->dropped, first, end);
}

void ffs_rule_zeroed(struct foliofs_fs *fs, u32 ino, u64 first, u64 end)
{
	struct ffs_truths *t = ffs_truths(fs);
	u64 block = ffs_block_size(&fs->ops.sb.env);

	if (ino == t->dropped_ino)
		ffs_runs_clear(&t->dropped, round_down_pow2(first, block), round_up_pow2(end, block));
}

/* Dirty blocks of a piece that was dropped: they will be written, as zeros. */
static bool still_dirty(struct foliofs_fs *fs, const struct ffs_inode *inode, u64 pos, u64 end)
{
	u64 block = ffs_block_size(&fs->ops.sb.env), next;
	bool dirty;

	pos = round_up_pow2(pos, block);
	end = round_down_pow2(min(end, inode->i_size), block);
	for (; pos < end; pos = next) {
		next = ffs_dirty_until(inode, pos, &dirty);
		if (!dirty)
			continue;
		ffs_rule_broken(fs, FOLIOFS_RULE_DROPPED_DIRTY, inode->ino,
				"bytes [%llu,%llu) have been dropped from the cache and are dirty",
				(unsigned long long)pos, (unsigned long long)min(next, end));
		return true;
	}
	return false;
}

void ffs_rule_dropped(struct foliofs_fs *fs, const struct ffs_inode *inode,
		      const struct foliofs_op *op)
{
	struct ffs_truths *t = ffs_truths(fs);
	struct ffs_runs_pos at;
	const struct ffs_run *r;

	/* (At stops others may have written meanwhile.) */
	if (inode->ino == t->dropped_ino && !fs->stop_fn && op->kind == FOLIOFS_OP_FALLOCATE &&
	    (op->flags & (FOLIOFS_FALLOC_PUNCH_HOLE | FOLIOFS_FALLOC_ZERO_RANGE)))
		ffs_runs_for_each(&t->dropped, r, at, op->off, op->off + op->len)
			if (still_dirty(fs, inode, max(r->first, op->off),
					min(r->end, op->off + op->len)))
				break;
	ffs_runs_free(&t->dropped);
	t->dropped_ino = 0;
}

void ffs_truth_check(struct foliofs_fs *fs, const struct foliofs_op *op, s64 result)
{
	const struct ffs_file *f = ffs_file(&fs->ops, op->file);
	struct ffs_truths *truths = ffs_truths(fs);
	struct ffs_inode *inode;
	u32 i;

	for (i = 0; i < truths->nr_touched; i++) {
		const struct ffs_touched *t = &truths->touched[i];

		inode = ffs_inode_find(&fs->ops.sb, t->ino);
		if (!inode || !ffs_is_reg(inode))
			continue;
		if (t->disk)
			check_disk(fs, inode, t->first, t->end);
		else
			check_range(fs, inode, false, t->first, t->end);
	}
	truths->nr_touched = 0;
	inode = f ? f->inode : NULL;
	if (!inode || !ffs_is_reg(inode))
		return;
	switch (op->kind) {
	case FOLIOFS_OP_READ:
	case FOLIOFS_OP_MREAD:
		if (result > 0)
			check_range(fs, inode, false, op->off, op->off + (u64)result);
		break;
	case FOLIOFS_OP_WRITE:
		if (result > 0) {
			check_kept(fs, inode, op->off);
			check_kept(fs, inode, op->off + (u64)result - 1);
		}
		break;
	case FOLIOFS_OP_FSYNC:
		if (!result && !fs->ops.sb.type)
			check_tail(fs, inode);
		else if (!result && !fs->ops.sb.type->in_memory)
			check_range(fs, inode, true, 0, inode->i_size);
		break;
	default:
		break;
	}
}
