// SPDX-License-Identifier: MIT
/*
 * A report as JSON and back, so that one can be kept, compared and drawn later.
 * Numbers of struct stats go by tables; all of them are 64 bits wide.
 */
#include "report.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "conform/text.h"

#define FORMAT "foliosim-report-1"

struct number {
	const char *name;
	size_t offset;
};

#define STATS_NUMBER(field) { #field, offsetof(struct stats, field) }
static const struct number stats_numbers[] = {
	STATS_NUMBER(events), STATS_NUMBER(ops), STATS_NUMBER(step_width),
	STATS_NUMBER(transactions), STATS_NUMBER(t_handles), STATS_NUMBER(t_blocks),
	STATS_NUMBER(t_logged), STATS_NUMBER(t_handles_max), STATS_NUMBER(t_blocks_max),
	STATS_NUMBER(t_logged_max), STATS_NUMBER(deleted), STATS_NUMBER(order_width),
	STATS_NUMBER(rounds), STATS_NUMBER(rounds_empty), STATS_NUMBER(folios_written),
	STATS_NUMBER(extents_mapped), STATS_NUMBER(blocks_mapped), STATS_NUMBER(pieces),
	STATS_NUMBER(piece_blocks), STATS_NUMBER(frees), STATS_NUMBER(freed_blocks),
	STATS_NUMBER(broken), STATS_NUMBER(aborts), STATS_NUMBER(stale),
	STATS_NUMBER(livelocks),
	{ NULL, 0 },
};

#define TYPE_NUMBER(field) { #field, offsetof(struct stats_type, field) }
static const struct number type_numbers[] = {
	TYPE_NUMBER(handles), TYPE_NUMBER(asked), TYPE_NUMBER(rsv), TYPE_NUMBER(extends),
	TYPE_NUMBER(extended), TYPE_NUMBER(dirtied), TYPE_NUMBER(restarts),
	TYPE_NUMBER(extends_refused), TYPE_NUMBER(refused), TYPE_NUMBER(dry),
	TYPE_NUMBER(used_up), TYPE_NUMBER(asked_max), TYPE_NUMBER(dirtied_max),
	TYPE_NUMBER(rsv_max),
	{ NULL, 0 },
};

#define CALLER_NUMBER(field) { #field, offsetof(struct stats_caller, field) }
static const struct number caller_numbers[] = {
	CALLER_NUMBER(handles), CALLER_NUMBER(asked), CALLER_NUMBER(rsv),
	CALLER_NUMBER(extended), CALLER_NUMBER(dirtied), CALLER_NUMBER(dirtied_max),
	{ NULL, 0 },
};

#define STEP_NUMBER(field) { #field, offsetof(struct stats_step, field) }
static const struct number step_numbers[] = {
	STEP_NUMBER(n), STEP_NUMBER(asked_max), STEP_NUMBER(dirtied_max), STEP_NUMBER(rsv_max),
	{ NULL, 0 },
};

static void put_numbers(struct json_object *o, const struct number *n, const void *from)
{
	int64_t v;

	for (; n->name; n++) {
		memcpy(&v, (const char *)from + n->offset, sizeof(v));
		json_object_object_add(o, n->name, json_object_new_int64(v));
	}
}

static int64_t get_int(struct json_object *o, const char *name)
{
	struct json_object *v;

	return json_object_object_get_ex(o, name, &v) ? json_object_get_int64(v) : 0;
}

static void get_numbers(struct json_object *o, const struct number *n, void *to)
{
	int64_t v;

	for (; n->name; n++) {
		v = get_int(o, n->name);
		memcpy((char *)to + n->offset, &v, sizeof(v));
	}
}

static void put_int(struct json_object *o, const char *name, int64_t v)
{
	json_object_object_add(o, name, json_object_new_int64(v));
}

static void put_string(struct json_object *o, const char *name, const char *s)
{
	json_object_object_add(o, name, json_object_new_string(s));
}

static const char *get_string(struct json_object *o, const char *name)
{
	struct json_object *v;

	/* null is no text */
	return json_object_object_get_ex(o, name, &v) && v ? json_object_get_string(v) : "";
}

