/* SPDX-License-Identifier: MIT */
/*
 * Operations as the VFS sees them; they know no buffers (data_path.h does).
 *
 *	file.c		open, close, evict	namei.c, dir.c	names, directories
 *	write.c		buffered writes		read.c		buffered reads
 *	mmap.c		faults			direct.c	O_DIRECT
 *	truncate.c	sizes			fallocate.c	allocate, zero range
 *	punch.c		punch hole		shift.c		collapse, insert
 *	sync.c		fsync and the rest	cache.c		drop caches, fadvise
 *	moveext.c	move extents		time.c		timestamps
 *	run.c		one struct foliofs_op
 */
#ifndef FFS_OPS_H
#define FFS_OPS_H

#include <foliofs/op.h>
#include "kernel/layout.h"
#include "pagecache/data_path.h"

/* What the VFS keeps of an inode: times and, for directories, names. */
struct ffs_dirent {
	char *name;
	u32 ino;
	u32 block; /* index of the directory block it lies in */
};

struct ffs_vfs_inode {
	u64 mtime, ctime, atime; /* nanoseconds of the model */
	bool queried; /* somebody looked since the last change (multigrain times) */
	u32 parent; /* directory that names it (fsync's event) */
	/* directories */
	struct ffs_dirent *entry;
	u32 nr_entries, cap_entries;
	u64 *block; /* physical blocks */
	u32 *room; /* bytes free in each */
	u32 nr_blocks;
	bool indexed; /* block 0 is the htree root */
	bool no_block; /* inline directory */
};

static inline struct ffs_vfs_inode *ffs_vfs(const struct ffs_inode *inode)
{
	return inode->vfs;
}

/* An open file description. */
struct ffs_file {
	struct ffs_inode *inode; /* NULL: slot is free */
	u32 flags; /* FOLIOFS_O_* */
	u64 pos;
	u32 wb_seen; /* failed writes of the inode that it has told */
	u32 calls; /* operations that run with it: more than its own behind a stop */
	struct ffs_ra ra;
};

struct ffs_ops {
	struct ffs_super sb;
	struct ffs_layout *layout;
	struct ffs_file **file; /* each stays where it is while others are opened */
	u32 nr_files;
	struct ffs_inode *root;
	u64 tick_ns;
	bool no_sys_resource; /* callers lack CAP_SYS_RESOURCE */
	u64 names_changed; /* grows with every name made or removed */
};

static inline struct ffs_ops *ffs_ops(struct ffs_super *sb)
{
	return container_of(sb, struct ffs_ops, sb);
}

/* --- run.c --- */
typedef s64 (*ffs_read_fn)(struct ffs_ops *o, struct ffs_file *f, u64 pos, u64 len);
typedef s64 (*ffs_write_fn)(struct ffs_ops *o, struct ffs_file *f, u64 pos, u64 len, u64 readable);
/* What an operation that is for files fails with on an open directory (v6.18); 0: it may go on. */
s64 ffs_not_for_dirs(const struct ffs_file *f, const struct foliofs_op *op);
/* write, append and read in pieces of op->chunk bytes: bytes done, or a negative errno. */
s64 ffs_in_chunks(struct ffs_ops *o, struct ffs_file *f, const struct foliofs_op *op, ffs_read_fn read,
		  ffs_write_fn write);
/* copy_file_range where no blocks are shared: what is copied, or an error (splice_copy_file_range). */
s64 ffs_copy_range(struct ffs_ops *o, struct ffs_file *in, struct ffs_file *out,
		   const struct foliofs_op *op, ffs_read_fn read, ffs_write_fn write);
s64 ffs_run_op(struct ffs_ops *o, const struct foliofs_op *op);
/* The file of a slot; NULL: not open. */
struct ffs_file *ffs_file(struct ffs_ops *o, s32 slot);
/* Descriptor @slot of the table, open or not, to be opened: the table grows as needed. */
struct ffs_file *ffs_file_slot(struct ffs_ops *o, u32 slot);

/* --- inode.c --- */
/* Folio orders of an inode's mapping, by its flags: when it is read, or its flag changes. */
void ffs_decide_order(struct ffs_ops *o, struct ffs_inode *inode);
struct ffs_inode *ffs_inode_new(struct ffs_ops *o, u32 ino, u32 mode, u32 flags);
void ffs_inode_free(struct ffs_ops *o, struct ffs_inode *inode);
/* Its in-core state is as just read from disk: nothing cached, large folios decided anew. */
void ffs_reread_inode(struct ffs_ops *o, struct ffs_inode *inode);
/* The same of one that nobody uses and that caches nothing; its tree blocks may still be cached. */
void ffs_reread_unused(struct ffs_ops *o, struct ffs_inode *inode);
/*
 * An inode on iomap goes over to buffer heads until it is read again: what is dirty is written,
 * the cache is dropped.
 */
