// SPDX-License-Identifier: MIT
/*
 * The top level of a scenario file: what is set up, operations, variants.
 * Everything is checked here, so that a scenario that starts is a valid one.
 */
#include "scenario/parse.h"
#include "geometry/geometry_fs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int parse_kernels(struct parser *p, const struct node *n, struct setup *u)
{
	struct foliofs_kernel k;
	char text[256];
	size_t i;
	int ret;

	ret = parse_list(p, n, &u->kernel, &u->nr_kernels);
	if (ret)
		return ret;
	if (!u->nr_kernels)
		return node_expected(p->path, n, p->err, "at least one kernel");
	for (i = 0; i < u->nr_kernels; i++)
		if (foliofs_kernel_parse(u->kernel[i]->text, &k, text, sizeof(text)))
			return node_error(p->path, u->kernel[i], p->err,
					  "expected a kernel, got \"%s\": %s", u->kernel[i]->text,
					  text);
	return 0;
}

static int parse_changes(struct parser *p, const struct node *n, const struct node ***out,
			 size_t *nr)
{
	enum foliofs_change change;
	size_t i;
	int ret;

	ret = parse_list(p, n, out, nr);
	for (i = 0; i < *nr && !ret; i++)
		if (foliofs_change_find((*out)[i]->text, &change))
			ret = node_expected(p->path, (*out)[i], p->err,
					    "the name of a change (`foliosim kernels' lists them)");
	return ret;
}

static int parse_page_size(struct parser *p, const struct node *n, struct setup *u)
{
	uint64_t size;

	if (n->kind != NODE_SCALAR || foliofs_parse_size(n->text, &size) ||
	    (size != 4096 && size != 16384 && size != 65536))
		return node_expected(p->path, n, p->err, "4k, 16k or 64k");
	u->page_size = (uint32_t)size;
	return 0;
}

static int parse_alloc(struct parser *p, const struct node *n, struct setup *u)
{
	if (n->kind == NODE_SCALAR && !strcmp(n->text, "kernel"))
		u->alloc = FOLIOFS_ALLOC_KERNEL;
	else if (n->kind == NODE_SCALAR && !strcmp(n->text, "worst"))
		u->alloc = FOLIOFS_ALLOC_WORST;
	else
		return node_expected(p->path, n, p->err, "kernel or worst");
	return 0;
}

static int parse_fs(struct parser *p, const struct node *n, struct setup *u)
{
	if (n->kind != NODE_SCALAR || geometry_fs_find(n->text, &u->fs))
		return node_expected(p->path, n, p->err, "ext4, xfs, tmpfs or ext2");
	return 0;
}

static int parse_u32(struct parser *p, const struct node *n, uint32_t *out, bool *given)
{
	uint64_t value;
	int ret = parse_number(p, n, UINT32_MAX, &value);

	*out = (uint32_t)value;
	*given = true;
	return ret;
}

/* One key of a setup; -ENOENT: it is none. */
static int setup_key(struct parser *p, const struct node *m, struct setup *u)
{
	const char *key = m->key->text;

	if (!strcmp(key, "kernel"))
		return parse_kernels(p, m, u);
	if (!strcmp(key, "with"))
		return parse_changes(p, m, &u->with, &u->nr_with);
	if (!strcmp(key, "without"))
		return parse_changes(p, m, &u->without, &u->nr_without);
	if (!strcmp(key, "fs"))
		return parse_fs(p, m, u);
	if (!strcmp(key, "page_size"))
		return parse_page_size(p, m, u);
	if (!strcmp(key, "alloc"))
		return parse_alloc(p, m, u);
	if (!strcmp(key, "inject")) {
		struct scenario_inject *list = NULL;
		int ret = parse_inject(p, m, 0, &list);

		u->inject = list;
		return ret;
	}
	if (!strcmp(key, "read_ahead_kb"))
		return parse_u32(p, m, &u->read_ahead_kb, &u->has_read_ahead);
	if (!strcmp(key, "io_opt_pages"))
		return parse_u32(p, m, &u->io_opt_pages, &u->has_io_opt);
	if (!strcmp(key, "mkfs")) {
		u->mkfs_at = m;
		return parse_text(p, m, "options of mke2fs (\"size=64M -b 1024\")", &u->mkfs);
	}
	if (!strcmp(key, "mount")) {
		u->mount_at = m;
		return parse_text(p, m, "mount options", &u->mount);
	}
	return -ENOENT;
}

