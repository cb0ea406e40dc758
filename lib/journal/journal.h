/* SPDX-License-Identifier: MIT */
/*
 * jbd2: journal, transactions, handles, commit, log space.
 *
 * The model runs one thing at a time.  Where the kernel's task would sleep
 * (commit of a transaction, no room in it, no log space) the journal calls
 * hooks->sleep(), in which workers run, and then does the commit itself.
 *
 * Glossary: OUT outstanding credits of the running transaction (its own
 * overhead and every reservation included), RSV sum of all reservations,
 * TMAX, U: foliofs_journal_limits().
 */
#ifndef FFS_JOURNAL_H
#define FFS_JOURNAL_H

#include <foliofs/credits.h>
#include "base/env.h"
#include "base/inode.h"

struct ffs_journal;

struct ffs_handle {
	struct ffs_journal *journal;
	struct ffs_handle *rsv; /* reservation attached to it */
	u32 tid; /* of its transaction; 0: a reservation not yet started */
	u8 type; /* enum foliofs_handle_type */
	bool reserved; /* is (or was started from) a reservation */
	bool sync; /* stop waits for the commit */
	bool aborted;
	bool nojournal; /* no journal: nothing is counted */
	u32 refs; /* nested starts */
	s32 credits; /* left, with the part for revoke blocks (trace: buffer_credits) */
	s32 requested; /* asked in all, extends included (trace: requested_blocks) */
	s32 revokes_requested, revokes_left;
	s32 err;
};

struct ffs_journal_hooks {
	void *priv;
	/*
	 * The running task sleeps: workers that wait for the CPU run now.  Called
	 * where a start waits for reservations to shrink, and in the middle of every
	 * commit (after its data was sent, before its commit block is on disk).  No
	 * handle is current in it.  It is entered again if a worker has to wait.
	 */
	void (*sleep)(void *priv);
	/* Commit, no handle open: what this transaction makes durable is the present state. */
	void (*locked)(void *priv, u32 tid);
	/* Commit: write the data of ordered inodes (lists are kept by the data path). */
	void (*submit_data)(void *priv, u32 tid);
	/* The commit block is on disk: what it freed may be used again. */
	void (*committed)(void *priv, u32 tid);
};

/*
 * @env's geometry says whether there is a journal at all; without one, starts
 * give handles that count nothing and all calls succeed (events of ext4's
 * starts still appear, jbd2's do not).
 * @first_tid: number of the first transaction.
 */
struct ffs_journal *ffs_journal_new(struct ffs_env *env, u32 first_tid,
				    const struct ffs_journal_hooks *hooks);
void ffs_journal_free(struct ffs_journal *j);
bool ffs_journal_present(const struct ffs_journal *j);
/* 0, or the error that the journal was aborted with. */
int ffs_journal_error(const struct ffs_journal *j);
void ffs_journal_abort(struct ffs_journal *j, int err, const char *reason);

/*
 * Start a handle, or nest in the one that is open (then the numbers are
 * ignored and only the ext4 event is printed).  @ino: 0 prints the _sb form.
 * Errors: -ENOSPC (wants too many credits; event foliofs_start_refused),
 * -EROFS (aborted).  @caller: a string constant, the kernel function that asks.
 */
int ffs_handle_start(struct ffs_journal *j, u32 ino, enum foliofs_handle_type type, u32 blocks,
		     u32 rsv, u32 revokes, const char *caller, struct ffs_handle **out);
/* Detach the reservation of @h: it lives on without the handle. NULL if none. */
struct ffs_handle *ffs_handle_take_reserved(struct ffs_handle *h);
/* Start a detached reservation (end of I/O); consumed also on error. */
int ffs_handle_start_reserved(struct ffs_journal *j, struct ffs_handle *rsv,
			      enum foliofs_handle_type type, const char *caller,
			      struct ffs_handle **out);
void ffs_handle_free_reserved(struct ffs_handle *rsv);
/* Stop: prints the statistics at the last reference; a sync handle commits. */
int ffs_handle_stop(struct ffs_handle *h);
/* The handle that the running task has open now, NULL if none. */
struct ffs_handle *ffs_journal_current(const struct ffs_journal *j);

