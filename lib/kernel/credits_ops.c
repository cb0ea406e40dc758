// SPDX-License-Identifier: MIT
/*
 * What each operation asks for when it starts its handle.
 *
 * One case an operation, each a sum of the building blocks of credits_index.c and credits.c and
 * of fixed numbers.  The kernel functions are those that call ext4_journal_start for the
 * operation: ext4_do_writepages, ext4_write_begin, ext4_page_mkwrite, ext4_truncate and so on.
 */
#include "credits.h"

#include <stdio.h>

static const char *const EXT4 = "ext4";
static const char *const QUOTA = "ext4, quota";

static bool has(const struct ffs_sum *s, enum foliofs_change c)
{
	return foliofs_kernel_has(s->k, c);
}

static void fixed(struct ffs_sum *s, u32 n, const char *what)
{
	ffs_add(s, FFS_TERM_FIXED, n, what, EXT4);
}

/* The usual way to write the formula of an operation: x(n) or w, and what is added. */
static void trans_rule(struct ffs_sum *s, u32 times, u32 n, u32 more)
{
	char plus[16] = "";

	if (!s->e)
		return;
	if (more)
		snprintf(plus, sizeof(plus), " + %u", more);
	if (has(s, FOLIOFS_CHANGE_CF_TRANS_EXTENT))
		ffs_rule(s, "%sone extent and %u data blocks: meta(%u, 1)%s%s", times > 1 ? "2 * " : "",
			 n, n, s->i->journal_data ? " + data" : "", plus);
	else
		ffs_rule(s, "%sa %s's blocks: meta(u, u)%s%s, u = %u", times > 1 ? "2 * " : "",
			 ffs_unit(s->k, s->g, s->i) == ffs_blocks_per_page(s->g) ? "page" : "folio",
			 s->i->journal_data ? " + data" : "", plus,
			 ffs_unit(s->k, s->g, s->i));
}

static void trans(struct ffs_sum *s, u32 times, u32 n)
{
	trans_rule(s, times, n, 0);
	ffs_add_trans(s, times, n);
}

/* meta(len, 1): mapping that asks again for what it did not get. */
static void chunk(struct ffs_sum *s, u32 len)
{
	ffs_rule(s, "meta(%u, 1)", len);
	ffs_add_meta(s, 1, len, 1);
}

/*
 * Before the handles could grow, a round had to pay for 2048 blocks that begin anywhere in a page
 * or folio, and for an extent a block of that page or folio.
 */
static void writeback(struct ffs_sum *s, u32 len)
{
	u32 unit = ffs_unit(s->k, s->g, s->i);

	if (has(s, FOLIOFS_CHANGE_CF_ONE_EXTENT)) {
		chunk(s, len);
		return;
	}
	ffs_rule(s, "meta(%u + u - 1, u), u = %u blocks of a %s", len, unit,
		 unit == ffs_blocks_per_page(s->g) ? "page" : "folio");
	ffs_add_meta(s, 1, len + unit - 1, unit);
}

static void write_begin(struct ffs_sum *s)
{
	u32 n = ffs_folio_blocks(s->g, s->i);

	trans_rule(s, 1, n, 1);
	ffs_add_trans(s, 1, n);
	fixed(s, 1, "superblock: a failed write beyond EOF becomes an orphan");
}

/* iomap has one path for writes and faults. */
static void page_mkwrite(struct ffs_sum *s)
{
	if (foliofs_buffered_iomap(s->k, s->g, s->i))
		write_begin(s);
	else
		trans(s, 1, ffs_folio_blocks(s->g, s->i));
}

static void journalled_writeback(struct ffs_sum *s)
{
	u32 blocks = has(s, FOLIOFS_CHANGE_LF_CREDITS) ? ffs_folio_blocks(s->g, s->i) :
							 ffs_blocks_per_page(s->g);

	if (!has(s, FOLIOFS_CHANGE_WRITEPAGES_JDATA)) {
		trans(s, 1, blocks);
		return;
	}
	ffs_rule(s, "data blocks of a folio");
	ffs_add(s, FFS_TERM_DATA, blocks, "data blocks of a folio",
		foliofs_change_source(FOLIOFS_CHANGE_WRITEPAGES_JDATA));
}