int ffs_fall_back(struct ffs_ops *o, struct ffs_inode *inode);

/* --- file.c --- */
s64 ffs_open(struct ffs_ops *o, const struct foliofs_op *op);
int ffs_close(struct ffs_ops *o, struct ffs_file *f);
/* Last reference of an unlinked inode (ext4_evict_inode). */
int ffs_evict(struct ffs_ops *o, struct ffs_inode *inode);
/* Writes delayed blocks at close or rename (ext4_alloc_da_blocks, filemap_flush). */
void ffs_alloc_da_blocks(struct ffs_ops *o, struct ffs_inode *inode);

/* --- namei.c, dir.c --- */
struct ffs_inode *ffs_lookup(struct ffs_ops *o, const char *path);
/* Directory of the last component, whose name is *name; NULL: no such directory. */
struct ffs_inode *ffs_lookup_parent(struct ffs_ops *o, const char *path, const char **name);
struct ffs_dirent *ffs_dir_find(const struct ffs_inode *dir, const char *name);
int ffs_dir_add(struct ffs_ops *o, struct ffs_handle *h, struct ffs_inode *dir, const char *name,
		u32 ino);
int ffs_dir_remove(struct ffs_ops *o, struct ffs_handle *h, struct ffs_inode *dir,
		   struct ffs_dirent *d);
/* Charge the block that entry @d lies in. */
int ffs_dir_dirty(struct ffs_ops *o, struct ffs_handle *h, struct ffs_inode *dir,
		  const struct ffs_dirent *d);
/* A directory made by hand: block @blk holds `.`, `..` and @taken more bytes. */
void ffs_dir_init(struct ffs_ops *o, struct ffs_inode *dir, u64 blk, u32 taken);
/* Recovery: the blocks of a directory, whose size and block map are those on disk; a name in it. */
void ffs_dir_restore(struct ffs_ops *o, struct ffs_inode *dir);
void ffs_dir_put(struct ffs_inode *dir, const char *name, u32 ino);
void ffs_dir_free(struct ffs_inode *dir);
s64 ffs_create(struct ffs_ops *o, struct ffs_inode *dir, const char *name, u32 mode,
	       struct ffs_inode **out);
int ffs_mkdir(struct ffs_ops *o, const char *path, u32 mode);
int ffs_unlink(struct ffs_ops *o, const char *path);
int ffs_rmdir(struct ffs_ops *o, const char *path);
int ffs_link(struct ffs_ops *o, const char *from, const char *to);
int ffs_symlink(struct ffs_ops *o, const char *path, const char *target);
int ffs_rename(struct ffs_ops *o, const char *from, const char *to);
int ffs_tmpfile(struct ffs_ops *o, struct ffs_inode *dir, u32 mode, struct ffs_inode **out);

/* --- time.c --- */
/* file_update_time: mtime and ctime of a change; a dirty inode if they move. */
int ffs_update_time(struct ffs_ops *o, struct ffs_inode *inode);
/* touch_atime of a read. */
int ffs_touch_atime(struct ffs_ops *o, const struct ffs_file *f, struct ffs_inode *inode);
void ffs_set_times(struct ffs_ops *o, struct ffs_inode *inode);

/* --- write.c, read.c, mmap.c, direct.c --- */
s64 ffs_write(struct ffs_ops *o, struct ffs_file *f, u64 pos, u64 len, u64 readable);
s64 ffs_read(struct ffs_ops *o, struct ffs_file *f, u64 pos, u64 len);
s64 ffs_direct_write(struct ffs_ops *o, struct ffs_file *f, u64 pos, u64 len);
s64 ffs_direct_read(struct ffs_ops *o, struct ffs_file *f, u64 pos, u64 len);
/* Stores of one byte each op->stride bytes of its range; stride 0: of all of it. */
s64 ffs_mwrite(struct ffs_ops *o, struct ffs_file *f, const struct foliofs_op *op);
/* The last byte that FOLIOFS_OP_MREAD loads: one of each op->stride (0: 512) from op->off on. */
static inline u64 ffs_mread_last(const struct foliofs_op *op)
{
	u64 step = op->stride ? op->stride : 512;

	return op->off + (op->len - 1) / step * step;
}
s64 ffs_mread(struct ffs_ops *o, struct ffs_file *f, const struct foliofs_op *op);
struct ffs_reader ffs_reader(struct ffs_ops *o);

