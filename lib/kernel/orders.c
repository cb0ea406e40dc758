// SPDX-License-Identifier: MIT
/*
 * What kind of inode it is: folio orders and who may have large folios, data-journal mode,
 * dioread_nolock, the iomap path.
 *
 * Stands for ext4_set_inode_mapping_order (ext4_should_enable_large_folio before),
 * mapping_max_folio_size_supported, ext4_inode_journal_mode, ext4_should_dioread_nolock,
 * ext4_should_use_buffered_iomap, ext4_journal_blocks_per_folio.
 *
 * SIMPLIFIED: encryption is the feature of the file system, not a property of an inode, and an
 * inode that holds a large attribute value is not a kind of its own.
 */
#include "credits.h"

enum {
	XARRAY_ORDER = 11, /* what a split of a folio in the page cache can handle */
	CAP_BLOCKS_ORDER = 11, /* folios of at most 2048 blocks */
};

static bool has(const struct foliofs_kernel *k, enum foliofs_change c)
{
	return foliofs_kernel_has(k, c);
}

/* The huge page of the machine: one page of 8-byte entries maps it. */
uint8_t foliofs_page_cache_order(uint32_t page_size)
{
	return (u8)min(ilog2(page_size) - 3, (unsigned int)XARRAY_ORDER);
}

uint8_t foliofs_min_order(const struct foliofs_kernel *k, const struct foliofs_geometry *g)
{
	if (!has(k, FOLIOFS_CHANGE_LARGE_BLOCK_SIZE) || g->block_size <= g->page_size)
		return 0;
	return (u8)(ilog2(g->block_size) - ilog2(g->page_size));
}

/* min(P, 11 + lb - lp), not below 0. */
static u8 capped_order(const struct foliofs_kernel *k, const struct foliofs_geometry *g)
{
	u8 order = foliofs_page_cache_order(g->page_size);
	unsigned int lb = ilog2(g->block_size) + CAP_BLOCKS_ORDER, lp = ilog2(g->page_size);

	if (!has(k, FOLIOFS_CHANGE_CF_ORDER_CAP))
		return order;
	return (u8)min((unsigned int)order, lb > lp ? lb - lp : 0);
}

/* The proposal of June 2025: a page's credits of such folios must leave half of the limit. */
static bool stopgap_refuses(const struct foliofs_kernel *k, const struct foliofs_geometry *g,
			    u8 order)
{
	struct foliofs_inode_kind i = { .extents = true, .regular = true, .order = order };
	struct foliofs_journal_limits l;
	u32 unit;

	if (!has(k, FOLIOFS_CHANGE_LF_STOPGAP) || !ffs_has_journal(g))
		return false;
	i.extents = foliofs_has_feature(g, FOLIOFS_FEATURE_EXTENTS);
	unit = ffs_unit(k, g, &i);
	foliofs_journal_limits(k, g, &l);
	return foliofs_meta_credits(k, g, &i, unit, unit).total > l.max_handle / 2;
}

/* Before 6.19: decided once for an inode in memory, by features and flags. */
static bool eligible(const struct foliofs_kernel *k, const struct foliofs_geometry *g,
		     bool journal_flag)
{
	const u32 excluded = FOLIOFS_FEATURE_VERITY | FOLIOFS_FEATURE_ENCRYPT;

	if (!has(k, FOLIOFS_CHANGE_LF_ENABLE) || g->mount.data == FOLIOFS_DATA_JOURNAL ||
	    journal_flag || (g->features & excluded))
		return false;
	if (has(k, FOLIOFS_CHANGE_LF_NEEDS_DIOREAD_NOLOCK)) {
		struct foliofs_inode_kind i = {
			.extents = foliofs_has_feature(g, FOLIOFS_FEATURE_EXTENTS),
			.regular = true,
		};

		return foliofs_dioread_nolock(k, g, &i);
	}
	return true;
}