static void convert(struct ffs_sum *s, u32 len)
{
	if (foliofs_buffered_iomap(s->k, s->g, s->i)) {
		chunk(s, len);
		return;
	}
	ffs_rule(s, "what writeback reserved");
	ffs_add_reserve(s);
}

static void zero_edges(struct ffs_sum *s)
{
	if (has(s, FOLIOFS_CHANGE_IM_ZERO_OUTSIDE_HANDLE)) {
		ffs_rule(s, "1");
		fixed(s, 1, "the inode");
		return;
	}
	ffs_rule(s, "2 * tree blocks of 2 extents + 1%s", s->i->journal_data ? " + 2" : "");
	ffs_add_index(s, 2, 2, 2);
	fixed(s, 1, "the inode");
	if (s->i->journal_data)
		ffs_add(s, FFS_TERM_DATA, 2, "edge blocks that are journalled", "data=journal");
}

/* DATA and what a truncate frees: pointer blocks, between 2 and 64. */
static void blocks_for_truncate(struct ffs_sum *s)
{
	u64 blocks = s->i->i_blocks;

	blocks = min(max(blocks, (u64)2), (u64)FFS_MAX_TRANS_DATA);
	fixed(s, ffs_data_trans(s->g), "DATA: a data block with its metadata, xattr, quota");
	ffs_add(s, FFS_TERM_INDEX, (u32)blocks, "i_blocks, between 2 and 64", EXT4);
}

static void remove_blocks(struct ffs_sum *s, u32 n)
{
	if (s->i->extents) {
		trans(s, 1, n);
		return;
	}
	ffs_rule(s, "DATA + i_blocks between 2 and 64");
	blocks_for_truncate(s);
}

static void punch(struct ffs_sum *s)
{
	remove_blocks(s, has(s, FOLIOFS_CHANGE_IM_ZERO_OUTSIDE_HANDLE) ? 0 : 2);
}

static void leaf_remove(struct ffs_sum *s, u32 len, bool first)
{
	ffs_rule(s, "7 + 2 * (len / blocks of a group) + Q%s, len = %u",
		 first ? " + depth + 1" : "", len);
	fixed(s, 7, "leaf, inode, and two groups' bitmaps and descriptors, superblock");
	ffs_add(s, FFS_TERM_BITMAPS, 2 * (len / s->g->blocks_per_group),
		"bitmap and descriptor of each whole group", EXT4);
	ffs_add(s, FFS_TERM_FIXED, ffs_quota_blocks(s->g), "quota", QUOTA);
	if (first)
		ffs_add(s, FFS_TERM_INDEX, s->i->depth + 1u, "keys of the path to the leaf", EXT4);
}

static void setattr_owner(struct ffs_sum *s)
{
	ffs_rule(s, "3 * quota init + 3 * quota delete + 3");
	ffs_add(s, FFS_TERM_FIXED, FFS_QUOTA_TYPES * ffs_quota_init(s->g), "new quota entries",
		QUOTA);
	ffs_add(s, FFS_TERM_FIXED, FFS_QUOTA_TYPES * ffs_quota_del(s->g), "old quota entries",
		QUOTA);
	fixed(s, 3, "the inode");
}

static void move_extents(struct ffs_sum *s, u32 len)
{
	if (has(s, FOLIOFS_CHANGE_FOLIO_DEFRAG)) {
		trans(s, 2, 0);
	} else if (has(s, FOLIOFS_CHANGE_CF_TRANS_EXTENT)) {
		ffs_rule(s, "2 * meta(k, k), k = %u blocks moved in a page", len);
		ffs_add_meta(s, 2, len, len);
	} else {
		trans(s, 2, len);
	}
}

