// SPDX-License-Identifier: MIT
/*
 * The page of a report: plain HTML with its style and its plots inside, readable
 * without scripts and on paper.
 */
#include "report_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char style[] =
	"body { font: 15px/1.5 'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif;\n"
	"  color: #1c1c1c; background: #fff; max-width: 60rem; margin: 2rem auto; padding: 0 "
	"1.5rem }\n"
	"h1 { font-size: 1.5rem; font-weight: 600; margin: 0 0 .2rem }\n"
	"h2 { font-size: 1.1rem; font-weight: 600; margin: 2.2rem 0 .5rem;\n"
	"  border-bottom: 1px solid #d6d6d6; padding-bottom: .2rem }\n"
	"p.sub { color: #666; margin: 0 0 1.2rem }\n"
	".verdict { border-left: 5px solid #777; background: #f6f6f6; padding: .7rem 1rem;\n"
	"  margin: 1rem 0 }\n"
	".verdict.clean { border-color: #2e7d4f }\n"
	".verdict.broken { border-color: #b3261e }\n"
	".verdict b { margin-right: .5rem }\n"
	"table { border-collapse: collapse; margin: .4rem 0 1rem; font-size: 14px;\n"
	"  font-variant-numeric: tabular-nums }\n"
	"th, td { padding: .22rem .7rem; text-align: right; border-bottom: 1px solid #e4e4e4;\n"
	"  vertical-align: top }\n"
	"th { font-weight: 600; border-bottom: 1px solid #888; white-space: nowrap }\n"
	"th:first-child, td:first-child, td.t, th.t { text-align: left }\n"
	"td.t { white-space: nowrap } td.w { text-align: left }\n"
	"table.facts td { border: 0; padding: .08rem 1.2rem .08rem 0; text-align: left }\n"
	"table.facts td:first-child { color: #666; white-space: nowrap }\n"
	"tr.sum td { border-top: 1px solid #888; font-weight: 600 }\n"
	"td.bad { color: #b3261e; font-weight: 600 }\n"
	"td.none { color: #aaa }\n"
	"code, td.c { font-family: 'DejaVu Sans Mono', Menlo, Consolas, monospace; font-size: "
	"13px }\n"
	"figure { margin: .5rem 0 1rem } svg { max-width: 100%; height: auto }\n"
	"figcaption, p.note { color: #555; font-size: 13.5px; margin: .2rem 0 .6rem }\n"
	"footer { margin-top: 3rem; color: #777; font-size: 13px; border-top: 1px solid #d6d6d6;\n"
	"  padding-top: .5rem }\n"
	"@media print { body { max-width: none; margin: 0 } h2, figure, table { break-inside: "
	"avoid } }\n";

void report_escape(FILE *out, const char *s)
{
	for (; *s; s++) {
		switch (*s) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			if ((unsigned char)*s >= 32 || *s == '\n' || *s == '\t')
				fputc(*s, out);
		}
	}
}

/* A cell with a number; nothing happened is shown as a dash. */
static void cell(FILE *out, uint64_t v, bool bad)
{
	if (!v)
		fputs("<td class=none>&ndash;</td>", out);
	else
		fprintf(out, "<td%s>%" PRIu64 "</td>", bad ? " class=bad" : "", v);
}

static void head(const struct report *r, FILE *out)
{
	static const char *const classes[] = { "clean", "broken", "unjudged" };
	static const char *const words[] = { "Clean.", "Broken.", "" };
	size_t i;

	fputs("<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
	      "<meta name=viewport content=\"width=device-width\">\n<title>",
	      out);
	report_escape(out, r->title);
	fprintf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>", style);
	report_escape(out, r->title);
	fputs("</h1>\n<p class=sub>", out);
	if (r->stats)
		fputs("journal handles, folios and extents of one run", out);
	else if (r->nr_grids)
		fputs("work of the data paths", out);
	else
		fputs("journal credits", out);
	if (r->kernel[0]) {
		fputs(", under ", out);
		report_escape(out, r->kernel);
	}
	fputs("</p>\n", out);
	if (r->verdict[0]) {
		fprintf(out, "<div class=\"verdict %s\"><b>%s</b>", classes[r->outcome],
			words[r->outcome]);
		report_escape(out, r->verdict);
		fputs("</div>\n", out);
	}
	if (!r->nr_pairs)
		return;
	fputs("<table class=facts>\n", out);
	for (i = 0; i < r->nr_pairs; i++) {
		fputs("<tr><td>", out);
		report_escape(out, r->pairs[i].key);
		fputs("</td><td>", out);
		report_escape(out, r->pairs[i].value);
		fputs("</td></tr>\n", out);
	}
	fputs("</table>\n", out);
}

