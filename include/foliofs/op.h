/* SPDX-License-Identifier: MIT */
/*
 * One operation as the VFS sees it.  Traces, op lists and scenarios are all
 * turned into these; lib/ops carries them out.
 */
#ifndef FOLIOFS_OP_H
#define FOLIOFS_OP_H

#include <foliofs/geometry.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * FOLIOFS_OP(id, name): the names are those of op lists and scenarios.
 * Fields used are given behind each; all others are ignored.
 */
#define FOLIOFS_OPS(OP)                                                                            \
	OP(OPEN, "open")		/* path file flags mode; result: inode number */           \
	OP(CLOSE, "close")		/* file */                                                 \
	OP(WRITE, "write")		/* file off len [chunk pause_ns] */                        \
	OP(APPEND, "append")		/* file len [chunk]: at i_size */                          \
	OP(READ, "read")		/* file off len [chunk] */                                 \
	OP(TRUNCATE, "truncate")	/* file (ftruncate) or path (file < 0), len: new size */   \
	OP(FALLOCATE, "fallocate")	/* file flags (FOLIOFS_FALLOC_*) off len */                \
	OP(MWRITE, "mwrite")		/* file off len [pause_ns]: store to each byte, shared */  \
	OP(MTOUCH, "mtouch")		/* file off len stride [pause_ns]: one byte each stride */ \
	OP(MREAD, "mread")		/* file off len [stride 512], flags: FOLIOFS_MADV_* */     \
	OP(MSYNC, "msync")		/* file off len */                                         \
	OP(FSYNC, "fsync")		/* file */                                                 \
	OP(FDATASYNC, "fdatasync")	/* file */                                                 \
	OP(SYNCFS, "syncfs")                                                                       \
	OP(SYNC, "sync")                                                                           \
	OP(SYNC_RANGE, "syncrange")	/* file off len, flags: FOLIOFS_SYNC_RANGE_* */            \
	OP(DROP_CACHES, "dropcaches")	/* flags: 1 page cache, 2 slab, 3 both */                  \
	OP(FADVISE, "fadvise")		/* file off len, flags: FOLIOFS_FADV_* */                  \
	OP(MOVE_EXTENTS, "moveext")	/* file file2 off len off2 (donor); result: blocks */      \
	OP(SET_JOURNAL_FLAG, "chattr_j") /* file, len: 1 on, 0 off */                              \
	OP(UNLINK, "unlink")		/* path */                                                 \
	OP(RENAME, "rename")		/* path path2 */                                           \
	OP(LINK, "link")		/* path, or file (an unnamed one), path2 */                \
	OP(SYMLINK, "symlink")		/* path (new name) path2 (target) */                       \
	OP(MKDIR, "mkdir")		/* path mode */                                            \
	OP(RMDIR, "rmdir")		/* path */                                                 \
	OP(COPY_RANGE, "copyrange")	/* file off file2 off2 len */                              \
	OP(REFLINK, "reflink")		/* file off file2 off2 len (not on ext4) */                \
	OP(WRITE_BAD, "writebad")	/* file off len good: only good bytes can be copied */     \
	OP(SETATTR, "setattr")		/* file or path: chmod, utimes */                          \
	OP(CHOWN, "chown")		/* file or path */                                         \
	OP(SETXATTR, "setxattr")	/* file or path, len: bytes of the value */                \
	OP(HWPOISON, "hwpoison")	/* file off: the page's memory fails, its folio is held */ \
	OP(PAGEOUT, "pageout")		/* file off len: reclaim of a mapped range */              \
	OP(STAT, "stat")		/* file or path: somebody looks at the times */            \
	OP(CRASH, "crash")		/* path: name of the crash; see foliofs_crash() */         \
	OP(RECOVER, "recover")		/* power cut and mount: goes on with what is left */       \
	OP(SLEEP, "sleep_ms")		/* len: milliseconds */                                    \
	OP(COMMIT, "commit")		/* journal commit, as its timer would */                   \
	OP(WRITEBACK, "writeback")	/* file off len: background writeback, len: pages */       \
	/* preparation of a file system, as in capture specs */                                    \
	OP(FILL, "fill")		/* file [len: unit]: fallocate until no space */           \
	OP(PUNCH_EVERY, "punchevery")	/* file off len chunk (the hole) stride */                 \
	OP(WRITE_EVERY, "writeevery")	/* file off len chunk stride */                            \
	OP(REMOUNT, "remount")                                                                     \
	OP(SYSFS, "sysfs")		/* path: attribute, len: value */                          \
	OP(DEBUGFS, "debugfs")		/* path: command */                                        \
	OP(LOAD_BUDDIES, "load_buddies") /* all block bitmaps are loaded */

