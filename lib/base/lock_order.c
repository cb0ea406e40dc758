// SPDX-License-Identifier: MIT
/* Records what is taken while what is held: see lock_order.h. */
#include "env.h"

_Static_assert(sizeof(struct ffs_locks) == sizeof(u32), "held locks are looked at as one word");

const char *ffs_lock_name(u32 lock)
{
	static const char *const names[] = {
		"a folio lock", "a handle", "the lock of the block map", "the end of a folio's I/O",
	};

	return lock < FFS_LOCK_NR ? names[lock] : "?";
}

void ffs_lock_record(struct ffs_env *env, enum ffs_lock lock, u32 ino)
{
	struct ffs_lock_order *o = &env->locks;
	u32 held, fresh = 0;

	for (held = 0; held < FFS_LOCK_NR; held++)
		if (held != lock && o->now.held[held])
			fresh |= 1u << held;
	fresh &= ~(u32)o->after[lock];
	o->after[lock] |= (u8)fresh;
	for (; fresh; fresh &= fresh - 1) {
		held = (u32)__builtin_ctz(fresh);
		ffs_emit(env, foliofs_lock_order, ino, ffs_str(ffs_lock_name(held)),
			 ffs_str(ffs_lock_name(lock)), held, lock);
	}
}
