// SPDX-License-Identifier: MIT
/*
 * foliosim credits: what journal credits every operation asks on a file system, under which
 * kernels, and whether the journal can take it.
 */
#include "commands.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "credits/credits_report.h"
#include "geometry/geometry_options.h"
#include "kernels.h"
#include "out/report.h"

static const char usage[] =
	"usage: foliosim credits [options] GEOMETRY\n"
	"\n"
	"GEOMETRY is one of --image, --meta, --mkfs:\n"
	GEOMETRY_USAGE
	"\n"
	"  -k, --kernel K,K..   kernels (default: that of the meta.yaml, else\n"
	"                       " KERNELS_DEFAULT ")\n"
	"  -w, --with CHANGE    with this change (may be repeated)\n"
	"  -W, --without CHANGE without this change (may be repeated)\n"
	"  -e, --explain OP     how OP comes to its numbers, term by term\n"
	"  -m, --min-journal    smallest journal that refuses no operation\n"
	"  -d, --depth N        depth of the file's extent tree, 0 to 5 (default 0)\n"
	"  -i, --indirect       the file is mapped by indirect blocks\n"
	"  -o, --order N        largest folio order of the file, 0 to 11 (default: the kernel's)\n"
	"  -b, --i-blocks N     blocks of the file, for truncate and evict (default 0)\n"
	"  -j, --json           everything as JSON\n"
	"  -r, --report DIR     a page: writeback by block size and kernel against the journal\n"
	"  -h, --help           this text\n";

static const struct option long_options[] = {
	GEOMETRY_LONG_OPTIONS,
	{ "kernel", required_argument, NULL, 'k' },
	{ "with", required_argument, NULL, 'w' },
	{ "without", required_argument, NULL, 'W' },
	{ "explain", required_argument, NULL, 'e' },
	{ "min-journal", no_argument, NULL, 'm' },
	{ "depth", required_argument, NULL, 'd' },
	{ "indirect", no_argument, NULL, 'i' },
	{ "order", required_argument, NULL, 'o' },
	{ "i-blocks", required_argument, NULL, 'b' },
	{ "json", no_argument, NULL, 'j' },
	{ "report", required_argument, NULL, 'r' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct request {
	struct geometry_args geometry;
	struct credits_file file;
	const char *kernels, *report;
	struct kernel_changes changes;
	enum foliofs_credit_op explain; /* FOLIOFS_CREDIT_COUNT: none */
	bool min_journal, json;
};

static int complain(int code, const char *fmt, const char *what)
{
	fprintf(stderr, "foliosim credits: ");
	fprintf(stderr, fmt, what);
	fputc('\n', stderr);
	return code;
}

/* A decimal number of at most @max. */
static int take_number(const char *arg, unsigned long max, unsigned long *v)
{
	char *end;

	errno = 0;
	*v = strtoul(arg, &end, 10);
	if (errno || *end || arg[0] < '0' || arg[0] > '9' || *v > max) {
		fprintf(stderr, "foliosim credits: \"%s\": expected a number from 0 to %lu\n", arg,
			max);
		return -EINVAL;
	}
	return 0;
}

static int take_option(struct request *r, int opt, const char *arg)
{
	unsigned long v = 0;
	int ret = 0;

	switch (opt) {
	case 'k':
		r->kernels = arg;
		break;
	case 'w':
	case 'W':
		if (kernel_changes_add(&r->changes, opt == 'w', arg))
			return complain(-EINVAL, "too many changes at \"%s\"", arg);
		break;
	case 'e':
		if (foliofs_credit_op_find(arg, &r->explain))
			return complain(-EINVAL, "no operation \"%s\" (the table lists them)", arg);
		break;
	case 'm':
		r->min_journal = true;
		break;
	case 'd':
		ret = take_number(arg, 5, &v);
		r->file.depth = (uint8_t)v;
		break;
	case 'i':
		r->file.indirect = true;
		break;
	case 'o':
		ret = take_number(arg, 11, &v);
		r->file.order = (int)v;
		break;
	case 'b':
		ret = take_number(arg, 1ul << 40, &v);
		r->file.i_blocks = v;
		break;
	case 'j':
		r->json = true;
		break;
	case 'r':
		r->report = arg;
		break;
	default:
		ret = geometry_option(&r->geometry, opt, arg);
		if (ret < 0)
			complain(-EINVAL, "%s", r->geometry.error);
	}
	return ret ? -EINVAL : 0;
}

/* The matrix for file systems of this size with a journal of this size. */
static int write_report(const struct request *r, const struct foliofs_geometry *g,
			const struct foliofs_kernel *k, int nr)
{
	struct report rep;
	int ret;

	report_init(&rep, "Journal credits");
	report_environment(&rep, &k[0], g);
	if (nr > 1) /* each has its column */
		snprintf(rep.kernel, sizeof(rep.kernel), "%d kernels", nr);
	report_matrix_fill(&rep, g->blocks_count * g->block_size,
			   (uint64_t)g->journal_blocks * g->block_size, g->page_size, k, (size_t)nr);
	ret = report_page(&rep, r->report, "foliosim credits");
	report_free(&rep);
	return ret;
}

int cmd_credits(int argc, char **argv)
{
	struct request r = { .file.order = -1, .explain = FOLIOFS_CREDIT_COUNT };
	struct foliofs_kernel k[CREDITS_MAX_KERNELS];
	struct foliofs_geometry g;
	const char *list;
	char err[256];
	int opt, nr, ret;

	while ((opt = getopt_long(argc, argv, "k:w:W:e:md:io:b:jr:h", long_options, NULL)) != -1) {
		if (opt == 'h')
			return fputs(usage, stdout) < 0 ? 4 : 0;
		if (opt == '?' || take_option(&r, opt, optarg))
			return 2;
	}
	if (optind < argc)
		return complain(2, "\"%s\" is no option", argv[optind]);
	if (!geometry_given(&r.geometry))
		return complain(2, "%s", "no file system: give --image, --meta or --mkfs");
	if (geometry_load(&r.geometry, &g, err, sizeof(err)))
		return complain(3, "%s", err);
	list = r.kernels ? r.kernels : r.geometry.kernel[0] ? r.geometry.kernel : KERNELS_DEFAULT;
	nr = kernels_parse(list, &r.changes, k, CREDITS_MAX_KERNELS, err, sizeof(err));
	if (nr < 0)
		return complain(2, "%s", err);
	if (r.report && nr > REPORT_KERNELS)
		return complain(2, "%s", "too many kernels for a page");
	if (r.json)
		ret = credits_json(stdout, &r.file, &g, k, nr);
	else if (r.min_journal)
		ret = credits_min_journal(stdout, &r.file, &g, k, nr);
	else if (r.explain != FOLIOFS_CREDIT_COUNT)
		ret = credits_explain(stdout, &r.file, &g, k, nr, r.explain);
	else
		ret = credits_table(stdout, &r.file, &g, k, nr);
	if (!ret && r.report && write_report(&r, &g, k, nr))
		return 4;
	return ret ? complain(4, "%s", "cannot write the result") : 0;
}
