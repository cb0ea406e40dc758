// SPDX-License-Identifier: MIT
/*
 * The table operation x kernel: head with the numbers of file system and journal, one line an
 * operation, and behind it a line for each verdict that is not "fits".
 */
#include "credits_report.h"

#include <errno.h>
#include <string.h>

#include "kernels.h"

struct table {
	FILE *out;
	const struct credits_file *file;
	const struct foliofs_geometry *g;
	const struct foliofs_kernel *k;
	unsigned int nr;
	int width[CREDITS_MAX_KERNELS]; /* of each kernel's column */
};

enum { NAME_WIDTH = 22, MIN_WIDTH = 12 };

static int finish(FILE *out)
{
	return fflush(out) || ferror(out) ? -EIO : 0;
}

static void head(const struct table *t)
{
	const struct foliofs_geometry *g = t->g;

	fprintf(t->out, "%-*s%llu blocks of %u, %u groups, %u descriptor blocks, pages of %u\n",
		NAME_WIDTH, "file system", (unsigned long long)g->blocks_count, g->block_size,
		g->groups, g->gdb_count, g->page_size);
	if (g->journal_blocks)
		fprintf(t->out, "%-*s%u blocks\n", NAME_WIDTH, "journal", g->journal_blocks);
	else
		fprintf(t->out, "%-*snone: the numbers are printed, nothing is refused\n",
			NAME_WIDTH, "journal");
}

static void cell(const struct table *t, unsigned int n, const char *text)
{
	fprintf(t->out, "%*s%s", t->width[n], text, n + 1 == t->nr ? "\n" : "");
}

/* A line of one number of the limits for each kernel. */
static void limit(const struct table *t, const char *name, size_t offset)
{
	char text[24];

	fprintf(t->out, "%-*s", NAME_WIDTH, name);
	for (unsigned int n = 0; n < t->nr; n++) {
		struct foliofs_journal_limits l;
		uint32_t value;

		foliofs_journal_limits(&t->k[n], t->g, &l);
		memcpy(&value, (const char *)&l + offset, sizeof(value));
		snprintf(text, sizeof(text), "%u", value);
		cell(t, n, text);
	}
}

static void limits(const struct table *t)
{
	char text[40];

	fprintf(t->out, "\n%-*s", NAME_WIDTH, "");
	for (unsigned int n = 0; n < t->nr; n++)
		cell(t, n, t->k[n].name);
	fprintf(t->out, "%-*s", NAME_WIDTH, "folio order:blocks");
	for (unsigned int n = 0; n < t->nr; n++) {
		struct foliofs_inode_kind kind;

		credits_kind(t->file, &t->k[n], t->g, &kind);
		snprintf(text, sizeof(text), "%u:%llu", kind.order,
			 ((unsigned long long)t->g->page_size << kind.order) / t->g->block_size);
		cell(t, n, text);
	}
	if (!t->g->journal_blocks)
		return;
	limit(t, "transaction", offsetof(struct foliofs_journal_limits, max_transaction));
	limit(t, "one handle", offsetof(struct foliofs_journal_limits, max_handle));
	limit(t, "one reservation", offsetof(struct foliofs_journal_limits, max_reserved));
}

static bool applies_somewhere(const struct table *t, enum foliofs_credit_op op)
{
	for (unsigned int n = 0; n < t->nr; n++) {
		struct foliofs_inode_kind kind;

		credits_kind(t->file, &t->k[n], t->g, &kind);
		if (foliofs_credit_op_applies(&t->k[n], t->g, &kind, op))
			return true;
	}
	return false;
}

