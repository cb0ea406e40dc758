// SPDX-License-Identifier: MIT
/*
 * Expectations on results of operations, on rules, and on what needs no file
 * system: credits and journal limits.
 */
#include "scenario/run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct expect_result *find_result(const struct expect *e, uint32_t op)
{
	const struct expect_result *x;

	for (x = e ? e->results : NULL; x; x = x->next)
		if (x->ops.first <= op && op <= x->ops.last)
			return x;
	return NULL;
}

void check_result(struct run *r, const struct scenario_line *line, uint32_t op, int64_t result)
{
	const struct expect_result *x = find_result(r->expect[1], op);
	char buf[32], want[60], *got;

	if (!x)
		x = find_result(r->expect[0], op);
	if (!x)
		x = line->result;
	if (!x ? result >= 0 :
	    x->error ? result < 0 && (!x->errno_value || result == -x->errno_value) :
		       result >= 0 && want_holds(&x->number, result))
		return;
	if (*foliofs_fs_error(r->fs))
		got = text_of("not modelled: %s", foliofs_fs_error(r->fs));
	else if (result < 0)
		got = text_of("%s", errno_text((int)-result, buf, sizeof(buf)));
	else
		got = text_of("%" PRId64, result);
	run_fail(r, op, x ? x->at : line->at,
		 text_of("%s: %s", scenario_op_text(r->s, op),
			 !x ? "success" :
			 x->error ? (x->errno_value ? x->name : "an error") :
				    want_text(&x->number, want, sizeof(want))), got);
}

static void inode_of(const struct run *r, const struct expect_inode *x,
		     struct foliofs_inode_kind *i)
{
	foliofs_inode_kind_init(&r->kernel, &r->geometry, i);
	if (x->journal_flag >= 0) {
		i->journal_flag = x->journal_flag;
		i->order = foliofs_max_order(&r->kernel, &r->geometry, i->journal_flag);
	}
	if (x->indirect >= 0)
		i->extents = !x->indirect;
	if (x->depth >= 0)
		i->depth = (uint8_t)x->depth;
	if (x->order >= 0)
		i->order = (uint8_t)x->order;
	if (x->blocks >= 0)
		i->i_blocks = (uint64_t)x->blocks;
	i->default_acl = x->default_acl > 0;
	i->encrypted_dir = x->encrypted_dir > 0;
	i->journal_data = foliofs_journals_data(&r->kernel, &r->geometry, i->regular,
						i->journal_flag, i->order);
}

static int64_t limit_of(const struct run *r, const struct foliofs_inode_kind *i, const char *name)
{
	struct foliofs_journal_limits l;

	foliofs_journal_limits(&r->kernel, &r->geometry, &l);
	if (!strcmp(name, "length"))
		return l.length;
	if (!strcmp(name, "fast_commit"))
		return l.fast_commit;
	if (!strcmp(name, "max_transaction"))
		return l.max_transaction;
	if (!strcmp(name, "tags_per_block"))
		return l.tags_per_block;
	if (!strcmp(name, "overhead"))
		return l.overhead;
	if (!strcmp(name, "max_handle"))
		return l.max_handle;
	if (!strcmp(name, "max_reserved"))
		return l.max_reserved;
	if (!strcmp(name, "revokes_per_block"))
		return l.revokes_per_block;
	if (!strcmp(name, "max_order"))
		return i->order;
	if (!strcmp(name, "stripe"))
		return foliofs_stripe(&r->geometry);
	return foliofs_blocks_per_folio(&r->geometry, i->order);
}

