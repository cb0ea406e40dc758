// SPDX-License-Identifier: MIT
/*
 * Do the numbers of a geometry agree with each other?  Stands for the checks that
 * the kernel makes on a superblock before it mounts it.
 */
#include <foliofs/mkfs.h>
#include "groups.h"
#include "parse.h"

struct check {
	char *err;
	size_t errlen;
	int ret;
};

/* Remember the first field that is not what it should be. */
static void expect(struct check *c, bool ok, const char *field, u64 value, const char *what)
{
	if (!ok && !c->ret)
		c->ret = ffs_refuse(c->err, c->errlen, "%s: expected %s, got %llu", field, what,
				    (unsigned long long)value);
}

static void expect_equal(struct check *c, const char *field, u64 value, u64 want)
{
	if (value != want && !c->ret)
		c->ret = ffs_refuse(c->err, c->errlen, "%s: expected %llu, got %llu", field,
				    (unsigned long long)want, (unsigned long long)value);
}

static bool size_in(u64 v, u64 low, u64 high)
{
	return v >= low && v <= high && is_pow2(v);
}

static void check_sizes(struct check *c, const struct foliofs_geometry *g)
{
	bool wide = foliofs_has_feature(g, FOLIOFS_FEATURE_64BIT);

	expect(c, g->page_size == 4096 || g->page_size == 16384 || g->page_size == 65536,
	       "page_size", g->page_size, "4096, 16384 or 65536");
	expect(c, size_in(g->block_size, 1024, 65536), "block_size", g->block_size,
	       "a power of two from 1024 to 65536");
	expect(c, size_in(g->cluster_ratio, 1, 1u << 19), "cluster_size / block_size",
	       g->cluster_ratio, "a power of two");
	expect(c, g->cluster_ratio == 1 || foliofs_has_feature(g, FOLIOFS_FEATURE_BIGALLOC),
	       "cluster_size / block_size", g->cluster_ratio, "1 without bigalloc");
	expect(c, wide ? size_in(g->desc_size, 64, 1024) : g->desc_size == 32, "desc_size",
	       g->desc_size, wide ? "a power of two from 64 to 1024" : "32 without 64bit");
	expect(c, size_in(g->flex_bg_size, 1, 1u << 31), "flex_bg_size", g->flex_bg_size,
	       "a power of two");
	expect(c, size_in(g->inode_size, 128, max(g->block_size, 128u)), "inode_size",
	       g->inode_size, "a power of two from 128 to the block size");
}

static void check_groups(struct check *c, const struct foliofs_geometry *g)
{
	u64 per_group = (u64)g->clusters_per_group * g->cluster_ratio;

	expect(c, g->clusters_per_group >= 8 && g->clusters_per_group <= g->block_size * 8,
	       "clusters_per_group", g->clusters_per_group, "8 to 8 * block_size");
	expect_equal(c, "blocks_per_group", g->blocks_per_group, per_group);
	expect_equal(c, "first_data_block", g->first_data_block,
		     g->block_size == 1024 && g->cluster_ratio == 1);
	expect(c, g->blocks_count > g->first_data_block, "blocks_count", g->blocks_count,
	       "more than first_data_block");
	if (c->ret)
		return;
	expect_equal(c, "groups", g->groups,
		     div_up(g->blocks_count - g->first_data_block, g->blocks_per_group));
	expect_equal(c, "gdb_count", g->gdb_count, div_up(g->groups, ffs_descs_per_block(g)));
	expect(c, g->reserved_gdt_blocks <= g->block_size / 4, "reserved_gdt_blocks",
	       g->reserved_gdt_blocks, "at most block_size / 4");
	expect(c,
	       g->inodes_per_group >= 8 && g->inodes_per_group <= g->block_size * 8 &&
		       g->inodes_per_group % 8 == 0,
	       "inodes_per_group", g->inodes_per_group, "a multiple of 8, at most 8 * block_size");
	expect(c, (u64)g->inodes_per_group * g->groups <= UINT32_MAX, "inodes_per_group",
	       g->inodes_per_group, "less than 2^32 inodes in all groups");
	expect(c, ffs_inode_table_blocks(g) < g->blocks_per_group, "inodes_per_group",
	       g->inodes_per_group, "a table smaller than a group");
	expect(c, g->first_meta_bg <= g->gdb_count, "first_meta_bg", g->first_meta_bg,
	       "at most gdb_count");
	expect(c, g->r_blocks_count <= g->blocks_count, "r_blocks_count", g->r_blocks_count,
	       "at most blocks_count");
}

static void check_journal(struct check *c, const struct foliofs_geometry *g)
{
	bool journal = foliofs_has_feature(g, FOLIOFS_FEATURE_HAS_JOURNAL);

	expect(c, journal == (g->journal_blocks > 0), "journal_blocks", g->journal_blocks,
	       journal ? "a length with has_journal" : "0 without has_journal");
	expect(c, !journal || (g->journal_blocks >= 1024 && g->journal_blocks < g->blocks_count),
	       "journal_blocks", g->journal_blocks, "1024 or more, less than blocks_count");
	expect(c, g->fast_commit_blocks < max(g->journal_blocks, 1u), "fast_commit_blocks",
	       g->fast_commit_blocks, "less than journal_blocks");
	expect(c, g->orphan_file_blocks < g->blocks_count, "orphan_file_blocks",
	       g->orphan_file_blocks, "less than blocks_count");
}

int foliofs_geometry_check(const struct foliofs_geometry *g, char *err, size_t errlen)
{
	struct check c = { err, errlen, 0 };

	check_sizes(&c, g);
	if (!c.ret)
		check_groups(&c, g);
	if (!c.ret)
		check_journal(&c, g);
	return c.ret;
}
