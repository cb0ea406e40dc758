// SPDX-License-Identifier: MIT
/* What a capture folder says about itself: see capture_dir.h. */
#include "capture_dir.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Value of "KEY: VALUE" without quotes around it. */
static bool key_value(struct piece line, const char *key, struct piece *value)
{
	size_t n = strlen(key);

	if (!piece_starts(line, key) || line.len <= n || line.s[n] != ':')
		return false;
	value->s = line.s + n + 1;
	value->len = line.len - n - 1;
	while (value->len && *value->s == ' ') {
		value->s++;
		value->len--;
	}
	if (value->len >= 2 && *value->s == '"' && value->s[value->len - 1] == '"') {
		value->s++;
		value->len -= 2;
	}
	return true;
}

static void set(char *out, size_t len, struct piece v)
{
	snprintf(out, len, "%.*s", (int)(v.len < len ? v.len : len - 1), v.s);
}

/* "[a, group/b]": the names, without group. */
static void read_recorded(struct capture_dir *c, struct piece list)
{
	size_t from = 0, i, k;

	if (list.len < 2 || *list.s != '[' || list.s[list.len - 1] != ']')
		return;
	list.s++;
	list.len -= 2;
	c->recorded = calloc(list.len / 2 + 2, sizeof(*c->recorded));
	if (!c->recorded)
		abort();
	for (i = 0; i <= list.len; i++) {
		struct piece v;

		if (i < list.len && list.s[i] != ',')
			continue;
		for (k = from; k < i; k++)
			if (list.s[k] == ' ' || list.s[k] == '/' || list.s[k] == '"')
				from = k + (k + 1 < i);
		v = (struct piece){ list.s + from, i - from };
		if (v.len && v.s[v.len - 1] == '"')
			v.len--;
		from = i + 1;
		if (v.len)
			c->recorded[c->nr_recorded++] = piece_dup(v);
	}
}

static int read_meta(struct capture_dir *c, const char *dir)
{
	struct piece line, v;
	struct text t;
	size_t at = 0;
	int ret = text_read_in(dir, "meta.yaml", &t);

	if (ret)
		return ret == -ENOENT ? 0 : ret;
	while (text_line(&t, &at, &line)) {
		if (key_value(line, "kernel", &v))
			set(c->kernel, sizeof(c->kernel), v);
		else if (key_value(line, "desc", &v))
			set(c->desc, sizeof(c->desc), v);
		else if (key_value(line, "mke2fs", &v) || key_value(line, "mkfs", &v))
			set(c->mke2fs, sizeof(c->mke2fs), v);
		else if (key_value(line, "mount", &v))
			set(c->mount, sizeof(c->mount), v);
		else if (key_value(line, "dev", &v))
			set(c->dev, sizeof(c->dev), v);
		else if (key_value(line, "page_size", &v))
			piece_number(v, &c->page_size);
		else if (key_value(line, "block_size", &v))
			piece_number(v, &c->block_size);
		else if (key_value(line, "image_size", &v))
			piece_number(v, &c->image_size);
		else if (key_value(line, "journal_blocks", &v))
			piece_number(v, &c->journal_blocks);
		else if (key_value(line, "max_transaction_blocks", &v))
			piece_number(v, &c->max_transaction_blocks);
		else if (key_value(line, "events", &v))
			read_recorded(c, v);
	}
	text_free(&t);
	return 0;
}

static int read_ops(struct capture_dir *c, const char *dir)
{
	struct piece line, w;
	struct text t;
	size_t at = 0;
	uint64_t n;
	int ret = text_read_in(dir, "ops.txt", &t);

	if (ret)
		return ret == -ENOENT ? 0 : ret;
	while (text_line(&t, &at, &line)) {
		if (!piece_word(&line, &w) || !piece_number(w, &n) || n > 100000000)
			continue;
		if (n >= c->nr_ops) {
			size_t room = n + n / 2 + 64;

			c->ops = realloc(c->ops, room * sizeof(*c->ops));
			if (!c->ops)
				abort();
			memset(c->ops + c->nr_ops, 0, (room - c->nr_ops) * sizeof(*c->ops));
			c->nr_ops = room;
		}
		if (line.len && *line.s == ' ') {
			line.s++;
			line.len--;
		}
		free(c->ops[n]);
		c->ops[n] = piece_dup(line);
	}
	text_free(&t);
	return 0;
}

static void read_skip(struct capture_dir *c, const char *dir)
{
	struct piece line, v;
	struct text t;
	size_t at = 0;

	snprintf(c->skip_files, sizeof(c->skip_files), "f g");
	if (text_read_in(dir, "spec.txt", &t))
		return;
	while (text_line(&t, &at, &line)) {
		const char *hash = memchr(line.s, '#', line.len);

		if (hash)
			line.len = (size_t)(hash - line.s);
		if (key_value(line, "skip_files", &v))
			set(c->skip_files, sizeof(c->skip_files), v);
	}
	text_free(&t);
}

/* "NAME: LEVEL ..." in the folder above. */
static void read_level(struct capture_dir *c, const char *dir)
{
	char path[PATH_MAX];
	struct piece line, v, w;
	struct text t;
	size_t at = 0;

	snprintf(c->level, sizeof(c->level), "same");
	if ((size_t)snprintf(path, sizeof(path), "%s/..", dir) >= sizeof(path) ||
	    text_read_in(path, "DETERMINISM.txt", &t))
		return;
	while (text_line(&t, &at, &line)) {
		if (key_value(line, c->name, &v) && piece_word(&v, &w)) {
			set(c->level, sizeof(c->level), w);
			break;
		}
	}
	text_free(&t);
}

static void set_name(struct capture_dir *c, const char *dir)
{
	char real[PATH_MAX];
	const char *s = realpath(dir, real) ? real : dir;
	const char *slash = strrchr(s, '/');

	snprintf(c->name, sizeof(c->name), "%.*s", (int)sizeof(c->name) - 1, slash ? slash + 1 : s);
}

int capture_dir_read(struct capture_dir *c, const char *dir)
{
	int ret;

	memset(c, 0, sizeof(*c));
	set_name(c, dir);
	ret = read_meta(c, dir);
	if (!ret)
		ret = read_ops(c, dir);
	if (ret) {
		capture_dir_free(c);
		return ret;
	}
	read_skip(c, dir);
	read_level(c, dir);
	return 0;
}

bool capture_dir_recorded(const struct capture_dir *c, const char *event)
{
	size_t i;

	if (!c->recorded)
		return true;
	for (i = 0; i < c->nr_recorded; i++)
		if (!strcmp(c->recorded[i], event))
			return true;
	return false;
}

const char *capture_dir_op(const struct capture_dir *c, uint32_t op)
{
	return op < c->nr_ops && c->ops[op] ? c->ops[op] : "";
}

void capture_dir_free(struct capture_dir *c)
{
	size_t i;

	for (i = 0; i < c->nr_recorded; i++)
		free(c->recorded[i]);
	free(c->recorded);
	for (i = 0; i < c->nr_ops; i++)
		free(c->ops[i]);
	free(c->ops);
	memset(c, 0, sizeof(*c));
}
