// SPDX-License-Identifier: MIT
/* Block maps of ext2: ext2_get_blocks, and the answers to iomap (ext2_iomap_begin; v6.18). */
#include "ext2.h"
#include "pagecache/requests.h"

static void read_block(void *priv, u64 blk)
{
	struct ffs_super *sb = priv;
	u64 size = ffs_block_size(&sb->env), addr = blk << sb->env.block_bits;

	ffs_iomap_bio(sb, "R", addr, size);
	ffs_request_meta(sb, addr, size);
}

void ffs_ext2_map(struct ffs_super *sb, struct ffs_inode *inode, struct ffs_map *map)
{
	struct ffs_ind_map *m = inode->ind;
	struct ffs_ind_step chain[4], s;
	struct ffs_ind_path p;
	u32 n, want = map->len;

	map->flags = 0;
	map->pblk = 0;
	map->len = 1;
	ffs_ind_path(m, map->lblk, &p);
	if (!p.depth)
		return;
	n = ffs_ind_branch(m, &p, p.depth, chain);
	ffs_ind_read(chain, min(n, p.depth - 1), read_block, sb);
	if (n < p.depth)
		return;
	s = chain[p.depth - 1];
	map->pblk = *ffs_ind_slot(m, &s);
	for (n = 1; n < want && n <= p.to_boundary; n++) {
		s.off++;
		if (*ffs_ind_slot(m, &s) != map->pblk + n)
			break;
	}
	map->len = n;
	map->flags = FFS_MAP_MAPPED | (n > p.to_boundary ? FFS_MAP_BOUNDARY : 0);
}

static u64 take_block(struct ffs_super *sb, struct ffs_inode *inode)
{
	struct ffs_ext2 *e = ffs_ext2(sb);

	if (e->next >= sb->env.geo.blocks_count)
		return 0;
	inode->i_blocks++;
	return e->next++;
}

u64 ffs_ext2_alloc(struct ffs_super *sb, struct ffs_inode *inode, u64 lblk)
{
	struct ffs_ind_map *m = inode->ind;
	struct ffs_ind_step chain[4];
	struct ffs_ind_path p;
	u32 i;

	ffs_ind_path(m, lblk, &p);
	for (i = 0; i < p.depth; i++) {
		u32 *slot;

		chain[i].node = i ? *ffs_ind_child(m, &chain[i - 1]) : NULL;
		chain[i].off = (s32)p.off[i];
		slot = ffs_ind_slot(m, &chain[i]);
		if (*slot)
			continue;
		*slot = (u32)take_block(sb, inode);
		if (!*slot)
			return 0;
		if (i + 1 < p.depth)
			*ffs_ind_child(m, &chain[i]) =
				ffs_ind_node_new(m, *slot, (u8)(p.depth - 1 - i));
	}
	return p.depth ? *ffs_ind_slot(m, &chain[p.depth - 1]) : 0;
}

static int read_begin(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 len, u32 flags,
		      struct ffs_iomap *iomap, struct ffs_iomap *src)
{
	u8 bits = sb->env.block_bits;
	struct ffs_map map = {
		.lblk = (u32)(pos >> bits),
		.len = (u32)(ffs_blocks_up(&sb->env, pos + len) - (pos >> bits)),
	};

	(void)src;
	(void)flags;
	ffs_ext2_map(sb, inode, &map);
	*iomap = (struct ffs_iomap){
		.offset = (u64)map.lblk << bits, .length = (u64)map.len << bits,
		.addr = map.flags ? map.pblk << bits : FFS_IOMAP_NO_ADDR,
		.type = map.flags ? FFS_IOMAP_MAPPED : FFS_IOMAP_HOLE,
	};
	return 0;
}

static const struct ffs_iomap_ops read_ops = { .begin = read_begin };

const struct ffs_iomap_fs ffs_ext2_iomap = { .read = &read_ops };
