// SPDX-License-Identifier: MIT
/*
 * Freeing blocks of the indirect map: ext4_ind_truncate, ext4_ind_remove_space,
 * ext4_find_shared, ext4_free_branches, ext4_free_data, ext4_clear_blocks,
 * ext4_ind_truncate_ensure_credits.
 *
 * The branch to an edge of the range is shared: its pointer blocks stay and lose
 * what lies on the inner side; everything between is freed as whole subtrees.
 */
#include "blockmap/ext.h"
#include "blockmap/ind.h"

struct cut {
	struct ffs_blockmap *bm;
	struct ffs_handle *h;
	struct ffs_inode *inode;
	struct ffs_ind_map *m;
};

/* An edge of the range: the branch to it as far as it is shared. */
struct edge {
	struct ffs_ind_path path;
	struct ffs_ind_step chain[4];
	u32 at; /* last step of the chain that is shared */
	bool top; /* the pointer there leads to a subtree that is not shared */
};

/*
 * At least 12 credits for the next free, by extending or restarting; before a
 * restart @parent, which has lost pointers, and the inode go to the old transaction.
 */
static int ensure_credits(struct cut *c, const struct ffs_ind_node *parent, s32 revokes)
{
	struct ffs_blockmap *bm = c->bm;
	struct foliofs_inode_kind kind;
	s32 credits;
	int err;

	ffs_map_inode_kind(bm, c->inode, &kind);
	credits = (s32)foliofs_ask(&bm->env->kernel, &bm->env->geo, &kind,
				   FOLIOFS_CREDIT_TRUNCATE, 0).credits.total;
	err = ffs_handle_ensure(c->h, 12, credits, revokes);
	if (err <= 0)
		return err;
	if (parent) {
		err = ffs_journal_dirty(c->h, parent->blk);
		if (err)
			return err;
	}
	err = bm->mark_inode_dirty(bm->priv, c->h, c->inode, "ext4_ind_truncate_ensure_credits");
	if (err)
		return err;
	ffs_discard_preallocations(bm->alloc, c->inode);
	err = ffs_handle_restart(c->h, (u32)credits, (u32)revokes);
	return err < 0 ? err : 0;
}

/* Free slots [from, to) of @parent (or the inode), which hold the run [blk, blk + count). */
static int clear_blocks(struct cut *c, struct ffs_ind_node *parent, u32 from, u32 to, u64 blk,
			u32 count)
{
	s32 revokes = 0;
	u32 *ptr = parent ? parent->ptr : c->m->ptr;
	int err;

	if (c->bm->env->geo.mount.data != FOLIOFS_DATA_JOURNAL &&
	    ffs_journals_data(c->bm, c->inode))
		revokes = (s32)count;
	err = ensure_credits(c, parent, revokes);
	if (err)
		return err;
	memset(&ptr[from], 0, (to - from) * sizeof(*ptr));
	return ffs_free_data(c->bm, c->h, c->inode, blk, count, 0);
}

static int free_data(struct cut *c, struct ffs_ind_node *parent, u32 from, u32 to)
{
	const u32 *ptr = parent ? parent->ptr : c->m->ptr;
	u32 i, start = 0, count = 0;
	u64 blk = 0;
	int err = 0;

	c->m->generation++;
	for (i = from; i < to && !err; i++) {
		if (!ptr[i])
			continue;
		if (count && ptr[i] == blk + count) {
			count++;
			continue;
		}
		if (count)
			err = clear_blocks(c, parent, start, i, blk, count);
		blk = ptr[i];
		start = i;
		count = 1;
	}
	if (!err && count)
		err = clear_blocks(c, parent, start, to, blk, count);
	if (!err && parent)
		err = ffs_journal_dirty(c->h, parent->blk);
	return err;
}

/* Free what slots [from, to) of @parent lead to, @depth levels of pointer blocks. */
static int free_branches(struct cut *c, struct ffs_ind_node *parent, u32 from, u32 to, u32 depth)
{
	int err = 0;

	if (!depth)
		return free_data(c, parent, from, to);
	while (to-- > from && !err) {
		struct ffs_ind_step s = { parent, (s32)to };
		struct ffs_ind_node *node;

		if (!*ffs_ind_slot(c->m, &s))
			continue;
		node = ffs_ind_own_child(c->m, &s);
		err = free_branches(c, node, 0, c->m->per_block, depth - 1);
		if (!err)
			err = ensure_credits(c, NULL, 1);
		if (err)
			break;
		err = ffs_free_meta_block(c->bm, c->h, c->inode, node->blk);
		*ffs_ind_slot(c->m, &s) = 0;
		*ffs_ind_child(c->m, &s) = NULL;
		ffs_ind_node_put(c->m, node);
		if (!err && parent)
			err = ffs_journal_dirty(c->h, parent->blk);
	}
	return err;
}

static bool all_zero(const struct ffs_ind_node *node, s32 n)
{
	while (n--)
		if (node->ptr[n])
			return false;
	return true;
}

