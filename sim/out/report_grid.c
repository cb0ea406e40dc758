// SPDX-License-Identifier: MIT
/* Parts of a report that any command can fill: tables of text, measured against predicted. */
#define _GNU_SOURCE /* vasprintf */
#include "report_parts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void *grow(void *p, size_t nr, size_t size)
{
	p = realloc(p, nr * size);
	if (!p)
		abort();
	return p;
}

static char *copy(const char *s)
{
	char *c = strdup(s);

	if (!c)
		abort();
	return c;
}

void report_grid(struct report *r, const char *title, size_t columns)
{
	r->grids = grow(r->grids, r->nr_grids + 1, sizeof(*r->grids));
	r->grids[r->nr_grids++] = (struct report_grid){ .title = copy(title), .columns = columns };
}

void report_cell(struct report *r, const char *format, ...)
{
	struct report_grid *g = &r->grids[r->nr_grids - 1];
	char *text;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		abort();
	va_end(ap);
	g->cells = grow(g->cells, g->nr_cells + 1, sizeof(*g->cells));
	g->cells[g->nr_cells++] = text;
}

void report_point(struct report *r, const char *series, const char *label, double measured,
		  double predicted)
{
	r->points = grow(r->points, r->nr_points + 1, sizeof(*r->points));
	r->points[r->nr_points++] = (struct report_point){ copy(series), copy(label), measured,
							   predicted };
}

void report_grids_free(struct report *r)
{
	size_t i, k;

	for (i = 0; i < r->nr_grids; i++) {
		for (k = 0; k < r->grids[i].nr_cells; k++)
			free(r->grids[i].cells[k]);
		free(r->grids[i].cells);
		free(r->grids[i].title);
	}
	for (i = 0; i < r->nr_points; i++) {
		free(r->points[i].series);
		free(r->points[i].label);
	}
	free(r->grids);
	free(r->points);
}

void report_grids_html(const struct report *r, FILE *out)
{
	size_t i, k;

	for (i = 0; i < r->nr_grids; i++) {
		const struct report_grid *g = &r->grids[i];

		fputs("<h2>", out);
		report_escape(out, g->title);
		fputs("</h2>\n<table>\n", out);
		for (k = 0; k < g->nr_cells; k++) {
			if (!(k % g->columns))
				fputs(k ? "</tr>\n<tr>" : "<tr>", out);
			fputs(k < g->columns ? "<th>" : "<td>", out);
			report_escape(out, g->cells[k]);
		}
		fputs("</tr>\n</table>\n", out);
	}
}

/* True if point @i is the first of its series. */
static bool first_of_series(const struct report *r, size_t i)
{
	size_t k;

	for (k = 0; k < i; k++)
		if (!strcmp(r->points[k].series, r->points[i].series))
			return false;
	return true;
}

void report_points_data(const struct report *r, FILE *dat)
{
	size_t i, k;

	fprintf(dat, "# measured  predicted  what; a block for each series\n");
	for (i = 0; i < r->nr_points; i++) {
		if (!first_of_series(r, i))
			continue;
		fprintf(dat, "%s# %s\n", i ? "\n\n" : "", r->points[i].series);
		for (k = i; k < r->nr_points; k++)
			if (!strcmp(r->points[k].series, r->points[i].series))
				fprintf(dat, "%.4f %.4f \"%s\"\n", r->points[k].measured,
					r->points[k].predicted, r->points[k].label);
	}
}

void report_points_script(const struct report *r, FILE *gp)
{
	static const char *const colours[] = { "#33618f", "#c77d11", "#8a9a5b", "#7d6b91",
					       "#b3261e", "#12314f" };
	double min = r->points[0].measured, max = min;
	unsigned int n = 0;
	size_t i;

	for (i = 0; i < r->nr_points; i++) {
		const struct report_point *p = &r->points[i];

		min = p->measured < min ? p->measured : min;
		min = p->predicted < min ? p->predicted : min;
		max = p->measured > max ? p->measured : max;
		max = p->predicted > max ? p->predicted : max;
	}
	fprintf(gp,
		"set xlabel 'measured'\n"
		"set ylabel 'predicted'\n"
		"set grid xtics ytics\n"
		"set xrange [%.2f:%.2f]\n"
		"set yrange [%.2f:%.2f]\n"
		"set size square\n"
		"set key outside right top\n"
		"plot x with lines lc rgb '#888888' title 'as measured', \\\n"
		"     1.1*x with lines lc rgb '#cccccc' dt 2 title '10%% off', \\\n"
		"     0.9*x with lines lc rgb '#cccccc' dt 2 notitle",
		min * 0.9, max * 1.05, min * 0.9, max * 1.05);
	for (i = 0; i < r->nr_points; i++) {
		if (!first_of_series(r, i))
			continue;
		fprintf(gp,
			", \\\n     'ratios.dat' index %u using 1:2 with points pt 7 ps 0.6 lc rgb "
			"'%s' title '%s'",
			n, colours[n % 6], r->points[i].series);
		n++;
	}
	fprintf(gp, "\n");
}
