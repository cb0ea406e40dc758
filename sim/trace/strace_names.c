// SPDX-License-Identifier: MIT
/*
 * Files of a strace log, and what was there before it, see strace.h.
 *
 * A file was there before if the log uses it without having made it.  Its size at that time is the
 * least that explains what the log shows: what read returned, where lseek found the end, st_size;
 * failing these, how far it was mapped.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/strace.h"

void strace_contradiction(struct strace *s, const char *fmt, ...)
{
	char buf[PATH_MAX + 160];
	va_list ap;

	if (s->t->contradictions++ >= 20) /* the first ones tell most */
		return;
	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	trace_note(s->t, "line %u: %s", s->w.line, buf);
}

struct strace_name *strace_name_find(const struct strace *s, const char *rel)
{
	struct strace_name *n;

	HASH_FIND_STR(s->names, rel, n);
	return n;
}

static struct strace_node *new_node(struct strace *s, const char *rel)
{
	struct strace_node *n = trace_alloc(sizeof(*n));

	n->path = trace_strdup(rel);
	n->next = s->nodes;
	s->nodes = n;
	return n;
}

static struct strace_name *add_name(struct strace *s, const char *rel)
{
	struct strace_name *n = strace_name_find(s, rel);

	if (!n) {
		n = trace_alloc(sizeof(*n));
		n->path = trace_strdup(rel);
		HASH_ADD_KEYPTR(hh, s->names, n->path, strlen(n->path), n);
	}
	free(n->target);
	n->target = NULL;
	return n;
}

/* Length of the directory part of @rel; 0: it is in the root. */
static size_t dir_len(const char *rel)
{
	const char *slash = strrchr(rel, '/');

	return slash ? (size_t)(slash - rel) : 0;
}

/* The node of the directory that @rel is in, assumed to have been there; NULL for the root. */
static struct strace_node *parent_of(struct strace *s, const char *rel)
{
	size_t len = dir_len(rel);
	char dir[PATH_MAX];

	if (!len)
		return NULL;
	snprintf(dir, sizeof(dir), "%.*s", (int)len, rel);
	return strace_node_there(s, dir, true, "a name below it is used");
}

/* It was there when the trace began: by which name, before its directories were renamed? */
static void was_there(struct strace *s, struct strace_node *n, const char *rel, const char *why)
{
	struct strace_node *parent = parent_of(s, rel);
	char first[PATH_MAX];

	if (parent && !parent->first_path) {
		strace_contradiction(s,
				     "%s is used, but its directory was made in the trace and it "
				     "was not",
				     rel);
		return;
	}
	if (parent)
		snprintf(first, sizeof(first), "%.*s/%s", PATH_MAX / 2, parent->first_path,
			 rel + dir_len(rel) + 1);
	n->first_path = trace_strdup(parent ? first : rel);
	n->was_there = true;
	n->why = why;
}

struct strace_node *strace_node_there(struct strace *s, const char *rel, bool dir, const char *why)
{
	struct strace_name *name = strace_name_find(s, rel);
	struct strace_node *n = name ? name->node : NULL;

	if (n) {
		n->dir |= dir;
		return n;
	}
	if (name)
		strace_contradiction(s, "%s is used, but was not there before", rel);
	n = new_node(s, rel);
	n->dir = dir || !strcmp(rel, "/");
	if (strcmp(rel, "/"))
		was_there(s, n, rel, why);
	add_name(s, rel)->node = n;
	return n;
}

struct strace_node *strace_node_make(struct strace *s, const char *rel, bool dir)
{
	struct strace_node *n = new_node(s, rel);

	parent_of(s, rel);
	n->dir = dir;
	n->size_known = true;
	add_name(s, rel)->node = n;
	return n;
}

struct strace_node *strace_node_maybe(struct strace *s, const char *rel)
{
	struct strace_name *name = strace_name_find(s, rel);
	struct strace_node *n = name ? name->node : NULL, *parent;

	if (n)
		return n;
	if (name)
		return strace_node_make(s, rel, false);
	parent = parent_of(s, rel);
	if (parent && !parent->first_path)
		return strace_node_make(s, rel, false);
	n = new_node(s, rel);
	was_there(s, n, rel, NULL);
	n->was_there = false; /* until its size shows it */
	add_name(s, rel)->node = n;
	return n;
}

void strace_name_link(struct strace *s, const char *rel, struct strace_node *n)
{
	parent_of(s, rel);
	add_name(s, rel)->node = n;
	free(n->path);
	n->path = trace_strdup(rel);
}

