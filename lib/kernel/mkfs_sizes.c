// SPDX-License-Identifier: MIT
/*
 * From the options of mke2fs to the numbers of the superblock: defaults by type of
 * file system and by size, inodes, groups, descriptors, reserved blocks.
 *
 * Stands for the second half of mke2fs's option parsing with the mke2fs.conf of
 * Debian 12, and for ext2fs_initialize(), e2fsprogs 1.47.
 */
#include <strings.h>
#include "features.h"
#include "groups.h"
#include "mkfs.h"
#include "parse.h"

#define has(g, f) foliofs_has_feature(g, FOLIOFS_FEATURE_##f)

/* mke2fs.conf: every section that is used here; 0: the section says nothing. */
static const struct profile {
	const char *name;
	const char *features;
	s32 block_size; /* -1: that of a page */
	u32 inode_ratio;
} profiles[] = {
	{ "ext2", "", 0, 0 },
	{ "ext3", "has_journal", 0, 0 },
	{ "ext4",
	  "has_journal,extent,huge_file,flex_bg,metadata_csum,64bit,dir_nlink,extra_isize", 0, 0 },
	{ "default", "", 0, 0 },
	{ "floppy", "", 1024, 8192 },
	{ "small", "", 1024, 4096 },
	{ "big", "", 0, 32768 },
	{ "huge", "", 0, 65536 },
	{ "news", "", 0, 4096 },
	{ "largefile", "", -1, 1048576 },
	{ "largefile4", "", -1, 4194304 },
};

static const char base_features[] =
	"sparse_super,large_file,filetype,resize_inode,dir_index,ext_attr";

struct maker {
	struct ffs_mkfs *m;
	struct foliofs_geometry *g;
	s64 block_size; /* of the profile */
	u64 inode_ratio; /* of the profile */
	u64 inodes; /* wanted, may be 0 */
	u64 blocks, r_blocks; /* all and reserved ones, before a last group is dropped */
	struct ffs_mkfs_extended ext;
	char *err;
	size_t errlen;
};

#define refuse(k, ...) ffs_refuse((k)->err, (k)->errlen, __VA_ARGS__)

/* Take over one section of mke2fs.conf; @name: @len bytes. */
static int apply_profile(struct maker *k, const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(profiles); i++) {
		const struct profile *p = &profiles[i];

		if (strncmp(p->name, name, len) || p->name[len])
			continue;
		if (p->block_size)
			k->block_size = p->block_size;
		if (p->inode_ratio)
			k->inode_ratio = p->inode_ratio;
		return ffs_features_edit(p->features, &k->g->features, k->err, k->errlen);
	}
	return refuse(k, "mke2fs.conf has no type '%.*s'", (int)len, name);
}

/* The usage type that mke2fs takes for a device of @bytes when there is no -T. */
static const char *type_by_size(u64 bytes)
{
	const u64 mb = 1 << 20;

	if (bytes < 3 * mb)
		return "floppy";
	if (bytes < 512 * mb)
		return "small";
	if (bytes < (4 * mb) * mb)
		return "default";
	return bytes < (16 * mb) * mb ? "big" : "huge";
}

static int choose_profile(struct maker *k)
{
	struct ffs_mkfs *m = k->m;
	const char *type = m->fs_type ? m->fs_type : "ext4";
	const char *usage = m->usage ? m->usage : type_by_size(m->size);
	int ret;

	k->block_size = 4096;
	k->inode_ratio = 16384;
	ret = ffs_features_edit(base_features, &k->g->features, k->err, k->errlen);
	if (!ret && strcmp(type, "ext2") && strcmp(type, "ext3") && strcmp(type, "ext4"))
		ret = refuse(k, "-t: expected ext2, ext3 or ext4, got '%s'", type);
	if (!ret)
		ret = apply_profile(k, type, strlen(type));
	while (!ret && *usage) {
		size_t len = strcspn(usage, ",");

		if (len)
			ret = apply_profile(k, usage, len);
		usage += len + (usage[len] == ',');
	}
	return ret ? ret : ffs_features_edit(m->features, &k->g->features, k->err, k->errlen);
}

