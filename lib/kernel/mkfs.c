// SPDX-License-Identifier: MIT
/* A geometry from the options of mke2fs: the steps in their order, see mkfs.h. */
#include "layout.h"
#include "mkfs.h"
#include "parse.h"

/* mke2fs ends with an error when tables or journal find no room; so do we. */
static int check_room(const struct foliofs_geometry *g, char *err, size_t errlen)
{
	struct ffs_layout *l = ffs_layout_new(g);

	if (!l)
		return ffs_refuse(err, errlen,
				  "size: no room for inode tables, journal and the first inodes");
	ffs_layout_free(l);
	return 0;
}

int foliofs_geometry_from_mkfs(const char *options, struct foliofs_geometry *g, char *err,
			       size_t errlen)
{
	u32 page_size = g->page_size ? g->page_size : 4096;
	struct ffs_mkfs m;
	u64 free_blocks;
	int ret;

	*g = (struct foliofs_geometry){ .page_size = page_size,
					.read_ahead_kb = 128,
					.io_opt_pages = 1280 * 1024 / page_size };
	ret = foliofs_mount_parse("", g, err, errlen);
	if (!ret) {
		ret = ffs_mkfs_read(options, &m, err, errlen);
		if (!ret)
			ret = ffs_mkfs_sizes(&m, g, &free_blocks, err, errlen);
		if (!ret)
			ret = ffs_mkfs_journal(&m, g, free_blocks, err, errlen);
		ffs_mkfs_release(&m);
	}
	if (!ret)
		ret = foliofs_geometry_check(g, err, errlen);
	return ret ? ret : check_room(g, err, errlen);
}
