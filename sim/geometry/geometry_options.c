// SPDX-License-Identifier: MIT
/* The geometry options of the command line: see geometry_options.h. */
#include "geometry_options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "geometry_fs.h"
#include "geometry_image.h"
#include "geometry_meta.h"

static int set_source(struct geometry_args *a, const char **which, const char *arg)
{
	if (geometry_given(a)) {
		snprintf(a->error, sizeof(a->error),
			 "only one of --image, --meta and --mkfs can be given");
		return -EINVAL;
	}
	*which = arg;
	return 0;
}

int geometry_option(struct geometry_args *a, int opt, const char *arg)
{
	uint64_t size;

	switch (opt) {
	case GEOMETRY_OPT_IMAGE:
		return set_source(a, &a->image, arg);
	case GEOMETRY_OPT_META:
		return set_source(a, &a->meta, arg);
	case GEOMETRY_OPT_MKFS:
		return set_source(a, &a->mkfs, arg);
	case GEOMETRY_OPT_MOUNT:
		a->mount = arg;
		return 0;
	case GEOMETRY_OPT_PAGE_SIZE:
		if (foliofs_parse_size(arg, &size) || (size != 4096 && size != 16384 && size != 65536)) {
			snprintf(a->error, sizeof(a->error),
				 "--page-size: expected 4k, 16k or 64k, got '%s'", arg);
			return -EINVAL;
		}
		a->page_size = (uint32_t)size;
		return 0;
	}
	return 1;
}

bool geometry_given(const struct geometry_args *a)
{
	return a->image || a->meta || a->mkfs;
}

/* Mount options of the source, then those of the command line. */
static int set_mount(const struct geometry_args *a, const char *first, struct foliofs_geometry *g,
		     char *err, size_t n)
{
	char all[1024], text[200];
	int len = snprintf(all, sizeof(all), "%s,%s", first, a->mount ? a->mount : "");

	if ((size_t)len >= sizeof(all)) {
		snprintf(err, n, "--mount: too long");
		return -EINVAL;
	}
	if (!(g->fs_type == FOLIOFS_FS_XFS ? geometry_mount_xfs(all, g, text, sizeof(text)) :
	      g->fs_type == FOLIOFS_FS_TMPFS ? geometry_mount_tmpfs(all, g, text, sizeof(text)) :
					       foliofs_mount_parse(all, g, text, sizeof(text))))
		return 0;
	snprintf(err, n, "--mount: %s", text);
	return -EINVAL;
}

static int load_mkfs(struct geometry_args *a, struct foliofs_geometry *g, char *err, size_t n)
{
	char text[200];

	g->page_size = a->page_size;
	if (foliofs_geometry_from_mkfs(a->mkfs, g, text, sizeof(text))) {
		snprintf(err, n, "--mkfs: %s", text);
		return -EINVAL;
	}
	return set_mount(a, "", g, err, n);
}

static int load_meta(struct geometry_args *a, struct foliofs_geometry *g, char *err, size_t n)
{
	struct geometry_meta m;
	int ret = geometry_meta_load(a->meta, &m, g, err, n);

	if (ret)
		return ret;
	if (a->page_size) {
		g->io_opt_pages = g->io_opt_pages * (g->page_size / 1024) / (a->page_size / 1024);
		g->page_size = a->page_size;
	}
	memcpy(a->kernel, m.kernel, sizeof(a->kernel));
	memcpy(a->kernel_note, m.kernel_note, sizeof(a->kernel_note));
	ret = set_mount(a, m.mount, g, err, n);
	geometry_meta_free(&m);
	return ret;
}

static int load_image(struct geometry_args *a, struct foliofs_geometry *g, char *err, size_t n)
{
	char mount[256];
	int ret;

	g->page_size = a->page_size ? a->page_size : 4096;
	g->read_ahead_kb = 128;
	g->io_opt_pages = 1280 * 1024 / g->page_size;
	ret = geometry_from_image(a->image, g, mount, sizeof(mount), err, n);
	return ret ? ret : set_mount(a, mount, g, err, n);
}

int geometry_load(struct geometry_args *a, struct foliofs_geometry *g, char *err, size_t n)
{
	*g = (struct foliofs_geometry){ 0 };
	if (a->mkfs)
		return load_mkfs(a, g, err, n);
	if (a->meta)
		return load_meta(a, g, err, n);
	if (a->image)
		return load_image(a, g, err, n);
	snprintf(err, n, "which file system? give --image, --meta or --mkfs");
	return -EINVAL;
}
