// SPDX-License-Identifier: MIT
/* Kernels and file systems that are compared: see cost.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cost.h"
#include "geometry/geometry_fs.h"
#include "geometry/geometry_meta.h"
#include "kernels.h"
#include "replay/simulate.h"

static struct cost_side *add(struct cost_sides *sides, char *err, size_t errlen)
{
	if (sides->nr == COST_SIDES) {
		snprintf(err, errlen, "at most %d kernels and file systems", COST_SIDES);
		return NULL;
	}
	memset(&sides->side[sides->nr], 0, sizeof(sides->side[0]));
	return &sides->side[sides->nr++];
}

int cost_sides_of_kernels(struct cost_sides *sides, const struct replay_setup *s,
			  const struct foliofs_kernel *k, int nr, char *err, size_t errlen)
{
	int i;

	for (i = 0; i < nr; i++) {
		struct cost_side *side = add(sides, err, errlen);

		if (!side)
			return -EINVAL;
		snprintf(side->name, sizeof(side->name), "%.63s", k[i].name);
		side->kernel = k[i];
		side->geometry = s->geometry;
		if (kernels_want_iomap(&k[i], 1, s->args->geometry.mount))
			side->geometry.mount.buffered_iomap = true;
	}
	return 0;
}

int cost_side_of_meta(struct cost_sides *sides, const char *path, char *err, size_t errlen)
{
	struct cost_side *side = add(sides, err, errlen);
	struct foliofs_kernel k = { .name = "" };
	struct geometry_meta m;
	int ret;

	if (!side)
		return -EINVAL;
	ret = geometry_meta_load(path, &m, &side->geometry, err, errlen);
	if (ret)
		return -EINVAL;
	ret = simulate_kernel(m.kernel, m.kernel_note, &k, err, errlen);
	geometry_meta_free(&m);
	side->kernel = k;
	snprintf(side->name, sizeof(side->name), "%s %.48s",
		 geometry_fs_name(side->geometry.fs_type), k.name);
	return ret ? -EINVAL : 0;
}