static void plot(const struct report_plots *p, enum report_plot_id id, FILE *out)
{
	if (!p->wanted[id])
		return;
	if (p->svg[id])
		fprintf(out, "<figure>\n%s</figure>\n", p->svg[id]);
	else
		fprintf(out,
			"<p class=note>No plot: gnuplot %s. Draw it with <code>gnuplot "
			"%s.gp</code> in "
			"this folder.</p>\n",
			p->missing ? "is not installed" : "failed", report_plot_name(id));
}

static void rules(const struct stats *s, FILE *out)
{
	uint32_t i;

	if (!s->nr_rules)
		return;
	fputs("<h2>Rules broken</h2>\n<table>\n<tr><th>rule<th>times<th>first at<th class=t>what "
	      "was found</tr>\n",
	      out);
	for (i = 0; i < s->nr_rules; i++) {
		fputs("<tr><td class=bad>", out);
		report_escape(out, s->rule[i].id);
		fprintf(out, "</td><td>%" PRIu64 "</td><td>op&nbsp;%u</td><td class=w>",
			s->rule[i].count, s->rule[i].op);
		report_escape(out, s->rule[i].text);
		fputs("</td></tr>\n", out);
	}
	fputs("</table>\n", out);
}

static void type_row(FILE *out, const char *name, const struct stats_type *t, bool sum)
{
	fprintf(out, "<tr%s><td>%s</td>", sum ? " class=sum" : "", name);
	cell(out, t->handles, false);
	cell(out, t->asked, false);
	cell(out, t->extended, false);
	cell(out, t->rsv, false);
	cell(out, t->dirtied, false);
	if (t->asked + t->extended)
		fprintf(out, "<td>%.1f&nbsp;%%</td>", 100.0 * stats_tightness(t));
	else
		fputs("<td class=none>&ndash;</td>", out);
	cell(out, (uint64_t)(t->asked_max > 0 ? t->asked_max : 0), false);
	cell(out, (uint64_t)(t->dirtied_max > 0 ? t->dirtied_max : 0), false);
	cell(out, t->restarts, false);
	cell(out, t->refused, true);
	cell(out, t->dry, true);
	fputs("</tr>\n", out);
}

static void handles(const struct report *r, const struct report_plots *p, FILE *out)
{
	const struct stats *s = r->stats;
	unsigned int i;

	fputs("<h2>Handles by type</h2>\n", out);
	if (!s->all.handles && !s->all.refused) {
		fputs("<p>No journal handle was started.</p>\n", out);
		return;
	}
	fputs("<table>\n<tr><th>type<th>handles<th>asked<th>extended<th>reserved<th>dirtied"
	      "<th>used<th>largest<th>dirtied, max<th>restarts<th>refused<th>ran dry</tr>\n",
	      out);
	for (i = 0; i < FOLIOFS_HT_COUNT; i++)
		if (s->type[i].handles || s->type[i].refused)
			type_row(out, stats_type_name(i), &s->type[i], false);
	type_row(out, "all", &s->all, true);
	fputs("</table>\n<p class=note>Blocks, summed over the handles of a type. <i>used</i>: "
	      "dirtied of what was granted (asked and extended); <i>largest</i>: most granted to "
	      "one handle.</p>\n",
	      out);
	fputs("<h2>Credits over the run</h2>\n", out);
	plot(p, PLOT_CREDITS, out);
	if (s->all.handles && s->step_width > 1)
		fprintf(out, "<p class=note>Each step is the largest of %" PRIu64 " handles.</p>\n",
			s->step_width);
}

