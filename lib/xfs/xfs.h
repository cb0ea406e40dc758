/* SPDX-License-Identifier: MIT */
/*
 * XFS, as far as the iomap path needs somebody who maps: extents, delayed allocation
 * with speculative preallocation, unwritten extents, shared blocks with copy-on-write,
 * a log whose forces make metadata durable, and the order of its operations.
 * The iomap core (lib/iomap) is what is modelled; this is the company it keeps.
 *
 *	mkfs.c		free space of a fresh file system	alloc.c	where blocks come from,
 *								busy.c	and which not yet
 *	extents.c	the two extent lists of an inode	map.c	answers to iomap
 *	writeback.c	maps for writeback, end of I/O		log.c	transactions, crashes
 *	inode.c	inodes					file.c	operations, sync
 *	setattr.c	sizes					space.c	fallocate
 *	reflink.c	shared blocks				direct.c O_DIRECT
 *
 * SIMPLIFIED: transactions always fit the log, metadata costs no blocks (but where space
 * gets low), allocation groups hold data from where mkfs.xfs leaves off.
 */
#ifndef FFS_XFS_H
#define FFS_XFS_H

#include "iomap/iomap.h"
#include "ops/fs_type.h"

/* State of an extent, value b of a run; a = block - file block (0: delayed). */
enum ffs_xfs_state { FFS_XFS_WRITTEN = 1, FFS_XFS_UNWRITTEN, FFS_XFS_DELAYED };

enum ffs_xfs_fork { FFS_XFS_DATA, FFS_XFS_COW };

struct ffs_xfs_inode {
	struct ffs_runs fork[2]; /* by file block */
	u64 seq[2]; /* changes of each: the cookies */
	/* log */
	bool pinned; /* changed since the last log force */
	bool core; /* and more than its times: fdatasync has to force the log */
	/* flags */
	bool truncated; /* a truncate removed data: written back early at close */
	bool eof_released; /* a close gave back what lies behind EOF */
	bool prealloc; /* fallocated: a close leaves it alone */
	bool reflink; /* has shared blocks */
	bool unread; /* not yet in core since the mount */
	u32 tree_blocks; /* of the extent tree, when the extents do not fit into the inode */
};

/* What the last log force made durable of an inode. */
struct ffs_xfs_durable {
	u32 ino, mode, nlink;
	u64 size;
	bool reflink, prealloc;
	struct ffs_runs data;
	struct ffs_dirent *entry; /* directories: names and numbers */
	u32 nr_entries;
};

/* Blocks [first, end) that are free, but not yet durably so: a node of a red-black tree. */
struct ffs_xbusy {
	u64 first, end;
	u32 parent, child[2];
	bool red;
};

struct ffs_xfs {
	u32 ag_blocks, ag_count;
	struct ffs_runs free; /* by block of the device; b = group + 1, so groups do not merge */
	struct ffs_xbusy *busy; /* of them, what was freed since the last log force: busy.c */
	u32 nr_busy, cap_busy, busy_root;
	struct ffs_runs refs; /* shared blocks: b = who has them, at least 2 */
	u64 nr_free; /* blocks, less those promised to delayed extents */
	u64 reserved_blocks; /* of them, not for users */
	u32 levels; /* most that an extent tree can have */
	u64 low_space[5]; /* blocks at 1 % ... 5 % of the size */
	u32 alloc_unit; /* blocks: m_allocsize_blocks */
	bool fixed_alloc; /* by the mount option */
	struct ffs_xfs_durable *durable;
	u32 nr_durable;
	u32 root_ino, next_ino;
};

static inline struct ffs_xfs *ffs_xfs(const struct ffs_super *sb)
{
	return sb->fs_private;
}

static inline struct ffs_xfs_inode *ffs_xfs_inode(const struct ffs_inode *inode)
{
	return inode->fs_private;
}

/* An extent. */
struct ffs_xrec {
	u64 off, len; /* file blocks */
	u64 blk; /* block of the device; 0: delayed */
	enum ffs_xfs_state state;
};

static inline u64 ffs_xrec_end(const struct ffs_xrec *r)
{
	return r->off + r->len;
}

/* --- mkfs.c --- */
void ffs_xfs_mkfs(struct ffs_super *sb);

