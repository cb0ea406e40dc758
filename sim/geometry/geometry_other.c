// SPDX-License-Identifier: MIT
/* The meta.yaml of captures of XFS and tmpfs: see geometry_other.h. */
#include "geometry_other.h"
#include "geometry_fs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Key @key as a number of 1 ... @max; @needed: it must be there, else @value stays. */
static int number(const struct flat_yaml *y, const char *key, uint64_t max, bool needed,
		  uint32_t *value)
{
	const struct flat_entry *e = flat_yaml_find(y, key);
	uint64_t v;

	if (!e)
		return needed ? flat_yaml_refuse(y, NULL, "%s is missing", key) : 0;
	if (foliofs_parse_size(e->value, &v) || !v || v > max)
		return flat_yaml_refuse(y, e, "%s: expected a number from 1 to %llu, got '%s'", key,
					(unsigned long long)max, e->value);
	*value = (uint32_t)v;
	return 0;
}

static int block_size(const struct flat_yaml *y, struct foliofs_geometry *g, uint32_t min)
{
	const struct flat_entry *e = flat_yaml_find(y, "block_size");
	uint32_t size = g->block_size;

	if (size >= min && size <= 65536 && !(size & (size - 1)))
		return 0;
	return flat_yaml_refuse(y, e,
				"block_size: expected a power of two from %u to 65536, got %u", min,
				size);
}

static int xfs(const struct flat_yaml *y, const struct geometry_meta *m, struct foliofs_geometry *g)
{
	const struct flat_entry *mount = flat_yaml_find(y, "mount");
	uint32_t queue = 0, blocks = 0;
	char text[160];

	g->fs_type = FOLIOFS_FS_XFS;
	g->log_blocks = 0;
	if (number(y, "block_size", 65536, true, &g->block_size) ||
	    number(y, "blocks_count", UINT32_MAX, true, &blocks) ||
	    number(y, "ag_count", UINT32_MAX, true, &g->ag_count) ||
	    number(y, "ag_blocks", UINT32_MAX, true, &g->ag_blocks) ||
	    number(y, "inode_size", 65536, true, &g->inode_size) ||
	    number(y, "log_blocks", UINT32_MAX, false, &g->log_blocks) ||
	    number(y, "queue.max_sectors_kb", UINT32_MAX / 1024, false, &queue) ||
	    block_size(y, g, 1024))
		return -EINVAL;
	g->blocks_count = blocks;
	if ((uint64_t)g->ag_count * g->ag_blocks < blocks ||
	    (uint64_t)(g->ag_count - 1) * g->ag_blocks >= blocks)
		return flat_yaml_refuse(y, flat_yaml_find(y, "ag_count"),
					"ag_count: %u groups of %u blocks are not %u blocks",
					g->ag_count, g->ag_blocks, blocks);
	for (size_t i = 0; i < y->count; i++)
		if (!strcmp(y->entries[i].key, "features[]") &&
		    !strcmp(y->entries[i].value, "reflink"))
			g->reflink = true;
	g->io_opt_pages = (uint32_t)((uint64_t)queue * 1024 / g->page_size);
	if (geometry_mount_xfs(m->mount, g, text, sizeof(text)))
		return flat_yaml_refuse(y, mount, "mount: %s", text);
	return 0;
}

static int tmpfs(const struct flat_yaml *y, const struct geometry_meta *m,
		 struct foliofs_geometry *g)
{
	const struct flat_entry *e = flat_yaml_find(y, "size");
	char text[160];
	uint64_t size;

	g->fs_type = FOLIOFS_FS_TMPFS;
	g->block_size = g->page_size;
	if (!e || foliofs_parse_size(e->value, &size) || !size)
		return flat_yaml_refuse(y, e,
					"size: expected the size of the file system, got '%s'",
					e ? e->value : "");
	g->blocks_count = size / g->page_size;
	if (geometry_mount_tmpfs(m->mount, g, text, sizeof(text)))
		return flat_yaml_refuse(y, flat_yaml_find(y, "mount"), "mount: %s", text);
	return 0;
}

int geometry_other(const struct flat_yaml *y, struct geometry_meta *m, struct foliofs_geometry *g)
{
	const struct flat_entry *fs = flat_yaml_find(y, "fs"), *e;

	if (!fs || !strcmp(fs->value, "ext4"))
		return 1;
	g->page_size = 4096;
	g->cluster_ratio = 1;
	if (number(y, "page_size", 65536, false, &g->page_size) ||
	    number(y, "read_ahead_kb", UINT32_MAX / 1024, false, &g->read_ahead_kb))
		return -EINVAL;
	if (g->page_size < 4096 || (g->page_size & (g->page_size - 1)))
		return flat_yaml_refuse(y, flat_yaml_find(y, "page_size"),
					"page_size: expected 4096, 16384 or 65536, got %u",
					g->page_size);
	e = flat_yaml_find(y, "kernel");
	snprintf(m->kernel, sizeof(m->kernel), "%s", e ? e->value : "");
	e = flat_yaml_find(y, "mount");
	snprintf(m->mount, sizeof(m->mount), "%s", e ? e->value : "");
	if (!strcmp(fs->value, "xfs"))
		return xfs(y, m, g);
	if (!strcmp(fs->value, "tmpfs"))
		return tmpfs(y, m, g);
	return flat_yaml_refuse(y, fs, "fs: expected ext4, xfs or tmpfs, got '%s'", fs->value);
}
