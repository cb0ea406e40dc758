/* SPDX-License-Identifier: MIT */
/* Results of a comparison in words. */
#ifndef CONFORM_PRINT_H
#define CONFORM_PRINT_H

#include <stdio.h>

#include "compare.h"

struct conform_filter {
	bool have_family; /* only @family */
	enum conform_family_id family;
	bool have_op; /* only operation @op */
	uint32_t op;
	bool all; /* every difference, not the first alone */
};

/* One capture: "NAME same", or its families that differ and the first difference. */
void conform_print(FILE *out, const struct conform_result *r, const struct conform_filter *f);
/* Table of families. */
void conform_print_table(FILE *out, const struct conform_count total[CONFORM_FAMILY_COUNT]);
/* Why the kinds of events that are not compared are left out. */
void conform_print_left_out(FILE *out, const struct conform_result *r);

#endif
