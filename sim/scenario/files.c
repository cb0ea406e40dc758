// SPDX-License-Identifier: MIT
/* Scenario files by their names and those of directories. */
#include "scenario/files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int add_path(struct scenario_files *l, const char *path)
{
	char **more;

	if (l->nr == l->max) {
		l->max = l->max ? 2 * l->max : 64;
		more = realloc(l->path, l->max * sizeof(*more));
		if (!more)
			return -ENOMEM;
		l->path = more;
	}
	l->path[l->nr] = strdup(path);
	return l->path[l->nr++] ? 0 : -ENOMEM;
}

int scenario_files_add(struct scenario_files *l, const char *path)
{
	struct dirent **entry;
	struct stat st;
	char *name;
	int i, nr, ret = 0;

	if (!strcmp(path, "-") || stat(path, &st) || !S_ISDIR(st.st_mode))
		return add_path(l, path);
	nr = scandir(path, &entry, NULL, alphasort);
	if (nr < 0)
		return -errno;
	for (i = 0; i < nr; i++) {
		size_t len = strlen(entry[i]->d_name), dir = strlen(path);

		name = malloc(dir + len + 2);
		if (!name && !ret)
			ret = -ENOMEM;
		if (name && !ret && entry[i]->d_name[0] != '.') {
			sprintf(name, "%s%s%s", path, path[dir - 1] == '/' ? "" : "/",
				entry[i]->d_name);
			if (!stat(name, &st) &&
			    (S_ISDIR(st.st_mode) ||
			     (len > 5 && !strcmp(entry[i]->d_name + len - 5, ".yaml"))))
				ret = scenario_files_add(l, name);
		}
		free(name);
		free(entry[i]);
	}
	free(entry);
	return ret;
}

void scenario_files_free(struct scenario_files *l)
{
	while (l->nr)
		free(l->path[--l->nr]);
	free(l->path);
	l->path = NULL;
	l->max = 0;
}
