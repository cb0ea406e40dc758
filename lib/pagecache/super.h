/* SPDX-License-Identifier: MIT */
/*
 * The mounted file system as data paths and operations see it: the layers below,
 * what is on the disk, the inodes in core, and who waits for the CPU.
 */
#ifndef FFS_SUPER_H
#define FFS_SUPER_H

#include "blockmap/blockmap.h"
#include "content.h"
#include "folio.h"
#include "readahead.h"

struct ffs_super;

struct ffs_iomap_fs;
struct ffs_fs_type;
struct ffs_wbc; /* writeback control: data_path.h */

/* Work that runs when the running task sleeps: completed I/O in the order it was submitted. */
struct ffs_work {
	struct ffs_work *next;
	void (*run)(struct ffs_super *sb, struct ffs_work *w);
	struct ffs_inode *inode;
};

/* A read into a pipe. */
struct ffs_direct_data {
	u64 more; /* bytes asked for beyond those that the pipe has room for */
	bool there; /* it was a direct one: what the page cache holds says nothing */
	struct ffs_runs bytes; /* what it brought, by byte of the file; nothing where it is zero */
};

struct ffs_super {
	struct ffs_env env;
	struct ffs_journal *journal;
	struct ffs_alloc *alloc;
	struct ffs_blockmap bm;
	const struct ffs_data_path *bh, *iomap;
	const struct ffs_iomap_fs *iomap_fs; /* who answers the iomap path's questions */
	u32 iomap_op; /* FFS_IOMAP_*: what the iterator that runs now does; 0: none runs */
	const struct ffs_fs_type *type; /* not ext4: its operations (lib/ops) */
	void *fs_private; /* and its own part */
	int (*dirty_inode)(struct ffs_super *sb, struct ffs_inode *inode); /* its ffs_dirty_inode() */
	/* ext4_truncate of lib/ops, for failed writes. */
	int (*truncate)(struct ffs_super *sb, struct ffs_inode *inode);
	/* Write back all dirty inodes and wait (a delayed write found little space). */
	void (*flush_all)(struct ffs_super *sb);

	struct ffs_runs disk; /* content of the device by byte */
	/* Writes carry what these bytes are at offset + copy_shift; NULL: bytes of their own. */
	const struct ffs_runs *copy_from;
	u64 copy_shift;
	/* The last copy_file_range or clone shared the blocks of its source. */
	bool copy_shared;
	/* A read into a pipe; a direct one leaves here what it has brought.  NULL: another read. */
	struct ffs_direct_data *direct_data;
	/*
	 * Blocks that the device's page cache logged (home.c): the transaction that the log replays
	 * them from, key block, b = tid; what the device holds; what that cache has to write there.
	 */
	struct ffs_runs logged, not_home, alias;
	/* data=journal: blocks in the running transaction, key block, b = inode << 32 | lblk */
	struct ffs_runs jdata;
	/* of the transaction that commits: the same, and the bytes that its log holds */
	struct ffs_runs jdata_committing, jdata_logged;
	u32 *ordered; /* inodes whose data the running transaction's commit writes */
	u32 nr_ordered, cap_ordered;

	struct ffs_inode **inodes; /* in core, hashed by number */
	u32 nr_inodes, cap_inodes;
	u64 inode_seq;
	struct ffs_inode **dirty; /* oldest first: what sync and syncfs visit */
	u32 nr_dirty, cap_dirty;
	u32 *orphans; /* newest first */
	u32 nr_orphans, cap_orphans;

	struct ffs_work *work, **work_tail;
	u64 request_addr, request_bytes; /* requests.h: of the device, 0: none pending */
	struct {
		u32 number; /* of the plug (blk_start_plug) that collects requests now */
		u32 batch, requests; /* flushes of it so far; what waits in it */
		u32 in_flight, limit; /* requests that the device has not done, and may have */
		u32 request, place; /* the newest request ever, and its newest bio */
		u64 end; /* block behind that request */
		u32 pages; /* of that request */
		u64 bytes;
	} plug;
	bool in_work;

	u64 sb_block; /* block of the superblock */
	u64 orphan_file_block; /* first block of the orphan file */
	bool first_open_done; /* s_last_mounted written (first open after mount) */
	int wb_error;
};

static inline bool ffs_sb_has(const struct ffs_super *sb, enum foliofs_change c)
{
	return ffs_has(&sb->env, c);
}

/* Inodes in core. */
struct ffs_inode *ffs_inode_find(const struct ffs_super *sb, u32 ino);
void ffs_inode_add(struct ffs_super *sb, struct ffs_inode *inode);
void ffs_inode_remove(struct ffs_super *sb, struct ffs_inode *inode);

