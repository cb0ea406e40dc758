// SPDX-License-Identifier: MIT
/*
 * Expectations of scenarios: the map behind "expect", at the end of a scenario
 * or at an operation.
 */
#include "scenario/parse.h"
#include "trace/oplist.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Behind key "values": field names to lists. */
static int parse_values(struct parser *p, const struct node *n, struct expect_event *x)
{
	const struct node *m;
	int ret;

	if (n->kind != NODE_MAP || node_count(n) > 4)
		return node_expected(p->path, n, p->err, "a map of up to 4 fields to lists");
	for (m = n->child; m; m = m->next) {
		int field = foliofs_event_field(x->match.id, m->key->text);

		if (field < 0)
			return node_expected(p->path, m->key, p->err, "a field of %s (%s)",
					     foliofs_event_name(x->match.id),
					     foliofs_event_fields(x->match.id));
		x->values[x->nr_values].field = field;
		ret = parse_want_list(p, m, &x->values[x->nr_values++].list);
		if (ret)
			return ret;
	}
	return 0;
}

static int parse_event(struct parser *p, const struct node *n, struct expect_event *x)
{
	const struct node *m;
	const char *per = NULL;
	int ret = -EINVAL;

	if (n->kind == NODE_SCALAR)
		return parse_event_match(p, n, &x->match);
	if (n->kind != NODE_MAP)
		return node_expected(p->path, n, p->err, "an event, or a map with one");
	for (m = n->child; m; m = m->next)
		if (!strcmp(m->key->text, "event"))
			ret = parse_event_match(p, m, &x->match);
	if (!x->match.at)
		return node_error(p->path, n, p->err, "expected a key event, got none");
	for (m = n->child; m && !ret; m = m->next) {
		const char *key = m->key->text;

		if (!strcmp(key, "event")) {
			continue;
		} else if (!strcmp(key, "op")) {
			ret = parse_ops_range(p, m, &x->ops);
		} else if (!strcmp(key, "count")) {
			x->counted = true;
			x->count_at = m;
			ret = parse_want(p, m, &x->count);
		} else if (!strcmp(key, "values")) {
			ret = parse_values(p, m, x);
		} else if (!strcmp(key, "per")) {
			ret = parse_text(p, m, "the name of an event", &per);
			if (!ret && foliofs_event_find(per, &x->per))
				ret = node_expected(p->path, m, p->err, "the name of an event");
		} else if (!strcmp(key, "counts")) {
			x->grouped = true;
			ret = parse_want_list(p, m, &x->counts);
		} else {
			ret = node_expected(p->path, m->key, p->err,
					    "event, op, count, values, per or counts");
		}
	}
	if (!ret && x->grouped != (per != NULL))
		ret = node_error(p->path, n, p->err, "expected per and counts together, got one");
	return ret;
}

static int parse_events(struct parser *p, const struct node *n, struct expect *e)
{
	struct expect_event **tail = &e->events;
	const struct node *m;
	int ret;

	if (n->kind != NODE_LIST)
		return node_expected(p->path, n, p->err, "a list of events");
	for (m = n->child; m; m = m->next) {
		*tail = arena_alloc(p->arena, sizeof(**tail));
		if (!*tail)
			return -ENOMEM;
		ret = parse_event(p, m, *tail);
		if (ret)
			return ret;
		tail = &(*tail)->next;
	}
	return 0;
}

static int parse_sequence(struct parser *p, const struct node *n, struct expect_sequence *x)
{
	const struct node *m, *list = NULL;
	int ret = 0;

	x->at = n;
	if (n->kind == NODE_LIST)
		list = n;
	else if (n->kind != NODE_MAP)
		return node_expected(p->path, n, p->err, "a list of events, or a map with one");
	for (m = n->kind == NODE_MAP ? n->child : NULL; m && !ret; m = m->next) {
		if (!strcmp(m->key->text, "op"))
			ret = parse_ops_range(p, m, &x->ops);
		else if (!strcmp(m->key->text, "exact"))
			ret = parse_bool(p, m, &x->exact);
		else if (!strcmp(m->key->text, "events") && m->kind == NODE_LIST)
			list = m;
		else if (!strcmp(m->key->text, "events"))
			ret = node_expected(p->path, m, p->err, "a list of events");
		else
			ret = node_expected(p->path, m->key, p->err, "op, exact or events");
	}
	if (ret)
		return ret;
	if (!list || !list->child)
		return node_error(p->path, n, p->err, "expected a list of events, got none");
	x->match = arena_alloc(p->arena, node_count(list) * sizeof(*x->match));
	if (!x->match)
		return -ENOMEM;
	for (m = list->child; m && !ret; m = m->next)
		ret = parse_event_match(p, m, &x->match[x->nr++]);
	return ret;
}

static int parse_sequences(struct parser *p, const struct node *n, struct expect *e)
{
	struct expect_sequence **tail = &e->sequences;
	const struct node *m;
	int ret;

	if (n->kind != NODE_LIST)
		return node_expected(p->path, n, p->err, "a list of sequences");
	for (m = n->child; m; m = m->next) {
		*tail = arena_alloc(p->arena, sizeof(**tail));
		if (!*tail)
			return -ENOMEM;
		ret = parse_sequence(p, m, *tail);
		if (ret)
			return ret;
		tail = &(*tail)->next;
	}
	return 0;
}

static bool is_crash(const struct parser *p, const char *name)
{
	size_t i;

	for (i = 0; p->s->oplist && i < p->s->oplist->v.nr; i++) {
		const struct foliofs_op *op = scenario_op(p->s, i);

		if (op->kind == FOLIOFS_OP_CRASH && !strcmp(op->path, name))
			return true;
	}
	return false;
}

