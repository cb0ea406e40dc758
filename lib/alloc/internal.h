/* SPDX-License-Identifier: MIT */
/*
 * Inside of the allocator: what its files share.
 *
 * Names, as the kernel's allocator uses them:
 *   cluster   the unit inside; a block without bigalloc
 *   group     clusters_per_group clusters; its bitmap here has a bit set for what is
 *             in use: allocated, preallocated, or freed and not yet committed
 *   chunk     aligned free piece of 2^order clusters that is part of no larger one
 *   PA        preallocation: of an inode (fixed logical place), or of the CPU for
 *             small files ("group PA", used from its start)
 *   criterion stage of the search, 0 strict ... 4 anything free
 *   loaded    the kernel has read the group's bitmap since mount: only then it is in
 *             the sets by which groups are found
 */
#ifndef FFS_ALLOC_INTERNAL_H
#define FFS_ALLOC_INTERNAL_H

#include "alloc.h"
#include "kernel/layout.h"

#define FFS_MB_ORDERS 18 /* chunk orders 0 .. log2(64K) + 1 */
#define FFS_LG_LISTS 10 /* lists of group PAs, by log2 of what is free */
#define FFS_COUNTER_BATCH 32 /* pending changes that a per-CPU counter keeps to itself */

/* Doubly linked ring; the head is an element too. */
struct ffs_link {
	struct ffs_link *next, *prev;
};

static inline void ffs_link_init(struct ffs_link *l)
{
	l->next = l->prev = l;
}

/* Insert @n in front of @at: at the end, if @at is the head. */
static inline void ffs_link_before(struct ffs_link *at, struct ffs_link *n)
{
	n->next = at;
	n->prev = at->prev;
	at->prev->next = n;
	at->prev = n;
}

static inline void ffs_link_del(struct ffs_link *n)
{
	n->prev->next = n->next;
	n->next->prev = n->prev;
	ffs_link_init(n);
}

/*
 * A per-CPU counter of a machine where all that counts runs on one CPU: others
 * see @count, which is corrected when @local reaches the batch.
 */
struct ffs_counter {
	s64 count;
	s32 local;
};

static inline void ffs_counter_add(struct ffs_counter *c, s64 n)
{
	s64 local = c->local + n;

	if (local >= FFS_COUNTER_BATCH || local <= -FFS_COUNTER_BATCH) {
		c->count += local;
		local = 0;
	}
	c->local = (s32)local;
}

static inline s64 ffs_counter_sum(const struct ffs_counter *c)
{
	return c->count + c->local;
}

/* The cheap, possibly stale reading; never negative. */
static inline u64 ffs_counter_read(const struct ffs_counter *c)
{
	return c->count > 0 ? (u64)c->count : 0;
}

struct ffs_pa {
	struct ffs_link in_group; /* list of the group it lies in */
	struct ffs_link in_lg; /* group PA: one of the CPU's lists */
	struct ffs_inode *inode; /* NULL: group PA */
	u64 pstart; /* first block; of a group PA: first one not used */
	u32 lstart; /* logical block of pstart (inode PA) */
	u32 len, free; /* clusters */
	u64 used[]; /* inode PA: a bit for each cluster taken */
};

/* PAs of an inode, by logical block; they never overlap and none is empty. */
struct ffs_inode_pa {
	u32 nr, cap;
	struct ffs_pa *pa[];
};

#define FFS_GROUP_LOADED 0x01u /* bitmap read since mount */
#define FFS_GROUP_READ 0x02u /* read-ahead has been started once */
#define FFS_GROUP_BLOCK_UNINIT 0x04u /* descriptor flag: block bitmap not on disk */
#define FFS_GROUP_SEEN 0x08u /* the chunk counts are right */

