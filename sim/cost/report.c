// SPDX-License-Identifier: MIT
/* The result as a report: see print.h. */
#include "print.h"

#include <inttypes.h>
#include <string.h>

static void grid(struct report *rep, const struct cost_sides *sides, const char *title)
{
	int i;

	report_grid(rep, title, (size_t)sides->nr + 1);
	report_cell(rep, "%s", "");
	for (i = 0; i < sides->nr; i++)
		report_cell(rep, "%s, %s", sides->side[i].name, sides->side[i].path);
}

static void work(struct report *rep, const struct cost_sides *sides)
{
	int i, n;

	grid(rep, sides, "Work");
	for (n = 0; n < COST_NR_COUNTS; n++) {
		report_cell(rep, "%s", cost_count_text((enum cost_count)n));
		for (i = 0; i < sides->nr; i++) {
			struct cost_work w = cost_total(&sides->side[i]);

			report_cell(rep, "%" PRIu64, cost_work_get(&w, (enum cost_count)n));
		}
	}
}

static void times(struct report *rep, const struct cost_result *r)
{
	const struct cost_sides *sides = r->sides;
	int i, class;

	grid(rep, sides, "Predicted time of one operation, us");
	for (class = 0; class < COST_CLASSES; class++) {
		const struct cost_line *l = cost_line(r->constants, r->device,
						      (enum cost_class)class);

		if (!l)
			continue;
		report_cell(rep, "%s", cost_class_text((enum cost_class)class));
		for (i = 0; i < sides->nr; i++) {
			const struct cost_work *w = &sides->side[i].work[class];

			if (w->ops)
				report_cell(rep, "%.2f", cost_time(l, w) / (double)w->ops);
			else
				report_cell(rep, "%s", "-");
		}
	}
}

void cost_report(struct report *rep, const struct cost_result *r)
{
	const struct cost_sides *sides = r->sides;
	const char *name = strrchr(r->setup->path, '/');
	uint64_t unpriced;
	double first, us;
	int i;

	report_init(rep, name ? name + 1 : r->setup->path);
	report_pair(rep, "device", "%s", r->device);
	report_pair(rep, "constants", "%s", r->constants->path);
	first = cost_side_time(&sides->side[0], r->constants, r->device, &unpriced);
	for (i = 0; i < sides->nr; i++) {
		us = cost_side_time(&sides->side[i], r->constants, r->device, &unpriced);
		report_pair(rep, sides->side[i].name, "%s: %.3f ms, %.2f times as fast as %s",
			    sides->side[i].path, us / 1000, us > 0 ? first / us : 1,
			    sides->side[0].name);
	}
	if (unpriced)
		report_pair(rep, "not predicted", "%" PRIu64
			    " operations of other kinds, or without constants", unpriced);
	work(rep, sides);
	times(rep, r);
}

static void agreement(struct report *rep, const struct cost_table *t)
{
	size_t i;

	report_grid(rep, "Agreement", 6);
	report_cell(rep, "source");
	report_cell(rep, "path");
	report_cell(rep, "rows");
	report_cell(rep, "rank correlation");
	report_cell(rep, "mean error");
	report_cell(rep, "largest");
	for (i = 0; i < t->nr_found; i++) {
		const struct cost_agreement *a = &t->found[i];

		report_cell(rep, "%s", a->source);
		report_cell(rep, "%s", a->path);
		report_cell(rep, "%u", a->rows);
		report_cell(rep, "%.3f", a->rank);
		report_cell(rep, "%.1f %%", 100 * a->mean);
		report_cell(rep, "%.1f %%", 100 * a->max);
	}
}

static void rows(struct report *rep, const struct cost_table *t)
{
	char text[80], series[96];
	size_t i;

	report_grid(rep, "Times as fast as bh", 6);
	report_cell(rep, "workload");
	report_cell(rep, "source");
	report_cell(rep, "path");
	report_cell(rep, "measured");
	report_cell(rep, "predicted");
	report_cell(rep, "error");
	for (i = 0; i < t->nr; i++) {
		const struct cost_row *r = &t->rows[i];

		if (r->measured <= 0)
			continue;
		cost_row_text(r, text, sizeof(text));
		snprintf(series, sizeof(series), "%s %s", r->source, r->path);
		report_point(rep, series, text, r->measured, r->predicted);
		report_cell(rep, "%s", text);
		report_cell(rep, "%s", r->source);
		report_cell(rep, "%s", r->path);
		report_cell(rep, "%.2f", r->measured);
		report_cell(rep, "%.2f", r->predicted);
		report_cell(rep, "%+.1f %%", 100 * (r->predicted / r->measured - 1));
	}
}

void cost_table_report(struct report *rep, const struct cost_table *t,
		       const struct cost_constants *c)
{
	const char *name = strrchr(t->path, '/');
	size_t i;

	report_init(rep, name ? name + 1 : t->path);
	report_pair(rep, "constants", "%s", c->path);
	agreement(rep, t);
	rows(rep, t);
	for (i = 0; i < t->nr; i++)
		if (t->rows[i].left_out)
			report_note(rep, "Left out", "%s:%u: %s", t->path, t->rows[i].line,
				    t->rows[i].left_out);
}
