// SPDX-License-Identifier: MIT
/*
 * Cutting extents: ext4_split_extent_at, ext4_split_extent and
 * ext4_force_split_extent_at.
 *
 * A cut needs a new entry and perhaps new tree blocks.  Where there is no space
 * for these, an unwritten extent that lies inside the file may be zeroed on disk
 * and become written instead.
 */
#include "blockmap/es.h"
#include "blockmap/ext.h"

void ffs_zero_out(struct ffs_ext_walk *w, const struct ffs_extent *e)
{
	if (w->bm->zeroed_out)
		w->bm->zeroed_out(w->bm->priv, w->inode, e->lblk, e->pblk, e->len);
}

static bool no_space(int err)
{
	return err == -ENOSPC || err == -EDQUOT || err == -ENOMEM;
}

/* The cut at @split failed for want of space and may be replaced by zeros. */
static int zero_instead(struct ffs_ext_walk *w, const struct ffs_extent *orig,
			const struct ffs_extent *second, u32 split_flags)
{
	struct ffs_extent zero = *orig, *e = ffs_walk_extent(w);
	int err;

	if (split_flags & (FFS_SPLIT_VALID1 | FFS_SPLIT_PARTLY1))
		zero = *second;
	else if (split_flags & FFS_SPLIT_VALID2)
		zero.len = second->lblk - orig->lblk;
	ffs_zero_out(w, &zero);

	if (split_flags & FFS_SPLIT_PARTLY1) {
		/* the first part is cut once more: until then all stays as it was */
		ffs_es_remove(w->bm, w->inode, zero.lblk, zero.len);
		*e = *orig;
		return ffs_walk_dirty(w, w->depth, "ext4_split_extent_at");
	}
	e->len = orig->len;
	e->unwritten = 0;
	ffs_walk_merge(w);
	err = ffs_walk_dirty(w, w->depth, "ext4_split_extent_at");
	if (!err)
		ffs_es_insert_mapped(w->bm, w->inode, zero.lblk, zero.len, zero.pblk,
				     FFS_ES_WRITTEN, false);
	return err;
}

int ffs_split_at(struct ffs_ext_walk *w, u32 split, u32 split_flags, u32 flags)
{
	struct ffs_extent orig, second, *e;
	int err;

	ffs_walk_own(w, w->depth);
	e = ffs_walk_extent(w);
	orig = *e;
	if (split == orig.lblk) {
		e->unwritten = !!(split_flags & FFS_SPLIT_UNWRITTEN2);
		if (!(flags & FFS_GET_PRE_IO))
			ffs_walk_merge(w);
		return ffs_walk_dirty(w, w->depth, "ext4_split_extent_at");
	}
	e->len = split - orig.lblk;
	e->unwritten = !!(split_flags & FFS_SPLIT_UNWRITTEN1);
	err = ffs_walk_dirty(w, w->depth, "ext4_split_extent_at");
	if (!err) {
		second.lblk = split;
		second.len = ffs_extent_end(&orig) - split;
		second.pblk = orig.pblk + (split - orig.lblk);
		second.unwritten = !!(split_flags & FFS_SPLIT_UNWRITTEN2);
		err = ffs_ext_insert(w, &second, flags);
		if (!no_space(err))
			return err;
	}

	/* the tree may have grown before the space ran out */
	ffs_walk_find(w, orig.lblk, flags);
	ffs_walk_own(w, w->depth);
	if (no_space(err) && (split_flags & FFS_SPLIT_MAY_ZERO))
		return zero_instead(w, &orig, &second, split_flags);
	*ffs_walk_extent(w) = orig;
	ffs_walk_dirty(w, w->depth, "ext4_split_extent_at");
	return err;
}

int ffs_split_range(struct ffs_ext_walk *w, u32 lblk, u32 len, u32 split_flags, u32 flags)
{
	struct ffs_extent e = *ffs_walk_extent(w);
	bool partial = ffs_has(w->bm->env, FOLIOFS_CHANGE_ZEROOUT_PARTIAL);
	u32 sf, allocated = len;
	int err;

	if (lblk + len < ffs_extent_end(&e)) {
		sf = split_flags & FFS_SPLIT_MAY_ZERO;
		if (e.unwritten)
			sf |= FFS_SPLIT_UNWRITTEN1 | FFS_SPLIT_UNWRITTEN2;
		if (split_flags & FFS_SPLIT_VALID2)
			sf |= partial && lblk > e.lblk ? FFS_SPLIT_PARTLY1 : FFS_SPLIT_VALID1;
		err = ffs_split_at(w, lblk + len, sf, flags | FFS_GET_PRE_IO);
		if (err)
			return err;
	} else {
		allocated = ffs_extent_end(&e) - lblk;
	}

	ffs_walk_find(w, lblk, flags);
	sf = split_flags & FFS_SPLIT_VALID2;
	/* zeroed in the place of the first cut: written already */
	if (ffs_walk_extent(w)->unwritten)
		sf |= FFS_SPLIT_UNWRITTEN1 |
		      (split_flags & (FFS_SPLIT_MAY_ZERO | FFS_SPLIT_UNWRITTEN2));
	err = ffs_split_at(w, lblk, sf, flags);
	return err ? err : (int)allocated;
}

int ffs_split_keep(struct ffs_ext_walk *w, u32 split, bool nofail)
{
	u32 flags = FFS_GET_EX_NOCACHE | FFS_GET_PRE_IO;
	u32 sf = 0;

	if (nofail)
		flags |= FFS_GET_METADATA_NOFAIL;
	if (ffs_walk_extent(w)->unwritten)
		sf = FFS_SPLIT_UNWRITTEN1 | FFS_SPLIT_UNWRITTEN2;
	return ffs_split_at(w, split, sf, flags);
}