#define SETUP_KEYS "kernel, with, without, fs, page_size, alloc, inject, read_ahead_kb, " \
	"io_opt_pages, mkfs or mount"

/* A setup that is complete: is it one that can be made? */
static int check_setup(struct parser *p, const struct setup *u)
{
	const char *mount = u->mount ? u->mount : "";
	struct foliofs_geometry g;
	char text[256] = "";

	if (!geometry_fs(u->fs, u->mkfs, mount, u->page_size, &g, text, sizeof(text)))
		return 0;
	/* Which of the two it is: without mount options, is it one? */
	if (!geometry_fs(u->fs, u->mkfs, "", u->page_size, &g, text, sizeof(text))) {
		geometry_fs(u->fs, u->mkfs, mount, u->page_size, &g, text, sizeof(text));
		return node_error(p->path, u->mount_at, p->err,
				  "expected mount options, got \"%s\": %s", mount, text);
	}
	return node_error(p->path, u->mkfs_at, p->err, "expected options of %s, got \"%s\": %s",
			  u->fs == FOLIOFS_FS_XFS ? "mkfs.xfs" : u->fs == FOLIOFS_FS_TMPFS ?
			  "a tmpfs" : "mke2fs", u->mkfs, text);
}

static int parse_pattern(struct parser *p, const struct node *n, struct free_pattern *f)
{
	const struct node *m;
	struct want at;
	bool first = false;
	int ret = 0;

	if (n->kind == NODE_SCALAR && !strcmp(n->text, "one block per group")) {
		f->per_group = true;
		f->first = -1;
		f->len = 1;
		return 0;
	}
	if (n->kind != NODE_MAP)
		return node_expected(p->path, n, p->err, "\"one block per group\", or a map of "
				     "per_group and at, or of first, len, stride and count");
	f->len = 1;
	for (m = n->child; m && !ret; m = m->next) {
		const char *key = m->key->text;

		if (!strcmp(key, "per_group")) {
			f->per_group = true;
			ret = parse_number(p, m, UINT32_MAX, &f->len);
		} else if (!strcmp(key, "at") || !strcmp(key, "first")) {
			first = true;
			ret = parse_want(p, m, &at);
			if (!ret && (at.kind != WANT_RANGE || at.lo != at.hi))
				ret = node_expected(p->path, m, p->err, "a block number");
			if (!ret)
				f->first = at.lo;
		} else if (!strcmp(key, "len")) {
			ret = parse_number(p, m, INT64_MAX, &f->len);
		} else if (!strcmp(key, "stride")) {
			ret = parse_number(p, m, INT64_MAX, &f->stride);
		} else if (!strcmp(key, "count")) {
			ret = parse_number(p, m, INT64_MAX, &f->count);
		} else {
			ret = node_expected(p->path, m->key, p->err,
					    "per_group, at, first, len, stride or count");
		}
	}
	if (!ret && (!first || !f->len || (!f->per_group && (f->first < 0 || !f->stride))))
		ret = node_error(p->path, n, p->err, "expected per_group and at, or first, len "
				 "and stride above 0, got less");
	return ret;
}

