// SPDX-License-Identifier: MIT
/*
 * The operation recover: the power is cut, the journal replayed, orphans processed (crash.c),
 * and the file system goes on with what is left, as after a mount: nothing is cached, no file
 * is open, tunables are set back.  Who listens stays.  Blocks of no file hold stale bytes.
 *
 * SIMPLIFIED: the times of files are not restored; the first change behind it sets them.
 */
#include <stdio.h>
#include "fs.h"
#include "rules/promise.h"
#include "rules/truth.h"

static void found(void *priv, const struct foliofs_broken *b)
{
	ffs_rule_broken(priv, b->rule, b->ino, "%s", b->text);
}

/* Everything in memory goes, and is made anew; what is on the device, and who listens, stays. */
static void start_anew(struct foliofs_fs *fs)
{
	struct ffs_ops *o = &fs->ops;
	struct ffs_runs disk = o->sb.disk;
	struct ffs_ops anew = { .tick_ns = o->tick_ns, .no_sys_resource = o->no_sys_resource,
				.names_changed = o->names_changed + 1 };

	/* Nobody waits for I/O and commits that end now: no durable state, no content changes. */
	o->sb.disk = (struct ffs_runs){ 0 };
	/* The log was read up to the last commit block; what would have followed is skipped. */
	if (ffs_journal_present(o->sb.journal))
		fs->options.first_tid = ffs_journal_committed_tid(o->sb.journal) + 2;
	ffs_fs_drop(fs);
	ffs_runs_free(&o->sb.disk);
	anew.sb.env = o->sb.env;
	anew.sb.env.locks.now = (struct ffs_locks){ 0 };
	anew.sb.inode_seq = o->sb.inode_seq;
	anew.sb.disk = disk;
	*o = anew;
	ffs_fs_mount(fs); /* it could the first time */
}

/* The rules go on from what recovery has found. */
static void rules_go_on(struct foliofs_fs *fs)
{
	ffs_commit_locked(fs);
	ffs_commit_done(fs);
	ffs_promise_recovered(fs);
	ffs_cut_recovered(fs);
	if (fs->options.rules)
		ffs_truth_recovered(fs);
}

static s64 recover(struct foliofs_fs *fs)
{
	struct ffs_env *env = &fs->ops.sb.env;
	struct foliofs_options options = fs->options;
	bool muted = env->muted;
	u32 failures = env->failures_on;
	void (*stop)(void *, const struct ffs_stopped *) = env->stop;

	if (fs->ops.sb.type) {
		ffs_error(env, "only of ext4 is known what is left behind recovery");
		return -EOPNOTSUPP;
	}
	if (fs->stopped) {
		ffs_error(env, "the task that has stopped cannot go on behind recovery");
		return -EBUSY;
	}
	if (!options.crash_states) {
		ffs_error(env, "crash states are not kept");
		return -EINVAL;
	}
	if (options.rules)
		ffs_crash_rules(fs, found, fs);
	env->failures_on = 0;
	env->stop = NULL;
	fs->options.crash_states = false;
	fs->commit_pending = false;
	start_anew(fs);
	ffs_restore(fs, fs->durable);
	ffs_remount(&fs->ops);
	fs->options.crash_states = true;
	fs->recovered = true;
	env->failures_on = failures;
	env->stop = stop;
	rules_go_on(fs);
	env->muted = muted;
	return 0;
}

s64 ffs_recover(struct foliofs_fs *fs, const struct foliofs_op *op)
{
	struct ffs_env *env = &fs->ops.sb.env;
	s64 ret;

	env->op = op->id;
	env->thread = FOLIOFS_THREAD_TASK;
	env->now_ns = max(env->now_ns, op->time_ns);
	env->error[0] = 0;
	ret = recover(fs);
	ffs_emit(env, foliofs_op, op->kind, (u64)ret);
	return ret;
}