static int parse_crashes(struct parser *p, const struct node *n, struct expect *e)
{
	struct expect_crash **tail = &e->crashes;
	const struct node *m;
	int ret;

	if (n->kind != NODE_MAP)
		return node_expected(p->path, n, p->err, "a map of crash names to files");
	for (m = n->child; m; m = m->next) {
		if (!is_crash(p, m->key->text))
			return node_expected(p->path, m->key, p->err,
					     "the name of an operation crash");
		*tail = arena_alloc(p->arena, sizeof(**tail));
		if (!*tail)
			return -ENOMEM;
		(*tail)->at = m;
		(*tail)->name = m->key->text;
		ret = parse_states(p, m, &(*tail)->states);
		if (ret)
			return ret;
		tail = &(*tail)->next;
	}
	return 0;
}

/* Maps of operation numbers to errors (@error) or results. */
static int parse_results(struct parser *p, const struct node *n, bool error, struct expect *e)
{
	struct expect_result *x;
	const struct node *m;
	int ret;

	if (n->kind != NODE_MAP)
		return node_expected(p->path, n, p->err, "a map of operations to %s",
				     error ? "errors" : "results");
	for (m = n->child; m; m = m->next) {
		x = arena_alloc(p->arena, sizeof(*x));
		if (!x)
			return -ENOMEM;
		x->next = e->results;
		e->results = x;
		x->at = m;
		x->error = error;
		ret = parse_ops_range(p, m->key, &x->ops);
		if (!ret && error)
			ret = parse_errno(p, m, &x->errno_value);
		else if (!ret)
			ret = parse_want(p, m, &x->number);
		if (ret)
			return ret;
		x->name = error ? m->text : NULL;
	}
	return 0;
}

static int parse_rules(struct parser *p, const struct node *n, uint8_t *rules)
{
	const struct node *m;
	enum foliofs_rule rule;

	if (n->kind != NODE_LIST)
		return node_expected(p->path, n, p->err, "a list of rules that are broken");
	for (m = n->child; m; m = m->next) {
		if (m->kind != NODE_SCALAR || foliofs_rule_find(m->text, &rule))
			return node_expected(p->path, m, p->err, "the name of a rule");
		rules[rule] = 1;
	}
	return 0;
}

/* One key of an expectation; -ENOENT: it is none. */
static int expect_key(struct parser *p, const struct node *m, struct expect *e)
{
	const char *key = m->key->text;

	if (!strcmp(key, "events"))
		return parse_events(p, m, e);
	if (!strcmp(key, "sequences"))
		return parse_sequences(p, m, e);
	if (!strcmp(key, "states"))
		return parse_states(p, m, &e->states);
	if (!strcmp(key, "crash"))
		return parse_crashes(p, m, e);
	if (!strcmp(key, "errors"))
		return parse_results(p, m, true, e);
	if (!strcmp(key, "results"))
		return parse_results(p, m, false, e);
	if (!strcmp(key, "credits") || !strcmp(key, "verdicts"))
		return parse_credits(p, m, *key == 'v', e);
	if (!strcmp(key, "limits"))
		return parse_limits(p, m, e);
	if (!strcmp(key, "starts"))
		return parse_starts(p, m, e);
	if (!strcmp(key, "free")) {
		e->free_at = m;
		return parse_want(p, m, &e->free);
	}
	if (!strcmp(key, "rules")) {
		e->rules_at = m;
		return parse_rules(p, m, e->rules);
	}
	if (!strcmp(key, "injected_rules"))
		return parse_rules(p, m, e->injected_rules);
	return -ENOENT;
}

#define EXPECT_KEYS "events, sequences, states, crash, errors, results, credits, verdicts, " \
	"limits, starts, free, rules, injected_rules"

static void expect_init(struct expect *e, const struct node *n)
{
	e->at = n;
	e->inode = (struct expect_inode){ .depth = -1, .order = -1, .indirect = -1,
					  .journal_flag = -1, .default_acl = -1,
					  .encrypted_dir = -1, .blocks = -1 };
}

int parse_expect(struct parser *p, const struct node *n, struct expect *e)
{
	const struct node *m;
	int ret;

	expect_init(e, n);
	if (n->kind != NODE_MAP)
		return node_expected(p->path, n, p->err, "a map of expectations");
	for (m = n->child; m; m = m->next) {
		ret = expect_key(p, m, e);
		if (ret == -ENOENT)
			ret = node_expected(p->path, m->key, p->err, EXPECT_KEYS);
		if (ret)
			return ret;
	}
	return 0;
}

static bool names_kernel(const struct setup *setup, const char *key)
{
	size_t i;

	for (i = 0; i < setup->nr_kernels; i++)
		if (!strcmp(setup->kernel[i]->text, key))
			return true;
	return false;
}

int parse_expectation(struct parser *p, const struct node *n, const struct setup *setup,
		      struct expectation *e)
{
	struct kernel_expect **tail = &e->kernels;
	const struct node *m;
	int ret;

	expect_init(&e->all, n);
	if (n->kind != NODE_MAP)
		return node_expected(p->path, n, p->err, "a map of expectations");
	for (m = n->child; m; m = m->next) {
		ret = expect_key(p, m, &e->all);
		if (ret == -ENOENT && names_kernel(setup, m->key->text)) {
			*tail = arena_alloc(p->arena, sizeof(**tail));
			if (!*tail)
				return -ENOMEM;
			(*tail)->kernel = m->key->text;
			ret = parse_expect(p, m, &(*tail)->expect);
			tail = &(*tail)->next;
		} else if (ret == -ENOENT) {
			ret = node_expected(p->path, m->key, p->err,
					    EXPECT_KEYS ", or a kernel of this scenario");
		}
		if (ret)
			return ret;
	}
	return 0;
}
