// SPDX-License-Identifier: MIT
/*
 * Results as TAP (testanything.org, version 14): a YAML block for each failure.
 */
#include "scenario/output.h"

#include <stdlib.h>

/* A YAML scalar in double quotes. */
static void quoted(FILE *f, const char *key, const char *text)
{
	fprintf(f, "    %s: \"", key);
	for (; text && *text; text++) {
		if (*text == '\n')
			fputs("\\n", f);
		else if (*text == '"' || *text == '\\')
			fprintf(f, "\\%c", *text);
		else
			fputc(*text, f);
	}
	fputs("\"\n", f);
}

static void failures(FILE *f, const struct case_result *r)
{
	const struct failure *x;
	char *again = output_again(r);

	fprintf(f, "  ---\n");
	quoted(f, "again", again);
	free(again);
	fprintf(f, "    failures:\n");
	for (x = r->failures; x; x = x->next) {
		fprintf(f, "    - operation: %u\n", x->op);
		fprintf(f, "  ");
		quoted(f, "text", scenario_op_text(r->scenario, x->op));
		fprintf(f, "      at: \"%s:%u:%u\"\n", r->scenario->path, x->line, x->col);
		fprintf(f, "  ");
		quoted(f, "expected", x->expected);
		fprintf(f, "  ");
		quoted(f, "got", x->got);
	}
	fprintf(f, "  ...\n");
}

void output_tap(FILE *f, const struct case_result *r)
{
	unsigned int cases, failed, nr = 0;

	output_count(r, &cases, &failed);
	fprintf(f, "TAP version 14\n1..%u\n", cases);
	for (; r; r = r->next) {
		fprintf(f, "%sok %u - %s\n", r->nr_failures ? "not " : "", ++nr, r->name);
		if (r->nr_failures)
			failures(f, r);
	}
}
