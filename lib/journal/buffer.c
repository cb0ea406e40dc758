// SPDX-License-Identifier: MIT
/*
 * Blocks of the journal: which transaction has modified them, who is charged.
 *
 * Stands for jbd2_journal_get_write_access(), jbd2_journal_dirty_metadata(),
 * jbd2_journal_forget(), jbd2_journal_revoke(), jbd2_journal_invalidate_folio()
 * and ext4's wrappers around them.
 *
 * A table from block number to state; no list of buffers.  Blocks that no
 * transaction and no segment of the log knows any more are left out when the
 * table grows.
 */
#include "internal.h"

static u32 slot_of(u64 key, u32 cap)
{
	return (u32)((key * 0x9e3779b97f4a7c15ull) >> 32) & (cap - 1);
}

/* Still of use: of a live transaction, or keeps a segment of the log. */
static bool alive(const struct ffs_journal *j, const struct ffs_jblock *e)
{
	const struct ffs_transaction *t = j->running;

	if (t && (e->tid == t->tid || e->listed == t->tid || e->revoked == t->tid))
		return true;
	return e->cp && j->nr_seg && !ffs_tid_before(e->cp, j->seg[0].tid);
}

static void grow(struct ffs_journal *j)
{
	struct ffs_jblock *old = j->block;
	u32 i, k, old_cap = j->cap_block, n = 0;

	for (i = 0; i < old_cap; i++)
		n += old[i].blk && alive(j, &old[i]);
	j->cap_block = 1024;
	while (j->cap_block < 4 * (n + 1))
		j->cap_block *= 2;
	j->block = ffs_zalloc(j->cap_block * sizeof(*j->block));
	j->nr_block = n;
	for (i = 0; i < old_cap; i++) {
		if (!old[i].blk || !alive(j, &old[i]))
			continue;
		for (k = slot_of(old[i].blk, j->cap_block); j->block[k].blk;)
			k = (k + 1) & (j->cap_block - 1);
		j->block[k] = old[i];
	}
	free(old);
}

struct ffs_jblock *ffs_jblock_find(struct ffs_journal *j, u64 blk, bool create)
{
	u64 key = blk + 1;
	u32 k;

	if (create && unlikely(2 * (j->nr_block + 1) > j->cap_block))
		grow(j);
	if (!j->cap_block)
		return NULL;
	for (k = slot_of(key, j->cap_block); j->block[k].blk; k = (k + 1) & (j->cap_block - 1))
		if (j->block[k].blk == key)
			return &j->block[k];
	if (!create)
		return NULL;
	j->nr_block++;
	j->block[k].blk = key;
	return &j->block[k];
}

/* The commit of @t looks at @e. */
static void list_add(struct ffs_transaction *t, struct ffs_jblock *e)
{
	if (e->listed == t->tid)
		return;
	e->listed = t->tid;
	if (t->nr_list == t->cap_list) {
		t->cap_list = t->cap_list ? 2 * t->cap_list : 256;
		t->list = ffs_realloc(t->list, t->cap_list * sizeof(*t->list));
	}
	t->list[t->nr_list++] = e->blk - 1;
}

/*
 * As ext4 does on -ENOSPC from jbd2: the handle and the journal are aborted.
 * This is what a reservation that was too small leads to.
 */
static int ran_dry(struct ffs_handle *h, u64 blk)
{
	ffs_emit(h->journal->env, foliofs_handle_dry, h->tid, h->type, blk,
		 (u64)(s64)h->requested, (u64)(s64)ffs_handle_buffer_credits(h));
	h->err = -ENOSPC;
	h->aborted = true;
	ffs_journal_abort(h->journal, -ENOSPC, "journal_dirty_metadata failed");
	return -ENOSPC;
}

int ffs_journal_dirty(struct ffs_handle *h, u64 blk)
{
	struct ffs_journal *j = h->journal;
	struct ffs_transaction *t = j->running;
	struct ffs_jblock *e;

	if (h->nojournal) {
		ffs_emit(j->env, foliofs_dirty_block, 0, h->type, blk, 0);
		return 0;
	}
	if (h->aborted || j->error || !h->tid)
		return -EROFS;
	e = ffs_jblock_find(j, blk, true);
	if (e->tid == t->tid) {
		ffs_emit(j->env, foliofs_dirty_block, h->tid, h->type, blk, 0);
		return 0;
	}
	if (ffs_handle_buffer_credits(h) <= 0)
		return ran_dry(h, blk);
	if (e->revoked == t->tid) {
		/* In use again: the record is taken back, its credit is not. */
		e->revoked = 0;
		t->revoke_records--;
	}
	e->tid = t->tid;
	list_add(t, e);
	t->blocks++;
	h->credits--;
	ffs_emit(j->env, foliofs_dirty_block, h->tid, h->type, blk, 1);
	return 0;
}

/* Out of the running transaction; the commit takes it off older segments too. */
static bool take_out(struct ffs_journal *j, struct ffs_jblock *e)
{
	struct ffs_transaction *t = j->running;

	if (!e || !t)
		return false;
	if (e->cp)
		list_add(t, e);
	if (e->tid != t->tid)
		return false;
	e->tid = 0;
	t->blocks--;
	return true;
}

void ffs_journal_forget(struct ffs_handle *h, u64 blk)
{
	struct ffs_journal *j = h->journal;

	if (h->nojournal || h->aborted || j->error || !h->tid)
		return;
	if (take_out(j, ffs_jblock_find(j, blk, false)))
		h->credits++;
}

/*
 * Without a revoke credit ext4 aborts the handle; the caller reports the file
 * system error.
 */
int ffs_journal_revoke(struct ffs_handle *h, u64 blk)
{
	struct ffs_journal *j = h->journal;
	struct ffs_jblock *e;

	if (h->nojournal)
		return 0;
	if (h->aborted || j->error || !h->tid)
		return -EROFS;
	if (h->revokes_left <= 0) {
		h->err = -EIO;
		h->aborted = true;
		return -EIO;
	}
	ffs_journal_forget(h, blk);
	h->revokes_left--;
	e = ffs_jblock_find(j, blk, true);
	if (e->revoked != j->running->tid) {
		e->revoked = j->running->tid;
		j->running->revoke_records++;
	}
	return 0;
}

void ffs_journal_drop(struct ffs_journal *j, u64 blk)
{
	take_out(j, ffs_jblock_find(j, blk, false));
}

bool ffs_journal_has(const struct ffs_journal *j, u64 blk)
{
	/* a look-up that makes nothing changes nothing */
	const struct ffs_jblock *e = ffs_jblock_find((struct ffs_journal *)j, blk, false);

	return e && j->running && e->tid == j->running->tid;
}

bool ffs_journal_holds(const struct ffs_journal *j, u64 blk)
{
	const struct ffs_jblock *e = ffs_jblock_find((struct ffs_journal *)j, blk, false);

	if (!e)
		return false;
	if (j->running && e->tid == j->running->tid)
		return true;
	return e->cp && j->nr_seg && !ffs_tid_before(e->cp, j->seg[0].tid) &&
	       (!j->cleaned || ffs_tid_before(j->cleaned, e->cp));
}

bool ffs_journal_replays(const struct ffs_journal *j, u64 blk, u32 tid)
{
	const struct ffs_jblock *e = ffs_jblock_find((struct ffs_journal *)j, blk, false);

	if (ffs_tid_before(tid, j->tail))
		return false;
	return !e || !e->revoked || ffs_tid_before(e->revoked, tid) ||
	       ffs_tid_before(j->committed, e->revoked);
}
