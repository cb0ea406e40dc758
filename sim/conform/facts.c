// SPDX-License-Identifier: MIT
/* Facts about files: see facts.h.  Formats: those of the captures. */
#include "facts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FACT_MAX 1024

static void add(struct facts *f, struct intern *table, enum conform_family_id family,
		const char *text)
{
	if (f->nr == f->room) {
		f->room = f->room ? f->room * 2 : 256;
		f->v = realloc(f->v, f->room * sizeof(*f->v));
		if (!f->v)
			abort();
	}
	f->v[f->nr++] = (struct fact){
		.family = family,
		.id = intern(table, text, strlen(text)),
		.text = piece_dup((struct piece){ text, strlen(text) }),
	};
}

/* Number of blanks that @line begins with. */
static size_t indent(struct piece line)
{
	size_t n = 0;

	while (n < line.len && line.s[n] == ' ')
		n++;
	return n;
}

static bool one_of(struct piece p, const char *const *list)
{
	for (; *list; list++)
		if (piece_is(p, *list))
			return true;
	return false;
}

/* The values of "[a, b, c]" behind @head, separated by blanks; @skip: value left out, or -1. */
static void list_text(char *out, const char *head, struct piece list, int skip)
{
	size_t pos = (size_t)snprintf(out, FACT_MAX, "%s", head);
	size_t from = 0, i;
	int n = 0;

	for (i = 0; i <= list.len; i++) {
		struct piece v;

		if (i < list.len && list.s[i] != ',')
			continue;
		v = (struct piece){ list.s + from, i - from };
		from = i + 1;
		while (v.len && *v.s == ' ') {
			v.s++;
			v.len--;
		}
		if (n++ == skip)
			continue;
		if (pos + v.len + 2 < FACT_MAX) {
			out[pos++] = ' ';
			memcpy(out + pos, v.s, v.len);
			pos += v.len;
		}
	}
	out[pos] = 0;
}

struct reader {
	struct facts *f;
	struct intern *table;
	char file[256], section[32];
};

static void read_item(struct reader *r, struct piece list)
{
	char text[FACT_MAX], head[320];

	snprintf(head, sizeof(head), "%s %s", r->file, r->section);
	if (!strcmp(r->section, "content")) {
		list_text(text, r->file, list, -1);
		add(r->f, r->table, CONFORM_CONTENT, text);
	} else if (!strcmp(r->section, "fiemap") || !strcmp(r->section, "fiemap_synced")) {
		list_text(text, head, list, 1);
		add(r->f, r->table, CONFORM_EXTENT, text);
		list_text(text, head, list, -1);
		add(r->f, r->table, CONFORM_PHYSICAL, text);
	}
}

static void read_key(struct reader *r, struct piece key, struct piece value, size_t depth)
{
	static const char *const sizes[] = { "size", "st_blocks", "st_blocks_synced", NULL };
	static const char *const tree[] = { "kind",	   "depth",   "index_blocks",
					    "leaf_blocks", "extents", "unwritten",    NULL };
	char text[FACT_MAX];

	snprintf(text, sizeof(text), "%s %.*s %.*s", r->file, (int)key.len, key.s, (int)value.len,
		 value.s);
	if (depth == 4) {
		snprintf(r->section, sizeof(r->section), "%.*s", (int)key.len, key.s);
		if (one_of(key, sizes) && value.len)
			add(r->f, r->table, CONFORM_STATE, text);
	} else if (!strcmp(r->section, "tree") && one_of(key, tree)) {
		add(r->f, r->table, CONFORM_TREE, text);
	}
}