/* Value in a block of its own, and its bitmap, descriptor; with ea_inode the inode of the value. */
static u32 xattr_credits(const struct foliofs_kernel *k, const struct foliofs_geometry *g,
			 const struct foliofs_inode_kind *i, u32 bytes, bool create)
{
	const u32 largest = 65536;
	u32 n;

	if (!ffs_has_journal(g))
		return 0;
	n = 7 + ffs_quota_blocks(g);
	if (!i->extents && foliofs_has_feature(g, FOLIOFS_FEATURE_INLINE_DATA)) {
		struct foliofs_ask ask = foliofs_ask(k, g, i, FOLIOFS_CREDIT_INLINE_CONVERT, 0);

		n += ask.credits.total + 1;
	}
	if (!foliofs_has_feature(g, FOLIOFS_FEATURE_EA_INODE))
		return n;
	n += 4 + 3 * ((u32)div_up(bytes, g->block_size) + 1);
	if (!create)
		n += 4 + 2 * (largest / g->block_size + 1);
	return n;
}

uint32_t foliofs_xattr_credits(const struct foliofs_kernel *k, const struct foliofs_geometry *g,
			       const struct foliofs_inode_kind *i, uint32_t bytes, bool create)
{
	return xattr_credits(k, g, i, bytes, create);
}

enum { CONTEXT_BYTES = 40 }; /* of an encryption context, at most */

/*
 * Attributes that a new inode may get: security, 1024 bytes each; a default ACL; the context of
 * an encrypted directory (ext4_xattr_credits_for_new_inode).
 * SIMPLIFIED: the ACL is taken as one of three entries.
 */
static void security(struct ffs_sum *s)
{
	struct foliofs_inode_kind fresh = { .extents = true, .regular = true };
	u32 one = xattr_credits(s->k, s->g, &fresh, 1024, true);

	if (s->i->default_acl)
		ffs_add(s, FFS_TERM_FIXED, xattr_credits(s->k, s->g, &fresh, 3 * 8, true),
			"the directory's default ACL", EXT4);
	if (s->i->encrypted_dir)
		ffs_add(s, FFS_TERM_FIXED, xattr_credits(s->k, s->g, &fresh, CONTEXT_BYTES, true),
			"an encryption context", EXT4);
	ffs_add(s, FFS_TERM_FIXED, one, "a security attribute", EXT4);
	if (has(s, FOLIOFS_CHANGE_INTEGRITY))
		ffs_add(s, FFS_TERM_FIXED, one, "a second security attribute",
			foliofs_change_source(FOLIOFS_CHANGE_INTEGRITY));
}

static void create(struct ffs_sum *s)
{
	ffs_rule(s, "DATA + 12 + 3 + security attributes");
	fixed(s, ffs_data_trans(s->g), "DATA: a data block with its metadata, xattr, quota");
	fixed(s, FFS_INDEX_EXTRA, "growth of the directory index");
	fixed(s, 3, "inode bitmap, its descriptor, the new inode");
	security(s);
}

static void temporary_file(struct ffs_sum *s)
{
	u32 quota = has(s, FOLIOFS_CHANGE_TMPFILE_CREDITS) ? ffs_quota_blocks(s->g) :
							     FFS_QUOTA_TYPES * ffs_quota_init(s->g);

	ffs_rule(s, "quota + 4 + 6 + security attributes");
	ffs_add(s, FFS_TERM_FIXED, quota, "quota",
		has(s, FOLIOFS_CHANGE_TMPFILE_CREDITS) ?
			foliofs_change_source(FOLIOFS_CHANGE_TMPFILE_CREDITS) : QUOTA);
	fixed(s, 4, "inode bitmap, its descriptor, the new inode, superblock");
	fixed(s, FFS_XATTR, "xattr");
	security(s);
}

static void names(struct ffs_sum *s, u32 data, u32 index, u32 more, const char *what)
{
	ffs_rule(s, "%u * DATA + %u + %u", data, index, more);
	fixed(s, data * ffs_data_trans(s->g), "DATA: a directory block with its metadata, each");
	fixed(s, index, "growth of the directory index");
	fixed(s, more, what);
}

