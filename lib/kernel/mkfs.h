/* SPDX-License-Identifier: MIT */
/*
 * The steps from the words of a mke2fs command line to a geometry:
 * mkfs_options.c reads the words, mkfs_sizes.c fills in the defaults and computes,
 * mkfs_journal.c sizes journal and orphan file.
 */
#ifndef FFS_MKFS_H
#define FFS_MKFS_H

#include <foliofs/mkfs.h>
#include "base/base.h"

/* What the command line said; 0 or NULL where it said nothing. */
struct ffs_mkfs {
	char *words; /* the command line, cut into words; the pointers below lead into it */
	char *features; /* all of -O, joined by commas */
	const char *extended; /* -E, the last one: mke2fs forgets the others */
	const char *fs_type; /* -t */
	const char *usage; /* -T */

	bool has_size;
	u64 size; /* bytes of the device */
	u32 block_size; /* -b */
	bool block_size_min; /* -b with a minus: at least block_size */
	u32 cluster_size; /* -C */
	u32 group_size; /* -g: blocks, with bigalloc clusters */
	u64 flex_groups; /* -G */
	u64 inode_ratio; /* -i */
	u64 inode_size; /* -I */
	u64 inodes; /* -N */
	double reserved; /* -m: percent, negative if not given */
	int sparse; /* -s: negative if not given */
	bool journal; /* -j or -J */
	u64 journal_mb; /* -J size= */
	u64 fast_commit_kb; /* -J fast_commit_size= */
	u64 orphan_blocks; /* -E orphan_file_size=, filled by mkfs_sizes.c */
};

/* Read the words.  ffs_mkfs_release() also after an error. */
int ffs_mkfs_read(const char *options, struct ffs_mkfs *m, char *err, size_t errlen);
void ffs_mkfs_release(struct ffs_mkfs *m);

/*
 * Geometry without journal and orphan file; @free_blocks: what mke2fs counts as
 * free at this point.  May set @m->orphan_blocks and the feature bits.
 */
int ffs_mkfs_sizes(struct ffs_mkfs *m, struct foliofs_geometry *g, u64 *free_blocks, char *err,
		   size_t errlen);

/* Suboptions of -E: ffs_mkfs_sizes() calls it when block and device size are known. */
struct ffs_mkfs_extended {
	u32 desc_size;
	u32 num_backups;
	u32 reserved_gdt_blocks; /* resize=; 0: computed */
};
int ffs_mkfs_extended(struct ffs_mkfs *m, struct foliofs_geometry *g, u32 group_size,
		      struct ffs_mkfs_extended *e, char *err, size_t errlen);

/* Length of the journal and of the orphan file. */
int ffs_mkfs_journal(const struct ffs_mkfs *m, struct foliofs_geometry *g, u64 free_blocks,
		     char *err, size_t errlen);

/* Default journal length in blocks for a file system of @blocks; 0: too small for one. */
u32 ffs_default_journal_blocks(u64 blocks);

/* 16 bytes from the usual text form of a UUID: 0 or -EINVAL. */
int ffs_parse_uuid(const char *text, u8 *uuid);

#endif
