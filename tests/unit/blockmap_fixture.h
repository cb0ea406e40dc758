/* SPDX-License-Identifier: MIT */
/*
 * For the unit tests of the block maps: one inode, a journal that counts what is
 * dirtied in each transaction, and an allocator that gives what the test says.
 */
#ifndef BLOCKMAP_FIXTURE_H
#define BLOCKMAP_FIXTURE_H

/* Stand-ins for other layers take what these take, tests the state of cmocka. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "alloc/alloc.h"
#include "blockmap/blockmap.h"

#define FX_INODE_TABLE 1000000000ull
#define FX_BITMAP 2000000000ull
#define FX_DESC 3000000000ull

static struct {
	struct ffs_env env;
	struct ffs_blockmap bm;
	struct ffs_inode inode;
	struct ffs_handle h;
	u64 next; /* block that the allocator gives next */
	u32 gap; /* blocks it leaves out after each answer */
	u32 most; /* at most so many at once; 0: what is asked */
	u32 fail_meta; /* so many requests for tree blocks fail */
	u64 meta; /* tree blocks come from here */
	struct ffs_alloc_request last; /* the last request for data */
	u64 *dirty; /* of this transaction */
	u32 nr_dirty, cap_dirty;
	s32 dirtied; /* charged since fx_commit() */
	u32 mids; /* mark_inode_dirty since then */
	u32 meta_blocks; /* tree blocks in use */
	u64 freed, claimed; /* data blocks freed; delayed clusters promised */
	u64 space; /* clusters that may be promised */
	char zeroed[64]; /* which blocks were zeroed on disk: "10+2 12+1 " */
	u32 restarts, refuse; /* the next ensures are refused */
} fx;

/* --- journal --- */

int ffs_journal_dirty(struct ffs_handle *h, u64 blk)
{
	u32 i;

	for (i = 0; i < fx.nr_dirty; i++)
		if (fx.dirty[i] == blk)
			return 0;
	if (fx.nr_dirty == fx.cap_dirty) {
		fx.cap_dirty = fx.cap_dirty ? 2 * fx.cap_dirty : 64;
		fx.dirty = ffs_realloc(fx.dirty, fx.cap_dirty * sizeof(*fx.dirty));
	}
	fx.dirty[fx.nr_dirty++] = blk;
	fx.dirtied++;
	return 0;
}

void ffs_journal_forget(struct ffs_handle *h, u64 blk)
{
	u32 i;

	for (i = 0; i < fx.nr_dirty; i++) {
		if (fx.dirty[i] != blk)
			continue;
		fx.dirty[i] = fx.dirty[--fx.nr_dirty];
		fx.dirtied--;
		return;
	}
}

int ffs_journal_revoke(struct ffs_handle *h, u64 blk)
{
	ffs_journal_forget(h, blk);
	return 0;
}

int ffs_handle_start(struct ffs_journal *j, u32 ino, enum foliofs_handle_type type, u32 blocks,
		     u32 rsv, u32 revokes, const char *caller, struct ffs_handle **out)
{
	*out = &fx.h;
	return 0;
}

int ffs_handle_stop(struct ffs_handle *h)
{
	return 0;
}

int ffs_handle_extend(struct ffs_handle *h, u32 blocks, u32 revokes)
{
	return 0;
}

int ffs_handle_ensure(struct ffs_handle *h, s32 check, s32 extend, s32 revokes)
{
	if (!fx.refuse)
		return 0;
	fx.refuse--;
	return 1;
}

/* A new transaction: nothing is dirtied in it; the inode has been by somebody else. */
static inline void fx_commit(void)
{
	fx.nr_dirty = 0;
	fx.dirtied = 0;
	fx.mids = 0;
	ffs_journal_dirty(&fx.h, FX_INODE_TABLE);
	fx.dirtied = 0;
}

int ffs_handle_restart(struct ffs_handle *h, u32 blocks, u32 revokes)
{
	fx.restarts++;
	fx_commit();
	return 1;
}

/* --- allocator --- */

static inline void fx_dirty_group(u64 blk)
{
	u64 group = blk / fx.env.geo.blocks_per_group;

	ffs_journal_dirty(&fx.h, FX_BITMAP + group);
	ffs_journal_dirty(&fx.h, FX_DESC + group / 16);
}

u64 ffs_alloc_blocks(struct ffs_alloc *a, struct ffs_handle *h, struct ffs_alloc_request *ar,
		     int *err)
{
	u64 blk = fx.next;

	*err = 0;
	fx.last = *ar;
	if (fx.most)
		ar->len = min(ar->len, fx.most);
	fx.next += (u64)ar->len * fx.env.geo.cluster_ratio + fx.gap;
	fx_dirty_group(blk);
	if (!(ar->flags & FFS_MB_DELALLOC))
		ar->inode->i_blocks += (u64)ar->len * fx.env.geo.cluster_ratio;
	return blk;
}

