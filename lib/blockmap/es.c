// SPDX-License-Identifier: MIT
/*
 * The extent status tree: ext4_es_insert_extent, ext4_es_cache_extent,
 * ext4_es_insert_delayed_extent, ext4_es_remove_extent, ext4_es_lookup_extent, and
 * the caching of holes that ext4_ext_determine_insert_hole (before:
 * ext4_ext_put_gap_in_cache) does.
 *
 * SIMPLIFIED: an entry is never reclaimed for want of memory unless the caller
 * asks for it (ffs_es_drop_clean); the referenced bit is not kept.
 */
#include "blockmap/es.h"

void ffs_es_init(struct ffs_inode *inode)
{
	if (!inode->es)
		inode->es = ffs_zalloc(sizeof(*inode->es));
}

void ffs_es_free(struct ffs_inode *inode)
{
	if (!inode->es)
		return;
	ffs_runs_free(&inode->es->runs);
	ffs_runs_free(&inode->es->pending);
	free(inode->es);
	inode->es = NULL;
}

static bool is_mapped(u64 type)
{
	return type & (FFS_ES_WRITTEN | FFS_ES_UNWRITTEN);
}

static void to_es(const struct ffs_run *r, struct ffs_es *es)
{
	es->lblk = (u32)r->first;
	es->len = (u32)(r->end - r->first);
	es->type = (u32)r->b;
	es->pblk = is_mapped(r->b) ? r->a + r->first : 0;
}

bool ffs_es_lookup(const struct ffs_inode *inode, u32 lblk, struct ffs_es *es)
{
	const struct ffs_run *r = ffs_runs_find(&inode->es->runs, lblk);

	if (!r)
		return false;
	to_es(r, es);
	return true;
}

bool ffs_es_next(const struct ffs_inode *inode, u64 lblk, struct ffs_es *es)
{
	struct ffs_runs_pos pos;
	const struct ffs_run *r = ffs_runs_at(&inode->es->runs, lblk, &pos);

	if (!r)
		return false;
	to_es(r, es);
	return true;
}

bool ffs_es_scan(const struct ffs_inode *inode, u64 first, u64 end, u32 types)
{
	const struct ffs_run *r;
	struct ffs_runs_pos pos;

	ffs_runs_for_each(&inode->es->runs, r, pos, first, end)
		if (r->b & types)
			return true;
	return false;
}

bool ffs_es_find_delayed(const struct ffs_inode *inode, u64 first, u64 end, struct ffs_es *es)
{
	const struct ffs_run *r;
	struct ffs_runs_pos pos;

	ffs_runs_for_each(&inode->es->runs, r, pos, first, end) {
		if (!(r->b & FFS_ES_DELAYED))
			continue;
		to_es(r, es);
		return true;
	}
	return false;
}

static void put(struct ffs_inode *inode, u32 lblk, u32 len, u64 pblk, u32 type)
{
	ffs_runs_set(&inode->es->runs, lblk, (u64)lblk + len, is_mapped(type) ? pblk - lblk : 0,
		     type);
}

static void emit_insert(struct ffs_blockmap *bm, const struct ffs_inode *inode, u32 lblk, u32 len,
			u64 pblk, u32 type)
{
	ffs_emit(bm->env, ext4_es_insert_extent, inode->ino, lblk, len, is_mapped(type) ? pblk : 0,
		 type);
}

u64 ffs_es_seq(const struct ffs_inode *inode)
{
	return inode->es->seq;
}

static void changed(struct ffs_blockmap *bm, struct ffs_inode *inode, u32 lblk, u32 len)
{
	inode->es->seq++;
	if (bm->mapping_changed)
		bm->mapping_changed(bm->priv, inode, lblk, len);
}

void ffs_es_insert_mapped(struct ffs_blockmap *bm, struct ffs_inode *inode, u32 lblk, u32 len,
			  u64 pblk, u32 type, bool claim)
{
	bool count = ffs_has(bm->env, FOLIOFS_CHANGE_ES_RSV_IN_STATUS) &&
		     !bm->env->geo.mount.nodelalloc;
	u32 used = 0;

	if (!len)
		return;
	emit_insert(bm, inode, lblk, len, pblk, type);
	if (count)
		used = ffs_es_count_removed(bm, inode, lblk, (u64)lblk + len);
	put(inode, lblk, len, pblk, type);
	if (is_mapped(type) && !bm->env->geo.mount.nodelalloc) {
		u32 pending = ffs_es_revise_pending(bm, inode, lblk, len);

		if (count)
			used += pending;
	}
	changed(bm, inode, lblk, len);
	if (used)
		ffs_da_update_reserve(bm, inode, used, claim);
}

void ffs_es_cache_answer(struct ffs_blockmap *bm, struct ffs_inode *inode, u32 lblk, u32 len,
			 u64 pblk, u32 type)
{
	if (!len)
		return;
	if (ffs_has(bm->env, FOLIOFS_CHANGE_ES_CACHE)) {
		/* what the disk says changes nothing: no event, no new sequence number */
		put(inode, lblk, len, pblk, type);
		return;
	}
	ffs_es_insert_mapped(bm, inode, lblk, len, pblk, type, false);
}

