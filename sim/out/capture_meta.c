// SPDX-License-Identifier: MIT
/* meta.yaml of a simulated capture: the keys that a kernel's capture has. */
#include "capture_meta.h"
#include "geometry/geometry_fs.h"

#include <inttypes.h>
#include <string.h>

#include <foliofs/mkfs.h>

/* In double quotes. */
static void print_quoted(FILE *out, const char *key, const char *value)
{
	fprintf(out, "%s: \"", key);
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			fputc('\\', out);
		fputc(*value, out);
	}
	fputs("\"\n", out);
}

static void print_features(FILE *out, uint32_t features)
{
	const char *sep = "";
	uint32_t bit;

	fputs("features: [", out);
	for (bit = 1; bit; bit <<= 1) {
		const char *name = features & bit ? foliofs_feature_name(bit) : NULL;

		if (!name)
			continue;
		fprintf(out, "%s%s", sep, name);
		sep = ", ";
	}
	fputs("]\n", out);
}

static void print_file(void *priv, const char *path, uint32_t ino, uint32_t mode)
{
	while (*path == '/')
		path++;
	if ((mode & 0170000u) == 0100000u)
		fprintf(priv, "  %s: %u\n", path, ino);
}

static void print_events(FILE *out, const struct foliofs_kernel *k, const struct recorder *r)
{
	const char *before[FOLIOFS_EV_COUNT];
	size_t nr = 0, i;
	unsigned int id;

	fputs("events: [", out);
	for (id = 0; id < FOLIOFS_EV_COUNT; id++) {
		const char *name = foliofs_event_name_for(k, id);

		if (!name || !recorder_wants(r, id))
			continue;
		/* two events may have one name in an older kernel */
		for (i = 0; i < nr && strcmp(before[i], name); i++)
			;
		if (i < nr)
			continue;
		fprintf(out, "%s%s", nr ? ", " : "", name);
		before[nr++] = name;
	}
	fputs("]\n", out);
}

/* XFS and tmpfs: what geometry_other.c reads. */
static void print_other(FILE *out, const struct foliofs_geometry *g)
{
	static const char *const huge[] = { "never", "always", "within_size", "advise" };

	fprintf(out, "fs: %s\nblock_size: %u\n", geometry_fs_name(g->fs_type), g->block_size);
	if (g->fs_type == FOLIOFS_FS_TMPFS) {
		fprintf(out, "size: %" PRIu64 "\nmount: \"huge=%s\"\n", g->blocks_count * g->block_size,
			huge[g->huge]);
		return;
	}
	fprintf(out,
		"blocks_count: %" PRIu64 "\n"
		"ag_count: %u\n"
		"ag_blocks: %u\n"
		"inode_size: %u\n"
		"log_blocks: %u\n"
		"features: [%s]\n"
		"read_ahead_kb: %u\n",
		g->blocks_count, g->ag_count, g->ag_blocks, g->inode_size, g->log_blocks,
		g->reflink ? "reflink" : "", g->read_ahead_kb);
	if (g->allocsize)
		fprintf(out, "mount: \"allocsize=%" PRIu64 "\"\n", g->allocsize);
	else
		fputs("mount: \"\"\n", out);
}

void capture_meta_print(FILE *out, const struct capture_options *opt, const struct foliofs_fs *fs,
			const struct recorder *r)
{
	const struct foliofs_geometry *g = foliofs_fs_geometry(fs);
	const struct foliofs_kernel *k = foliofs_fs_kernel(fs);
	struct foliofs_journal_limits limits = { 0 };

	if (g->journal_blocks)
		foliofs_journal_limits(k, g, &limits);
	fprintf(out, "name: %s\n", opt->name ? opt->name : "simulated");
	print_quoted(out, "desc", opt->desc ? opt->desc : "");
	print_quoted(out, "kernel", k->name);
	fprintf(out,
		"simulated: true\n"
		"page_size: %u\n",
		g->page_size);
	if (g->fs_type != FOLIOFS_FS_EXT4) {
		print_other(out, g);
		fputs("files:\n", out);
		foliofs_fs_for_each_name(fs, print_file, out);
		print_events(out, k, r);
		return;
	}
	fprintf(out, "image_size: %" PRIu64 "\n", g->blocks_count * g->block_size);
	print_quoted(out, "mke2fs", opt->mkfs ? opt->mkfs : "");
	print_quoted(out, "mount", opt->mount ? opt->mount : "");
	print_quoted(out, "dev", opt->dev ? opt->dev : "7,40");
	fprintf(out,
		"block_size: %u\n"
		"cluster_size: %u\n"
		"blocks_count: %" PRIu64 "\n"
		"first_data_block: %u\n"
		"groups: %u\n"
		"blocks_per_group: %u\n"
		"clusters_per_group: %u\n"
		"desc_size: %u\n"
		"gdb_count: %u\n"
		"reserved_gdt_blocks: %u\n"
		"flex_bg_size: %u\n"
		"inode_size: %u\n"
		"inodes_per_group: %u\n",
		g->block_size, g->block_size * g->cluster_ratio, g->blocks_count,
		g->first_data_block, g->groups, g->blocks_per_group, g->clusters_per_group,
		g->desc_size, g->gdb_count, g->reserved_gdt_blocks, g->flex_bg_size, g->inode_size,
		g->inodes_per_group);
	print_features(out, g->features);
	fprintf(out,
		"journal_blocks: %u\n"
		"max_transaction_blocks: %u\n"
		"read_ahead_kb: %u\n"
		"files:\n",
		g->journal_blocks, limits.max_transaction, g->read_ahead_kb);
	foliofs_fs_for_each_name(fs, print_file, out);
	print_events(out, k, r);
}