/* --- memfail.c --- */
/* The memory of the page at @off fails; -EFAULT: it is not in the cache, or behind EOF. */
s64 ffs_hwpoison(struct ffs_ops *o, struct ffs_file *f, u64 off);
/* Reclaim of the folios that lie in [off, off + len) (MADV_PAGEOUT); always 0. */
s64 ffs_pageout(struct ffs_ops *o, struct ffs_file *f, u64 off, u64 len);

/* --- truncate.c --- */
int ffs_setattr_size(struct ffs_ops *o, struct ffs_inode *inode, u64 size);
int ffs_truncate(struct ffs_super *sb, struct ffs_inode *inode);
/* data=journal: the tail of the new EOF block may be in a transaction that commits just now. */
void ffs_wait_committing_tail(struct ffs_ops *o, struct ffs_inode *inode, u64 size);
/* Largest size of @inode in bytes: by the extent tree, or by the indirect map. */
u64 ffs_max_size(const struct ffs_super *sb, const struct ffs_inode *inode);
/* Truncate of data in the inode (ext4_inline_data_truncate). */
int ffs_inline_truncate(struct ffs_ops *o, struct ffs_inode *inode, u64 size);

/* --- fallocate.c, punch.c, shift.c --- */
/* Before falloc-time-first: the kind of fallocate updates the times, behind its event. */
int ffs_falloc_time(struct ffs_ops *o, struct ffs_inode *inode);
int ffs_fallocate(struct ffs_ops *o, struct ffs_file *f, u32 mode, u64 off, u64 len);
int ffs_punch(struct ffs_ops *o, struct ffs_inode *inode, u64 off, u64 len);
int ffs_zero_range(struct ffs_ops *o, struct ffs_file *f, u32 mode, u64 off, u64 len);
int ffs_collapse(struct ffs_ops *o, struct ffs_inode *inode, u64 off, u64 len);
int ffs_insert(struct ffs_ops *o, struct ffs_inode *inode, u64 off, u64 len);
/*
 * Zero range, collapse and insert with data=journal: the commit that they began with before
 * writeback did it ("ext4: Drop special handling of journalled data from extent shifting
 * operations", v6.3).
 */
int ffs_commit_journalled(struct ffs_ops *o, const struct ffs_inode *inode);
/* Cached data of [off, end) is dropped before its blocks go (ext4_truncate_page_cache_block_range). */
int ffs_drop_cached_range(struct ffs_ops *o, struct ffs_inode *inode, u64 off, u64 end);
/* i_disksize before cached data of [off, off + len) is dropped (ext4_update_disksize_before_punch). */
int ffs_update_disksize(struct ffs_ops *o, struct ffs_inode *inode, u64 off, u64 len);

/* --- prepare.c --- */
s64 ffs_fill(struct ffs_ops *o, struct ffs_file *f, u64 unit);
s64 ffs_every(struct ffs_ops *o, struct ffs_file *f, const struct foliofs_op *op);
/* Unmount and mount again. -EBUSY: a file is open. */
int ffs_remount(struct ffs_ops *o);
int ffs_sysfs(struct ffs_ops *o, const char *name, u64 value);
int ffs_debugfs(struct ffs_ops *o, const char *command);

/* --- sync.c, cache.c --- */
/* Write [first, last] bytes back and wait (filemap_write_and_wait_range). */
int ffs_write_and_wait(struct ffs_ops *o, struct ffs_inode *inode, u64 first, u64 last);
int ffs_filemap_flush(struct ffs_ops *o, struct ffs_inode *inode, u64 first, u64 last,
		      enum ffs_sync_mode mode);
int ffs_fsync(struct ffs_ops *o, struct ffs_inode *inode, u64 first, u64 last, bool datasync);
/* The same of an open file, which tells each failed write once (file_check_and_advance_wb_err). */
int ffs_fsync_file(struct ffs_ops *o, struct ffs_file *f, u64 first, u64 last, bool datasync);
/* @err, or if it is 0 what @f has not told of failed writes yet. */
int ffs_tell_error(struct ffs_file *f, int err);
int ffs_syncfs(struct ffs_ops *o);
int ffs_sync(struct ffs_ops *o);
int ffs_sync_range(struct ffs_ops *o, struct ffs_file *f, u64 off, u64 len, u32 flags);
void ffs_flush_all(struct ffs_super *sb);
/* One pass of the flusher over the inodes that are dirty now, oldest first; true: it got on. */
bool ffs_flusher_pass(struct ffs_ops *o, struct ffs_wbc proto);
int ffs_fadvise(struct ffs_ops *o, struct ffs_file *f, u64 off, u64 len, u32 advice);
void ffs_drop_caches(struct ffs_ops *o, u32 what);

/* --- moveext.c --- */
s64 ffs_move_extents(struct ffs_ops *o, struct ffs_file *f, struct ffs_file *donor, u64 off,
		     u64 len, u64 donor_off);

#endif
