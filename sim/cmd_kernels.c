// SPDX-License-Identifier: MIT
/*
 * foliosim kernels: the kernels and changes that the model knows, a kernel's changes and missing
 * prerequisites, the difference of two kernels.
 */
#include "commands.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include <foliofs/kernel.h>

static const char usage[] =
	"usage: foliosim kernels              list kernels and changes\n"
	"       foliosim kernels K            changes of a kernel, and prerequisites it lacks\n"
	"       foliosim kernels K K          difference of two\n"
	"\n"
	"K is NAME[+CHANGE|-CHANGE...]: a name of the list or a release (6.12.117), with changes\n"
	"added or taken away.  Exit status 1: a prerequisite is missing; two kernels differ.\n";

enum { NAME_WIDTH = 24 };

static int finish(int code)
{
	return fflush(stdout) || ferror(stdout) ? 4 : code;
}

static int parse(const char *spec, struct foliofs_kernel *k)
{
	char err[200];

	if (!foliofs_kernel_parse(spec, k, err, sizeof(err)))
		return 0;
	fprintf(stderr, "foliosim kernels: %s\n", err);
	return 2;
}

static void print_change(enum foliofs_change c, const char *mark)
{
	printf("%s%-*s %s\n", mark, NAME_WIDTH, foliofs_change_name(c), foliofs_change_meaning(c));
	printf("%*s   %s\n", NAME_WIDTH, "", foliofs_change_source(c));
	if (foliofs_change_needs(c)[0])
		printf("%*s   needs %s\n", NAME_WIDTH, "", foliofs_change_needs(c));
}

static int list_all(void)
{
	printf("kernels\n");
	for (unsigned int i = 0; foliofs_kernel_name(i); i++)
		printf("  %-*s %s\n", NAME_WIDTH, foliofs_kernel_name(i), foliofs_kernel_meaning(i));
	printf("\nchanges\n");
	for (unsigned int c = 0; c < FOLIOFS_CHANGE_COUNT; c++)
		print_change(c, "  ");
	return finish(0);
}

/* Each prerequisite of @c that @k lacks: their number. */
static unsigned int print_missing(const struct foliofs_kernel *k, enum foliofs_change c)
{
	const char *list = foliofs_change_needs(c);
	unsigned int nr = 0;

	while (*list) {
		size_t len = strcspn(list, " ");
		enum foliofs_change need;
		char name[64];

		snprintf(name, sizeof(name), "%.*s", (int)len, list);
		if (!foliofs_change_find(name, &need) && !foliofs_kernel_has(k, need)) {
			printf("%s lacks %s, which %s needs\n", k->name, name,
			       foliofs_change_name(c));
			printf("  %s: %s\n", name, foliofs_change_meaning(need));
			if (foliofs_change_without(need)[0])
				printf("  without it: %s\n", foliofs_change_without(need));
			nr++;
		}
		list += len;
		list += strspn(list, " ");
	}
	return nr;
}

static int show(const char *spec)
{
	enum foliofs_change change, missing;
	struct foliofs_kernel k;
	unsigned int lacks = 0;
	int ret = parse(spec, &k);

	if (ret)
		return ret;
	for (unsigned int i = 0; foliofs_kernel_name(i); i++)
		if (!strcmp(foliofs_kernel_name(i), k.name))
			printf("%s: %s\n", k.name, foliofs_kernel_meaning(i));
	for (unsigned int c = 0; c < FOLIOFS_CHANGE_COUNT; c++)
		if (foliofs_kernel_has(&k, c))
			print_change(c, "  ");
	for (unsigned int from = 0; foliofs_kernel_lacks(&k, from, &change, &missing);
	     from = change + 1)
		lacks += print_missing(&k, change);
	return finish(lacks ? 1 : 0);
}

static int difference(const char *a, const char *b)
{
	struct foliofs_kernel x, y;
	bool differ = false;
	int ret = parse(a, &x);

	if (!ret)
		ret = parse(b, &y);
	if (ret)
		return ret;
	for (unsigned int c = 0; c < FOLIOFS_CHANGE_COUNT; c++) {
		bool in = foliofs_kernel_has(&y, c);

		if (foliofs_kernel_has(&x, c) == in)
			continue;
		if (!differ)
			printf("%s -> %s\n", x.name, y.name);
		differ = true;
		print_change(c, in ? "+ " : "- ");
	}
	if (!differ)
		printf("%s and %s are the same\n", x.name, y.name);
	return finish(differ ? 1 : 0);
}

int cmd_kernels(int argc, char **argv)
{
	static const struct option options[] = { { "help", no_argument, NULL, 'h' }, { 0 } };
	int opt;

	while ((opt = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (opt != 'h')
			return 2;
		fputs(usage, stdout);
		return finish(0);
	}
	switch (argc - optind) {
	case 0:
		return list_all();
	case 1:
		return show(argv[optind]);
	case 2:
		return difference(argv[optind], argv[optind + 1]);
	default:
		fputs(usage, stderr);
		return 2;
	}
}
