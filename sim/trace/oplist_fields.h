/* SPDX-License-Identifier: MIT */
/* Within the op list parser: the words of a line, and the table of operations. */
#ifndef SIM_TRACE_OPLIST_FIELDS_H
#define SIM_TRACE_OPLIST_FIELDS_H

#include "trace/oplist.h"

#define OPLIST_WORDS 32u

/* One line in words. */
struct oplist_words {
	const char *text; /* the whole op */
	char *copy; /* cut at the blanks */
	char *w[OPLIST_WORDS];
	unsigned int nr, at; /* words in all, words used */
	const struct trace_where *where;
	bool fixed; /* expanded from a loop: columns are those of the loop's operation */
};

struct oplist_syntax {
	const char *fields; /* a letter each, see oplist_fields.c */
	const char *options; /* "key=WHAT or key=WHAT": those that are known; NULL: none */
};

/* oplist_table.c: syntax of a kind. */
const struct oplist_syntax *oplist_syntax(enum foliofs_op_kind kind);

/* A word that stands for flags; lists end in a NULL name. */
struct oplist_flag {
	const char *name;
	uint32_t flags;
};
extern const struct oplist_flag oplist_open_flags[], oplist_fallocate_modes[], oplist_fadvise[],
	oplist_madvise[], oplist_how[];
#define OPLIST_HOW_BOTH \
	(FOLIOFS_SYNC_RANGE_WAIT_BEFORE | FOLIOFS_SYNC_RANGE_WRITE | FOLIOFS_SYNC_RANGE_WAIT_AFTER)

/* "expected @what, got WORD": word number @word of the line, or its end.  Always -EINVAL. */
int oplist_expected(const struct oplist_words *w, unsigned int word, const char *what);
/* Field @letter of @op from the next word. */
int oplist_field(struct oplist *l, struct oplist_words *w, char letter, struct foliofs_op *op);
/* All fields of @s. */
int oplist_fields(struct oplist *l, struct oplist_words *w, const struct oplist_syntax *s,
		  struct foliofs_op *op);
/* What is left of the line: key=value.  @alias: value of as=. */
int oplist_options(struct oplist_words *w, const struct oplist_syntax *s, struct foliofs_op *op,
		   const char **alias);

#endif