static int by_size(const void *a, const void *b)
{
	const struct stats_caller *x = *(const struct stats_caller *const *)a;
	const struct stats_caller *y = *(const struct stats_caller *const *)b;
	int64_t n = x->asked + x->extended + x->rsv, m = y->asked + y->extended + y->rsv;

	return n != m ? (n < m) - (n > m) : strcmp(x->name, y->name);
}

static void largest(const struct report *r, FILE *out)
{
	const struct stats_caller *list[STATS_CALLERS];
	const struct stats *s = r->stats;
	uint32_t i;

	if (!s->nr_callers)
		return;
	for (i = 0; i < s->nr_callers; i++)
		list[i] = &s->caller[i];
	qsort(list, s->nr_callers, sizeof(list[0]), by_size);
	fputs("<h2>Largest handles</h2>\n<table>\n<tr><th>started by<th class=t>type<th>asked"
	      "<th>extended<th>reserved<th>dirtied<th>of the limit<th>op<th>handles"
	      "<th>dirtied, max</tr>\n",
	      out);
	for (i = 0; i < s->nr_callers && i < 15; i++) {
		const struct stats_caller *c = list[i];
		int64_t all = c->asked + c->rsv;

		fputs("<tr><td class=c>", out);
		report_escape(out, c->name[0] ? c->name : "(not traced)");
		fprintf(out, "</td><td class=t>%s</td><td>%" PRId64 "</td>",
			stats_type_name(c->type), c->asked);
		cell(out, (uint64_t)(c->extended > 0 ? c->extended : 0), false);
		cell(out, (uint64_t)c->rsv, false);
		fprintf(out, "<td>%" PRId64 "</td>", c->dirtied);
		if (r->max_handle)
			fprintf(out, "<td%s>%.0f&nbsp;%%</td>",
				all > r->max_handle ? " class=bad" : "",
				100.0 * (double)all / r->max_handle);
		else
			fputs("<td class=none>&ndash;</td>", out);
		fprintf(out, "<td>%u</td><td>%" PRIu64 "</td><td>%" PRId64 "</td></tr>\n", c->op,
			c->handles, c->dirtied_max);
	}
	fputs("</table>\n<p class=note>For each function that starts handles, the largest of them; "
	      "<i>of the limit</i>: asked and reserved, of what one handle may have.</p>\n",
	      out);
}

static void folios(const struct report *r, const struct report_plots *p, FILE *out)
{
	const struct stats *s = r->stats;
	unsigned int i, top = 0;

	for (i = 0; i < STATS_ORDERS; i++)
		if (s->order[i])
			top = i + 1;
	if (!top)
		return;
	fputs("<h2>Folio orders over the run</h2>\n", out);
	plot(p, PLOT_ORDERS, out);
	fputs("<table>\n<tr><th>order", out);
	for (i = 0; i < top; i++)
		fprintf(out, "<th>%u", i);
	fputs("</tr>\n<tr><td>folios added</td>", out);
	for (i = 0; i < top; i++)
		cell(out, s->order[i], false);
	fprintf(out, "</tr>\n</table>\n<p class=note>%" PRIu64 " folios left the page cache.</p>\n",
		s->deleted);
}

