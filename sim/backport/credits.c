// SPDX-License-Identifier: MIT
/*
 * What a backport does to the credits: over many file systems, the operations whose handles are
 * refused under the picked kernel and under neither other, and the terms that grew.
 */
#include "backport/backport.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 40, TERMS = 6 };

static const char *const term_names[TERMS] = { "index", "bitmaps", "descriptors", "fixed", "data",
					       "reserve" };
static const char *const words[] = { "fits", "is refused", "may run dry", "may loop" };

/* One operation on one file system under the three kernels. */
struct point {
	struct foliofs_ask ask[BACKPORT_SIDES];
	enum foliofs_verdict verdict[BACKPORT_SIDES];
	struct foliofs_journal_limits limits; /* of the picked kernel */
	struct backport_case c;
};

/* Worse under the picked kernel than under both others, in one column. */
struct worse {
	unsigned int nr; /* file systems */
	struct point smallest;
};

struct growth {
	uint32_t from, to;
	struct backport_case c;
};

struct search {
	const struct backport *b;
	unsigned int nr_cases;
	struct worse worse[FOLIOFS_CREDIT_COUNT][COLUMNS];
	struct growth growth[FOLIOFS_CREDIT_COUNT][TERMS];
	unsigned int better[FOLIOFS_CREDIT_COUNT];
};

static uint32_t term(const struct foliofs_ask *a, unsigned int t)
{
	const uint32_t value[TERMS] = { a->credits.index, a->credits.bitmaps,
					a->credits.descriptors, a->credits.fixed, a->credits.data,
					a->rsv };

	return value[t];
}

static void ask(const struct foliofs_kernel *k, const struct foliofs_geometry *g,
		enum foliofs_credit_op op, struct foliofs_ask *a, enum foliofs_verdict *v)
{
	uint32_t len = foliofs_credit_op_len(g, op);
	struct foliofs_inode_kind i;

	foliofs_inode_kind_init(k, g, &i);
	*a = foliofs_ask(k, g, &i, op, len);
	*v = foliofs_credit_verdict(k, g, &i, op, len);
}

static bool applies(const struct backport *b, const struct foliofs_geometry *g,
		    enum foliofs_credit_op op)
{
	struct foliofs_inode_kind i;

	foliofs_inode_kind_init(&b->kernel[BACKPORT_PICKED], g, &i);
	return foliofs_credit_op_applies(&b->kernel[BACKPORT_PICKED], g, &i, op);
}

static void note(struct search *s, enum foliofs_credit_op op, const struct point *p)
{
	enum foliofs_verdict picked = p->verdict[BACKPORT_PICKED];
	struct worse *w = &s->worse[op][p->c.column];
	unsigned int t;

	for (t = 0; t < TERMS; t++) {
		struct growth *g = &s->growth[op][t];
		uint32_t from = term(&p->ask[BACKPORT_BASE], t);
		uint32_t to = term(&p->ask[BACKPORT_PICKED], t);

		if (to > from && to - from > g->to - g->from)
			*g = (struct growth){ from, to, p->c };
	}
	if (picked == FOLIOFS_FITS) {
		s->better[op] += p->verdict[BACKPORT_BASE] != FOLIOFS_FITS;
		return;
	}
	if (picked == p->verdict[BACKPORT_BASE] || picked == p->verdict[BACKPORT_NEWEST])
		return;
	if (!w->nr++)
		w->smallest = *p;
}

static int try_case(void *priv, const struct backport_case *c)
{
	struct search *s = priv;
	struct point p = { .c = *c };
	unsigned int op, side;

	s->nr_cases++;
	foliofs_journal_limits(&s->b->kernel[BACKPORT_PICKED], &c->g, &p.limits);
	for (op = 0; op < FOLIOFS_CREDIT_COUNT; op++) {
		if (!applies(s->b, &c->g, op))
			continue;
		for (side = 0; side < BACKPORT_SIDES; side++)
			ask(&s->b->kernel[side], &c->g, op, &p.ask[side], &p.verdict[side]);
		note(s, op, &p);
	}
	return 0;
}

/* Names of the single changes of the newest kernel that would make all of @list fit. */
static void print_cure(FILE *out, const struct backport *b, enum foliofs_credit_op op,
		       const struct worse *list, unsigned int nr)
{
	const char *before = "gone with";
	unsigned int c, i;

	for (c = 0; c < FOLIOFS_CHANGE_COUNT; c++) {
		struct foliofs_kernel k = b->kernel[BACKPORT_PICKED];
		struct foliofs_ask a;
		enum foliofs_verdict v;

		if (foliofs_kernel_has(&k, c) ||
		    !foliofs_kernel_has(&b->kernel[BACKPORT_NEWEST], c))
			continue;
		if (foliofs_kernel_with(&k, c))
			return;
		for (i = 0; i < nr; i++) {
			if (!list[i].nr)
				continue;
			ask(&k, &list[i].smallest.c.g, op, &a, &v);
			if (v != FOLIOFS_FITS)
				break;
		}
		if (i == nr) {
			fprintf(out, "%s %s", before, foliofs_change_name(c));
			before = ",";
		}
	}
	fprintf(out, *before == ',' ? "\n" : "gone with no single change\n");
}

