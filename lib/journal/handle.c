// SPDX-License-Identifier: MIT
/*
 * Handles: start, nesting, reservations, extend, restart, stop.
 *
 * Stands for __ext4_journal_start_sb(), __ext4_journal_start_reserved(),
 * __ext4_journal_stop(), __ext4_journal_ensure_credits() and jbd2__journal_start(),
 * jbd2_journal_start_reserved(), jbd2_journal_extend(), jbd2__journal_restart(),
 * jbd2_journal_stop().
 */
#include "internal.h"

static struct ffs_handle *handle_get(struct ffs_journal *j)
{
	struct ffs_handle_slot *s = j->free_slot;

	if (s) {
		j->free_slot = s->next_free;
	} else {
		s = ffs_zalloc(sizeof(*s));
		if (j->nr_slot == j->cap_slot) {
			j->cap_slot = j->cap_slot ? 2 * j->cap_slot : 16;
			j->slot = ffs_realloc(j->slot, j->cap_slot * sizeof(*j->slot));
		}
		j->slot[j->nr_slot++] = s;
	}
	s->h = (struct ffs_handle){ .journal = j };
	return &s->h;
}

static void handle_put(struct ffs_handle *h)
{
	struct ffs_handle_slot *s = container_of(h, struct ffs_handle_slot, h);

	s->next_free = h->journal->free_slot;
	h->journal->free_slot = s;
}

/* The handle has no transaction any more (a restart failed), or nothing may be written. */
static bool aborted(const struct ffs_handle *h)
{
	return h->aborted || h->journal->error || !h->tid;
}

static void emit_start(const struct ffs_handle *h)
{
	ffs_emit(h->journal->env, jbd2_handle_start, h->tid, h->type, 0, (u64)(s64)h->requested);
}

/* Joined: the numbers that a handle begins with. */
static void begin(struct ffs_handle *h, u32 tid, u32 credits, u32 revokes)
{
	h->tid = tid;
	h->credits = (s32)credits;
	h->requested = (s32)credits;
	h->revokes_requested = (s32)revokes;
	h->revokes_left = (s32)revokes;
}

static struct ffs_handle *new_reservation(struct ffs_journal *j, u32 r)
{
	struct ffs_handle *rsv = handle_get(j);

	rsv->reserved = true;
	rsv->credits = (s32)r;
	rsv->requested = (s32)r;
	return rsv;
}

int ffs_handle_start(struct ffs_journal *j, u32 ino, enum foliofs_handle_type type, u32 blocks,
		     u32 rsv, u32 revokes, const char *caller, struct ffs_handle **out)
{
	struct ffs_handle *h = j->current;
	u64 b;
	int err;

	*out = NULL;
	if (ino)
		ffs_emit(j->env, ext4_journal_start_inode, blocks, rsv, revokes, type, ino,
			 ffs_str(caller));
	else
		ffs_emit(j->env, ext4_journal_start_sb, blocks, rsv, revokes, type,
			 ffs_str(caller));
	if (j->error)
		return -EROFS;
	if (h) {
		h->refs++;
		*out = h;
		return 0;
	}
	/* Without a journal a handle is a number: nothing to fail. */
	if (j->present && ffs_fails(j->env, START))
		return -ENOMEM;
	if (!j->present) {
		h = handle_get(j);
		h->nojournal = true;
	} else {
		ffs_lock_wait(j->env, FFS_LOCK_HANDLE, ino);
		b = (u64)blocks + ffs_revoke_blocks(j, revokes);
		err = ffs_tx_join(j, ino, (u8)type, b > UINT32_MAX ? UINT32_MAX : (u32)b, rsv);
		if (err)
			return err;
		h = handle_get(j);
		if (rsv)
			h->rsv = new_reservation(j, rsv);
		begin(h, j->running->tid, (u32)b, revokes);
	}
	h->type = (u8)type;
	h->refs = 1;
	j->current = h;
	j->env->locks.now.held[FFS_LOCK_HANDLE]++;
	if (j->present)
		emit_start(h);
	*out = h;
	return 0;
}

struct ffs_handle *ffs_handle_take_reserved(struct ffs_handle *h)
{
	struct ffs_handle *rsv = h->rsv;

	h->rsv = NULL;
	return rsv;
}

/* The reservation's credits are free again. */
static void unreserve(struct ffs_journal *j, u32 r)
{
	j->reserved -= r;
	if (j->running)
		j->running->out -= r;
}

void ffs_handle_free_reserved(struct ffs_handle *rsv)
{
	if (!rsv)
		return;
	unreserve(rsv->journal, (u32)rsv->credits);
	handle_put(rsv);
}

/* Its credits are in OUT already: no test, no wait. */
int ffs_handle_start_reserved(struct ffs_journal *j, struct ffs_handle *rsv,
			      enum foliofs_handle_type type, const char *caller,
			      struct ffs_handle **out)
{
	struct ffs_transaction *t;

	*out = NULL;
	ffs_emit(j->env, ext4_journal_start_reserved, (u64)(s64)rsv->credits, ffs_str(caller));
	if (j->error || j->current) {
		ffs_handle_free_reserved(rsv);
		return j->error ? -EROFS : -EIO;
	}
	t = ffs_tx_running(j);
	j->reserved -= (u32)rsv->credits;
	t->handles++;
	t->updates++;
	begin(rsv, t->tid, (u32)rsv->credits, 0);
	rsv->type = (u8)type;
	rsv->refs = 1;
	j->current = rsv;
	j->env->locks.now.held[FFS_LOCK_HANDLE]++;
	emit_start(rsv);
	*out = rsv;
	return 0;
}

