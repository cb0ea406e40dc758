/* SPDX-License-Identifier: MIT */
/*
 * ext4 on the iomap path: what ext4 answers to lib/iomap (the unmerged series, up to
 * version 2 for -next of February 2026; RFC v3, v4 and the series of October 2024 by
 * their changes).
 *
 *	map.c		maps for reads, writes, faults and zeroing
 *	writeback.c	maps for writeback: a handle for each delayed extent, no reserve
 *	end_io.c	conversion and the size on disk, in a worker with a handle of its own
 *	zero.c		partly covered blocks, before truncate, punch and the like
 *	ordered.c	data=ordered, as it was before im-noorder
 *	path.c		the data path of such inodes, as lib/ops sees it
 *
 * What is the same everywhere here: new blocks are unwritten, nothing is ordered with
 * a commit, and a folio is locked before a handle is started (lib/bh: the other way
 * round).  So nothing may lock a folio, or wait for the end of I/O, with a handle open.
 *
 * Glossary: cookie - the sequence number of the status tree, by which a map is known
 * to be current; U - unwritten, D - delayed, as in lib/blockmap.
 */
#ifndef FFS_EXT4IOMAP_H
#define FFS_EXT4IOMAP_H

#include "iomap/iomap.h"

extern const struct ffs_data_path ffs_ext4im_path;
extern const struct ffs_iomap_fs ffs_ext4im_fs;

/* --- map.c --- */
extern const struct ffs_iomap_ops ffs_ext4im_read_ops, ffs_ext4im_write_ops, ffs_ext4im_zero_ops;
bool ffs_ext4im_valid(struct ffs_super *sb, const struct ffs_inode *inode,
		      const struct ffs_iomap *map);
void ffs_ext4im_punch_delayed(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 end,
			      const struct ffs_iomap *map);
/* @m as an answer; @flags: FFS_IOMAP_F_*. */
void ffs_ext4im_to_iomap(const struct ffs_super *sb, const struct ffs_inode *inode,
			 const struct ffs_map *m, u16 flags, struct ffs_iomap *map);
/* im-trace: event @name of answer @m to a question about [pos, pos + len). */
#define ffs_ext4im_trace(sb, name, inode, m, off, n, op)                                           \
	do {                                                                                       \
		if (ffs_sb_has(sb, FOLIOFS_CHANGE_IM_TRACE))                                       \
			ffs_emit(&(sb)->env, name, (inode)->ino, (m)->lblk, (m)->len, (m)->flags,  \
				 ffs_es_seq(inode), off, n, op);                                   \
	} while (0)
/* Is there too little space to promise any?  Data that others have delayed is written first. */
bool ffs_ext4im_low_space(struct ffs_super *sb);

/* --- writeback.c --- */
int ffs_ext4im_writepages(struct ffs_super *sb, struct ffs_inode *inode, struct ffs_wbc *wbc);
int ffs_ext4im_wb_map(struct ffs_wpc *w, u64 pos, u64 len);
void ffs_ext4im_wb_discard(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 end);

/* --- end_io.c --- */
bool ffs_ext4im_wb_submit(struct ffs_super *sb, struct ffs_inode *inode, struct ffs_ioend *io);
void ffs_ext4im_wb_end(struct ffs_super *sb, struct ffs_inode *inode, const struct ffs_ioend *io);

/* --- zero.c --- */
int ffs_ext4im_zero_partial(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode,
			    u64 pos, u64 len);
int ffs_ext4im_settle_tail(struct ffs_super *sb, struct ffs_handle *h, struct ffs_inode *inode,
			   u64 pos, u64 len);

/* --- ordered.c: only without im-noorder --- */
void ffs_ext4im_order(struct ffs_handle *h, struct ffs_inode *inode, u64 pos, u64 len);
void ffs_ext4im_order_free(struct ffs_inode *inode);
void ffs_ext4im_submit_ordered(struct ffs_super *sb, u32 tid);

#endif