static uint32_t requested(const struct point *p, unsigned int side)
{
	return foliofs_requested(&p->limits, p->ask[side].credits.total, p->ask[side].revokes);
}

static const char *pages(const struct backport_case *c)
{
	return c->g.page_size == 4096 ? "" :
	       c->g.page_size == 16384 ? ", 16K pages" : ", 64K pages";
}

static void print_point(FILE *out, const struct backport *b, const struct point *p)
{
	const struct foliofs_ask *a = &p->ask[BACKPORT_PICKED];
	unsigned int t;

	fprintf(out, "    %s%s: %u group%s, %s: asks %u of %u", p->c.mkfs, pages(&p->c),
		p->c.g.groups, p->c.g.groups == 1 ? "" : "s", words[p->verdict[BACKPORT_PICKED]],
		requested(p, BACKPORT_PICKED), p->limits.max_handle);
	if (a->rsv)
		fprintf(out, ", reserves %u of %u", a->rsv, p->limits.max_reserved);
	fprintf(out, "\n      under %s %u, under %s %u", b->kernel[BACKPORT_BASE].name,
		requested(p, BACKPORT_BASE), b->kernel[BACKPORT_NEWEST].name,
		requested(p, BACKPORT_NEWEST));
	for (t = 0; t < TERMS; t++) {
		uint32_t from = term(&p->ask[BACKPORT_BASE], t), to = term(a, t);

		if (from != to)
			fprintf(out, "; %s %u -> %u", term_names[t], from, to);
	}
	fputc('\n', out);
}

/*
 * The smallest file system of each of the columns [first, end) where @op got worse; the number of
 * all of them.
 */
static unsigned int print_columns(FILE *out, const struct backport *b, const struct worse *list,
				  unsigned int first, unsigned int end, bool print)
{
	unsigned int c, nr = 0;

	for (c = first; c < end; c++) {
		nr += list[c].nr;
		if (print && list[c].nr)
			print_point(out, b, &list[c].smallest);
	}
	return nr;
}

/* One operation; larger pages and features are told in detail where nothing else is. */
static bool print_operation(FILE *out, const struct search *s, enum foliofs_credit_op op)
{
	const struct worse *list = s->worse[op];
	unsigned int plain = print_columns(out, s->b, list, 0, BACKPORT_SMALL_PAGES, false);
	unsigned int all = print_columns(out, s->b, list, 0, COLUMNS, false);

	if (!all)
		return false;
	fprintf(out, "  %s - %s\n    on %u file systems; ", foliofs_credit_op_name(op),
		foliofs_credit_op_text(op), all);
	print_cure(out, s->b, op, list, plain ? BACKPORT_SMALL_PAGES : COLUMNS);
	print_columns(out, s->b, list, 0, plain ? BACKPORT_SMALL_PAGES : COLUMNS, true);
	return true;
}

static int print_operations(FILE *out, const struct search *s)
{
	unsigned int op;
	int nr = 0;

	for (op = 0; op < FOLIOFS_CREDIT_COUNT; op++) {
		if (!nr && print_columns(out, s->b, s->worse[op], 0, COLUMNS, false))
			fprintf(out, "\nworse than under %s and under %s, on the smallest of them\n",
				s->b->kernel[BACKPORT_BASE].name,
				s->b->kernel[BACKPORT_NEWEST].name);
		nr += print_operation(out, s, op);
	}
	return nr;
}

static void print_growth(FILE *out, const struct search *s)
{
	bool any = false;
	unsigned int op, t;

	for (op = 0; op < FOLIOFS_CREDIT_COUNT; op++)
		for (t = 0; t < TERMS; t++) {
			const struct growth *g = &s->growth[op][t];

			if (g->to <= g->from)
				continue;
			if (!any)
				fprintf(out, "\nterms that grew, most on\n");
			any = true;
			fprintf(out, "  %-20s %-11s %5u -> %5u   %s%s\n",
				foliofs_credit_op_name(op), term_names[t], g->from, g->to,
				g->c.mkfs, pages(&g->c));
		}
}

int backport_credits(FILE *out, const struct backport *b)
{
	struct search *s = calloc(1, sizeof(*s));
	unsigned int op, better = 0;
	int ret;

	if (!s)
		return -ENOMEM;
	s->b = b;
	backport_geometries(try_case, s);
	for (op = 0; op < FOLIOFS_CREDIT_COUNT; op++)
		better += s->better[op] > 0;
	fprintf(out, "\ncredits on %u file systems: %u operations are granted and enough where they "
		     "were not\n", s->nr_cases, better);
	ret = print_operations(out, s);
	print_growth(out, s);
	free(s);
	return ret;
}