/* Before hole-length: cached up to the first delayed block, reported as if there were none. */
static u32 cache_hole_old(struct ffs_blockmap *bm, struct ffs_inode *inode, u32 lblk, u32 start,
			  u32 len)
{
	struct ffs_es delayed;
	u32 cached = len;

	if (ffs_es_find_delayed(inode, start, (u64)start + len, &delayed)) {
		if (delayed.lblk <= start)
			return len - (lblk - start);
		cached = min(delayed.lblk - start, len);
	}
	ffs_es_cache_answer(bm, inode, start, cached, 0, FFS_ES_HOLE);
	return len - (lblk - start);
}

u32 ffs_es_cache_hole(struct ffs_blockmap *bm, struct ffs_inode *inode, u32 lblk, u32 start,
		      u32 len)
{
	struct ffs_es delayed;

	if (!ffs_has(bm->env, FOLIOFS_CHANGE_HOLE_LENGTH))
		return cache_hole_old(bm, inode, lblk, start, len);
	while (ffs_es_find_delayed(inode, start, (u64)start + len, &delayed)) {
		if (lblk >= delayed.lblk + delayed.len) {
			/* delayed blocks in front: the part from @lblk on */
			len -= lblk - start;
			start = lblk;
			continue;
		}
		if (lblk >= delayed.lblk)
			return delayed.lblk + delayed.len - lblk;
		len = min(delayed.lblk - start, len);
		break;
	}
	ffs_es_cache_answer(bm, inode, start, len, 0, FFS_ES_HOLE);
	return len - (lblk - start);
}

void ffs_es_insert_hole(struct ffs_blockmap *bm, struct ffs_inode *inode, u32 lblk, u32 len)
{
	ffs_es_insert_mapped(bm, inode, lblk, len, 0, FFS_ES_HOLE, false);
}

void ffs_es_cache(struct ffs_inode *inode, u32 lblk, u32 len, u64 pblk, u32 type)
{
	struct ffs_runs_pos pos;
	const struct ffs_run *r = ffs_runs_at(&inode->es->runs, lblk, &pos);

	if (!r || r->first >= (u64)lblk + len)
		put(inode, lblk, len, pblk, type);
}

void ffs_es_insert_delayed(struct ffs_blockmap *bm, struct ffs_inode *inode, u32 lblk, u32 len,
			   bool first_allocated, bool last_allocated)
{
	u32 ratio = bm->env->geo.cluster_ratio ? bm->env->geo.cluster_ratio : 1;

	if (ffs_has(bm->env, FOLIOFS_CHANGE_TRACE_DA_EXTENT))
		ffs_emit(bm->env, ext4_es_insert_delayed_extent, inode->ino, lblk, len, 0,
			 FFS_ES_DELAYED, first_allocated, last_allocated, bm->whole_ranges);
	else
		ffs_emit(bm->env, ext4_es_insert_delayed_block, inode->ino, lblk, len, 0,
			 FFS_ES_DELAYED, first_allocated, bm->whole_ranges);
	put(inode, lblk, len, 0, FFS_ES_DELAYED);
	if (first_allocated)
		ffs_es_set_pending(inode, lblk / ratio);
	if (last_allocated)
		ffs_es_set_pending(inode, (lblk + len - 1) / ratio);
	changed(bm, inode, lblk, len);
}

void ffs_es_remove(struct ffs_blockmap *bm, struct ffs_inode *inode, u32 lblk, u32 len)
{
	u32 reserved = 0;

	ffs_emit(bm->env, ext4_es_remove_extent, inode->ino, lblk, len);
	if (!len)
		return;
	if (!bm->env->geo.mount.nodelalloc)
		reserved = ffs_es_count_removed(bm, inode, lblk, (u64)lblk + len);
	ffs_runs_clear(&inode->es->runs, lblk, (u64)lblk + len);
	changed(bm, inode, lblk, len);
	ffs_da_release(bm, inode, reserved);
}

u32 ffs_es_count_clean(const struct ffs_inode *inode)
{
	const struct ffs_run *r;
	struct ffs_runs_pos pos;
	u32 n = 0;

	ffs_runs_for_each(&inode->es->runs, r, pos, 0, (u64)FFS_LBLK_MAX + 1)
		n += !(r->b & FFS_ES_DELAYED);
	return n;
}

void ffs_es_drop_clean(struct ffs_inode *inode)
{
	struct ffs_runs kept = { 0 };
	const struct ffs_run *r;
	struct ffs_runs_pos pos;

	ffs_runs_for_each(&inode->es->runs, r, pos, 0, (u64)FFS_LBLK_MAX + 1)
		if (r->b & FFS_ES_DELAYED)
			ffs_runs_set(&kept, r->first, r->end, r->a, r->b);
	ffs_runs_free(&inode->es->runs);
	inode->es->runs = kept;
}
