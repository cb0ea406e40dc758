/* SPDX-License-Identifier: MIT */
/*
 * What the file system looks like: the numbers of the superblock and of the
 * mount that the block math, the credit formulas and the allocator depend on.
 *
 * Every field is a plain number; nothing here is a pointer, so a geometry is
 * copied by assignment.  Block numbers and counts are in file system blocks,
 * clusters in clusters, sizes in bytes.
 */
#ifndef FOLIOFS_GEOMETRY_H
#define FOLIOFS_GEOMETRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define FOLIOFS_API __attribute__((visibility("default")))
#else
#define FOLIOFS_API
#endif

/* File system features that change a rule somewhere in the model. */
enum foliofs_feature {
	FOLIOFS_FEATURE_HAS_JOURNAL = 1u << 0,
	FOLIOFS_FEATURE_EXTENTS = 1u << 1,
	FOLIOFS_FEATURE_64BIT = 1u << 2,
	FOLIOFS_FEATURE_METADATA_CSUM = 1u << 3,
	FOLIOFS_FEATURE_BIGALLOC = 1u << 4,
	FOLIOFS_FEATURE_FLEX_BG = 1u << 5,
	FOLIOFS_FEATURE_META_BG = 1u << 6,
	FOLIOFS_FEATURE_RESIZE_INODE = 1u << 7,
	FOLIOFS_FEATURE_SPARSE_SUPER = 1u << 8,
	FOLIOFS_FEATURE_INLINE_DATA = 1u << 9,
	FOLIOFS_FEATURE_QUOTA = 1u << 10,
	FOLIOFS_FEATURE_VERITY = 1u << 11,
	FOLIOFS_FEATURE_ENCRYPT = 1u << 12,
	FOLIOFS_FEATURE_EA_INODE = 1u << 13,
	FOLIOFS_FEATURE_ORPHAN_FILE = 1u << 14,
	FOLIOFS_FEATURE_FAST_COMMIT = 1u << 15,
	FOLIOFS_FEATURE_DIR_INDEX = 1u << 16,
	FOLIOFS_FEATURE_GDT_CSUM = 1u << 17, /* uninit_bg */
	FOLIOFS_FEATURE_EXTRA_ISIZE = 1u << 18,
	FOLIOFS_FEATURE_HUGE_FILE = 1u << 19,
	FOLIOFS_FEATURE_EXT_ATTR = 1u << 20,
	FOLIOFS_FEATURE_CASEFOLD = 1u << 21,
	FOLIOFS_FEATURE_PROJECT = 1u << 22,
	FOLIOFS_FEATURE_SPARSE_SUPER2 = 1u << 23,
	FOLIOFS_FEATURE_FILETYPE = 1u << 24,
	FOLIOFS_FEATURE_LARGE_FILE = 1u << 25,
	FOLIOFS_FEATURE_DIR_NLINK = 1u << 26,
	/* no rule depends on these, but the layout or the list of features does */
	FOLIOFS_FEATURE_CSUM_SEED = 1u << 27,
	FOLIOFS_FEATURE_STABLE_INODES = 1u << 28,
	FOLIOFS_FEATURE_LARGE_DIR = 1u << 29,
	FOLIOFS_FEATURE_MMP = 1u << 30,
};

/* How file data and the journal relate: mount option data=. */
enum foliofs_data_mode {
	FOLIOFS_DATA_ORDERED,
	FOLIOFS_DATA_WRITEBACK,
	FOLIOFS_DATA_JOURNAL,
};

enum foliofs_atime {
	FOLIOFS_ATIME_RELATIME, /* the default */
	FOLIOFS_ATIME_NOATIME,
	FOLIOFS_ATIME_STRICTATIME,
};

/* What is mounted; the numbers of groups and the journal are ext4's alone. */
enum foliofs_fs_type { FOLIOFS_FS_EXT4, FOLIOFS_FS_XFS, FOLIOFS_FS_TMPFS, FOLIOFS_FS_EXT2 };

/* tmpfs: mount option huge= */
enum foliofs_huge {
	FOLIOFS_HUGE_NEVER, FOLIOFS_HUGE_ALWAYS, FOLIOFS_HUGE_WITHIN_SIZE, FOLIOFS_HUGE_ADVISE,
};

/* Mount options, after the defaults of the superblock have been applied. */
struct foliofs_mount {
	enum foliofs_data_mode data;
	enum foliofs_atime atime;
	bool nodelalloc;
	bool dioread_lock; /* dioread_nolock switched off */
	bool quota; /* any of usrquota, grpquota, prjquota, quota */
	bool noauto_da_alloc;
	bool nodiratime;
	bool lazytime;
	bool sync;
	bool dirsync;
	bool buffered_iomap; /* change sets of ext4 on iomap only */
	bool data_err_abort;
	uint32_t commit_interval; /* seconds, default 5 */
	uint32_t stripe; /* blocks, 0: none */
	/* Lists of groups by their free space: 1 kept, -1 not, 0 from 16 groups on (not given). */
	int8_t mb_optimize_scan;
};

struct foliofs_geometry {
	/* machine */
	uint32_t page_size; /* bytes: 4096, 16384, 65536 */

	/* superblock */
	uint32_t block_size; /* bytes, 1024 to 65536 */
	uint32_t cluster_ratio; /* blocks per cluster, 1 without bigalloc */
	uint64_t blocks_count;
	uint32_t first_data_block; /* 1 for 1K blocks without bigalloc, else 0 */
	uint32_t blocks_per_group;
	uint32_t clusters_per_group;
	uint32_t groups;
	uint32_t desc_size; /* bytes of a group descriptor, 32 or 64 */
	uint32_t gdb_count; /* ceil(groups * desc_size / block_size), also with meta_bg */
	uint32_t reserved_gdt_blocks;
	uint32_t flex_bg_size; /* groups per flex group, 1 without flex_bg */
	uint32_t inode_size;
	uint32_t inodes_per_group;
	uint32_t first_meta_bg;
	uint64_t r_blocks_count; /* reserved for root */
	uint32_t features; /* enum foliofs_feature */
	uint32_t raid_stride, raid_stripe_width; /* blocks */
	uint8_t hash_seed[16]; /* of directory hashes */
	uint32_t backup_bgs[2]; /* sparse_super2: groups with a backup, 0: none */
	uint8_t quota_types; /* quota feature: files there are, 1 user, 2 group, 4 project */

	/* journal */
	uint32_t journal_blocks; /* 0: none */
	uint32_t fast_commit_blocks; /* on disk; 0: 256 when the feature is on */
	uint32_t orphan_file_blocks;

	/* block device */
	uint32_t read_ahead_kb; /* 128 by default */
	uint32_t io_opt_pages; /* largest request of the device in pages (readahead) */

	/* machine */
	uint32_t cpus; /* processors, for what counters per processor may hide; 0: 2 */

	struct foliofs_mount mount;

	/* not ext4 */
	enum foliofs_fs_type fs_type;
	uint32_t ag_count, ag_blocks, log_blocks; /* XFS: allocation groups, internal log */
	uint64_t allocsize; /* XFS mount option, bytes; 0: by the size of the file */
	bool reflink; /* XFS: blocks may be shared */
	enum foliofs_huge huge; /* tmpfs */
};

/* True if @g has the feature. */
static inline bool foliofs_has_feature(const struct foliofs_geometry *g, enum foliofs_feature f)
{
	return (g->features & f) != 0;
}

#ifdef __cplusplus
}
#endif
#endif
