// SPDX-License-Identifier: MIT
/* Comparison of what is told of files and operations: state, crash-*, layout and results. */
#include "compare_parts.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "facts.h"

static enum conform_family_id crash_family(enum conform_family_id f)
{
	switch (f) {
	case CONFORM_STATE:
		return CONFORM_CRASH_STATE;
	case CONFORM_CONTENT:
		return CONFORM_CRASH_CONTENT;
	case CONFORM_EXTENT:
		return CONFORM_CRASH_EXTENT;
	case CONFORM_PHYSICAL:
		return CONFORM_CRASH_PHYSICAL;
	default:
		return CONFORM_CRASH_TREE;
	}
}

static size_t take(const struct facts *f, enum conform_family_id family, uint32_t *ids,
		   const char **texts)
{
	size_t i, n = 0;

	for (i = 0; i < f->nr; i++) {
		if (f->v[i].family != family)
			continue;
		ids[n] = f->v[i].id;
		texts[n++] = f->v[i].text;
	}
	return n;
}

static char *dup_text(const char *s)
{
	return piece_dup((struct piece){ s, strlen(s) });
}

static void compare_family_facts(struct conform_result *r, const char *file,
				 const struct facts *a, const struct facts *b,
				 enum conform_family_id family, enum conform_family_id counted)
{
	size_t room = a->nr + b->nr + 1, na, nb, i, j;
	uint32_t *x = calloc(room, sizeof(*x)), *y;
	const char **s = calloc(room, sizeof(*s)), **t;
	struct conform_diff *d = NULL;

	if (!x || !s)
		abort();
	na = take(a, family, x, s);
	y = x + na;
	t = s + na;
	nb = take(b, family, y, t);
	if (na || nb || family == CONFORM_LAYOUT)
		d = conform_compare_ids(r, counted, x, na, y, nb, false, &i, &j);
	if (d) {
		d->file = dup_text(file);
		d->kernel = i < na ? dup_text(s[i]) : NULL;
		d->sim = j < nb ? dup_text(t[j]) : NULL;
	}
	free(x);
	free(s);
}

/* What a file of a capture holds, by its name. */
static int read_facts(struct facts *f, struct intern *table, const char *dir, const char *file)
{
	if (!strcmp(file, "layout.txt"))
		return facts_read_layout(f, table, dir);
	if (!strcmp(file, "results.txt"))
		return facts_read_results(f, table, dir);
	return facts_read(f, table, dir, file);
}

static int compare_file(const char *kernel_dir, const char *sim_dir, const char *file,
			struct conform_result *r)
{
	static const enum conform_family_id families[] = { CONFORM_STATE, CONFORM_CONTENT,
							   CONFORM_EXTENT, CONFORM_PHYSICAL,
							   CONFORM_TREE };
	bool crash = !strncmp(file, "crash-", 6), both;
	struct intern table = { 0 };
	struct facts a, b = { 0 };
	const char *dir = kernel_dir;
	int ret = read_facts(&a, &table, dir, file);
	size_t i;

	if (!ret) {
		dir = sim_dir;
		ret = read_facts(&b, &table, dir, file);
	}
	both = a.present && b.present;
	if (ret)
		snprintf(r->error, sizeof(r->error), "%s/%s: %s", dir, file, strerror(-ret));
	else if (!strcmp(file, "layout.txt") && both)
		compare_family_facts(r, file, &a, &b, CONFORM_LAYOUT, CONFORM_LAYOUT);
	else if (!strcmp(file, "results.txt") && both)
		compare_family_facts(r, file, &a, &b, CONFORM_RESULTS, CONFORM_RESULTS);
	else
		for (i = 0; i < sizeof(families) / sizeof(families[0]); i++)
			compare_family_facts(r, file, &a, &b, families[i],
					     crash ? crash_family(families[i]) : families[i]);
	facts_free(&a);
	facts_free(&b);
	intern_free(&table);
	return ret;
}

static int state_file(const struct dirent *e)
{
	size_t n = strlen(e->d_name);

	return !strcmp(e->d_name, "state.yaml") ||
	       (!strncmp(e->d_name, "crash-", 6) && n > 11 && !strcmp(e->d_name + n - 5, ".yaml"));
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

int conform_compare_files(const char *kernel_dir, const char *sim_dir, struct conform_result *r)
{
	struct dirent **list = NULL;
	int n = scandir(kernel_dir, &list, state_file, by_name), i;
	int ret = 0;

	if (n < 0)
		return errno == ENOTDIR || !strcmp(kernel_dir, "-") ? 0 : -errno;
	for (i = 0; i < n; i++) {
		if (!ret)
			ret = compare_file(kernel_dir, sim_dir, list[i]->d_name, r);
		free(list[i]);
	}
	free(list);
	if (!ret)
		ret = compare_file(kernel_dir, sim_dir, "layout.txt", r);
	return ret ? ret : compare_file(kernel_dir, sim_dir, "results.txt", r);
}
