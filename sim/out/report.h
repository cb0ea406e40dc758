/* SPDX-License-Identifier: MIT */
/*
 * A report: what a run (or a question for credits) came to, as one HTML page
 * that needs nothing else, with the sources of its plots beside it.
 *
 *	report_init(&r, "sqlite3.strace.gz");
 *	report_environment(&r, kernel, geometry);
 *	report_verdict(&r, ok, "3 rules broken in 812 operations");
 *	r.stats = &stats;
 *	report_note(&r, "Calls that are not modelled", "io_uring_enter (12)");
 *	report_write(&r, dir, &plots_missing, err, sizeof(err));
 *	report_free(&r);
 */
#ifndef OUT_REPORT_H
#define OUT_REPORT_H

#include <stdio.h>

#include <foliofs/credits.h>

#include "stats.h"

enum report_outcome { REPORT_CLEAN, REPORT_BROKEN, REPORT_UNJUDGED };

struct report_pair {
	char *key, *value;
};

struct report_note {
	char *heading; /* notes of one heading stand together */
	char *text;
};

/* Writeback of the largest folio: what it asks against what the journal allows. */
struct report_cell {
	uint32_t asked, rsv; /* blocks */
	uint32_t worst; /* that it may have to dirty */
	uint32_t max_handle, max_reserved;
	uint32_t order; /* of the largest folio */
	enum foliofs_verdict verdict;
};

#define REPORT_SIZES 5
#define REPORT_KERNELS 12

struct report_matrix {
	char title[160];
	uint32_t nr_sizes, nr_kernels;
	uint32_t block_size[REPORT_SIZES];
	char kernel[REPORT_KERNELS][96];
	struct report_cell cell[REPORT_SIZES][REPORT_KERNELS];
};

/* A table of text; the first row is its head. */
struct report_grid {
	char *title;
	size_t columns, nr_cells;
	char **cells; /* row by row */
};

/* A figure that was measured beside the one that was predicted. */
struct report_point {
	char *series, *label;
	double measured, predicted;
};

struct report {
	char title[160], kernel[96];
	enum report_outcome outcome;
	char verdict[240];
	struct report_pair *pairs; /* geometry and the like */
	size_t nr_pairs;
	struct report_note *notes;
	size_t nr_notes;
	/* limits of the journal in blocks, 0: not known */
	uint32_t max_handle, max_transaction;
	const struct stats *stats; /* NULL: none; not freed */
	struct stats *own_stats; /* freed with the report */
	struct report_matrix matrix; /* nr_kernels 0: none */
	struct report_grid *grids;
	size_t nr_grids;
	struct report_point *points;
	size_t nr_points;
};

void report_init(struct report *r, const char *title);
/* Outcome and its sentence, printf-like. */
void report_verdict(struct report *r, enum report_outcome outcome, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void report_pair(struct report *r, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void report_note(struct report *r, const char *heading, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* A table of text, to be filled cell by cell; it is on the page, not in the JSON. */
void report_grid(struct report *r, const char *title, size_t columns);
/* The next cell of the last table, printf-like. */
void report_cell(struct report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A point of the plot of what was measured against what was predicted. */
void report_point(struct report *r, const char *series, const char *label, double measured,
		  double predicted);
/* Kernel, geometry and limits of the journal. */
void report_environment(struct report *r, const struct foliofs_kernel *k,
			const struct foliofs_geometry *g);
/*
 * Writeback of a new file's largest folio for block sizes of 1K up to the page
 * size and each of @kernels, on a file system of @bytes with a journal of
 * @journal_bytes (0: 1024 blocks, the smallest that mke2fs makes).  Sizes that mke2fs
 * would refuse are left out.
 */
void report_matrix_fill(struct report *r, uint64_t bytes, uint64_t journal_bytes,
			uint32_t page_size, const struct foliofs_kernel *kernels, size_t nr);
/*
 * Write @dir/index.html and the sources of the plots (NAME.gp, NAME.dat); @dir is
 * made if it is not there.  0, or a negative errno and a message.
 * *@plots_missing (may be NULL): gnuplot could not be run, the page has no plots.
 */
int report_write(const struct report *r, const char *dir, bool *plots_missing, char *err,
		 size_t errlen);
/*
 * report_write() for command @who ("foliosim replay"): says on standard error where the page
 * is, or what went wrong.  0, or the negative errno.
 */
int report_page(const struct report *r, const char *dir, const char *who);
/* A report as JSON, and back.  0, or a negative errno and a message. */
int report_to_json(const struct report *r, FILE *out);
int report_from_json(struct report *r, const char *path, char *err, size_t errlen);
/*
 * From a capture folder (a kernel's or a simulated one): its events.txt counted,
 * geometry and kernel from its meta.yaml.
 */
int report_from_capture(struct report *r, const char *dir, char *err, size_t errlen);
void report_free(struct report *r);

#endif
