/* SPDX-License-Identifier: MIT */
/*
 * Journal credits: what every operation asks for, term by term, and what the
 * journal can take.  Pure functions of a kernel (a set of changes), a geometry
 * and the inode's properties.  Source of every rule: lib/kernel/credits.c.
 */
#ifndef FOLIOFS_CREDITS_H
#define FOLIOFS_CREDITS_H

#include <foliofs/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the credit formulas ask of an inode. */
struct foliofs_inode_kind {
	bool extents; /* has the extents flag (not indirect mapped, not inline) */
	bool journal_data; /* its data is journalled: section "data-journal mode" */
	bool journal_flag; /* has the journal-data inode flag */
	bool regular; /* regular file */
	bool buffer_heads; /* is not on iomap, though it could be: made so by move extents */
	uint8_t depth; /* of its extent tree now */
	uint8_t order; /* largest folio order of its mapping; 0: single pages */
	uint64_t i_blocks; /* in file system blocks, for truncate and evict */
	/* of the directory that it is made in, for create and O_TMPFILE */
	bool default_acl; /* has a default ACL, which the new inode gets */
	bool encrypted_dir; /* is encrypted: the new inode gets a context */
};

/* Terms of one formula, in blocks.  total is the sum of the others. */
struct foliofs_credits {
	uint32_t index; /* extent tree or indirect blocks */
	uint32_t bitmaps; /* block bitmaps */
	uint32_t descriptors; /* group descriptor blocks */
	uint32_t fixed; /* superblock, inode, quota, xattr, directory ... */
	uint32_t data; /* data blocks that go through the journal */
	uint32_t total;
};

/* Everything one handle asks for at its start. */
struct foliofs_ask {
	struct foliofs_credits credits; /* buffer credits */
	uint32_t rsv; /* credits of the reserved handle */
	uint32_t revokes; /* revoke records */
	uint8_t type; /* EXT4_HT_* number */
};

/* EXT4_HT_* numbers, as traces print them. */
enum foliofs_handle_type {
	FOLIOFS_HT_MISC, FOLIOFS_HT_INODE, FOLIOFS_HT_WRITE_PAGE, FOLIOFS_HT_MAP_BLOCKS,
	FOLIOFS_HT_DIR, FOLIOFS_HT_TRUNCATE, FOLIOFS_HT_QUOTA, FOLIOFS_HT_RESIZE,
	FOLIOFS_HT_MIGRATE, FOLIOFS_HT_MOVE_EXTENTS, FOLIOFS_HT_XATTR, FOLIOFS_HT_EXT_CONVERT,
	FOLIOFS_HT_COUNT
};

/* Limits of a journal: struct of jbd2's own numbers, in blocks. */
struct foliofs_journal_limits {
	uint32_t length; /* journal length J */
	uint32_t fast_commit; /* blocks taken off for fast commits */
	uint32_t max_transaction; /* TMAX */
	uint32_t tags_per_block; /* tags in a descriptor block */
	uint32_t overhead; /* commit block + descriptors of a full transaction */
	uint32_t max_handle; /* U: what one handle may ask, reservation included */
	uint32_t max_reserved; /* limit of a reservation and of all of them: U / 2 */
	uint32_t revokes_per_block; /* R */
};

/* Limits of @g's journal under @k; without a journal all but revokes_per_block are 0. */
FOLIOFS_API void foliofs_journal_limits(const struct foliofs_kernel *k,
					const struct foliofs_geometry *g,
					struct foliofs_journal_limits *l);

/* One inode kind as the file system makes it for a new regular file. */
FOLIOFS_API void foliofs_inode_kind_init(const struct foliofs_kernel *k,
					 const struct foliofs_geometry *g,
					 struct foliofs_inode_kind *kind);

/* Largest folio order of an eligible regular file's mapping; 0 if not eligible. */
FOLIOFS_API uint8_t foliofs_max_order(const struct foliofs_kernel *k,
				      const struct foliofs_geometry *g, bool journal_flag);
