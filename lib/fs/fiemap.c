// SPDX-License-Identifier: MIT
/*
 * FIEMAP: asks for the whole file piece by piece, as ext4_fiemap does through
 * iomap_fiemap and ext4_map_blocks, and caches what it finds on disk.
 */
#include "fs.h"
#include "bh/bh.h"

/* Data in the inode: one extent, at its place in the inode table (ext4_inline_data_iomap). */
static void give_inline(const struct ffs_super *sb, struct ffs_inode *inode, foliofs_extent_fn fn,
			void *priv)
{
	const u32 min_inline = 60, i_block = 40;
	const struct ffs_runs *data = &ffs_bh_inode(inode)->inline_data;
	u64 end = data->nr ? data->end[data->nr_chunks - 1] : 0;
	u64 in_group = (inode->ino - 1) % sb->env.geo.inodes_per_group;
	u64 offset = in_group * sb->env.geo.inode_size & (ffs_block_size(&sb->env) - 1);
	struct foliofs_extent x = {
		.physical = (ffs_inode_table_block(sb->alloc, inode->ino) << sb->env.block_bits) +
			    offset + i_block,
		.len = min(inode->i_size, max(end, (u64)min_inline)),
		.flags = FOLIOFS_EXTENT_INLINE | FOLIOFS_EXTENT_NOT_ALIGNED | FOLIOFS_EXTENT_LAST,
	};

	if (x.len)
		fn(priv, &x);
}

int foliofs_fs_fiemap(struct foliofs_fs *fs, uint32_t ino, foliofs_extent_fn fn, void *priv)
{
	struct ffs_super *sb = &fs->ops.sb;
	struct ffs_inode *inode = ffs_inode_find(sb, ino);
	struct foliofs_extent last = { 0 };
	u8 bits = sb->env.block_bits;
	u64 lblk = 0, size;

	if (!inode)
		return -ENOENT;
	if (sb->type)
		return foliofs_fs_for_each_extent(fs, ino, fn, priv);
	if (inode->flags & FFS_INODE_INLINE_DATA) {
		give_inline(sb, inode, fn, priv);
		return 0;
	}
	/* As far as the size of a file can go. */
	size = min(ffs_max_size(sb, inode) >> bits, (u64)FFS_LBLK_MAX);
	while (lblk < size) {
		struct ffs_map map = { .lblk = (u32)lblk,
				       .len = (u32)min(size - lblk, (u64)INT32_MAX) };
		int ret = ffs_map_blocks(&sb->bm, NULL, inode, &map, 0);

		if (ret < 0)
			return ret;
		if (!map.len)
			map.len = 1;
		if (map.flags & (FFS_MAP_MAPPED | FFS_MAP_UNWRITTEN | FFS_MAP_DELAYED)) {
			if (last.len)
				fn(priv, &last);
			last = (struct foliofs_extent){
				.logical = lblk << bits, .len = (u64)map.len << bits,
			};
			if (map.flags & FFS_MAP_DELAYED)
				last.flags = FOLIOFS_EXTENT_UNKNOWN | FOLIOFS_EXTENT_DELALLOC;
			else
				last.physical = map.pblk << bits;
			if (map.flags & FFS_MAP_UNWRITTEN)
				last.flags |= FOLIOFS_EXTENT_UNWRITTEN;
			if (!(inode->flags & FFS_INODE_EXTENTS) && last.physical)
				last.flags |= FOLIOFS_EXTENT_MERGED;
		}
		lblk += map.len;
	}
	if (last.len) {
		last.flags |= FOLIOFS_EXTENT_LAST;
		fn(priv, &last);
	}
	return 0;
}