/* A write stores [pos, end) of @inode: into @c, content by byte of the file. */
void ffs_store_content(struct ffs_super *sb, const struct ffs_inode *inode, struct ffs_runs *c,
		       u64 pos, u64 end);
/* A direct read brings @len bytes at @addr of the device to @pos of the file. */
void ffs_direct_bring(struct ffs_super *sb, u64 pos, u64 addr, u64 len);

/* What the credit formulas ask of @inode. */
struct foliofs_inode_kind ffs_inode_kind(const struct ffs_super *sb, const struct ffs_inode *inode);
/* Its data goes through the journal; it is written before the commit (data=ordered). */
bool ffs_should_journal_data(const struct ffs_super *sb, const struct ffs_inode *inode);
bool ffs_should_order_data(const struct ffs_super *sb, const struct ffs_inode *inode);
/* Start of a handle by the credit formula @op of @inode (@len as foliofs_ask()). */
int ffs_start(struct ffs_super *sb, struct ffs_inode *inode, enum foliofs_credit_op op, u32 len,
	      const char *caller, struct ffs_handle **h);
/* The same for starts that belong to no inode (ext4_journal_start_sb). */
int ffs_start_sb(struct ffs_super *sb, enum foliofs_credit_op op, const char *caller,
		 struct ffs_handle **h);

/* ext4_mark_inode_dirty: event, inode table block, what fsync has to wait for. */
int ffs_mark_inode_dirty(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode,
			 const char *caller);
/* Unwritten blocks of [pos, pos + len) become written; @h NULL: handles of its own. */
int ffs_convert_range(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode, u64 pos,
		      u64 len);
/* ext4_dirty_inode: times or i_blocks changed; a handle of its own, or nested. */
int ffs_dirty_inode(struct ffs_super *sb, struct ffs_inode *inode);
/* The inode is on the list that sync visits. */
void ffs_inode_dirtied(struct ffs_super *sb, struct ffs_inode *inode);
/* And off it again. */
void ffs_inode_cleaned(struct ffs_super *sb, struct ffs_inode *inode);

/* Orphan list: add writes superblock (or orphan file) and inode, without the event. */
int ffs_orphan_add(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode);
/* @h NULL: in memory only (error paths). */
int ffs_orphan_del(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode);
bool ffs_is_orphan(const struct ffs_super *sb, u32 ino);

/*
 * Block @pblk gets its content, bytes from @pos on of @src, through the device's page cache and the
 * running transaction.
 */
void ffs_home_log(struct ffs_super *sb, u64 pblk, const struct ffs_runs *src, u64 pos);
/* Transaction @tid has logged the file's own copy of @pblk: that is what recovery finds. */
void ffs_home_logged_again(struct ffs_super *sb, u64 pblk, u32 tid);
/* The device's page cache was written back (sync_blockdev), behind a commit. */
void ffs_home_synced(struct ffs_super *sb);
/* Blocks that the log does not replay any more are what the device holds. */
void ffs_home_settle(struct ffs_super *sb);
/* What a read of *n device bytes from @byte on finds; *n is cut where that ends. */
const struct ffs_runs *ffs_device_view(const struct ffs_super *sb, u64 byte, u64 *n);
/* The device takes @len bytes at @addr: those from @pos on of @src, @missing where it has nothing. */
void ffs_device_write(struct ffs_super *sb, u64 addr, const struct ffs_runs *src, u64 pos, u64 len,
		      u64 missing);
void ffs_device_zero(struct ffs_super *sb, u64 addr, u64 end);
/* Blocks given back: what they hold is stale from now on. */
void ffs_device_stale(struct ffs_super *sb, u64 addr, u64 end);
/* Bytes [pos, pos + len) of the file of @m, read from @addr, are in the cache.  Stale ones are told. */
void ffs_device_fill(struct ffs_super *sb, struct ffs_mapping *m, u64 pos, u64 addr, u64 len);

/*
 * Data of @inode could not be written: the next fsync of each open file tells @err once, syncfs
 * too, and the next operation that has pages written and waits for them (mapping_set_error).
 */
void ffs_mapping_error(struct ffs_super *sb, struct ffs_inode *inode, int err);
/* What the last of these tells: 0, -EIO or -ENOSPC (filemap_check_errors). */
int ffs_mapping_check_error(struct ffs_inode *inode);

/* Workers. */
void ffs_queue_work(struct ffs_super *sb, struct ffs_work *w);
/* The task sleeps: workers run until nothing is left, then the journal thread if asked. */
void ffs_sleep(struct ffs_super *sb);
/* Only the workers (the journal calls this before a commit). */
void ffs_run_work(struct ffs_super *sb);

#endif
