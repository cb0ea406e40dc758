// SPDX-License-Identifier: MIT
/*
 * Values of scenarios: texts, numbers, what a number must be, events to match.
 */
#include "scenario/parse.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arena {
	struct arena *next;
	max_align_t data[];
};

struct arena *arena_new(void)
{
	return calloc(1, sizeof(struct arena));
}

void arena_free(struct arena *a)
{
	struct arena *next;

	for (; a; a = next) {
		next = a->next;
		free(a);
	}
}

void *arena_alloc(struct arena *a, size_t size)
{
	struct arena *chunk = calloc(1, sizeof(*chunk) + size);

	if (!chunk)
		return NULL;
	chunk->next = a->next;
	a->next = chunk;
	return chunk->data;
}

size_t node_count(const struct node *n)
{
	const struct node *m;
	size_t nr = 0;

	for (m = n->child; m; m = m->next)
		nr++;
	return nr;
}

int parse_text(struct parser *p, const struct node *n, const char *what, const char **out)
{
	if (n->kind != NODE_SCALAR || !*n->text)
		return node_expected(p->path, n, p->err, "%s", what);
	*out = n->text;
	return 0;
}

int parse_bool(struct parser *p, const struct node *n, bool *out)
{
	if (n->kind == NODE_SCALAR) {
		if (!strcmp(n->text, "yes") || !strcmp(n->text, "true")) {
			*out = true;
			return 0;
		}
		if (!strcmp(n->text, "no") || !strcmp(n->text, "false")) {
			*out = false;
			return 0;
		}
	}
	return node_expected(p->path, n, p->err, "yes or no");
}

int parse_number(struct parser *p, const struct node *n, uint64_t max, uint64_t *out)
{
	if (n->kind != NODE_SCALAR || foliofs_parse_size(n->text, out))
		return node_expected(p->path, n, p->err, "a number");
	if (*out > max)
		return node_expected(p->path, n, p->err, "a number up to %" PRIu64, max);
	return 0;
}

/* One end of a range: "-11", "0x200000", "2M". */
static int signed_number(const char *text, size_t len, int64_t *out)
{
	char buf[40];
	uint64_t value;
	bool minus = len && *text == '-';

	if (len - minus == 0 || len >= sizeof(buf))
		return -EINVAL;
	memcpy(buf, text + minus, len - minus);
	buf[len - minus] = 0;
	if (foliofs_parse_size(buf, &value) || value > INT64_MAX)
		return -EINVAL;
	*out = minus ? -(int64_t)value : (int64_t)value;
	return 0;
}

int parse_want_text(struct parser *p, const struct node *n, const char *text, struct want *w)
{
	const char *dots = strstr(text, "..");
	size_t len = strlen(text);

	w->text = text;
	if (!strcmp(text, "*")) {
		w->kind = WANT_ANY;
		return 0;
	}
	if (!len)
		return node_error(p->path, n, p->err, "expected a value, got nothing");
	if (!dots && !isdigit((unsigned char)*text) &&
	    !(*text == '-' && isdigit((unsigned char)text[1]))) {
		w->kind = WANT_TEXT;
		return 0;
	}
	w->kind = WANT_RANGE;
	if (!dots) {
		if (signed_number(text, len, &w->lo))
			goto bad;
		w->hi = w->lo;
		return 0;
	}
	w->lo = INT64_MIN;
	w->hi = INT64_MAX;
	if (dots > text && signed_number(text, (size_t)(dots - text), &w->lo))
		goto bad;
	if (dots[2] && signed_number(dots + 2, strlen(dots + 2), &w->hi))
		goto bad;
	if (w->lo > w->hi || len == 2)
		goto bad;
	return 0;
bad:
	return node_error(p->path, n, p->err,
			  "expected a number, a range FIRST..LAST or *, got \"%s\"", text);
}

