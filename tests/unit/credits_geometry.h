/* SPDX-License-Identifier: MIT */
/* Geometries by their numbers, for the tests of credits and limits. */
#ifndef TESTS_CREDITS_GEOMETRY_H
#define TESTS_CREDITS_GEOMETRY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <foliofs/credits.h>

#define DEFAULT_FEATURES                                                                           \
	(FOLIOFS_FEATURE_HAS_JOURNAL | FOLIOFS_FEATURE_EXTENTS | FOLIOFS_FEATURE_64BIT |           \
	 FOLIOFS_FEATURE_METADATA_CSUM | FOLIOFS_FEATURE_FLEX_BG | FOLIOFS_FEATURE_RESIZE_INODE)

/* 4K pages, features of mke2fs, default mount options. */
static inline struct foliofs_geometry geometry(uint32_t block_size, uint32_t groups, uint32_t gdb,
					       uint32_t journal)
{
	return (struct foliofs_geometry){
		.page_size = 4096,
		.block_size = block_size,
		.cluster_ratio = 1,
		.blocks_count = (uint64_t)groups * 8 * block_size,
		.first_data_block = block_size == 1024,
		.blocks_per_group = 8 * block_size,
		.clusters_per_group = 8 * block_size,
		.groups = groups,
		.desc_size = 64,
		.gdb_count = gdb,
		.reserved_gdt_blocks = 256,
		.flex_bg_size = 16,
		.inode_size = 256,
		.inodes_per_group = 2048,
		.features = DEFAULT_FEATURES,
		.journal_blocks = journal,
		.mount = { .commit_interval = 5 },
	};
}

static inline struct foliofs_kernel kernel(const char *spec)
{
	struct foliofs_kernel k;
	char err[200] = "";

	if (foliofs_kernel_parse(spec, &k, err, sizeof(err)))
		fail_msg("%s", err);
	return k;
}

/* A new regular file of @g under @k. */
static inline struct foliofs_inode_kind file(const struct foliofs_kernel *k,
					     const struct foliofs_geometry *g)
{
	struct foliofs_inode_kind i;

	foliofs_inode_kind_init(k, g, &i);
	return i;
}

/* What @op asks for a new file. */
static inline struct foliofs_ask ask(const char *spec, const struct foliofs_geometry *g,
				     enum foliofs_credit_op op)
{
	struct foliofs_kernel k = kernel(spec);
	struct foliofs_inode_kind i = file(&k, g);

	return foliofs_ask(&k, g, &i, op, 0);
}

static inline uint32_t credits(const char *spec, const struct foliofs_geometry *g,
			       enum foliofs_credit_op op)
{
	return ask(spec, g, op).credits.total;
}

#endif
