/* SPDX-License-Identifier: MIT */
/*
 * A geometry from what one would say to mkfs and mount, for each kind of file system.
 * Messages are in @err, without a place.
 */
#ifndef GEOMETRY_FS_H
#define GEOMETRY_FS_H

#include <foliofs/geometry.h>

/* "ext4", "xfs", "tmpfs" or "ext2". */
const char *geometry_fs_name(enum foliofs_fs_type type);
/* Type of that name: 0, or -EINVAL. */
int geometry_fs_find(const char *name, enum foliofs_fs_type *type);

/*
 * @mkfs: the size of the device, "size=256M", and behind it the options of mke2fs, or those
 * of mkfs.xfs that are modelled (-b size=, -d agcount=, -l size=, -m reflink=); -b for ext2; nothing
 * for tmpfs.
 * What XFS is not told is as in its captures: 4K blocks, two groups, a log of 16M, reflink.
 * @mount: "" for none.  Pages of @page_size bytes.  0, or -EINVAL.
 */
int geometry_fs(enum foliofs_fs_type type, const char *mkfs, const char *mount, uint32_t page_size,
		struct foliofs_geometry *g, char *err, size_t errlen);

/* The mount options that are modelled (allocsize=, huge=); what else stands there has no effect. */
int geometry_mount_xfs(const char *mount, struct foliofs_geometry *g, char *err, size_t errlen);
int geometry_mount_tmpfs(const char *mount, struct foliofs_geometry *g, char *err, size_t errlen);

#endif
