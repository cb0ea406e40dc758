/* SPDX-License-Identifier: MIT */
/*
 * What every layer of one mounted file system shares: the kernel (its set of
 * changes), the geometry, who is running now, and the consumers of events.
 */
#ifndef FFS_ENV_H
#define FFS_ENV_H

#include <foliofs/event.h>
#include <foliofs/kernel.h>
#include "base.h"

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
