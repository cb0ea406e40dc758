/* SPDX-License-Identifier: MIT */
/*
 * Pieces of the scenario parser.  All of them return 0 or -EINVAL (-ENOMEM) with
 * a message at the place of the node; what they allocate lives in the arena.
 */
#ifndef SCENARIO_PARSE_H
#define SCENARIO_PARSE_H

#include "scenario/scenario.h"

struct parser {
	struct scenario *s;
	const char *path;
	struct arena *arena;
	struct place_error *err;
};

struct arena *arena_new(void);
void arena_free(struct arena *a);
/* Zeroed; NULL: out of memory. */
void *arena_alloc(struct arena *a, size_t size);

/* Members of a list or a map. */
size_t node_count(const struct node *n);
/* The text of a scalar. */
int parse_text(struct parser *p, const struct node *n, const char *what, const char **out);
/* yes, no, true, false. */
int parse_bool(struct parser *p, const struct node *n, bool *out);
/* A number with an optional suffix k m g t, at most @max. */
int parse_number(struct parser *p, const struct node *n, uint64_t max, uint64_t *out);
int parse_want(struct parser *p, const struct node *n, struct want *w);
/* The same from text inside of node @n. */
int parse_want_text(struct parser *p, const struct node *n, const char *text, struct want *w);
int parse_want_list(struct parser *p, const struct node *n, struct want_list *l);
/* A list, or one member without a list: array of nodes. */
int parse_list(struct parser *p, const struct node *n, const struct node ***out, size_t *nr);
/* An operation number, or a list of the first and the last. */
int parse_ops_range(struct parser *p, const struct node *n, struct op_range *r);
int parse_event_match(struct parser *p, const struct node *n, struct event_match *m);
/* An error name: "ENOSPC", or "any" (0). */
int parse_errno(struct parser *p, const struct node *n, int *out);
/* Expectations: the map behind a key "expect". @kernels: those that may be keys of it. */
int parse_expectation(struct parser *p, const struct node *n, const struct setup *setup,
		      struct expectation *e);
/* Expectations at one operation: no keys of kernels. */
int parse_expect(struct parser *p, const struct node *n, struct expect *e);
int parse_states(struct parser *p, const struct node *n, struct expect_state **out);
/* Behind credits or verdicts, limits, starts. */
int parse_credits(struct parser *p, const struct node *n, bool verdicts, struct expect *e);
int parse_limits(struct parser *p, const struct node *n, struct expect *e);
int parse_starts(struct parser *p, const struct node *n, struct expect *e);

/*
 * Keys at and inject, of the whole scenario (@op 0) or of operation @op: a map or a list of
 * maps.
 */
int parse_at(struct parser *p, const struct node *n, uint32_t op);
int parse_inject(struct parser *p, const struct node *n, uint32_t op,
		 struct scenario_inject **list);

/* Operations: lines of the list @n, numbered from @first. */
int parse_ops(struct parser *p, const struct node *n, uint32_t first, struct scenario_ops *ops);
void parse_ops_free(struct scenario *s);

#endif