/*
 * Another task runs, whose open handle is @h (NULL: none).  Returns that of the
 * task before, to switch back to.  Not needed inside hooks->sleep().
 */
struct ffs_handle *ffs_journal_switch_task(struct ffs_journal *j, struct ffs_handle *h);

/* 0 done, 1 refused (nothing changed), negative: error. */
int ffs_handle_extend(struct ffs_handle *h, u32 blocks, u32 revokes);
int ffs_handle_restart(struct ffs_handle *h, u32 blocks, u32 revokes);
/* Make sure of @check buffer credits and @revokes: extend up to @extend. Result as extend. */
int ffs_handle_ensure(struct ffs_handle *h, s32 check, s32 extend, s32 revokes);
/* The same, but restart with @extend where the extend is refused: 0 had or got, 1 restarted. */
int ffs_handle_ensure_restart(struct ffs_handle *h, s32 check, s32 extend, s32 revokes);
/* Credits left for buffers: without the part for revoke blocks. */
s32 ffs_handle_buffer_credits(const struct ffs_handle *h);

/*
 * Metadata block @blk (or a data block that is journalled) is dirtied: charged
 * once per transaction.  -ENOSPC: the handle ran dry; the journal is aborted
 * then as ext4 does (events foliofs_handle_dry, foliofs_journal_abort).
 */
int ffs_journal_dirty(struct ffs_handle *h, u64 blk);
/* A freed block: forgotten (credit given back if this transaction had dirtied it). */
void ffs_journal_forget(struct ffs_handle *h, u64 blk);
/* Forgotten, and a revoke record is written: needs a revoke credit, else -EIO. */
int ffs_journal_revoke(struct ffs_handle *h, u64 blk);
/* Page cache of a journalled block thrown away: leaves the running transaction, no credit back. */
void ffs_journal_drop(struct ffs_journal *j, u64 blk);
/* Dirtied by the running transaction. */
bool ffs_journal_has(const struct ffs_journal *j, u64 blk);
/*
 * Some transaction holds on to @blk's buffer: the running one, or one whose checkpoint list has
 * it still.  It is not dropped with the page cache of the device ("ext4: remove
 * bdev_try_to_free_page() callback", v5.14), clean or not.
 */
bool ffs_journal_holds(const struct ffs_journal *j, u64 blk);

/* Recovery would write block @blk as transaction @tid logged it, now or once that has committed. */
bool ffs_journal_replays(const struct ffs_journal *j, u64 blk, u32 tid);

u32 ffs_journal_tid(const struct ffs_journal *j); /* running transaction, 0: none */
/* The number that the next transaction gets. */
u32 ffs_journal_next_tid(const struct ffs_journal *j);
u32 ffs_journal_committed_tid(const struct ffs_journal *j);
/* The task that runs never sleeps of its own accord: see foliofs_fs_set_busy(). */
void ffs_journal_set_busy(struct ffs_journal *j, bool busy);
/* Ask the journal thread for a commit of the running transaction; it runs at the next sleep. */
void ffs_journal_request_commit(struct ffs_journal *j);
/* The task sleeps or ends its operation: a requested commit is carried out now. */
void ffs_journal_run_thread(struct ffs_journal *j);
/*
 * Commit @tid (if it still runs) and wait.  Returns 1 if a commit was done, 0 if
 * none was needed or a handle is open (then it is asked for), -EIO if aborted.
 */
int ffs_journal_wait_commit(struct ffs_journal *j, u32 tid);
/* Commit whatever runs, and wait; even an empty one if a transaction is running. */
int ffs_journal_force_commit(struct ffs_journal *j);
/* The block device was synced: committed metadata is at home, the log may drop it. */
void ffs_journal_written(struct ffs_journal *j);

/* Numbers for rules and reports. */
struct ffs_journal_state {
	u32 tid; /* running, 0: none */
	u32 outstanding, reserved; /* OUT, RSV */
	u32 log_free, handles, blocks; /* of the running transaction */
};
void ffs_journal_state(const struct ffs_journal *j, struct ffs_journal_state *s);

#endif
