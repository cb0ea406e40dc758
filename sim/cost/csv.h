/* SPDX-License-Identifier: MIT */
/*
 * Tables of comma-separated values.  Lines of nothing and lines that begin with # are left out; the
 * first other line names the columns; a field in "quotes" may have commas ("" is a quote).
 */
#ifndef COST_CSV_H
#define COST_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CSV_FIELDS 24

struct csv {
	const char *path;
	FILE *f;
	char *line, *names; /* of the present line; of the columns */
	size_t size;
	uint32_t nr_line; /* from 1 */
	const char *column[CSV_FIELDS], *field[CSV_FIELDS];
	size_t nr; /* columns, and fields of every line */
	char *err;
	size_t errlen;
};

/* 0, or a negative errno with a message FILE:LINE: ... in @err, also for csv_next(). */
int csv_open(struct csv *c, const char *path, char *err, size_t errlen);
/* The next line: 1, 0 at the end, or a negative errno. */
int csv_next(struct csv *c);
void csv_close(struct csv *c);
/* Indices @at of the @nr columns @name: 0, or -EINVAL with a message; each has to be there. */
int csv_columns(struct csv *c, const char *const *name, size_t nr, int *at);
/* Message FILE:LINE: "expected @expected, got '@got'"; always -EINVAL. */
int csv_refuse(struct csv *c, const char *expected, const char *got);
/* Field @i as a number, not below @min: 0, or -EINVAL. */
int csv_number(struct csv *c, int i, double min, double *v);

#endif
