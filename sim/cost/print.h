/* SPDX-License-Identifier: MIT */
/* What came of it: in words, as JSON, as a report. */
#ifndef COST_PRINT_H
#define COST_PRINT_H

#include <stdio.h>

#include "out/report.h"
#include "table.h"

/* A trace on several sides. */
struct cost_result {
	const struct replay_setup *setup;
	const struct cost_sides *sides;
	const struct cost_constants *constants;
	const char *device;
};

void cost_print(FILE *f, const struct cost_result *r);
/* 0, or a negative errno. */
int cost_json(FILE *f, const struct cost_result *r);
/* report_free() by the caller; so for the other. */
void cost_report(struct report *rep, const struct cost_result *r);

void cost_table_print(FILE *f, const struct cost_table *t, const struct cost_constants *c);
int cost_table_json(FILE *f, const struct cost_table *t, const struct cost_constants *c);
void cost_table_report(struct report *rep, const struct cost_table *t,
		       const struct cost_constants *c);

#endif
