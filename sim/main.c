// SPDX-License-Identifier: MIT
/* foliosim: one subcommand a file (cmd_*.c). */
#include <stdio.h>
#include <string.h>

#include "commands.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *text;
} commands[] = {
	{ "credits", cmd_credits, "journal credits that each operation asks for, per kernel" },
	{ "image", cmd_image, "the same for a real file system" },
	{ "run", cmd_run, "run scenarios and check their expectations" },
	{ "replay", cmd_replay, "replay a trace of system calls or an op list" },
	{ "conform", cmd_conform, "compare the model with captures of real kernels" },
	{ "compare", cmd_compare, "the same trace under several kernels" },
	{ "cost", cmd_cost, "what the same trace costs on several data paths" },
	{ "backport", cmd_backport, "what changes picked for an older kernel lack and break" },
	{ "report", cmd_report, "HTML page from a capture or a JSON result" },
	{ "kernels", cmd_kernels, "kernels and the changes that they are made of" },
};

static void usage(FILE *out)
{
	size_t i;

	fprintf(out, "Usage: foliosim COMMAND [OPTIONS] ...\n\n");
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].text);
	fprintf(out, "\nfoliosim COMMAND --help tells more. Exit: 0 clean, 1 a rule or expectation "
		     "broken\nor a difference found, 2 usage, 3 input refused, 4 internal error.\n");
}

int main(int argc, char **argv)
{
	size_t i;

	if (argc < 2) {
		usage(stderr);
		return 2;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		usage(stdout);
		return 0;
	}
	if (!strcmp(argv[1], "--version")) {
		printf("foliosim 0.1.0\n");
		return 0;
	}
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(argv[1], commands[i].name)) {
			int ret = commands[i].run(argc - 1, argv + 1);

			if (fflush(stdout) || ferror(stdout)) {
				perror("foliosim: standard output");
				return 4;
			}
			return ret;
		}
	fprintf(stderr, "foliosim: unknown command '%s'\n", argv[1]);
	usage(stderr);
	return 2;
}