enum foliofs_op_kind {
#define FOLIOFS_OP_ID(id, name) FOLIOFS_OP_##id,
	FOLIOFS_OPS(FOLIOFS_OP_ID)
#undef FOLIOFS_OP_ID
	FOLIOFS_OP_COUNT
};

/* open flags */
#define FOLIOFS_O_RDONLY 0x0001u
#define FOLIOFS_O_WRONLY 0x0002u /* neither: read and write */
#define FOLIOFS_O_CREAT 0x0004u
#define FOLIOFS_O_EXCL 0x0008u
#define FOLIOFS_O_TRUNC 0x0010u
#define FOLIOFS_O_APPEND 0x0020u
#define FOLIOFS_O_SYNC 0x0040u
#define FOLIOFS_O_DSYNC 0x0080u
#define FOLIOFS_O_DIRECT 0x0100u
#define FOLIOFS_O_TMPFILE 0x0200u
#define FOLIOFS_O_DIRECTORY 0x0400u
#define FOLIOFS_O_NOATIME 0x0800u
#define FOLIOFS_O_PATH 0x1000u

/* fallocate modes: the kernel's numbers */
#define FOLIOFS_FALLOC_KEEP_SIZE 0x01u
#define FOLIOFS_FALLOC_PUNCH_HOLE 0x02u
#define FOLIOFS_FALLOC_COLLAPSE_RANGE 0x08u
#define FOLIOFS_FALLOC_ZERO_RANGE 0x10u
#define FOLIOFS_FALLOC_INSERT_RANGE 0x20u
#define FOLIOFS_FALLOC_UNSHARE_RANGE 0x40u

/* sync_file_range flags: the kernel's numbers */
#define FOLIOFS_SYNC_RANGE_WAIT_BEFORE 1u
#define FOLIOFS_SYNC_RANGE_WRITE 2u
#define FOLIOFS_SYNC_RANGE_WAIT_AFTER 4u

enum foliofs_advice {
	FOLIOFS_FADV_NORMAL, FOLIOFS_FADV_RANDOM, FOLIOFS_FADV_SEQUENTIAL, FOLIOFS_FADV_WILLNEED,
	FOLIOFS_FADV_DONTNEED, FOLIOFS_FADV_NOREUSE, FOLIOFS_MADV_HUGEPAGE
};

struct foliofs_op {
	enum foliofs_op_kind kind;
	uint32_t id; /* number of the operation: the source of the bytes it writes */
	int32_t file, file2; /* open-file slots, chosen by who opens; < 0: none */
	uint32_t flags;
	uint32_t mode; /* permission bits of a new inode */
	uint64_t off, off2, len; /* bytes */
	uint64_t chunk, stride, good; /* bytes; 0: not given */
	uint64_t time_ns; /* when it starts; never less than that of the operation before */
	uint64_t pause_ns; /* between its pieces */
	const char *path, *path2; /* relative to the root of the file system, or absolute in it */
};

/* Name of a kind as in op lists; kind of a name: 0, or -ENOENT. */
FOLIOFS_API const char *foliofs_op_name(enum foliofs_op_kind kind);
FOLIOFS_API int foliofs_op_find(const char *name, enum foliofs_op_kind *kind);

#ifdef __cplusplus
}
#endif
#endif
