// SPDX-License-Identifier: MIT
/* Free-space patterns: see free_space.h. */
#define _GNU_SOURCE
#include "free_space.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Blocks [first, first + len) become free, as far as they lie before @end. */
static int make_free(struct foliofs_fs *fs, uint64_t first, uint64_t len, uint64_t end)
{
	if (len < end && first + len < end)
		end = first + len;
	return first < end ? foliofs_fs_mark_blocks(fs, first, end, false) : 0;
}

static int apply_per_group(struct foliofs_fs *fs, const struct free_pattern *f)
{
	const struct foliofs_geometry *g = foliofs_fs_geometry(fs);
	uint64_t nr, first, end;
	int ret = 0;

	for (nr = 0; !ret && nr < g->groups; nr++) {
		first = g->first_data_block + nr * g->blocks_per_group;
		end = first + g->blocks_per_group;
		if (end > g->blocks_count)
			end = g->blocks_count;
		first = (f->first < 0 ? end : first) + (uint64_t)f->first;
		ret = make_free(fs, first, f->len, end);
	}
	return ret;
}

int free_pattern_apply(struct foliofs_fs *fs, const struct free_pattern *f)
{
	const struct foliofs_geometry *g = foliofs_fs_geometry(fs);
	uint64_t nr, first = (uint64_t)f->first;
	int ret = 0;

	if (f->per_group)
		return apply_per_group(fs, f);
	for (nr = 0; !ret && first < g->blocks_count; first += f->stride) {
		if (f->count && nr++ == f->count)
			break;
		ret = make_free(fs, first, f->len, g->blocks_count);
	}
	return ret;
}

static int bad(char *err, size_t errlen, const char *what, const char *got)
{
	snprintf(err, errlen, "--free-space: expected %s, got \"%s\"", what, got);
	return -EINVAL;
}

static int take_field(struct free_pattern *f, char *field, bool *at, char *err, size_t errlen)
{
	char *value = strchr(field, '='), *end;
	uint64_t *target = NULL;
	long long n;

	if (value)
		*value++ = 0;
	if (!strcmp(field, "per_group")) {
		f->per_group = true;
		target = &f->len;
	} else if (!strcmp(field, "len")) {
		target = &f->len;
	} else if (!strcmp(field, "stride")) {
		target = &f->stride;
	} else if (!strcmp(field, "count")) {
		target = &f->count;
	} else if (strcmp(field, "at") && strcmp(field, "first")) {
		return bad(err, errlen, "per_group, at, first, len, stride or count", field);
	}
	errno = 0;
	n = value ? strtoll(value, &end, 0) : 0;
	if (!value || !*value || *end || errno || (target && n <= 0))
		return bad(err, errlen, target ? "a number above 0" : "a block number",
			   value ? value : "");
	if (target) {
		*target = (uint64_t)n;
	} else {
		f->first = n;
		*at = true;
	}
	return 0;
}

static int parse_pattern(char *text, struct free_pattern *f, char *err, size_t errlen)
{
	char *save = NULL, *field;
	bool at = false;

	memset(f, 0, sizeof(*f));
	text += strspn(text, " ");
	if (!strcmp(text, "one block per group")) {
		*f = (struct free_pattern){ .per_group = true, .first = -1, .len = 1 };
		return 0;
	}
	f->len = 1;
	for (field = strtok_r(text, ", ", &save); field; field = strtok_r(NULL, ", ", &save))
		if (take_field(f, field, &at, err, errlen))
			return -EINVAL;
	if (!at || (!f->per_group && (f->first < 0 || !f->stride)))
		return bad(err, errlen, "\"one block per group\", per_group and at, or first, "
			   "len and stride", "less");
	return 0;
}

/* Each pattern of @text, applied to @fs if there is one. */
static int for_each(struct foliofs_fs *fs, const char *text, char *err, size_t errlen)
{
	char *copy = strdup(text), *rest = copy, *one;
	struct free_pattern f;
	int ret = copy ? 0 : -ENOMEM;

	while (!ret && (one = strsep(&rest, ";"))) {
		ret = parse_pattern(one, &f, err, errlen);
		if (!ret && fs && free_pattern_apply(fs, &f))
			ret = bad(err, errlen, "blocks of the file system", text);
	}
	free(copy);
	return ret;
}

int free_space_check(const char *text, char *err, size_t errlen)
{
	return for_each(NULL, text, err, errlen);
}

int free_space_apply(struct foliofs_fs *fs, const char *text, char *err, size_t errlen)
{
	const struct foliofs_geometry *g = foliofs_fs_geometry(fs);
	int ret = foliofs_fs_mark_blocks(fs, g->first_data_block, g->blocks_count, true);

	return ret ? bad(err, errlen, "a file system", text) : for_each(fs, text, err, errlen);
}
