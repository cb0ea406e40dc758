// SPDX-License-Identifier: MIT
/*
 * The list of operations whose credits are known: names, handle types, usual lengths, and where
 * they can happen.  Stands for no kernel function.
 */
#include "credits.h"

static bool has(const struct foliofs_kernel *k, enum foliofs_change c)
{
	return foliofs_kernel_has(k, c);
}

static const struct {
	const char *name, *text;
	u8 type;
} ops[FOLIOFS_CREDIT_COUNT] = {
#define FOLIOFS_CREDIT_OP(id, name, type, text)                                                    \
	[FOLIOFS_CREDIT_##id] = { name, text, FOLIOFS_HT_##type },
#include <foliofs/credit-ops.def>
#undef FOLIOFS_CREDIT_OP
};

u8 ffs_op_type(enum foliofs_credit_op op)
{
	return ops[op].type;
}

const char *foliofs_credit_op_name(enum foliofs_credit_op op)
{
	return ops[op].name;
}

const char *foliofs_credit_op_text(enum foliofs_credit_op op)
{
	return ops[op].text;
}

int foliofs_credit_op_find(const char *name, enum foliofs_credit_op *op)
{
	for (unsigned int i = 0; i < FOLIOFS_CREDIT_COUNT; i++) {
		if (!strcmp(ops[i].name, name)) {
			*op = (enum foliofs_credit_op)i;
			return 0;
		}
	}
	return -ENOENT;
}

uint32_t foliofs_credit_op_len(const struct foliofs_geometry *g, enum foliofs_credit_op op)
{
	switch (op) {
	case FOLIOFS_CREDIT_WRITEBACK:
		return FFS_WRITEPAGES_BLOCKS;
	case FOLIOFS_CREDIT_DIO_ALLOC:
	case FOLIOFS_CREDIT_DIO_ATOMIC:
	case FOLIOFS_CREDIT_CONVERT_ATOMIC:
		return 4096;
	case FOLIOFS_CREDIT_CONVERT:
	case FOLIOFS_CREDIT_CONVERT_PLAIN:
	case FOLIOFS_CREDIT_FALLOCATE:
		return 32767;
	case FOLIOFS_CREDIT_LEAF_REMOVE:
	case FOLIOFS_CREDIT_LEAF_REMOVE_FIRST:
		return 32768;
	case FOLIOFS_CREDIT_MOVE_EXTENTS:
		return max(g->page_size / g->block_size, 1u);
	case FOLIOFS_CREDIT_RESIZE_ADD:
		return max(g->flex_bg_size, 1u);
	default:
		return 0;
	}
}

bool foliofs_credit_op_applies(const struct foliofs_kernel *k, const struct foliofs_geometry *g,
			       const struct foliofs_inode_kind *i, enum foliofs_credit_op op)
{
	bool inline_data = foliofs_has_feature(g, FOLIOFS_FEATURE_INLINE_DATA);
	bool iomap = foliofs_buffered_iomap(k, g, i);

	switch (op) {
	case FOLIOFS_CREDIT_WRITEBACK:
		return iomap || (!i->journal_data && !g->mount.nodelalloc);
	case FOLIOFS_CREDIT_DA_WRITE_END:
		return !i->journal_data && !g->mount.nodelalloc &&
		       has(k, FOLIOFS_CHANGE_DA_DISKSIZE_HANDLE);
	case FOLIOFS_CREDIT_JOURNALLED_WRITEBACK:
		return i->journal_data;
	case FOLIOFS_CREDIT_CONVERT:
		return foliofs_dioread_nolock(k, g, i);
	case FOLIOFS_CREDIT_CONVERT_ATOMIC:
	case FOLIOFS_CREDIT_DIO_ATOMIC:
		return i->extents && !i->journal_data && has(k, FOLIOFS_CHANGE_ATOMIC_MULTI) &&
		       foliofs_has_feature(g, FOLIOFS_FEATURE_BIGALLOC);
	case FOLIOFS_CREDIT_DIO_ALLOC:
	case FOLIOFS_CREDIT_DIO_EXTEND:
		return !i->journal_data;
	case FOLIOFS_CREDIT_CONVERT_PLAIN:
	case FOLIOFS_CREDIT_FALLOCATE:
	case FOLIOFS_CREDIT_ZERO_EDGES:
	case FOLIOFS_CREDIT_COLLAPSE:
	case FOLIOFS_CREDIT_INSERT:
	case FOLIOFS_CREDIT_EXT_SHIFT:
	case FOLIOFS_CREDIT_EXT_REMOVE:
	case FOLIOFS_CREDIT_LEAF_REMOVE:
	case FOLIOFS_CREDIT_LEAF_REMOVE_FIRST:
		return i->extents;
	case FOLIOFS_CREDIT_MOVE_EXTENTS:
		return i->extents && !i->journal_data &&
		       !(iomap && has(k, FOLIOFS_CHANGE_IM_NODEFRAG));
	case FOLIOFS_CREDIT_MIGRATE:
		return !i->extents && foliofs_has_feature(g, FOLIOFS_FEATURE_EXTENTS);
	case FOLIOFS_CREDIT_INLINE_WRITE:
	case FOLIOFS_CREDIT_INLINE_DESTROY:
	case FOLIOFS_CREDIT_INLINE_CONVERT:
	case FOLIOFS_CREDIT_INLINE_TRUNCATE:
		return inline_data;
	case FOLIOFS_CREDIT_DQUOT_WRITE:
	case FOLIOFS_CREDIT_DQUOT_ACQUIRE:
	case FOLIOFS_CREDIT_DQUOT_RELEASE:
		return ffs_quota_capable(g);
	case FOLIOFS_CREDIT_DAX_FAULT:
		return g->block_size == g->page_size && !i->journal_data;
	case FOLIOFS_CREDIT_SET_CONTEXT:
		return foliofs_has_feature(g, FOLIOFS_FEATURE_ENCRYPT) && i->encrypted_dir;
	case FOLIOFS_CREDIT_RESIZE_ADD:
		return foliofs_has_feature(g, FOLIOFS_FEATURE_RESIZE_INODE);
	default:
		return true;
	}
}
