// SPDX-License-Identifier: MIT
/*
 * Without space, what huge folios hold behind EOF is given back: shmem_unused_huge_shrink,
 * split_folio (v6.18).
 */
#include "shmem.h"

void ffs_shmem_beyond_eof(struct ffs_super *sb, struct ffs_inode *inode)
{
	struct ffs_shmem *s = ffs_shmem(sb);
	u32 i;

	for (i = 0; i < s->nr_beyond; i++)
		if (s->beyond[i] == inode)
			return;
	if (s->nr_beyond == s->cap_beyond) {
		s->cap_beyond = s->cap_beyond ? 2 * s->cap_beyond : 8;
		s->beyond = ffs_realloc(s->beyond, s->cap_beyond * sizeof(struct ffs_inode *));
	}
	s->beyond[s->nr_beyond++] = inode;
}

static void forget(struct ffs_shmem *s, u32 i)
{
	s->nr_beyond--;
	for (; i < s->nr_beyond; i++)
		s->beyond[i] = s->beyond[i + 1];
}

void ffs_shmem_forget(struct ffs_super *sb, const struct ffs_inode *inode)
{
	struct ffs_shmem *s = ffs_shmem(sb);
	u32 i;

	for (i = 0; i < s->nr_beyond; i++)
		if (s->beyond[i] == inode) {
			forget(s, i);
			return;
		}
}

/* @f becomes single pages; those at and behind page @end go.  Returns how many. */
static u64 split(struct ffs_mapping *m, const struct ffs_folio *f, u64 end)
{
	u32 i, first = f->index, next = f->index + ffs_folio_pages(f);

	for (i = first; i < next; i++) {
		struct ffs_folio *p = ffs_folio_find(m, i);

		if (p->order)
			ffs_folio_split(m, p, i, ~0ull);
	}
	for (i = (u32)end; i < next; i++)
		ffs_folio_delete(m, ffs_folio_find(m, i));
	return next - end;
}

void ffs_shmem_shrink(struct ffs_super *sb, u64 want, const struct ffs_folio *locked)
{
	struct ffs_shmem *s = ffs_shmem(sb);
	u64 page = ffs_page_size(&sb->env), freed = 0;
	u32 i;

	/* Who came last goes first. */
	for (i = s->nr_beyond; i-- && freed < want;) {
		struct ffs_inode *inode = s->beyond[i];
		struct ffs_mapping *m = inode->mapping;
		struct ffs_folio *f = ffs_folio_find(m, (u32)(inode->i_size / page));
		u64 end = max(div_up(inode->i_size, page), m->alloc_end), n;

		if (f && f->order && end > f->index && end < (u64)f->index + ffs_folio_pages(f)) {
			if (f == locked)
				continue; /* some other time */
			n = split(m, f, end);
			freed += n;
			s->used -= n;
			inode->i_blocks = m->nr_pages;
		}
		forget(s, i);
	}
}
