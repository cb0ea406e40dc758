// SPDX-License-Identifier: MIT
/* The result in words and as JSON: see print.h. */
#include "print.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <math.h>
#include <string.h>

#include "replay/result.h"

#define WIDTH 16

static void heading(FILE *f, const struct cost_sides *sides)
{
	int i;

	fprintf(f, "%-34s", "");
	for (i = 0; i < sides->nr; i++)
		fprintf(f, " %*.*s", WIDTH, WIDTH, sides->side[i].name);
	fprintf(f, "\n%-34s", "path");
	for (i = 0; i < sides->nr; i++)
		fprintf(f, " %*s", WIDTH, sides->side[i].path);
	fprintf(f, "\n");
}

static void count_row(FILE *f, const struct cost_sides *sides, enum cost_count n)
{
	uint64_t any = 0;
	int i;

	for (i = 0; i < sides->nr; i++) {
		struct cost_work w = cost_total(&sides->side[i]);

		any |= cost_work_get(&w, n);
	}
	if (!any)
		return;
	fprintf(f, "  %-32s", cost_count_text(n));
	for (i = 0; i < sides->nr; i++) {
		struct cost_work w = cost_total(&sides->side[i]);

		fprintf(f, " %*" PRIu64, WIDTH, cost_work_get(&w, n));
	}
	fprintf(f, "\n");
}

/* The calls of a class, and what one of them takes. */
static void class_row(FILE *f, const struct cost_result *r, enum cost_class class)
{
	const struct cost_line *l = cost_line(r->constants, r->device, class);
	const struct cost_sides *sides = r->sides;
	uint64_t ops = 0;
	char text[48];
	int i;

	for (i = 0; i < sides->nr; i++)
		ops = sides->side[i].work[class].ops > ops ? sides->side[i].work[class].ops : ops;
	if (!ops || class == COST_OTHER)
		return;
	snprintf(text, sizeof(text), "%s (%" PRIu64 ")", cost_class_text(class), ops);
	fprintf(f, "  %-32s", text);
	for (i = 0; i < sides->nr; i++) {
		const struct cost_work *w = &sides->side[i].work[class];

		if (l && w->ops)
			fprintf(f, " %*.2f", WIDTH, cost_time(l, w) / (double)w->ops);
		else
			fprintf(f, " %*s", WIDTH, "-");
	}
	fprintf(f, "%s\n", l ? "" : "  no constants");
}

static double side_time(const struct cost_result *r, int i)
{
	uint64_t unpriced;

	return cost_side_time(&r->sides->side[i], r->constants, r->device, &unpriced);
}

static void totals(FILE *f, const struct cost_result *r)
{
	double first = side_time(r, 0);
	uint64_t unpriced;
	int i;

	fprintf(f, "%-34s", "predicted in all, ms");
	for (i = 0; i < r->sides->nr; i++)
		fprintf(f, " %*.3f", WIDTH, side_time(r, i) / 1000);
	fprintf(f, "\n");
	if (first > 0) {
		fprintf(f, "times as fast as %-17.16s", r->sides->side[0].name);
		for (i = 0; i < r->sides->nr; i++) {
			double us = side_time(r, i);

			if (us > 0)
				fprintf(f, " %*.2f", WIDTH, first / us);
			else
				fprintf(f, " %*s", WIDTH, "-");
		}
		fprintf(f, "\n");
	}
	cost_side_time(&r->sides->side[0], r->constants, r->device, &unpriced);
	if (unpriced)
		fprintf(f, "not predicted: %" PRIu64 " operations of other kinds, or without constants\n", unpriced);
}

void cost_print(FILE *f, const struct cost_result *r)
{
	int i;

	replay_print_input(f, r->setup);
	fprintf(f, "device       %s, constants of %s\n\n", r->device, r->constants->path);
	heading(f, r->sides);
	fprintf(f, "work\n");
	for (i = 0; i < COST_NR_COUNTS; i++)
		count_row(f, r->sides, (enum cost_count)i);
	fprintf(f, "time of one operation, us\n");
	for (i = 0; i < COST_CLASSES; i++)
		class_row(f, r, (enum cost_class)i);
	totals(f, r);
	for (i = 0; i < r->sides->nr; i++)
		if (r->sides->side[i].failed)
			fprintf(f, "%s: %" PRIu64 " operations with an error\n",
				r->sides->side[i].name, r->sides->side[i].failed);
	replay_print_trace(f, &r->setup->trace);
}

static struct json_object *work_json(const struct cost_work *w)
{
	struct json_object *o = json_object_new_object();
	int i;

	json_object_object_add(o, "operations", json_object_new_uint64(w->ops));
	for (i = 0; i < COST_NR_COUNTS; i++)
		json_object_object_add(o, cost_count_name((enum cost_count)i),
				       json_object_new_uint64(
					       cost_work_get(w, (enum cost_count)i)));
	return o;
}

static struct json_object *side_json(const struct cost_result *r, int i)
{
	const struct cost_side *side = &r->sides->side[i];
	struct json_object *o = json_object_new_object(), *classes = json_object_new_object();
	struct cost_work all = cost_total(side);
	uint64_t unpriced;
	double us = cost_side_time(side, r->constants, r->device, &unpriced);
	int k;

