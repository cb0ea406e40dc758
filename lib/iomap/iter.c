// SPDX-License-Identifier: MIT
/* The iterator: stands for iomap_iter, iomap_iter_advance (fs/iomap/iter.c, v6.18). */
#include "iomap.h"

#define STALE_ROUNDS 64u /* maps in a row that nothing could be done with: taken for endless */

/*
 * [pos, pos + len) cut at the end of the map and of its source.  Before the first
 * question the map is empty: nothing is left of it at 0, and the difference
 * wraps around elsewhere, as the kernel's does (events show it).
 */
static u64 trim(const struct ffs_iomap_iter *it, u64 pos, u64 len)
{
	u64 end = ffs_iomap_end(&it->map);

	if (it->src.length)
		end = min(end, ffs_iomap_end(&it->src));
	return min(len, end - pos);
}

u64 ffs_iomap_length(const struct ffs_iomap_iter *it)
{
	return trim(it, it->pos, it->len);
}

void ffs_iomap_advance(struct ffs_iomap_iter *it, u64 bytes)
{
	it->pos += bytes;
	it->len -= bytes;
}

static void trace_map(const struct ffs_iomap_iter *it, const struct ffs_iomap *map, bool source)
{
	struct ffs_env *env = &it->sb->env;

	if (source)
		ffs_emit(env, iomap_iter_srcmap, it->inode->ino, map->addr, map->offset, map->length,
			 map->type, map->flags);
	else
		ffs_emit(env, iomap_iter_dstmap, it->inode->ino, map->addr, map->offset, map->length,
			 map->type, map->flags);
}

static int iterate(struct ffs_iomap_iter *it, const struct ffs_iomap_ops *ops)
{
	bool stale = it->map.flags & FFS_IOMAP_F_STALE;
	int ret;

	ffs_emit(&it->sb->env, iomap_iter, it->inode->ino, it->pos, ffs_iomap_length(it),
		 (u64)(s64)it->status, it->flags, ffs_str(it->caller));
	if (it->map.length) {
		u64 done = it->pos - it->start;
		int status = it->status;
		bool go_on = it->len && (done || stale);

		if (ops->end) {
			ret = ops->end(it->sb, it->inode, it->start,
				       trim(it, it->start, it->len + done), done, it->flags,
				       &it->map);
			if (ret < 0 && !done)
				return ret;
		}
		it->status = 0;
		it->map = (struct ffs_iomap){ 0 };
		it->src = (struct ffs_iomap){ 0 };
		if (status < 0)
			return status;
		if (!go_on)
			return 0;
		it->stale = done ? 0 : it->stale + 1;
		if (it->stale >= STALE_ROUNDS) {
			ffs_emit(&it->sb->env, foliofs_livelock, it->inode->ino, it->stale,
				 ffs_str("iomap: every map is out of date"));
			return -EAGAIN;
		}
	}
	ret = ops->begin(it->sb, it->inode, it->pos, it->len, it->flags, &it->map, &it->src);
	if (ret < 0)
		return ret;
	it->start = it->pos;
	trace_map(it, &it->map, false);
	if (it->src.length)
		trace_map(it, &it->src, true);
	return 1;
}

int ffs_iomap_iter(struct ffs_iomap_iter *it, const struct ffs_iomap_ops *ops)
{
	int ret = iterate(it, ops);

	it->sb->iomap_op = ret > 0 ? it->flags : 0;
	return ret;
}
