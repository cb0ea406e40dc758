// SPDX-License-Identifier: MIT
/*
 * Rules of file systems that are not ext4: of the iomap path, where no buffer says that a
 * block is delayed or dirty, so the two can part; and of content, as everywhere.
 */
#include "iomap/iomap.h"
#include "ops/fs_type.h"
#include "truth.h"

/*
 * A delayed block below EOF that no dirty block covers will never be written: nothing sends
 * it, and its reservation stays.
 */
static void check_delayed(struct foliofs_fs *fs, const struct ffs_inode *inode)
{
	const struct ffs_super *sb = &fs->ops.sb;
	u8 bits = sb->env.block_bits;
	u64 eof = ffs_blocks_up(&sb->env, inode->i_size), lblk = 0;
	struct ffs_type_run r;

	if (!inode->reserved)
		return;
	for (; sb->type->next_run(sb, inode, lblk, &r) && r.lblk < eof; lblk = r.lblk + r.len) {
		u64 pos = r.lblk << bits, end = min(r.lblk + r.len, eof) << bits;
		bool dirty = true;

		if (r.pblk)
			continue;
		while (pos < end) {
			u64 next = ffs_dirty_until(inode, pos, &dirty);

			if (!dirty)
				break;
			pos = next;
		}
		if (pos >= end)
			continue;
		ffs_rule_broken(fs, FOLIOFS_RULE_CLEAN_DELAYED, inode->ino,
				"block %llu is delayed and not dirty, the file ends at %llu",
				(unsigned long long)(pos >> bits),
				(unsigned long long)inode->i_size);
		return;
	}
}

/* A worker that ends I/O may move the size on disk while zeroing waits for it. */
void ffs_rule_zero_size(struct foliofs_fs *fs, u32 ino, bool in_core, u64 old, u64 size)
{
	const struct ffs_super *sb = &fs->ops.sb;

	if (sb->iomap_op & FFS_IOMAP_ZERO && (in_core || !sb->in_work))
		ffs_rule_broken(fs, FOLIOFS_RULE_ZERO_SIZE, ino, "zeroing moved %s from %llu to %llu",
				in_core ? "i_size" : "i_disksize", (unsigned long long)old,
				(unsigned long long)size);
}

void ffs_type_rules_after_op(struct foliofs_fs *fs, const struct foliofs_op *op, s64 result)
{
	const s32 file[2] = { op->file, op->file2 };
	u32 i;

	ffs_truth_op(fs, op, result);
	if (fs->stopped)
		return;
	ffs_truth_check(fs, op, result);
	for (i = 0; i < 2; i++) {
		const struct ffs_file *f = ffs_file(&fs->ops, file[i]);

		if (!f || !ffs_is_reg(f->inode) || fs->ops.sb.type->in_memory)
			continue;
		check_delayed(fs, f->inode);
		ffs_rule_dropped(fs, f->inode, op);
		if (op->kind == FOLIOFS_OP_FSYNC && !result)
			ffs_rule_synced(fs, f->inode);
	}
}

/* Sizes that recovery finds: none that no operation has made. */
void ffs_type_crash_rules(const struct foliofs_fs *fs, struct foliofs_fs *after)
{
	u32 i;

	for (i = 0; i < after->ops.sb.cap_inodes; i++) {
		const struct ffs_inode *inode = after->ops.sb.inodes[i];

		if (!inode || !ffs_is_reg(inode) ||
		    inode->i_size <= ffs_truth_max_size(fs, inode->ino))
			continue;
		ffs_rule_broken(after, FOLIOFS_RULE_SIZE_ASKED, inode->ino,
				"after recovery the file ends at %llu, no operation made it larger "
				"than %llu", (unsigned long long)inode->i_size,
				(unsigned long long)ffs_truth_max_size(fs, inode->ino));
	}
}
