/* SPDX-License-Identifier: MIT */
/*
 * What every layer of one mounted file system shares: the kernel (its set of
 * changes), the geometry, who is running now, and the consumers of events.
 */
#ifndef FFS_ENV_H
#define FFS_ENV_H

#include <foliofs/event.h>
#include <foliofs/fs.h>
#include <foliofs/kernel.h>
#include "base.h"
#include "lock_order.h"

/* What the task holds that comes to a stop. */
#define FFS_HELD_INODE 0x01u /* inode lock */
#define FFS_HELD_FOLIOS 0x02u /* folio locks of bytes [first, end) */
#define FFS_HELD_INVALIDATE 0x04u /* invalidate lock: no faults, no reads from disk */
#define FFS_HELD_HANDLE 0x08u /* an open handle: the running transaction cannot commit */
#define FFS_HELD_WORKER 0x10u /* the worker that completes I/O */
#define FFS_HELD_COMMIT 0x20u /* the journal thread */
#define FFS_HELD_ALL 0x40u /* not known: nothing else can run */

struct ffs_stopped {
	enum foliofs_stop stop;
	u32 ino;
	u32 held; /* FFS_HELD_* */
	u64 first, end; /* bytes, with FFS_HELD_FOLIOS */
	const struct ffs_stopped *outer; /* the stop that this task runs in */
};

struct ffs_failure_count {
	u32 nth, seen;
	bool failed;
};

struct ffs_env {
	struct foliofs_kernel kernel;
	struct foliofs_geometry geo;
	u8 block_bits; /* log2 of the block size */
	u8 page_bits; /* log2 of the page size */

	u32 op; /* number of the operation that runs */
	u8 thread; /* enum foliofs_thread */
	u64 now_ns; /* time of the model */

	u8 on[FOLIOFS_EV_COUNT]; /* somebody listens to this event */
	bool muted; /* no events at all: preparation, internal work */
	const struct foliofs_sink **sinks;
	u32 nr_sinks;

	char error[240]; /* message of the last refused call */

	/* Named stops (stops.def); NULL: nobody listens. */
	void (*stop)(void *priv, const struct ffs_stopped *s);
	void *stop_priv;
	struct ffs_failure_count failure[FOLIOFS_FAILURE_COUNT];
	u32 failures_on; /* bit n: kind n is counted */
	foliofs_failure_fn fail_ask; /* NULL: nobody is asked */
	void *fail_priv;

	struct ffs_lock_order locks;
};

static inline bool ffs_has(const struct ffs_env *env, enum foliofs_change c)
{
	return foliofs_kernel_has(&env->kernel, c);
}

static inline bool ffs_feature(const struct ffs_env *env, enum foliofs_feature f)
{
	return foliofs_has_feature(&env->geo, f);
}

/*
 * ffs_emit(env, ext4_es_remove_extent, ino, lblk, len): the fields in the order
 * of events.def; strings as (uintptr_t)"text".  Costs one test if nobody listens.
 */
#define ffs_emit(env, name, ...)                                                                   \
	do {                                                                                       \
		if (unlikely((env)->on[FOLIOFS_EV_##name] && !(env)->muted)) {                     \
			const u64 ffs_args_[] = { __VA_ARGS__ };                                   \
			ffs_emit_args(env, FOLIOFS_EV_##name, ffs_args_, ARRAY_SIZE(ffs_args_));   \
		}                                                                                  \
	} while (0)
#define ffs_str(s) ((u64)(uintptr_t)(s))

void ffs_emit_args(struct ffs_env *env, enum foliofs_event_id id, const u64 *args, size_t n);

/* The message of a call that the model itself refuses. */
__attribute__((format(printf, 2, 3))) void ffs_error(struct ffs_env *env, const char *format, ...);

/* Come to stop @name (stops.def).  Costs one test if nobody listens. */
#define ffs_stop(env, name, inode_nr, what_held, from, to)                                         \
	do {                                                                                       \
		if (unlikely((env)->stop)) {                                                       \
			const struct ffs_stopped ffs_stopped_ = {                                  \
				.stop = FOLIOFS_STOP_##name, .ino = (inode_nr),                    \
				.held = (what_held), .first = (from), .end = (to),                 \
			};                                                                         \
			(env)->stop((env)->stop_priv, &ffs_stopped_);                              \
		}                                                                                  \
	} while (0)

/* The running task waits for who has @lock (foliofs_lock_order: the first time with another). */
void ffs_lock_record(struct ffs_env *env, enum ffs_lock lock, u32 ino);
static inline void ffs_lock_wait(struct ffs_env *env, enum ffs_lock lock, u32 ino)
{
	u32 held;

	memcpy(&held, env->locks.now.held, sizeof(held));
	if (unlikely(held))
		ffs_lock_record(env, lock, ino);
}

/* It takes @lock, or gives it back. */
static inline void ffs_lock(struct ffs_env *env, enum ffs_lock lock, u32 ino)
{
	ffs_lock_wait(env, lock, ino);
	env->locks.now.held[lock]++;
}

static inline void ffs_unlock(struct ffs_env *env, enum ffs_lock lock)
{
	env->locks.now.held[lock]--;
}

/* Another task runs: what this one holds; and back. */
static inline struct ffs_locks ffs_locks_switch(struct ffs_env *env, struct ffs_locks to)
{
	struct ffs_locks from = env->locks.now;

	env->locks.now = to;
	return from;
}

/* Is failure @name (failures.def) due now?  Costs one test if nothing is injected. */
#define ffs_fails(env, name)                                                                       \
	(unlikely((env)->failures_on & 1u << FOLIOFS_FAILURE_##name) &&                            \
	 ffs_failure_due(env, FOLIOFS_FAILURE_##name))
bool ffs_failure_due(struct ffs_env *env, enum foliofs_failure what);

/* Block size and friends. */
static inline u32 ffs_block_size(const struct ffs_env *env)
{
	return 1u << env->block_bits;
}

static inline u32 ffs_page_size(const struct ffs_env *env)
{
	return 1u << env->page_bits;
}

/* First block at or behind byte @pos. */
static inline u64 ffs_blocks_up(const struct ffs_env *env, u64 pos)
{
	return (pos + ffs_block_size(env) - 1) >> env->block_bits;
}

#endif