static void put_u64s(struct json_object *o, const char *name, const uint64_t *v, size_t n)
{
	struct json_object *a = json_object_new_array();
	size_t i;

	for (i = 0; i < n; i++)
		json_object_array_add(a, json_object_new_int64((int64_t)v[i]));
	json_object_object_add(o, name, a);
}

/* Element @i of the array @name; NULL if there is none. */
static struct json_object *get_item(struct json_object *o, const char *name, size_t i)
{
	struct json_object *a;

	if (!json_object_object_get_ex(o, name, &a) || !json_object_is_type(a, json_type_array) ||
	    i >= json_object_array_length(a))
		return NULL;
	return json_object_array_get_idx(a, i);
}

static void get_u64s(struct json_object *o, const char *name, uint64_t *v, size_t n)
{
	struct json_object *x;
	size_t i;

	for (i = 0; i < n && (x = get_item(o, name, i)); i++)
		v[i] = (uint64_t)json_object_get_int64(x);
}

static struct json_object *stats_object(const struct stats *s)
{
	struct json_object *o = json_object_new_object(), *list, *x;
	unsigned int i, k;

	put_numbers(o, stats_numbers, s);
	put_string(o, "first_message", s->first_message);
	put_u64s(o, "orders", s->order, STATS_ORDERS);
	put_u64s(o, "extents", s->extent_hist, STATS_HIST);
	put_u64s(o, "piece_lengths", s->piece_hist, STATS_HIST);
	list = json_object_new_array();
	for (i = 0; i <= FOLIOFS_HT_COUNT; i++) {
		const struct stats_type *t = i < FOLIOFS_HT_COUNT ? &s->type[i] : &s->all;

		x = json_object_new_object();
		put_string(x, "type", i < FOLIOFS_HT_COUNT ? stats_type_name(i) : "all");
		put_numbers(x, type_numbers, t);
		json_object_array_add(list, x);
	}
	json_object_object_add(o, "types", list);
	list = json_object_new_array();
	for (i = 0; i < s->nr_callers; i++) {
		x = json_object_new_object();
		put_string(x, "name", s->caller[i].name);
		put_numbers(x, caller_numbers, &s->caller[i]);
		put_int(x, "type", s->caller[i].type);
		put_int(x, "op", s->caller[i].op);
		put_int(x, "tid", s->caller[i].tid);
		json_object_array_add(list, x);
	}
	json_object_object_add(o, "callers", list);
	list = json_object_new_array();
	for (i = 0; i < STATS_STEPS; i++) {
		if (!s->step[i].n)
			continue;
		x = json_object_new_object();
		put_int(x, "step", i);
		put_numbers(x, step_numbers, &s->step[i]);
		json_object_array_add(list, x);
	}
	json_object_object_add(o, "steps", list);
	list = json_object_new_array();
	for (i = 0; i < STATS_STEPS; i++) {
		for (k = 0; k < STATS_ORDERS; k++) {
			if (!s->order_step[i][k])
				continue;
			x = json_object_new_array();
			json_object_array_add(x, json_object_new_int64(i));
			json_object_array_add(x, json_object_new_int64(k));
			json_object_array_add(x, json_object_new_int64(s->order_step[i][k]));
			json_object_array_add(list, x);
		}
	}
	json_object_object_add(o, "order_steps", list);
	list = json_object_new_array();
	for (i = 0; i < s->nr_rules; i++) {
		x = json_object_new_object();
		put_string(x, "rule", s->rule[i].id);
		put_string(x, "text", s->rule[i].text);
		put_int(x, "count", (int64_t)s->rule[i].count);
		put_int(x, "op", s->rule[i].op);
		json_object_array_add(list, x);
	}
	json_object_object_add(o, "rules", list);
	return o;
}

#define GET_STRING(o, name, to) snprintf(to, sizeof(to), "%s", get_string(o, name))

