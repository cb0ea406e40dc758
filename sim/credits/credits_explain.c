// SPDX-License-Identifier: MIT
/* How one operation comes to its numbers: each term with its rule, its numbers and its source. */
#include "credits_report.h"

#include <errno.h>
#include <string.h>

static void terms(FILE *out, const struct foliofs_explain *e, bool reserved)
{
	for (unsigned int n = 0; n < e->nr; n++) {
		const struct foliofs_explain_line *line = &e->line[n];

		if (line->reserved != reserved)
			continue;
		/* what has always been so needs no line of its own */
		fprintf(out, "  %-14s%7u  %s", line->term, line->value, line->how);
		if (!strncmp(line->source, "ext4: ", 6))
			fprintf(out, "\n%27s%s\n", "", line->source);
		else
			fprintf(out, " (%s)\n", line->source);
	}
}

static void explain(FILE *out, const struct credits_file *f, const struct foliofs_geometry *g,
		    const struct foliofs_kernel *k, enum foliofs_credit_op op)
{
	struct foliofs_journal_limits l;
	struct foliofs_inode_kind kind;
	struct foliofs_explain e;
	struct foliofs_ask ask;
	enum foliofs_verdict v;
	uint32_t requested;
	char why[120];

	credits_kind(f, k, g, &kind);
	foliofs_journal_limits(k, g, &l);
	ask = foliofs_ask_explain(k, g, &kind, op, 0, &e);
	requested = foliofs_requested(&l, ask.credits.total, ask.revokes);
	fprintf(out, "%s under %s: %s\n", foliofs_credit_op_name(op), k->name,
		foliofs_credit_op_text(op));
	if (!foliofs_credit_op_applies(k, g, &kind, op)) {
		fprintf(out, "  does not happen to such a file on such a mount\n");
		return;
	}
	fprintf(out, "  %s\n", e.rule);
	terms(out, &e, false);
	fprintf(out, "  %-14s%7u\n", "= credits", ask.credits.total);
	fprintf(out, "  %-14s%7u  up(%u records / %u of a block)\n", "revokes",
		requested - ask.credits.total, ask.revokes, l.revokes_per_block);
	fprintf(out, "  %-14s%7u\n", "= requested", requested);
	if (ask.rsv) {
		terms(out, &e, true);
		fprintf(out, "  %-14s%7u\n", "= reserved", ask.rsv);
	}
	if (!g->journal_blocks)
		return;
	v = foliofs_credit_verdict(k, g, &kind, op, 0);
	credits_verdict_reason(k, g, &kind, op, why, sizeof(why));
	if (v == FOLIOFS_FITS)
		fprintf(out, "  fits: a handle may have %u, a reservation %u\n", l.max_handle,
			l.max_reserved);
	else
		fprintf(out, "  %s: %s\n", credits_verdict_name(v), why);
}

int credits_explain(FILE *out, const struct credits_file *f, const struct foliofs_geometry *g,
		    const struct foliofs_kernel *k, unsigned int nr_kernels,
		    enum foliofs_credit_op op)
{
	for (unsigned int n = 0; n < nr_kernels; n++) {
		if (n)
			fprintf(out, "\n");
		explain(out, f, g, &k[n], op);
	}
	return fflush(out) || ferror(out) ? -EIO : 0;
}
