// SPDX-License-Identifier: MIT
/*
 * foliosim image: geometry of a real file system, the largest folio its files get
 * under each kernel, and the credit table that foliosim credits prints.
 */
#include "commands.h"

#include <stdio.h>
#include "credits/credits_report.h"
#include "geometry/geometry_options.h"
#include "geometry/geometry_print.h"
#include "kernels.h"

static const char usage[] =
	"usage: foliosim image [options] IMG\n"
	"\n"
	"  -k, --kernel K[,K]   kernels (" KERNELS_DEFAULT ")\n"
	"      --mount OPTIONS  mount options, added to the defaults of the superblock\n"
	"      --page-size SIZE page size of the machine: 4k, 16k or 64k\n"
	"  -h, --help           this text\n";

struct image {
	struct geometry_args geometry;
	struct foliofs_kernel kernels[CREDITS_MAX_KERNELS];
	unsigned int nr_kernels;
};

static int bad_usage(const char *text)
{
	fprintf(stderr, "foliosim image: %s\n%s", text, usage);
	return 2;
}

/* Kernels of "K,K": 0, or 2 after a message. */
static int parse_kernels(struct image *im, const char *list)
{
	char text[200];
	int nr = kernels_parse(list, NULL, im->kernels, CREDITS_MAX_KERNELS, text, sizeof(text));

	if (nr < 0)
		return bad_usage(text);
	im->nr_kernels = (unsigned int)nr;
	return 0;
}

/* Options: -1 to go on, else the exit code. */
static int parse_options(struct image *im, int argc, char **argv)
{
	static const struct option options[] = {
		{ "kernel", required_argument, NULL, 'k' },
		{ "mount", required_argument, NULL, GEOMETRY_OPT_MOUNT },
		{ "page-size", required_argument, NULL, GEOMETRY_OPT_PAGE_SIZE },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int opt, ret = 0;

	optind = 0;
	while (!ret && (opt = getopt_long(argc, argv, "k:h", options, NULL)) != -1) {
		if (opt == 'h') {
			fputs(usage, stdout);
			return 0;
		}
		if (opt == 'k')
			ret = parse_kernels(im, optarg);
		else if (opt == '?')
			ret = bad_usage("see the options below");
		else if (geometry_option(&im->geometry, opt, optarg))
			ret = bad_usage(im->geometry.error);
	}
	if (ret)
		return ret;
	if (optind + 1 != argc)
		return bad_usage("expected one image");
	geometry_option(&im->geometry, GEOMETRY_OPT_IMAGE, argv[optind]);
	return -1;
}

int cmd_image(int argc, char **argv)
{
	struct image im = { .nr_kernels = 0 };
	struct foliofs_geometry g;
	char text[400];
	int ret = parse_kernels(&im, KERNELS_DEFAULT);

	if (!ret)
		ret = parse_options(&im, argc, argv);
	if (ret >= 0)
		return ret;
	if (geometry_load(&im.geometry, &g, text, sizeof(text))) {
		fprintf(stderr, "foliosim image: %s\n", text);
		return 3;
	}
	geometry_print(stdout, &g);
	fputc('\n', stdout);
	geometry_print_orders(stdout, &g, im.kernels, im.nr_kernels);
	fputc('\n', stdout);
	if (credits_report(stdout, &g, im.kernels, im.nr_kernels) || fflush(stdout)) {
		fprintf(stderr, "foliosim image: cannot write the report\n");
		return 4;
	}
	return 0;
}
