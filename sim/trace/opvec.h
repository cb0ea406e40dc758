/* SPDX-License-Identifier: MIT */
/*
 * A growing list of operations that owns its strings.  All readers of op lists, system call logs
 * and I/O logs append to one of these.
 *
 *	id	number of a marked operation: what is announced with "foliosim op ID TEXT"
 *	text	its text, kept with the first of its operations; the others have NULL
 *
 * Memory that cannot be had ends the program with exit code 4: the simulator has nothing better
 * to do then.
 */
#ifndef SIM_TRACE_OPVEC_H
#define SIM_TRACE_OPVEC_H

#include <stddef.h>
#include <stdint.h>

#include <foliofs/op.h>

struct opvec_block;

struct opvec {
	struct foliofs_op *ops; /* [nr] */
	const char **texts; /* [nr]; NULL: belongs to the marked operation before it */
	uint32_t *lines; /* [nr] line of the input, from 1; 0: none */
	uint32_t nr, max;
	struct opvec_block *strings;
};

/* Zeroed memory; never NULL. */
void *trace_alloc(size_t size);
/* @p made room for @nr elements of @size bytes; never NULL; what is new is not zeroed. */
void *trace_realloc(void *p, size_t nr, size_t size);
/* A copy to be freed with free(). */
char *trace_strdup(const char *s);

void opvec_init(struct opvec *v);
void opvec_free(struct opvec *v);
/*
 * Append an operation with no files (-1), no paths and all numbers 0.
 * The pointer is good until the next call.
 */
struct foliofs_op *opvec_add(struct opvec *v, enum foliofs_op_kind kind, uint32_t id,
			     const char *text, uint32_t line);
/* Copies of strings that live as long as @v. */
const char *opvec_strdup(struct opvec *v, const char *s);
const char *opvec_strndup(struct opvec *v, const char *s, size_t len);

/* Where input comes from, for messages "FILE:LINE:COL: expected ..., got ...". */
struct trace_where {
	const char *file;
	uint32_t line; /* from 1; 0: not known */
	uint32_t col; /* of the first character of the text at hand, from 1; 0: not known */
	char *err; /* receives the message; may be NULL */
	size_t errlen;
};

/* Write the message; always -EINVAL, to be returned. */
int trace_fail(const struct trace_where *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