static void stats_get(struct json_object *o, struct stats *s)
{
	struct json_object *x;
	size_t i;

	stats_init(s);
	get_numbers(o, stats_numbers, s);
	if (!s->step_width)
		s->step_width = 1;
	if (!s->order_width)
		s->order_width = 1;
	GET_STRING(o, "first_message", s->first_message);
	get_u64s(o, "orders", s->order, STATS_ORDERS);
	get_u64s(o, "extents", s->extent_hist, STATS_HIST);
	get_u64s(o, "piece_lengths", s->piece_hist, STATS_HIST);
	for (i = 0; i <= FOLIOFS_HT_COUNT && (x = get_item(o, "types", i)); i++)
		get_numbers(x, type_numbers, i < FOLIOFS_HT_COUNT ? &s->type[i] : &s->all);
	for (i = 0; i < STATS_CALLERS && (x = get_item(o, "callers", i)); i++) {
		struct stats_caller *c = &s->caller[s->nr_callers++];

		GET_STRING(x, "name", c->name);
		get_numbers(x, caller_numbers, c);
		c->type = (uint8_t)get_int(x, "type");
		c->op = (uint32_t)get_int(x, "op");
		c->tid = (uint32_t)get_int(x, "tid");
	}
	for (i = 0; (x = get_item(o, "steps", i)); i++) {
		uint64_t n = (uint64_t)get_int(x, "step");

		if (n < STATS_STEPS)
			get_numbers(x, step_numbers, &s->step[n]);
	}
	for (i = 0; (x = get_item(o, "order_steps", i)); i++) {
		uint64_t v[3] = { 0 };
		size_t k;

		if (!json_object_is_type(x, json_type_array))
			continue;
		for (k = 0; k < 3 && k < json_object_array_length(x); k++)
			v[k] = (uint64_t)json_object_get_int64(json_object_array_get_idx(x, k));
		if (v[0] < STATS_STEPS && v[1] < STATS_ORDERS)
			s->order_step[v[0]][v[1]] = (uint32_t)v[2];
	}
	for (i = 0; i < STATS_RULES && (x = get_item(o, "rules", i)); i++) {
		struct stats_rule *r = &s->rule[s->nr_rules++];

		GET_STRING(x, "rule", r->id);
		GET_STRING(x, "text", r->text);
		r->count = (uint64_t)get_int(x, "count");
		r->op = (uint32_t)get_int(x, "op");
	}
}

static struct json_object *matrix_object(const struct report_matrix *m)
{
	struct json_object *o = json_object_new_object(), *cells = json_object_new_array(), *x;
	uint32_t i, k;

	put_string(o, "title", m->title);
	for (i = 0; i < m->nr_sizes; i++) {
		for (k = 0; k < m->nr_kernels; k++) {
			const struct report_cell *c = &m->cell[i][k];

			x = json_object_new_object();
			put_int(x, "block_size", m->block_size[i]);
			put_string(x, "kernel", m->kernel[k]);
			put_int(x, "asked", c->asked);
			put_int(x, "reserved", c->rsv);
			put_int(x, "worst", c->worst);
			put_int(x, "max_handle", c->max_handle);
			put_int(x, "max_reserved", c->max_reserved);
			put_int(x, "order", c->order);
			put_int(x, "verdict", c->verdict);
			json_object_array_add(cells, x);
		}
	}
	json_object_object_add(o, "cells", cells);
	return o;
}

static void matrix_get(struct json_object *o, struct report_matrix *m)
{
	struct json_object *x;
	size_t n;

	GET_STRING(o, "title", m->title);
	for (n = 0; (x = get_item(o, "cells", n)); n++) {
		uint32_t bs = (uint32_t)get_int(x, "block_size"), i, k;
		const char *kernel = get_string(x, "kernel");
		struct report_cell *c;

		for (i = 0; i < m->nr_sizes && m->block_size[i] != bs; i++)
			;
		for (k = 0; k < m->nr_kernels && strcmp(m->kernel[k], kernel); k++)
			;
		if (i == REPORT_SIZES || k == REPORT_KERNELS)
			continue;
		if (i == m->nr_sizes)
			m->block_size[m->nr_sizes++] = bs;
		if (k == m->nr_kernels)
			snprintf(m->kernel[m->nr_kernels++], sizeof(m->kernel[k]), "%s", kernel);
		c = &m->cell[i][k];
		c->asked = (uint32_t)get_int(x, "asked");
		c->rsv = (uint32_t)get_int(x, "reserved");
		c->worst = (uint32_t)get_int(x, "worst");
		c->max_handle = (uint32_t)get_int(x, "max_handle");
		c->max_reserved = (uint32_t)get_int(x, "max_reserved");
		c->order = (uint32_t)get_int(x, "order");
		c->verdict = (enum foliofs_verdict)(get_int(x, "verdict") & 3);
	}
}

