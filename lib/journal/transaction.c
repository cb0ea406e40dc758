// SPDX-License-Identifier: MIT
/*
 * Which transaction a handle joins, and what it waits for before.
 *
 * Stands for jbd2_get_transaction(), add_transaction_credits() and the first
 * half of start_this_handle().
 *
 * The kernel's task sleeps in three places: until the running transaction has
 * gone (it is full), until reservations have shrunk (conversion workers start
 * or give back theirs), until the log has room.  The workers run while it
 * sleeps.  In captures with a full transaction they run after the commit has
 * begun, since their I/O ends later than the journal thread wakes up: their
 * handles join the next transaction.
 */
#include "internal.h"

#define NSEC_PER_SEC 1000000000ull

/* The commit timer of the kernel fires at full seconds only. */
static u64 expiry(const struct ffs_journal *j)
{
	u32 interval = j->env->geo.mount.commit_interval;

	return j->env->now_ns + (interval ? interval : 5) * NSEC_PER_SEC;
}

struct ffs_transaction *ffs_tx_running(struct ffs_journal *j)
{
	struct ffs_transaction *t = j->running;

	if (likely(t))
		return t;
	t = j->committing == &j->tx[0] ? &j->tx[1] : &j->tx[0];
	*t = (struct ffs_transaction){ .list = t->list, .cap_list = t->cap_list };
	t->tid = j->next_tid;
	if (++j->next_tid == 0) /* 0 means none here */
		j->next_tid = 1;
	t->out = j->reserved;
	if (ffs_has(j->env, FOLIOFS_CHANGE_DESCRIPTOR_CREDITS))
		t->out += j->lim.overhead;
	t->expires = expiry(j);
	j->running = t;
	return t;
}

/*
 * A wait that nothing can end.  SIMPLIFIED: the kernel's task hangs or spins;
 * the model says so in an event and gives the start back with -ENOSPC.
 */
static int livelock(struct ffs_journal *j, u32 ino, u32 rounds, const char *what)
{
	ffs_emit(j->env, foliofs_livelock, ino, rounds, ffs_str(what));
	return -ENOSPC;
}

/* Sleep until reservations have shrunk: workers start theirs or give them back. */
static int wait_reserved(struct ffs_journal *j, u32 ino)
{
	u32 before = j->reserved;

	ffs_journal_sleep(j);
	if (j->reserved < before)
		return 0;
	return livelock(j, ino, 1, "no reservation is given back");
}

static int wait_commit(struct ffs_journal *j, u32 ino, u32 *rounds)
{
	/*
	 * Nobody ever was in this one: the next will be as empty.  Happens when a
	 * handle may ask for more than TMAX less the overhead (before v6.11).
	 */
	bool fresh = j->running->handles == 0;
	u32 reserved = j->reserved;
	int err;

	err = ffs_commit_running(j);
	if (err == -EBUSY)
		return livelock(j, ino, *rounds, "full transaction with an open handle");
	if (err)
		return err;
	if (fresh && j->reserved >= reserved && ++*rounds >= FFS_LIVELOCK_ROUNDS)
		return livelock(j, ino, *rounds, "handle does not fit into an empty transaction");
	return 0;
}

int ffs_tx_join(struct ffs_journal *j, u32 ino, u8 type, u32 b, u32 r)
{
	const struct foliofs_journal_limits *lim = &j->lim;
	struct ffs_transaction *t;
	u32 rounds = 0;
	int err = 0;

	/* 64 bits: callers may ask for anything */
	if (r > lim->max_reserved || (u64)r + b > lim->max_handle) {
		ffs_emit(j->env, foliofs_start_refused, type, b, r, lim->max_handle,
			 (u64)(s64)-ENOSPC);
		return -ENOSPC;
	}
	for (;;) {
		if (err)
			return err;
		if (j->error)
			return -EROFS;
		t = ffs_tx_running(j);
		if (t->out + b + r > lim->max_transaction) {
			if (j->reserved + b + r > lim->max_handle)
				err = wait_reserved(j, ino);
			else
				err = wait_commit(j, ino, &rounds);
			continue;
		}
		/* The bar is a whole transaction, whatever this handle wants. */
		if (ffs_log_left(j) < lim->max_transaction) {
			err = ffs_log_wait(j);
			if (err == -EBUSY)
				err = livelock(j, ino, rounds, "full log with an open handle");
			continue;
		}
		if (r && j->reserved + r > lim->max_reserved) {
			err = wait_reserved(j, ino);
			continue;
		}
		break;
	}
	t->out += b + r;
	j->reserved += r;
	t->handles++;
	t->updates++;
	return 0;
}
