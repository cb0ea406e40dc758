/* SPDX-License-Identifier: MIT */
/* Between the parts of a comparison: events (compare.c) and files (compare_files.c). */
#ifndef CONFORM_COMPARE_PARTS_H
#define CONFORM_COMPARE_PARTS_H

#include "compare.h"

/*
 * Count what the kernel's @x and our @y have in common in @family.  NULL if they are the same,
 * else a new difference, and where it begins: *@i in @x, *@j in @y.
 */
struct conform_diff *conform_compare_ids(struct conform_result *r, enum conform_family_id family,
					 const uint32_t *x, size_t na, const uint32_t *y, size_t nb,
					 bool ordered, size_t *i, size_t *j);
/* The files of both folders.  0, or a negative errno with r->error set. */
int conform_compare_files(const char *kernel_dir, const char *sim_dir, struct conform_result *r);

#endif