static void operation(const struct table *t, enum foliofs_credit_op op)
{
	static const char marks[] = {
		[FOLIOFS_FITS] = ' ', [FOLIOFS_REFUSED] = '!',
		[FOLIOFS_RUNS_DRY] = '~', [FOLIOFS_LOOPS] = '@',
	};
	char text[40];

	fprintf(t->out, "%-*s", NAME_WIDTH, foliofs_credit_op_name(op));
	for (unsigned int n = 0; n < t->nr; n++) {
		const struct foliofs_kernel *k = &t->k[n];
		struct foliofs_inode_kind kind;
		struct foliofs_ask ask;
		int len;

		credits_kind(t->file, k, t->g, &kind);
		if (!foliofs_credit_op_applies(k, t->g, &kind, op)) {
			cell(t, n, "- ");
			continue;
		}
		ask = foliofs_ask(k, t->g, &kind, op, 0);
		len = snprintf(text, sizeof(text), "%u", ask.credits.total);
		if (ask.rsv)
			len += snprintf(text + len, sizeof(text) - len, "+%u", ask.rsv);
		snprintf(text + len, sizeof(text) - len, "%c",
			 marks[foliofs_credit_verdict(k, t->g, &kind, op, 0)]);
		cell(t, n, text);
	}
}

static void reasons(const struct table *t, enum foliofs_credit_op op)
{
	char text[120];

	for (unsigned int n = 0; n < t->nr; n++) {
		struct foliofs_inode_kind kind;
		enum foliofs_verdict v;

		credits_kind(t->file, &t->k[n], t->g, &kind);
		if (!foliofs_credit_op_applies(&t->k[n], t->g, &kind, op))
			continue;
		v = foliofs_credit_verdict(&t->k[n], t->g, &kind, op, 0);
		if (v == FOLIOFS_FITS)
			continue;
		credits_verdict_reason(&t->k[n], t->g, &kind, op, text, sizeof(text));
		fprintf(t->out, "%-*s%s: %s: %s\n", NAME_WIDTH, foliofs_credit_op_name(op),
			t->k[n].name, credits_verdict_name(v), text);
	}
}

/* The kernel's name says iomap, its column does not. */
static void paths(const struct table *t)
{
	for (unsigned int n = 0; n < t->nr; n++)
		if (kernel_iomap_by_mount(&t->k[n]) && !t->g->mount.buffered_iomap)
			fprintf(t->out, "%s: files on buffer heads; on iomap with --mount buffered_iomap\n",
				t->k[n].name);
}

int credits_table(FILE *out, const struct credits_file *f, const struct foliofs_geometry *g,
		  const struct foliofs_kernel *k, unsigned int nr_kernels)
{
	struct table t = { .out = out, .file = f, .g = g, .k = k, .nr = nr_kernels };

	for (unsigned int n = 0; n < nr_kernels; n++) {
		int len = (int)strlen(k[n].name) + 2;

		t.width[n] = len > MIN_WIDTH ? len : MIN_WIDTH;
	}
	head(&t);
	limits(&t);
	fprintf(out, "\ncredits asked + reserved   ! refused   ~ can run dry   @ can loop\n");
	for (unsigned int op = 0; op < FOLIOFS_CREDIT_COUNT; op++)
		if (applies_somewhere(&t, op))
			operation(&t, op);
	fprintf(out, "\n");
	for (unsigned int op = 0; op < FOLIOFS_CREDIT_COUNT; op++)
		reasons(&t, op);
	paths(&t);
	return finish(out);
}

int credits_report(FILE *out, const struct foliofs_geometry *g, const struct foliofs_kernel *k,
		   unsigned int nr_kernels)
{
	const struct credits_file fresh = { .order = -1 };

	return credits_table(out, &fresh, g, k, nr_kernels);
}

int credits_min_journal(FILE *out, const struct credits_file *f, const struct foliofs_geometry *g,
			const struct foliofs_kernel *k, unsigned int nr_kernels)
{
	struct foliofs_inode_kind kind;
	uint32_t blocks;

	if (!g->journal_blocks)
		fprintf(out, "the file system has no journal\n");
	for (unsigned int n = 0; g->journal_blocks && n < nr_kernels; n++) {
		credits_kind(f, &k[n], g, &kind);
		blocks = foliofs_min_journal(&k[n], g, &kind);
		if (blocks)
			fprintf(out, "%-*s %u blocks, mke2fs -J size=%u\n", NAME_WIDTH, k[n].name,
				blocks, credits_journal_size(g, blocks));
		else
			fprintf(out, "%-*s none\n", NAME_WIDTH, k[n].name);
	}
	return finish(out);
}