static void blocks(const struct report *r, const struct report_plots *p, FILE *out)
{
	const struct stats *s = r->stats;

	fputs("<h2>Transactions, writeback, allocation</h2>\n<table class=facts>\n", out);
	if (s->transactions)
		fprintf(out,
			"<tr><td>Transactions</td><td>%" PRIu64 ": %" PRIu64 " handles (at "
				"most %" PRIu64
			" in one), %" PRIu64 " blocks (at most %" PRIu64 "), %" PRIu64
			" blocks logged (at most %" PRIu64 ")</td></tr>\n",
			s->transactions, s->t_handles, s->t_handles_max, s->t_blocks,
			s->t_blocks_max, s->t_logged, s->t_logged_max);
	fprintf(out,
		"<tr><td>Writeback</td><td>%" PRIu64 " rounds, %" PRIu64
		" of them with nothing to write; %" PRIu64 " pages written</td></tr>\n",
		s->rounds, s->rounds_empty, s->folios_written);
	fprintf(out,
		"<tr><td>Extents mapped</td><td>%" PRIu64 ", %" PRIu64 " blocks</td></tr>\n"
		"<tr><td>Pieces allocated</td><td>%" PRIu64 ", %" PRIu64 " blocks</td></tr>\n"
		"<tr><td>Freed</td><td>%" PRIu64 " pieces, %" PRIu64 " blocks</td></tr>\n"
			"</table>\n",
		s->extents_mapped, s->blocks_mapped, s->pieces, s->piece_blocks, s->frees,
		s->freed_blocks);
	plot(p, PLOT_EXTENTS, out);
}

static void matrix(const struct report *r, const struct report_plots *p, FILE *out)
{
	static const char *const words[] = { "fits", "refused", "may run dry", "may loop" };
	const struct report_matrix *m = &r->matrix;
	uint32_t i, k;

	if (!m->nr_kernels)
		return;
	fputs("<h2>Writeback of the largest folio: block size by kernel</h2>\n<p class=note>", out);
	report_escape(out, m->title);
	fputs("; asked + reserved, in blocks, against the limit of one handle.</p>\n", out);
	plot(p, PLOT_MATRIX, out);
	fputs("<table>\n<tr><th>block size", out);
	for (k = 0; k < m->nr_kernels; k++) {
		fputs("<th>", out);
		report_escape(out, m->kernel[k]);
	}
	fputs("</tr>\n", out);
	for (i = 0; i < m->nr_sizes; i++) {
		fprintf(out, "<tr><td>%u</td>", m->block_size[i]);
		for (k = 0; k < m->nr_kernels; k++) {
			const struct report_cell *c = &m->cell[i][k];

			fprintf(out,
				"<td%s>%u&nbsp;+&nbsp;%u<br>of %u<br>%s</td>",
				c->verdict == FOLIOFS_FITS ? "" : " class=bad", c->asked, c->rsv,
				c->max_handle,
				(unsigned int)c->verdict < 4 ? words[c->verdict] : "");
		}
		fputs("</tr>\n", out);
	}
	fputs("</table>\n<p class=note><i>refused</i>: the start fails with ENOSPC; <i>may run "
	      "dry</i>: granted, but the worst case (every extent in a group of its own) dirties "
	      "more, and the journal is aborted.</p>\n",
	      out);
}

static void notes(const struct report *r, FILE *out)
{
	const char *before = "";
	size_t i;

	for (i = 0; i < r->nr_notes; i++) {
		if (strcmp(before, r->notes[i].heading)) {
			if (*before)
				fputs("</ul>\n", out);
			fputs("<h2>", out);
			report_escape(out, r->notes[i].heading);
			fputs("</h2>\n<ul>\n", out);
			before = r->notes[i].heading;
		}
		fputs("<li>", out);
		report_escape(out, r->notes[i].text);
		fputs("</li>\n", out);
	}
	if (*before)
		fputs("</ul>\n", out);
}

void report_html(const struct report *r, const struct report_plots *p, FILE *out)
{
	unsigned int i;

	head(r, out);
	if (r->stats) {
		rules(r->stats, out);
		handles(r, p, out);
		largest(r, out);
		folios(r, p, out);
		blocks(r, p, out);
	}
	matrix(r, p, out);
	if (r->nr_points)
		fputs("<h2>Measured against predicted</h2>\n", out);
	plot(p, PLOT_RATIOS, out);
	report_grids_html(r, out);
	notes(r, out);
	fputs("<footer>Made by foliosim, a model of ext4 and jbd2 with large folios.", out);
	for (i = 0; i < PLOT_COUNT && !p->wanted[i]; i++)
		;
	if (i < PLOT_COUNT)
		fputs(" Data and scripts of the plots lie beside this page (*.dat, *.gp).", out);
	fputs("</footer>\n</body>\n</html>\n", out);
}
