// SPDX-License-Identifier: MIT
/*
 * What a journal can take: limits of transactions, handles and reservations.
 *
 * Stands for jbd2's journal_tag_bytes, jbd2_journal_get_max_txn_bufs, the precomputed overhead of
 * a transaction, journal_revoke_records_per_block and the fast-commit area.  ext4 gives the
 * journal the features 64bit and checksum v3 when the file system has 64bit and metadata_csum.
 */
#include "credits.h"

enum {
	HEADER = 12, /* of every journal block */
	UUID = 16, /* behind the first tag of a descriptor */
	REVOKE_HEADER = 16,
	CHECKSUM_TAIL = 4,
	TAG_CSUM3 = 16,
	TAG_64BIT = 12,
	TAG_32BIT = 8,
	MIN_BLOCKS = 1024,
	DEFAULT_FAST_COMMIT = 256,
};

static u32 tag_bytes(const struct foliofs_geometry *g)
{
	if (foliofs_has_feature(g, FOLIOFS_FEATURE_METADATA_CSUM))
		return TAG_CSUM3;
	return foliofs_has_feature(g, FOLIOFS_FEATURE_64BIT) ? TAG_64BIT : TAG_32BIT;
}

static u32 tail_bytes(const struct foliofs_geometry *g)
{
	return foliofs_has_feature(g, FOLIOFS_FEATURE_METADATA_CSUM) ? CHECKSUM_TAIL : 0;
}

/* Fast commits are not switched on if they would not leave the smallest journal. */
static u32 fast_commit_blocks(const struct foliofs_geometry *g)
{
	u32 n = g->fast_commit_blocks ? g->fast_commit_blocks : DEFAULT_FAST_COMMIT;

	if (!foliofs_has_feature(g, FOLIOFS_FEATURE_FAST_COMMIT) ||
	    g->journal_blocks < MIN_BLOCKS + n)
		return 0;
	return n;
}

void foliofs_journal_limits(const struct foliofs_kernel *k, const struct foliofs_geometry *g,
			    struct foliofs_journal_limits *l)
{
	u32 record = foliofs_has_feature(g, FOLIOFS_FEATURE_64BIT) ? 8 : 4, usable;

	*l = (struct foliofs_journal_limits){
		.revokes_per_block = (g->block_size - REVOKE_HEADER - tail_bytes(g)) / record,
	};
	if (!ffs_has_journal(g))
		return;
	l->length = g->journal_blocks;
	l->fast_commit = fast_commit_blocks(g);
	usable = l->length - l->fast_commit;
	l->max_transaction = usable / (foliofs_kernel_has(k, FOLIOFS_CHANGE_JBD_LIMIT_THIRD) ? 3 : 4);
	/* one tag's room is kept free */
	l->tags_per_block = (g->block_size - HEADER - UUID - tail_bytes(g) - 16) / tag_bytes(g);
	l->overhead = 1 + (u32)div_up(l->max_transaction, l->tags_per_block);
	l->max_handle = l->max_transaction;
	if (foliofs_kernel_has(k, FOLIOFS_CHANGE_JBD_USER_MAX))
		l->max_handle -= min(l->max_transaction, l->overhead);
	l->max_reserved = l->max_handle / 2;
}
