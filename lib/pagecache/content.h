/* SPDX-License-Identifier: MIT */
/*
 * Where bytes come from.  No payload is kept: each run of bytes in the page cache
 * or on the disk has a source (who wrote it) and the offset it was written at.
 *
 * In a struct ffs_runs keyed by byte: a = source offset - key, b = source.
 */
#ifndef FFS_CONTENT_H
#define FFS_CONTENT_H

#include "base/runs.h"

/* Source: operation | inode << 32; bit 63: the block was given back since it was written. */
#define FFS_SRC_ZERO 0ull
#define FFS_SRC_UNKNOWN 0xffffffffull /* memory that nobody filled */
#define FFS_SRC_STALE (1ull << 63)
/* What a device held before mke2fs: stale, and of nobody. */
#define FFS_SRC_OLD_DISK FFS_SRC_STALE

static inline u64 ffs_src(u32 op, u32 ino)
{
	return (u64)op | (u64)ino << 32;
}

static inline u32 ffs_src_op(u64 src)
{
	return (u32)src;
}

static inline u32 ffs_src_ino(u64 src)
{
	return (u32)(src >> 32) & 0x7fffffffu;
}

/* [pos, end) was written by @src at just these offsets. */
void ffs_content_write(struct ffs_runs *c, u64 pos, u64 end, u64 src);
void ffs_content_zero(struct ffs_runs *c, u64 pos, u64 end);
/*
 * Copy @len bytes at @from of @src to @to of @dst.  Where @src has nothing,
 * the copy is @missing (FFS_SRC_ZERO or FFS_SRC_UNKNOWN).
 */
void ffs_content_copy(struct ffs_runs *dst, u64 to, const struct ffs_runs *src, u64 from, u64 len,
		      u64 missing);
/* The same within the cache: the bytes of @src belong to inode @ino from now on. */
void ffs_content_clone(struct ffs_runs *dst, u64 to, const struct ffs_runs *src, u64 from, u64 len,
		       u32 ino);
/* Blocks given back: what they hold is stale from now on.  Zeros stay zeros. */
void ffs_content_stale(struct ffs_runs *c, u64 pos, u64 end);

#endif