/* Block size, cluster size and how many blocks the device holds. */
static int choose_blocks(struct maker *k, u32 page_size)
{
	struct ffs_mkfs *m = k->m;
	struct foliofs_geometry *g = k->g;
	/* the device is measured in blocks of -b, or of 1024 bytes, and in whole pages */
	u32 unit = m->block_size && !m->block_size_min ? m->block_size : 1024;
	u64 size = round_down_pow2(m->size, page_size > unit ? page_size : unit);

	g->block_size = m->block_size;
	if (!m->block_size || m->block_size_min) {
		u32 want = k->block_size < 0 ? page_size : (u32)k->block_size;

		g->block_size = max(want, m->block_size);
	}
	g->blocks_count = size / g->block_size;
	if (g->blocks_count > UINT32_MAX) {
		if (!has(g, 64BIT))
			return refuse(k, "size: too many blocks for 32 bits (-O 64bit)");
		g->features &= ~(u32)FOLIOFS_FEATURE_RESIZE_INODE;
	}
	g->cluster_ratio = 1;
	if (has(g, BIGALLOC)) {
		u32 cluster = m->cluster_size ? m->cluster_size : g->block_size * 16;

		if (cluster < g->block_size)
			return refuse(k, "-C: a cluster may not be smaller than a block");
		g->cluster_ratio = cluster / g->block_size;
	} else if (m->cluster_size) {
		return refuse(k, "-C: needs the feature bigalloc");
	}
	return 0;
}

/* Combinations of features that mke2fs refuses or mends. */
static int check_features(struct maker *k)
{
	struct foliofs_geometry *g = k->g;

	if (has(g, 64BIT) && !has(g, EXTENTS))
		return refuse(k, "-O: 64bit needs extent");
	if (has(g, BIGALLOC) && !has(g, EXTENTS))
		return refuse(k, "-O: bigalloc needs extent");
	if (has(g, META_BG) && has(g, RESIZE_INODE))
		return refuse(k, "-O: meta_bg and resize_inode exclude each other");
	if (has(g, RESIZE_INODE) && !has(g, SPARSE_SUPER))
		return refuse(k, "-O: resize_inode needs sparse_super");
	if (has(g, CSUM_SEED) && !has(g, METADATA_CSUM))
		return refuse(k, "-O: metadata_csum_seed needs metadata_csum");
	if (has(g, ORPHAN_FILE) && !has(g, HAS_JOURNAL))
		return refuse(k, "-O: orphan_file needs has_journal");
	if (has(g, METADATA_CSUM))
		g->features &= ~(u32)FOLIOFS_FEATURE_GDT_CSUM;
	if (k->m->flex_groups && !has(g, FLEX_BG))
		return refuse(k, "-G: needs the feature flex_bg");
	return 0;
}

static int choose_inodes(struct maker *k)
{
	struct ffs_mkfs *m = k->m;
	struct foliofs_geometry *g = k->g;
	u64 bytes = g->blocks_count * g->block_size, ratio = m->inode_ratio;
	u32 largest;

	g->inode_size = m->inode_size ? (u32)m->inode_size : 256;
	largest = min(g->block_size, 32768u); /* 16 bits in the superblock */
	if (g->inode_size < 128 || g->inode_size > largest || !is_pow2(g->inode_size))
		return refuse(k, "-I: expected a power of two from 128 to %u, got %u", largest,
			      g->inode_size);
	if (g->inode_size == 128 && has(g, PROJECT))
		return refuse(k, "-I: 128 is too small for project quota");
	if (g->inode_size == 128 && has(g, INLINE_DATA))
		return refuse(k, "-I: 128 is too small for inline_data");
	if (!ratio)
		ratio = max(k->inode_ratio, (u64)g->block_size * g->cluster_ratio);
	k->inodes = m->inodes ? m->inodes : bytes / ratio;
	if (k->inodes > UINT32_MAX) {
		if (!has(g, 64BIT))
			return refuse(k, "-i: more than 2^32 inodes");
		k->inodes = UINT32_MAX;
	}
	if (k->inodes * g->inode_size >= bytes)
		return refuse(k, "%s: %llu inodes of %u bytes do not fit",
			      m->inodes ? "-N" : "-i", (unsigned long long)k->inodes,
			      g->inode_size);
	return 0;
}