/* Smallest order of a regular file's mapping: not 0 only where blocks are larger than pages. */
FOLIOFS_API uint8_t foliofs_min_order(const struct foliofs_kernel *k,
				      const struct foliofs_geometry *g);
/* Page cache limit of the order, by page size. */
FOLIOFS_API uint8_t foliofs_page_cache_order(uint32_t page_size);
/* Blocks of the largest folio; 0 without a journal (as the kernel's helper has it). */
FOLIOFS_API uint32_t foliofs_blocks_per_folio(const struct foliofs_geometry *g, uint8_t order);
/* True if the inode's data is journalled (data=journal, or the flag where it counts). */
FOLIOFS_API bool foliofs_journals_data(const struct foliofs_kernel *k,
				       const struct foliofs_geometry *g, bool regular,
				       bool journal_flag, uint8_t order);
/* True if dioread_nolock is effective for the inode (unwritten allocation, conversion). */
FOLIOFS_API bool foliofs_dioread_nolock(const struct foliofs_kernel *k,
					const struct foliofs_geometry *g,
					const struct foliofs_inode_kind *i);

/* True if the inode's buffered data goes through iomap (the unmerged series only). */
FOLIOFS_API bool foliofs_buffered_iomap(const struct foliofs_kernel *k,
					const struct foliofs_geometry *g,
					const struct foliofs_inode_kind *i);

/* Tree blocks for @len logical blocks in @pextents physical extents. */
FOLIOFS_API uint32_t foliofs_index_credits(const struct foliofs_kernel *k,
					   const struct foliofs_geometry *g,
					   const struct foliofs_inode_kind *i, uint32_t len,
					   uint32_t pextents);
/* Metadata of mapping @len blocks in @pextents physical extents. */
FOLIOFS_API struct foliofs_credits foliofs_meta_credits(const struct foliofs_kernel *k,
							const struct foliofs_geometry *g,
							const struct foliofs_inode_kind *i,
							uint32_t len, uint32_t pextents);

/* Operations whose start is known by a formula; see credit-ops.def for names and text. */
enum foliofs_credit_op {
#define FOLIOFS_CREDIT_OP(id, name, type, text) FOLIOFS_CREDIT_##id,
#include <foliofs/credit-ops.def>
#undef FOLIOFS_CREDIT_OP
	FOLIOFS_CREDIT_COUNT
};

/*
 * What operation @op asks at its start.  @len: what the operation's line in credit-ops.def says,
 * else ignored; 0 stands for the largest one of the operation (setxattr: 0 bytes).
 */
FOLIOFS_API struct foliofs_ask foliofs_ask(const struct foliofs_kernel *k,
					   const struct foliofs_geometry *g,
					   const struct foliofs_inode_kind *i,
					   enum foliofs_credit_op op, uint32_t len);
/*
 * Credits of one call that makes sure of room in the handle before it maps the next extent
 * (the test and the size it is extended to); 0 in kernels whose handles do not grow.
 */
FOLIOFS_API uint32_t foliofs_ensure_credits(const struct foliofs_kernel *k,
					    const struct foliofs_geometry *g,
					    const struct foliofs_inode_kind *i);
/*
 * Credits of setting an extended attribute of @bytes; @create: it is known not to replace one.
 * 0 without a journal.
 */
FOLIOFS_API uint32_t foliofs_xattr_credits(const struct foliofs_kernel *k,
					   const struct foliofs_geometry *g,
					   const struct foliofs_inode_kind *i, uint32_t bytes,
					   bool create);
/* False if @op cannot happen to such an inode on such a mount. */
FOLIOFS_API bool foliofs_credit_op_applies(const struct foliofs_kernel *k,
					   const struct foliofs_geometry *g,
					   const struct foliofs_inode_kind *i,
					   enum foliofs_credit_op op);

