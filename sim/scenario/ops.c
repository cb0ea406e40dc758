// SPDX-License-Identifier: MIT
/*
 * Operations of a scenario: lines of op lists (sim/trace/oplist.h), each with
 * what is expected of it.
 *
 * prepare and ops are run by one process each, as in kernel captures: what
 * prepare left open is closed before ops begin.
 */
#include "scenario/parse.h"
#include "trace/oplist.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct foliofs_op *scenario_op(const struct scenario *s, size_t i)
{
	return &s->oplist->v.ops[i];
}

const char *scenario_op_text(const struct scenario *s, uint32_t id)
{
	uint32_t i;

	for (i = 0; s->oplist && i < s->oplist->v.nr; i++)
		if (s->oplist->v.ops[i].id == id && s->oplist->v.texts[i])
			return s->oplist->v.texts[i];
	return "";
}

size_t scenario_next_op(const struct scenario *s, size_t i)
{
	while (i < s->ops.end && scenario_op(s, i)->id >= SCENARIO_FIRST_AT)
		i++;
	return i;
}

/* The text of one line: "for i 0 8 1: write ..." is a map to YAML. */
static int line_text(struct parser *p, const struct node *n, const char **out)
{
	const struct node *m = n->child;
	char *text;

	if (n->kind != NODE_MAP)
		return parse_text(p, n, "an operation", out);
	if (m && !m->next && !strncmp(m->key->text, "for ", 4) && m->kind == NODE_SCALAR) {
		text = arena_alloc(p->arena, strlen(m->key->text) + strlen(m->text) + 3);
		if (!text)
			return -ENOMEM;
		sprintf(text, "%s: %s", m->key->text, m->text);
		*out = text;
		return 0;
	}
	return node_error(p->path, n, p->err, "expected a key op, got none");
}

static int parse_line_ops(struct parser *p, const struct node *n, const char *text,
			  struct scenario_line *l)
{
	struct oplist *list = p->s->oplist;
	struct trace_where where = { .file = p->path, .line = n->line,
				     .col = n->col + (n->kind == NODE_SCALAR && n->quoted),
				     .err = p->err->text, .errlen = sizeof(p->err->text) };
	int ret;

	l->at = n;
	l->text = text;
	l->first = list->next_id;
	ret = oplist_parse_line(list, text, &where);
	if (ret)
		return ret;
	l->last = list->next_id - 1;
	if (l->last < l->first)
		return node_expected(p->path, n, p->err, "an operation");
	return 0;
}

static int parse_line_result(struct parser *p, const struct node *m, struct scenario_line *l)
{
	struct expect_result *x = arena_alloc(p->arena, sizeof(*x));

	if (!x)
		return -ENOMEM;
	if (l->result)
		return node_error(p->path, m->key, p->err, "expected error or result, got both");
	l->result = x;
	x->at = m;
	x->error = !strcmp(m->key->text, "error");
	x->ops = (struct op_range){ l->first, l->last };
	if (!x->error)
		return parse_want(p, m, &x->number);
	x->name = m->text;
	return parse_errno(p, m, &x->errno_value);
}

/* {op: ..., error: ..., result: ..., expect: {...}} */
static int parse_line_map(struct parser *p, const struct node *n, struct scenario_line *l)
{
	const struct node *m, *op = NULL;
	const char *text;
	int ret;

	for (m = n->child; m; m = m->next)
		if (!strcmp(m->key->text, "op"))
			op = m;
	if (!op) {
		ret = line_text(p, n, &text);
		return ret ? ret : parse_line_ops(p, n, text, l);
	}
	ret = line_text(p, op, &text);
	if (!ret)
		ret = parse_line_ops(p, op, text, l);
	for (m = n->child; m && !ret; m = m->next) {
		const char *key = m->key->text;

		if (m == op)
			continue;
		if (!strcmp(key, "error") || !strcmp(key, "result"))
			ret = parse_line_result(p, m, l);
		else if (!strcmp(key, "expect"))
			ret = parse_expect(p, m, &l->expect);
		else if (!strcmp(key, "at"))
			ret = parse_at(p, m, l->last);
		else if (!strcmp(key, "inject"))
			ret = parse_inject(p, m, l->last, &p->s->inject);
		else
			ret = node_expected(p->path, m->key, p->err,
					    "op, error, result, expect, at or inject");
	}
	if (!ret && (l->expect.rules_at || l->expect.results || l->expect.credits ||
		     l->expect.limits || l->expect.crashes))
		ret = node_error(p->path, l->expect.at, p->err, "expected events, sequences or "
				 "states at an operation, got something else");
	return ret;
}

int parse_ops(struct parser *p, const struct node *n, uint32_t first, struct scenario_ops *ops)
{
	struct scenario *s = p->s;
	const struct node *m;
	int ret;

	if (n->kind != NODE_LIST)
		return node_expected(p->path, n, p->err, "a list of operations");
	if (!s->oplist) {
		s->oplist = calloc(1, sizeof(*s->oplist));
		if (!s->oplist)
			return -ENOMEM;
		oplist_init(s->oplist, first);
	}
	s->oplist->next_id = first;
	ops->first = s->oplist->v.nr;
	ops->line = arena_alloc(p->arena, node_count(n) * sizeof(*ops->line) + 1);
	if (!ops->line)
		return -ENOMEM;
	for (m = n->child; m; m = m->next) {
		struct scenario_line *l = &ops->line[ops->nr_lines++];
		const char *text;

		if (m->kind == NODE_MAP) {
			ret = parse_line_map(p, m, l);
		} else {
			ret = line_text(p, m, &text);
			if (!ret)
				ret = parse_line_ops(p, m, text, l);
		}
		if (ret)
			return ret;
		ops->last_id = l->last;
	}
	if (first == SCENARIO_FIRST_PREPARE && ops->last_id)
		oplist_close_all(s->oplist, ops->last_id, NULL, 0);
	ops->end = s->oplist->v.nr;
	return 0;
}

void parse_ops_free(struct scenario *s)
{
	if (!s->oplist)
		return;
	oplist_free(s->oplist);
	free(s->oplist);
}
