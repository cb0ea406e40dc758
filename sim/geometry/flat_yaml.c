// SPDX-License-Identifier: MIT
/* A YAML mapping of two levels as a list of entries, by libyaml's events.  See flat_yaml.h. */
#include "flat_yaml.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

struct reader {
	const char *path;
	yaml_parser_t parser;
	yaml_event_t event;
	struct flat_yaml *y;
	char *err;
	size_t errlen;
};

static int refuse(const struct reader *r, yaml_mark_t at, const char *what, const char *got)
{
	snprintf(r->err, r->errlen, "%s:%zu:%zu: %s%s%s%s", r->path, at.line + 1, at.column + 1,
		 what, got ? ", got '" : "", got ? got : "", got ? "'" : "");
	return -EINVAL;
}

/* The next event into r->event. */
static int next(struct reader *r)
{
	yaml_event_delete(&r->event);
	if (yaml_parser_parse(&r->parser, &r->event))
		return 0;
	memset(&r->event, 0, sizeof(r->event));
	return refuse(r, r->parser.problem_mark,
		      r->parser.problem ? r->parser.problem : "no YAML", NULL);
}

static const char *scalar(const struct reader *r)
{
	return (const char *)r->event.data.scalar.value;
}

/* Add an entry "prefix" + "dot" + "name" with the present scalar. */
static int add(struct reader *r, const char *prefix, const char *dot, const char *name)
{
	struct flat_entry *e;
	size_t len = strlen(prefix) + strlen(dot) + strlen(name) + 1;
	char *key = malloc(len);

	if (!key)
		return -ENOMEM;
	snprintf(key, len, "%s%s%s", prefix, dot, name);
	if (strcmp(dot, "[]") && flat_yaml_find(r->y, key)) {
		refuse(r, r->event.start_mark, "key given twice", key);
		free(key);
		return -EINVAL;
	}
	e = realloc(r->y->entries, (r->y->count + 1) * sizeof(*e));
	if (e)
		r->y->entries = e;
	else
		goto nomem;
	e += r->y->count;
	e->key = key;
	e->value = strdup(scalar(r));
	if (!e->value)
		goto nomem;
	e->line = r->event.start_mark.line + 1;
	e->column = r->event.start_mark.column + 1;
	r->y->count++;
	return 0;
nomem:
	free(key);
	return -ENOMEM;
}

/* A mapping: keys and values up to its end; nested ones only at the top. */
static int read_mapping(struct reader *r, const char *prefix, const char *dot);

static int read_list(struct reader *r, const char *key)
{
	int ret;

	while (!(ret = next(r)) && r->event.type != YAML_SEQUENCE_END_EVENT) {
		if (r->event.type != YAML_SCALAR_EVENT)
			return refuse(r, r->event.start_mark, "expected a list of words", NULL);
		ret = add(r, key, "[]", "");
		if (ret)
			break;
	}
	return ret;
}

static int read_value(struct reader *r, const char *prefix, const char *dot, const char *key)
{
	int ret = next(r);

	if (ret)
		return ret;
	if (r->event.type == YAML_SCALAR_EVENT)
		return add(r, prefix, dot, key);
	if (!*prefix && r->event.type == YAML_SEQUENCE_START_EVENT)
		return read_list(r, key);
	if (!*prefix && r->event.type == YAML_MAPPING_START_EVENT)
		return read_mapping(r, key, ".");
	return refuse(r, r->event.start_mark, "expected a word or a number for key", key);
}

static int read_mapping(struct reader *r, const char *prefix, const char *dot)
{
	int ret;

	while (!(ret = next(r)) && r->event.type != YAML_MAPPING_END_EVENT) {
		char *key;

		if (r->event.type != YAML_SCALAR_EVENT)
			return refuse(r, r->event.start_mark, "expected a key", NULL);
		key = strdup(scalar(r));
		if (!key)
			return -ENOMEM;
		ret = read_value(r, prefix, dot, key);
		free(key);
		if (ret)
			break;
	}
	return ret;
}

static int read_document(struct reader *r)
{
	int ret;

	do { /* stream and document start */
		ret = next(r);
	} while (!ret && (r->event.type == YAML_STREAM_START_EVENT ||
			  r->event.type == YAML_DOCUMENT_START_EVENT));
	if (ret)
		return ret;
	if (r->event.type != YAML_MAPPING_START_EVENT)
		return refuse(r, r->event.start_mark, "expected a mapping", NULL);
	return read_mapping(r, "", "");
}

int flat_yaml_read(const char *path, struct flat_yaml *y, char *err, size_t errlen)
{
	struct reader r = { .path = path, .y = y, .err = err, .errlen = errlen };
	FILE *in = strcmp(path, "-") ? fopen(path, "rb") : stdin;
	int ret;

	*y = (struct flat_yaml){ .path = path, .err = err, .errlen = errlen };
	if (!in) {
		ret = -errno;
		snprintf(err, errlen, "%s: %s", path, strerror(errno));
		return ret;
	}
	if (!yaml_parser_initialize(&r.parser)) {
		ret = -ENOMEM;
	} else {
		yaml_parser_set_input_file(&r.parser, in);
		ret = read_document(&r);
		yaml_event_delete(&r.event);
		yaml_parser_delete(&r.parser);
	}
	if (in != stdin)
		fclose(in);
	if (ret == -ENOMEM)
		snprintf(err, errlen, "%s: no memory", path);
	return ret;
}

void flat_yaml_free(struct flat_yaml *y)
{
	for (size_t i = 0; i < y->count; i++) {
		free(y->entries[i].key);
		free(y->entries[i].value);
	}
	free(y->entries);
	*y = (struct flat_yaml){ 0 };
}

const struct flat_entry *flat_yaml_find(const struct flat_yaml *y, const char *key)
{
	for (size_t i = 0; i < y->count; i++)
		if (!strcmp(y->entries[i].key, key))
			return &y->entries[i];
	return NULL;
}

int flat_yaml_refuse(const struct flat_yaml *y, const struct flat_entry *e, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(y->err, y->errlen, "%s:%zu:%zu: %s", y->path, e ? e->line : 1, e ? e->column : 1,
		 text);
	return -EINVAL;
}
