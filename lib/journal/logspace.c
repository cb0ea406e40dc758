// SPDX-License-Identifier: MIT
/*
 * Space in the log: segments of committed transactions, checkpoint, tail.
 *
 * Stands for __jbd2_log_wait_for_space(), jbd2_log_do_checkpoint(),
 * jbd2_cleanup_journal_tail(), __jbd2_journal_insert_checkpoint().
 *
 * A block that is logged again leaves the older segment at that commit, as in
 * the kernel.  SIMPLIFIED: nobody writes metadata home in the background but
 * who calls ffs_journal_written().
 */
#include "internal.h"

/* Blocks that are never counted on. */
#define LOG_SLACK 32u

u32 ffs_log_left(const struct ffs_journal *j)
{
	/*
	 * SIMPLIFIED: the blocks of a committing transaction are taken off in one
	 * go when it is sent, so there are no outstanding credits of it.
	 */
	return j->log_free > LOG_SLACK ? j->log_free - LOG_SLACK : 0;
}

/* Segment of @tid if it has live blocks.  Their numbers are consecutive, but 0 is left out. */
static struct ffs_segment *live_segment(struct ffs_journal *j, u32 tid)
{
	u32 i;

	if (!j->nr_seg)
		return NULL;
	i = tid - j->seg[0].tid;
	if (i == j->nr_seg || (i < j->nr_seg && j->seg[i].tid != tid))
		i--;
	return i < j->nr_seg && j->seg[i].tid == tid && j->seg[i].live ? &j->seg[i] : NULL;
}

u32 ffs_log_keep(struct ffs_journal *j)
{
	const struct ffs_segment *seg;

	/* A segment never gets live blocks later. */
	for (; j->nr_dead < j->nr_seg; j->nr_dead++) {
		seg = &j->seg[j->nr_dead];
		if (seg->live || (j->committing && seg->tid == j->committing->tid))
			return seg->tid;
		j->dead_blocks += seg->blocks;
	}
	if (j->committing)
		return j->committing->tid;
	return j->running ? j->running->tid : j->next_tid;
}

void ffs_log_move_tail(struct ffs_journal *j, u32 tid)
{
	u32 n, freed = 0;

	ffs_log_keep(j);
	for (n = 0; n < j->nr_dead && ffs_tid_before(j->seg[n].tid, tid); n++)
		freed += j->seg[n].blocks;
	if (!n)
		return;
	j->log_free += freed;
	j->dead_blocks -= freed;
	j->nr_dead -= n;
	j->nr_seg -= n;
	memmove(j->seg, j->seg + n, j->nr_seg * sizeof(*j->seg));
	j->tail = tid;
	ffs_emit(j->env, foliofs_checkpoint, tid, j->log_free);
}

/* One of @seg's live blocks has been modified by the running transaction. */
static bool owned_by_running(struct ffs_journal *j, const struct ffs_segment *seg)
{
	const struct ffs_transaction *t = j->running;
	u32 i;

	for (i = 0; t && i < t->nr_list; i++) {
		const struct ffs_jblock *e = ffs_jblock_find(j, t->list[i], false);

		if (e && e->tid == t->tid && e->cp == seg->tid)
			return true;
	}
	return false;
}

/*
 * @seg is the committing transaction's, or one of its blocks: a block stays on the list
 * of the older transaction until the commit that has it is over.
 */
static bool owned_by_committing(const struct ffs_journal *j, const struct ffs_segment *seg)
{
	const struct ffs_transaction *t = j->committing;

	return t && (seg->tid == t->tid || seg->taken == t->tid);
}

/* Move the tail if that frees anything, else write the oldest segment's blocks home. */
static int checkpoint(struct ffs_journal *j)
{
	struct ffs_segment *oldest;
	u32 keep = ffs_log_keep(j);

	if (!j->nr_dead) {
		if (!j->nr_seg)
			return -ENODATA;
		oldest = &j->seg[0];
		if (owned_by_committing(j, oldest)) {
			ffs_commit_finish(j);
			return 0;
		}
		/* A block may not go home before what it was changed by is in the log. */
		if (owned_by_running(j, oldest))
			return ffs_commit_running(j);
		oldest->live = 0;
		keep = ffs_log_keep(j);
	}
	ffs_log_move_tail(j, keep);
	return 0;
}

int ffs_log_wait(struct ffs_journal *j)
{
	int err;

	while (ffs_log_left(j) < j->lim.max_transaction) {
		if (!j->busy)
			ffs_commit_finish(j);
		err = checkpoint(j);
		if (err == -ENODATA) {
			ffs_journal_abort(j, -EIO, "no way to get more journal space");
			return -EIO;
		}
		if (err)
			return err;
	}
	return 0;
}

void ffs_log_append(struct ffs_journal *j, struct ffs_transaction *t)
{
	struct ffs_segment *seg, *old;
	u32 i, keep;

	if (t->logged > j->lim.max_transaction)
		ffs_emit(j->env, foliofs_log_outgrown, t->tid, t->logged, j->lim.max_transaction);

	/* Each commit begins with a look for clean blocks on the checkpoint lists. */
	j->cleaned = j->home;
	/*
	 * Reserved handles join without a look at the log, so a transaction of
	 * them alone may find it full.  SIMPLIFIED: the kernel has no answer to
	 * that; here the oldest segments are written home first.
	 */
	while (j->nr_seg && j->log_free <= t->logged) {
		j->seg[0].live = 0;
		ffs_log_move_tail(j, ffs_log_keep(j));
	}
	/* The superblock is written for the tail's sake only if it pays. */
	keep = ffs_log_keep(j);
	t->new_tail = j->dead_blocks >= j->lim.max_transaction ? keep : 0;

	if (j->nr_seg == j->cap_seg) {
		j->cap_seg = j->cap_seg ? 2 * j->cap_seg : 64;
		j->seg = ffs_realloc(j->seg, j->cap_seg * sizeof(*j->seg));
	}
	seg = &j->seg[j->nr_seg++];
	*seg = (struct ffs_segment){ .tid = t->tid, .blocks = t->logged };
	j->log_free -= t->logged;
	for (i = 0; i < t->nr_list; i++) {
		struct ffs_jblock *e = ffs_jblock_find(j, t->list[i], false);

		if (!e)
			continue;
		old = e->cp ? live_segment(j, e->cp) : NULL;
		if (old) {
			old->live--;
			old->taken = t->tid;
		}
		e->cp = e->tid == t->tid ? t->tid : 0;
		seg->live += e->cp != 0;
	}
	t->nr_list = 0;
}

void ffs_journal_written(struct ffs_journal *j)
{
	u32 i;

	for (i = 0; i < j->nr_seg; i++)
		if (!j->committing || j->seg[i].tid != j->committing->tid)
			j->seg[i].live = 0;
	j->home = j->committed;
}
