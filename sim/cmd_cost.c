// SPDX-License-Identifier: MIT
/* foliosim cost: the work of a trace on several paths, and the time that it predicts. */
#include "commands.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cost/print.h"

static const char usage[] =
	"usage: foliosim cost [options] TRACE\n"
	"       foliosim cost [options] --table FILE\n"
	"\n"
	"Replays a trace (as foliosim replay does) under several kernels, counts the work that each\n"
	"makes of it - folios, blocks, maps, handles, bios - and predicts the time of buffered reads\n"
	"and writes from that.  With --table: replays the workloads of a table of fio runs, and\n"
	"compares the ratios that were measured with those that are predicted.\n"
	"\n"
	"  --kernel K,K..       kernels (default: v6.15,v6.18,iomap-next-v2); those with ext4 on\n"
	"                       iomap as a mount option get it, but for --mount nobuffered_iomap\n"
	"  --beside META        one more: kernel and file system of this meta.yaml (XFS, say; may\n"
	"                       be repeated)\n"
	"  --device D           class of device: cache, ramdisk, nvme, loop, hole\n"
	"                       (default: ramdisk)\n"
	"  --constants FILE     what a piece of work costs (default: the file that is installed)\n"
	"  --table FILE         a table of fio runs (CSV: source,table,type,bs,overwrite,sync,\n"
	"                       writeback,path,iops)\n"
	REPLAY_USAGE
	"  --report DIR         page with tables and plots: DIR/index.html\n"
	"  --json               the result as JSON\n"
	"  --help               this text\n"
	"\n"
	"Exit: 0, 2 usage, 3 input refused.\n";

enum { OPT_REPORT = 1, OPT_JSON, OPT_BESIDE, OPT_DEVICE, OPT_CONSTANTS, OPT_TABLE };

static const struct option long_options[] = {
	REPLAY_LONG_OPTIONS,
	{ "beside", required_argument, NULL, OPT_BESIDE },
	{ "device", required_argument, NULL, OPT_DEVICE },
	{ "constants", required_argument, NULL, OPT_CONSTANTS },
	{ "table", required_argument, NULL, OPT_TABLE },
	{ "report", required_argument, NULL, OPT_REPORT },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct cost_args {
	struct replay_args replay;
	const char *device, *constants, *table, *report, *trace;
	const char *beside[COST_SIDES];
	int nr_beside;
	bool json;
};

static int complain(int code, const char *text)
{
	fprintf(stderr, "foliosim cost: %s\n", text);
	return code;
}

/* Kernels and file systems: 0, or an exit code. */
static int make_sides(struct cost_args *a, const struct replay_setup *s, struct cost_sides *sides)
{
	struct foliofs_kernel k[REPLAY_KERNELS];
	char err[4400];
	int nr, i;

	sides->nr = 0;
	if (s->geometry.fs_type == FOLIOFS_FS_EXT4)
		a->replay.geometry.kernel[0] = 0; /* that of the meta.yaml alone compares nothing */
	nr = replay_kernels(&a->replay, "v6.15,v6.18,iomap-next-v2", k, err, sizeof(err));
	if (nr < 0)
		return complain(2, err);
	if (cost_sides_of_kernels(sides, s, k, nr, err, sizeof(err)))
		return complain(2, err);
	for (i = 0; i < a->nr_beside; i++)
		if (cost_side_of_meta(sides, a->beside[i], err, sizeof(err)))
			return complain(3, err);
	return 0;
}

static int run_trace(const struct cost_args *a, const struct replay_setup *s,
		     struct cost_sides *sides, const struct cost_constants *c)
{
	const struct cost_result r = { s, sides, c, a->device };
	struct report rep;
	char err[4400];
	int i, ret;

	for (i = 0; i < sides->nr; i++) {
		ret = cost_run(&sides->side[i], s, err, sizeof(err));
		if (ret)
			return complain(ret == -EINVAL ? 3 : 4, err);
	}
	if (!a->json)
		cost_print(stdout, &r);
	else if (cost_json(stdout, &r))
		return complain(4, "cannot write the result");
	if (!a->report)
		return 0;
	cost_report(&rep, &r);
	ret = report_page(&rep, a->report, "foliosim cost") ? 4 : 0;
	report_free(&rep);
	return ret;
}

static int run_table(const struct cost_args *a, const struct replay_setup *s,
		     struct cost_sides *sides, const struct cost_constants *c)
{
	struct cost_table t;
	struct report rep;
	char err[4400];
	int ret = cost_table_load(&t, a->table, err, sizeof(err));

	if (ret)
		return complain(3, err);
	ret = cost_table_run(&t, sides, s, c, err, sizeof(err));
	if (ret)
		ret = complain(ret == -EINVAL ? 3 : 4, err);
	else if (!a->json)
		cost_table_print(stdout, &t, c);
	else if (cost_table_json(stdout, &t, c))
		ret = complain(4, "cannot write the result");
	if (!ret && a->report) {
		cost_table_report(&rep, &t, c);
		ret = report_page(&rep, a->report, "foliosim cost") ? 4 : 0;
		report_free(&rep);
	}
	cost_table_free(&t);
	return ret;
}

static int cost(struct cost_args *a)
{
	static struct cost_sides sides;
	struct cost_constants c;
	struct replay_setup s;
	char err[4400];
	int ret;

	if (cost_constants_load(&c, a->constants, err, sizeof(err)))
		return complain(3, err);
	ret = cost_device(&c, a->device, err, sizeof(err)) ? complain(2, err) : 0;
	if (!ret && (a->table ? replay_geometry(&a->replay, &s, err, sizeof(err)) :
				replay_load(&a->replay, a->trace, &s, err, sizeof(err))))
		ret = complain(3, err);
	if (!ret) {
		ret = make_sides(a, &s, &sides);
		if (!ret)
			ret = a->table ? run_table(a, &s, &sides, &c) :
					 run_trace(a, &s, &sides, &c);
		replay_setup_free(&s);
	}
	cost_constants_free(&c);
	return ret;
}

static int option(struct cost_args *a, int opt)
{
	int ret;

	switch (opt) {
	case OPT_REPORT:
		a->report = optarg;
		return 0;
	case OPT_JSON:
		a->json = true;
		return 0;
	case OPT_DEVICE:
		a->device = optarg;
		return 0;
	case OPT_CONSTANTS:
		a->constants = optarg;
		return 0;
	case OPT_TABLE:
		a->table = optarg;
		return 0;
	case OPT_BESIDE:
		if (a->nr_beside == COST_SIDES)
			return complain(2, "--beside: too many");
		a->beside[a->nr_beside++] = optarg;
		return 0;
	}
	ret = replay_option(&a->replay, opt, optarg);
	return ret ? complain(2, ret < 0 ? a->replay.error : "no such option") : 0;
}

int cmd_cost(int argc, char **argv)
{
	static struct cost_args a = { .device = "ramdisk" };
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
		if (opt == 'h')
			return fputs(usage, stdout) < 0 ? 4 : 0;
		ret = opt == '?' ? 2 : option(&a, opt);
		if (ret)
			return ret;
	}
	if (optind + !a.table != argc)
		return complain(2, "expected one trace, or --table (foliosim cost --help)");
	a.trace = argv[optind];
	return cost(&a);
}
