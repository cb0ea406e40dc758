/* SPDX-License-Identifier: MIT */
/* Feature names: see features.c. */
#ifndef FFS_FEATURES_H
#define FFS_FEATURES_H

#include "base/base.h"

/*
 * Change *@features by a list as mke2fs -O takes it: names separated by commas or
 * blanks, ^ or - in front takes away, + or nothing adds, "none" and "clear" take
 * all away.  A name that mke2fs would not set is refused: -EINVAL and a message.
 */
int ffs_features_edit(const char *list, u32 *features, char *err, size_t errlen);

#endif
