// SPDX-License-Identifier: MIT
/*
 * Timestamps, as far as they decide whether an inode is dirtied: file_update_time,
 * touch_atime, multigrain times (v6.13).
 */
#include "ops.h"

#define DAY_NS (86400ull * 1000000000ull)

#define SECOND_NS 1000000000ull
#define OLD_INODE_SIZE 128u

/* Inodes of 128 bytes have room for seconds alone (s_time_gran). */
static bool seconds_only(const struct ffs_ops *o)
{
	return o->sb.env.geo.inode_size == OLD_INODE_SIZE;
}

/*
 * Coarse time: the last clock tick.  SIMPLIFIED: where only seconds are kept, one begins with
 * the first operation; on a machine that is a matter of chance.
 */
static u64 now_coarse(const struct ffs_ops *o)
{
	return o->sb.env.now_ns - o->sb.env.now_ns % (seconds_only(o) ? SECOND_NS : o->tick_ns);
}

void ffs_set_times(struct ffs_ops *o, struct ffs_inode *inode)
{
	struct ffs_vfs_inode *v = ffs_vfs(inode);

	v->mtime = v->ctime = now_coarse(o);
	v->queried = false;
}

/* ext4_dirty_inode() gives no result: without a handle the times stay in memory. */
static int dirty(struct ffs_ops *o, struct ffs_inode *inode)
{
	int err = ffs_dirty_inode(&o->sb, inode);

	return err == -ENOMEM ? 0 : err;
}

int ffs_update_time(struct ffs_ops *o, struct ffs_inode *inode)
{
	struct ffs_vfs_inode *v = ffs_vfs(inode);
	u64 now = now_coarse(o);

	/* Who looked at the times gets a new one for every change: the fine clock. */
	if (v->queried && ffs_sb_has(&o->sb, FOLIOFS_CHANGE_MULTIGRAIN) && now <= v->ctime &&
	    !seconds_only(o))
		now = max(o->sb.env.now_ns, v->ctime + 1);
	else if (now <= v->mtime && now <= v->ctime)
		return 0;
	v->mtime = v->ctime = now;
	v->queried = false;
	return dirty(o, inode);
}

int ffs_touch_atime(struct ffs_ops *o, const struct ffs_file *f, struct ffs_inode *inode)
{
	const struct foliofs_mount *mount = &o->sb.env.geo.mount;
	struct ffs_vfs_inode *v = ffs_vfs(inode);
	u64 now = now_coarse(o);

	if (mount->atime == FOLIOFS_ATIME_NOATIME || (f && (f->flags & FOLIOFS_O_NOATIME)) ||
	    (ffs_is_dir(inode) && mount->nodiratime))
		return 0;
	if (mount->atime == FOLIOFS_ATIME_RELATIME && v->atime > v->mtime && v->atime > v->ctime &&
	    now - v->atime < DAY_NS)
		return 0;
	if (v->atime == now)
		return 0;
	v->atime = now;
	return mount->lazytime ? 0 : dirty(o, inode);
}
