/* SPDX-License-Identifier: MIT */
/* foliosim run SCENARIO.yaml|DIR...: scenarios and their expectations. */
#ifndef SIM_CMD_RUN_H
#define SIM_CMD_RUN_H

/* The exit code: 0 all hold, 1 a failure, 2 usage, 3 a scenario is refused, 4 no memory. */
int cmd_run(int argc, char **argv);

#endif
