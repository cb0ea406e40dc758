// SPDX-License-Identifier: MIT
/*
 * Expectations on files: the map behind "states" (and behind each crash).
 */
#include "scenario/parse.h"

#include <errno.h>
#include <string.h>

const char *const state_numbers[] = { "size", "disksize", "st_blocks", "delayed", "ino", "nlink",
				      "max_order",
				      /* of the tree */
				      "depth", "index_blocks", "leaf_blocks", "extents",
				      "unwritten", NULL };

static int add_number(struct parser *p, const struct node *n, unsigned int which,
		      struct expect_state *st)
{
	st->number[st->nr_numbers].name = state_numbers[which];
	st->number[st->nr_numbers].at = n;
	return parse_want(p, n, &st->number[st->nr_numbers++].want);
}

static int parse_tree(struct parser *p, const struct node *n, struct expect_state *st)
{
	const struct node *m;
	unsigned int i;
	int ret;

	if (n->kind != NODE_MAP)
		return node_expected(p->path, n, p->err, "a map of the tree's numbers");
	for (m = n->child; m; m = m->next) {
		for (i = STATE_TREE_FIRST; state_numbers[i]; i++)
			if (!strcmp(state_numbers[i], m->key->text))
				break;
		if (!state_numbers[i])
			return node_expected(p->path, m->key, p->err, "depth, index_blocks, "
					     "leaf_blocks, extents or unwritten");
		ret = add_number(p, m, i, st);
		if (ret)
			return ret;
	}
	return 0;
}

/* [offset, length, source] or [offset, length, source, offset it was written at]. */
static int parse_run(struct parser *p, const struct node *n, struct expect_run *r)
{
	const struct node *off = n->child, *len, *source;
	uint64_t number;
	size_t nr = n->kind == NODE_LIST ? node_count(n) : 0;
	int ret;

	if (nr != 3 && nr != 4)
		return node_expected(p->path, n, p->err, "[offset, length, source]");
	len = off->next;
	source = len->next;
	ret = parse_number(p, off, INT64_MAX, &r->off);
	if (!ret)
		ret = parse_number(p, len, INT64_MAX, &r->len);
	if (!ret && nr == 4) {
		r->moved = true;
		ret = parse_number(p, source->next, INT64_MAX, &r->source_offset);
	}
	if (ret)
		return ret;
	if (!r->len)
		return node_expected(p->path, len, p->err, "a length above 0");
	if (source->kind != NODE_SCALAR)
		return node_expected(p->path, source, p->err, "an operation, zero, hole or stale");
	if (!strcmp(source->text, "zero")) {
		r->kind = FOLIOFS_SOURCE_ZERO;
	} else if (!strcmp(source->text, "hole")) {
		r->kind = FOLIOFS_SOURCE_HOLE;
	} else if (!strcmp(source->text, "stale")) {
		r->kind = FOLIOFS_SOURCE_STALE;
	} else if (!strcmp(source->text, "unknown")) {
		r->kind = FOLIOFS_SOURCE_UNKNOWN;
	} else if (!strcmp(source->text, "old")) {
		r->kind = FOLIOFS_SOURCE_OP;
		r->source = SCENARIO_OLD_DATA;
	} else {
		if (foliofs_parse_size(source->text, &number) || !number || number > UINT32_MAX)
			return node_expected(p->path, source, p->err, "an operation, old, zero, "
					     "hole, stale or unknown");
		r->kind = FOLIOFS_SOURCE_OP;
		r->source = (uint32_t)number;
	}
	return 0;
}

static int parse_content(struct parser *p, const struct node *n, struct expect_state *st)
{
	const struct node *m;
	uint64_t end = 0;
	int ret;

	if (n->kind != NODE_LIST)
		return node_expected(p->path, n, p->err, "a list of [offset, length, source]");
	st->content_at = n;
	st->content = arena_alloc(p->arena, node_count(n) * sizeof(*st->content) + 1);
	if (!st->content)
		return -ENOMEM;
	for (m = n->child; m; m = m->next) {
		struct expect_run *r = &st->content[st->nr_content++];

		ret = parse_run(p, m, r);
		if (ret)
			return ret;
		if (r->off != end)
			return node_error(p->path, m, p->err, "expected a run from %llu on, got "
					  "one from %llu", (unsigned long long)end,
					  (unsigned long long)r->off);
		end = r->off + r->len;
	}
	return 0;
}

static int parse_buffers(struct parser *p, const struct node *n, struct expect_state *st)
{
	const struct node *m;
	const char *text;
	int ret;

	if (n->kind != NODE_MAP || node_count(n) > 8)
		return node_expected(p->path, n, p->err, "a map of up to 8 pages to block states");
	for (m = n->child; m; m = m->next) {
		ret = parse_number(p, m->key, UINT32_MAX, &st->buffers[st->nr_buffers].page);
		if (!ret)
			ret = parse_text(p, m, "the states of the blocks of a folio", &text);
		if (ret)
			return ret;
		st->buffers[st->nr_buffers++].text = m;
	}
	return 0;
}

static int parse_state(struct parser *p, const struct node *n, struct expect_state *st)
{
	const struct node *m;
	const char *text, *key;
	unsigned int i;
	int ret = 0;

	st->at = n;
	st->path = n->key->text;
	if (n->kind == NODE_SCALAR && !strcmp(n->text, "missing")) {
		st->missing = true;
		return 0;
	}
	if (n->kind != NODE_MAP)
		return node_expected(p->path, n, p->err, "missing, or a map of what the file is "
				     "like");
	for (m = n->child; m && !ret; m = m->next) {
		key = m->key->text;
		for (i = 0; i < STATE_TREE_FIRST; i++)
			if (!strcmp(state_numbers[i], key))
				break;
		if (i < STATE_TREE_FIRST) {
			ret = add_number(p, m, i, st);
		} else if (!strcmp(key, "tree")) {
			ret = parse_tree(p, m, st);
		} else if (!strcmp(key, "extents")) {
			st->extents = m;
			ret = parse_text(p, m, "extents (\"W0+8 U8+24\") or none", &text);
		} else if (!strcmp(key, "folios")) {
			st->folios = m;
			ret = parse_text(p, m, "folios (\"0:9 512:9\") or none", &text);
		} else if (!strcmp(key, "content")) {
			ret = parse_content(p, m, st);
		} else if (!strcmp(key, "buffers")) {
			ret = parse_buffers(p, m, st);
		} else {
			ret = node_expected(p->path, m->key, p->err, "size, disksize, st_blocks, "
					    "delayed, ino, nlink, max_order, tree, extents, "
					    "folios, content or buffers");
		}
	}
	return ret;
}

int parse_states(struct parser *p, const struct node *n, struct expect_state **out)
{
	const struct node *m;
	int ret;

	if (n->kind != NODE_MAP)
		return node_expected(p->path, n, p->err, "a map of files");
	for (m = n->child; m; m = m->next) {
		*out = arena_alloc(p->arena, sizeof(**out));
		if (!*out)
			return -ENOMEM;
		ret = parse_state(p, m, *out);
		if (ret)
			return ret;
		out = &(*out)->next;
	}
	return 0;
}
