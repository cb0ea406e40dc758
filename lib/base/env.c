// SPDX-License-Identifier: MIT
/* Hands events to their consumers: see env.h. */
#include <stdarg.h>
#include <stdio.h>
#include "env.h"

void ffs_error(struct ffs_env *env, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(env->error, sizeof(env->error), format, ap);
	va_end(ap);
}

void ffs_emit_args(struct ffs_env *env, enum foliofs_event_id id, const u64 *args, size_t n)
{
	struct foliofs_event ev = {
		.id = (u16)id,
		.thread = env->thread,
		.nargs = (u8)n,
		.op = env->op,
		.time_ns = env->now_ns,
	};
	u32 i;

	memcpy(ev.arg, args, n * sizeof(*args));
	for (i = 0; i < env->nr_sinks; i++)
		if (env->sinks[i]->wants[id])
			env->sinks[i]->event(env->sinks[i]->priv, &ev);
}