u64 ffs_alloc_meta_block(struct ffs_alloc *a, struct ffs_handle *h, struct ffs_inode *inode,
			 u64 goal, u32 flags, int *err)
{
	*err = 0;
	if (fx.fail_meta) {
		fx.fail_meta--;
		*err = -ENOSPC;
		return 0;
	}
	fx_dirty_group(fx.meta);
	fx.meta_blocks++;
	inode->i_blocks++;
	return fx.meta++;
}

int ffs_free_blocks(struct ffs_alloc *a, struct ffs_handle *h, struct ffs_inode *inode, u64 blk,
		    u64 count, u32 flags)
{
	if (flags & FFS_FREE_METADATA) {
		fx.meta_blocks--;
		ffs_journal_revoke(h, blk);
	} else {
		fx.freed += count;
	}
	fx_dirty_group(blk);
	inode->i_blocks -= count;
	return 0;
}

void ffs_discard_preallocations(struct ffs_alloc *a, struct ffs_inode *inode)
{
}

u64 ffs_inode_goal(const struct ffs_alloc *a, const struct ffs_inode *inode)
{
	return 32768;
}

int ffs_claim_delayed(struct ffs_alloc *a, u64 clusters)
{
	if (fx.claimed + clusters > fx.space)
		return -ENOSPC;
	fx.claimed += clusters;
	return 0;
}

void ffs_release_delayed(struct ffs_alloc *a, u64 clusters)
{
	fx.claimed -= clusters;
}

/* --- the rest --- */

static int fx_mark_inode_dirty(void *priv, struct ffs_handle *h, struct ffs_inode *inode,
			       const char *caller)
{
	fx.mids++;
	return ffs_journal_dirty(h, FX_INODE_TABLE);
}

static void fx_zeroed(void *priv, struct ffs_inode *inode, u32 lblk, u64 pblk, u32 len)
{
	size_t n = strlen(fx.zeroed);

	snprintf(fx.zeroed + n, sizeof(fx.zeroed) - n, "%u+%u ", lblk, len);
}

static inline void fx_make(const char *kernel, u32 block_size, u32 flags)
{
	char err[200];

	memset(&fx, 0, sizeof(fx));
	assert_int_equal(foliofs_kernel_parse(kernel, &fx.env.kernel, err, sizeof(err)), 0);
	fx.env.block_bits = (u8)ilog2(block_size);
	fx.env.page_bits = 12;
	fx.env.geo = (struct foliofs_geometry){
		.page_size = 4096, .block_size = block_size, .cluster_ratio = 1,
		.blocks_per_group = 8 * block_size, .blocks_count = 1ull << 32, .groups = 8192,
		.first_data_block = block_size == 1024, .journal_blocks = 4096, .desc_size = 64,
		.gdb_count = 512, .features = FOLIOFS_FEATURE_EXTENTS | FOLIOFS_FEATURE_HAS_JOURNAL,
		.flex_bg_size = 16,
	};
	fx.bm = (struct ffs_blockmap){
		.env = &fx.env, .mark_inode_dirty = fx_mark_inode_dirty, .zeroed_out = fx_zeroed,
	};
	fx.next = 100;
	fx.meta = 5000;
	fx.space = 1u << 30;
	fx.h.tid = 7;
	fx.inode = (struct ffs_inode){
		.ino = 12, .mode = FFS_S_IFREG | 0644, .flags = flags, .writers = 1,
	};
	ffs_blockmap_init(&fx.bm, &fx.inode);
	fx_commit();
}

static inline void fx_free(void)
{
	ffs_blockmap_destroy(&fx.bm, &fx.inode);
	free(fx.dirty);
}

static inline int fx_map(u32 lblk, u32 len, u32 flags, struct ffs_map *map)
{
	struct ffs_map m = { .lblk = lblk, .len = len };
	int ret = ffs_map_blocks(&fx.bm, &fx.h, &fx.inode, &m, flags);

	if (map)
		*map = m;
	return ret;
}

static void fx_add_run(void *priv, const struct ffs_map_run *run)
{
	char *text = priv;
	size_t n = strlen(text);

	if (n < 200)
		snprintf(text + n, 256 - n, "%s%c%u+%u", n ? " " : "", run->unwritten ? 'U' : 'W',
			 run->lblk, run->len);
}

/* The map as facts write it: "U0+3 W3+5". */
static inline const char *fx_runs(const struct ffs_inode *inode)
{
	static char text[256];

	text[0] = 0;
	ffs_for_each_run(inode, fx_add_run, text);
	return text;
}

#define assert_runs(inode, text) assert_string_equal(fx_runs(inode), text)

static inline struct ffs_tree_info fx_tree(void)
{
	struct ffs_tree_info info;

	ffs_tree_info(&fx.inode, &info);
	return info;
}

#endif
