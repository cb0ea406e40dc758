// SPDX-License-Identifier: MIT
/*
 * Memory that fails, and reclaim that meets it: memory_failure where the folio cannot be
 * split, madvise_cold_or_pageout_pte_range, shrink_folio_list (v6.18).
 *
 * Reclaim unmaps a folio page by page.  One that a page table maps as a whole (order of a PMD,
 * inside the mapping) has no entries of its own for its pages.
 */
#include "ops.h"

#define PMD_ORDER 9u

s64 ffs_hwpoison(struct ffs_ops *o, struct ffs_file *f, u64 off)
{
	struct ffs_mapping *m = f->inode->mapping;
	u32 page = (u32)(off >> o->sb.env.page_bits);
	struct ffs_folio *folio = ffs_folio_find(m, page);

	/* The page has to be there: a mapping of it is what fails. */
	if (!folio || !(folio->flags & FFS_FOLIO_UPTODATE) || off >= f->inode->i_size)
		return -EFAULT;
	ffs_page_poison(m, page);
	ffs_emit(&o->sb.env, foliofs_poison, f->inode->ino, page, folio->order);
	return 0;
}

/* What becomes of a folio with a failed page; false: it stays in the cache. */
static bool reclaim_poisoned(struct ffs_super *sb, struct ffs_mapping *m, struct ffs_folio *f)
{
	const char *verdict;

	if (!ffs_sb_has(sb, FOLIOFS_CHANGE_RECLAIM_POISON)) {
		verdict = "assertion";
		ffs_emit(&sb->env, foliofs_assert, m->inode->ino,
			 ffs_str("reclaim unmaps a page that has failed"));
	} else if (!f->order) {
		verdict = "freed";
	} else if (ffs_sb_has(sb, FOLIOFS_CHANGE_POISON_KEEP_LARGE)) {
		verdict = "kept";
	} else if (f->order < PMD_ORDER) {
		verdict = "unmapped";
	} else {
		verdict = "crash";
		ffs_emit(&sb->env, foliofs_assert, m->inode->ino,
			 ffs_str("reclaim unmaps a folio that has no page table entries"));
	}
	ffs_emit(&sb->env, foliofs_reclaim_poison, m->inode->ino, f->index, f->order,
		 ffs_str(verdict));
	return !f->order && ffs_sb_has(sb, FOLIOFS_CHANGE_RECLAIM_POISON);
}

s64 ffs_pageout(struct ffs_ops *o, struct ffs_file *f, u64 off, u64 len)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_mapping *m = f->inode->mapping;
	u8 bits = sb->env.page_bits;
	u64 index = off >> bits, end = (off + len) >> bits;
	struct ffs_folio *folio;

	while (index < end && (folio = ffs_folio_next(m, (u32)index)) && folio->index < end) {
		u64 next = (u64)folio->index + ffs_folio_pages(folio);

		/* A folio that is partly outside is left alone: it could not be split. */
		if (folio->index < index || next > end) {
			index = next;
			continue;
		}
		index = next;
		if (ffs_page_poisoned(m, folio->index, next) == next)
			ffs_invalidate_clean(sb, f->inode, folio->index, (u32)next - 1);
		else if (reclaim_poisoned(sb, m, folio))
			ffs_folio_delete(m, folio);
	}
	return 0;
}