/* One term of an explained ask.  The values of all lines add up to credits.total + rsv. */
struct foliofs_explain_line {
	const char *term; /* "index", "bitmaps", "descriptors", "fixed", "data" */
	char how[112]; /* the rule with its numbers */
	const char *source; /* patch title or series and release */
	uint32_t value; /* blocks */
	bool reserved; /* of the reserved handle */
};

struct foliofs_explain {
	char rule[112]; /* the whole formula */
	unsigned int nr;
	struct foliofs_explain_line line[24];
};

/* As foliofs_ask(), and says in @e how it came to the numbers. */
FOLIOFS_API struct foliofs_ask foliofs_ask_explain(const struct foliofs_kernel *k,
						   const struct foliofs_geometry *g,
						   const struct foliofs_inode_kind *i,
						   enum foliofs_credit_op op, uint32_t len,
						   struct foliofs_explain *e);

/* What becomes of a handle of an operation. */
enum foliofs_verdict {
	FOLIOFS_FITS, /* granted, and enough */
	FOLIOFS_REFUSED, /* more than a handle or a reservation may have: -ENOSPC at the start */
	FOLIOFS_RUNS_DRY, /* granted, but the worst case dirties more: the journal is aborted */
	FOLIOFS_LOOPS, /* granted and grown, but a write beyond EOF may never fit a transaction */
};

/*
 * Blocks that one handle of @op may have to dirty if every extent lies in a group of its own;
 * for operations that go on in a new handle where they stand: what they ask.
 * lib/kernel/verdict.c derives it.
 */
FOLIOFS_API uint32_t foliofs_worst_case(const struct foliofs_kernel *k,
					const struct foliofs_geometry *g,
					const struct foliofs_inode_kind *i,
					enum foliofs_credit_op op, uint32_t len);
FOLIOFS_API enum foliofs_verdict foliofs_credit_verdict(const struct foliofs_kernel *k,
							const struct foliofs_geometry *g,
							const struct foliofs_inode_kind *i,
							enum foliofs_credit_op op, uint32_t len);
/*
 * Length in blocks of the smallest journal that refuses no operation that applies, fast-commit
 * blocks included; 0: there is none of at most 10,240,000 blocks (limit of mke2fs).
 */
FOLIOFS_API uint32_t foliofs_min_journal(const struct foliofs_kernel *k,
					 const struct foliofs_geometry *g,
					 const struct foliofs_inode_kind *i);

/*
 * What jbd2 says to a start that takes @requested blocks (revoke blocks included) and reserves
 * @rsv, of a journal with nothing else in it: granted, refused, or put off for ever, because it
 * fits under the limit of a handle but not into an empty transaction.
 */
FOLIOFS_API enum foliofs_verdict foliofs_start_verdict(const struct foliofs_journal_limits *l,
						       uint32_t requested, uint32_t rsv);

/*
 * Name of an operation as credit-ops.def has it ("writeback"), and what it is in words.  @op must be
 * below FOLIOFS_CREDIT_COUNT.
 */
FOLIOFS_API const char *foliofs_credit_op_name(enum foliofs_credit_op op);
FOLIOFS_API const char *foliofs_credit_op_text(enum foliofs_credit_op op);
/* Operation of that name: 0, or -ENOENT. */
FOLIOFS_API int foliofs_credit_op_find(const char *name, enum foliofs_credit_op *op);
/* Length that the operation takes when nothing else is said (the @len of foliofs_ask()). */
FOLIOFS_API uint32_t foliofs_credit_op_len(const struct foliofs_geometry *g,
					   enum foliofs_credit_op op);

/* Blocks a start really takes from a transaction: credits + revoke blocks (trace: requested). */
static inline uint32_t foliofs_requested(const struct foliofs_journal_limits *l, uint32_t blocks,
					 uint32_t revokes)
{
	return blocks + (revokes + l->revokes_per_block - 1) / l->revokes_per_block;
}

#ifdef __cplusplus
}
#endif
#endif
