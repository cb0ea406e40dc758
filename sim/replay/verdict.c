// SPDX-License-Identifier: MIT
/* The verdict of a replay in words. */
#include <inttypes.h>
#include <string.h>

#include "kernels.h"
#include "result.h"

#define LISTED 12 /* members of a list */

const char *replay_op_text(const struct replay_setup *s, uint32_t id)
{
	const struct opvec *v = &s->trace.v;
	uint32_t lo = 0, hi = v->nr, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (v->ops[mid].id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < v->nr && v->ops[lo].id == id && v->texts[lo] ? v->texts[lo] : "";
}

void replay_print_input(FILE *f, const struct replay_setup *s)
{
	const struct foliofs_geometry *g = &s->geometry;

	fprintf(f, "trace        %s: %s, %" PRIu64 " lines, %u operations", s->path,
		trace_format_name(s->trace.format), s->trace.nr_lines, s->trace.v.nr);
	if (s->trace.root)
		fprintf(f, " below %s", s->trace.root);
	fprintf(f, "\nfile system  %" PRIu64
		" blocks of %u bytes, %u groups, pages of %u bytes%s\n",
		g->blocks_count, g->block_size, g->groups, g->page_size,
		s->default_geometry ? " (no geometry given: " REPLAY_DEFAULT_MKFS ")" : "");
}

static void print_kernel(FILE *f, const struct replay_setup *s, const struct replay_result *r)
{
	const struct foliofs_geometry *g = &s->geometry;
	struct foliofs_journal_limits l;

	fprintf(f, "kernel       %s\n", r->kernel.name);
	foliofs_journal_limits(&r->kernel, g, &l);
	if (g->journal_blocks)
		fprintf(f, "journal      %u blocks; a transaction takes %u, a handle %u, a "
			"reservation %u\n", g->journal_blocks, l.max_transaction, l.max_handle,
			l.max_reserved);
	else
		fprintf(f, "journal      none\n");
}

static void print_rules(FILE *f, const struct replay_setup *s, const struct replay_result *r,
			const char *again)
{
	size_t i;

	if (!r->nr_broken) {
		fprintf(f, "verdict      clean: no rule broken\n");
		return;
	}
	fprintf(f, "verdict      BROKEN: %zu rule%s, %" PRIu64 " times\n", r->nr_rules,
		r->nr_rules > 1 ? "s" : "", r->nr_broken);
	for (i = 0; i < r->nr_rules; i++) {
		const struct foliofs_broken *b = &r->broken[i];

		fprintf(f, "  %s: %s\n", foliofs_rule_name(b->rule), foliofs_rule_meaning(b->rule));
		fprintf(f, "    first in operation %u: %s\n", b->op, replay_op_text(s, b->op));
		if (b->ino)
			fprintf(f, "    inode %u: %s\n", b->ino, b->text);
		else
			fprintf(f, "    %s\n", b->text);
		fprintf(f, "    broken %" PRIu64 " times; see it again: %s --show %u --until %u\n",
			r->times[i], again, b->op, b->op);
	}
}

static void print_operations(FILE *f, const struct replay_result *r)
{
	const struct player *p = &r->player;
	char buf[24];
	uint64_t i;

	fprintf(f, "operations   %" PRIu64 " played, %" PRIu64 " with an error", p->played,
		p->failed);
	if (p->refused)
		fprintf(f, ", %" PRIu64 " that the model does not take", p->refused);
	fprintf(f, "\n");
	for (i = 0; i < p->failed && i < LISTED; i++) {
		const struct player_failure *x = &p->failure[i];

		fprintf(f, "  %u %s: %s%s%s\n", x->id, x->text, replay_errno(x->error, buf),
			*x->why ? ": " : "", x->why);
	}
	if (p->failed > LISTED)
		fprintf(f, "  ... and %" PRIu64 " more\n", p->failed - LISTED);
}

static void print_type(FILE *f, const char *name, const struct stats_type *t)
{
	fprintf(f, "  %-18s %9" PRIu64 " %9" PRIu64 " %8" PRId64 " %8" PRIu64 " %8" PRIu64 " %8"
		PRId64 " %7.0f%%", name, t->handles, t->asked, t->asked_max, t->extended,
		t->dirtied, t->dirtied_max, 100 * stats_tightness(t));
	if (t->restarts)
		fprintf(f, "  %" PRIu64 " restarts", t->restarts);
	if (t->refused)
		fprintf(f, "  %" PRIu64 " REFUSED", t->refused);
	if (t->extends_refused)
		fprintf(f, "  %" PRIu64 " extensions refused", t->extends_refused);
	if (t->dry)
		fprintf(f, "  %" PRIu64 " RAN DRY", t->dry);
	fprintf(f, "\n");
}

static void print_handles(FILE *f, const struct replay_setup *s, const struct stats *st)
{
	const struct stats_caller *c, *big = NULL;
	uint32_t i;

	if (!st->all.handles && !st->all.refused)
		return;
	fprintf(f, "handles      %12s %9s %8s %8s %8s %8s %8s\n", "number", "asked", "most",
		"extended", "dirtied", "most", "used");
	for (i = 0; i < FOLIOFS_HT_COUNT; i++)
		if (st->type[i].handles || st->type[i].refused)
			print_type(f, stats_type_name(i), &st->type[i]);
	print_type(f, "all", &st->all);
	for (i = 0; i < st->nr_callers; i++) {
		c = &st->caller[i];
		if (!big || c->asked + c->extended + c->rsv > big->asked + big->extended + big->rsv)
			big = c;
	}
	if (!big)
		return;
	fprintf(f, "largest handle: %s of %s asked %" PRId64, stats_type_name(big->type),
		*big->name ? big->name : "?", big->asked);
	if (big->rsv)
		fprintf(f, " and reserved %" PRId64, big->rsv);
	if (big->extended)
		fprintf(f, ", was extended by %" PRId64, big->extended);
	fprintf(f, ", dirtied %" PRId64 "\n                in operation %u: %s\n", big->dirtied,
		big->op, replay_op_text(s, big->op));
}

static void print_rest(FILE *f, const struct replay_result *r)
{
	const struct stats *st = &r->stats;
	bool any = false;
	unsigned int i;

	if (st->transactions)
		fprintf(f, "transactions %" PRIu64 " committed; most: %" PRIu64 " handles, %" PRIu64
			" blocks, %" PRIu64 " logged\n", st->transactions, st->t_handles_max,
			st->t_blocks_max, st->t_logged_max);
	for (i = 0; i < STATS_ORDERS; i++) {
		if (!st->order[i])
			continue;
		fprintf(f, "%s%s %" PRIu64 " of order %u", any ? "," : "folios      ",
			any ? "" : "", st->order[i], i);
		any = true;
	}
	if (any)
		fprintf(f, "\n");
	if (st->first_message[0])
		fprintf(f, "kernel log   %s\n", st->first_message);
	if (r->journal_error)
		fprintf(f, "the journal is aborted: %s\n", strerror(-r->journal_error));
	fprintf(f, "events       %" PRIu64 "\n", st->events);
}

/* The kernel's name says iomap, what ran does not. */
static void print_path(FILE *f, const struct replay_setup *s, const struct replay_result *r)
{
	if (kernel_iomap_by_mount(&r->kernel) && !s->geometry.mount.buffered_iomap)
		fprintf(f, "data path    buffer heads; iomap with --mount buffered_iomap\n");
}

void replay_print_trace(FILE *f, const struct trace *t)
{
	bool head = false;
	uint32_t i;

	for (i = 0; i < t->nr_assumptions; i++) {
		if (!i)
			fprintf(f, "assumed to be there before the trace: %u\n",
				t->nr_assumptions);
		if (i < LISTED)
			fprintf(f, "  %s%s, %" PRIu64 " bytes: %s\n", t->assumptions[i].path,
				t->assumptions[i].dir ? "/" : "", t->assumptions[i].size,
				t->assumptions[i].why ? t->assumptions[i].why : "");
	}
	if (t->nr_assumptions > LISTED)
		fprintf(f, "  ... and %u more\n", t->nr_assumptions - LISTED);
	for (i = 0; i < t->nr_calls; i++) {
		if (!t->calls[i].unmodelled)
			continue;
		fprintf(f, "%s %s (%" PRIu64 ")", head ? "," : "calls not modelled:",
			t->calls[i].name, t->calls[i].unmodelled);
		head = true;
	}
	if (head)
		fprintf(f, "\n");
	for (i = 0; i < t->nr_notes && i < LISTED; i++)
		fprintf(f, "note: %s\n", t->notes[i]);
	if (t->nr_notes > LISTED)
		fprintf(f, "  ... and %u more notes\n", t->nr_notes - LISTED);
	if (t->contradictions)
		fprintf(f, "places where the trace contradicts itself: %" PRIu64 "\n",
			t->contradictions);
}

void replay_print(FILE *f, const struct replay_setup *s, const struct replay_result *r,
		  const char *again)
{
	replay_print_input(f, s);
	print_kernel(f, s, r);
	print_path(f, s, r);
	print_rules(f, s, r, again);
	print_operations(f, r);
	print_handles(f, s, &r->stats);
	print_rest(f, r);
	replay_print_trace(f, &s->trace);
}
