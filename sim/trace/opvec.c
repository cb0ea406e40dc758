// SPDX-License-Identifier: MIT
/*
 * List of operations with their strings, see opvec.h.  Strings are kept in blocks that are freed
 * together: a trace has millions of them and drops all at once.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/opvec.h"

#define OPVEC_BLOCK 65536u

struct opvec_block {
	struct opvec_block *next;
	size_t used, size;
	char data[];
};

static void *check(void *p)
{
	if (!p) {
		fputs("foliosim: out of memory\n", stderr);
		exit(4);
	}
	return p;
}

void *trace_alloc(size_t size)
{
	return check(calloc(1, size ? size : 1));
}

void *trace_realloc(void *p, size_t nr, size_t size)
{
	return check(reallocarray(p, nr ? nr : 1, size));
}

char *trace_strdup(const char *s)
{
	return check(strdup(s));
}

void opvec_init(struct opvec *v)
{
	memset(v, 0, sizeof(*v));
}

void opvec_free(struct opvec *v)
{
	struct opvec_block *b, *next;

	for (b = v->strings; b; b = next) {
		next = b->next;
		free(b);
	}
	free(v->ops);
	free(v->texts);
	free(v->lines);
	memset(v, 0, sizeof(*v));
}

const char *opvec_strndup(struct opvec *v, const char *s, size_t len)
{
	struct opvec_block *b = v->strings;
	char *to;

	if (!b || b->size - b->used < len + 1) {
		size_t size = len + 1 > OPVEC_BLOCK ? len + 1 : OPVEC_BLOCK;

		b = check(malloc(sizeof(*b) + size));
		b->next = v->strings;
		b->used = 0;
		b->size = size;
		v->strings = b;
	}
	to = b->data + b->used;
	memcpy(to, s, len);
	to[len] = '\0';
	b->used += len + 1;
	return to;
}

const char *opvec_strdup(struct opvec *v, const char *s)
{
	return opvec_strndup(v, s, strlen(s));
}

struct foliofs_op *opvec_add(struct opvec *v, enum foliofs_op_kind kind, uint32_t id,
			     const char *text, uint32_t line)
{
	struct foliofs_op *op;

	if (v->nr == v->max) {
		v->max = v->max ? 2 * v->max : 64;
		v->ops = trace_realloc(v->ops, v->max, sizeof(*v->ops));
		v->texts = trace_realloc(v->texts, v->max, sizeof(*v->texts));
		v->lines = trace_realloc(v->lines, v->max, sizeof(*v->lines));
	}
	op = &v->ops[v->nr];
	*op = (struct foliofs_op){ .kind = kind, .id = id, .file = -1, .file2 = -1 };
	v->texts[v->nr] = text ? opvec_strdup(v, text) : NULL;
	v->lines[v->nr++] = line;
	return op;
}

int trace_fail(const struct trace_where *w, const char *fmt, ...)
{
	int n = 0;
	va_list ap;

	if (!w->err || !w->errlen)
		return -EINVAL;
	if (w->line && w->col)
		n = snprintf(w->err, w->errlen, "%s:%u:%u: ", w->file, w->line, w->col);
	else if (w->line)
		n = snprintf(w->err, w->errlen, "%s:%u: ", w->file, w->line);
	else
		n = snprintf(w->err, w->errlen, "%s: ", w->file);
	if (n < 0 || (size_t)n >= w->errlen)
		return -EINVAL;
	va_start(ap, fmt);
	vsnprintf(w->err + n, w->errlen - (size_t)n, fmt, ap);
	va_end(ap);
	return -EINVAL;
}