static void evict(struct ffs_sum *s)
{
	ffs_rule(s, "DATA + i_blocks between 2 and 64 + 6 + 3 * quota delete - 3");
	blocks_for_truncate(s);
	ffs_add(s, FFS_TERM_FIXED, FFS_QUOTA_TYPES * ffs_quota_del(s->g), "quota entries", QUOTA);
	fixed(s, 6 - 3, "inode bitmap, its descriptor, superblock: 6, less 3 counted before");
}

static void setxattr(struct ffs_sum *s, u32 bytes)
{
	ffs_rule(s, "attribute of %u bytes that may replace one", bytes);
	fixed(s, xattr_credits(s->k, s->g, s->i, bytes, false),
	      "attribute block, its group, the inode; with ea_inode the value's inode");
}

/* Create has reserved for a context that replaces none; the test has to say the same. */
static void set_context(struct ffs_sum *s)
{
	struct foliofs_inode_kind fresh = { .extents = true, .regular = true };
	bool create = has(s, FOLIOFS_CHANGE_CONTEXT_CREATE);

	ffs_rule(s, "attribute of %u bytes that %s", CONTEXT_BYTES,
		 create ? "replaces none" : "may replace one");
	fixed(s, xattr_credits(s->k, s->g, &fresh, CONTEXT_BYTES, create),
	      "attribute block, its group, the inode; with ea_inode the value's inode");
}

static void one(struct ffs_sum *s, u32 n, const char *what)
{
	ffs_rule(s, "%u", n);
	fixed(s, n, what);
}

static void resize_add(struct ffs_sum *s, u32 groups)
{
	ffs_rule(s, "4 + descriptor blocks of %u groups + reserved descriptor blocks", groups);
	fixed(s, 4, "superblock, resize inode, its blocks");
	ffs_add(s, FFS_TERM_DESCRIPTORS,
		(u32)div_up(groups, s->g->block_size / s->g->desc_size), "descriptor blocks", EXT4);
	fixed(s, s->g->reserved_gdt_blocks, "reserved descriptor blocks");
}