/* --- alloc.c --- */
/*
 * @want blocks, fewer only where no group has as many in one piece, near @target.
 * Returns the first, *got how many; 0: no space.
 */
u64 ffs_xfs_alloc(struct ffs_super *sb, u64 target, u64 want, u64 *got);
/* One user less of [blk, blk + len): blocks without one are free (after the next log force). */
void ffs_xfs_free(struct ffs_super *sb, u64 blk, u64 len);
/* One user more. */
void ffs_xfs_share(struct ffs_super *sb, u64 blk, u64 len);
/* The first shared part of [blk, blk + len): *at, *n; false: none. */
bool ffs_xfs_find_shared(const struct ffs_super *sb, u64 blk, u64 len, u64 *at, u64 *n);
/* Blocks that @inode's extent at @off should be near to (xfs_bmap_adjacent). */
u64 ffs_xfs_target(const struct ffs_super *sb, const struct ffs_inode *inode,
		   enum ffs_xfs_fork fork, u64 off, u64 len);
/* Tree blocks that @len delayed blocks may need at worst (xfs_bmap_worst_indlen). */
u64 ffs_xfs_indirect(const struct ffs_super *sb, u64 len);
bool ffs_xfs_promise(struct ffs_super *sb, u64 blocks);
void ffs_xfs_unpromise(struct ffs_super *sb, u64 blocks);

/* --- busy.c --- */
void ffs_xfs_busy_add(struct ffs_xfs *x, u64 first, u64 end);
/* Cut free blocks [*first, *end) to a part of @want or more that is not busy; false: none seen. */
bool ffs_xfs_busy_trim(struct ffs_xfs *x, u64 want, u64 *first, u64 *end);
/* A log force: they can be used again, what they hold is stale. */
void ffs_xfs_busy_clear(struct ffs_super *sb);

/* --- extents.c --- */
/* The extent that contains @off, or the next one; false: none. */
bool ffs_xfs_lookup(const struct ffs_inode *inode, enum ffs_xfs_fork fork, u64 off,
		    struct ffs_xrec *r);
/* The last extent before that; false: none. */
bool ffs_xfs_prev(const struct ffs_inode *inode, enum ffs_xfs_fork fork, u64 off,
		  struct ffs_xrec *r);
void ffs_xfs_set(struct ffs_inode *inode, enum ffs_xfs_fork fork, const struct ffs_xrec *r);
void ffs_xfs_clear(struct ffs_inode *inode, enum ffs_xfs_fork fork, u64 off, u64 end);
void ffs_xrec_trim(struct ffs_xrec *r, u64 off, u64 end);
/* Blocks of [off, end) go: freed, or no longer promised (xfs_bunmapi). */
void ffs_xfs_unmap(struct ffs_super *sb, struct ffs_inode *inode, enum ffs_xfs_fork fork, u64 off,
		   u64 end);
/* Only delayed ones (xfs_bmap_punch_delalloc_range). */
void ffs_xfs_punch_delayed(struct ffs_super *sb, struct ffs_inode *inode, enum ffs_xfs_fork fork,
			   u64 off, u64 end);
/* Allocate the delayed extent at @off as unwritten: the extent that has it then; or -errno. */
int ffs_xfs_convert_delayed(struct ffs_super *sb, struct ffs_inode *inode, enum ffs_xfs_fork fork,
			    u64 off, struct ffs_xrec *r);
/* Unwritten blocks of [off, end) are written. */
void ffs_xfs_convert_unwritten(struct ffs_inode *inode, enum ffs_xfs_fork fork, u64 off, u64 end);

/* --- map.c --- */
extern const struct ffs_iomap_fs ffs_xfs_iomap;
/* FFS_IOMAP_F_DIRTY if a change of the inode is in the log alone: fdatasync would force that. */
u16 ffs_xfs_map_dirty(const struct ffs_inode *inode);
void ffs_xfs_to_iomap(const struct ffs_super *sb, const struct ffs_inode *inode,
		      const struct ffs_xrec *r, u16 flags, u64 cookie, struct ffs_iomap *map);
/* Cut @r at the next border between shared and unshared blocks; *shared: which it begins with. */
void ffs_xfs_trim_shared(const struct ffs_super *sb, const struct ffs_inode *inode,
			 struct ffs_xrec *r, bool *shared);
/*
 * A direct write to @r: *shared: it is, and cut to that part; *cow: where to write instead.
 * Not shared: @r is cut before the next shared block (xfs_reflink_allocate_cow).
 */
