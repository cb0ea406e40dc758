// SPDX-License-Identifier: MIT
/* Published tables beside what the model predicts: see table.h. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"
#include "trace/opvec.h"

static bool same(const struct cost_workload *a, const struct cost_workload *b)
{
	return a->class == b->class && a->writeback == b->writeback && a->hole == b->hole &&
	       a->bs == b->bs;
}

/* The row of path bh that is otherwise like @r. */
static const struct cost_row *base_of(const struct cost_table *t, const struct cost_row *r)
{
	size_t i;

	for (i = 0; i < t->nr; i++)
		if (!strcmp(t->rows[i].path, "bh") && same(&t->rows[i].w, &r->w) &&
		    !strcmp(t->rows[i].source, r->source) &&
		    !strcmp(t->rows[i].device, r->device))
			return &t->rows[i];
	return NULL;
}

/* Which rows can be compared at all. */
static void choose(struct cost_table *t, const struct cost_constants *c)
{
	size_t i;

	for (i = 0; i < t->nr; i++) {
		struct cost_row *r = &t->rows[i];
		const struct cost_line *l = cost_line(c, r->device, r->w.class);

		if (!strcmp(r->path, "bh"))
			continue;
		if (strcmp(r->path, "bh+lf") && strcmp(r->path, "iomap+lf"))
			r->left_out = "no path of the model";
		else if (!l || l->writeback != r->w.writeback)
			r->left_out = "no constants for its device and class";
		else if (!base_of(t, r))
			r->left_out = "no row of path bh to compare with";
	}
}

/* Time of one operation of workload @w on @side, which has played it. */
static int time_of(const struct cost_side *side, const struct cost_workload *w, uint32_t ops,
		   const struct cost_line *l, double *us, char *err, size_t errlen)
{
	const struct cost_work *work = &side->work[w->class];

	if (work->ops != ops) {
		snprintf(err, errlen, "%s: %llu of %u operations of a workload were \"%s\"", side->name,
			 (unsigned long long)work->ops, ops, cost_class_text(w->class));
		return -ERANGE;
	}
	*us = cost_time(l, work) / ops;
	return 0;
}

static uint32_t nr_ops(const struct opvec *v)
{
	uint32_t i, n = 0;

	for (i = 0; i < v->nr; i++)
		n += v->ops[i].kind == FOLIOFS_OP_WRITE || v->ops[i].kind == FOLIOFS_OP_READ;
	return n;
}

static const struct cost_side *side_of(const struct cost_sides *sides, const char *path)
{
	int i;

	for (i = 0; i < sides->nr; i++)
		if (!strcmp(sides->side[i].path, path))
			return &sides->side[i];
	return NULL;
}

/* The sides have played the workload of @r. */
static int compare_row(struct cost_table *t, struct cost_row *r, const struct cost_sides *sides,
		       const struct cost_constants *c, uint32_t ops, char *err, size_t errlen)
{
	const struct cost_line *l = cost_line(c, r->device, r->w.class);
	const struct cost_side *bh = side_of(sides, "bh"), *own = side_of(sides, r->path);
	double base, us;

	if (!bh || !own) {
		r->left_out = bh ? "no kernel with its path" : "no kernel with path bh";
		return 0;
	}
	if (time_of(bh, &r->w, ops, l, &base, err, errlen) ||
	    time_of(own, &r->w, ops, l, &us, err, errlen))
		return -ERANGE;
	r->measured = r->iops / base_of(t, r)->iops;
	r->predicted = base / us;
	return 0;
}

/* Play the workload of row @first and compare all rows that have it. */
static int play_row(struct cost_table *t, size_t first, struct cost_sides *sides,
		    const struct replay_setup *base, const struct cost_constants *c, char *err,
		    size_t errlen)
{
	struct replay_setup s;
	uint32_t ops;
	int ret = 0, k;
	size_t i;

	cost_workload_setup(&s, base, &t->rows[first].w);
	ops = nr_ops(&s.trace.v);
	for (k = 0; k < sides->nr && !ret; k++)
		ret = cost_run(&sides->side[k], &s, err, errlen);
	cost_workload_free(&s);
	for (i = first; i < t->nr && !ret; i++) {
		struct cost_row *r = &t->rows[i];

		if (same(&r->w, &t->rows[first].w) && !r->left_out && strcmp(r->path, "bh"))
			ret = compare_row(t, r, sides, c, ops, err, errlen);
	}
	return ret;
}

/* Ranks of @v, from 1; equal values share the mean of theirs. */
static void ranks(const double *v, size_t nr, double *rank)
{
	size_t i, k;

	for (i = 0; i < nr; i++) {
		size_t less = 0, equal = 0;

		for (k = 0; k < nr; k++) {
			less += v[k] < v[i];
			equal += v[k] == v[i];
		}
		rank[i] = (double)less + ((double)equal + 1) / 2;
	}
}

double cost_rank_correlation(const double *a, const double *b, size_t nr)
{
	double *ra = trace_alloc(nr * sizeof(*ra) + 1), *rb = trace_alloc(nr * sizeof(*rb) + 1);
	double mean = ((double)nr + 1) / 2, ab = 0, aa = 0, bb = 0;
	size_t i;

	ranks(a, nr, ra);
	ranks(b, nr, rb);
	for (i = 0; i < nr; i++) {
		ab += (ra[i] - mean) * (rb[i] - mean);
		aa += (ra[i] - mean) * (ra[i] - mean);
		bb += (rb[i] - mean) * (rb[i] - mean);
	}
	free(ra);
	free(rb);
	return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : NAN;
}

/* The rows like row @first in source and path. */
static void agree(struct cost_table *t, size_t first)
{
	struct cost_agreement a = { .source = t->rows[first].source, .path = t->rows[first].path };
	double *m = trace_alloc(t->nr * sizeof(*m)), *p = trace_alloc(t->nr * sizeof(*p));
	size_t i;

	for (i = first; i < t->nr; i++) {
		const struct cost_row *r = &t->rows[i];
		double error;

		if (r->measured <= 0 || strcmp(r->source, a.source) || strcmp(r->path, a.path))
			continue;
		m[a.rows] = r->measured;
		p[a.rows++] = r->predicted;
		error = fabs(r->predicted / r->measured - 1);
		a.mean += error;
		a.max = error > a.max ? error : a.max;
	}
	a.mean /= a.rows;
	a.rank = cost_rank_correlation(m, p, a.rows);
	free(m);
	free(p);
	t->found = trace_realloc(t->found, t->nr_found + 1, sizeof(a));
	t->found[t->nr_found++] = a;
}

int cost_table_run(struct cost_table *t, struct cost_sides *sides, const struct replay_setup *base,
		   const struct cost_constants *c, char *err, size_t errlen)
{
	size_t i, k;
	int ret = 0;

	choose(t, c);
	for (i = 0; i < t->nr && !ret; i++) {
		struct cost_row *r = &t->rows[i];

		if (r->measured <= 0 && !r->left_out && strcmp(r->path, "bh"))
			ret = play_row(t, i, sides, base, c, err, errlen);
	}
	for (i = 0; i < t->nr && !ret; i++) {
		for (k = 0; k < t->nr_found; k++)
			if (!strcmp(t->found[k].source, t->rows[i].source) &&
			    !strcmp(t->found[k].path, t->rows[i].path))
				break;
		if (k == t->nr_found && t->rows[i].measured > 0)
			agree(t, i);
	}
	return ret;
}