int report_to_json(const struct report *r, FILE *out)
{
	static const char *const outcomes[] = { "clean", "broken", "unjudged" };
	struct json_object *o = json_object_new_object(), *list, *x;
	size_t i;

	put_string(o, "format", FORMAT);
	put_string(o, "title", r->title);
	put_string(o, "kernel", r->kernel);
	put_string(o, "outcome", outcomes[r->outcome]);
	put_string(o, "verdict", r->verdict);
	put_int(o, "max_handle", r->max_handle);
	put_int(o, "max_transaction", r->max_transaction);
	list = json_object_new_array();
	for (i = 0; i < r->nr_pairs; i++) {
		x = json_object_new_object();
		put_string(x, "key", r->pairs[i].key);
		put_string(x, "value", r->pairs[i].value);
		json_object_array_add(list, x);
	}
	json_object_object_add(o, "environment", list);
	list = json_object_new_array();
	for (i = 0; i < r->nr_notes; i++) {
		x = json_object_new_object();
		put_string(x, "heading", r->notes[i].heading);
		put_string(x, "text", r->notes[i].text);
		json_object_array_add(list, x);
	}
	json_object_object_add(o, "notes", list);
	if (r->stats)
		json_object_object_add(o, "stats", stats_object(r->stats));
	if (r->matrix.nr_kernels)
		json_object_object_add(o, "matrix", matrix_object(&r->matrix));
	fprintf(out, "%s\n", json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY |
							       JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
	return ferror(out) ? -EIO : 0;
}

static void report_get(struct report *r, struct json_object *o)
{
	struct json_object *x;
	const char *outcome = get_string(o, "outcome");
	size_t i;

	report_init(r, get_string(o, "title"));
	GET_STRING(o, "kernel", r->kernel);
	report_verdict(r, !strcmp(outcome, "clean")  ? REPORT_CLEAN :
			  !strcmp(outcome, "broken") ? REPORT_BROKEN :
						       REPORT_UNJUDGED,
		       "%s", get_string(o, "verdict"));
	r->max_handle = (uint32_t)get_int(o, "max_handle");
	r->max_transaction = (uint32_t)get_int(o, "max_transaction");
	for (i = 0; (x = get_item(o, "environment", i)); i++)
		report_pair(r, get_string(x, "key"), "%s", get_string(x, "value"));
	for (i = 0; (x = get_item(o, "notes", i)); i++)
		report_note(r, get_string(x, "heading"), "%s", get_string(x, "text"));
	if (json_object_object_get_ex(o, "stats", &x)) {
		r->own_stats = malloc(sizeof(*r->own_stats));
		if (!r->own_stats)
			abort();
		stats_get(x, r->own_stats);
		r->stats = r->own_stats;
	}
	if (json_object_object_get_ex(o, "matrix", &x))
		matrix_get(x, &r->matrix);
}

int report_from_json(struct report *r, const char *path, char *err, size_t errlen)
{
	struct json_tokener *tok;
	struct json_object *o;
	enum json_tokener_error e;
	size_t line, i, end;
	struct text t;
	int ret = text_read(path, &t);

	if (ret) {
		snprintf(err, errlen, "%s: %s", path, strerror(-ret));
		return ret;
	}
	tok = json_tokener_new();
	o = t.len < INT32_MAX ? json_tokener_parse_ex(tok, t.data, (int)t.len) : NULL;
	e = json_tokener_get_error(tok);
	end = json_tokener_get_parse_end(tok);
	for (line = 1, i = 0; i < end && i < t.len; i++)
		line += t.data[i] == '\n';
	json_tokener_free(tok);
	text_free(&t);
	if (!o) {
		snprintf(err, errlen, "%s:%zu: expected a report as JSON, got: %s", path, line,
			 e == json_tokener_continue ? "end of file" : json_tokener_error_desc(e));
		return -EINVAL;
	}
	if (strcmp(get_string(o, "format"), FORMAT)) {
		snprintf(err, errlen, "%s: expected \"format\": \"%s\", got \"%.60s\"", path,
			 FORMAT, get_string(o, "format"));
		json_object_put(o);
		return -EINVAL;
	}
	report_get(r, o);
	json_object_put(o);
	return 0;
}
