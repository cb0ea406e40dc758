// SPDX-License-Identifier: MIT
/* Scenarios that end differently with a backport: rules broken, operations that fail. */
#include "backport/backport.h"

#include <string.h>

#include "scenario/files.h"
#include "scenario/scenario.h"

static bool same(const struct scenario_outcome *a, const struct scenario_outcome *b)
{
	return a->started == b->started && a->nr_failed == b->nr_failed &&
	       a->first_failed == b->first_failed && a->first_error == b->first_error &&
	       !memcmp(a->broken, b->broken, sizeof(a->broken));
}

static void print_outcome(FILE *out, const struct scenario *s, const char *kernel,
			  const struct scenario_outcome *o)
{
	const char *blank = "";
	char buf[32];
	unsigned int i;

	fprintf(out, "    %-32s ", kernel);
	if (!o->started)
		fprintf(out, "cannot be prepared");
	for (i = 0; i < FOLIOFS_RULE_COUNT; i++)
		if (o->broken[i]) {
			fprintf(out, "%s%s", blank, foliofs_rule_name(i));
			blank = ", ";
		}
	if (o->started && !*blank && !o->nr_failed)
		fprintf(out, "clean");
	if (o->nr_failed)
		fprintf(out, "%soperation %u (%s): %s", blank, o->first_failed,
			scenario_op_text(s, o->first_failed),
			errno_text(o->first_error, buf, sizeof(buf)));
	fputc('\n', out);
}

/* A variant with changes of its own is not about these kernels. */
static bool fitting(const struct scenario *s, const struct variant *v)
{
	return !v || (v->setup.nr_with == s->setup.nr_with &&
		      v->setup.nr_without == s->setup.nr_without);
}

static int one(FILE *out, const struct backport *b, const struct scenario *s,
	       const struct variant *v, int nr)
{
	struct scenario_outcome o[BACKPORT_SIDES];
	unsigned int i;

	for (i = 0; i < BACKPORT_SIDES; i++)
		if (scenario_outcome(s, v, &b->kernel[i], &o[i]))
			return 0;
	if (same(&o[BACKPORT_PICKED], &o[BACKPORT_BASE]) ||
	    same(&o[BACKPORT_PICKED], &o[BACKPORT_NEWEST]))
		return 0;
	if (!nr)
		fprintf(out, "\nscenarios that end differently than under both\n");
	fprintf(out, "  %s%s%s\n    %s\n", s->path, v ? ", " : "", v ? v->name : "",
		v && v->why ? v->why : s->why);
	for (i = 0; i < BACKPORT_SIDES; i++)
		print_outcome(out, s, b->kernel[i].name, &o[i]);
	return 1;
}

int backport_scenarios(FILE *out, const struct backport *b, char **paths, int nr_paths)
{
	struct scenario_files files = { 0 };
	struct place_error err = { "" };
	const struct variant *v;
	struct scenario *s;
	int nr = 0, ret = 0;
	size_t i;

	for (i = 0; (int)i < nr_paths && !ret; i++)
		ret = scenario_files_add(&files, paths[i]);
	for (i = 0; i < files.nr && !ret; i++) {
		ret = scenario_load(files.path[i], &s, &err);
		if (ret) {
			fprintf(stderr, "foliosim backport: %s\n", err.text);
			break;
		}
		nr += one(out, b, s, NULL, nr);
		for (v = s->variants; v; v = v->next)
			if (fitting(s, v))
				nr += one(out, b, s, v, nr);
		scenario_free(s);
	}
	if (!ret && files.nr && !nr)
		fprintf(out, "\nno scenario of %zu ends differently than under both\n", files.nr);
	scenario_files_free(&files);
	return ret ? ret : nr;
}