int ffs_xfs_direct_cow(struct ffs_super *sb, struct ffs_inode *inode, struct ffs_xrec *r,
		       struct ffs_xrec *cow, bool *shared);

/* --- writeback.c --- */
void ffs_xfs_wb_begin(struct ffs_inode *inode);
int ffs_xfs_wb_map(struct ffs_wpc *w, u64 pos, u64 len);
void ffs_xfs_wb_discard(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 end);
bool ffs_xfs_wb_submit(struct ffs_super *sb, struct ffs_inode *inode, struct ffs_ioend *io);
void ffs_xfs_wb_end(struct ffs_super *sb, struct ffs_inode *inode, const struct ffs_ioend *io);
/* Blocks written through the copy-on-write fork take the place of the old ones. */
void ffs_xfs_end_cow(struct ffs_super *sb, struct ffs_inode *inode, u64 off, u64 end);

/* --- log.c --- */
/* A transaction with the inode commits; @core: more than its times changed. */
void ffs_xfs_log(struct ffs_inode *inode, bool core);
int ffs_xfs_log_times(struct ffs_super *sb, struct ffs_inode *inode);
/* Everything committed is durable. */
void ffs_xfs_log_force(struct ffs_super *sb);
void ffs_xfs_restore(struct ffs_ops *to, const struct ffs_ops *from);
void ffs_xfs_durable_free(struct ffs_xfs *x);

/* --- inode.c --- */
struct ffs_inode *ffs_xfs_inode_new(struct ffs_ops *o, u32 ino, u32 mode);
struct ffs_inode *ffs_xfs_create(struct ffs_ops *o, u32 mode);
void ffs_xfs_inode_free(struct ffs_ops *o, struct ffs_inode *inode);
void ffs_xfs_inactivate(struct ffs_ops *o, struct ffs_inode *inode);
void ffs_xfs_opened(struct ffs_ops *o, struct ffs_inode *inode);
void ffs_xfs_closing(struct ffs_ops *o, struct ffs_file *f);

/* --- setattr.c --- */
int ffs_xfs_setsize(struct ffs_super *sb, struct ffs_inode *inode, u64 size);
/* Zero from EOF to @to, before a write or a clone that leaves a gap. */
int ffs_xfs_zero_eof(struct ffs_super *sb, struct ffs_inode *inode, u64 to, bool *did);
bool ffs_xfs_can_free_eof(struct ffs_super *sb, struct ffs_inode *inode);
void ffs_xfs_free_eof(struct ffs_super *sb, struct ffs_inode *inode);

/* --- space.c --- */
int ffs_xfs_fallocate(struct ffs_ops *o, struct ffs_file *f, u32 mode, u64 off, u64 len);
int ffs_xfs_alloc_space(struct ffs_super *sb, struct ffs_inode *inode, u64 off, u64 len);
/* Write the range back and drop it, rounded out to blocks and pages (xfs_flush_unmap_range). */
int ffs_xfs_flush_unmap(struct ffs_super *sb, struct ffs_inode *inode, u64 off, u64 len);

/* --- reflink.c --- */
s64 ffs_xfs_reflink(struct ffs_ops *o, const struct foliofs_op *op);
/* A file without any blocks shares none (xfs_itruncate_clear_reflink_flags). */
void ffs_xfs_clear_empty(struct ffs_inode *inode);
int ffs_xfs_unshare(struct ffs_super *sb, struct ffs_inode *inode, u64 off, u64 len);

/* --- direct.c --- */
/* -ENOTBLK: only the page cache can do it. */
s64 ffs_xfs_direct_write(struct ffs_ops *o, struct ffs_file *f, u64 pos, u64 len);
s64 ffs_xfs_direct_read(struct ffs_ops *o, struct ffs_file *f, u64 pos, u64 len);

/* --- file.c --- */
int ffs_xfs_fsync(struct ffs_super *sb, struct ffs_file *f, u64 first, u64 last,
		  bool datasync);
int ffs_xfs_sync(struct ffs_ops *o, bool one_fs);
void ffs_xfs_gc(struct ffs_ops *o);
s64 ffs_xfs_write(struct ffs_ops *o, struct ffs_file *f, u64 pos, u64 len, u64 readable);

#endif