static void read_line(struct reader *r, struct piece line)
{
	size_t depth = indent(line);
	const char *colon;
	struct piece key, value;

	if (depth == 2 && line.len > 3 && line.s[line.len - 1] == ':') {
		snprintf(r->file, sizeof(r->file), "%.*s", (int)(line.len - 3), line.s + 2);
		r->section[0] = 0;
		return;
	}
	if (!r->file[0] || (depth != 4 && depth != 6))
		return;
	line.s += depth;
	line.len -= depth;
	if (depth == 6 && piece_starts(line, "- [") && line.s[line.len - 1] == ']') {
		read_item(r, (struct piece){ line.s + 3, line.len - 4 });
		return;
	}
	colon = memchr(line.s, ':', line.len);
	if (!colon)
		return;
	key = (struct piece){ line.s, (size_t)(colon - line.s) };
	value = (struct piece){ colon + 1, line.len - key.len - 1 };
	while (value.len && *value.s == ' ') {
		value.s++;
		value.len--;
	}
	read_key(r, key, value, depth);
}

int facts_read(struct facts *f, struct intern *table, const char *dir, const char *name)
{
	struct reader r = { .f = f, .table = table };
	struct piece line;
	struct text t;
	size_t at = 0;
	int ret = text_read_in(dir, name, &t);

	memset(f, 0, sizeof(*f));
	if (ret)
		return ret == -ENOENT ? 0 : ret;
	f->present = true;
	while (text_line(&t, &at, &line))
		read_line(&r, line);
	text_free(&t);
	return 0;
}

/* "index:order:flags*count": one fact for each of the folios. */
static void layout_folios(struct facts *f, struct intern *table, const char *head, struct piece w)
{
	uint64_t index, order, count = 1, k;
	char word[64], text[FACT_MAX];
	const char *star;
	int used = 0;

	if (w.len >= sizeof(word))
		return;
	memcpy(word, w.s, w.len);
	word[w.len] = 0;
	if (sscanf(word, "%lu:%lu:%n", &index, &order, &used) < 2 || !used || order > 63)
		return;
	star = strchr(word, '*');
	if (star && sscanf(star + 1, "%lu", &count) != 1)
		return;
	for (k = 0; k < count; k++) {
		snprintf(text, sizeof(text), "%s %lu:%lu", head, index + (k << order), order);
		add(f, table, CONFORM_LAYOUT, text);
	}
}

int facts_read_layout(struct facts *f, struct intern *table, const char *dir)
{
	struct piece line, op, file, w;
	char head[300], text[FACT_MAX];
	struct text t;
	size_t at = 0;
	int ret = text_read_in(dir, "layout.txt", &t);

	memset(f, 0, sizeof(*f));
	if (ret)
		return ret == -ENOENT ? 0 : ret;
	f->present = true;
	while (text_line(&t, &at, &line)) {
		if (!piece_word(&line, &op) || piece_is(op, "#") || !piece_word(&line, &file))
			continue;
		snprintf(head, sizeof(head), "%.*s %.*s", (int)op.len, op.s, (int)file.len, file.s);
		snprintf(text, sizeof(text), "%s changed", head);
		add(f, table, CONFORM_LAYOUT, text);
		while (piece_word(&line, &w))
			layout_folios(f, table, head, w);
	}
	text_free(&t);
	return 0;
}

int facts_read_results(struct facts *f, struct intern *table, const char *dir)
{
	struct piece line, op;
	char text[FACT_MAX];
	struct text t;
	size_t at = 0;
	int ret = text_read_in(dir, "results.txt", &t);

	memset(f, 0, sizeof(*f));
	if (ret)
		return ret == -ENOENT ? 0 : ret;
	f->present = true;
	while (text_line(&t, &at, &line)) {
		struct piece rest = line;

		if (!piece_word(&rest, &op) || piece_is(op, "#"))
			continue;
		snprintf(text, sizeof(text), "%.*s", (int)line.len, line.s);
		add(f, table, CONFORM_RESULTS, text);
	}
	text_free(&t);
	return 0;
}

void facts_free(struct facts *f)
{
	size_t i;

	for (i = 0; i < f->nr; i++)
		free(f->v[i].text);
	free(f->v);
	memset(f, 0, sizeof(*f));
}
