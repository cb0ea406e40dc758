/* SPDX-License-Identifier: MIT */
/* A geometry and what it means for large folios, as text. */
#ifndef GEOMETRY_PRINT_H
#define GEOMETRY_PRINT_H

#include <stdio.h>
#include <foliofs/credits.h>
#include <foliofs/mkfs.h>

/* Every number, one line each, in the words of dumpe2fs where it has them. */
void geometry_print(FILE *out, const struct foliofs_geometry *g);

/*
 * For each kernel: largest folio of a new regular file and blocks in it, or why it
 * gets single pages.
 */
void geometry_print_orders(FILE *out, const struct foliofs_geometry *g,
			   const struct foliofs_kernel *kernels, size_t nr_kernels);

#endif
