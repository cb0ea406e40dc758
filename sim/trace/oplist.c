// SPDX-License-Identifier: MIT
/*
 * Parser of op lists, see oplist.h.  This file keeps the open files, numbers and times, and
 * expands loops; the fields of an operation are read in oplist_fields.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "trace/input.h"
#include "trace/oplist.h"
#include "trace/oplist_fields.h"

#define MS 1000000ull

struct oplist_name {
	char *name;
	int32_t slot;
	bool open; /* as far as the list says */
	bool unlinked; /* since it was opened: the name can be made again */
	UT_hash_handle hh;
};

void oplist_init(struct oplist *l, uint32_t first_id)
{
	memset(l, 0, sizeof(*l));
	opvec_init(&l->v);
	l->next_id = first_id;
	l->step_ns = 12 * MS;
}

void oplist_free(struct oplist *l)
{
	struct oplist_name *n, *tmp;

	HASH_ITER(hh, l->names, n, tmp) {
		HASH_DEL(l->names, n);
		free(n->name);
		free(n);
	}
	opvec_free(&l->v);
}

static struct oplist_name *find_name(const struct oplist *l, const char *name)
{
	struct oplist_name *n;

	HASH_FIND_STR(l->names, name, n);
	return n;
}

static struct oplist_name *add_name(struct oplist *l, const char *name, int32_t slot)
{
	struct oplist_name *n = trace_alloc(sizeof(*n));

	n->name = trace_strdup(name);
	n->slot = slot;
	HASH_ADD_KEYPTR(hh, l->names, n->name, strlen(n->name), n);
	return n;
}

static void call_it(struct oplist *l, struct oplist_name *n, const char *name)
{
	HASH_DEL(l->names, n);
	free(n->name);
	n->name = trace_strdup(name);
	HASH_ADD_KEYPTR(hh, l->names, n->name, strlen(n->name), n);
}

int32_t oplist_slot(const struct oplist *l, const char *name)
{
	const struct oplist_name *n = find_name(l, name);

	return n ? n->slot : -1;
}

/*
 * Slot of the file that is opened under @name.  If the name is open already, the new file gets a
 * slot of its own and the name, and *@old is to be closed; but not by an exclusive open of a file
 * that is there, which cannot succeed.
 */
static int32_t open_name(struct oplist *l, const char *name, bool excl, int32_t *old)
{
	struct oplist_name *n = find_name(l, name);

	*old = -1;
	if (!n)
		n = add_name(l, name, l->nr_slots++);
	else if (n->open && excl && !n->unlinked)
		return l->nr_slots++;
	else if (n->open) {
		*old = n->slot;
		n->slot = l->nr_slots++;
	}
	n->open = true;
	n->unlinked = false;
	return n->slot;
}

/* The file known by the new name is called NAME~ from now on, as in the captures' runner. */
static void rename_open_files(struct oplist *l, const char *from, const char *to)
{
	struct oplist_name *n = find_name(l, to), *old;
	size_t len = strlen(to);
	char *aside;

	if (!strcmp(from, to))
		return;
	if (n) {
		aside = trace_alloc(len + 2);
		memcpy(aside, to, len);
		aside[len] = '~';
		old = find_name(l, aside);
		if (old) { /* can no longer be named */
			HASH_DEL(l->names, old);
			free(old->name);
			free(old);
		}
		call_it(l, n, aside);
		free(aside);
	}
	n = find_name(l, from);
	if (n)
		call_it(l, n, to);
}

/* writeback [F [off]] [pages=N] */
static int parse_writeback(struct oplist *l, struct oplist_words *w, struct foliofs_op *op)
{
	int ret = 0;

	if (w->at < w->nr && !strchr(w->w[w->at], '='))
		ret = oplist_field(l, w, 'F', op);
	if (!ret && w->at < w->nr && !strchr(w->w[w->at], '='))
		ret = oplist_field(l, w, 'o', op);
	return ret;
}

/* How long the operation itself takes: the pauses between its pieces. */
static uint64_t duration(const struct foliofs_op *op)
{
	uint64_t pieces = 1, size = 4096; /* SIMPLIFIED: mwrite pauses at each page of 4 KB */

	if (op->kind == FOLIOFS_OP_SLEEP)
		return op->len * MS;
	if (!op->pause_ns || !op->len)
		return 0;
	if (op->kind == FOLIOFS_OP_MWRITE)
		pieces = (op->off + op->len - 1) / size - op->off / size + 1;
	else if (op->kind == FOLIOFS_OP_MTOUCH)
		pieces = (op->len - 1) / op->stride + 1;
	else if (op->chunk)
		pieces = (op->len - 1) / op->chunk + 1;
	return (pieces - 1) * op->pause_ns;
}

