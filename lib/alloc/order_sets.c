// SPDX-License-Identifier: MIT
/*
 * Groups sorted by largest chunk and by average length of free runs.
 *
 * Stands for mb_set_largest_free_order, mb_update_avg_fragment_size and the
 * structures behind them.  Since "ext4: convert free groups order lists to
 * xarrays" (v6.17) a set is walked by ascending group number; before, a group
 * that changed its order went to the end of a list.
 */
#include "internal.h"

static u32 head(const struct ffs_alloc *a, u32 order)
{
	return a->groups + order;
}

static void sets_alloc(struct ffs_alloc *a, struct ffs_sets *s)
{
	u32 i;

	if (ffs_has(a->env, FOLIOFS_CHANGE_MB_SETS_BY_NUMBER))
		return;
	s->next = ffs_zalloc((a->groups + FFS_MB_ORDERS) * sizeof(*s->next));
	s->prev = ffs_zalloc((a->groups + FFS_MB_ORDERS) * sizeof(*s->prev));
	for (i = 0; i < FFS_MB_ORDERS; i++)
		s->next[head(a, i)] = s->prev[head(a, i)] = head(a, i);
}

void ffs_sets_init(struct ffs_alloc *a)
{
	sets_alloc(a, &a->largest);
	sets_alloc(a, &a->avg);
}

static void sets_release(struct ffs_sets *s)
{
	u32 i;

	for (i = 0; i < FFS_MB_ORDERS; i++)
		free(s->bits[i]);
	free(s->next);
	free(s->prev);
	*s = (struct ffs_sets){ 0 };
}

void ffs_sets_free(struct ffs_alloc *a)
{
	sets_release(&a->largest);
	sets_release(&a->avg);
}

void ffs_sets_clear(struct ffs_alloc *a)
{
	u32 i;

	ffs_sets_free(a);
	ffs_sets_init(a);
	for (i = 0; i < a->groups; i++)
		a->group[i].set_largest = a->group[i].set_avg = -1;
}

static void move(struct ffs_alloc *a, struct ffs_sets *s, u32 group, int8_t *now, int order)
{
	u64 bit = 1ull << (group % 64);

	if (*now >= 0) {
		s->n[*now]--;
		if (s->next) {
			s->next[s->prev[group]] = s->next[group];
			s->prev[s->next[group]] = s->prev[group];
		} else {
			s->bits[*now][group / 64] &= ~bit;
			if (s->low[*now] == group)
				s->low[*now]++;
		}
	}
	*now = (int8_t)order;
	if (order < 0)
		return;
	s->n[order]++;
	if (s->next) {
		u32 h = head(a, (u32)order);

		s->next[group] = h;
		s->prev[group] = s->prev[h];
		s->next[s->prev[h]] = group;
		s->prev[h] = group;
		return;
	}
	if (!s->bits[order])
		s->bits[order] = ffs_zalloc((a->groups + 63) / 64 * sizeof(u64));
	s->bits[order][group / 64] |= bit;
	if (s->n[order] == 1 || group < s->low[order])
		s->low[order] = group;
}

u32 ffs_avg_order(const struct ffs_alloc *a, u32 len)
{
	u32 order = len ? ilog2(len) : 0;

	/* sets of 2^order .. 2^(order+1) - 1, the lowest one holds 0 to 3 */
	order = order ? order - 1 : 0;
	return min(order, a->orders - 1u);
}

void ffs_sets_update(struct ffs_alloc *a, u32 group)
{
	struct ffs_group *g = &a->group[group];
	int order;

	if (!a->optimize || !(g->flags & FFS_GROUP_LOADED))
		return;
	for (order = a->orders - 1; order >= 0; order--)
		if (g->chunks[order])
			break;
	if (order != g->set_largest)
		move(a, &a->largest, group, &g->set_largest, order);
	if (g->fragments)
		order = (int)ffs_avg_order(a, g->free / g->fragments);
	else if (a->avg.next)
		return; /* the lists keep a full group where it is */
	else
		order = -1;
	if (order != g->set_avg)
		move(a, &a->avg, group, &g->set_avg, order);
}

u32 ffs_set_at(const struct ffs_alloc *a, const struct ffs_sets *s, u32 order, u32 from, u32 to)
{
	(void)a;
	return s->n[order] ? ffs_next_one(s->bits[order], to, max(from, s->low[order])) : to;
}

u32 ffs_set_next(const struct ffs_alloc *a, const struct ffs_sets *s, u32 order, u32 group)
{
	u32 next = s->next[group == a->groups ? head(a, order) : group];

	return next >= a->groups ? a->groups : next;
}
