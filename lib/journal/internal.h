/* SPDX-License-Identifier: MIT */
/*
 * What the files of the journal share.
 *
 * Glossary
 *   OUT       outstanding credits of a transaction: what its handles may still
 *             dirty, what they have dirtied, its own overhead and, while it
 *             runs, all reservations
 *   RSV       credits of all reservations that have not been started
 *   TMAX, U   limits.max_transaction, limits.max_handle
 *   segment   the part of the log that one committed transaction takes
 *   live      blocks of a segment that the file system has not been written
 *             with yet; a segment without any is passed by the log's tail
 */
#ifndef FFS_JOURNAL_INTERNAL_H
#define FFS_JOURNAL_INTERNAL_H

#include "journal.h"

/* Rounds in which nothing changed, after which a wait is taken for endless. */
#define FFS_LIVELOCK_ROUNDS 8

struct ffs_transaction {
	u32 tid;
	u32 out; /* OUT */
	u32 handles; /* that ever joined it */
	u32 updates; /* handles open in it */
	u32 blocks; /* charged, less the forgotten and the dropped ones */
	u32 revokes_used; /* revoke credits used by stopped handles (T of the rule for stop) */
	u32 revoke_records; /* that go to the log */
	bool sync; /* a handle that was to be synchronous was in it */
	u64 expires; /* ns: older than the commit interval */
	u64 *list; /* blocks that it touched, each once */
	u32 nr_list, cap_list;
	u32 logged; /* committing: blocks in the log */
	u32 new_tail; /* committing: the tail that its commit moves the log to, 0: stays */
};

/* State of a block number; the table has one for each block that matters now. */
struct ffs_jblock {
	u64 blk; /* block + 1, 0: free slot */
	u32 tid; /* transaction that it was modified in, 0: none */
	u32 listed; /* transaction that has it in its list */
	u32 cp; /* committed transaction whose segment it keeps live */
	u32 revoked; /* transaction that has a revoke record of it */
};

struct ffs_segment {
	u32 tid;
	u32 blocks; /* in the log */
	u32 live;
	u32 taken; /* newest transaction that took a live block over; 0: none did */
};

struct ffs_handle_slot {
	struct ffs_handle h;
	struct ffs_handle_slot *next_free;
};

struct ffs_journal {
	struct ffs_env *env;
	struct ffs_journal_hooks hooks;
	struct foliofs_journal_limits lim;
	bool present, busy;
	int error; /* aborted with */

	struct ffs_transaction tx[2];
	struct ffs_transaction *running, *committing;
	u32 next_tid, committed;
	u32 requested; /* commit asked for of this transaction, 0: none */
	u32 reserved; /* RSV */
	struct ffs_handle *current; /* open handle of the task that runs */

	u32 log_free; /* F */
	u32 tail; /* oldest transaction that is in the log */
	struct ffs_segment *seg;
	u32 nr_seg, cap_seg;
	u32 nr_dead, dead_blocks; /* segments at the front without live blocks */
	u32 home; /* newest transaction whose blocks the block device's sync wrote home */
	u32 cleaned; /* the same when the last commit began */

	struct ffs_jblock *block; /* open addressing, power of two */
	u32 nr_block, cap_block;

	struct ffs_handle_slot **slot, *free_slot;
	u32 nr_slot, cap_slot;
};

/* Transaction numbers wrap: @a is older than @b. */
static inline bool ffs_tid_before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

/* Blocks that @revokes revoke records take. */
static inline u32 ffs_revoke_blocks(const struct ffs_journal *j, u32 revokes)
{
	return (u32)div_up(revokes, j->lim.revokes_per_block);
}

/* journal.c: the running task sleeps: workers run. */
void ffs_journal_sleep(struct ffs_journal *j);

/* transaction.c */
struct ffs_transaction *ffs_tx_running(struct ffs_journal *j); /* starts one if none runs */
/* A handle of @b credits with a reservation of @r joins.  @ino: for events. */
int ffs_tx_join(struct ffs_journal *j, u32 ino, u8 type, u32 b, u32 r);

/* buffer.c: the entry of @blk, made if @create; NULL if there is none. */
struct ffs_jblock *ffs_jblock_find(struct ffs_journal *j, u64 blk, bool create);

/*
 * commit.c: commit the running transaction; workers run before its commit
 * block is written.  Of a busy task's journal the first half only is done.
 * -EBUSY: a handle is open in it, so it has to wait.
 */
int ffs_commit_running(struct ffs_journal *j);
/* The transaction that is being committed, if any, gets to its end. */
void ffs_commit_finish(struct ffs_journal *j);

/* logspace.c: blocks that may be used, L of the rules. */
u32 ffs_log_left(const struct ffs_journal *j);
/* Until L >= TMAX.  -EBUSY as above, -EIO: the log cannot be emptied (aborted). */
int ffs_log_wait(struct ffs_journal *j);
/* The committing transaction goes to the log: space, tail, segments. */
void ffs_log_append(struct ffs_journal *j, struct ffs_transaction *t);
/* The oldest transaction that the log must keep; counts the dead segments before it. */
u32 ffs_log_keep(struct ffs_journal *j);
/* Move the tail up to @tid: dead segments before it are free. */
void ffs_log_move_tail(struct ffs_journal *j, u32 tid);

#endif
