// SPDX-License-Identifier: MIT
/*
 * YAML to nodes, by events of libyaml: the marks of the events are what error
 * messages name as line and column.
 */
#include "scenario/tree.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define TREE_DEPTH 32

struct builder {
	yaml_parser_t parser;
	const char *path;
	struct place_error *err;
};

static int fail(struct builder *b, yaml_mark_t at, const char *expected, const char *got)
{
	snprintf(b->err->text, sizeof(b->err->text), "%s:%zu:%zu: expected %s, got %s", b->path,
		 at.line + 1, at.column + 1, expected, got);
	return -EINVAL;
}

static int next_event(struct builder *b, yaml_event_t *ev)
{
	const yaml_parser_t *p = &b->parser;

	if (yaml_parser_parse(&b->parser, ev))
		return 0;
	snprintf(b->err->text, sizeof(b->err->text), "%s:%zu:%zu: expected YAML, got an error: %s",
		 b->path, p->problem_mark.line + 1, p->problem_mark.column + 1,
		 p->problem ? p->problem : "out of memory");
	return -EINVAL;
}

static struct node *new_node(enum node_kind kind, yaml_mark_t at)
{
	struct node *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->kind = kind;
	n->line = (unsigned int)at.line + 1;
	n->col = (unsigned int)at.column + 1;
	return n;
}

static int scalar(struct builder *b, yaml_event_t *ev, struct node **out)
{
	const char *value = (const char *)ev->data.scalar.value;
	struct node *n;

	if (ev->data.scalar.anchor || ev->data.scalar.tag)
		return fail(b, ev->start_mark, "a plain value", "an anchor or a tag");
	if (strlen(value) != ev->data.scalar.length)
		return fail(b, ev->start_mark, "text", "a NUL byte");
	n = new_node(NODE_SCALAR, ev->start_mark);
	if (!n)
		return -ENOMEM;
	n->quoted = ev->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	n->text = strdup(value);
	if (!n->text) {
		free(n);
		return -ENOMEM;
	}
	*out = n;
	return 0;
}

static int build(struct builder *b, yaml_event_t *ev, unsigned int depth, struct node **out);

/* The members of a list or a map, up to its end event. */
static int members(struct builder *b, struct node *parent, yaml_event_type_t end,
		   unsigned int depth)
{
	struct node **tail = &parent->child;
	struct node *key, *value;
	yaml_event_t ev;
	int ret;

	for (;;) {
		key = NULL;
		ret = next_event(b, &ev);
		if (ret)
			return ret;
		if (ev.type == end) {
			yaml_event_delete(&ev);
			return 0;
		}
		if (parent->kind == NODE_MAP) {
			if (ev.type != YAML_SCALAR_EVENT)
				ret = fail(b, ev.start_mark, "a key", "a list or a map");
			else
				ret = scalar(b, &ev, &key);
			yaml_event_delete(&ev);
			if (ret)
				return ret;
			for (value = parent->child; value; value = value->next)
				if (!strcmp(value->key->text, key->text))
					break;
			if (value) {
				ret = node_error(b->path, key, b->err,
						 "expected each key once, got \"%s\" again (first "
						 "in line %u)", key->text, value->key->line);
				node_free(key);
				return ret;
			}
			ret = next_event(b, &ev);
			if (ret) {
				node_free(key);
				return ret;
			}
		}
		ret = build(b, &ev, depth, &value);
		yaml_event_delete(&ev);
		if (ret) {
			node_free(key);
			return ret;
		}
		value->key = key;
		*tail = value;
		tail = &value->next;
	}
}

static int build(struct builder *b, yaml_event_t *ev, unsigned int depth, struct node **out)
{
	bool map = ev->type == YAML_MAPPING_START_EVENT;
	struct node *n;
	int ret;

	switch (ev->type) {
	case YAML_SCALAR_EVENT:
		return scalar(b, ev, out);
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT:
		break;
	case YAML_ALIAS_EVENT:
		return fail(b, ev->start_mark, "a value", "an alias");
	default:
		return fail(b, ev->start_mark, "a value", "the end of the document");
	}
	if (map ? ev->data.mapping_start.anchor || ev->data.mapping_start.tag :
		  ev->data.sequence_start.anchor || ev->data.sequence_start.tag)
		return fail(b, ev->start_mark, "a plain value", "an anchor or a tag");
	if (depth == TREE_DEPTH)
		return fail(b, ev->start_mark, "at most 32 levels", "one more");
	n = new_node(map ? NODE_MAP : NODE_LIST, ev->start_mark);
	if (!n)
		return -ENOMEM;
	ret = members(b, n, map ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT, depth + 1);
	if (ret)
		node_free(n);
	else
		*out = n;
	return ret;
}