/*
 * The handle leaves its transaction, and its unused credits go back, but for
 * the revoke blocks that the transaction needs because of it.
 */
static void leave(struct ffs_handle *h)
{
	struct ffs_journal *j = h->journal;
	struct ffs_transaction *t = j->running;
	u32 used = (u32)(h->revokes_requested - h->revokes_left);

	t->revokes_used += used;
	h->credits -= (s32)(ffs_revoke_blocks(j, t->revokes_used) -
			    ffs_revoke_blocks(j, t->revokes_used - used));
	t->out -= (u32)h->credits;
	t->updates--;
	if (h->rsv)
		unreserve(j, (u32)h->rsv->credits);
}

/* SIMPLIFIED: a synchronous stop does not linger for other tasks to join its transaction. */
int ffs_handle_stop(struct ffs_handle *h)
{
	struct ffs_journal *j = h->journal;
	struct ffs_transaction *t = j->running;
	int err = h->err;
	bool sync = false;

	if (--h->refs > 0)
		return err;
	ffs_unlock(j->env, FFS_LOCK_HANDLE);
	if (!h->nojournal && h->tid) {
		if (!err && aborted(h))
			err = -EIO;
		ffs_emit(j->env, jbd2_handle_stats, h->tid, h->type, 0, 0, h->sync,
			 (u64)(s64)h->requested, (u64)(s64)(h->requested - h->credits));
		t->sync |= h->sync;
		leave(h);
		sync = h->sync;
		if (sync || j->env->now_ns >= t->expires)
			ffs_journal_request_commit(j);
	} else if (!h->nojournal && !err) {
		err = -EIO;
	}
	if (h->rsv)
		handle_put(h->rsv);
	j->current = NULL;
	handle_put(h);
	if (sync && !j->error && !ffs_commit_running(j))
		ffs_commit_finish(j);
	return err;
}

s32 ffs_handle_buffer_credits(const struct ffs_handle *h)
{
	if (h->nojournal)
		return INT32_MAX;
	return h->credits - (s32)ffs_revoke_blocks(h->journal, (u32)h->revokes_requested);
}

int ffs_handle_extend(struct ffs_handle *h, u32 blocks, u32 revokes)
{
	struct ffs_journal *j = h->journal;
	u64 n;

	if (h->nojournal)
		return 0;
	if (aborted(h))
		return -EROFS;
	n = (u64)blocks + ffs_revoke_blocks(j, (u32)h->revokes_requested + revokes) -
	    ffs_revoke_blocks(j, (u32)h->revokes_requested);
	if (j->running->out + n > j->lim.max_transaction || ffs_fails(j->env, EXTEND)) {
		ffs_emit(j->env, foliofs_extend_refused, h->tid, h->type, (u64)(s64)h->credits, n);
		return 1;
	}
	ffs_emit(j->env, jbd2_handle_extend, h->tid, h->type, 0, (u64)(s64)h->credits, n);
	j->running->out += (u32)n;
	h->credits += (s32)n;
	h->requested += (s32)n;
	h->revokes_requested += (s32)revokes;
	h->revokes_left += (s32)revokes;
	return 0;
}

/*
 * The transaction that is left is committed at once: the journal thread wakes
 * up as soon as it is asked (all restarts of the captures got a new one).
 */
int ffs_handle_restart(struct ffs_handle *h, u32 blocks, u32 revokes)
{
	struct ffs_journal *j = h->journal;
	u64 b;
	int err = 0;

	if (h->nojournal || aborted(h))
		return 0;
	b = (u64)blocks + ffs_revoke_blocks(j, revokes);
	leave(h);
	h->tid = 0;
	ffs_journal_request_commit(j);
	/* -EBUSY: other handles are open in it; the join below decides. */
	ffs_commit_running(j);
	err = ffs_tx_join(j, 0, h->type, b > UINT32_MAX ? UINT32_MAX : (u32)b,
			  h->rsv ? (u32)h->rsv->credits : 0);
	if (err) {
		/* Released above and not taken again. */
		if (h->rsv)
			handle_put(h->rsv);
		h->rsv = NULL;
		h->aborted = true;
		if (!h->err)
			h->err = err;
	} else {
		begin(h, j->running->tid, (u32)b, revokes);
	}
	ffs_emit(j->env, jbd2_handle_restart, h->tid, h->type, 0, b);
	ffs_stop(j->env, HANDLE_RESTARTED, 0, FFS_HELD_ALL, 0, 0);
	return err;
}

int ffs_handle_ensure(struct ffs_handle *h, s32 check, s32 extend, s32 revokes)
{
	s32 have;

	if (h->nojournal)
		return 0;
	if (aborted(h))
		return -EROFS;
	have = ffs_handle_buffer_credits(h);
	if (have >= check && h->revokes_left >= revokes)
		return 0;
	return ffs_handle_extend(h, (u32)max(0, extend - have),
				 (u32)max(0, revokes - h->revokes_left));
}

int ffs_handle_ensure_restart(struct ffs_handle *h, s32 check, s32 extend, s32 revokes)
{
	int ret = ffs_handle_ensure(h, check, extend, revokes);

	if (ret <= 0)
		return ret;
	ret = ffs_handle_restart(h, (u32)max(0, extend), (u32)max(0, revokes));
	return ret ? ret : 1;
}
