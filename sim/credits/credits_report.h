/* SPDX-License-Identifier: MIT */
/* What every operation asks under several kernels: table, explanation, smallest journal, JSON. */
#ifndef CREDITS_REPORT_H
#define CREDITS_REPORT_H

#include <stdio.h>

#include "credits/credits_file.h"

/*
 * Limits of the journal and the table operation x kernel of what is asked + reserved, with a
 * verdict each, for a new regular file of @g under each of @nr_kernels kernels.  0, or -EIO.
 */
int credits_report(FILE *out, const struct foliofs_geometry *g, const struct foliofs_kernel *k,
		   unsigned int nr_kernels);
/* The same for the file @f. */
int credits_table(FILE *out, const struct credits_file *f, const struct foliofs_geometry *g,
		  const struct foliofs_kernel *k, unsigned int nr_kernels);
/* How @op comes to its numbers under each kernel, term by term. */
int credits_explain(FILE *out, const struct credits_file *f, const struct foliofs_geometry *g,
		    const struct foliofs_kernel *k, unsigned int nr_kernels,
		    enum foliofs_credit_op op);
/* The smallest journal that refuses no operation, by kernel. */
int credits_min_journal(FILE *out, const struct credits_file *f, const struct foliofs_geometry *g,
			const struct foliofs_kernel *k, unsigned int nr_kernels);
/* All of it as JSON. */
int credits_json(FILE *out, const struct credits_file *f, const struct foliofs_geometry *g,
		 const struct foliofs_kernel *k, unsigned int nr_kernels);

#endif
