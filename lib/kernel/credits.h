/* SPDX-License-Identifier: MIT */
/*
 * Inside of the credit formulas: constants, units and the sum that the operations build.
 *
 * Words, as in the tables of the mailing list:
 *   p      physical extents      l     logical blocks       d    depth of the tree now
 *   E      extents per leaf      A     pointers per indirect block
 *   Q      quota blocks          K     blocks per cluster
 *   bpp    blocks per page       bpf   blocks per largest folio; both 0 without a journal
 *   meta(l, p)   metadata of mapping l blocks in p extents
 *   x(n)   one extent and n data blocks;  w  one page's or folio's worth (before v6.17)
 */
#ifndef FFS_KERNEL_CREDITS_H
#define FFS_KERNEL_CREDITS_H

#include <foliofs/credits.h>

#include "base/base.h"

enum {
	FFS_SINGLEDATA_EXTENTS = 20, /* file system has the extents feature */
	FFS_SINGLEDATA_INDIRECT = 8,
	FFS_XATTR = 6, /* of DATA: two xattr blocks, their bitmaps and descriptors */
	FFS_META = 6, /* superblock, inode, quota, xattr; quota is added to it */
	FFS_QUOTA = 3, /* Q of a quota-capable file system: one block a type */
	FFS_QUOTA_TYPES = 3,
	FFS_MAX_TRANS_DATA = 64,
	FFS_INDEX_EXTRA = 12, /* growth of a directory index */
	FFS_MAX_DEPTH = 5, /* deepest tree of the formulas with a worst-case depth */
	FFS_WRITEPAGES_BLOCKS = 2048, /* mapped by one round of writeback */
	FFS_DEFAULT_REVOKES = 8, /* of every ordinary start, times K */
	FFS_SASHA_BLOCKS = 8192,
};

/* Can keep quota: the feature, or any quota mount option (quota need not be on). */
bool ffs_quota_capable(const struct foliofs_geometry *g);
/* Q */
u32 ffs_quota_blocks(const struct foliofs_geometry *g);
/* DATA: one data block with everything around it. */
u32 ffs_data_trans(const struct foliofs_geometry *g);
/* Setting up and deleting the quota entries of one type. */
u32 ffs_quota_init(const struct foliofs_geometry *g);
u32 ffs_quota_del(const struct foliofs_geometry *g);

/* E, also the index entries of a block; A. */
u32 ffs_extents_per_block(const struct foliofs_geometry *g);
u32 ffs_pointers_per_block(const struct foliofs_geometry *g);

bool ffs_has_journal(const struct foliofs_geometry *g);
/* bpp and bpf. */
u32 ffs_blocks_per_page(const struct foliofs_geometry *g);
u32 ffs_folio_blocks(const struct foliofs_geometry *g, const struct foliofs_inode_kind *i);
/* Blocks that one handle is counted for before v6.17: a page's or a folio's. */
u32 ffs_unit(const struct foliofs_kernel *k, const struct foliofs_geometry *g,
	     const struct foliofs_inode_kind *i);
/* What the group count starts from for @p extents and an index estimate of @index. */
u32 ffs_group_seed(const struct foliofs_kernel *k, u32 index, u32 p);

/* A sum of terms under way. */
struct ffs_sum {
	const struct foliofs_kernel *k;
	const struct foliofs_geometry *g;
	const struct foliofs_inode_kind *i;
	struct foliofs_credits *to; /* credits, or the reserve */
	bool reserved; /* what is added is the reserve */
	struct foliofs_explain *e; /* NULL: numbers only */
};

enum ffs_term {
	FFS_TERM_INDEX, FFS_TERM_BITMAPS, FFS_TERM_DESCRIPTORS, FFS_TERM_FIXED, FFS_TERM_DATA,
};

/* Add @n blocks to a term; @what names them, @source says where the rule is from. */
void ffs_add(struct ffs_sum *s, enum ffs_term term, u32 n, const char *what, const char *source);
/* Add @times meta(l, p). */
void ffs_add_meta(struct ffs_sum *s, u32 times, u32 l, u32 p);
/* Add x(n), or w in kernels that have it. */
void ffs_add_trans(struct ffs_sum *s, u32 times, u32 n);
/* Add the tree blocks of p extents alone, @times. */
void ffs_add_index(struct ffs_sum *s, u32 times, u32 l, u32 p);
/* Text of the whole formula; nothing if the sum is not explained. */
void ffs_rule(struct ffs_sum *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Explanations of the terms of meta and index: explain.c. */
void ffs_explain_line(struct ffs_sum *s, const char *term, u32 value, const char *source,
		      const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void ffs_explain_index(struct ffs_sum *s, u32 times, u32 l, u32 p, u32 value);
void ffs_explain_meta(struct ffs_sum *s, u32 times, u32 l, u32 p,
		      const struct foliofs_credits *m);

/* Credits of the reserved handle of writeback: 0 if it reserves nothing. */
void ffs_add_reserve(struct ffs_sum *s);
/* EXT4_HT_* number of the handle of @op. */
u8 ffs_op_type(enum foliofs_credit_op op);
/* Credits of operation @op without its reserve. */
void ffs_add_op(struct ffs_sum *s, enum foliofs_credit_op op, u32 len);

#endif
