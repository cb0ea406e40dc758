// SPDX-License-Identifier: MIT
/* A geometry and what it means for large folios, as text. */
#include "geometry_print.h"

#include <inttypes.h>
#include <string.h>

static void line(FILE *out, const char *name, uint64_t value, const char *unit)
{
	fprintf(out, "  %-24s %" PRIu64 "%s%s\n", name, value, *unit ? " " : "", unit);
}

static void print_features(FILE *out, const struct foliofs_geometry *g)
{
	int column = fprintf(out, "  %-24s", "features");

	for (unsigned int i = 0; i < 32; i++) {
		const char *name = foliofs_feature_name(g->features & 1u << i);

		if (!name)
			continue;
		if (column + (int)strlen(name) >= 96)
			column = fprintf(out, "\n  %-24s", "") - 1;
		column += fprintf(out, " %s", name);
	}
	fputc('\n', out);
}

static void print_mount(FILE *out, const struct foliofs_mount *m)
{
	static const char *const data[] = {
		[FOLIOFS_DATA_ORDERED] = "ordered",
		[FOLIOFS_DATA_WRITEBACK] = "writeback",
		[FOLIOFS_DATA_JOURNAL] = "journal",
	};
	static const char *const atime[] = {
		[FOLIOFS_ATIME_RELATIME] = "relatime",
		[FOLIOFS_ATIME_NOATIME] = "noatime",
		[FOLIOFS_ATIME_STRICTATIME] = "strictatime",
	};

	fprintf(out, "  %-24s data=%s,%s,%s,%s,commit=%u%s%s%s%s%s%s", "mount", data[m->data],
		m->nodelalloc ? "nodelalloc" : "delalloc",
		m->dioread_lock ? "dioread_lock" : "dioread_nolock", atime[m->atime],
		m->commit_interval, m->quota ? ",quota" : "", m->sync ? ",sync" : "",
		m->dirsync ? ",dirsync" : "", m->lazytime ? ",lazytime" : "",
		m->noauto_da_alloc ? ",noauto_da_alloc" : "",
		m->buffered_iomap ? ",buffered_iomap" : "");
	if (m->stripe)
		fprintf(out, ",stripe=%u", m->stripe);
	fputc('\n', out);
}

void geometry_print(FILE *out, const struct foliofs_geometry *g)
{
	fprintf(out, "Geometry\n");
	line(out, "page size", g->page_size, "");
	line(out, "block size", g->block_size, "");
	if (g->cluster_ratio > 1)
		line(out, "cluster size", (uint64_t)g->block_size * g->cluster_ratio, "");
	line(out, "block count", g->blocks_count, "");
	line(out, "reserved block count", g->r_blocks_count, "");
	line(out, "first block", g->first_data_block, "");
	line(out, "groups", g->groups, "");
	line(out, "blocks per group", g->blocks_per_group, "");
	if (g->cluster_ratio > 1)
		line(out, "clusters per group", g->clusters_per_group, "");
	line(out, "descriptor size", g->desc_size, "");
	line(out, "descriptor blocks", g->gdb_count, "");
	line(out, "reserved GDT blocks", g->reserved_gdt_blocks, "");
	line(out, "flex block group size", g->flex_bg_size, "");
	line(out, "inode size", g->inode_size, "");
	line(out, "inodes per group", g->inodes_per_group, "");
	line(out, "inode count", (uint64_t)g->inodes_per_group * g->groups, "");
	if (g->raid_stride)
		line(out, "RAID stride", g->raid_stride, "blocks");
	if (g->raid_stripe_width)
		line(out, "RAID stripe width", g->raid_stripe_width, "blocks");
	line(out, "journal", g->journal_blocks, "blocks");
	if (g->fast_commit_blocks)
		line(out, "  of it for fast commits", g->fast_commit_blocks, "blocks");
	if (g->orphan_file_blocks)
		line(out, "orphan file", g->orphan_file_blocks, "blocks");
	print_features(out, g);
	print_mount(out, &g->mount);
}

/* What can keep a regular file at single pages. */
static const struct obstacle {
	const char *name;
	uint32_t feature; /* or 0 and: */
	enum { FEATURE, DATA_JOURNAL, NODELALLOC, DIOREAD_LOCK } kind;
} obstacles[] = {
	{ "feature verity", FOLIOFS_FEATURE_VERITY, FEATURE },
	{ "feature encrypt", FOLIOFS_FEATURE_ENCRYPT, FEATURE },
	{ "mount option data=journal", 0, DATA_JOURNAL },
	{ "mount option nodelalloc", 0, NODELALLOC },
	{ "mount option dioread_lock", 0, DIOREAD_LOCK },
};
#define NR_OBSTACLES (sizeof(obstacles) / sizeof(*obstacles))

/* Copy obstacle @o from @from to @to. */
static void copy_obstacle(const struct obstacle *o, const struct foliofs_geometry *from,
			  struct foliofs_geometry *to)
{
	switch (o->kind) {
	case FEATURE:
		to->features = (to->features & ~o->feature) | (from->features & o->feature);
		break;
	case DATA_JOURNAL:
		to->mount.data = from->mount.data;
		break;
	case NODELALLOC:
		to->mount.nodelalloc = from->mount.nodelalloc;
		break;
	case DIOREAD_LOCK:
		to->mount.dioread_lock = from->mount.dioread_lock;
		break;
	}
}

/* Why @k gives files of @g single pages: every obstacle that alone would do it. */
static void print_reason(FILE *out, const struct foliofs_kernel *k,
			 const struct foliofs_geometry *g)
{
	struct foliofs_geometry clean = *g, none = *g;
	const char *sep = " (";

	none.features = 0;
	none.mount = (struct foliofs_mount){ .commit_interval = 5 };
	for (size_t i = 0; i < NR_OBSTACLES; i++)
		copy_obstacle(&obstacles[i], &none, &clean);
	if (foliofs_max_order(k, &clean, false)) {
		for (size_t i = 0; i < NR_OBSTACLES; i++) {
			struct foliofs_geometry one = clean;

			copy_obstacle(&obstacles[i], g, &one);
			if (foliofs_max_order(k, &one, false))
				continue;
			fprintf(out, "%s%s", sep, obstacles[i].name);
			sep = ", ";
		}
	} else {
		fprintf(out, "%sthis kernel has no large folios here", sep);
		sep = "";
	}
	fprintf(out, "%s\n", *sep == ' ' ? "" : ")");
}

void geometry_print_orders(FILE *out, const struct foliofs_geometry *g,
			   const struct foliofs_kernel *kernels, size_t nr_kernels)
{
	fprintf(out, "Largest folio of a new regular file\n");
	for (size_t i = 0; i < nr_kernels; i++) {
		uint8_t order = foliofs_max_order(&kernels[i], g, false);
		uint64_t bytes = (uint64_t)g->page_size << order;

		fprintf(out, "  %-24s ", kernels[i].name);
		if (!order) {
			fprintf(out, "single pages");
			print_reason(out, &kernels[i], g);
			continue;
		}
		fprintf(out, "order %u, %" PRIu64 " KiB, %" PRIu64 " blocks\n", order, bytes / 1024,
			bytes / g->block_size);
	}
}
