// SPDX-License-Identifier: MIT
/*
 * The verdict for people: which operation, what was expected and where that is
 * written, what came, the state before and after, how to see it again.
 */
#define _GNU_SOURCE
#include "scenario/output.h"

#include <stdlib.h>
#include <string.h>

void output_count(const struct case_result *r, unsigned int *cases, unsigned int *failed)
{
	*cases = *failed = 0;
	for (; r; r = r->next) {
		++*cases;
		*failed += r->nr_failures != 0;
	}
}

char *output_again(const struct case_result *r)
{
	char *text;

	if (asprintf(&text, "foliosim run %s%s --only '[%s]' %s", r->inject ? "--inject " : "",
		     r->inject ? r->inject : "--verbose", r->label, r->scenario->path) < 0)
		return NULL;
	return text;
}

/* @text with each further line behind the same margin. */
static void print_block(FILE *f, const char *title, const char *text)
{
	size_t len;

	for (; *text; text += len + (text[len] == '\n')) {
		len = strcspn(text, "\n");
		fprintf(f, "    %-10s%.*s\n", title, (int)len, text);
		title = "";
	}
}

static void print_failure(FILE *f, const struct case_result *r, const struct failure *x)
{
	if (x->op)
		fprintf(f, "  operation %u: %s\n", x->op, scenario_op_text(r->scenario, x->op));
	else
		fprintf(f, "  at the end\n");
	print_block(f, "expected", x->expected ? x->expected : "");
	print_block(f, "got", x->got ? x->got : "");
	if (x->line)
		fprintf(f, "    %-10s%s:%u:%u\n", "says", r->scenario->path, x->line, x->col);
	if (x->before)
		print_block(f, "before", x->before);
	if (x->after)
		print_block(f, x->before ? "after" : "state", x->after);
}

void output_verdict(FILE *f, const struct case_result *r, unsigned int scenarios)
{
	const struct failure *x;
	unsigned int cases, failed;
	char *again;

	output_count(r, &cases, &failed);
	for (; r; r = r->next) {
		fprintf(f, "%-7s %s\n", r->nr_failures ? "FAILED" : "ok", r->name);
		if (r->log)
			fputs(r->log, f);
		if (!r->nr_failures)
			continue;
		fprintf(f, "  %s\n", r->why);
		for (x = r->failures; x; x = x->next)
			print_failure(f, r, x);
		again = output_again(r);
		fprintf(f, "  again: %s\n", again ? again : "");
		free(again);
	}
	fprintf(f, "%u scenarios, %u cases: %u passed, %u failed\n", scenarios, cases,
		cases - failed, failed);
}
