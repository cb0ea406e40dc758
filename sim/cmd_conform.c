// SPDX-License-Identifier: MIT
/* foliosim conform: simulate captures of real kernels and compare, event for event. */
#define _GNU_SOURCE
#include <errno.h>
#include <ftw.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "conform/print.h"
#include "kernels.h"
#include "replay/plain.h"
#include "replay/simulate.h"

static const char usage_text[] =
	"Usage: foliosim conform [OPTIONS] CAPTURE...\n"
	"       foliosim conform [OPTIONS] --trace TRACE GEOMETRY OPS\n\n"
	"Simulates each capture of a real kernel (a folder with meta.yaml, ops.txt and\n"
	"events.txt) and compares: exit 0 the same, 1 a difference.\n\n"
	"  --kernel K           simulate under K, not under the capture's kernel\n"
	"  --family NAME        differences of this family only (folio, start, handle, ...)\n"
	"  --op N               differences of operation N only\n"
	"  --all                every difference, not the first of each capture\n"
	"  --left-out           kinds of events that are not compared, and why\n"
	"  --keep DIR           keep the simulated captures as DIR/NAME\n"
	"  --quiet              the table of families only\n\n"
	"A trace alone, from tracefs or trace-cmd, without markers of operations; OPS is an op\n"
	"list or another log of what was done.  Operations are found by system calls that the\n"
	"trace has too, else by order; kinds of events that it has none of are left out.\n\n"
	"  --trace FILE         the trace, plain or gzip\n"
	"  --dev MAJOR,MINOR    events of this device (default: dev of the meta.yaml)\n" REPLAY_USAGE;

struct conform_args {
	struct conform_filter filter;
	const char *kernel, *keep;
	bool left_out, quiet;
	bool needs_trace; /* an option that a capture folder answers itself */
	struct plain_trace plain; /* plain.trace: no captures, but this */
};

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static const char *base_name(const char *path, char buf[256])
{
	size_t n = strlen(path);
	const char *p;

	while (n > 1 && path[n - 1] == '/')
		n--;
	for (p = path + n; p > path && p[-1] != '/'; p--)
		;
	snprintf(buf, 256, "%.*s", (int)(path + n - p), p);
	return buf;
}

/* One capture (or the log of operations of a plain trace): 0 same, 1 differs, 3 refused. */
static int conform_one(struct conform_args *a, const char *dir, const char *work,
		       struct conform_count total[CONFORM_FAMILY_COUNT])
{
	char out[4096], err[4400], name[256];
	struct conform_result r;
	int ret;

	snprintf(out, sizeof(out), "%s/%s", work, base_name(dir, name));
	memset(&r, 0, sizeof(r));
	if (a->plain.trace) {
		a->plain.ops = dir;
		if (plain_conform(&a->plain, out, &r, err, sizeof(err))) {
			fprintf(stderr, "foliosim: %s\n", err);
			return 3;
		}
	} else if (simulate_capture(dir, out, a->kernel, err, sizeof(err))) {
		fprintf(stderr, "foliosim: %s: %s\n", dir, err);
		return 3;
	} else if (conform_compare(dir, out, NULL, &r)) {
		fprintf(stderr, "foliosim: %s: %s\n", dir, r.error);
		conform_free(&r);
		return 3;
	}
	if (!a->quiet)
		conform_print(stdout, &r, &a->filter);
	if (a->left_out)
		conform_print_left_out(stdout, &r);
	conform_sum(total, &r);
	ret = !conform_same(&r);
	conform_free(&r);
	return ret;
}

static int parse(int argc, char **argv, struct conform_args *a)
{
	static const struct option options[] = {
		REPLAY_LONG_OPTIONS,
		{ "trace", required_argument, NULL, 't' },  { "dev", required_argument, NULL, 'D' },
		{ "family", required_argument, NULL, 'f' },
		{ "op", required_argument, NULL, 'o' },	    { "all", no_argument, NULL, 'a' },
		{ "left-out", no_argument, NULL, 'l' },	    { "keep", required_argument, NULL, 'd' },
		{ "quiet", no_argument, NULL, 'q' },	    { "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	char *end;
	int c;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (c) {
		case 't':
			a->plain.trace = optarg;
			break;
		case 'D':
			a->plain.dev = optarg;
			break;
		case 'f':
			if (conform_family_find(optarg, &a->filter.family)) {
				fprintf(stderr, "foliosim conform: --family: expected a family of the "
					"table (folio, start, handle, ...), got '%s'\n", optarg);
				return 2;
			}
			a->filter.have_family = true;
			break;
		case 'o':
			a->filter.have_op = true;
			a->filter.op = (uint32_t)strtoul(optarg, &end, 10);
			if (!*optarg || *end) {
				fprintf(stderr, "foliosim conform: --op: expected a number, got '%s'\n",
					optarg);
				return 2;
			}
			break;
		case 'a':
			a->filter.all = true;
			break;
		case 'l':
			a->left_out = true;
			break;
		case 'd':
			a->keep = optarg;
			break;
		case 'q':
			a->quiet = true;
			break;
		case 'h':
			fputs(usage_text, stdout);
			return 0;
		case '?':
			fputs(usage_text, stderr);
			return 2;
		default:
			if (c == REPLAY_OPT_KERNEL)
				a->kernel = optarg;
			else
				a->needs_trace = true;
			if (replay_option(&a->plain.args, c, optarg)) {
				fprintf(stderr, "foliosim conform: %s\n", a->plain.args.error);
				return 2;
			}
		}
	}
	return -1;
}

int cmd_conform(int argc, char **argv)
{
	struct conform_count total[CONFORM_FAMILY_COUNT];
	static struct conform_args a;
	char work[] = "/tmp/foliosim-XXXXXX", err[240];
	struct foliofs_kernel k;
	const char *dir;
	int ret = parse(argc, argv, &a), worst = 0, same = 0, i;

	if (ret >= 0)
		return ret;
	if (optind == argc || (a.plain.trace && optind + 1 != argc)) {
		fputs(usage_text, stderr);
		return 2;
	}
	if (!a.plain.trace && (a.needs_trace || a.plain.dev)) {
		fputs("foliosim conform: captures know their geometry; this needs --trace\n", stderr);
		return 2;
	}
	if (!a.plain.trace && a.kernel && kernels_parse(a.kernel, NULL, &k, 1, err, sizeof(err)) < 0) {
		fprintf(stderr, "foliosim conform: --kernel: %s\n", err);
		return 2;
	}
	dir = a.keep ? a.keep : mkdtemp(work);
	if (!dir || (a.keep && mkdir(a.keep, 0777) && errno != EEXIST)) {
		perror("foliosim conform: folder for the simulated captures");
		return 4;
	}
	memset(total, 0, sizeof(total));
	for (i = optind; i < argc; i++) {
		ret = conform_one(&a, argv[i], dir, total);
		same += !ret;
		worst = ret > worst ? ret : worst;
	}
	conform_print_table(stdout, total);
	printf("captures the same in every family: %d of %d\n", same, argc - optind);
	if (!a.keep)
		nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	return worst;
}
