/* SPDX-License-Identifier: MIT */
/* The file that credits are asked for, and verdicts in words. */
#ifndef CREDITS_FILE_H
#define CREDITS_FILE_H

#include <foliofs/credits.h>

#define CREDITS_MAX_KERNELS 16

/* What the command line says about the file; { .order = -1 } is a new regular file. */
struct credits_file {
	bool indirect;
	uint8_t depth; /* of its tree */
	int order; /* largest folio order, -1: what the kernel gives it */
	uint64_t i_blocks;
};

/* The inode kind of @f under @k. */
void credits_kind(const struct credits_file *f, const struct foliofs_kernel *k,
		  const struct foliofs_geometry *g, struct foliofs_inode_kind *kind);

/* One word for a verdict, and what is the matter with numbers ("" if it fits). */
const char *credits_verdict_name(enum foliofs_verdict v);
void credits_verdict_reason(const struct foliofs_kernel *k, const struct foliofs_geometry *g,
			    const struct foliofs_inode_kind *kind, enum foliofs_credit_op op,
			    char *text, size_t len);

/*
 * The length that mke2fs -J size= takes for a journal of @blocks, in MiB; it puts the fast-commit
 * blocks on top of that itself.
 */
uint32_t credits_journal_size(const struct foliofs_geometry *g, uint32_t blocks);

#endif
