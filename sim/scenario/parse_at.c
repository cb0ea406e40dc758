// SPDX-License-Identifier: MIT
/*
 * Keys at and inject: operations at named stops, injected failures; of a scenario or
 * of one of its operations.
 */
#include "scenario/parse.h"
#include "trace/oplist.h"

#include <errno.h>
#include <string.h>

static int parse_nth(struct parser *p, const struct node *m, uint32_t *out)
{
	uint64_t n;
	int ret = parse_number(p, m, UINT32_MAX, &n);

	if (!ret && !n)
		ret = node_expected(p->path, m, p->err, "a number from 1 on");
	*out = (uint32_t)n;
	return ret;
}

/* The operations of a stop have numbers and times of their own. */
static int parse_stop_ops(struct parser *p, const struct node *m, struct scenario_ops *ops)
{
	struct oplist *list = p->s->oplist;
	uint32_t next = list ? list->next_id : SCENARIO_FIRST_OP, first = SCENARIO_FIRST_AT;
	uint64_t now = list ? list->now_ns : 0;
	const struct scenario_at *x;
	int ret;

	for (x = p->s->at; x; x = x->next)
		if (x->ops.last_id >= first)
			first = x->ops.last_id + 1;
	ret = parse_ops(p, m, first, ops);
	if (ret)
		return ret;
	p->s->oplist->next_id = next;
	p->s->oplist->now_ns = now;
	return ops->last_id < SCENARIO_FIRST_PREPARE ? 0 :
	       node_expected(p->path, m, p->err, "less operations");
}

static int one_at(struct parser *p, const struct node *n, uint32_t op)
{
	struct scenario_at *x = arena_alloc(p->arena, sizeof(*x)), **tail;
	const struct node *m, *ops = NULL;
	bool stop = false;
	int ret = 0;

	if (!x)
		return -ENOMEM;
	if (n->kind != NODE_MAP)
		return node_expected(p->path, n, p->err, "a map of stop, nth and ops");
	x->at = n;
	x->op = op;
	x->nth = 1;
	for (m = n->child; m && !ret; m = m->next) {
		const char *key = m->key->text;

		if (!strcmp(key, "stop")) {
			stop = true;
			if (m->kind != NODE_SCALAR || foliofs_stop_find(m->text, &x->stop))
				ret = node_expected(p->path, m, p->err,
						    "the name of a stop (foliofs-scenario(5))");
		} else if (!strcmp(key, "nth")) {
			ret = parse_nth(p, m, &x->nth);
		} else if (!strcmp(key, "ops")) {
			ops = m;
		} else {
			ret = node_expected(p->path, m->key, p->err, "stop, nth or ops");
		}
	}
	if (!ret && (!stop || !ops))
		ret = node_error(p->path, n, p->err, "expected keys stop and ops, got less");
	if (!ret)
		ret = parse_stop_ops(p, ops, &x->ops);
	if (ret)
		return ret;
	x->index = p->s->nr_at++;
	for (tail = &p->s->at; *tail; tail = &(*tail)->next)
		;
	*tail = x;
	return 0;
}

static int one_inject(struct parser *p, const struct node *n, uint32_t op,
		      struct scenario_inject **list)
{
	struct scenario_inject *x = arena_alloc(p->arena, sizeof(*x));
	const struct node *m;
	bool what = false;
	int ret = 0;

	if (!x)
		return -ENOMEM;
	if (n->kind != NODE_MAP)
		return node_expected(p->path, n, p->err, "a map of what and nth");
	x->at = n;
	x->op = op;
	x->nth = 1;
	for (m = n->child; m && !ret; m = m->next) {
		const char *key = m->key->text;

		if (!strcmp(key, "what")) {
			what = true;
			if (m->kind != NODE_SCALAR || foliofs_failure_find(m->text, &x->what))
				ret = node_expected(p->path, m, p->err, "memory, short-copy, "
						    "extend, reserve, enospc, eio or start");
		} else if (!strcmp(key, "nth")) {
			ret = parse_nth(p, m, &x->nth);
		} else {
			ret = node_expected(p->path, m->key, p->err, "what or nth");
		}
	}
	if (!ret && !what)
		ret = node_error(p->path, n, p->err, "expected a key what, got none");
	while (*list)
		list = &(*list)->next;
	*list = x;
	return ret;
}

int parse_at(struct parser *p, const struct node *n, uint32_t op)
{
	const struct node *m;
	int ret = 0;

	if (n->kind != NODE_LIST)
		return one_at(p, n, op);
	for (m = n->child; m && !ret; m = m->next)
		ret = one_at(p, m, op);
	return ret;
}

int parse_inject(struct parser *p, const struct node *n, uint32_t op,
		 struct scenario_inject **list)
{
	const struct node *m;
	int ret = 0;

	if (n->kind != NODE_LIST)
		return one_inject(p, n, op, list);
	for (m = n->child; m && !ret; m = m->next)
		ret = one_inject(p, m, op, list);
	return ret;
}
