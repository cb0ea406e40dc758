// SPDX-License-Identifier: MIT
/*
 * Preallocations: which kind a request gets, its size, use and end.
 *
 * Stands for ext4_mb_group_or_file, ext4_mb_use_preallocated,
 * ext4_mb_normalize_request, ext4_mb_new_inode_pa, ext4_mb_new_group_pa,
 * ext4_mb_add_n_trim, ext4_mb_put_pa and ext4_discard_preallocations.
 *
 * PAs are removed at once when they are used up or discarded; so a lookup never
 * meets a dead one that would hide a live neighbour.
 *
 * SIMPLIFIED: one CPU, so one set of lists for group PAs; the limit of 512 PAs an
 * inode that kernels before v6.4 had is not there.
 */
#include "internal.h"

static u64 pa_lend(const struct ffs_alloc *a, const struct ffs_pa *pa)
{
	return pa->lstart + ((u64)pa->len << a->cluster_bits);
}

/* ---- PAs of an inode ---- */

/* Index of the first PA that begins behind @lblk. */
static u32 pa_after(const struct ffs_inode_pa *v, u32 lblk)
{
	u32 lo = 0, hi = v ? v->nr : 0;

	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if (v->pa[mid]->lstart > lblk)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

static void inode_pa_add(struct ffs_inode *inode, struct ffs_pa *pa)
{
	struct ffs_inode_pa *v = inode->pas;
	u32 at;

	if (!v || v->nr == v->cap) {
		u32 cap = v ? 2 * v->cap : 4, nr = v ? v->nr : 0;

		v = ffs_realloc(v, sizeof(*v) + cap * sizeof(v->pa[0]));
		v->cap = cap;
		v->nr = nr;
		inode->pas = v;
	}
	at = pa_after(v, pa->lstart);
	memmove(&v->pa[at + 1], &v->pa[at], (v->nr - at) * sizeof(v->pa[0]));
	v->pa[at] = pa;
	v->nr++;
}

static void inode_pa_del(struct ffs_pa *pa)
{
	struct ffs_inode_pa *v = pa->inode->pas;
	u32 at = pa_after(v, pa->lstart) - 1;

	v->nr--;
	memmove(&v->pa[at], &v->pa[at + 1], (v->nr - at) * sizeof(v->pa[0]));
	if (!v->nr) {
		free(v);
		pa->inode->pas = NULL;
	}
}

/* Take a PA off its lists and free it; its space has been dealt with. */
static void pa_end(struct ffs_pa *pa)
{
	ffs_link_del(&pa->in_group);
	if (pa->inode)
		inode_pa_del(pa);
	else
		ffs_link_del(&pa->in_lg);
	free(pa);
}

/* Give back what the PA has not used, and end it. */
static u32 pa_discard(struct ffs_alloc *a, struct ffs_pa *pa)
{
	u32 group, start, at, freed = pa->free;

	ffs_block_place(a, pa->pstart, &group, &start);
	ffs_group_load(a, group);
	if (!pa->inode) {
		ffs_emit(a->env, ext4_mb_release_group_pa, pa->pstart, pa->len);
		ffs_group_give(a, group, start, pa->len);
		pa_end(pa);
		return freed;
	}
	for (at = 0; at < pa->len;) {
		u32 end;

		at = ffs_next_zero(pa->used, pa->len, at);
		if (at >= pa->len)
			break;
		end = ffs_next_one(pa->used, pa->len, at);
		ffs_emit(a->env, ext4_mb_release_inode_pa, pa->inode->ino,
			 pa->pstart + ((u64)at << a->cluster_bits), end - at);
		ffs_group_give(a, group, start + at, end - at);
		at = end;
	}
	pa_end(pa);
	return freed;
}

void ffs_discard_preallocations(struct ffs_alloc *a, struct ffs_inode *inode)
{
	if (!ffs_is_reg(inode))
		return;
	ffs_emit(a->env, ext4_discard_preallocations, inode->ino, inode->pas ? inode->pas->nr : 0);
	while (inode->pas)
		pa_discard(a, inode->pas->pa[inode->pas->nr - 1]);
}

u64 ffs_pa_discard_any(struct ffs_alloc *a, u64 clusters)
{
	u64 won = 0;
	u32 i;

	for (i = 0; i < a->groups && won < clusters; i++) {
		struct ffs_link *head = &a->group[i].pas;

		while (head->prev != head)
			won += pa_discard(a, container_of(head->prev, struct ffs_pa, in_group));
	}
	return won;
}

void ffs_pa_forget_all(struct ffs_alloc *a)
{
	bool muted = a->env->muted;

	a->env->muted = true;
	ffs_pa_discard_any(a, UINT64_MAX);
	a->env->muted = muted;
}

/* ---- requests ---- */

void ffs_ac_classify(struct ffs_ac *ac)
{
	const struct ffs_alloc *a = ac->a;
	u64 end = ac->o.lblk + ((u64)ac->o.len << a->cluster_bits);
	u64 size = ffs_blocks_up(a->env, ac->inode->i_size);
	bool inode_pa;

	if (!(ac->flags & FFS_MB_DATA))
		return;
	/* nobody will append to a file that no one can write to */
	inode_pa = end != size || ac->inode->writers;
	if (a->group_prealloc && max(end, size) <= a->stream_req)
		ac->flags |= FFS_MB_GROUP;
	else
		ac->flags |= inode_pa ? FFS_MB_STREAM : FFS_MB_NOPREALLOC;
}

/* From @pa, which covers the request's first block, as much as it has (ext4_mb_use_inode_pa). */
static void use_inode_pa(struct ffs_ac *ac, struct ffs_pa *pa)
{
	const struct ffs_alloc *a = ac->a;
	u32 off = ac->o.lblk - pa->lstart; /* a window need not begin with a cluster */
	u64 left = ((u64)pa->len << a->cluster_bits) - off;
	u32 at = off >> a->cluster_bits, i;

	ffs_block_place(a, pa->pstart, &ac->b.group, &ac->b.start);
	ac->b.start += at;
	ac->b.len = (u32)div_up(min((u64)ac->o.len << a->cluster_bits, left),
				1u << a->cluster_bits);
	ac->b.lblk = ac->o.lblk;
	ac->pa = pa;
	for (i = at; i < at + ac->b.len; i++)
		pa->used[i / 64] |= 1ull << (i % 64);
	pa->free -= ac->b.len;
}

static void use_group_pa(struct ffs_ac *ac, struct ffs_pa *pa)
{
	ffs_block_place(ac->a, pa->pstart, &ac->b.group, &ac->b.start);
	ac->b.len = ac->o.len;
	ac->b.lblk = ac->o.lblk;
	ac->pa = pa;
}

static u64 distance(u64 a, u64 b)
{
	return a > b ? a - b : b - a;
}

/* The group PA next to the goal that is large enough. */
static struct ffs_pa *find_group_pa(const struct ffs_ac *ac)
{
	const struct ffs_alloc *a = ac->a;
	u64 goal = ffs_cluster_block(a, ac->g.group, ac->g.start);
	struct ffs_pa *best = NULL;
	u32 i;

	for (i = min(ilog2(ac->o.len), FFS_LG_LISTS - 1u); i < FFS_LG_LISTS; i++) {
		const struct ffs_link *l;

		for (l = a->lg[i].next; l != &a->lg[i]; l = l->next) {
			struct ffs_pa *pa = container_of(l, struct ffs_pa, in_lg);

			if (pa->free >= ac->o.len &&
			    (!best || distance(goal, pa->pstart) < distance(goal, best->pstart)))
				best = pa;
		}
	}
	return best;
}

bool ffs_pa_use(struct ffs_ac *ac)
{
	const struct ffs_alloc *a = ac->a;
	struct ffs_pa *pa;
	u32 i;

	if (!(ac->flags & FFS_MB_DATA))
		return false;
	i = pa_after(ac->inode->pas, ac->o.lblk);
	pa = i ? ac->inode->pas->pa[i - 1] : NULL;
	if (pa && ac->o.lblk < pa_lend(a, pa)) {
		bool low = pa->pstart + ((u64)pa->len << a->cluster_bits) <= 1ull << 32;

		/* block maps hold 32-bit numbers */
		if (low || (ac->inode->flags & FFS_INODE_EXTENTS)) {
			use_inode_pa(ac, pa);
			return true;
		}
	}
	if (!(ac->flags & FFS_MB_GROUP))
		return false;
	pa = find_group_pa(ac);
	if (pa)
		use_group_pa(ac, pa);
	return pa != NULL;
}

/* Size of the window around the request, in bytes; *@start its first byte. */
static u64 window(const struct ffs_ac *ac, u64 size, u64 *start)
{
	const struct ffs_alloc *a = ac->a;
	u32 bits = a->env->block_bits, i;
	u64 pos = (u64)ac->o.lblk << bits;
	u64 request = (u64)ac->o.len << (a->cluster_bits + bits);
	u32 max_chunk = 2u << bits;

	*start = 0;
	for (i = 14; i <= 20; i++) /* 16K .. 1M */
		if (size <= 1ull << i)
			return 1ull << i;
	if (size <= 4ull << 20 || max_chunk <= 2048)
		i = 21;
	else if (size <= 8ull << 20 || max_chunk <= 4096)
		i = 22;
	else if (request <= 8ull << 20 || max_chunk <= 8192)
		i = 23;
	else
		i = 0;
	*start = i ? pos >> i << i : pos;
	return i ? 1ull << i : request;
}

void ffs_normalize(struct ffs_ac *ac)
{
	const struct ffs_alloc *a = ac->a;
	const struct ffs_alloc_request *ar = ac->ar;
	const struct ffs_inode_pa *v = ac->inode->pas;
	const struct foliofs_geometry *g = &a->env->geo;
	u32 bits = a->env->block_bits, i;
	u64 start, size, end;

	if (!(ac->flags & FFS_MB_DATA) || (ac->flags & FFS_MB_NOPREALLOC))
		return;
	if (ac->flags & FFS_MB_GROUP) {
		/*
		 * goal_len stays as it is: once the search has tried shorter lengths it
		 * goes on with what was asked only, and there will be no PA.
		 */
		ac->g.len = a->group_prealloc;
		return;
	}
	size = (ac->o.lblk + ((u64)ac->o.len << a->cluster_bits)) << bits;
	size = window(ac, max(size, ac->inode->i_size), &start) >> bits;
	start >>= bits;
	start = max(start, (u64)(ac->o.lblk / g->blocks_per_group * g->blocks_per_group));
	size = min(size, UINT32_MAX - start);
	if (ar->pleft && start <= ar->lleft) {
		size -= ar->lleft + 1 - start;
		start = ar->lleft + 1;
	}
	if (ar->pright && start + size - 1 >= ar->lright)
		size = ar->lright - start;
	size = min(size, (u64)g->blocks_per_group);
	end = start + size;
	i = pa_after(v, ac->o.lblk);
	if (i)
		start = max(start, pa_lend(a, v->pa[i - 1]));
	if (v && i < v->nr)
		end = min(end, (u64)v->pa[i]->lstart);
	size = end - start;

	ac->g.lblk = (u32)start;
	ac->g.len = (u32)div_up(size, 1u << a->cluster_bits);
	ac->goal_len = ac->g.len;
	if (ar->pright && ar->lright == start + size && ar->pright >= size + g->first_data_block) {
		ffs_block_place(a, ar->pright - size, &ac->g.group, &ac->g.start);
		ac->flags |= FFS_MB_TRY_GOAL;
	}
	if (ar->pleft && ar->lleft + 1 == start && ar->pleft + 1 < g->blocks_count) {
		ffs_block_place(a, ar->pleft + 1, &ac->g.group, &ac->g.start);
		ac->flags |= FFS_MB_TRY_GOAL;
	}
}

/* Less than the window was found: where in it the piece goes. */
static void place_in_window(struct ffs_ac *ac)
{
	u32 cb = ac->a->cluster_bits;
	u64 len = (u64)ac->b.len << cb;
	u64 end = ac->g.lblk + ((u64)ac->goal_len << cb);

	if (ac->o.lblk >= end - len)
		ac->b.lblk = (u32)(end - len);
	else if (ac->o.lblk + ((u64)ac->o.len << cb) <= ac->g.lblk + len)
		ac->b.lblk = ac->g.lblk;
	else
		ac->b.lblk = ac->o.lblk;
}

void ffs_pa_new(struct ffs_ac *ac)
{
	struct ffs_alloc *a = ac->a;
	bool group_pa = ac->flags & FFS_MB_GROUP;
	size_t words = group_pa ? 0 : ac->b.len / 64 + 1;
	struct ffs_pa *pa = ffs_zalloc(sizeof(*pa) + words * sizeof(u64));
	struct ffs_link *list = &a->group[ac->b.group].pas;

	if (!group_pa && ac->b.len < ac->goal_len)
		place_in_window(ac);
	pa->pstart = ffs_cluster_block(a, ac->b.group, ac->b.start);
	pa->len = pa->free = ac->b.len;
	ffs_link_init(&pa->in_lg);
	ffs_link_before(list->next, &pa->in_group);
	if (group_pa) {
		ffs_emit(a->env, ext4_mb_new_group_pa, ac->inode->ino, pa->pstart, pa->len,
			 pa->pstart);
		use_group_pa(ac, pa);
		return;
	}
	pa->lstart = ac->b.lblk;
	pa->inode = ac->inode;
	ffs_emit(a->env, ext4_mb_new_inode_pa, ac->inode->ino, pa->pstart, pa->len, pa->lstart);
	inode_pa_add(ac->inode, pa);
	use_inode_pa(ac, pa);
}

void ffs_pa_undo(struct ffs_ac *ac)
{
	struct ffs_pa *pa = ac->pa;
	u32 group, start, i;

	if (!pa) {
		ffs_group_give(ac->a, ac->b.group, ac->b.start, ac->b.len);
	} else if (pa->inode) {
		ffs_block_place(ac->a, pa->pstart, &group, &start);
		for (i = ac->b.start - start; i < ac->b.start - start + ac->b.len; i++)
			pa->used[i / 64] &= ~(1ull << (i % 64));
		pa->free += ac->b.len;
	}
	ac->b.len = 0;
}

/* File a group PA by what it has left; a list that has become long loses its first ones. */
static void file_group_pa(struct ffs_alloc *a, struct ffs_pa *pa)
{
	struct ffs_link *head = &a->lg[min(ilog2(pa->free), FFS_LG_LISTS - 1u)];
	struct ffs_link *l, *at = NULL;
	u32 n = 1;

	ffs_link_del(&pa->in_lg);
	for (l = head->next; l != head; l = l->next) {
		if (!at && pa->free < container_of(l, struct ffs_pa, in_lg)->free)
			at = l;
		n++;
	}
	ffs_link_before(at ? at : head, &pa->in_lg);
	if (n <= 8)
		return;
	for (l = head->next; l != head && n > 5;) {
		struct ffs_pa *victim = container_of(l, struct ffs_pa, in_lg);

		l = l->next;
		if (victim == pa)
			continue; /* in use */
		pa_discard(a, victim);
		n--;
	}
}

void ffs_pa_done(struct ffs_ac *ac)
{
	struct ffs_pa *pa = ac->pa;

	if (!pa)
		return;
	if (!pa->inode) {
		pa->pstart += (u64)ac->b.len << ac->a->cluster_bits;
		pa->free -= ac->b.len;
		pa->len -= ac->b.len;
		if (pa->free)
			file_group_pa(ac->a, pa);
	}
	if (!pa->free)
		pa_end(pa);
}
