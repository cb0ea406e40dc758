/* SPDX-License-Identifier: MIT */
/*
 * Operations played on several file systems and kernels, the work that each of them makes of
 * them, and the time that this predicts.
 */
#ifndef COST_COST_H
#define COST_COST_H

#include "constants.h"
#include "replay/setup.h"

#define COST_SIDES 12

/* One kernel on one file system. */
struct cost_side {
	char name[64];
	struct foliofs_kernel kernel;
	struct foliofs_geometry geometry;
	/* filled by cost_run(): */
	const char *path; /* "bh", "bh+lf", "iomap", "iomap+lf", "memory" (tmpfs); "-": no data was moved */
	struct cost_work work[COST_CLASSES];
	uint64_t failed; /* operations with an error */
};

struct cost_sides {
	struct cost_side side[COST_SIDES];
	int nr;
};

/*
 * A side for each of @k on the geometry of @s.  A kernel that has ext4 on iomap as a mount option
 * gets it, unless the command line says nobuffered_iomap: the paths are what is compared.
 * 0, or -EINVAL with a message.
 */
int cost_sides_of_kernels(struct cost_sides *sides, const struct replay_setup *s,
			  const struct foliofs_kernel *k, int nr, char *err, size_t errlen);
/* One more, by the kernel and the file system of a meta.yaml.  0, or -EINVAL with a message. */
int cost_side_of_meta(struct cost_sides *sides, const char *path, char *err, size_t errlen);
/*
 * Play the trace of @s on @side.  0; -EINVAL: input refused (exit 3); another negative errno
 * (exit 4); with a message.
 */
int cost_run(struct cost_side *side, const struct replay_setup *s, char *err, size_t errlen);
/* All classes together. */
struct cost_work cost_total(const struct cost_side *side);
/* Microseconds of all operations that @device has constants for; *unpriced: how many others. */
double cost_side_time(const struct cost_side *side, const struct cost_constants *c,
		      const char *device, uint64_t *unpriced);

#endif