struct ffs_group {
	u32 free; /* clusters free in the bitmap here */
	u32 disk_free; /* free in the descriptor: PAs and uncommitted frees are */
	u32 fragments; /* runs of free clusters */
	u32 first_free; /* nothing free below */
	u16 chunks[FFS_MB_ORDERS]; /* free chunks of each order */
	int8_t set_largest, set_avg; /* the sets it is in, -1: none */
	u8 flags;
	u32 inodes_free, dirs;
	u32 inode_hint; /* no free inode below this bit */
	u64 *bits; /* bitmap, then chunk bitmaps of order 1 ..; NULL: as mke2fs left it */
	u64 *inode_bits; /* NULL: as mke2fs left it */
	u32 *deleted; /* without a journal: second + 1 of each deletion; NULL: none yet */
	struct ffs_link pas;
};

/*
 * Groups by some order: largest chunk, or average run.  Since v6.17 a set is
 * walked by group number, before it was a queue.
 */
struct ffs_sets {
	u32 n[FFS_MB_ORDERS]; /* members */
	u32 low[FFS_MB_ORDERS]; /* none below this group */
	u64 *bits[FFS_MB_ORDERS]; /* one bit a group; NULL: never had one */
	u32 *next, *prev; /* queues: groups, then the heads of the orders */
};

struct ffs_pending {
	u32 tid, group, start, len; /* clusters */
};

struct ffs_dir_goal { /* group of the last inode made in a directory */
	u32 ino, group;
};

struct ffs_alloc {
	struct ffs_env *env;
	struct ffs_alloc_hooks hooks;
	struct ffs_layout *layout;
	enum ffs_alloc_policy policy;

	u32 groups, nr_loaded, cpg; /* cpg: clusters per group */
	u8 cluster_bits, flex_bits, orders; /* orders: there are chunks of order 0 .. orders - 1 */
	bool desc_csum, optimize; /* groups are found through sets */
	u32 bitmap_words, group_words;
	u32 order_word[FFS_MB_ORDERS]; /* where the chunk bitmap of an order begins */
	struct ffs_group *group;
	struct ffs_sets largest, avg;

	/* tunables */
	u32 stream_req, group_prealloc, min_to_scan, max_to_scan, order2_req, trim_order;
	u32 max_linear_groups, cpus, pid_colour;
	u32 stripe; /* blocks, 0: none */

	struct ffs_link lg[FFS_LG_LISTS];
	u32 *last_group; /* where the last stream allocation of a slot went */
	u32 nr_last;

	struct ffs_counter free, dirty; /* clusters */
	u64 reserved; /* internal reserve, clusters */
	struct ffs_pending *pending; /* in order of the frees */
	u32 nr_pending, cap_pending;
	u32 worst_group, worst_start;

	struct ffs_counter inodes, dirs;
	struct { u32 inodes, dirs; u64 clusters; } *flex; /* exact, by flex group */
	u32 nr_flex;
	struct ffs_dir_goal *dir_goal; /* hash table, ino 0: empty */
	u32 nr_dir_goals, cap_dir_goals;
};

struct ffs_extent { /* in a group; clusters but for the logical block */
	u32 lblk, group, start, len;
};

enum ffs_ac_status { FFS_AC_CONTINUE, FFS_AC_FOUND, FFS_AC_BREAK };

enum ffs_criterion {
	FFS_CR_POWER2, FFS_CR_FAST, FFS_CR_BEST_AVAIL, FFS_CR_SLOW, FFS_CR_ANY, FFS_CR_END,
};

/* One allocation under way. */
struct ffs_ac {
	struct ffs_alloc *a;
	struct ffs_inode *inode;
	const struct ffs_alloc_request *ar;
	u32 flags;
	struct ffs_extent o, g, b; /* asked, wanted after normalisation, best found */
	u32 goal_len; /* what the search goes back to after it has tried shorter lengths */
	u8 order2, criterion, status;
	u32 found; /* candidates measured */
	u32 prefetch_group, prefetch_nr, prefetch_ios;
	struct ffs_pa *pa; /* the result is a part of it */
};

/* alloc.c: numbers of places */
static inline u64 ffs_cluster_block(const struct ffs_alloc *a, u32 group, u32 cluster)
{
	return a->env->geo.first_data_block + (u64)group * a->env->geo.blocks_per_group +
	       ((u64)cluster << a->cluster_bits);
}

