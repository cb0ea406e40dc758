// SPDX-License-Identifier: MIT
/* Geometries from options of mkfs and mount: see geometry_fs.h. */
#include "geometry_fs.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <foliofs/mkfs.h>

__attribute__((format(printf, 3, 4))) static int refuse(char *err, size_t errlen, const char *fmt,
							 ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (errlen)
		vsnprintf(err, errlen, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

static const char *const names[] = {
	[FOLIOFS_FS_EXT4] = "ext4", [FOLIOFS_FS_XFS] = "xfs", [FOLIOFS_FS_TMPFS] = "tmpfs",
	[FOLIOFS_FS_EXT2] = "ext2",
};

const char *geometry_fs_name(enum foliofs_fs_type type)
{
	return names[type];
}

int geometry_fs_find(const char *name, enum foliofs_fs_type *type)
{
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i])) {
			*type = (enum foliofs_fs_type)i;
			return 0;
		}
	return -EINVAL;
}

/* Value of option @name in the list @mount ("a,b=c"): its length, 0 if it is not there. */
static size_t option(const char *mount, const char *name, const char **value)
{
	size_t n = strlen(name);
	const char *p = mount;

	while (*p) {
		size_t len = strcspn(p, ",");

		if (len > n && !strncmp(p, name, n) && p[n] == '=') {
			*value = p + n + 1;
			return len - n - 1;
		}
		p += len;
		p += *p == ',';
	}
	return 0;
}

int geometry_mount_xfs(const char *mount, struct foliofs_geometry *g, char *err, size_t errlen)
{
	const char *value;
	char text[32];
	size_t n = option(mount, "allocsize", &value);

	if (!n)
		return 0;
	snprintf(text, sizeof(text), "%.*s", (int)n, value);
	if (foliofs_parse_size(text, &g->allocsize) || g->allocsize < g->block_size ||
	    (g->allocsize & (g->allocsize - 1)))
		return refuse(err, errlen, "allocsize: expected a power of two, got '%s'", text);
	return 0;
}

int geometry_mount_tmpfs(const char *mount, struct foliofs_geometry *g, char *err, size_t errlen)
{
	static const char *const huge[] = { "never", "always", "within_size", "advise" };
	const char *value = "never";
	size_t n = option(mount, "huge", &value), i;

	n = n ? n : strlen(value);
	for (i = 0; i < sizeof(huge) / sizeof(*huge); i++)
		if (strlen(huge[i]) == n && !strncmp(huge[i], value, n))
			break;
	if (i == sizeof(huge) / sizeof(*huge))
		return refuse(err, errlen,
			      "huge: expected never, always, within_size or advise, got '%.*s'",
			      (int)n, value);
	g->huge = (enum foliofs_huge)i;
	return 0;
}

/* The options of mkfs, one word after the other. */
struct words {
	char text[256];
	char *next;
};

static int split(struct words *w, const char *options, char *err, size_t errlen)
{
	if (strlen(options) >= sizeof(w->text))
		return refuse(err, errlen, "expected less than %zu characters", sizeof(w->text));
	strcpy(w->text, options);
	w->next = w->text;
	return 0;
}

static const char *word(struct words *w)
{
	return strtok_r(NULL, " \t", &w->next);
}

/* "size=256M", the first word. */
static int device_size(struct words *w, uint64_t *size, char *err, size_t errlen)
{
	const char *first = word(w);

	if (!first || strncmp(first, "size=", 5) || foliofs_parse_size(first + 5, size) || !*size)
		return refuse(err, errlen, "expected size=BYTES first, got '%s'",
			      first ? first : "");
	return 0;
}

struct xfs_option {
	const char *flag, *name;
	uint64_t value, max;
};

enum { XFS_BLOCK, XFS_GROUPS, XFS_LOG, XFS_REFLINK, XFS_OPTIONS };

static int xfs_options(struct words *w, struct xfs_option *o, char *err, size_t errlen)
{
	const char *flag, *text;

	while ((flag = word(w))) {
		unsigned int i;
		size_t n;

		text = word(w);
		for (i = 0; i < XFS_OPTIONS; i++) {
			n = strlen(o[i].name);
			if (text && !strcmp(flag, o[i].flag) && !strncmp(text, o[i].name, n) &&
			    text[n] == '=')
				break;
		}
		if (i == XFS_OPTIONS)
			return refuse(err, errlen, "expected -b size=, -d agcount=, -l size= or "
				      "-m reflink=, got '%s %s'", flag, text ? text : "");
		if (foliofs_parse_size(text + n + 1, &o[i].value) || o[i].value > o[i].max)
			return refuse(err, errlen, "%s %s: expected a number up to %llu, got '%s'",
				      flag, o[i].name, (unsigned long long)o[i].max, text + n + 1);
	}
	return 0;
}