static int document(struct builder *b, struct node **root)
{
	static const yaml_event_type_t before[] = { YAML_STREAM_START_EVENT,
						    YAML_DOCUMENT_START_EVENT };
	static const yaml_event_type_t behind[] = { YAML_DOCUMENT_END_EVENT,
						    YAML_STREAM_END_EVENT };
	yaml_event_t ev;
	size_t i;
	int ret;

	for (i = 0; i < 2; i++) {
		ret = next_event(b, &ev);
		if (ret)
			return ret;
		if (ev.type != before[i])
			ret = fail(b, ev.start_mark, "a scenario", "an empty file");
		yaml_event_delete(&ev);
		if (ret)
			return ret;
	}
	ret = next_event(b, &ev);
	if (ret)
		return ret;
	ret = build(b, &ev, 0, root);
	yaml_event_delete(&ev);
	for (i = 0; i < 2 && !ret; i++) {
		ret = next_event(b, &ev);
		if (ret)
			break;
		if (ev.type != behind[i])
			ret = fail(b, ev.start_mark, "one document", "another one");
		yaml_event_delete(&ev);
	}
	if (ret) {
		node_free(*root);
		*root = NULL;
	}
	return ret;
}

int node_parse_text(const char *path, const char *text, size_t len, struct node **root,
		    struct place_error *err)
{
	struct builder b = { .path = path, .err = err };
	int ret;

	*root = NULL;
	err->text[0] = 0;
	if (!yaml_parser_initialize(&b.parser))
		return -ENOMEM;
	yaml_parser_set_input_string(&b.parser, (const unsigned char *)text, len);
	ret = document(&b, root);
	yaml_parser_delete(&b.parser);
	if (ret == -ENOMEM)
		snprintf(err->text, sizeof(err->text), "%s: out of memory", path);
	return ret;
}

int node_parse_file(const char *path, struct node **root, struct place_error *err)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "rb") : stdin;
	char *text = NULL, *more;
	size_t len = 0, size = 0;
	int ret = 0;

	*root = NULL;
	if (!f) {
		ret = -errno;
		snprintf(err->text, sizeof(err->text), "%s: %s", path, strerror(errno));
		return ret;
	}
	do {
		size = size ? 2 * size : 16384;
		more = realloc(text, size);
		if (!more) {
			ret = -ENOMEM;
			break;
		}
		text = more;
		len += fread(text + len, 1, size - len, f);
	} while (len == size);
	if (!ret && ferror(f))
		ret = -EIO;
	if (ret)
		snprintf(err->text, sizeof(err->text), "%s: %s", path, strerror(-ret));
	else
		ret = node_parse_text(path, text, len, root, err);
	free(text);
	if (f != stdin)
		fclose(f);
	return ret;
}

void node_free(struct node *n)
{
	struct node *next;

	for (; n; n = next) {
		next = n->next;
		node_free(n->child);
		node_free(n->key);
		free(n->text);
		free(n);
	}
}

const char *node_show(const struct node *n, char *buf, size_t len)
{
	if (n->kind == NODE_LIST)
		return "a list";
	if (n->kind == NODE_MAP)
		return "a map";
	if (!*n->text && !n->quoted)
		return "nothing";
	snprintf(buf, len, "\"%s\"", n->text);
	return buf;
}

int node_expected(const char *path, const struct node *n, struct place_error *err,
		  const char *expected, ...)
{
	char shown[120], text[300];
	va_list args;

	va_start(args, expected);
	vsnprintf(text, sizeof(text), expected, args);
	va_end(args);
	return node_error(path, n, err, "expected %s, got %s", text,
			  node_show(n, shown, sizeof(shown)));
}

int node_error(const char *path, const struct node *n, struct place_error *err, const char *format,
	       ...)
{
	va_list args;
	int len;

	len = snprintf(err->text, sizeof(err->text), "%s:%u:%u: ", path, n->line, n->col);
	if (len < 0 || (size_t)len >= sizeof(err->text))
		return -EINVAL;
	va_start(args, format);
	vsnprintf(err->text + len, sizeof(err->text) - (size_t)len, format, args);
	va_end(args);
	return -EINVAL;
}
