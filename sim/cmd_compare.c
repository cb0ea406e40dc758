// SPDX-License-Identifier: MIT
/* foliosim compare: one trace under several kernels. */
#include "commands.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kernels.h"
#include "replay/compare.h"

static const char usage[] =
	"usage: foliosim compare [options] TRACE\n"
	"\n"
	"Replays a trace (as foliosim replay does) under several kernels: what their handles ask\n"
	"and dirty, the rules they break, and the first event in which each differs from the first\n"
	"kernel.\n"
	"\n"
	"  --kernel K,K..       kernels (default: " KERNELS_DEFAULT "); those\n"
	"                       with ext4 on iomap as a mount option get it, but for --mount\n"
	"                       nobuffered_iomap\n"
	REPLAY_USAGE
	"  --report DIR         page with tables and plots: DIR/index.html\n"
	"  --json               the result as JSON\n"
	"  --help               this text\n"
	"\n"
	"Exit: 0 no rule broken and all the same, 1 a rule broken or a difference, 2 usage,\n"
	"3 input refused.\n";

enum { OPT_REPORT = 1, OPT_JSON };

static const struct option long_options[] = {
	REPLAY_LONG_OPTIONS,
	{ "report", required_argument, NULL, OPT_REPORT },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static int complain(int code, const char *text)
{
	fprintf(stderr, "foliosim compare: %s\n", text);
	return code;
}

static int write_report(const struct compare *c, const char *dir)
{
	struct report rep;
	int ret;

	compare_report(&rep, c);
	ret = report_page(&rep, dir, "foliosim compare");
	report_free(&rep);
	return ret ? 4 : 0;
}

/* The command that shows an operation of one of the runs. */
static void again(const struct replay_args *a, char *out, size_t len)
{
	const char *kernel = strstr(a->again, " --kernel ");
	size_t n = kernel ? (size_t)(kernel - a->again) : strlen(a->again);

	if (kernel)
		kernel += 10 + strcspn(kernel + 10, " ");
	snprintf(out, len, "foliosim replay%.*s%s", (int)n, a->again, kernel ? kernel : "");
}

/* The two data paths are what is compared: a kernel that has iomap as a mount option gets it. */
static void mount_iomap(struct replay_args *a, struct replay_setup *s, const struct foliofs_kernel *k,
			int nr)
{
	static char mount[512];
	const char *given = a->geometry.mount ? a->geometry.mount : "";

	if (!kernels_want_iomap(k, nr, given))
		return;
	s->geometry.mount.buffered_iomap = true;
	snprintf(mount, sizeof(mount), "%s%sbuffered_iomap", given, *given ? "," : "");
	replay_again(a, "--mount", mount);
}

static int compare(struct replay_args *a, const char *path, bool json, const char *report)
{
	struct foliofs_kernel k[REPLAY_KERNELS];
	struct replay_setup s;
	struct compare c;
	char err[4400], cmd[4500];
	int ret, nr;

	replay_again(a, "", path);
	if (replay_load(a, path, &s, err, sizeof(err)))
		return complain(3, err);
	if (!a->kernels)
		a->geometry.kernel[0] = 0; /* one kernel is no comparison */
	nr = replay_kernels(a, KERNELS_DEFAULT, k, err, sizeof(err));
	if (nr < 2) {
		replay_setup_free(&s);
		return complain(2, nr < 0 ? err : "--kernel: expected several kernels");
	}
	mount_iomap(a, &s, k, nr);
	ret = compare_run(&c, &s, k, nr, err, sizeof(err));
	if (ret) {
		ret = complain(ret == -EINVAL ? 3 : 4, err);
	} else {
		again(a, cmd, sizeof(cmd));
		if (!json)
			compare_print(stdout, &c, cmd);
		else if (compare_json(stdout, &c))
			ret = complain(4, "cannot write the result");
		if (!ret && report)
			ret = write_report(&c, report);
		if (!ret)
			ret = compare_found(&c);
	}
	compare_free(&c);
	replay_setup_free(&s);
	return ret;
}

int cmd_compare(int argc, char **argv)
{
	static struct replay_args a;
	const char *report = NULL;
	bool json = false;
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
		switch (opt) {
		case 'h':
			return fputs(usage, stdout) < 0 ? 4 : 0;
		case '?':
			return 2;
		case OPT_REPORT:
			report = optarg;
			break;
		case OPT_JSON:
			json = true;
			break;
		default:
			ret = replay_option(&a, opt, optarg);
			if (ret)
				return complain(2, ret < 0 ? a.error : "no such option");
		}
	}
	if (optind + 1 != argc)
		return complain(2, "expected one trace (foliosim compare --help)");
	return compare(&a, argv[optind], json, report);
}
