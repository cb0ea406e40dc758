// SPDX-License-Identifier: MIT
/* The meta.yaml of captures of XFS and tmpfs: see geometry_other.h. */
#include "geometry_other.h"
#include "geometry_fs.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "size.h"

struct other {
	const struct flat_yaml *y;
	const char *path;
	char *err;
	size_t errlen;
};

__attribute__((format(printf, 3, 4))) static int refuse(const struct other *r,
							 const struct flat_entry *e,
							 const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (r->errlen)
		snprintf(r->err, r->errlen, "%s:%zu:%zu: %s", r->path, e ? e->line : 1,
			 e ? e->column : 1, text);
	return -EINVAL;
}

/* Key @key as a number of 1 ... @max; @needed: it must be there, else @value stays. */
static int number(const struct other *r, const char *key, uint64_t max, bool needed,
		  uint32_t *value)
{
	const struct flat_entry *e = flat_yaml_find(r->y, key);
	uint64_t v;

	if (!e)
		return needed ? refuse(r, NULL, "%s is missing", key) : 0;
	if (parse_size(e->value, &v) || !v || v > max)
		return refuse(r, e, "%s: expected a number from 1 to %llu, got '%s'", key,
			      (unsigned long long)max, e->value);
	*value = (uint32_t)v;
	return 0;
}

static int block_size(const struct other *r, struct foliofs_geometry *g, uint32_t min)
{
	const struct flat_entry *e = flat_yaml_find(r->y, "block_size");
	uint32_t size = g->block_size;

	if (size >= min && size <= 65536 && !(size & (size - 1)))
		return 0;
	return refuse(r, e, "block_size: expected a power of two from %u to 65536, got %u", min,
		      size);
}

static int xfs(const struct other *r, const struct geometry_meta *m, struct foliofs_geometry *g)
{
	const struct flat_entry *mount = flat_yaml_find(r->y, "mount");
	uint32_t queue = 0, blocks = 0;
	char text[160];

	g->fs_type = FOLIOFS_FS_XFS;
	g->log_blocks = 0;
	if (number(r, "block_size", 65536, true, &g->block_size) ||
	    number(r, "blocks_count", UINT32_MAX, true, &blocks) ||
	    number(r, "ag_count", UINT32_MAX, true, &g->ag_count) ||
	    number(r, "ag_blocks", UINT32_MAX, true, &g->ag_blocks) ||
	    number(r, "inode_size", 65536, true, &g->inode_size) ||
	    number(r, "log_blocks", UINT32_MAX, false, &g->log_blocks) ||
	    number(r, "queue.max_sectors_kb", UINT32_MAX / 1024, false, &queue) ||
	    block_size(r, g, 1024))
		return -EINVAL;
	g->blocks_count = blocks;
	if ((uint64_t)g->ag_count * g->ag_blocks < blocks ||
	    (uint64_t)(g->ag_count - 1) * g->ag_blocks >= blocks)
		return refuse(r, flat_yaml_find(r->y, "ag_count"),
			      "ag_count: %u groups of %u blocks are not %u blocks", g->ag_count,
			      g->ag_blocks, blocks);
	for (size_t i = 0; i < r->y->count; i++)
		if (!strcmp(r->y->entries[i].key, "features[]") &&
		    !strcmp(r->y->entries[i].value, "reflink"))
			g->reflink = true;
	g->io_opt_pages = (uint32_t)((uint64_t)queue * 1024 / g->page_size);
	if (geometry_mount_xfs(m->mount, g, text, sizeof(text)))
		return refuse(r, mount, "mount: %s", text);
	return 0;
}

static int tmpfs(const struct other *r, const struct geometry_meta *m, struct foliofs_geometry *g)
{
	const struct flat_entry *e = flat_yaml_find(r->y, "size");
	char text[160];
	uint64_t size;

	g->fs_type = FOLIOFS_FS_TMPFS;
	g->block_size = g->page_size;
	if (!e || parse_size(e->value, &size) || !size)
		return refuse(r, e, "size: expected the size of the file system, got '%s'",
			      e ? e->value : "");
	g->blocks_count = size / g->page_size;
	if (geometry_mount_tmpfs(m->mount, g, text, sizeof(text)))
		return refuse(r, flat_yaml_find(r->y, "mount"), "mount: %s", text);
	return 0;
}

int geometry_other(const struct flat_yaml *y, const char *path, struct geometry_meta *m,
		   struct foliofs_geometry *g, char *err, size_t errlen)
{
	const struct other r = { y, path, err, errlen };
	const struct flat_entry *fs = flat_yaml_find(y, "fs"), *e;

	if (!fs || !strcmp(fs->value, "ext4"))
		return 1;
	g->page_size = 4096;
	g->cluster_ratio = 1;
	if (number(&r, "page_size", 65536, false, &g->page_size) ||
	    number(&r, "read_ahead_kb", UINT32_MAX / 1024, false, &g->read_ahead_kb))
		return -EINVAL;
	if (g->page_size < 4096 || (g->page_size & (g->page_size - 1)))
		return refuse(&r, flat_yaml_find(y, "page_size"),
			      "page_size: expected 4096, 16384 or 65536, got %u", g->page_size);
	e = flat_yaml_find(y, "kernel");
	snprintf(m->kernel, sizeof(m->kernel), "%s", e ? e->value : "");
	e = flat_yaml_find(y, "mount");
	snprintf(m->mount, sizeof(m->mount), "%s", e ? e->value : "");
	if (!strcmp(fs->value, "xfs"))
		return xfs(&r, m, g);
	if (!strcmp(fs->value, "tmpfs"))
		return tmpfs(&r, m, g);
	return refuse(&r, fs, "fs: expected ext4, xfs or tmpfs, got '%s'", fs->value);
}
