// SPDX-License-Identifier: MIT
/* Comparison of two captures: see compare.h. */
#include "compare_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events.h"
#include "match.h"

static struct conform_diff *add_diff(struct conform_result *r)
{
	r->diffs = realloc(r->diffs, (r->nr_diffs + 1) * sizeof(*r->diffs));
	if (!r->diffs)
		abort();
	memset(&r->diffs[r->nr_diffs], 0, sizeof(*r->diffs));
	return &r->diffs[r->nr_diffs++];
}

struct conform_diff *conform_compare_ids(struct conform_result *r, enum conform_family_id family,
					 const uint32_t *x, size_t na, const uint32_t *y, size_t nb,
					 bool ordered, size_t *i, size_t *j)
{
	size_t m = ordered ? match_ordered(x, na, y, nb) : match_unordered(x, na, y, nb);
	struct conform_count *c = &r->count[family];
	struct conform_diff *d;

	c->seen = true;
	c->matched += m;
	c->kernel += na;
	c->sim += nb;
	if (m == na && m == nb)
		return NULL;
	d = add_diff(r);
	d->family = family;
	d->missing = na - m;
	d->surplus = nb - m;
	match_first(x, na, y, nb, ordered, i, j);
	return d;
}

/* One operation and family. */
static void compare_group(struct conform_result *r, const struct conform_event *a, size_t na,
			  const struct conform_event *b, size_t nb)
{
	uint32_t *x = calloc(na + nb + 1, sizeof(*x));
	struct conform_diff *d;
	size_t i, j;

	if (!x)
		abort();
	for (i = 0; i < na; i++)
		x[i] = a[i].id;
	for (i = 0; i < nb; i++)
		x[na + i] = b[i].id;
	d = conform_compare_ids(r, na ? a->family : b->family, x, na, x + na, nb, r->ordered, &i,
				&j);
	if (d) {
		d->op = na ? a->op : b->op;
		if (i < na) {
			d->kernel = piece_dup(a[i].text);
			d->kernel_line = a[i].line;
		}
		if (j < nb) {
			d->sim = piece_dup(b[j].text);
			d->sim_line = b[j].line;
		}
	}
	free(x);
}

/*
 * Take out of @e what the other side cannot have: kinds that the kernel did not
 * record (from ours), XFS's own kinds that are not on both sides, requests of
 * the block layer if we have none at all.
 */
static void filter(struct conform_events *e, const struct conform_events *kernel,
		   const struct conform_events *sim, const struct capture_dir *recorded,
		   bool alone)
{
	size_t i, n = 0, k, kinds = e->nr_kinds;
	bool *drop = calloc(kinds + 1, 1), bio = false;

	if (!drop)
		abort();
	for (k = 0; k < sim->nr_kinds; k++)
		bio |= sim->kinds[k].name && !strcmp(sim->kinds[k].name, "block_bio_queue");
	for (k = 0; k < kinds; k++) {
		const char *name = e->kinds[k].name;

		if (!name)
			continue;
		if (recorded && !capture_dir_recorded(recorded, name))
			drop[k] = true;
		if (alone)
			drop[k] |= k >= kernel->nr_kinds || !kernel->kinds[k].count;
		if (!strncmp(name, "xfs_", 4))
			drop[k] |= k >= kernel->nr_kinds || !kernel->kinds[k].name ||
				   k >= sim->nr_kinds || !sim->kinds[k].name;
		if (!strncmp(name, "block_", 6))
			drop[k] |= !bio;
	}
	for (i = 0; i < e->nr; i++) {
		if (drop[e->v[i].kind])
			e->kinds[e->v[i].kind].compared = false;
		else
			e->v[n++] = e->v[i];
	}
	e->nr = n;
	free(drop);
}

static bool same_group(const struct conform_event *a, const struct conform_event *b)
{
	return a->op == b->op && a->family == b->family;
}

static size_t group_len(const struct conform_event *v, size_t from, size_t nr)
{
	size_t n = from;

	while (n < nr && same_group(&v[n], &v[from]))
		n++;
	return n - from;
}

static int group_order(const struct conform_event *a, const struct conform_event *b)
{
	if (a->op != b->op)
		return a->op < b->op ? -1 : 1;
	return (int)a->family - (int)b->family;
}

static void compare_groups(struct conform_result *r, const struct conform_events *a,
			   const struct conform_events *b)
{
	size_t i = 0, j = 0;

	while (i < a->nr || j < b->nr) {
		int order = i == a->nr ? 1 : j == b->nr ? -1 : group_order(&a->v[i], &b->v[j]);
		size_t n = order <= 0 ? group_len(a->v, i, a->nr) : 0;
		size_t m = order >= 0 ? group_len(b->v, j, b->nr) : 0;

		compare_group(r, a->v + i, n, b->v + j, m);
		i += n;
		j += m;
	}
}

static int by_place(const void *x, const void *y)
{
	const struct conform_diff *a = x, *b = y;
	uint32_t p = a->kernel_line ? a->kernel_line : UINT32_MAX;
	uint32_t q = b->kernel_line ? b->kernel_line : UINT32_MAX;

	if (a->op != b->op)
		return a->op < b->op ? -1 : 1;
	if (p != q)
		return p < q ? -1 : 1;
	if (a->sim_line != b->sim_line)
		return a->sim_line < b->sim_line ? -1 : 1;
	return (int)a->family - (int)b->family;
}