uint8_t foliofs_max_order(const struct foliofs_kernel *k, const struct foliofs_geometry *g,
			  bool journal_flag)
{
	u8 order = capped_order(k, g), lowest = foliofs_min_order(k, g);
	struct foliofs_inode_kind i = {
		.extents = foliofs_has_feature(g, FOLIOFS_FEATURE_EXTENTS),
		.regular = true,
		.journal_flag = journal_flag,
	};

	/* the series of 2024 set the bit themselves, for iomap inodes only */
	if (has(k, FOLIOFS_CHANGE_IM_2024))
		return foliofs_buffered_iomap(k, g, &i) ? order : 0;
	if (has(k, FOLIOFS_CHANGE_LARGE_BLOCK_SIZE)) {
		if (foliofs_has_feature(g, FOLIOFS_FEATURE_ENCRYPT) || journal_flag ||
		    g->mount.data == FOLIOFS_DATA_JOURNAL)
			return lowest;
		return order > lowest ? order : lowest;
	}
	if (!eligible(k, g, journal_flag) || stopgap_refuses(k, g, order))
		return 0;
	return order;
}

uint32_t foliofs_blocks_per_folio(const struct foliofs_geometry *g, uint8_t order)
{
	if (!ffs_has_journal(g))
		return 0;
	return (u32)(((u64)g->page_size << order) / g->block_size);
}

bool foliofs_journals_data(const struct foliofs_kernel *k, const struct foliofs_geometry *g,
			   bool regular, bool journal_flag, uint8_t order)
{
	if (!ffs_has_journal(g))
		return false;
	if (!regular || g->mount.data == FOLIOFS_DATA_JOURNAL)
		return true;
	if (!journal_flag || !g->mount.nodelalloc)
		return false;
	/* a live inode with large folios keeps its mode until it is read again; since 6.19 the
	 * flag drops the cache and sets the order anew */
	return !has(k, FOLIOFS_CHANGE_LF_JOURNAL_MODE) || has(k, FOLIOFS_CHANGE_LARGE_BLOCK_SIZE) ||
	       !order;
}

bool foliofs_buffered_iomap(const struct foliofs_kernel *k, const struct foliofs_geometry *g,
			    const struct foliofs_inode_kind *i)
{
	bool next = has(k, FOLIOFS_CHANGE_IM_ENABLE), old = has(k, FOLIOFS_CHANGE_IM_2024);
	u32 excluded = FOLIOFS_FEATURE_INLINE_DATA | FOLIOFS_FEATURE_VERITY;

	if ((!next && !old) || i->buffer_heads)
		return false;
	if ((has(k, FOLIOFS_CHANGE_IM_MOUNTOPT) || has(k, FOLIOFS_CHANGE_IM_2024_MOUNTOPT)) &&
	    !g->mount.buffered_iomap)
		return false;
	if (next || !has(k, FOLIOFS_CHANGE_IM_2024_MOUNTOPT))
		excluded |= FOLIOFS_FEATURE_ENCRYPT;
	if (old && !has(k, FOLIOFS_CHANGE_IM_2024_MOUNTOPT))
		excluded |= FOLIOFS_FEATURE_BIGALLOC;
	if (next && i->journal_flag)
		return false;
	return i->regular && i->extents && !(g->features & excluded) &&
	       g->mount.data != FOLIOFS_DATA_JOURNAL;
}

/*
 * SIMPLIFIED: the mount option dioread_nolock given by hand where it is not the default (6.1 with
 * blocks smaller than a page) cannot be told from the default.
 */
bool foliofs_dioread_nolock(const struct foliofs_kernel *k, const struct foliofs_geometry *g,
			    const struct foliofs_inode_kind *i)
{
	bool set = g->block_size >= g->page_size || has(k, FOLIOFS_CHANGE_DIOREAD_NOLOCK_SMALL);

	if (has(k, FOLIOFS_CHANGE_LF_NEEDS_DIOREAD_NOLOCK) && i->order)
		return true;
	if (foliofs_buffered_iomap(k, g, i))
		return true;
	return set && !g->mount.dioread_lock && !g->mount.nodelalloc && i->regular && i->extents &&
	       !i->journal_data && g->mount.data != FOLIOFS_DATA_JOURNAL;
}

void foliofs_inode_kind_init(const struct foliofs_kernel *k, const struct foliofs_geometry *g,
			     struct foliofs_inode_kind *kind)
{
	*kind = (struct foliofs_inode_kind){
		.extents = foliofs_has_feature(g, FOLIOFS_FEATURE_EXTENTS),
		.regular = true,
	};
	kind->order = foliofs_max_order(k, g, false);
	kind->journal_data = foliofs_journals_data(k, g, true, false, kind->order);
}
