/* SPDX-License-Identifier: MIT */
/* The subcommands: argv[0] is the command's name; the result is the exit code. */
#ifndef SIM_COMMANDS_H
#define SIM_COMMANDS_H

int cmd_credits(int argc, char **argv);
int cmd_image(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_conform(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_cost(int argc, char **argv);
int cmd_backport(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_kernels(int argc, char **argv);

#endif
