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

bool ffs_failure_due(struct ffs_env *env, enum foliofs_failure what)
{
	static const char *const names[] = {
#define FOLIOFS_FAILURE(id, name, error, meaning) name,
#include <foliofs/failures.def>
#undef FOLIOFS_FAILURE
	};
	struct ffs_failure_count *f = &env->failure[what];

	f->seen++;
	if (f->failed)
		return false;
	if (f->seen != f->nth && !(env->fail_ask && env->fail_ask(env->fail_priv, what, f->seen)))
		return false;
	f->failed = true;
	ffs_emit(env, foliofs_injected, ffs_str(names[what]), f->seen);
	return true;
}