/* One pattern, or a list of them. */
static int parse_free_space(struct parser *p, const struct node *n, struct free_space **tail)
{
	const struct node *m;
	int ret = 0;

	for (m = n->kind == NODE_LIST ? n->child : n; m && !ret; m = m->next) {
		*tail = arena_alloc(p->arena, sizeof(**tail));
		if (!*tail)
			return -ENOMEM;
		(*tail)->at = m;
		ret = parse_pattern(p, m, &(*tail)->pattern);
		tail = &(*tail)->next;
		if (m == n)
			break;
	}
	return ret;
}

static int parse_files(struct parser *p, const struct node *n, struct scenario_file **tail)
{
	const struct node *m;
	int ret;

	if (n->kind != NODE_MAP)
		return node_expected(p->path, n, p->err, "a map of files to sizes");
	for (m = n->child; m; m = m->next) {
		struct scenario_file *f = arena_alloc(p->arena, sizeof(*f));

		if (!f)
			return -ENOMEM;
		f->at = m;
		f->path = m->key->text;
		f->dir = m->kind == NODE_SCALAR && !strcmp(m->text, "directory");
		ret = f->dir ? 0 : parse_number(p, m, INT64_MAX, &f->size);
		if (ret)
			return node_expected(p->path, m, p->err, "a size, or directory");
		*tail = f;
		tail = &f->next;
	}
	return 0;
}

static int parse_variant(struct parser *p, const struct node *n, struct variant *v)
{
	const struct node *m, *expect = NULL;
	int ret = 0;

	if (n->kind != NODE_MAP)
		return node_expected(p->path, n, p->err, "a map: a variant");
	v->at = n;
	v->setup = p->s->setup;
	for (m = n->child; m && !ret; m = m->next) {
		const char *key = m->key->text;

		if (!strcmp(key, "name"))
			ret = parse_text(p, m, "a name", &v->name);
		else if (!strcmp(key, "why"))
			ret = parse_text(p, m, "one line", &v->why);
		else if (!strcmp(key, "expect"))
			expect = m;
		else
			ret = setup_key(p, m, &v->setup);
		if (ret == -ENOENT)
			ret = node_expected(p->path, m->key, p->err,
					    "name, why, expect, " SETUP_KEYS);
	}
	if (!ret)
		ret = check_setup(p, &v->setup);
	if (!ret && expect)
		ret = parse_expectation(p, expect, &v->setup, &v->expect);
	if (!ret && !v->name)
		ret = node_error(p->path, n, p->err, "expected a variant with a name, got none");
	return ret;
}

static int parse_variants(struct parser *p, const struct node *n)
{
	struct variant **tail = &p->s->variants, *v;
	const struct node *m;
	int ret;

	if (n->kind != NODE_LIST)
		return node_expected(p->path, n, p->err, "a list of variants");
	for (m = n->child; m; m = m->next) {
		*tail = arena_alloc(p->arena, sizeof(**tail));
		if (!*tail)
			return -ENOMEM;
		ret = parse_variant(p, m, *tail);
		if (ret)
			return ret;
		for (v = p->s->variants; v != *tail; v = v->next)
			if (!strcmp(v->name, (*tail)->name))
				return node_error(p->path, m, p->err, "expected names of variants "
						  "once, got \"%s\" again", v->name);
		tail = &(*tail)->next;
	}
	return 0;
}

/* Keys that do not depend on others. */
static int top_key(struct parser *p, const struct node *m)
{
	struct scenario *s = p->s;
	const char *key = m->key->text;

	if (!strcmp(key, "why"))
		return parse_text(p, m, "one line: what the scenario is about", &s->why);
	if (!strcmp(key, "source"))
		return parse_text(p, m, "where the expectations come from", &s->source);
	if (!strcmp(key, "fixed_by"))
		return parse_text(p, m, "the change that fixed it", &s->fixed_by);
	if (!strcmp(key, "free_space"))
		return parse_free_space(p, m, &s->free_space);
	if (!strcmp(key, "files"))
		return parse_files(p, m, &s->files);
	if (!strcmp(key, "prepare") || !strcmp(key, "ops") || !strcmp(key, "expect") ||
	    !strcmp(key, "variants") || !strcmp(key, "at"))
		return 0;
	return setup_key(p, m, &s->setup);
}

