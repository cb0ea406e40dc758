// SPDX-License-Identifier: MIT
/* foliosim replay: a trace on the model, with a verdict. */
#include "commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/crash_every.h"
#include "replay/result.h"

static const char usage[] =
	"usage: foliosim replay [options] TRACE\n"
	"\n"
	"Replays a log of strace, an op list, a log of fio or of fsx (gzipped or not, -: standard\n"
	"input) and checks every rule behind every operation.\n"
	"\n"
	"  --kernel K           kernel (default: that of the meta.yaml, else v6.18)\n"
	REPLAY_USAGE
	"  --events FILE        every event as tracefs prints it (-: standard output, and no\n"
	"                       verdict)\n"
	"  --capture DIR        the run as a capture folder\n"
	"  --report DIR         page with tables and plots: DIR/index.html\n"
	"  --json               the result as JSON\n"
	"  --until N            stop behind operation N\n"
	"  --show N             state before and after operation N, its events in between\n"
	"  --crash-after N      cut the power behind operation N: what recovery leaves\n"
	"  --crash-every        cut the power at every event: each state that breaks a rule\n"
	"  --crash-at N         cut the power at event N: what recovery leaves\n"
	"  --help               this text\n"
	"\n"
	"Exit: 0 clean, 1 a rule is broken, 2 usage, 3 input refused.\n";

enum { OPT_EVENTS = 1, OPT_CAPTURE, OPT_REPORT, OPT_JSON, OPT_UNTIL, OPT_SHOW, OPT_CRASH,
       OPT_EVERY, OPT_AT };

static const struct option long_options[] = {
	REPLAY_LONG_OPTIONS,
	{ "events", required_argument, NULL, OPT_EVENTS },
	{ "capture", required_argument, NULL, OPT_CAPTURE },
	{ "report", required_argument, NULL, OPT_REPORT },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "until", required_argument, NULL, OPT_UNTIL },
	{ "show", required_argument, NULL, OPT_SHOW },
	{ "crash-after", required_argument, NULL, OPT_CRASH },
	{ "crash-every", no_argument, NULL, OPT_EVERY },
	{ "crash-at", required_argument, NULL, OPT_AT },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct request {
	struct replay_args args;
	struct replay_outputs out;
	struct crash_request cuts;
	const char *report;
	bool json;
};

static int complain(int code, const char *text)
{
	fprintf(stderr, "foliosim replay: %s\n", text);
	return code;
}

static int take_option(struct request *q, int opt, const char *arg)
{
	int ret;

	switch (opt) {
	case OPT_EVENTS:
		q->out.events = arg;
		return 0;
	case OPT_CAPTURE:
		q->out.capture = arg;
		return 0;
	case OPT_REPORT:
		q->report = arg;
		return 0;
	case OPT_JSON:
		q->json = true;
		return 0;
	case OPT_UNTIL:
		ret = replay_number(&q->args, "--until", "operation", arg, &q->out.until);
		break;
	case OPT_SHOW:
		ret = replay_number(&q->args, "--show", "operation", arg, &q->out.show);
		break;
	case OPT_EVERY:
		q->cuts.every = q->args.old_blocks = true;
		return 0;
	case OPT_AT:
		q->args.old_blocks = true;
		ret = replay_number(&q->args, "--crash-at", "event", arg, &q->cuts.at);
		break;
	case OPT_CRASH:
		ret = replay_number(&q->args, "--crash-after", "operation", arg,
				    &q->out.crash_after);
		break;
	default:
		ret = replay_option(&q->args, opt, arg);
	}
	if (ret < 0)
		complain(0, q->args.error);
	return ret ? -EINVAL : 0;
}

/* Everything that is asked for: exit code 0, or 4 if it cannot be written. */
static int put_out(const struct request *q, const struct replay_setup *s,
		   const struct replay_result *r)
{
	struct report rep;
	char again[4500];
	int ret = 0;

	snprintf(again, sizeof(again), "foliosim replay%s", q->args.again);
	if (!q->json && !(q->out.events && !strcmp(q->out.events, "-")))
		replay_print(stdout, s, r, again);
	if (!q->json && !q->report)
		return 0;
	replay_report(&rep, s, r);
	if (q->json)
		ret = report_to_json(&rep, stdout);
	if (ret)
		fprintf(stderr, "foliosim replay: cannot write the result: %s\n", strerror(-ret));
	else if (q->report)
		ret = report_page(&rep, q->report, "foliosim replay");
	report_free(&rep);
	return ret ? 4 : 0;
}

static int replay(struct request *q, const char *path)
{
	struct replay_result *r = calloc(1, sizeof(*r));
	struct foliofs_kernel k[REPLAY_KERNELS];
	struct replay_setup s;
	char err[4400];
	int ret, nr;

	if (!r)
		return complain(4, "out of memory");
	replay_again(&q->args, "", path);
	ret = replay_load(&q->args, path, &s, err, sizeof(err));
	if (ret) {
		free(r);
		return complain(3, err);
	}
	nr = replay_kernels(&q->args, "v6.18", k, err, sizeof(err));
	if (nr == 1 && (q->cuts.every || q->cuts.at)) {
		ret = crash_run(&s, k, &q->cuts, stdout, err, sizeof(err));
		ret = ret >= 0 ? ret : complain(ret == -EINVAL ? 3 : 4, err);
	} else if (nr == 1) {
		ret = replay_run(&s, k, &q->out, r, err, sizeof(err));
		if (!ret)
			ret = put_out(q, &s, r);
		else
			ret = complain(ret == -EINVAL ? 3 : 4, err);
		if (!ret && r->nr_broken)
			ret = 1;
	} else {
		ret = complain(2, nr < 0 ? err : "--kernel: expected one kernel; foliosim "
				   "compare takes several");
	}
	replay_setup_free(&s);
	free(r);
	return ret;
}

int cmd_replay(int argc, char **argv)
{
	static struct request q;
	int opt;

	while ((opt = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
		if (opt == 'h')
			return fputs(usage, stdout) < 0 ? 4 : 0;
		if (opt == '?' || take_option(&q, opt, optarg))
			return 2;
	}
	if (optind + 1 != argc)
		return complain(2, "expected one trace (foliosim replay --help)");
	return replay(&q, argv[optind]);
}