void ffs_block_place(const struct ffs_alloc *a, u64 blk, u32 *group, u32 *cluster);
/*
 * Bitmap and descriptor of @group are changed on disk: @n clusters taken (or given
 * back, if negative).  Dirties both; does not touch the bitmap here.
 */
int ffs_mark_context(struct ffs_alloc *a, struct ffs_handle *h, u32 group, s64 n);
/* First free cluster or bit at or behind @from; @max if none. */
u32 ffs_next_zero(const u64 *bits, u32 max, u32 from);
u32 ffs_next_one(const u64 *bits, u32 max, u32 from);

static inline bool ffs_test(const u64 *bits, u32 i)
{
	return (bits[i / 64] >> (i % 64)) & 1;
}

/* group.c */
void ffs_groups_init(struct ffs_alloc *a);
/* What the kernel does when it needs the bitmap of @group: its page's groups are loaded. */
void ffs_group_load(struct ffs_alloc *a, u32 group);
/* Make sure that @group has a bitmap of its own here. */
struct ffs_group *ffs_group_bits(struct ffs_alloc *a, u32 group);
/* Take [start, start + len), all free; give it back, all used. */
void ffs_group_take(struct ffs_alloc *a, u32 group, u32 start, u32 len);
void ffs_group_give(struct ffs_alloc *a, u32 group, u32 start, u32 len);
/*
 * Length of free space from @start as the kernel measures it: chunk after chunk
 * until there are @needed; so it may be more than that, and ends with a chunk.
 */
u32 ffs_group_measure(const struct ffs_alloc *a, const struct ffs_group *g, u32 start, u32 needed);
static inline const u64 *ffs_chunk_bits(const struct ffs_alloc *a, const struct ffs_group *g,
					u32 order)
{
	return g->bits + a->order_word[order];
}

/* order_sets.c */
void ffs_sets_init(struct ffs_alloc *a);
void ffs_sets_free(struct ffs_alloc *a);
void ffs_sets_clear(struct ffs_alloc *a);
/* Group @group is loaded and its free space has changed. */
void ffs_sets_update(struct ffs_alloc *a, u32 group);
/* Set of average run @len. */
u32 ffs_avg_order(const struct ffs_alloc *a, u32 len);
/* First member of set @order in [from, to), @to if none (kernels with sets by number). */
u32 ffs_set_at(const struct ffs_alloc *a, const struct ffs_sets *s, u32 order, u32 from, u32 to);
/* Next in the queue of @order behind @group, a->groups: the first; returns a->groups at the end. */
u32 ffs_set_next(const struct ffs_alloc *a, const struct ffs_sets *s, u32 order, u32 group);

/* search.c */
void ffs_search(struct ffs_ac *ac);

/* prealloc.c */
void ffs_ac_classify(struct ffs_ac *ac); /* group PA, inode PA or none */
bool ffs_pa_use(struct ffs_ac *ac); /* from an existing PA */
void ffs_normalize(struct ffs_ac *ac);
void ffs_pa_new(struct ffs_ac *ac); /* what was found is more than was asked */
void ffs_pa_done(struct ffs_ac *ac); /* the result is taken from ac->pa */
void ffs_pa_undo(struct ffs_ac *ac); /* the result could not be written */
u64 ffs_pa_discard_any(struct ffs_alloc *a, u64 clusters); /* no space: returns clusters won */
void ffs_pa_forget_all(struct ffs_alloc *a); /* unmount */

/* free.c */
void ffs_pending_add(struct ffs_alloc *a, u32 tid, u32 group, u32 start, u32 len);
void ffs_released(struct ffs_alloc *a, u32 group, u32 start, u32 len);

/* ialloc.c */
void ffs_ialloc_init(struct ffs_alloc *a);
void ffs_ialloc_free(struct ffs_alloc *a);
void ffs_ialloc_remount(struct ffs_alloc *a);
/* hash.c: half MD4 of a name with the seed of the file system, lowest bit cleared. */
u32 ffs_half_md4(const u8 seed[16], const char *name, size_t len);

#endif
