// SPDX-License-Identifier: MIT
/*
 * Folios of tmpfs: shmem_get_folio_gfp, shmem_huge_global_enabled,
 * shmem_get_orders_within_size, shmem_suitable_orders (v6.18).
 */
#include "shmem.h"

#define PMD_ORDER 9u
#define ALL_ORDERS ((1u << (PMD_ORDER + 1)) - 2) /* bit for each order from 1 on */

/* Orders whose folio around @index ends inside the file, as it will be behind the access. */
static u32 within_size(const struct ffs_super *sb, const struct ffs_inode *inode, u32 index,
		       u64 write_end)
{
	u64 pages = div_up(max(inode->i_size, write_end), ffs_page_size(&sb->env));
	u32 order, orders = 0;

	for (order = 1; order <= PMD_ORDER; order++)
		if (round_up_pow2((u64)index + 1, 1ull << order) <= pages)
			orders |= 1u << order;
	return orders;
}

/* Orders that may be tried: by the mount option, and by how the file is mapped. */
static u32 orders_of(const struct ffs_super *sb, const struct ffs_inode *inode, u32 index,
		     u64 write_end, const struct ffs_shmem_vma *vma)
{
	u32 orders = 0;

	switch (sb->env.geo.huge) {
	case FOLIOFS_HUGE_ALWAYS:
		orders = ALL_ORDERS;
		break;
	case FOLIOFS_HUGE_WITHIN_SIZE:
		orders = within_size(sb, inode, index, write_end);
		break;
	case FOLIOFS_HUGE_ADVISE:
		orders = vma && vma->huge ? 1u << PMD_ORDER : 0;
		break;
	case FOLIOFS_HUGE_NEVER:
		break;
	}
	/*
	 * The orders in between are for writes; what a fault brings in is a page, or a whole
	 * PMD if that lies inside the mapping.
	 */
	if (vma) {
		u64 first = round_down_pow2(index, 1ull << PMD_ORDER);

		orders &= 1u << PMD_ORDER;
		if (first < vma->first || first + (1ull << PMD_ORDER) > vma->end)
			orders = 0;
	}
	return orders;
}

struct ffs_folio *ffs_shmem_folio(struct ffs_super *sb, struct ffs_inode *inode, u32 index,
				  u64 write_end, const struct ffs_shmem_vma *vma)
{
	struct ffs_shmem *s = ffs_shmem(sb);
	struct ffs_folio *f = ffs_folio_find(inode->mapping, index);
	u32 orders;

	if (f)
		return f;
	/* The largest first; something in the way: the next smaller one. */
	for (orders = orders_of(sb, inode, index, write_end, vma) | 1; orders;) {
		u8 order = (u8)ilog2(orders);
		u64 pages = 1ull << order;

		orders &= ~(1u << order);
		f = ffs_folio_add(inode->mapping, index & ~((1u << order) - 1), order);
		if (!f)
			continue;
		/* Accounted for once it is in the cache: no space for it, then for a page alone. */
		if (s->used + pages > s->max_pages)
			ffs_shmem_shrink(sb, pages, f);
		if (s->used + pages > s->max_pages) {
			ffs_folio_delete(inode->mapping, f);
			orders &= 1;
			continue;
		}
		s->used += pages;
		inode->i_blocks = inode->mapping->nr_pages;
		if (order && div_up(inode->i_size, ffs_page_size(&sb->env)) < f->index + pages)
			ffs_shmem_beyond_eof(sb, inode);
		return f;
	}
	return NULL;
}

/* Folio by folio; a hole, memory nobody wrote, and where some page has failed, page by page. */
static u64 read_unit(const struct ffs_super *sb, const struct ffs_mapping *m,
		     const struct ffs_folio *f)
{
	u64 end;

	if (!f || !(f->flags & FFS_FOLIO_UPTODATE) ||
	    !ffs_sb_has(sb, FOLIOFS_CHANGE_SHMEM_READ_FOLIO))
		return ffs_page_size(&sb->env);
	end = (u64)f->index + ffs_folio_pages(f);
	return ffs_page_poisoned(m, f->index, end) < end ? ffs_page_size(&sb->env) :
							    ffs_folio_size(m, f);
}

u64 ffs_shmem_read_step(const struct ffs_super *sb, const struct ffs_inode *inode, u64 pos, u64 len,
			u64 *unit)
{
	u64 page = pos >> sb->env.page_bits;

	*unit = read_unit(sb, inode->mapping, ffs_folio_find(inode->mapping, (u32)page));
	if (ffs_page_poisoned(inode->mapping, page, page + 1) == page)
		return 0;
	return min(min(*unit - (pos & (*unit - 1)), len), inode->i_size - pos);
}
