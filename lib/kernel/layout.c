// SPDX-License-Identifier: MIT
/* The layout of a fresh file system: building it, and the answers.  See layout.h. */
#include "layout_state.h"

struct ffs_layout *ffs_layout_new(const struct foliofs_geometry *g)
{
	struct ffs_layout *l = ffs_zalloc(sizeof(*l));
	int ret;

	l->g = *g;
	l->table_blocks = ffs_inode_table_blocks(g);
	l->groups = ffs_zalloc(g->groups * sizeof(*l->groups));
	l->free = ffs_zalloc(g->groups * sizeof(*l->free));
	for (u32 i = 0; i < g->groups; i++)
		l->free[i] = (u32)(ffs_group_end(g, i) - ffs_group_first(g, i));
	ret = ffs_layout_tables(l);
	ffs_layout_to_clusters(l);
	if (!ret)
		ret = ffs_layout_files(l);
	free(l->free);
	l->free = NULL;
	if (!ret)
		return l;
	ffs_layout_free(l);
	return NULL;
}

void ffs_layout_free(struct ffs_layout *l)
{
	if (!l)
		return;
	for (u32 i = 0; i < l->g.groups; i++)
		free(l->groups[i].used);
	free(l->root.ranges);
	free(l->lost_found.ranges);
	free(l->journal.ranges);
	free(l->orphan.ranges);
	free(l->groups);
	free(l);
}

u32 ffs_layout_used(const struct ffs_layout *l, u32 group, struct ffs_blk_range *out, u32 max)
{
	const struct ffs_layout_group *grp = &l->groups[group];
	u64 base = ffs_group_first(&l->g, group);

	for (u32 i = 0; i < grp->count && i < max; i++)
		out[i] = (struct ffs_blk_range){ base + grp->used[i].first,
						 base + grp->used[i].end };
	return grp->count;
}

u64 ffs_layout_group_free(const struct ffs_layout *l, u32 group)
{
	u64 n = ffs_group_end(&l->g, group) - ffs_group_first(&l->g, group);

	for (u32 i = 0; i < l->groups[group].count; i++)
		n -= l->groups[group].used[i].end - l->groups[group].used[i].first;
	return n;
}

u64 ffs_layout_free_blocks(const struct ffs_layout *l)
{
	u64 n = 0;

	for (u32 i = 0; i < l->g.groups; i++)
		n += ffs_layout_group_free(l, i);
	return n;
}

u64 ffs_layout_block_bitmap(const struct ffs_layout *l, u32 group)
{
	return l->groups[group].block_bitmap;
}

u64 ffs_layout_inode_bitmap(const struct ffs_layout *l, u32 group)
{
	return l->groups[group].inode_bitmap;
}

u64 ffs_layout_inode_table(const struct ffs_layout *l, u32 group)
{
	return l->groups[group].inode_table;
}

u64 ffs_layout_descriptor(const struct ffs_layout *l, u32 group)
{
	return ffs_group_descriptor_block(&l->g, group);
}

bool ffs_layout_block_uninit(const struct ffs_layout *l, u32 group)
{
	return l->groups[group].block_uninit;
}

bool ffs_layout_inode_uninit(const struct ffs_layout *l, u32 group)
{
	return l->groups[group].inode_uninit;
}

u64 ffs_layout_inode_block(const struct ffs_layout *l, u32 ino)
{
	u32 group = (ino - 1) / l->g.inodes_per_group, index = (ino - 1) % l->g.inodes_per_group;

	return l->groups[group].inode_table + (u64)index * l->g.inode_size / l->g.block_size;
}

u32 ffs_layout_first_inode(const struct ffs_layout *l)
{
	return l->first_inode;
}

u32 ffs_layout_used_inodes(const struct ffs_layout *l, u32 group)
{
	u64 before = (u64)group * l->g.inodes_per_group, used = l->first_inode - 1;

	return used > before ? (u32)min(used - before, (u64)l->g.inodes_per_group) : 0;
}

u32 ffs_layout_dirs(const struct ffs_layout *l, u32 group)
{
	return l->groups[group].dirs;
}

u64 ffs_layout_free_inodes(const struct ffs_layout *l)
{
	return (u64)l->g.groups * l->g.inodes_per_group - (l->first_inode - 1);
}

u32 ffs_layout_orphan_ino(const struct ffs_layout *l)
{
	return l->orphan_ino;
}

const struct ffs_layout_file *ffs_layout_root(const struct ffs_layout *l)
{
	return &l->root;
}

const struct ffs_layout_file *ffs_layout_lost_found(const struct ffs_layout *l)
{
	return &l->lost_found;
}

const struct ffs_layout_file *ffs_layout_journal(const struct ffs_layout *l)
{
	return &l->journal;
}

const struct ffs_layout_file *ffs_layout_orphan(const struct ffs_layout *l)
{
	return &l->orphan;
}

u64 ffs_layout_file_block(const struct ffs_layout_file *f, u32 lblk)
{
	u64 left = lblk;

	for (u32 i = 0; i < f->count; i++) {
		u64 len = f->ranges[i].end - f->ranges[i].first;

		if (left < len)
			return f->ranges[i].first + left;
		left -= len;
	}
	return 0;
}
