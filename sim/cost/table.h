/* SPDX-License-Identifier: MIT */
/*
 * Published tables: what fio measured on the paths of a kernel, beside what the counts of the model
 * and the constants predict.
 *
 * A table is a CSV file with the columns source, table ("read", "write"), type (the device: as in
 * the constants), bs, overwrite, sync, writeback ("Y", "N", "-"; "?": not known), path ("bh", "bh+lf",
 * "iomap+lf") and iops; others are not looked at.  What is compared is the ratio of a path to bh in
 * otherwise equal rows.
 */
#ifndef COST_TABLE_H
#define COST_TABLE_H

#include "cost.h"
#include "workload.h"

struct cost_row {
	uint32_t line; /* of the file */
	char source[48], device[COST_DEVICE_NAME], path[32];
	struct cost_workload w;
	double iops; /* measured */
	/* filled by cost_table_run(): */
	double measured, predicted; /* ratio to bh; 0: not compared */
	const char *left_out; /* why it is not compared; NULL: it is, or is bh itself */
};

/* Rows of one source and path. */
struct cost_agreement {
	const char *source, *path;
	uint32_t rows;
	double rank; /* correlation of ranks (Spearman); NAN: less than two rows, or all equal */
	double mean, max; /* relative error of the predicted ratio */
};

struct cost_table {
	const char *path;
	struct cost_row *rows;
	size_t nr;
	struct cost_agreement *found; /* in the order of the rows */
	size_t nr_found;
};

/* 0, or a negative errno with a message FILE:LINE: ...; cost_table_free() only after 0. */
int cost_table_load(struct cost_table *t, const char *path, char *err, size_t errlen);
void cost_table_free(struct cost_table *t);
/*
 * Play the workload of each row on the sides - for a path on the first one that runs it - and
 * compare.  0; -EINVAL: refused (exit 3); another negative errno (exit 4); with a message.
 */
int cost_table_run(struct cost_table *t, struct cost_sides *sides, const struct replay_setup *base,
		   const struct cost_constants *c, char *err, size_t errlen);
/* "write 64K, over, fsync" and the like. */
void cost_row_text(const struct cost_row *r, char *buf, size_t len);
/* Correlation of the ranks of @nr pairs; NAN if it is not defined.  For tests, too. */
double cost_rank_correlation(const double *a, const double *b, size_t nr);

#endif