static void check_credit(struct run *r, const struct foliofs_inode_kind *inode,
			 const struct expect_credit *x)
{
	uint32_t len = x->has_len ? x->len : foliofs_credit_op_len(&r->geometry, x->op);
	const char *name = foliofs_credit_op_name(x->op);
	struct foliofs_ask ask;
	int verdict;
	char want[60], rsv[60];

	ask = foliofs_ask(&r->kernel, &r->geometry, inode, x->op, len);
	if (x->is_verdict) {
		verdict = foliofs_credit_verdict(&r->kernel, &r->geometry, inode, x->op, len);
		if (verdict != x->verdict)
			run_fail(r, 0, x->at,
				 text_of("verdict of %s: %s", name, verdict_names[x->verdict]),
				 text_of("%s: asks %u, reserves %u, may dirty %u",
					 verdict_names[verdict], ask.credits.total, ask.rsv,
					 foliofs_worst_case(&r->kernel, &r->geometry, inode, x->op,
							    len)));
		return;
	}
	if (want_holds(&x->asked, ask.credits.total) &&
	    (!x->has_rsv || want_holds(&x->rsv, ask.rsv)))
		return;
	run_fail(r, 0, x->at,
		 text_of("%s asks %s%s%s", name, want_text(&x->asked, want, sizeof(want)),
			 x->has_rsv ? " and reserves " : "",
			 x->has_rsv ? want_text(&x->rsv, rsv, sizeof(rsv)) : ""),
		 text_of("%u and %u: index %u + bitmaps %u + descriptors %u + fixed %u + data %u",
			 ask.credits.total, ask.rsv, ask.credits.index, ask.credits.bitmaps,
			 ask.credits.descriptors, ask.credits.fixed, ask.credits.data));
}

static void check_start(struct run *r, const struct expect_start *x)
{
	struct foliofs_journal_limits l;
	enum foliofs_verdict verdict;
	uint32_t requested;
	char want[60];

	foliofs_journal_limits(&r->kernel, &r->geometry, &l);
	requested = foliofs_requested(&l, x->blocks, x->revokes);
	verdict = foliofs_start_verdict(&l, requested, x->rsv);
	if (x->has_requested && !want_holds(&x->requested, requested))
		run_fail(r, 0, x->at, text_of("requested: %s",
					      want_text(&x->requested, want, sizeof(want))),
			 text_of("%u blocks, %u for each revoke block: %u", x->blocks,
				 l.revokes_per_block, requested));
	if (x->verdict >= 0 && x->verdict != (int)verdict)
		run_fail(r, 0, x->at, text_of("verdict of the start: %s",
					      verdict_names[x->verdict]),
			 text_of("%s: requested %u, reserved %u; a handle may have %u, an empty "
				 "transaction %u", verdict_names[verdict], requested, x->rsv,
				 l.max_handle, l.max_transaction - l.overhead));
}

void check_credits(struct run *r, const struct expect *e)
{
	const struct expect_credit *x;
	const struct expect_limit *l;
	const struct expect_start *s;
	struct foliofs_inode_kind inode;
	char want[60];

	for (s = e->starts; s; s = s->next)
		check_start(r, s);
	inode_of(r, &e->inode, &inode);
	for (x = e->credits; x; x = x->next)
		check_credit(r, &inode, x);
	for (l = e->limits; l; l = l->next) {
		int64_t got = limit_of(r, &inode, l->name);

		if (!want_holds(&l->want, got))
			run_fail(r, 0, l->at, text_of("limit %s: %s", l->name,
						      want_text(&l->want, want, sizeof(want))),
				 text_of("%" PRId64, got));
	}
}

void collect_rules(struct run *r, const struct foliofs_fs *fs)
{
	size_t i, nr = foliofs_fs_broken(fs);

	for (i = 0; i < nr && i < 1000; i++) {
		const struct foliofs_broken *b = foliofs_fs_broken_at(fs, i);

		if (!b || r->broken[b->rule])
			continue;
		r->broken[b->rule] = 1;
		snprintf(r->broken_text[b->rule], sizeof(r->broken_text[0]),
			 "operation %u, inode %u: %s", b->op, b->ino, b->text);
	}
}

void check_rules(struct run *r)
{
	const struct expect *e = r->expect[1] && r->expect[1]->rules_at ? r->expect[1] :
				 r->expect[0] && r->expect[0]->rules_at ? r->expect[0] : NULL;
	unsigned int i;

	for (i = 0; i < FOLIOFS_RULE_COUNT; i++) {
		const char *name = foliofs_rule_name(i);
		bool want = e && e->rules[i];
		unsigned int op = 0;

		if (want == r->broken[i])
			continue;
		if (r->broken[i])
			sscanf(r->broken_text[i], "operation %u", &op);
		run_fail(r, op, e ? e->rules_at : NULL,
			 text_of("rule %s %s: %s", name, want ? "broken" : "kept",
				 foliofs_rule_meaning(i)),
			 text_of("%s", want ? "it holds" : r->broken_text[i]));
	}
}