static int xfs(struct words *w, struct foliofs_geometry *g, char *err, size_t errlen)
{
	struct xfs_option o[XFS_OPTIONS] = {
		[XFS_BLOCK] = { "-b", "size", 4096, 65536 },
		[XFS_GROUPS] = { "-d", "agcount", 2, 1u << 20 },
		[XFS_LOG] = { "-l", "size", 16u << 20, 1ull << 31 },
		[XFS_REFLINK] = { "-m", "reflink", 1, 1 },
	};
	uint64_t size, block;

	if (device_size(w, &size, err, errlen) || xfs_options(w, o, err, errlen))
		return -EINVAL;
	block = o[XFS_BLOCK].value;
	if (block < 1024 || (block & (block - 1)))
		return refuse(err, errlen, "-b size: expected a power of two from 1024 to 65536, "
			      "got %llu", (unsigned long long)block);
	g->block_size = (uint32_t)block;
	g->blocks_count = size / block;
	g->ag_count = (uint32_t)o[XFS_GROUPS].value;
	g->log_blocks = (uint32_t)(o[XFS_LOG].value / block);
	if (!g->ag_count || g->blocks_count / g->ag_count > UINT32_MAX ||
	    g->blocks_count / g->ag_count < g->log_blocks + 256)
		return refuse(err, errlen, "expected groups that are larger than the log, got %llu "
			      "blocks in %u groups", (unsigned long long)g->blocks_count,
			      g->ag_count);
	g->ag_blocks = (uint32_t)((g->blocks_count + g->ag_count - 1) / g->ag_count);
	g->inode_size = 512;
	g->reflink = o[XFS_REFLINK].value;
	return 0;
}

static int tmpfs(struct words *w, struct foliofs_geometry *g, char *err, size_t errlen)
{
	const char *more;
	uint64_t size;

	if (device_size(w, &size, err, errlen))
		return -EINVAL;
	more = word(w);
	if (more)
		return refuse(err, errlen, "expected nothing behind the size of tmpfs, got '%s'",
			      more);
	g->block_size = g->page_size;
	g->blocks_count = size / g->page_size;
	return 0;
}

/* As mke2fs: "size=64M -b 1024"; 512 is the smallest block that ext2 had. */
static int ext2(struct words *w, struct foliofs_geometry *g, char *err, size_t errlen)
{
	const char *flag, *text;
	uint64_t size, block = 4096;

	if (device_size(w, &size, err, errlen))
		return -EINVAL;
	while ((flag = word(w))) {
		text = word(w);
		if (strcmp(flag, "-b") || !text || foliofs_parse_size(text, &block) || block < 512 ||
		    block > g->page_size || (block & (block - 1)))
			return refuse(err, errlen, "expected -b and a power of two from 512 to %u, "
				      "got '%s %s'", g->page_size, flag, text ? text : "");
	}
	g->block_size = (uint32_t)block;
	g->blocks_count = size / block;
	return 0;
}

int geometry_fs(enum foliofs_fs_type type, const char *mkfs, const char *mount, uint32_t page_size,
		struct foliofs_geometry *g, char *err, size_t errlen)
{
	struct words w;
	int ret;

	*g = (struct foliofs_geometry){ .page_size = page_size };
	if (type == FOLIOFS_FS_EXT4) {
		ret = foliofs_geometry_from_mkfs(mkfs, g, err, errlen);
		g->page_size = page_size;
		return ret ? ret : foliofs_mount_parse(mount, g, err, errlen);
	}
	*g = (struct foliofs_geometry){
		.page_size = page_size, .cluster_ratio = 1, .fs_type = type,
		.read_ahead_kb = 128, .io_opt_pages = 1280 * 1024 / page_size,
	};
	ret = split(&w, mkfs, err, errlen);
	if (ret)
		return ret;
	if (type == FOLIOFS_FS_XFS) {
		ret = xfs(&w, g, err, errlen);
		return ret ? ret : geometry_mount_xfs(mount, g, err, errlen);
	}
	if (type == FOLIOFS_FS_EXT2)
		return ext2(&w, g, err, errlen);
	ret = tmpfs(&w, g, err, errlen);
	return ret ? ret : geometry_mount_tmpfs(mount, g, err, errlen);
}