/* @old: slot that the operation closes, or -1. */
static int parse_op(struct oplist *l, struct oplist_words *w, struct foliofs_op *op, int32_t *old)
{
	const char *alias = w->nr > 1 ? w->w[1] : NULL;
	const struct oplist_syntax *s;
	enum foliofs_op_kind kind;
	int ret;

	if (foliofs_op_find(w->w[0], &kind))
		return oplist_expected(w, 0, "an operation");
	op->kind = kind;
	s = oplist_syntax(kind);
	w->at = 1;
	if (kind == FOLIOFS_OP_DROP_CACHES)
		op->flags = 1;
	else if (kind == FOLIOFS_OP_SYNC_RANGE)
		op->flags = OPLIST_HOW_BOTH;
	else if (kind == FOLIOFS_OP_MKDIR || kind == FOLIOFS_OP_OPEN)
		op->mode = kind == FOLIOFS_OP_OPEN ? 0644 : 0755;
	else if (kind == FOLIOFS_OP_FILL)
		op->len = 64u << 20;
	ret = kind == FOLIOFS_OP_WRITEBACK ? parse_writeback(l, w, op) : oplist_fields(l, w, s, op);
	if (!ret && kind == FOLIOFS_OP_MOVE_EXTENTS && w->at == 5)
		op->off2 = op->off;
	if (!ret)
		ret = oplist_options(w, s, op, &alias);
	if (!ret && op->off + op->len > INT64_MAX)
		ret = oplist_expected(w, w->nr, "an end below 2^63");
	if (!ret && kind == FOLIOFS_OP_SLEEP && op->len > 86400000)
		ret = oplist_expected(w, 1, "at most a day");
	if (!ret && kind == FOLIOFS_OP_OPEN)
		op->file = open_name(l, alias, op->flags & FOLIOFS_O_EXCL, old);
	return ret;
}

void oplist_close_all(struct oplist *l, uint32_t id, const char *text, uint32_t line)
{
	struct oplist_name *n, *tmp;
	bool *open = trace_alloc((size_t)l->nr_slots + 1);

	HASH_ITER(hh, l->names, n, tmp) {
		if (n->open)
			open[n->slot] = true;
		n->open = false;
	}
	for (int32_t slot = 0; slot < l->nr_slots; slot++) {
		if (!open[slot])
			continue;
		struct foliofs_op *op = opvec_add(&l->v, FOLIOFS_OP_CLOSE, id, text, line);

		op->file = slot;
		op->time_ns = l->now_ns;
		text = NULL;
	}
	free(open);
}

/* The program is gone, without closing anything. */
static void forget_open(struct oplist *l)
{
	struct oplist_name *n, *tmp;

	HASH_ITER(hh, l->names, n, tmp)
		n->open = false;
}

static bool ends_program(enum foliofs_op_kind kind)
{
	return kind == FOLIOFS_OP_REMOUNT || kind == FOLIOFS_OP_SYSFS ||
	       kind == FOLIOFS_OP_DEBUGFS || kind == FOLIOFS_OP_LOAD_BUDDIES;
}

static int append(struct oplist *l, struct oplist_words *w, uint32_t id)
{
	struct foliofs_op op = { .file = -1, .file2 = -1, .id = id }, *to;
	struct oplist_name *n;
	const char *text = w->text;
	uint32_t before = l->v.nr;
	int32_t old = -1;
	int ret = parse_op(l, w, &op, &old);

	if (ret)
		return ret;
	l->now_ns += l->step_ns;
	op.time_ns = l->now_ns;
	l->now_ns += duration(&op);
	if (ends_program(op.kind))
		oplist_close_all(l, id, text, w->where->line);
	if (op.kind == FOLIOFS_OP_RECOVER)
		forget_open(l);
	if (op.kind == FOLIOFS_OP_RENAME)
		rename_open_files(l, op.path, op.path2);
	if (op.kind == FOLIOFS_OP_CLOSE) {
		n = find_name(l, w->w[1]);
		if (n)
			n->open = false;
	}
	if (op.kind == FOLIOFS_OP_UNLINK) {
		n = find_name(l, w->w[1]);
		if (n)
			n->unlinked = true;
	}
	to = opvec_add(&l->v, op.kind, id, l->v.nr == before ? text : NULL, w->where->line);
	*to = op;
	if (old >= 0) {
		to = opvec_add(&l->v, FOLIOFS_OP_CLOSE, id, NULL, w->where->line);
		to->file = old;
		to->time_ns = op.time_ns;
	}
	return 0;
}

