/* SPDX-License-Identifier: MIT */
/* The scenario files that a command is given. */
#ifndef SCENARIO_FILES_H
#define SCENARIO_FILES_H

#include <stddef.h>

struct scenario_files {
	char **path;
	size_t nr, max;
};

/*
 * Add a file, or every *.yaml below a directory in the order of names.  0 or a negative errno.
 * A file is not looked at: loading it tells what is wrong with it.
 */
int scenario_files_add(struct scenario_files *l, const char *path);
void scenario_files_free(struct scenario_files *l);

#endif