int parse_want(struct parser *p, const struct node *n, struct want *w)
{
	if (n->kind != NODE_SCALAR)
		return node_expected(p->path, n, p->err, "a number, a range FIRST..LAST or *");
	return parse_want_text(p, n, n->text, w);
}

int parse_want_list(struct parser *p, const struct node *n, struct want_list *l)
{
	const struct node *m;
	int ret;

	if (n->kind != NODE_LIST)
		return node_expected(p->path, n, p->err, "a list of numbers");
	l->at = n;
	l->want = arena_alloc(p->arena, node_count(n) * sizeof(*l->want) + 1);
	if (!l->want)
		return -ENOMEM;
	for (m = n->child; m; m = m->next) {
		ret = parse_want(p, m, &l->want[l->nr++]);
		if (ret)
			return ret;
	}
	return 0;
}

bool want_holds(const struct want *w, int64_t value)
{
	return w->kind == WANT_ANY || (w->kind == WANT_RANGE && w->lo <= value && value <= w->hi);
}

const char *want_text(const struct want *w, char *buf, size_t len)
{
	if (w->kind == WANT_RANGE && w->lo == w->hi)
		snprintf(buf, len, "%" PRId64, w->lo);
	else
		snprintf(buf, len, "%s", w->text);
	return buf;
}

int parse_list(struct parser *p, const struct node *n, const struct node ***out, size_t *nr)
{
	const struct node *m = n->kind == NODE_LIST ? n->child : n;
	size_t max = n->kind == NODE_LIST ? node_count(n) : 1;

	*out = arena_alloc(p->arena, max * sizeof(**out) + 1);
	if (!*out)
		return -ENOMEM;
	for (*nr = 0; *nr < max; m = m->next) {
		if (m->kind != NODE_SCALAR || !*m->text)
			return node_expected(p->path, m, p->err, "a name or a list of names");
		(*out)[(*nr)++] = m;
	}
	return 0;
}

/* Numbers of operations at a stop. */
static bool is_at(const struct scenario *s, uint64_t first, uint64_t last)
{
	const struct scenario_at *x;

	for (x = s->at; x; x = x->next)
		if (last <= x->ops.last_id)
			return first >= SCENARIO_FIRST_AT;
	return false;
}

int parse_ops_range(struct parser *p, const struct node *n, struct op_range *r)
{
	const struct node *last = n;
	uint64_t a, b;
	int ret;

	if (n->kind == NODE_LIST) {
		if (node_count(n) != 2)
			return node_expected(p->path, n, p->err, "the first and the last operation");
		last = n->child->next;
		n = n->child;
	}
	ret = parse_number(p, n, UINT32_MAX, &a);
	if (!ret)
		ret = parse_number(p, last, UINT32_MAX, &b);
	if (ret)
		return ret;
	if (!a || a > b || (b > p->s->ops.last_id && !is_at(p->s, a, b)))
		return node_expected(p->path, last, p->err, "an operation from 1 to %u",
				     p->s->ops.last_id);
	r->first = (uint32_t)a;
	r->last = (uint32_t)b;
	return 0;
}

static int thread_find(const char *name)
{
	static const char *const names[] = { [FOLIOFS_THREAD_TASK] = "task",
					     [FOLIOFS_THREAD_WORKER] = "worker",
					     [FOLIOFS_THREAD_JOURNAL] = "journal",
					     [FOLIOFS_THREAD_FLUSHER] = "flusher" };
	int i;

	for (i = 0; i < 4; i++)
		if (!strcmp(names[i], name))
			return i;
	return -ENOENT;
}

