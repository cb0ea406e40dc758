/* SPDX-License-Identifier: MIT */
/* Parts of the report writer: plots (gnuplot) and page. */
#ifndef OUT_REPORT_PARTS_H
#define OUT_REPORT_PARTS_H

#include "report.h"

enum report_plot_id { PLOT_CREDITS, PLOT_ORDERS, PLOT_EXTENTS, PLOT_MATRIX, PLOT_RATIOS, PLOT_COUNT };

struct report_plots {
	char *svg[PLOT_COUNT]; /* without XML prolog; NULL: not made */
	bool wanted[PLOT_COUNT]; /* there is something to draw */
	bool missing; /* gnuplot could not be run */
};

const char *report_plot_name(enum report_plot_id id);
/* Write NAME.dat and NAME.gp, run gnuplot in @dir. No gnuplot is no error. */
int report_plot(const struct report *r, const char *dir, struct report_plots *p, char *err,
		size_t errlen);
void report_plots_free(struct report_plots *p);
/* Tables and points of report_grid.c. */
void report_grids_html(const struct report *r, FILE *out);
void report_points_data(const struct report *r, FILE *dat);
void report_points_script(const struct report *r, FILE *gp);
void report_grids_free(struct report *r);
/* @s as text of a page. */
void report_escape(FILE *out, const char *s);
void report_html(const struct report *r, const struct report_plots *p, FILE *out);

#endif
