// SPDX-License-Identifier: MIT
/*
 * foliosim report: a page with tables and plots from a capture folder (a
 * kernel's or a simulated one) or from the JSON of a run.
 */
#include "commands.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <foliofs/mkfs.h>

#include "kernels.h"
#include "out/report.h"

static const char usage[] =
	"usage: foliosim report [options] CAPTURE|FILE.json -o DIR\n"
	"\n"
	"  -o, --output DIR      write DIR/index.html and the sources of its plots\n"
	"  -t, --title TEXT      title of the page\n"
	"  -k, --kernels K,K..   add the credits of these kernels by block size\n"
	"      --size SIZE       of the file system that these are for (default 20g)\n"
	"      --journal SIZE    and of its journal (default: the smallest)\n"
	"  -j, --json            print the report as JSON, too (alone without -o)\n"
	"  -h, --help            this text\n";

struct arguments {
	const char *input, *output, *title;
	struct foliofs_kernel kernels[REPORT_KERNELS];
	size_t nr_kernels;
	uint64_t size, journal;
	bool json;
};

enum { EXIT_USAGE = 2, EXIT_REFUSED = 3, EXIT_OUTPUT = 4 };

static int usage_error(const char *what, const char *value)
{
	fprintf(stderr, "foliosim report: %s%s%s\n%s", what, value ? ": " : "", value ? value : "",
		usage);
	return EXIT_USAGE;
}

static int parse(struct arguments *a, int argc, char **argv)
{
	static const struct option options[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "title", required_argument, NULL, 't' },
		{ "kernels", required_argument, NULL, 'k' },
		{ "size", required_argument, NULL, 's' },
		{ "journal", required_argument, NULL, 'J' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	char err[240];
	int opt, ret;

	optind = 1;
	while ((opt = getopt_long(argc, argv, "o:t:k:jh", options, NULL)) != -1) {
		switch (opt) {
		case 'o':
			a->output = optarg;
			break;
		case 't':
			a->title = optarg;
			break;
		case 'k':
			ret = kernels_parse(optarg, NULL, a->kernels, REPORT_KERNELS, err, sizeof(err));
			if (ret < 0)
				return usage_error(err, NULL);
			a->nr_kernels = (size_t)ret;
			break;
		case 's':
			if (foliofs_parse_size(optarg, &a->size) || !a->size)
				return usage_error("--size: expected a size, got", optarg);
			break;
		case 'J':
			if (foliofs_parse_size(optarg, &a->journal) || a->journal < 1u << 20)
				return usage_error("--journal: expected a size of 1m or more, got",
						   optarg);
			break;
		case 'j':
			a->json = true;
			break;
		case 'h':
			fputs(usage, stdout);
			exit(0);
		default:
			fputs(usage, stderr);
			return EXIT_USAGE;
		}
	}
	if (optind + 1 != argc)
		return usage_error("expected one capture folder or JSON file", NULL);
	a->input = argv[optind];
	if (!a->output && !a->json)
		return usage_error("expected -o DIR", NULL);
	return 0;
}

static int load(struct report *r, const char *input)
{
	char err[4400];
	struct stat st;
	int ret;

	if (!stat(input, &st) && S_ISDIR(st.st_mode))
		ret = report_from_capture(r, input, err, sizeof(err));
	else
		ret = report_from_json(r, input, err, sizeof(err));
	if (ret)
		fprintf(stderr, "foliosim report: %s\n", err);
	return ret;
}

int cmd_report(int argc, char **argv)
{
	struct arguments a = { .size = 20ull << 30 };
	struct report r;
	int ret = parse(&a, argc, argv);

	if (ret)
		return ret;
	if (load(&r, a.input))
		return EXIT_REFUSED;
	if (a.title)
		snprintf(r.title, sizeof(r.title), "%s", a.title);
	if (a.nr_kernels)
		report_matrix_fill(&r, a.size, a.journal, 4096, a.kernels, a.nr_kernels);
	if (a.json)
		ret = report_to_json(&r, stdout);
	if (!ret && a.output)
		ret = report_page(&r, a.output, "foliosim report");
	report_free(&r);
	return ret ? EXIT_OUTPUT : 0;
}
