// SPDX-License-Identifier: MIT
/*
 * The journal object: its making, its limits, its end by abort, the switch to
 * other tasks, and numbers for reports.
 *
 * Stands for jbd2_journal_load(), jbd2_journal_abort() and for what the
 * scheduler does while a task waits in jbd2.
 */
#include "internal.h"

struct ffs_journal *ffs_journal_new(struct ffs_env *env, u32 first_tid,
				    const struct ffs_journal_hooks *hooks)
{
	struct ffs_journal *j = ffs_zalloc(sizeof(*j));

	j->env = env;
	if (hooks)
		j->hooks = *hooks;
	j->present = ffs_feature(env, FOLIOFS_FEATURE_HAS_JOURNAL) && env->geo.journal_blocks;
	if (!j->present)
		return j;
	foliofs_journal_limits(&env->kernel, &env->geo, &j->lim);
	j->next_tid = first_tid ? first_tid : 1;
	j->committed = j->next_tid - 1;
	j->tail = j->next_tid;
	j->log_free = j->lim.length - j->lim.fast_commit - 1;
	return j;
}

void ffs_journal_free(struct ffs_journal *j)
{
	u32 i;

	if (!j)
		return;
	for (i = 0; i < j->nr_slot; i++)
		free(j->slot[i]);
	free(j->slot);
	free(j->tx[0].list);
	free(j->tx[1].list);
	free(j->seg);
	free(j->block);
	free(j);
}

bool ffs_journal_present(const struct ffs_journal *j)
{
	return j->present;
}

int ffs_journal_error(const struct ffs_journal *j)
{
	return j->error;
}

/*
 * SIMPLIFIED: the thread of an aborted journal would still walk its running
 * transaction through the states (and print them), writing nothing; here the
 * transaction stays as it is for ever.
 */
void ffs_journal_abort(struct ffs_journal *j, int err, const char *reason)
{
	if (!j->present || j->error)
		return;
	j->error = err;
	ffs_emit(j->env, foliofs_journal_abort, (u64)(s64)err, ffs_str(reason));
}

struct ffs_handle *ffs_journal_current(const struct ffs_journal *j)
{
	return j->current;
}

struct ffs_handle *ffs_journal_switch_task(struct ffs_journal *j, struct ffs_handle *h)
{
	struct ffs_handle *was = j->current;

	j->current = h;
	return was;
}

void ffs_journal_sleep(struct ffs_journal *j)
{
	struct ffs_handle *mine;
	u8 thread = j->env->thread;

	if (!j->hooks.sleep)
		return;
	mine = ffs_journal_switch_task(j, NULL);
	j->hooks.sleep(j->hooks.priv);
	ffs_journal_switch_task(j, mine);
	j->env->thread = thread;
}

void ffs_journal_set_busy(struct ffs_journal *j, bool busy)
{
	j->busy = busy;
}

u32 ffs_journal_tid(const struct ffs_journal *j)
{
	return j->running ? j->running->tid : 0;
}

u32 ffs_journal_next_tid(const struct ffs_journal *j)
{
	return j->next_tid;
}

u32 ffs_journal_committed_tid(const struct ffs_journal *j)
{
	return j->committed;
}

void ffs_journal_state(const struct ffs_journal *j, struct ffs_journal_state *s)
{
	const struct ffs_transaction *t = j->running;

	*s = (struct ffs_journal_state){ .reserved = j->reserved, .log_free = j->log_free };
	if (!t)
		return;
	s->tid = t->tid;
	s->outstanding = t->out;
	s->handles = t->handles;
	s->blocks = t->blocks;
}
