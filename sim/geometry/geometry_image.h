/* SPDX-License-Identifier: MIT */
/* The geometry of a real file system image, read through libext2fs. */
#ifndef GEOMETRY_IMAGE_H
#define GEOMETRY_IMAGE_H

#include <foliofs/mkfs.h>

/*
 * Read @path (an image or a block device; it is only read) into @g; page_size, the
 * block device's fields and mount are left alone.  @mount (@mountlen bytes): the
 * mount options that the superblock gives as defaults, "" if none.
 *
 * Returns 0, or a negative errno with a message in @err that begins with the path.
 */
int geometry_from_image(const char *path, struct foliofs_geometry *g, char *mount, size_t mountlen,
			char *err, size_t errlen);

#endif