void strace_name_remove(struct strace *s, const char *rel)
{
	add_name(s, rel)->node = NULL;
}

void strace_name_absent(struct strace *s, const char *rel)
{
	if (!strace_name_find(s, rel))
		add_name(s, rel);
}

/* Names below a directory move with it. */
static void rename_below(struct strace *s, const char *from, const char *to)
{
	struct strace_name *n, *tmp, *moved = NULL, *old;
	size_t len = strlen(from);
	char path[PATH_MAX];

	HASH_ITER(hh, s->names, n, tmp) {
		if (strncmp(n->path, from, len) || n->path[len] != '/')
			continue;
		HASH_DEL(s->names, n);
		HASH_ADD_KEYPTR(hh, moved, n->path, strlen(n->path), n);
	}
	HASH_ITER(hh, moved, n, tmp) {
		HASH_DEL(moved, n);
		snprintf(path, sizeof(path), "%s%s", to, n->path + len);
		free(n->path);
		n->path = trace_strdup(path);
		old = strace_name_find(s, path);
		if (old) {
			HASH_DEL(s->names, old);
			free(old->path);
			free(old->target);
			free(old);
		}
		HASH_ADD_KEYPTR(hh, s->names, n->path, strlen(n->path), n);
		if (n->node) {
			free(n->node->path);
			n->node->path = trace_strdup(path);
		}
	}
}

void strace_name_rename(struct strace *s, const char *from, const char *to)
{
	struct strace_name *a = strace_name_find(s, from), *b;
	struct strace_node *n = a ? a->node : NULL;
	char *target = a ? a->target : NULL;

	if (!strcmp(from, to))
		return;
	if (a)
		a->target = NULL;
	if (!n)
		n = strace_node_there(s, from, false, "renamed");
	strace_name_remove(s, from);
	strace_name_link(s, to, n);
	b = strace_name_find(s, to);
	b->target = target;
	if (n->dir)
		rename_below(s, from, to);
}

void strace_size_at_least(struct strace *s, struct strace_node *n, uint64_t size, const char *why)
{
	uint64_t more = size - n->size;

	if (size <= n->size)
		return;
	n->size = size;
	if (n->size_known || !n->first_path) {
		strace_contradiction(s, "%s has %llu bytes, more than the calls before explain",
				     n->path, (unsigned long long)size);
		return;
	}
	n->was_there = true;
	n->first_size = n->appended ? n->first_size + more : size;
	n->why = why;
}

void strace_size_is(struct strace *s, struct strace_node *n, uint64_t size, const char *why)
{
	if (n->dir)
		return;
	strace_size_at_least(s, n, size, why);
	if (size < n->size)
		strace_contradiction(s, "%s has %llu bytes, fewer than the calls before explain",
				     n->path, (unsigned long long)size);
	n->size = size;
	n->size_known = true;
}

void strace_size_set(struct strace_node *n, uint64_t size)
{
	n->size = size;
	n->size_known = true;
}

void strace_size_grow(struct strace_node *n, uint64_t size)
{
	if (size > n->size)
		n->size = size;
}

static int by_path(const void *a, const void *b)
{
	const struct strace_node *const *x = a, *const *y = b;

	return strcmp((*x)->first_path, (*y)->first_path);
}

void strace_names_report(struct strace *s)
{
	struct strace_node **list;
	uint32_t nr = 0;
	size_t all = 0;

	for (struct strace_node *n = s->nodes; n; n = n->next)
		all++;
	list = trace_realloc(NULL, all, sizeof(struct strace_node *));
	for (struct strace_node *n = s->nodes; n; n = n->next)
		if (n->was_there && n->first_path)
			list[nr++] = n;
	if (nr)
		qsort(list, nr, sizeof(struct strace_node *), by_path);
	for (uint32_t i = 0; i < nr; i++) {
		struct strace_node *n = list[i];

		if (!n->dir && !n->size_known && !n->first_size && n->map_size) {
			n->first_size = n->map_size;
			n->why = "mapped that far";
		}
		trace_assume(s->t, n->first_path, n->dir ? 0 : n->first_size, n->dir, n->why);
	}
	free(list);
}

void strace_names_free(struct strace *s)
{
	struct strace_name *name, *tmp;
	struct strace_node *n, *next;

	HASH_ITER(hh, s->names, name, tmp) {
		HASH_DEL(s->names, name);
		free(name->path);
		free(name->target);
		free(name);
	}
	for (n = s->nodes; n; n = next) {
		next = n->next;
		free(n->path);
		free(n->first_path);
		free(n);
	}
}
