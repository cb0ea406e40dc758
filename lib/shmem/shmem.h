/* SPDX-License-Identifier: MIT */
/*
 * tmpfs: files that are nothing but page cache (mm/shmem.c, v6.18).
 *
 *	folio.c		which folio a step finds or makes: orders by the huge= mode
 *	shrink.c	what is given back when there is no space
 *	file.c		reads, writes, faults, sizes, fallocate; how it is mounted
 */
#ifndef FFS_SHMEM_H
#define FFS_SHMEM_H

#include "ops/fs_type.h"
#include "pagecache/data_path.h"

struct ffs_shmem {
	u64 max_pages; /* of all files */
	u64 used; /* pages */
	u32 next_ino;
	/* Files that were given a huge folio which reaches behind EOF, the oldest first. */
	struct ffs_inode **beyond;
	u32 nr_beyond, cap_beyond;
};

static inline struct ffs_shmem *ffs_shmem(const struct ffs_super *sb)
{
	return sb->fs_private;
}

/* A mapping by which a file is accessed: pages [first, end) of it. */
struct ffs_shmem_vma {
	u64 first, end;
	bool huge; /* MADV_HUGEPAGE */
};

/*
 * The folio of page @index, made if there is none.  @write_end: where the access ends, in
 * bytes (0: not known); @vma: NULL for system calls.  NULL: no space.
 */
struct ffs_folio *ffs_shmem_folio(struct ffs_super *sb, struct ffs_inode *inode, u32 index,
				  u64 write_end, const struct ffs_shmem_vma *vma);

/*
 * One step of a read: bytes copied from @pos at once, of @len (shmem_file_read_iter), of a
 * folio or page of *unit bytes.  0: the memory of the page has failed.
 */
u64 ffs_shmem_read_step(const struct ffs_super *sb, const struct ffs_inode *inode, u64 pos,
			u64 len, u64 *unit);

/* --- shrink.c --- */
/* @inode was given a huge folio of which a part lies behind EOF. */
void ffs_shmem_beyond_eof(struct ffs_super *sb, struct ffs_inode *inode);
/* It goes away. */
void ffs_shmem_forget(struct ffs_super *sb, const struct ffs_inode *inode);
/* Give back pages behind EOF until there are @want; not of @locked. */
void ffs_shmem_shrink(struct ffs_super *sb, u64 want, const struct ffs_folio *locked);

#endif
