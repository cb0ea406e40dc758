// SPDX-License-Identifier: MIT
/*
 * lock-order: each order that tasks take locks in is told once (foliofs_lock_order); one
 * that closes a cycle with those before it is a deadlock.
 */
#include <stdio.h>
#include "fs/fs.h"

/* The operation that took @taken with @held held first; 0: none did. */
static u32 seen(const struct foliofs_fs *fs, u32 held, u32 taken)
{
	return fs->lock_op[held * FFS_LOCK_NR + taken];
}

/* A way from @from to @to; *via: the first lock on it. */
static bool way(const struct foliofs_fs *fs, u32 from, u32 to, u32 visited, u32 *via)
{
	u32 i, unused;

	for (i = 0; i < FFS_LOCK_NR; i++) {
		if (!seen(fs, from, i) || ((visited >> i) & 1))
			continue;
		*via = i;
		if (i == to || way(fs, i, to, visited | 1u << i, &unused))
			return true;
	}
	return false;
}

void ffs_lock_taken(struct foliofs_fs *fs, u32 ino, u32 held, u32 taken)
{
	u32 via, op = fs->ops.sb.env.op;

	if (held >= FFS_LOCK_NR || taken >= FFS_LOCK_NR)
		return;
	fs->lock_op[held * FFS_LOCK_NR + taken] = op ? op : 1;
	if (!way(fs, taken, held, 0, &via))
		return;
	ffs_rule_broken(fs, FOLIOFS_RULE_LOCK_ORDER, ino,
			"%s is taken with %s; operation %u took %s with %s", ffs_lock_name(taken),
			ffs_lock_name(held), seen(fs, taken, via), ffs_lock_name(via),
			ffs_lock_name(taken));
}