static int choose_group_size(struct maker *k)
{
	struct foliofs_geometry *g = k->g;
	u32 want = k->m->group_size, limit = 65528; /* counts of 16 bits, less 8 for old kernels */

	if (want && (want < 256 || want > 8 * g->block_size))
		return refuse(k, "-g: expected 256 to %u, got %u", 8 * g->block_size, want);
	if (!want && has(g, BIGALLOC) && ilog2(g->block_size) + ilog2(g->cluster_ratio) >= 27)
		want = (g->block_size - 1) * 8;
	g->clusters_per_group = min(want ? want : g->block_size * 8, limit);
	if ((u64)g->clusters_per_group * g->cluster_ratio > UINT32_MAX)
		return refuse(k, "-C: more than 2^32 blocks in a group");
	g->blocks_per_group = g->clusters_per_group * g->cluster_ratio;
	g->first_data_block = g->block_size == 1024 && g->cluster_ratio == 1;
	g->desc_size = has(g, 64BIT) ? k->ext.desc_size : 32;
	g->flex_bg_size = 1;
	if (has(g, FLEX_BG)) {
		u64 flex = k->m->flex_groups ? k->m->flex_groups : 16;

		if (flex > 1u << 31)
			return refuse(k, "-G: too large");
		g->flex_bg_size = (u32)flex;
	}
	return 0;
}

/*
 * Inodes per group so that all groups together have at least the wanted number:
 * whole inode table blocks, and a multiple of 8 for the bitmap.
 * -E2BIG: more than fit in one bitmap.
 */
static int set_inodes_per_group(struct maker *k)
{
	struct foliofs_geometry *g = k->g;
	u64 per_block = g->block_size / g->inode_size, want = k->inodes, ipg;

	if (!want) /* less than one by the ratio: one for each 4K */
		want = g->blocks_count / (g->block_size >= 4096 ? 1 : 4096 / g->block_size);
	want = max(want, (u64)12); /* the reserved ones and lost+found */
	ipg = div_up(want, g->groups);
	if (ipg > g->block_size * 8)
		return -E2BIG;
	ipg = min(ipg, 65536 - per_block);
	for (;; ipg--) {
		u64 n = div_up(ipg, per_block) * per_block;

		n = max(n, (u64)8) & ~7ull;
		if (n * g->groups <= UINT32_MAX) {
			g->inodes_per_group = (u32)n;
			return 0;
		}
	}
}

/* Descriptor blocks to keep free so that the file system can grow 1024 times. */
static u32 reserved_gdt_blocks(const struct foliofs_geometry *g)
{
	u64 limit = UINT32_MAX, groups;
	u32 blocks;

	if (g->blocks_count < limit / 1024)
		limit = g->blocks_count * 1024;
	groups = div_up(limit - g->first_data_block, g->blocks_per_group);
	blocks = (u32)div_up(groups, ffs_descs_per_block(g)) - g->gdb_count;
	/* one pointer block of the resize inode holds them */
	return min(blocks, g->block_size / 4);
}

static int set_reserved_gdt(struct maker *k)
{
	struct foliofs_geometry *g = k->g;

	g->reserved_gdt_blocks = k->ext.reserved_gdt_blocks;
	if (!g->reserved_gdt_blocks && has(g, RESIZE_INODE))
		g->reserved_gdt_blocks = reserved_gdt_blocks(g);
	if (g->reserved_gdt_blocks > g->block_size / 4)
		return refuse(k, "-E resize: too many descriptor blocks to reserve");
	/* more than three quarters of a group would go to descriptors: spread them */
	if (g->reserved_gdt_blocks + (u64)g->gdb_count > (u64)g->blocks_per_group * 3 / 4) {
		g->features |= FOLIOFS_FEATURE_META_BG;
		g->features &= ~(u32)FOLIOFS_FEATURE_RESIZE_INODE;
		g->reserved_gdt_blocks = k->ext.reserved_gdt_blocks;
	}
	return 0;
}

/* True if the last group will begin with a backup; with sparse_super2 as asked for. */
static bool last_group_has_super(const struct maker *k)
{
	if (!has(k->g, SPARSE_SUPER2))
		return ffs_group_has_super(k->g, k->g->groups - 1);
	return k->ext.num_backups >= (k->g->groups == 2 ? 1u : 2u);
}

/*
 * Lay out groups; a last group too small to be worth it is dropped, a group size
 * with too many inodes per group is lowered, and everything is computed again.
 */
