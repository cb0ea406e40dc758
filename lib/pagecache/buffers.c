// SPDX-License-Identifier: MIT
/*
 * Buffer state of a folio as bitmaps: one word operation for 64 buffers.
 * Stands for the ring of buffer heads (fs/buffer.c); see folio.h.
 */
#include "folio.h"

static u32 words(const struct ffs_folio *f)
{
	return (f->bpf + 63u) / 64;
}

static u64 *word(struct ffs_folio *f, enum ffs_bh_state s, u32 w)
{
	return &f->bits[s * words(f) + w];
}

/* Bits [first, end) of word @w that lie in it. */
static u64 mask(u32 w, u32 first, u32 end)
{
	u32 lo = first > w * 64 ? first - w * 64 : 0;
	u32 hi = end < (w + 1) * 64 ? end - w * 64 : 64;
	u64 m = ~0ull << lo;

	return hi == 64 ? m : m & ~(~0ull << hi);
}

void ffs_bh_set_many(struct ffs_folio *f, enum ffs_bh_state s, u32 first, u32 end)
{
	u32 w;

	for (w = first / 64; w * 64 < end; w++)
		*word(f, s, w) |= mask(w, first, end);
}

void ffs_bh_clear_many(struct ffs_folio *f, enum ffs_bh_state s, u32 first, u32 end)
{
	u32 w;

	for (w = first / 64; w * 64 < end; w++)
		*word(f, s, w) &= ~mask(w, first, end);
}

u32 ffs_bh_next_many(const struct ffs_folio *f, enum ffs_bh_state s, u32 from, u32 end)
{
	u32 w;

	for (w = from / 64; w * 64 < end; w++) {
		u64 v = ffs_bh_word(f, s, w) & mask(w, from, end);

		if (v)
			return w * 64 + (u32)__builtin_ctzll(v);
	}
	return end;
}

u32 ffs_bh_next_clear_many(const struct ffs_folio *f, enum ffs_bh_state s, u32 from, u32 end)
{
	u32 w;

	for (w = from / 64; w * 64 < end; w++) {
		u64 v = ~ffs_bh_word(f, s, w) & mask(w, from, end);

		if (v)
			return w * 64 + (u32)__builtin_ctzll(v);
	}
	return end;
}

/* Some block of [first, end) has a number. */
static bool any_numbered(const struct ffs_folio *f, u32 first, u32 end)
{
	u32 w;

	for (w = first / 64; w * 64 < end; w++)
		if ((ffs_bh_word(f, FFS_BH_MAPPED, w) | ffs_bh_word(f, FFS_BH_UNWRITTEN, w)) &
		    ~ffs_bh_word(f, FFS_BH_DELAY, w) & mask(w, first, end))
			return true;
	return false;
}

static void scatter(struct ffs_folio *f)
{
	u64 first = f->blocknr;
	u32 b;

	f->blocknrs = ffs_zalloc(f->bpf * sizeof(*f->blocknrs));
	f->flags |= FFS_FOLIO_SCATTERED;
	for (b = 0; b < f->bpf; b++)
		f->blocknrs[b] = first + b;
}

void ffs_bh_set_blocknr(struct ffs_folio *f, u32 first, u32 end, u64 pblk)
{
	if (!(f->flags & FFS_FOLIO_SCATTERED)) {
		if (f->blocknr == pblk - first)
			return;
		if (!any_numbered(f, 0, first) && !any_numbered(f, end, f->bpf)) {
			f->blocknr = pblk - first;
			return;
		}
		scatter(f);
	}
	for (; first < end; first++)
		f->blocknrs[first] = pblk++;
}

u32 ffs_bh_adjacent_end(const struct ffs_folio *f, u32 b, u32 end)
{
	if (!(f->flags & FFS_FOLIO_SCATTERED))
		return end;
	for (b++; b < end && f->blocknrs[b] == f->blocknrs[b - 1] + 1; b++)
		;
	return b;
}

void ffs_folio_attach_buffers(struct ffs_mapping *m, struct ffs_folio *f)
{
	u32 blocks = (u32)(ffs_folio_size(m, f) >> m->env->block_bits);

	if (ffs_has_buffers(f))
		return;
	f->bpf = (u16)(blocks ? blocks : 1); /* a block larger than the folio: one buffer */
	if (f->bpf > 8)
		f->bits = ffs_zalloc(FFS_BH_NR * words(f) * sizeof(u64));
	else
		memset(f->tiny, 0, sizeof(f->tiny));
	f->flags |= FFS_FOLIO_BUFFERS;
	if (f->flags & FFS_FOLIO_UPTODATE)
		ffs_bh_set(f, FFS_BH_UPTODATE, 0, f->bpf);
	/* A dirty folio without buffers was dirtied through a mapping: all blocks are. */
	if (f->flags & FFS_FOLIO_DIRTY)
		ffs_bh_set(f, FFS_BH_DIRTY, 0, f->bpf);
}

void ffs_folio_strip_buffers(struct ffs_folio *f)
{
	if (!ffs_has_buffers(f))
		return;
	if (f->bpf > 8)
		free(f->bits);
	if (f->flags & FFS_FOLIO_SCATTERED)
		free(f->blocknrs);
	memset(f->tiny, 0, sizeof(f->tiny));
	f->bpf = 0;
	f->flags &= (u8)~(FFS_FOLIO_BUFFERS | FFS_FOLIO_SCATTERED);
}
