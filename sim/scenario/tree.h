/* SPDX-License-Identifier: MIT */
/*
 * A YAML document as a tree of nodes that know where they stand.
 *
 * Built from libyaml's event interface.  One document a file; anchors, aliases
 * and tags are refused: a scenario is short enough to be written out.
 */
#ifndef SCENARIO_TREE_H
#define SCENARIO_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum node_kind {
	NODE_SCALAR, NODE_LIST, NODE_MAP,
};

struct node {
	enum node_kind kind;
	unsigned int line, col; /* from 1 */
	char *text; /* scalar: its value */
	bool quoted; /* scalar in quotes or a block */
	struct node *key; /* member of a map: its key, a scalar */
	struct node *child, *next; /* first member, next member of the parent */
};

/* Where something went wrong, and what: "FILE:LINE:COL: expected ..., got ...". */
struct place_error {
	char text[512];
};

/*
 * Parse file @path ("-": standard input).  0 and *@root, to be freed with
 * node_free(); -EINVAL or the errno of reading, with a message.
 */
int node_parse_file(const char *path, struct node **root, struct place_error *err);
/* The same for @len bytes of @text; messages name @path. */
int node_parse_text(const char *path, const char *text, size_t len, struct node **root,
		    struct place_error *err);
void node_free(struct node *n);

/* What a node is, for messages: "the list", "\"abc\"" ...  Valid until the next call with @buf. */
const char *node_show(const struct node *n, char *buf, size_t len);
/* -EINVAL, and @err becomes "PATH:LINE:COL: expected @expected, got <node>". */
int node_expected(const char *path, const struct node *n, struct place_error *err,
		  const char *expected, ...) __attribute__((format(printf, 4, 5)));
/* -EINVAL with a message of one's own at the place of @n. */
int node_error(const char *path, const struct node *n, struct place_error *err, const char *format,
	       ...) __attribute__((format(printf, 4, 5)));

#endif