/* ext4_find_shared: the part of the branch to @lblk that has something left of it. */
static void find_shared(struct cut *c, struct edge *e)
{
	u32 k, partial, at;

	for (k = e->path.depth; k > 1 && !e->path.off[k - 1]; k--)
		;
	partial = ffs_ind_branch(c->m, &e->path, k, e->chain);
	if (partial == k)
		partial = k - 1;
	ffs_ind_own(c->m, e->chain, partial);
	for (at = partial; at && all_zero(e->chain[at].node, e->chain[at].off); at--)
		;
	e->at = at;
	e->top = false;
	if (at == k - 1 && at)
		e->chain[at].off--;
	else
		e->top = *ffs_ind_slot(c->m, &e->chain[at]) != 0;
}

static u32 depth_below(const struct edge *e, u32 at)
{
	return e->path.depth - 1 - at;
}

/* Free the subtree that hangs at the top of the shared branch. */
static int free_top(struct cut *c, struct edge *e)
{
	struct ffs_ind_step *s = &e->chain[e->at];

	if (!e->top)
		return 0;
	return free_branches(c, s->node, (u32)s->off, (u32)s->off + 1, depth_below(e, e->at));
}

static int free_right_of(struct cut *c, struct edge *e, u32 at)
{
	return free_branches(c, e->chain[at].node, (u32)(e->chain[at].off + 1), c->m->per_block,
			     depth_below(e, at));
}

static int free_left_of(struct cut *c, struct edge *e, u32 at)
{
	return free_branches(c, e->chain[at].node, 0, (u32)e->chain[at].off, depth_below(e, at));
}

/* The rest of the map behind slot @off0 of the inode: whole trees of up to @levels levels. */
static int free_whole(struct cut *c, u32 off0, u32 levels)
{
	u32 slot = max(off0 + 1, FFS_IND_DIRECT);
	int err = 0;

	for (; slot < FFS_IND_SLOTS && !err; slot++) {
		u32 depth = slot - FFS_IND_DIRECT + 1;

		if (depth > levels)
			break;
		err = free_branches(c, NULL, slot, slot + 1, depth);
	}
	return err;
}

/* What lies right of @e on its own branch. */
static int free_start(struct cut *c, struct edge *e)
{
	int err;

	if (e->path.depth == 1)
		return free_data(c, NULL, e->path.off[0], FFS_IND_DIRECT);
	find_shared(c, e);
	err = free_top(c, e);
	for (; !err && e->at; e->at--)
		err = free_right_of(c, e, e->at);
	return err;
}

int ffs_ind_truncate(struct ffs_blockmap *bm, struct ffs_handle *h, struct ffs_inode *inode,
		     u32 first)
{
	struct cut c = { bm, h, inode, inode->ind };
	struct edge e;
	int err;

	ffs_ind_path(c.m, first, &e.path);
	if (!e.path.depth)
		return 0;
	err = free_start(&c, &e);
	return err ? err : free_whole(&c, e.path.off[0], 3);
}

/* Both edges in trees of the same depth: walk them up in step until they meet. */
static int free_between(struct cut *c, struct edge *a, struct edge *b)
{
	u32 i, level;
	bool subtree = true;
	int err = 0;

	find_shared(c, a);
	find_shared(c, b);
	/* the branches share blocks: the first may have been copied before the second looked */
	level = min(a->at, b->at);
	for (i = 0; i <= level && subtree; i++)
		subtree = a->path.off[i] == b->path.off[i];
	if (a->top && !subtree)
		err = free_top(c, a);
	if (!b->top)
		b->chain[b->at].off++;
	while (!err && (a->at || b->at)) {
		u32 da = depth_below(a, a->at), db = depth_below(b, b->at);

		if (a->at && b->at && a->chain[a->at].node == b->chain[b->at].node)
			return free_branches(c, a->chain[a->at].node,
					     (u32)(a->chain[a->at].off + 1),
					     (u32)b->chain[b->at].off, da);
		if (a->at && da <= db) {
			err = free_right_of(c, a, a->at);
			a->at--;
		}
		if (!err && b->at && db <= da) {
			err = free_left_of(c, b, b->at);
			b->at--;
		}
	}
	return err;
}

int ffs_ind_remove(struct ffs_blockmap *bm, struct ffs_handle *h, struct ffs_inode *inode,
		   u32 first, u32 end)
{
	struct cut c = { bm, h, inode, inode->ind };
	struct edge a, b;
	int err;

	ffs_ind_path(c.m, first, &a.path);
	ffs_ind_path(c.m, end, &b.path);
	if (first >= end || !a.path.depth)
		return 0;
	if (!b.path.depth)
		return ffs_ind_truncate(bm, h, inode, first);
	if (a.path.depth == 1 && b.path.depth == 1)
		return free_data(&c, NULL, a.path.off[0], b.path.off[0]);
	if (a.path.depth == b.path.depth)
		return free_between(&c, &a, &b);

	err = free_start(&c, &a);
	if (err)
		return err;
	find_shared(&c, &b);
	/* the end is the start of its tree: nothing of that is in the range */
	if (!(b.top && !b.at)) {
		if (!b.top)
			b.chain[b.at].off++;
		for (; !err && b.at; b.at--)
			err = free_left_of(&c, &b, b.at);
	}
	return err ? err : free_whole(&c, a.path.off[0], b.path.depth - 2);
}
