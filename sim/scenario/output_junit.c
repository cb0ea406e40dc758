// SPDX-License-Identifier: MIT
/*
 * Results as JUnit XML.
 */
#include "scenario/output.h"

#include <stdlib.h>

static void escaped(FILE *f, const char *text)
{
	for (; text && *text; text++) {
		switch (*text) {
		case '&':
			fputs("&amp;", f);
			break;
		case '<':
			fputs("&lt;", f);
			break;
		case '>':
			fputs("&gt;", f);
			break;
		case '"':
			fputs("&quot;", f);
			break;
		default:
			if ((unsigned char)*text >= ' ' || *text == '\n' || *text == '\t')
				fputc(*text, f);
		}
	}
}

static void failure(FILE *f, const struct case_result *r, const struct failure *x)
{
	fputs("      <failure message=\"expected ", f);
	escaped(f, x->expected);
	fputs("\">", f);
	if (x->op) {
		fprintf(f, "operation %u: ", x->op);
		escaped(f, scenario_op_text(r->scenario, x->op));
		fputc('\n', f);
	}
	fputs("expected: ", f);
	escaped(f, x->expected);
	fputs("\ngot: ", f);
	escaped(f, x->got);
	fputs("\nat: ", f);
	escaped(f, r->scenario->path);
	fprintf(f, ":%u:%u", x->line, x->col);
	if (x->before) {
		fputs("\nbefore: ", f);
		escaped(f, x->before);
	}
	if (x->after) {
		fputs("\nafter: ", f);
		escaped(f, x->after);
	}
	fputs("</failure>\n", f);
}

void output_junit(FILE *f, const struct case_result *r)
{
	const struct failure *x;
	unsigned int cases, failed;

	output_count(r, &cases, &failed);
	fprintf(f, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
		"  <testsuite name=\"foliosim\" tests=\"%u\" failures=\"%u\">\n", cases, failed);
	for (; r; r = r->next) {
		fputs("    <testcase classname=\"", f);
		escaped(f, r->scenario->path);
		fputs("\" name=\"", f);
		escaped(f, r->name);
		fputs(r->failures ? "\">\n" : "\"/>\n", f);
		for (x = r->failures; x; x = x->next)
			failure(f, r, x);
		if (r->failures)
			fputs("    </testcase>\n", f);
	}
	fputs("  </testsuite>\n</testsuites>\n", f);
}
