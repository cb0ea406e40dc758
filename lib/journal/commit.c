// SPDX-License-Identifier: MIT
/*
 * Commit of a transaction, and who asks for one.
 *
 * Stands for jbd2_journal_commit_transaction(), kjournald2(),
 * jbd2_log_start_commit(), jbd2_complete_transaction() and
 * jbd2_journal_force_commit().
 *
 * A commit has two halves.  In the first the transaction stops running, its
 * ordered data and its log blocks are sent; then the journal thread waits for
 * the device and workers run, whose handles join the next transaction; in the
 * second half the commit block is on disk.
 *
 * Beside a busy task, which never sleeps of its own accord, the device does not get
 * its turn: the second half comes when somebody waits for it.
 */
#include "internal.h"

/* Log blocks: metadata, descriptors, revoke blocks, commit block. */
static u32 blocks_logged(const struct ffs_journal *j, const struct ffs_transaction *t)
{
	return t->blocks + (u32)div_up(t->blocks, j->lim.tags_per_block) +
	       ffs_revoke_blocks(j, t->revoke_records) + 1;
}

void ffs_commit_finish(struct ffs_journal *j)
{
	struct ffs_transaction *t = j->committing;
	u8 thread = j->env->thread;

	if (!t)
		return;
	j->env->thread = FOLIOFS_THREAD_JOURNAL;
	ffs_stop(j->env, COMMIT_LOGGED, 0, FFS_HELD_COMMIT, 0, 0);
	if (t->new_tail)
		ffs_log_move_tail(j, t->new_tail);
	j->committing = NULL;
	j->committed = t->tid;
	if (j->hooks.committed)
		j->hooks.committed(j->hooks.priv, t->tid);
	ffs_emit(j->env, jbd2_run_stats, t->tid, t->handles, t->blocks, t->logged);
	ffs_emit(j->env, jbd2_end_commit, t->tid, t->sync, j->tail);
	ffs_stop(j->env, COMMIT_DONE, 0, 0, 0, 0);
	j->env->thread = thread;
}

int ffs_commit_running(struct ffs_journal *j)
{
	struct ffs_transaction *t;
	u8 thread = j->env->thread;
	u32 tid;

	if (!j->running)
		return 0;
	if (j->error)
		return -EROFS;
	if (j->running->updates)
		return -EBUSY;
	/* Only one at a time. */
	ffs_commit_finish(j);
	t = j->running;
	tid = t->tid;

	j->env->thread = FOLIOFS_THREAD_JOURNAL;
	ffs_emit(j->env, jbd2_start_commit, tid, t->sync);
	if (j->hooks.locked)
		j->hooks.locked(j->hooks.priv, tid);
	t->logged = blocks_logged(j, t);
	j->running = NULL;
	j->committing = t;
	if (j->requested == tid)
		j->requested = 0;
	ffs_stop(j->env, COMMIT_LOCKED, 0, FFS_HELD_COMMIT, 0, 0);
	if (j->hooks.submit_data)
		j->hooks.submit_data(j->hooks.priv, tid);
	ffs_stop(j->env, COMMIT_DATA, 0, FFS_HELD_COMMIT, 0, 0);
	ffs_log_append(j, t);
	j->env->thread = thread;
	if (j->busy)
		return 0;

	ffs_journal_sleep(j);
	if (j->committing && j->committing->tid == tid)
		ffs_commit_finish(j);
	return 0;
}

void ffs_journal_request_commit(struct ffs_journal *j)
{
	if (j->running && !j->error)
		j->requested = j->running->tid;
}

/* Also finds that the commit interval is over: the kernel's timer fires at full seconds. */
void ffs_journal_run_thread(struct ffs_journal *j)
{
	const u64 second = 1000000000ull;

	if (!j->running)
		return;
	if (j->env->now_ns >= div_up(j->running->expires, second) * second)
		ffs_journal_request_commit(j);
	if (j->requested == j->running->tid)
		ffs_commit_running(j);
}

/*
 * A task with an open handle cannot wait for its own transaction: then the
 * commit is asked for only (as the kernel's nested force does not even do).
 */
int ffs_journal_wait_commit(struct ffs_journal *j, u32 tid)
{
	int err;

	if (!j->present || !tid)
		return 0;
	if (j->error)
		return -EIO;
	if (j->committing && j->committing->tid == tid) {
		ffs_commit_finish(j);
		return 1;
	}
	if (!j->running || j->running->tid != tid)
		return 0;
	ffs_journal_request_commit(j);
	err = ffs_commit_running(j);
	if (err == -EBUSY)
		return 0;
	ffs_commit_finish(j);
	return err ? err : 1;
}

int ffs_journal_force_commit(struct ffs_journal *j)
{
	if (j->running)
		return ffs_journal_wait_commit(j, j->running->tid);
	if (j->committing)
		return ffs_journal_wait_commit(j, j->committing->tid);
	return j->error ? -EIO : 0;
}
