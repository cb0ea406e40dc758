/* SPDX-License-Identifier: MIT */
/* The meta.yaml of captures of XFS and tmpfs. */
#ifndef GEOMETRY_OTHER_H
#define GEOMETRY_OTHER_H

#include "flat_yaml.h"
#include "geometry_meta.h"

/*
 * 1: the file system of @y is ext4, nothing was done; 0: it was read into @m and @g; or
 * -EINVAL with a message: flat_yaml_refuse().
 */
int geometry_other(const struct flat_yaml *y, struct geometry_meta *m, struct foliofs_geometry *g);

#endif
