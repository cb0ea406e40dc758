/* SPDX-License-Identifier: MIT */
/*
 * foliosim backport: a kernel with some changes picked from a newer one.
 *
 * Three kernels are compared: the base, the picked one (base and the changes) and
 * the newest.  What the picked one does worse than both is what the backport
 * breaks by itself.
 */
#ifndef BACKPORT_BACKPORT_H
#define BACKPORT_BACKPORT_H

#include <stdio.h>

#include <foliofs/credits.h>

enum { BACKPORT_BASE, BACKPORT_PICKED, BACKPORT_NEWEST, BACKPORT_SIDES };
enum { BACKPORT_PICKS = 64 };

struct backport {
	struct foliofs_kernel kernel[BACKPORT_SIDES];
	enum foliofs_change pick[BACKPORT_PICKS];
	unsigned int nr_picks;
};

/* The first columns of the search: pages of 4 KiB, no features but the defaults. */
enum { BACKPORT_SMALL_PAGES = 3 };

/* A file system of the search, and how to make it. */
struct backport_case {
	struct foliofs_geometry g;
	char mkfs[80];
	unsigned int column; /* number of its page size, block size and features */
};

/*
 * Call @fn for every file system of the search: page and block sizes, features, journals, sizes
 * of the device in ascending order within each column.  Stops when @fn does not return 0.
 */
int backport_geometries(int (*fn)(void *priv, const struct backport_case *c), void *priv);

/* What the picked changes need and the picked kernel lacks, also through others: their number. */
unsigned int backport_prerequisites(FILE *out, const struct backport *b);
/*
 * Credits over all file systems: what is refused (or may run dry, or loop) under the picked kernel
 * alone, and the terms that grew.  Number of operations that got worse; -errno.
 */
int backport_credits(FILE *out, const struct backport *b);
/*
 * Scenarios that end differently under the picked kernel than under both others: their number;
 * -EINVAL: a file cannot be used, the message has been printed.
 */
int backport_scenarios(FILE *out, const struct backport *b, char **paths, int nr_paths);

#endif
