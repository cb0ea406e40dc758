// SPDX-License-Identifier: MIT
/*
 * Expectations of scenarios that are pure arithmetic: credits, verdicts, limits of the journal,
 * starts of handles.
 */
#include "scenario/parse.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* By enum foliofs_verdict. */
const char *const verdict_names[] = { "fits", "refused", "dry", "loops" };

/* Where to note what the inode is or is not; NULL: no such key. */
static int *inode_flag(struct expect_inode *x, const char *key)
{
	return !strcmp(key, "indirect") ? &x->indirect :
	       !strcmp(key, "journal_flag") ? &x->journal_flag :
	       !strcmp(key, "default_acl") ? &x->default_acl :
	       !strcmp(key, "encrypted_dir") ? &x->encrypted_dir : NULL;
}

static int parse_inode(struct parser *p, const struct node *n, struct expect_inode *x)
{
	const struct node *m;
	uint64_t value;
	bool yes = false;
	int *flag, ret = 0;

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
		} else if ((flag = inode_flag(x, key))) {
			ret = parse_bool(p, m, &yes);
			*flag = yes;
		} else {
			ret = node_expected(p->path, m->key, p->err, "depth, order, blocks, "
					    "indirect, journal_flag, default_acl or encrypted_dir");
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

static int parse_verdict(struct parser *p, const struct node *m, int *verdict)
{
	int i;

	for (i = 0; i < 4 && m->kind == NODE_SCALAR; i++)
		if (!strcmp(verdict_names[i], m->text)) {
			*verdict = i;
			return 0;
		}
	return node_expected(p->path, m, p->err, "fits, refused, dry or loops");
}

/* Behind "credits", or "verdicts": "NAME [LENGTH]: ...". */
int parse_credits(struct parser *p, const struct node *n, bool verdicts, struct expect *e)
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
		x->is_verdict = verdicts;
		ret = parse_credit_op(p, m->key, x);
		if (!ret)
			ret = verdicts ? parse_verdict(p, m, &x->verdict) : parse_asked(p, m, x);
		if (ret)
			return ret;
	}
	return 0;
}

static int parse_start(struct parser *p, const struct node *n, struct expect_start *x)
{
	const struct node *m;
	uint64_t value = 0;
	int ret = 0;

	x->at = n;
	x->verdict = -1;
	if (n->kind != NODE_MAP)
		return node_expected(p->path, n, p->err, "a map of a handle's start");
	for (m = n->child; m && !ret; m = m->next) {
		const char *key = m->key->text;
		uint32_t *number = !strcmp(key, "blocks") ? &x->blocks :
				   !strcmp(key, "revokes") ? &x->revokes :
				   !strcmp(key, "reserved") ? &x->rsv : NULL;

		if (number) {
			ret = parse_number(p, m, INT32_MAX, &value);
			*number = (uint32_t)value;
		} else if (!strcmp(key, "requested")) {
			x->has_requested = true;
			ret = parse_want(p, m, &x->requested);
		} else if (!strcmp(key, "verdict")) {
			ret = parse_verdict(p, m, &x->verdict);
		} else {
			ret = node_expected(p->path, m->key, p->err,
					    "blocks, revokes, reserved, requested or verdict");
		}
	}
	if (!ret && !x->has_requested && x->verdict < 0)
		ret = node_error(p->path, n, p->err, "expected requested or verdict, got neither");
	return ret;
}

int parse_starts(struct parser *p, const struct node *n, struct expect *e)
{
	struct expect_start **tail = &e->starts;
	const struct node *m;
	int ret;

	if (n->kind != NODE_LIST)
		return node_expected(p->path, n, p->err, "a list of starts of handles");
	for (m = n->child; m; m = m->next) {
		*tail = arena_alloc(p->arena, sizeof(**tail));
		if (!*tail)
			return -ENOMEM;
		ret = parse_start(p, m, *tail);
		if (ret)
			return ret;
		tail = &(*tail)->next;
	}
	return 0;
}

int parse_limits(struct parser *p, const struct node *n, struct expect *e)
{
	static const char *const names[] = { "length", "fast_commit", "max_transaction",
					     "tags_per_block", "overhead", "max_handle",
					     "max_reserved", "revokes_per_block", "max_order",
					     "folio_blocks", "stripe" };
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
					     "max_order, folio_blocks or stripe");
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
