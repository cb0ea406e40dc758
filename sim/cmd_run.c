// SPDX-License-Identifier: MIT
/*
 * foliosim run: scenarios and their expectations.
 */
#include "commands.h"
#include "kernels.h"
#include "scenario/files.h"
#include "scenario/output.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CHANGES 32

static const char usage[] =
	"usage: foliosim run [options] SCENARIO.yaml|DIR...\n"
	"\n"
	"  -t, --tap            results as TAP\n"
	"  -J, --junit FILE     results as JUnit XML to FILE (-: standard output), too\n"
	"  -j, --json           results as JSON\n"
	"  -k, --kernel K       this kernel instead of those of the scenarios\n"
	"  -w, --with CHANGE    with this change (may be repeated)\n"
	"  -W, --without CHANGE without this change (may be repeated)\n"
	"  -o, --only TEXT      only cases whose name has this text\n"
	"  -i, --inject WHAT    let each failure of the kind WHAT (all: of every kind) happen in\n"
	"                       turn; what must hold then, instead of the expectations\n"
	"  -p, --places N       of each kind the first N places where it can happen, behind them\n"
	"                       ever fewer (default: all)\n"
	"  -v, --verbose        print operations, results and events\n"
	"  -h, --help           this text\n";

struct output {
	bool tap, json;
	const char *junit;
};

static int print_results(const struct output *out, const struct case_result *r, unsigned int nr)
{
	FILE *f = stdout;

	if (out->tap)
		output_tap(stdout, r);
	else if (out->json)
		output_json(stdout, r);
	else if (!out->junit || strcmp(out->junit, "-"))
		output_verdict(stdout, r, nr);
	if (!out->junit)
		return 0;
	if (strcmp(out->junit, "-"))
		f = fopen(out->junit, "w");
	if (!f) {
		fprintf(stderr, "foliosim run: %s: %s\n", out->junit, strerror(errno));
		return 2;
	}
	output_junit(f, r);
	if (f != stdout)
		fclose(f);
	return 0;
}

static int run_all(const struct scenario_files *l, const struct run_options *o, const struct output *out)
{
	struct scenario **s = calloc(l->nr, sizeof(*s));
	struct case_result *results = NULL, **tail = &results;
	struct place_error err = { "out of memory" };
	unsigned int cases, failed;
	int ret = s ? 0 : 4;
	size_t i;

	for (i = 0; s && i < l->nr; i++)
		if (scenario_load(l->path[i], &s[i], &err)) {
			fprintf(stderr, "foliosim run: %s\n", err.text);
			ret = 3;
		}
	for (i = 0; i < l->nr && !ret; i++)
		if (scenario_run(s[i], o, &tail, &err)) {
			fprintf(stderr, "foliosim run: %s\n", err.text);
			ret = 2;
		}
	output_count(results, &cases, &failed);
	if (*o->inject_left_out)
		fprintf(stderr, "foliosim run --inject: %u cases not tried: without operations, with "
			"failures of their own, or with a change taken away\n", *o->inject_left_out);
	if (!ret && !cases) {
		fprintf(stderr, "foliosim run: expected cases to run, got none%s%s\n",
			o->only ? " with a name like " : "", o->only ? o->only : "");
		ret = 2;
	}
	if (!ret)
		ret = print_results(out, results, (unsigned int)l->nr);
	if (!ret && failed)
		ret = 1;
	case_results_free(results);
	for (i = 0; s && i < l->nr; i++)
		scenario_free(s[i]);
	free(s);
	return ret;
}

static bool known_failure(const char *name)
{
	enum foliofs_failure what;

	if (!strcmp(name, "all") || !foliofs_failure_find(name, &what))
		return true;
	fprintf(stderr, "foliosim run: --inject: expected all, memory, short-copy, extend, reserve, "
		"enospc, eio or start, got '%s'\n", name);
	return false;
}

static bool read_places(const char *text, uint32_t *places)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text >= '0' && *text <= '9' && !*end && n <= UINT32_MAX) {
		*places = (uint32_t)n;
		return true;
	}
	fprintf(stderr, "foliosim run: --places: expected a number, got '%s'\n", text);
	return false;
}

int cmd_run(int argc, char **argv)
{
	static const struct option options[] = {
		{ "tap", no_argument, NULL, 't' }, { "junit", required_argument, NULL, 'J' },
		{ "json", no_argument, NULL, 'j' }, { "kernel", required_argument, NULL, 'k' },
		{ "with", required_argument, NULL, 'w' },
		{ "without", required_argument, NULL, 'W' },
		{ "only", required_argument, NULL, 'o' }, { "verbose", no_argument, NULL, 'v' },
		{ "inject", required_argument, NULL, 'i' },
		{ "places", required_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' }, { NULL, 0, NULL, 0 },
	};
	const char *with[MAX_CHANGES], *without[MAX_CHANGES];
	unsigned int left_out = 0;
	struct run_options o = { .with = with, .without = without,
				 .inject_left_out = &left_out };
	struct output out = { 0 };
	struct scenario_files l = { 0 };
	struct foliofs_kernel kernel;
	char err[240];
	int c, ret = 0;

	while ((c = getopt_long(argc, argv, "tJ:jk:w:W:o:i:p:vh", options, NULL)) != -1) {
		if (c == 't') {
			out.tap = true;
		} else if (c == 'J') {
			out.junit = optarg;
		} else if (c == 'j') {
			out.json = true;
		} else if (c == 'k') {
			o.kernel = optarg;
		} else if (c == 'w' && o.nr_with < MAX_CHANGES) {
			with[o.nr_with++] = optarg;
		} else if (c == 'W' && o.nr_without < MAX_CHANGES) {
			without[o.nr_without++] = optarg;
		} else if (c == 'o') {
			o.only = optarg;
		} else if (c == 'i' && known_failure(optarg)) {
			o.inject = optarg;
		} else if (c == 'p' && read_places(optarg, &o.inject_all_up_to)) {
			;
		} else if (c == 'v') {
			o.verbose = true;
		} else {
			return fputs(usage, c == 'h' ? stdout : stderr), c == 'h' ? 0 : 2;
		}
	}
	if (optind == argc)
		return fputs(usage, stderr), 2;
	if (o.kernel && !foliofs_kernel_parse(o.kernel, &kernel, err, sizeof(err)))
		kernel_tell_lacks(&kernel);
	for (; optind < argc && !ret; optind++)
		ret = scenario_files_add(&l, argv[optind]);
	if (ret)
		fprintf(stderr, "foliosim run: %s: %s\n", argv[optind - 1], strerror(-ret));
	ret = ret ? 3 : run_all(&l, &o, &out);
	scenario_files_free(&l);
	return ret;
}
