// SPDX-License-Identifier: MIT
/*
 * Expectations of scenarios: the map behind "expect", at the end of a scenario
 * or at an operation.
 */
#include "scenario/parse.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* By enum foliofs_verdict. */
const char *const verdict_names[] = { "fits", "refused", "dry", "loops" };

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

	for (i = p->s->ops.first; i < p->s->ops.end; i++) {
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

static int parse_inode(struct parser *p, const struct node *n, struct expect_inode *x)
{
	const struct node *m;
	uint64_t value;
	bool yes;
	int ret = 0;

	if (n->kind != NODE_MAP)
		return node_expected(p->path, n, p->err, "a map of what the inode is like");
	for (m = n->child; m && !ret; m = m->next) {
		const char *key = m->key->text;

		if (!strcmp(key, "depth") || !strcmp(key, "order")) {
			ret = parse_number(p, m, *key == 'd' ? 5 : 20, &value);
			if (!ret)
				*(*key == 'd' ? &x->depth : &x->order) = (int)value;
		} else if (!strcmp(key, "blocks")) {
			ret = parse_number(p, m, INT64_MAX, &value);
			x->blocks = (int64_t)value;
		} else if (!strcmp(key, "indirect") || !strcmp(key, "journal_flag")) {
			ret = parse_bool(p, m, &yes);
			if (!ret)
				*(*key == 'i' ? &x->indirect : &x->journal_flag) = yes;
		} else {
			ret = node_expected(p->path, m->key, p->err,
					    "depth, order, blocks, indirect or journal_flag");
		}
	}
	return ret;
}

/* The key "NAME" or "NAME LENGTH" of an operation. */
static int parse_credit_op(struct parser *p, const struct node *key, struct expect_credit *x)
{
	const char *blank = strchr(key->text, ' ');
	char name[40];
	uint64_t len;

	snprintf(name, sizeof(name), "%.*s",
		 (int)(blank ? (size_t)(blank - key->text) : strlen(key->text)), key->text);
	if (foliofs_credit_op_find(name, &x->op))
		return node_expected(p->path, key, p->err,
				     "an operation of `foliosim credits', or inode");
	if (blank && (foliofs_parse_size(blank + 1, &len) || len > UINT32_MAX))
		return node_expected(p->path, key, p->err, "a length behind the name");
	x->has_len = blank;
	x->len = blank ? (uint32_t)len : 0;
	return 0;
}

/* "asked", or [asked, reserved]. */
static int parse_asked(struct parser *p, const struct node *m, struct expect_credit *x)
{
	int ret;

	x->has_rsv = m->kind == NODE_LIST;
	if (x->has_rsv && node_count(m) != 2)
		return node_expected(p->path, m, p->err, "[asked, reserved]");
	ret = parse_want(p, x->has_rsv ? m->child : m, &x->asked);
	return !ret && x->has_rsv ? parse_want(p, m->child->next, &x->rsv) : ret;
}

static int parse_verdict(struct parser *p, const struct node *m, struct expect_credit *x)
{
	unsigned int i;

	x->is_verdict = true;
	for (i = 0; i < 4 && m->kind == NODE_SCALAR; i++)
		if (!strcmp(verdict_names[i], m->text)) {
			x->verdict = i;
			return 0;
		}
	return node_expected(p->path, m, p->err, "fits, refused, dry or loops");
}

/* Behind "credits", or "verdicts": "NAME [LENGTH]: ...". */
static int parse_credits(struct parser *p, const struct node *n, bool verdicts, struct expect *e)
{
	struct expect_credit *x;
	const struct node *m;
	int ret;

	if (n->kind != NODE_MAP)
		return node_expected(p->path, n, p->err, "a map of operations to %s",
				     verdicts ? "verdicts" : "credits");
	for (m = n->child; m; m = m->next) {
		if (!strcmp(m->key->text, "inode")) {
			ret = parse_inode(p, m, &e->inode);
			if (ret)
				return ret;
			continue;
		}
		x = arena_alloc(p->arena, sizeof(*x));
		if (!x)
			return -ENOMEM;
		x->next = e->credits;
		e->credits = x;
		x->at = m;
		ret = parse_credit_op(p, m->key, x);
		if (!ret)
			ret = verdicts ? parse_verdict(p, m, x) : parse_asked(p, m, x);
		if (ret)
			return ret;
	}
	return 0;
}

static int parse_limits(struct parser *p, const struct node *n, struct expect *e)
{
	static const char *const names[] = { "length", "fast_commit", "max_transaction",
					     "tags_per_block", "overhead", "max_handle",
					     "max_reserved", "revokes_per_block", "max_order",
					     "folio_blocks" };
	struct expect_limit **tail = &e->limits;
	const struct node *m;
	size_t i;
	int ret;

	if (n->kind != NODE_MAP)
		return node_expected(p->path, n, p->err, "a map of limits");
	for (m = n->child; m; m = m->next) {
		for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (!strcmp(names[i], m->key->text))
				break;
		if (i == sizeof(names) / sizeof(names[0]))
			return node_expected(p->path, m->key, p->err, "length, fast_commit, "
					     "max_transaction, tags_per_block, overhead, "
					     "max_handle, max_reserved, revokes_per_block, "
					     "max_order or folio_blocks");
		*tail = arena_alloc(p->arena, sizeof(**tail));
		if (!*tail)
			return -ENOMEM;
		(*tail)->at = m;
		(*tail)->name = names[i];
		ret = parse_want(p, m, &(*tail)->want);
		if (ret)
			return ret;
		tail = &(*tail)->next;
	}
	return 0;
}

static int parse_rules(struct parser *p, const struct node *n, struct expect *e)
{
	const struct node *m;
	enum foliofs_rule rule;

	if (n->kind != NODE_LIST)
		return node_expected(p->path, n, p->err, "a list of rules that are broken");
	e->rules_at = n;
	for (m = n->child; m; m = m->next) {
		if (m->kind != NODE_SCALAR || foliofs_rule_find(m->text, &rule))
			return node_expected(p->path, m, p->err, "the name of a rule");
		e->rules[rule] = 1;
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
	if (!strcmp(key, "rules"))
		return parse_rules(p, m, e);
	return -ENOENT;
}

#define EXPECT_KEYS "events, sequences, states, crash, errors, results, credits, verdicts, " \
	"limits, rules"

static void expect_init(struct expect *e, const struct node *n)
{
	e->at = n;
	e->inode = (struct expect_inode){ .depth = -1, .order = -1, .indirect = -1,
					  .journal_flag = -1, .blocks = -1 };
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