void ffs_add_op(struct ffs_sum *s, enum foliofs_credit_op op, u32 len)
{
	switch (op) {
	case FOLIOFS_CREDIT_WRITEBACK:
		return writeback(s, len);
	case FOLIOFS_CREDIT_WRITE_BEGIN:
		return write_begin(s);
	case FOLIOFS_CREDIT_PAGE_MKWRITE:
		return page_mkwrite(s);
	case FOLIOFS_CREDIT_JOURNALLED_WRITEBACK:
		return journalled_writeback(s);
	case FOLIOFS_CREDIT_CONVERT:
		return convert(s, len);
	case FOLIOFS_CREDIT_CONVERT_ATOMIC:
		ffs_rule(s, "meta(%u, 2)", len);
		return ffs_add_meta(s, 1, len, 2);
	case FOLIOFS_CREDIT_DIO_ATOMIC:
		ffs_rule(s, "meta(%u, %u)", len, len);
		return ffs_add_meta(s, 1, len, len);
	case FOLIOFS_CREDIT_CONVERT_PLAIN:
	case FOLIOFS_CREDIT_DIO_ALLOC:
	case FOLIOFS_CREDIT_FALLOCATE:
		return chunk(s, len);
	case FOLIOFS_CREDIT_DIO_EXTEND:
		return one(s, 2, "the inode, superblock or the next orphan");
	case FOLIOFS_CREDIT_ZERO_EDGES:
		return zero_edges(s);
	case FOLIOFS_CREDIT_PUNCH:
		return punch(s);
	case FOLIOFS_CREDIT_TRUNCATE:
		return remove_blocks(s, 1);
	case FOLIOFS_CREDIT_COLLAPSE:
	case FOLIOFS_CREDIT_INSERT:
	case FOLIOFS_CREDIT_EXT_SHIFT:
		return trans(s, 1, 0);
	case FOLIOFS_CREDIT_EXT_REMOVE:
		ffs_rule(s, "depth + 1");
		return ffs_add(s, FFS_TERM_INDEX, s->i->depth + 1u, "the path to a leaf", EXT4);
	case FOLIOFS_CREDIT_LEAF_REMOVE:
		return leaf_remove(s, len, false);
	case FOLIOFS_CREDIT_LEAF_REMOVE_FIRST:
		return leaf_remove(s, len, true);
	case FOLIOFS_CREDIT_SETATTR_SIZE:
		return one(s, 3, "the inode, superblock, the next orphan");
	case FOLIOFS_CREDIT_SETATTR_OWNER:
		return setattr_owner(s);
	case FOLIOFS_CREDIT_MOVE_EXTENTS:
		return move_extents(s, len);
	case FOLIOFS_CREDIT_SET_FLAGS:
	case FOLIOFS_CREDIT_INLINE_WRITE:
	case FOLIOFS_CREDIT_INLINE_DESTROY:
	case FOLIOFS_CREDIT_JOURNAL_FLAG:
		return one(s, 1, "the inode");
	case FOLIOFS_CREDIT_CREATE:
		return create(s);
	case FOLIOFS_CREDIT_TMPFILE:
		return temporary_file(s);
	case FOLIOFS_CREDIT_LINK:
		return names(s, 1, FFS_INDEX_EXTRA, 1, "the inode");
	case FOLIOFS_CREDIT_UNLINK:
		return names(s, 1, 0, 0, "");
	case FOLIOFS_CREDIT_RENAME:
		return names(s, 2, FFS_INDEX_EXTRA, 2, "two inodes");
	case FOLIOFS_CREDIT_CROSS_RENAME:
		return names(s, 2, 2 * FFS_INDEX_EXTRA, 2, "two inodes");
	case FOLIOFS_CREDIT_EVICT:
		return evict(s);
	case FOLIOFS_CREDIT_DIRTY_INODE:
		return one(s, 2, "the inode, superblock");
	case FOLIOFS_CREDIT_DA_WRITE_END:
		/* without the change the dirty_inode handle of each page does it */
		if (!has(s, FOLIOFS_CHANGE_DA_DISKSIZE_HANDLE))
			return ffs_rule(s, "no handle of its own: dirty-inode");
		return one(s, has(s, FOLIOFS_CHANGE_IM_ZERO_EOF_BEFORE_APPEND) ? 1 : 2,
			   "the inode; 2: also the zeroed block");
	case FOLIOFS_CREDIT_UPDATE_DISKSIZE:
		return one(s, 1, "the inode");
	case FOLIOFS_CREDIT_FIRST_OPEN:
		return one(s, 1, "superblock");
	case FOLIOFS_CREDIT_SETXATTR:
		return setxattr(s, len);
	case FOLIOFS_CREDIT_SET_CONTEXT:
		return set_context(s);
	case FOLIOFS_CREDIT_DQUOT_WRITE:
		return one(s, ffs_quota_capable(s->g) ? 1 : 0, "a block of the quota file");
	case FOLIOFS_CREDIT_DQUOT_ACQUIRE:
		return one(s, ffs_quota_init(s->g), "a new entry of the quota file");
	case FOLIOFS_CREDIT_DQUOT_RELEASE:
		return one(s, ffs_quota_del(s->g), "an old entry of the quota file");
	case FOLIOFS_CREDIT_INLINE_CONVERT:
	case FOLIOFS_CREDIT_INLINE_TRUNCATE:
		return trans(s, 1, 1);
	case FOLIOFS_CREDIT_MIGRATE:
		ffs_rule(s, "3 + Q");
		return fixed(s, 3 + ffs_quota_blocks(s->g), "two inodes, superblock, quota");
	case FOLIOFS_CREDIT_RESIZE_ADD:
		return resize_add(s, len);
	case FOLIOFS_CREDIT_RESIZE_SETUP:
		return one(s, FFS_MAX_TRANS_DATA, "as many blocks as one transaction may take");
	case FOLIOFS_CREDIT_DAX_FAULT:
		ffs_rule(s, "DATA");
		return fixed(s, ffs_data_trans(s->g), "DATA: a data block with its metadata");
	case FOLIOFS_CREDIT_COUNT:
		break;
	}
}