static int set_groups(struct maker *k)
{
	struct foliofs_geometry *g = k->g;
	u64 blocks = g->blocks_count, need, rest;
	u32 table;
	int ret;

again:
	g->groups = (u32)div_up(g->blocks_count - g->first_data_block, g->blocks_per_group);
	if (!g->groups || g->blocks_count <= g->first_data_block)
		return refuse(k, "size: too small for a file system");
	g->gdb_count = (u32)div_up(g->groups, ffs_descs_per_block(g));
	if (set_inodes_per_group(k)) {
		if (has(g, BIGALLOC) || g->blocks_per_group < 256)
			return refuse(k, "%s: too many inodes", k->m->inodes ? "-N" : "-i");
		g->blocks_per_group -= 8;
		g->clusters_per_group = g->blocks_per_group;
		g->blocks_count = blocks;
		goto again;
	}
	ret = set_reserved_gdt(k);
	if (ret)
		return ret;
	table = ffs_inode_table_blocks(g);
	need = 3ull + table + g->reserved_gdt_blocks + (has(g, META_BG) ? 1 : g->gdb_count);
	if (need > g->blocks_per_group)
		return refuse(k, "%s: too many inodes", k->m->inodes ? "-N" : "-i");

	need = 2ull + table;
	if (last_group_has_super(k))
		need += 1ull + g->gdb_count + g->reserved_gdt_blocks;
	rest = (g->blocks_count - g->first_data_block) % g->blocks_per_group;
	if (g->groups == 1 && rest && rest < need)
		return refuse(k, "size: too small for a file system");
	if (rest && rest < need + 50) {
		double percent = 100.0 * (double)k->r_blocks / (double)k->blocks;

		g->blocks_count -= rest;
		g->r_blocks_count = (u64)(percent * (double)g->blocks_count / 100.0);
		goto again;
	}
	return 0;
}

/* sparse_super2: the first and the last group, or what there is of them. */
static void set_backups(struct maker *k)
{
	struct foliofs_geometry *g = k->g;
	u32 last = g->groups - 1;

	if (!has(g, SPARSE_SUPER2))
		return;
	g->backup_bgs[0] = k->ext.num_backups >= 1 ? min(1u, last) : 0;
	g->backup_bgs[1] = k->ext.num_backups >= 2 ? last : 0;
	if (g->backup_bgs[0] == g->backup_bgs[1])
		g->backup_bgs[1] = 0;
	if (g->backup_bgs[0] > g->backup_bgs[1]) {
		u32 t = g->backup_bgs[0];

		g->backup_bgs[0] = g->backup_bgs[1];
		g->backup_bgs[1] = t;
	}
}

/* Free blocks as mke2fs counts them before it allocates anything. */
static u64 count_free(const struct foliofs_geometry *g)
{
	u64 free = 0, table = 2ull + ffs_inode_table_blocks(g);

	for (u32 i = 0; i < g->groups; i++) {
		u64 first, end = ffs_group_super_end(g, i, &first);

		free += ffs_group_end(g, i) - ffs_group_first(g, i) - (end - first);
		/* with flex_bg the tables are counted when they get their place */
		if (g->flex_bg_size == 1)
			free -= table;
	}
	return round_down_pow2(free, g->cluster_ratio);
}

int ffs_mkfs_sizes(struct ffs_mkfs *m, struct foliofs_geometry *g, u64 *free_blocks, char *err,
		   size_t errlen)
{
	struct maker k = { .m = m, .g = g, .err = err, .errlen = errlen };
	int ret = choose_profile(&k);

	k.ext.desc_size = 64;
	k.ext.num_backups = 2;
	g->quota_types = 3;
	if (!ret)
		ret = choose_blocks(&k, g->page_size);
	if (!ret)
		ret = ffs_mkfs_extended(m, g, has(g, BIGALLOC) ? 0 : m->group_size, &k.ext, err,
					errlen);
	if (ret)
		return ret;
	if (m->sparse == 1)
		g->features |= FOLIOFS_FEATURE_SPARSE_SUPER;
	else if (m->sparse == 0)
		g->features &= ~(u32)FOLIOFS_FEATURE_SPARSE_SUPER;
	if (m->journal)
		g->features |= FOLIOFS_FEATURE_HAS_JOURNAL;
	if (g->quota_types & 4)
		g->features |= FOLIOFS_FEATURE_PROJECT;
	if (has(g, PROJECT))
		g->quota_types |= 4;

	ret = check_features(&k);
	if (!ret)
		ret = choose_inodes(&k);
	if (!ret)
		ret = choose_group_size(&k);
	if (ret)
		return ret;
	k.r_blocks = (u64)((m->reserved < 0 ? 5.0 : m->reserved) * (double)g->blocks_count / 100.0);
	g->r_blocks_count = k.r_blocks;
	k.blocks = g->blocks_count;
	/* with bigalloc whole clusters only */
	g->blocks_count = round_down_pow2(g->blocks_count, g->cluster_ratio);
	ret = set_groups(&k);
	if (ret)
		return ret;
	set_backups(&k);
	if (!has(g, QUOTA))
		g->quota_types = 0;
	*free_blocks = count_free(g);
	return 0;
}
