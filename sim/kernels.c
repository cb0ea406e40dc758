// SPDX-License-Identifier: MIT
/* The kernels of a command line: see kernels.h. */
#include "kernels.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int kernel_changes_add(struct kernel_changes *c, bool with, const char *name)
{
	if (c->nr == KERNELS_CHANGES)
		return -ENOSPC;
	c->with[c->nr] = with;
	c->name[c->nr++] = name;
	return 0;
}

int kernel_changes_apply(const struct kernel_changes *c, struct foliofs_kernel *k, char *err,
			 size_t errlen)
{
	for (unsigned int i = 0; i < c->nr; i++) {
		enum foliofs_change change;

		if (foliofs_change_find(c->name[i], &change)) {
			snprintf(err, errlen, "no change \"%s\" (foliosim kernels lists them)",
				 c->name[i]);
			return -EINVAL;
		}
		if (c->with[i] ? foliofs_kernel_with(k, change) :
				 foliofs_kernel_without(k, change)) {
			snprintf(err, errlen, "name of kernel %s gets too long", k->name);
			return -EINVAL;
		}
	}
	return 0;
}

static bool is_listed(const char *name)
{
	unsigned int i = 0;

	while (foliofs_kernel_name(i) && strcmp(foliofs_kernel_name(i), name))
		i++;
	return foliofs_kernel_name(i);
}

void kernel_tell_lacks(const struct foliofs_kernel *k)
{
	enum foliofs_change c, missing;

	if (is_listed(k->name))
		return;
	for (unsigned int from = 0; foliofs_kernel_lacks(k, from, &c, &missing); from = c + 1)
		fprintf(stderr, "foliosim: %s lacks %s, which %s needs\n", k->name,
			foliofs_change_name(missing), foliofs_change_name(c));
}

int kernels_parse(const char *list, const struct kernel_changes *c, struct foliofs_kernel *k,
		  int max, char *err, size_t errlen)
{
	char name[sizeof(k->name)];
	int nr = 0;

	for (;;) {
		size_t len = strcspn(list, ",");

		if (!len || len >= sizeof(name)) {
			snprintf(err, errlen, "list of kernels: name of %zu characters", len);
			return -EINVAL;
		}
		if (nr == max) {
			snprintf(err, errlen, "list of kernels: more than %d", nr);
			return -EINVAL;
		}
		memcpy(name, list, len);
		name[len] = '\0';
		if (foliofs_kernel_parse(name, &k[nr], err, errlen) ||
		    (c && kernel_changes_apply(c, &k[nr], err, errlen)))
			return -EINVAL;
		kernel_tell_lacks(&k[nr]);
		nr++;
		if (!list[len])
			return nr;
		list += len + 1;
	}
}

bool kernel_iomap_by_mount(const struct foliofs_kernel *k)
{
	return foliofs_kernel_has(k, FOLIOFS_CHANGE_IM_MOUNTOPT) ||
	       foliofs_kernel_has(k, FOLIOFS_CHANGE_IM_2024_MOUNTOPT);
}

bool kernels_want_iomap(const struct foliofs_kernel *k, int nr, const char *mount)
{
	while (nr > 0 && !kernel_iomap_by_mount(&k[nr - 1]))
		nr--;
	/* "nobuffered_iomap", too */
	return nr > 0 && !(mount && strstr(mount, "buffered_iomap"));
}