static const struct node *member(const struct node *map, const char *key)
{
	const struct node *m;

	for (m = map->child; m; m = m->next)
		if (!strcmp(m->key->text, key))
			return m;
	return NULL;
}

static int parse_top(struct parser *p, const struct node *root)
{
	struct scenario *s = p->s;
	const struct node *m;
	int ret;

	if (root->kind != NODE_MAP)
		return node_expected(p->path, root, p->err, "a map: a scenario");
	s->setup.page_size = 4096;
	for (m = root->child; m; m = m->next) {
		ret = top_key(p, m);
		if (ret == -ENOENT)
			ret = node_expected(p->path, m->key, p->err,
					    "why, source, fixed_by, free_space, files, prepare, "
					    "ops, at, expect, variants, " SETUP_KEYS);
		if (ret)
			return ret;
	}
	if (!s->why)
		return node_error(p->path, root, p->err, "expected a key why, got none");
	if (!s->source && !s->fixed_by)
		return node_error(p->path, root, p->err,
				  "expected a key source or fixed_by, got none");
	if (!s->setup.mkfs)
		return node_error(p->path, root, p->err, "expected a key mkfs, got none");
	if (!s->setup.nr_kernels)
		return node_error(p->path, root, p->err, "expected a key kernel, got none");
	ret = check_setup(p, &s->setup);
	m = member(root, "prepare");
	if (!ret && m)
		ret = parse_ops(p, m, SCENARIO_FIRST_PREPARE, &s->prepare);
	m = member(root, "ops");
	if (!ret && m)
		ret = parse_ops(p, m, SCENARIO_FIRST_OP, &s->ops);
	m = member(root, "at");
	if (!ret && m)
		ret = parse_at(p, m, 0);
	m = member(root, "expect");
	if (!ret && m)
		ret = parse_expectation(p, m, &s->setup, &s->expect);
	m = member(root, "variants");
	if (!ret && m)
		ret = parse_variants(p, m);
	return ret;
}

static int finish(struct scenario *s, int ret, struct scenario **out, struct place_error *err)
{
	struct parser p = { .s = s, .path = s->path, .arena = s->arena, .err = err };

	if (!ret)
		ret = parse_top(&p, s->root);
	if (ret == -ENOMEM)
		snprintf(err->text, sizeof(err->text), "%s: out of memory", s->path);
	if (ret)
		scenario_free(s);
	else
		*out = s;
	return ret;
}

static struct scenario *scenario_new(const char *path)
{
	struct scenario *s = calloc(1, sizeof(*s));
	char *copy;

	if (!s)
		return NULL;
	s->arena = arena_new();
	copy = s->arena ? arena_alloc(s->arena, strlen(path) + 1) : NULL;
	if (!copy) {
		arena_free(s->arena);
		free(s);
		return NULL;
	}
	s->path = strcpy(copy, path);
	return s;
}

int scenario_load(const char *path, struct scenario **out, struct place_error *err)
{
	struct scenario *s = scenario_new(path);

	err->text[0] = 0;
	*out = NULL;
	return s ? finish(s, node_parse_file(s->path, &s->root, err), out, err) : -ENOMEM;
}

int scenario_load_text(const char *path, const char *text, size_t len, struct scenario **out,
		       struct place_error *err)
{
	struct scenario *s = scenario_new(path);

	err->text[0] = 0;
	*out = NULL;
	return s ? finish(s, node_parse_text(s->path, text, len, &s->root, err), out, err) :
		   -ENOMEM;
}

void scenario_free(struct scenario *s)
{
	if (!s)
		return;
	parse_ops_free(s);
	node_free(s->root);
	arena_free(s->arena);
	free(s);
}