/* One word "field=value" of an event. */
static int event_field(struct parser *p, const struct node *n, char *word, struct event_match *m)
{
	char *value = strchr(word, '=');
	int field;

	if (!value || value == word)
		return node_error(p->path, n, p->err, "expected FIELD=VALUE, got \"%s\"", word);
	*value++ = 0;
	if (!strcmp(word, "thread")) {
		m->thread = thread_find(value);
		if (m->thread < 0)
			return node_error(p->path, n, p->err, "expected thread task, worker, "
					  "journal or flusher, got \"%s\"", value);
		return 0;
	}
	field = foliofs_event_field(m->id, word);
	if (field < 0)
		return node_error(p->path, n, p->err, "expected a field of %s (%s), got \"%s\"",
				  foliofs_event_name(m->id), foliofs_event_fields(m->id), word);
	if (m->nr == FOLIOFS_EVENT_ARGS)
		return node_error(p->path, n, p->err, "expected at most %d fields, got \"%s\"",
				  FOLIOFS_EVENT_ARGS, word);
	m->field[m->nr].field = field;
	return parse_want_text(p, n, value, &m->field[m->nr++].want);
}

int parse_event_match(struct parser *p, const struct node *n, struct event_match *m)
{
	char *copy, *word, *rest;
	int ret;

	ret = parse_text(p, n, "an event", &m->text);
	if (ret)
		return ret;
	m->at = n;
	m->thread = -1;
	copy = arena_alloc(p->arena, strlen(n->text) + 1);
	if (!copy)
		return -ENOMEM;
	strcpy(copy, n->text);
	word = strtok_r(copy, " ", &rest);
	if (!word || foliofs_event_find(word, &m->id))
		return node_error(p->path, n, p->err, "expected the name of an event, got \"%s\"",
				  word ? word : "");
	while ((word = strtok_r(NULL, " ", &rest))) {
		ret = event_field(p, n, word, m);
		if (ret)
			return ret;
	}
	return 0;
}

static const struct {
	const char *name;
	int value;
} errnos[] = {
	{ "EPERM", EPERM }, { "ENOENT", ENOENT }, { "EIO", EIO }, { "ENXIO", ENXIO },
	{ "EBADF", EBADF }, { "EAGAIN", EAGAIN }, { "ENOMEM", ENOMEM }, { "EACCES", EACCES },
	{ "EFAULT", EFAULT }, { "EBUSY", EBUSY }, { "EEXIST", EEXIST }, { "EXDEV", EXDEV },
	{ "ENODEV", ENODEV }, { "ENOTDIR", ENOTDIR }, { "EISDIR", EISDIR }, { "EINVAL", EINVAL },
	{ "ENOTTY", ENOTTY }, { "EFBIG", EFBIG }, { "ENOSPC", ENOSPC }, { "ESPIPE", ESPIPE },
	{ "EDEADLK", EDEADLK },
	{ "EROFS", EROFS }, { "EMLINK", EMLINK }, { "ENOSYS", ENOSYS }, { "ENOTEMPTY", ENOTEMPTY },
	{ "ENODATA", ENODATA }, { "EUCLEAN", EUCLEAN }, { "EDQUOT", EDQUOT },
	{ "EOPNOTSUPP", EOPNOTSUPP }, { "ESHUTDOWN", ESHUTDOWN },
};

/* Positive errno of a name, 0: unknown. */
static int errno_find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(errnos) / sizeof(errnos[0]); i++)
		if (!strcmp(errnos[i].name, name))
			return errnos[i].value;
	return 0;
}

const char *errno_text(int positive, char *buf, size_t len)
{
	size_t i;

	for (i = 0; i < sizeof(errnos) / sizeof(errnos[0]); i++)
		if (errnos[i].value == positive)
			return errnos[i].name;
	snprintf(buf, len, "errno %d", positive);
	return buf;
}

int parse_errno(struct parser *p, const struct node *n, int *out)
{
	if (n->kind == NODE_SCALAR) {
		*out = 0;
		if (!strcmp(n->text, "any"))
			return 0;
		*out = errno_find(n->text);
		if (*out)
			return 0;
	}
	return node_expected(p->path, n, p->err, "the name of an error (ENOSPC ...) or any");
}
