// SPDX-License-Identifier: MIT
/*
 * foliosim backport: what some changes of a newer kernel do to an older one.
 */
#include "backport/backport.h"
#include "commands.h"

#include <getopt.h>
#include <string.h>
#include <sys/stat.h>

static const char usage[] =
	"usage: foliosim backport --base K --pick CHANGE... [options] [SCENARIO.yaml|DIR...]\n"
	"\n"
	"What is missing when changes are picked for an older kernel, and what they break there:\n"
	"prerequisites, credits over some hundred file systems, and scenarios that end otherwise\n"
	"than under the base and under the newest kernel.\n"
	"\n"
	"  -b, --base K         kernel that the changes are picked for\n"
	"  -p, --pick CHANGE,.. changes, as foliosim kernels lists them; more may follow as arguments\n"
	"  -n, --newest K       kernel to compare with (default: v6.18)\n"
	"  -h, --help           this text\n"
	"\n"
	"SCENARIO: default is scenarios/ if there is such a directory.  Exit: 0 nothing lacks and\n"
	"nothing gets worse, 1 something does, 2 usage, 3 a scenario cannot be read.\n";

static int complain(const char *what, const char *text)
{
	fprintf(stderr, "foliosim backport: %s%s\n", what, text);
	return 2;
}

static int parse_kernel(const char *spec, struct foliofs_kernel *k)
{
	char err[200];

	if (!foliofs_kernel_parse(spec, k, err, sizeof(err)))
		return 0;
	return complain("", err);
}

static int add_pick(struct backport *b, const char *name)
{
	if (b->nr_picks == BACKPORT_PICKS)
		return complain("too many changes: ", name);
	if (foliofs_change_find(name, &b->pick[b->nr_picks]))
		return complain("expected the name of a change (foliosim kernels lists them), got ",
				name);
	b->nr_picks++;
	return 0;
}

/* "A,B" of one argument. */
static int add_picks(struct backport *b, const char *list)
{
	char name[64];
	int ret = 0;

	while (*list && !ret) {
		size_t len = strcspn(list, ", ");

		snprintf(name, sizeof(name), "%.*s", (int)len, list);
		if (len)
			ret = add_pick(b, name);
		list += len;
		list += strspn(list, ", ");
	}
	return ret;
}

/* Arguments that are names of changes are picks, the others stay: their number. */
static int take_arguments(struct backport *b, char **argv, int nr)
{
	enum foliofs_change c;
	int i, left = 0;

	for (i = 0; i < nr; i++) {
		if (foliofs_change_find(argv[i], &c))
			argv[left++] = argv[i];
		else if (add_pick(b, argv[i]))
			return -1;
	}
	return left;
}

static int make_picked(struct backport *b)
{
	struct foliofs_kernel *k = &b->kernel[BACKPORT_PICKED];
	unsigned int i;

	*k = b->kernel[BACKPORT_BASE];
	for (i = 0; i < b->nr_picks; i++)
		if (!foliofs_kernel_has(k, b->pick[i]) && foliofs_kernel_with(k, b->pick[i]))
			return complain("too many changes for one name: ", k->name);
	return 0;
}

static int check(struct backport *b, char **paths, int nr_paths)
{
	static char directory[] = "scenarios", *standard[] = { directory };
	unsigned int lacks;
	int worse, differ;
	struct stat st;

	if (!nr_paths && !stat(directory, &st) && S_ISDIR(st.st_mode)) {
		paths = standard;
		nr_paths = 1;
	}
	lacks = backport_prerequisites(stdout, b);
	worse = backport_credits(stdout, b);
	if (worse < 0)
		return complain("", "out of memory"), 4;
	differ = backport_scenarios(stdout, b, paths, nr_paths);
	if (differ < 0)
		return 3;
	return lacks || worse || differ;
}

int cmd_backport(int argc, char **argv)
{
	static const struct option options[] = {
		{ "base", required_argument, NULL, 'b' },
		{ "pick", required_argument, NULL, 'p' },
		{ "newest", required_argument, NULL, 'n' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct backport b = { .nr_picks = 0 };
	const char *base = NULL, *newest = "v6.18";
	int c, nr, ret = 0;

	while ((c = getopt_long(argc, argv, "b:p:n:h", options, NULL)) != -1 && !ret) {
		if (c == 'b')
			base = optarg;
		else if (c == 'p')
			ret = add_picks(&b, optarg);
		else if (c == 'n')
			newest = optarg;
		else
			return fputs(usage, c == 'h' ? stdout : stderr), c == 'h' ? 0 : 2;
	}
	if (ret)
		return ret;
	nr = take_arguments(&b, argv + optind, argc - optind);
	if (nr < 0)
		return 2;
	if (!base || !b.nr_picks)
		return fputs(usage, stderr), 2;
	if (parse_kernel(base, &b.kernel[BACKPORT_BASE]) ||
	    parse_kernel(newest, &b.kernel[BACKPORT_NEWEST]) || make_picked(&b))
		return 2;
	return check(&b, argv + optind, nr);
}