/* Of @e's kinds those not compared; with @kernel, kinds of the model that the kernel lacks. */
static void list_left_out(struct conform_result *r, const struct conform_events *e,
			  const struct conform_events *kernel)
{
	size_t k;

	for (k = 0; k < e->nr_kinds; k++) {
		const struct conform_kind *kind = &e->kinds[k];

		if (!kind->name || kind->compared)
			continue;
		if (kernel && k < kernel->nr_kinds && kernel->kinds[k].name)
			continue;
		r->left_out = realloc(r->left_out, (r->nr_left_out + 1) * sizeof(*r->left_out));
		if (!r->left_out)
			abort();
		r->left_out[r->nr_left_out++] = (struct conform_left_out){
			piece_dup((struct piece){ kind->name, strlen(kind->name) }),
			kernel ? 0 : kind->count
		};
	}
}

/* Which operation each event of the kernel belongs to, if its trace does not say so. */
static void align(struct conform_result *r, struct conform_events *a, struct conform_events *b)
{
	if (a->markers && b->markers)
		return;
	if (b->markers) {
		conform_align(a, b, &r->capture, &r->align);
		return;
	}
	r->align = (struct conform_alignment){ .how = ALIGN_NOT, .events = a->nr };
	conform_events_flatten(a);
	conform_events_flatten(b);
}

static int compare_events(const char *kernel_dir, const char *sim_dir, const char *dev, bool alone,
			  struct conform_result *r)
{
	struct conform_tables t = { 0 };
	struct conform_events a, b = { 0 };
	int ret;

	ret = conform_events_read(&a, &t, kernel_dir, dev);
	if (ret) {
		snprintf(r->error, sizeof(r->error), "%s: cannot read the events: %s", kernel_dir,
			 strerror(-ret));
	} else {
		ret = conform_events_read(&b, &t, sim_dir, NULL);
		if (ret)
			snprintf(r->error, sizeof(r->error), "%s: cannot read the events: %s",
				 sim_dir, strerror(-ret));
	}
	if (!ret) {
		r->lost_kernel = a.lost;
		r->foreign = a.foreign;
		filter(&b, &a, &b, &r->capture, alone);
		filter(&a, &a, &b, NULL, false);
		list_left_out(r, &a, NULL);
		if (alone)
			list_left_out(r, &b, &a);
		align(r, &a, &b);
		conform_events_sort(&a);
		conform_events_sort(&b);
		compare_groups(r, &a, &b);
		if (r->nr_diffs)
			qsort(r->diffs, r->nr_diffs, sizeof(*r->diffs), by_place);
	}
	conform_events_free(&a);
	conform_events_free(&b);
	intern_free(&t.names);
	intern_free(&t.events);
	return ret;
}

int conform_compare(const char *kernel_dir, const char *sim_dir, const char *dev,
		    struct conform_result *r)
{
	bool alone = false;
	int ret;

	memset(r, 0, sizeof(*r));
	ret = strcmp(kernel_dir, "-") ? capture_dir_read(&r->capture, kernel_dir) : -ENOTDIR;
	if (ret == -ENOTDIR) { /* a trace alone: what the operations are the simulation knows */
		alone = true;
		capture_dir_free(&r->capture);
		ret = capture_dir_read(&r->capture, sim_dir);
		snprintf(r->capture.name, sizeof(r->capture.name), "%s", kernel_dir);
		r->capture.level[0] = '\0';
	}
	if (ret) {
		snprintf(r->error, sizeof(r->error), "%s: %s", kernel_dir, strerror(-ret));
		return ret;
	}
	r->ordered = !r->capture.level[0] || !strcmp(r->capture.level, "same");
	ret = compare_events(kernel_dir, sim_dir, dev, alone, r);
	if (!ret)
		ret = conform_compare_files(kernel_dir, sim_dir, r);
	return ret;
}

bool conform_same(const struct conform_result *r)
{
	return !r->nr_diffs;
}

void conform_sum(struct conform_count total[CONFORM_FAMILY_COUNT], const struct conform_result *r)
{
	int i;

	for (i = 0; i < CONFORM_FAMILY_COUNT; i++) {
		total[i].matched += r->count[i].matched;
		total[i].kernel += r->count[i].kernel;
		total[i].sim += r->count[i].sim;
		total[i].seen |= r->count[i].seen;
	}
}

double conform_ratio(const struct conform_count *c)
{
	return c->kernel + c->sim ? 2.0 * (double)c->matched / (double)(c->kernel + c->sim) : 1.0;
}

void conform_free(struct conform_result *r)
{
	size_t i;

	for (i = 0; i < r->nr_diffs; i++) {
		free(r->diffs[i].file);
		free(r->diffs[i].kernel);
		free(r->diffs[i].sim);
	}
	free(r->diffs);
	for (i = 0; i < r->nr_left_out; i++)
		free(r->left_out[i].name);
	free(r->left_out);
	capture_dir_free(&r->capture);
	memset(r, 0, sizeof(*r));
}
