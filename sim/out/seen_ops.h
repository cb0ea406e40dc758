/* SPDX-License-Identifier: MIT */
/* What a reader of bytes (seen.h) knows of the operations: where they may have written. */
#ifndef OUT_SEEN_OPS_H
#define OUT_SEEN_OPS_H

#include "seen.h"

/* Where an operation may have written. */
struct writer {
	uint32_t op;
	char *name;
	uint64_t off, end, stride; /* [off, end), one byte each stride if not 1 */
	bool anywhere;
};

/* A collapse or an insert. */
struct shift {
	uint32_t op;
	char *name;
	int64_t off, len;
	bool insert;
};

struct seen {
	struct writer *writers;
	struct shift *shifts;
	size_t nr_writers, nr_shifts;
};

/* May @op have written bytes [off, off + len)?  One that nothing is known of: anything. */
bool seen_wrote(const struct seen *s, uint32_t op, int64_t off, uint64_t len);
/* Is there a write of @op? */
bool seen_known(const struct seen *s, uint32_t op);
/* Where the byte now at @at was when @w wrote it; -1: nowhere. */
int64_t seen_unmoved(const struct seen *s, const struct writer *w, int64_t at);

#endif
