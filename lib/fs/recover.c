// SPDX-License-Identifier: MIT
/*
 * The operation recover: the power is cut, the journal replayed, orphans processed (crash.c),
 * and the file system goes on with what is left, as after a mount: nothing is cached, no file
 * is open, tunables are set back.  Who listens stays.  Blocks of no file hold stale bytes.
 *
 * At a stop the power is cut there and then, but the task that has stopped still has its stack:
 * what is durable is put aside, the task runs to its end with nobody listening, and then what was
 * put aside is gone on with.
 *
 * SIMPLIFIED: the times of files are not restored; the first change behind it sets them.
 */
#include <stdio.h>
#include "fs.h"
#include "rules/promise.h"
#include "rules/truth.h"

/* What was durable when the power went off, and what was switched on until then. */
struct ffs_power_off {
	struct ffs_runs disk;
	struct ffs_snapshot durable;
	u32 tid; /* of the last commit */
	bool muted;
	u32 failures;
	void (*stop)(void *priv, const struct ffs_stopped *s);
};

static void found(void *priv, const struct foliofs_broken *b)
{
	ffs_rule_broken(priv, b->rule, b->ino, "%s", b->text);
}

/* Everything in memory goes, and is made anew; what is on the device, and who listens, stays. */
static void start_anew(struct foliofs_fs *fs, const struct ffs_power_off *off)
{
	struct ffs_ops *o = &fs->ops;
	struct ffs_ops anew = { .tick_ns = o->tick_ns, .no_sys_resource = o->no_sys_resource,
				.names_changed = o->names_changed + 1 };

	/* The log was read up to the last commit block; what would have followed is skipped. */
	if (ffs_journal_present(o->sb.journal))
		fs->options.first_tid = off->tid + 2;
	ffs_fs_drop(fs);
	ffs_runs_free(&o->sb.disk);
	anew.sb.env = o->sb.env;
	anew.sb.env.locks.now = (struct ffs_locks){ 0 };
	anew.sb.inode_seq = o->sb.inode_seq;
	anew.sb.disk = off->disk;
	anew.sb.disk.changes = max(off->disk.changes, o->sb.disk.changes) + 1;
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

/* From here on nothing that runs is seen, by anybody or by a later mount. */
static struct ffs_power_off *power_off(struct foliofs_fs *fs)
{
	struct ffs_env *env = &fs->ops.sb.env;
	struct ffs_power_off *off = ffs_zalloc(sizeof(*off));

	*off = (struct ffs_power_off){ .muted = env->muted, .failures = env->failures_on,
				       .stop = env->stop };
	ffs_runs_copy(&off->disk, &fs->ops.sb.disk);
	ffs_snapshot_copy(&off->durable, fs->durable);
	if (ffs_journal_present(fs->ops.sb.journal))
		off->tid = ffs_journal_committed_tid(fs->ops.sb.journal);
	env->muted = true;
	env->failures_on = 0;
	env->stop = NULL;
	fs->options.crash_states = false;
	fs->commit_pending = false;
	return off;
}

void ffs_power_on(struct foliofs_fs *fs)
{
	struct ffs_power_off *off = fs->power_off;
	struct ffs_env *env = &fs->ops.sb.env;

	fs->power_off = NULL;
	start_anew(fs, off);
	ffs_snapshot_replace(fs, &off->durable);
	ffs_restore(fs, fs->durable);
	ffs_remount(&fs->ops);
	fs->options.crash_states = true;
	fs->recovered = true;
	env->failures_on = off->failures;
	env->stop = off->stop;
	rules_go_on(fs);
	env->muted = off->muted;
	free(off);
}

static s64 recover(struct foliofs_fs *fs)
{
	struct ffs_env *env = &fs->ops.sb.env;

	if (fs->ops.sb.type) {
		ffs_error(env, "only of ext4 is known what is left behind recovery");
		return -EOPNOTSUPP;
	}
	if (!fs->options.crash_states) {
		ffs_error(env, "crash states are not kept");
		return -EINVAL;
	}
	if (fs->options.rules)
		ffs_crash_rules(fs, found, fs);
	fs->power_off = power_off(fs);
	if (!fs->stopped)
		ffs_power_on(fs);
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