/* [N] OP, without loop or comment. */
static int parse_plain(struct oplist *l, const char *text, const struct trace_where *where,
		       bool fixed)
{
	struct oplist_words w = { .where = where, .fixed = fixed };
	struct trace_where at = *where;
	uint32_t id = l->next_id;
	size_t digits = strspn(text, "0123456789");
	char *save = NULL;
	uint64_t v;
	int ret;

	if (digits && strchr(" \t", text[digits]) && text[digits]) {
		char *nr = strndup(text, digits);

		v = nr && digits < 11 ? strtoull(nr, NULL, 10) : UINT64_MAX;
		free(nr);
		if (v < l->next_id || v >= UINT32_MAX)
			return trace_fail(where, "expected an operation number of at least %u, "
					  "got %.*s", l->next_id, (int)digits, text);
		id = (uint32_t)v;
		digits += strspn(text + digits, " \t");
		at.col += at.col && !fixed ? (uint32_t)digits : 0;
		w.where = &at;
		text += digits;
	}
	w.text = text;
	w.copy = trace_strdup(text);
	for (char *t = strtok_r(w.copy, " \t", &save); t; t = strtok_r(NULL, " \t", &save)) {
		if (w.nr == OPLIST_WORDS) {
			ret = trace_fail(&at, "expected at most %u words, got more", OPLIST_WORDS);
			goto out;
		}
		w.w[w.nr++] = t;
	}
	ret = w.nr ? append(l, &w, id) : oplist_expected(&w, 0, "an operation");
	if (!ret)
		l->next_id = id + 1;
out:
	free(w.copy);
	return ret;
}

/* The operation of a loop with its expressions replaced; to be freed.  NULL: error told. */
static char *substitute(const char *text, const char *var, int64_t value,
			const struct trace_where *w)
{
	size_t max = 2 * strlen(text) + 64, n = 0;
	char *out = trace_alloc(max);
	const char *close, *want;
	int64_t v;

	while (*text) {
		if (n + 32 > max)
			out = trace_realloc(out, max *= 2, 1);
		if (*text != '{') {
			out[n++] = *text++;
			continue;
		}
		close = strchr(text, '}');
		if (!close) {
			trace_fail(w, "expected \"}\" after \"{\", got the end of the line");
			goto fail;
		}
		if (oplist_expression(text + 1, (size_t)(close - text) - 1, var, value, &v,
				      &want)) {
			trace_fail(w, "expected %s, got \"%.*s\"", want, (int)(close - text) + 1,
				   text);
			goto fail;
		}
		n += (size_t)snprintf(out + n, 32, "%lld", (long long)v);
		text = close + 1;
	}
	out[n] = '\0';
	return out;
fail:
	free(out);
	return NULL;
}

#define OPLIST_LOOP_MAX 10000000ll

/* for VAR START STOP STEP: OP */
static int parse_loop(struct oplist *l, const char *text, const struct trace_where *where)
{
	char var[32], from[32], to[32], step[32], *op;
	struct trace_where at = *where;
	int64_t a, b, s, turns = 0;
	const char *want;
	int n = 0, ret = 0;

	if (sscanf(text, "for %31s %31s %31s %31[^: ] : %n", var, from, to, step, &n) != 4 || !n ||
	    !memchr(text, ':', (size_t)n))
		return trace_fail(
			where, "expected \"for VAR START STOP STEP: operation\", got \"%s\"", text);
	if (oplist_expression(from, strlen(from), var, 0, &a, &want) ||
	    oplist_expression(to, strlen(to), var, 0, &b, &want) ||
	    oplist_expression(step, strlen(step), var, 0, &s, &want))
		return trace_fail(where, "expected %s in START STOP STEP, got \"%s %s %s\"", want,
				  from, to, step);
	if (!s)
		return trace_fail(where, "expected a step other than 0, got \"%s\"", step);
	if (at.col)
		at.col += (uint32_t)n;
	while (!ret && (s > 0 ? a < b : a > b)) {
		if (turns++ == OPLIST_LOOP_MAX)
			return trace_fail(where, "expected at most %lld turns, got more",
					  OPLIST_LOOP_MAX);
		op = substitute(text + n, var, a, &at);
		ret = op ? parse_plain(l, op, &at, true) : -EINVAL;
		free(op);
		if (__builtin_add_overflow(a, s, &a))
			break;
	}
	return ret;
}

int oplist_parse_line(struct oplist *l, const char *text, const struct trace_where *w)
{
	struct trace_where at = *w;
	size_t skip = strspn(text, " \t"), len;
	char *line;
	int ret = 0;

	text += skip;
	if (at.col)
		at.col += (uint32_t)skip;
	for (len = 0; text[len]; len++) /* a comment: # at the beginning or after a blank */
		if (text[len] == '#' && (!len || strchr(" \t", text[len - 1])))
			break;
	while (len && strchr(" \t\r\n", text[len - 1]))
		len--;
	line = strndup(text, len);
	if (!line)
		return -ENOMEM;
	if (len)
		ret = !strncmp(line, "for ", 4) ? parse_loop(l, line, &at) :
						  parse_plain(l, line, &at, false);
	free(line);
	return ret;
}

int oplist_parse_text(struct oplist *l, struct trace_text *text, struct trace_where *w)
{
	size_t pos = 0;
	char *line;
	int ret = 0;

	w->file = text->name;
	w->col = 1;
	for (w->line = 1; !ret && (line = trace_text_line(text, &pos)); w->line++)
		ret = oplist_parse_line(l, line, w);
	return ret;
}
