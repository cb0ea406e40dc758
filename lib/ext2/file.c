// SPDX-License-Identifier: MIT
/* Operations of ext2, and how it is mounted: see ext2.h. */
#include "ext2.h"

#define FIRST_BLOCK 1000u
#define FIRST_INO 12u

static s64 write_file(struct ffs_ops *o, struct ffs_file *f, u64 pos, u64 len, u64 readable)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_inode *inode = f->inode;
	u64 block = ffs_block_size(&sb->env), done = 0, src = ffs_src(sb->env.op, inode->ino);

	if (f->flags & FOLIOFS_O_RDONLY)
		return -EBADF;
	len = min(len, readable);
	while (done < len) {
		u64 at = pos + done, in = at & (block - 1), n = min(len - done, block - in);
		u64 pblk = ffs_ext2_alloc(sb, inode, at >> sb->env.block_bits), addr;

		if (!pblk)
			return done ? (s64)done : -ENOSPC;
		addr = pblk * block + in;
		/* The device keeps where bytes were written to, by its own place. */
		ffs_runs_set(&sb->disk, addr, addr + n, at - addr, src);
		done += n;
	}
	ffs_invalidate_range(sb, inode, (u32)(pos >> sb->env.page_bits),
			     (u32)((pos + done) >> sb->env.page_bits));
	if (pos + done > inode->i_size) {
		ffs_set_isize(sb, inode, pos + done);
		ffs_set_disksize(sb, inode, pos + done);
	}
	return (s64)done;
}

/* Through the page cache only: direct reads are not modelled. */
static s64 read_file(struct ffs_ops *o, struct ffs_file *f, u64 pos, u64 len)
{
	return f->flags & FOLIOFS_O_DIRECT ? -EOPNOTSUPP : ffs_read(o, f, pos, len);
}

static int not_modelled(struct ffs_ops *o, struct ffs_file *f, u32 mode, u64 off, u64 len)
{
	(void)o;
	(void)f;
	(void)mode;
	(void)off;
	(void)len;
	return -EOPNOTSUPP;
}

static int set_size(struct ffs_super *sb, struct ffs_inode *inode, u64 size)
{
	(void)sb;
	return size == inode->i_size ? 0 : -EOPNOTSUPP;
}

/* The caches of files go, and that of the device, which holds pointer blocks. */
static void drop_caches(struct ffs_super *sb)
{
	u32 i;

	for (i = 0; i < sb->cap_inodes; i++)
		if (sb->inodes[i]) {
			ffs_invalidate_clean(sb, sb->inodes[i], 0, ~0u);
			if (sb->inodes[i]->ind)
				ffs_ind_drop(sb->inodes[i]->ind, NULL, NULL);
		}
}

static s64 run(struct ffs_ops *o, const struct foliofs_op *op)
{
	struct ffs_file *f = ffs_file(o, op->file);

	switch (op->kind) {
	case FOLIOFS_OP_SYNC:
	case FOLIOFS_OP_SYNCFS:
	case FOLIOFS_OP_FSYNC:
	case FOLIOFS_OP_FDATASYNC:
		return 0; /* nothing is dirty */
	case FOLIOFS_OP_DROP_CACHES:
		drop_caches(&o->sb);
		return 0;
	case FOLIOFS_OP_MREAD:
		return f ? ffs_mread(o, f, op) : -EBADF;
	case FOLIOFS_OP_FADVISE:
		return f ? ffs_fadvise(o, f, op->off, op->len, op->flags) : -EBADF;
	default:
		return -EOPNOTSUPP;
	}
}

static struct ffs_inode *inode_new(struct ffs_ops *o, u32 mode)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_inode *inode = ffs_simple_inode(o, ffs_ext2(sb)->next_ino++, mode);

	if (!ffs_is_reg(inode))
		return inode;
	inode->ind = ffs_zalloc(sizeof(*inode->ind));
	inode->ind->per_block = ffs_block_size(&sb->env) / 4;
	if (ffs_sb_has(sb, FOLIOFS_CHANGE_EXT2_IOMAP)) {
		inode->flags = FFS_INODE_IOMAP;
		inode->mapping->max_order = 9;
		sb->iomap->inode_init(sb, inode);
	}
	return inode;
}

static void inactivate(struct ffs_ops *o, struct ffs_inode *inode)
{
	ffs_truncate_cache(&o->sb, inode, 0, ~0ull);
	if (inode->flags & FFS_INODE_IOMAP)
		o->sb.iomap->inode_destroy(&o->sb, inode);
	ffs_ind_free(inode);
	ffs_simple_inode_free(o, inode);
}

static bool next_run(const struct ffs_super *sb, const struct ffs_inode *inode, u64 lblk,
		     struct ffs_type_run *r)
{
	u64 end = ffs_blocks_up(&sb->env, inode->i_size);

	for (; inode->ind && lblk < end; lblk++) {
		struct ffs_ind_step chain[4];
		struct ffs_ind_path p;

		ffs_ind_path(inode->ind, lblk, &p);
		if (ffs_ind_branch(inode->ind, &p, p.depth, chain) < p.depth)
			continue;
		*r = (struct ffs_type_run){ .lblk = lblk, .len = 1,
					    .pblk = *ffs_ind_slot(inode->ind,
								  &chain[p.depth - 1]) };
		return true;
	}
	return false;
}

static u64 free_blocks(const struct ffs_super *sb)
{
	return sb->env.geo.blocks_count - ffs_ext2(sb)->next;
}

static int remount(struct ffs_ops *o)
{
	if (ffs_simple_busy(o))
		return -EBUSY;
	drop_caches(&o->sb);
	return 0;
}

static void destroy(struct ffs_ops *o)
{
	struct ffs_super *sb = &o->sb;
	u32 i;

	for (i = 0; i < sb->cap_inodes;) {
		if (sb->inodes[i])
			inactivate(o, sb->inodes[i]); /* may move another one here */
		else
			i++;
	}
	free(sb->fs_private);
}

static const struct ffs_fs_type type = {
	.run = run,
	.inode_new = inode_new,
	.inactivate = inactivate,
	.read = read_file,
	.write = write_file,
	.fallocate = not_modelled,
	.setsize = set_size,
	.next_run = next_run,
	.free_blocks = free_blocks,
	.remount = remount,
	.destroy = destroy,
};

static int dirty_inode(struct ffs_super *sb, struct ffs_inode *inode)
{
	(void)sb;
	(void)inode;
	return 0;
}

void ffs_ext2_mount(struct ffs_ops *o)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_ext2 *e = ffs_zalloc(sizeof(*e));

	*e = (struct ffs_ext2){ .next = FIRST_BLOCK, .next_ino = FIRST_INO };
	sb->type = &type;
	sb->fs_private = e;
	sb->bh = &ffs_ext2_mpage;
	sb->iomap = &ffs_iomap_path;
	sb->iomap_fs = &ffs_ext2_iomap;
	sb->dirty_inode = dirty_inode;
	o->root = inode_new(o, FFS_S_IFDIR | 0755);
	o->root->nlink = 2;
	ffs_vfs(o->root)->parent = o->root->ino;
}
