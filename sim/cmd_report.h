/* SPDX-License-Identifier: MIT */
#ifndef CMD_REPORT_H
#define CMD_REPORT_H

/* foliosim report: exit code. */
int cmd_report(int argc, char **argv);

#endif