	json_object_object_add(o, "name", json_object_new_string(side->name));
	json_object_object_add(o, "path", json_object_new_string(side->path));
	json_object_object_add(o, "work", work_json(&all));
	for (k = 0; k < COST_CLASSES; k++) {
		const struct cost_line *l = cost_line(r->constants, r->device,
						      (enum cost_class)k);
		struct json_object *class;

		if (!side->work[k].ops)
			continue;
		class = work_json(&side->work[k]);
		if (l)
			json_object_object_add(class, "us", json_object_new_double(
						       cost_time(l, &side->work[k])));
		json_object_object_add(classes, cost_class_name((enum cost_class)k), class);
	}
	json_object_object_add(o, "classes", classes);
	json_object_object_add(o, "us", json_object_new_double(us));
	json_object_object_add(o, "not_predicted", json_object_new_uint64(unpriced));
	json_object_object_add(o, "times_as_fast", us > 0 ?
			       json_object_new_double(side_time(r, 0) / us) : NULL);
	json_object_object_add(o, "failed", json_object_new_uint64(side->failed));
	return o;
}

static int write_json(FILE *f, struct json_object *o)
{
	int ret = fprintf(f, "%s\n", json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY));

	json_object_put(o);
	return ret < 0 ? -EIO : 0;
}

int cost_json(FILE *f, const struct cost_result *r)
{
	struct json_object *o = json_object_new_object(), *sides = json_object_new_array();
	int i;

	json_object_object_add(o, "trace", json_object_new_string(r->setup->path));
	json_object_object_add(o, "device", json_object_new_string(r->device));
	json_object_object_add(o, "constants", json_object_new_string(r->constants->path));
	for (i = 0; i < r->sides->nr; i++)
		json_object_array_add(sides, side_json(r, i));
	json_object_object_add(o, "sides", sides);
	return write_json(f, o);
}

void cost_table_print(FILE *f, const struct cost_table *t, const struct cost_constants *c)
{
	char text[80];
	size_t i;

	fprintf(f, "table        %s\nconstants    %s\n\n%-12s %-34s %-10s %9s %9s %7s\n", t->path,
		c->path, "source", "workload", "path", "measured", "predicted", "error");
	for (i = 0; i < t->nr; i++) {
		const struct cost_row *r = &t->rows[i];

		if (r->measured <= 0)
			continue;
		cost_row_text(r, text, sizeof(text));
		fprintf(f, "%-12s %-34s %-10s %9.2f %9.2f %+6.1f%%\n", r->source, text, r->path,
			r->measured, r->predicted, 100 * (r->predicted / r->measured - 1));
	}
	fprintf(f, "\n%-12s %-10s %5s %17s %11s %10s\n", "source", "path", "rows",
		"rank correlation", "mean error", "max error");
	for (i = 0; i < t->nr_found; i++) {
		const struct cost_agreement *a = &t->found[i];

		fprintf(f, "%-12s %-10s %5u %17.4f %10.2f%% %9.1f%%\n", a->source, a->path, a->rows,
			a->rank, 100 * a->mean, 100 * a->max);
	}
	for (i = 0; i < t->nr; i++)
		if (t->rows[i].left_out)
			fprintf(f, "left out: %s:%u: %s\n", t->path, t->rows[i].line,
				t->rows[i].left_out);
}

static struct json_object *row_json(const struct cost_row *r)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "line", json_object_new_uint64(r->line));
	json_object_object_add(o, "source", json_object_new_string(r->source));
	json_object_object_add(o, "device", json_object_new_string(r->device));
	json_object_object_add(o, "class", json_object_new_string(cost_class_name(r->w.class)));
	json_object_object_add(o, "bs", json_object_new_uint64(r->w.bs));
	json_object_object_add(o, "path", json_object_new_string(r->path));
	if (r->left_out) {
		json_object_object_add(o, "left_out", json_object_new_string(r->left_out));
		return o;
	}
	json_object_object_add(o, "measured", json_object_new_double(r->measured));
	json_object_object_add(o, "predicted", json_object_new_double(r->predicted));
	return o;
}

int cost_table_json(FILE *f, const struct cost_table *t, const struct cost_constants *c)
{
	struct json_object *o = json_object_new_object(), *rows = json_object_new_array();
	struct json_object *found = json_object_new_array();
	size_t i;

	json_object_object_add(o, "table", json_object_new_string(t->path));
	json_object_object_add(o, "constants", json_object_new_string(c->path));
	for (i = 0; i < t->nr; i++)
		if (t->rows[i].left_out || t->rows[i].measured > 0)
			json_object_array_add(rows, row_json(&t->rows[i]));
	for (i = 0; i < t->nr_found; i++) {
		const struct cost_agreement *a = &t->found[i];
		struct json_object *x = json_object_new_object();

		json_object_object_add(x, "source", json_object_new_string(a->source));
		json_object_object_add(x, "path", json_object_new_string(a->path));
		json_object_object_add(x, "rows", json_object_new_uint64(a->rows));
		json_object_object_add(x, "rank_correlation", isnan(a->rank) ? NULL :
				       json_object_new_double(a->rank));
		json_object_object_add(x, "mean_error", json_object_new_double(a->mean));
		json_object_object_add(x, "max_error", json_object_new_double(a->max));
		json_object_array_add(found, x);
	}
	json_object_object_add(o, "rows", rows);
	json_object_object_add(o, "agreement", found);
	return write_json(f, o);
}
