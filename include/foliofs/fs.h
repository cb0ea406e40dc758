/* SPDX-License-Identifier: MIT */
/*
 * One mounted file system of the model.
 *
 *	foliofs_fs_new()	mkfs and mount, by a geometry, under a kernel
 *	foliofs_fs_add_sink()	who listens to its events
 *	foliofs_fs_run()	one operation after the other
 *	foliofs_fs_stat() ...	what it is like now
 *	foliofs_fs_crash()	what a power cut now would leave after recovery
 *
 * Deterministic: same kernel, geometry and operations, same events.
 */
#ifndef FOLIOFS_FS_H
#define FOLIOFS_FS_H

#include <foliofs/credits.h>
#include <foliofs/event.h>
#include <foliofs/kernel.h>
#include <foliofs/op.h>

#ifdef __cplusplus
extern "C" {
#endif

struct foliofs_fs;

enum foliofs_alloc_policy {
	FOLIOFS_ALLOC_KERNEL, /* the kernel's search */
	FOLIOFS_ALLOC_WORST, /* each request: one cluster in a group not used before */
};

struct foliofs_options {
	uint32_t first_tid; /* number of the first transaction; 0: as after mke2fs and a mount */
	enum foliofs_alloc_policy alloc;
	bool crash_states; /* keep what each commit makes durable (needed by foliofs_fs_crash) */
	bool rules; /* check the rules of rules.h after every operation */
	/*
	 * The device was in use before: a block that was never written holds stale bytes.
	 * (Otherwise it reads zero, as on the fresh images of kernel captures.)
	 */
	bool old_blocks;
	bool no_sys_resource; /* the caller may not change the journal-data flag: EPERM */
	uint32_t tick_ns; /* clock tick of coarse times; 0: 4 ms */
};

/*
 * A fresh file system of geometry @g, mounted under kernel @k.
 * 0, or -EINVAL/-EROFS with a message (geometry the kernel would not mount).
 */
FOLIOFS_API int foliofs_fs_new(const struct foliofs_kernel *k, const struct foliofs_geometry *g,
			       const struct foliofs_options *options, struct foliofs_fs **out,
			       char *err, size_t errlen);
FOLIOFS_API void foliofs_fs_free(struct foliofs_fs *fs);

/* @sink must live as long as @fs, with what it wants.  0, or -ENOSPC: there are 8 already. */
FOLIOFS_API int foliofs_fs_add_sink(struct foliofs_fs *fs, const struct foliofs_sink *sink);
/* No events until unmuted: operations that prepare a file system. */
FOLIOFS_API void foliofs_fs_mute(struct foliofs_fs *fs, bool mute);

/*
 * The task runs its operations without a pause, on the processor that the device needs
 * too: a commit that a full transaction or a restart has begun ends only when the task
 * waits - for the next commit, for a block of the log that this one has, in fsync - and
 * what it frees is not to be had before.  Off: a commit ends while the task goes on.
 * Source: captures of 6.12 in an emulated machine whose preparation had no pauses.
 */
FOLIOFS_API void foliofs_fs_set_busy(struct foliofs_fs *fs, bool busy);

/*
 * Run one operation.  The result is the system call's: bytes, an inode number
 * for open, 0, or a negative errno.  What workers and the journal thread do by
 * the time the next operation starts is part of this one.
 */
FOLIOFS_API int64_t foliofs_fs_run(struct foliofs_fs *fs, const struct foliofs_op *op);
/* Why the last operation was refused by the model itself (not by the kernel); "" if it was not. */
FOLIOFS_API const char *foliofs_fs_error(const struct foliofs_fs *fs);

/* Close every open file, as the end of a program does. */
FOLIOFS_API void foliofs_fs_close_all(struct foliofs_fs *fs);

/*
 * Free-space patterns: blocks [first, end) are taken or free, outside any file.  0, or -EINVAL: no
 * blocks of the file system, or it is not ext4.
 */
FOLIOFS_API int foliofs_fs_mark_blocks(struct foliofs_fs *fs, uint64_t first, uint64_t end,
				       bool used);
/* Free blocks, whole clusters; those promised to delayed data are among them. */
FOLIOFS_API uint64_t foliofs_fs_free_blocks(const struct foliofs_fs *fs);
/*
 * Make @path an ordinary file of @size bytes that was there before, written (contents of source
 * @source) and durable; without events.  For traces of programs that find files.  0, or the
 * negative errno of the operation that failed.
 */
FOLIOFS_API int foliofs_fs_preexisting(struct foliofs_fs *fs, const char *path, uint64_t size,
				       uint32_t source);
/* The same for a directory; one that is there already is left as it is. */
FOLIOFS_API int foliofs_fs_preexisting_dir(struct foliofs_fs *fs, const char *path);

/* The kernel and the geometry that it was made with; they live as long as @fs. */
FOLIOFS_API const struct foliofs_kernel *foliofs_fs_kernel(const struct foliofs_fs *fs);
FOLIOFS_API const struct foliofs_geometry *foliofs_fs_geometry(const struct foliofs_fs *fs);

struct foliofs_stat {
	uint32_t ino, mode, nlink;
	uint64_t size, disksize; /* i_size, i_disksize */
	uint64_t sectors; /* st_blocks: 512 bytes each, delayed blocks included */
	uint32_t delayed; /* clusters reserved */
	uint8_t max_order; /* of its mapping */
	bool extents, inline_data;
};

/* 0, or -ENOENT. */
FOLIOFS_API int foliofs_fs_stat(const struct foliofs_fs *fs, const char *path,
				struct foliofs_stat *st);
FOLIOFS_API int foliofs_fs_stat_ino(const struct foliofs_fs *fs, uint32_t ino,
				    struct foliofs_stat *st);

/* Every name of a regular file or directory, sorted by path: parent directories first. */
typedef void (*foliofs_name_fn)(void *priv, const char *path, uint32_t ino, uint32_t mode);
FOLIOFS_API void foliofs_fs_for_each_name(const struct foliofs_fs *fs, foliofs_name_fn fn,
					  void *priv);

/*
 * Below, functions that look at inode @ino call @fn for each part in order, and return 0, or
 * -ENOENT if there is no such inode in memory.
 */

/* Extents as FIEMAP reports them. */
enum foliofs_extent_flag {
	FOLIOFS_EXTENT_LAST = 1, FOLIOFS_EXTENT_UNKNOWN = 2, FOLIOFS_EXTENT_DELALLOC = 4,
	FOLIOFS_EXTENT_UNWRITTEN = 8, FOLIOFS_EXTENT_MERGED = 16, FOLIOFS_EXTENT_INLINE = 32,
	FOLIOFS_EXTENT_NOT_ALIGNED = 64, FOLIOFS_EXTENT_SHARED = 128,
	FOLIOFS_EXTENT_DATA = 256, /* tmpfs: data in memory, no place on a device */
};

struct foliofs_extent {
	uint64_t logical, physical, len; /* bytes */
	uint32_t flags; /* enum foliofs_extent_flag */
};

typedef void (*foliofs_extent_fn)(void *priv, const struct foliofs_extent *x);
FOLIOFS_API int foliofs_fs_for_each_extent(const struct foliofs_fs *fs, uint32_t ino,
					   foliofs_extent_fn fn, void *priv);

/*
 * The same by the FIEMAP ioctl: one extent for each answer of the block map.  It
 * caches what it looks up, as the kernel does, so later events can differ.
 */
FOLIOFS_API int foliofs_fs_fiemap(struct foliofs_fs *fs, uint32_t ino, foliofs_extent_fn fn,
				  void *priv);

/* What a read of [0, size) finds: runs of bytes with their origin. */
enum foliofs_source_kind {
	FOLIOFS_SOURCE_OP, /* written by operation source at source_offset */
	FOLIOFS_SOURCE_ZERO, /* mapped or reserved, reads zero */
	FOLIOFS_SOURCE_HOLE, /* not mapped, reads zero */
	FOLIOFS_SOURCE_STALE, /* whatever the block held before: source, owner of that time */
	FOLIOFS_SOURCE_UNKNOWN, /* memory never filled */
};

struct foliofs_content {
	uint64_t offset, len; /* bytes */
	enum foliofs_source_kind kind;
	uint32_t source; /* operation */
	uint32_t owner; /* inode that wrote it */
	uint64_t source_offset; /* where it was written */
};

typedef void (*foliofs_content_fn)(void *priv, const struct foliofs_content *c);
FOLIOFS_API int foliofs_fs_for_each_content(const struct foliofs_fs *fs, uint32_t ino,
					    foliofs_content_fn fn, void *priv);

struct foliofs_tree {
	bool extents; /* else indirect blocks */
	uint32_t depth, index_blocks, leaf_blocks, nr_extents, unwritten;
};
/* Its block map; all 0 for inline data.  -ENOENT also for file systems that are not ext4. */
FOLIOFS_API int foliofs_fs_tree(const struct foliofs_fs *fs, uint32_t ino, struct foliofs_tree *t);

/* Folios in the page cache, ascending. */
struct foliofs_folio_state {
	uint64_t index; /* pages */
	uint8_t order;
	bool uptodate, dirty, buffers;
};
typedef void (*foliofs_folio_fn)(void *priv, const struct foliofs_folio_state *f);
FOLIOFS_API int foliofs_fs_for_each_folio(const struct foliofs_fs *fs, uint32_t ino,
					  foliofs_folio_fn fn, void *priv);
/*
 * State of each block of the folio that holds page @index, one word a block ("UDL UM"): U uptodate,
 * D dirty, M mapped, N new, L delayed, W unwritten, A under I/O, J dirty in the journal, "-" none of
 * these.  A folio without buffers has no words.  -ENOENT also if there is no such folio; what does
 * not fit into @len bytes is left out.
 */
FOLIOFS_API int foliofs_fs_folio_text(const struct foliofs_fs *fs, uint32_t ino, uint64_t index,
				      char *buf, size_t len);

/*
 * Power cut now, then mount with journal recovery and orphan processing: what
 * is left, as a file system of its own (to be freed).  @fs goes on unharmed.
 * -EINVAL without crash_states.
 */
FOLIOFS_API int foliofs_fs_crash(const struct foliofs_fs *fs, struct foliofs_fs **after);
/*
 * (To go on with what is left there is the operation FOLIOFS_OP_RECOVER: the same power cut,
 * but of @fs itself, which then is what a mount finds.  No file is open behind it, tunables
 * are set back, sinks, stops and injected failures stay.  At a stop the power is cut there and
 * then; until the stopped operation is over, which gives 0, @fs cannot be used and is what it
 * was: operations fail with -EIO.  Its result: 0, -EINVAL without crash_states, -EOPNOTSUPP
 * if it is not ext4; foliofs_fs_error().)
 *
 * Grows whenever what a power cut would leave, or what has to survive it, changes:
 * equal numbers, equal power cuts.  May be asked in the middle of an operation (from
 * a sink), as foliofs_fs_crash() may.
 */
FOLIOFS_API uint64_t foliofs_fs_crash_state(const struct foliofs_fs *fs);

/* --- chosen interleavings --- */

enum foliofs_stop {
#define FOLIOFS_STOP(id, name, meaning) FOLIOFS_STOP_##id,
#include <foliofs/stops.def>
#undef FOLIOFS_STOP
	FOLIOFS_STOP_COUNT
};

/*
 * @fn is called at every stop of stops.def, in the middle of an operation on inode
 * @ino (0: none in particular).  It may run other operations, which then are those
 * of another task; an operation that would have to wait for the stopped one, a lock
 * or its handle, is refused with -EDEADLK and foliofs_fs_error().  It may cut the
 * power.  The stops inside the operations that it runs call @fn again.
 * @fn NULL: no stops any more.
 *
 * SIMPLIFIED: which task waits for which is decided by what stops.def says they
 * hold, for whole files and ranges of bytes.
 */
typedef void (*foliofs_stop_fn)(void *priv, enum foliofs_stop stop, uint32_t ino);
FOLIOFS_API void foliofs_fs_set_stop_handler(struct foliofs_fs *fs, foliofs_stop_fn fn,
					     void *priv);
/* Name of a stop; NULL if it is none. */
FOLIOFS_API const char *foliofs_stop_name(enum foliofs_stop s);
/* Stop of that name: 0, or -ENOENT. */
FOLIOFS_API int foliofs_stop_find(const char *name, enum foliofs_stop *s);

/* --- injected failures --- */

enum foliofs_failure {
#define FOLIOFS_FAILURE(id, name, error, meaning) FOLIOFS_FAILURE_##id,
#include <foliofs/failures.def>
#undef FOLIOFS_FAILURE
	FOLIOFS_FAILURE_COUNT
};

/*
 * From now on the @nth time that @what could fail (from 1) it does; 0: never.  Each
 * kind counts for itself.  A failure is the event foliofs_injected.
 */
FOLIOFS_API void foliofs_fs_inject(struct foliofs_fs *fs, enum foliofs_failure what, uint32_t nth);
/*
 * @fn is asked at each such place whose turn it is not, of the kinds that foliofs_fs_inject()
 * has switched on (with UINT32_MAX: all are asked about); true: it fails, as the only one of
 * its kind.  @nth counts as above.  @fn NULL: nobody is asked any more.
 */
typedef bool (*foliofs_failure_fn)(void *priv, enum foliofs_failure what, uint32_t nth);
FOLIOFS_API void foliofs_fs_set_failure_handler(struct foliofs_fs *fs, foliofs_failure_fn fn,
						void *priv);
/* How often @what could have failed since then; *@failed: it did. */
FOLIOFS_API uint32_t foliofs_fs_injected(const struct foliofs_fs *fs, enum foliofs_failure what,
					 bool *failed);
/* Name of a failure, NULL if it is none; failure of that name: 0, or -ENOENT. */
FOLIOFS_API const char *foliofs_failure_name(enum foliofs_failure f);
/* The error that operations may give because of it: positive errno, 0: none. */
FOLIOFS_API int foliofs_failure_error(enum foliofs_failure f);
FOLIOFS_API int foliofs_failure_find(const char *name, enum foliofs_failure *f);

/* Unmount and mount: syncs everything, drops all caches and preallocations. */
FOLIOFS_API int foliofs_fs_unmount(struct foliofs_fs *fs);

/* The journal now: what of the running transaction is taken. */
struct foliofs_journal_state {
	uint32_t tid; /* running transaction, 0: none */
	uint32_t outstanding, reserved, log_free, handles, blocks;
	int error; /* the journal was aborted: negative errno */
};
FOLIOFS_API void foliofs_fs_journal(const struct foliofs_fs *fs, struct foliofs_journal_state *s);

#ifdef __cplusplus
}
#endif
#endif
