/* SPDX-License-Identifier: MIT */
/*
 * What the tests of the allocator share: a file system from mke2fs options, a
 * journal that only notes what is dirtied, requests in one line.
 */
#ifndef ALLOC_COMMON_H
#define ALLOC_COMMON_H

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <cmocka.h>
#include <foliofs/mkfs.h>
#include "alloc/internal.h"

#define UNUSED __attribute__((unused))

static u64 dirtied[64]; /* blocks dirtied since reset, in order */
static u32 nr_dirtied, nr_forgotten, nr_revoked;

int ffs_journal_dirty(struct ffs_handle *h UNUSED, u64 blk)
{
	if (nr_dirtied < ARRAY_SIZE(dirtied))
		dirtied[nr_dirtied] = blk;
	nr_dirtied++;
	return 0;
}

void ffs_journal_forget(struct ffs_handle *h UNUSED, u64 blk UNUSED)
{
	nr_forgotten++;
}

int ffs_journal_revoke(struct ffs_handle *h UNUSED, u64 blk UNUSED)
{
	nr_revoked++;
	return 0;
}

static inline void reset_journal(void)
{
	nr_dirtied = nr_forgotten = nr_revoked = 0;
}

struct fs {
	struct ffs_env env;
	struct ffs_alloc *a;
	struct ffs_handle h;
	u32 i_blocks_events;
	u64 released; /* blocks that became free again */
};

static inline void count_i_blocks(void *priv, struct ffs_inode *inode UNUSED)
{
	((struct fs *)priv)->i_blocks_events++;
}

static inline void count_released(void *priv, u64 first, u64 end)
{
	((struct fs *)priv)->released += end - first;
}

static inline struct fs *fs_new_kernel(const char *kernel, const char *mkfs, const char *mount)
{
	struct fs *fs = ffs_zalloc(sizeof(*fs));
	struct ffs_alloc_hooks hooks = { fs, count_i_blocks, count_released, NULL };
	char err[256];

	fs->env.geo.page_size = 4096;
	if (foliofs_geometry_from_mkfs(mkfs, &fs->env.geo, err, sizeof(err)) ||
	    foliofs_mount_parse(mount, &fs->env.geo, err, sizeof(err)) ||
	    foliofs_kernel_parse(kernel, &fs->env.kernel, err, sizeof(err)))
		fail_msg("%s", err);
	fs->env.block_bits = (u8)ilog2(fs->env.geo.block_size);
	fs->env.page_bits = 12;
	fs->a = ffs_alloc_new(&fs->env, &hooks);
	assert_non_null(fs->a);
	fs->h.tid = 3;
	fs->h.nojournal = !ffs_feature(&fs->env, FOLIOFS_FEATURE_HAS_JOURNAL);
	reset_journal();
	return fs;
}

static inline struct fs *fs_new(const char *mkfs)
{
	return fs_new_kernel("v6.18", mkfs, "");
}

/* The same on a rotational device: the search begins with four groups in a row. */
static inline struct fs *fs_new_rotational(const char *mkfs)
{
	struct fs *fs = fs_new(mkfs);

	ffs_alloc_tune(fs->a, "mb_max_linear_groups", 4);
	return fs;
}

static inline void fs_free(struct fs *fs)
{
	ffs_alloc_free(fs->a);
	free(fs);
}

/* A regular file, open for writing, of @blocks. */
static inline struct ffs_inode file_of_blocks(const struct fs *fs, u32 ino, u64 blocks)
{
	return (struct ffs_inode){
		.ino = ino,
		.mode = FFS_S_IFREG | 0644,
		.flags = FFS_INODE_EXTENTS,
		.i_size = blocks << fs->env.block_bits,
		.writers = 1,
	};
}

#define DELAYED (FFS_MB_DATA | FFS_MB_DELALLOC | FFS_MB_USE_RESERVED)

/*
 * Writeback of [lblk, lblk + len), the file being allocated up to lblk with its last
 * block at @pleft (0: nothing to the left).  Returns the block, *got the length.
 */
static inline u64 ask(struct fs *fs, struct ffs_inode *inode, u32 flags, u32 lblk, u32 len,
		      u64 pleft, u32 *got)
{
	struct ffs_alloc_request ar = {
		.inode = inode,
		.flags = flags,
		.len = len,
		.lblk = lblk,
		.goal = pleft ? pleft + 1 : ffs_inode_goal(fs->a, inode),
		.lleft = pleft ? lblk - 1 : lblk,
		.lright = lblk,
		.pleft = pleft,
	};
	int err;
	u64 blk = ffs_alloc_blocks(fs->a, &fs->h, &ar, &err);

	*got = ar.len;
	return blk;
}

#endif
