// SPDX-License-Identifier: MIT
/*
 * Directories as lists of names in blocks: which block an entry lies in decides
 * what a handle dirties (ext4_add_entry, ext4_delete_entry, ext4_append).
 *
 * SIMPLIFIED: with more than one block the entry goes to the first block with
 * room, not to the one its hash names; a split of an htree leaf is a new block.  Behind
 * a power cut entries lie as if they had been made in the order of their names.
 */
#include "ops.h"

static u32 entry_size(const char *name)
{
	return (u32)((8 + strlen(name) + 3) & ~3ull);
}

static u32 block_room(const struct ffs_ops *o)
{
	u32 block = ffs_block_size(&o->sb.env);

	return ffs_feature(&o->sb.env, FOLIOFS_FEATURE_METADATA_CSUM) ? block - 12 : block;
}

static void add_block(struct ffs_inode *dir, u64 blk, u32 room)
{
	struct ffs_vfs_inode *v = ffs_vfs(dir);

	v->block = ffs_realloc(v->block, (v->nr_blocks + 1) * sizeof(*v->block));
	v->room = ffs_realloc(v->room, (v->nr_blocks + 1) * sizeof(*v->room));
	v->block[v->nr_blocks] = blk;
	v->room[v->nr_blocks++] = room;
}

void ffs_dir_init(struct ffs_ops *o, struct ffs_inode *dir, u64 blk, u32 taken)
{
	add_block(dir, blk, block_room(o) - 24 - taken);
}

void ffs_dir_free(struct ffs_inode *dir)
{
	struct ffs_vfs_inode *v = ffs_vfs(dir);
	u32 i;

	for (i = 0; i < v->nr_entries; i++)
		free(v->entry[i].name);
	free(v->entry);
	free(v->block);
	free(v->room);
}

void ffs_dir_restore(struct ffs_ops *o, struct ffs_inode *dir)
{
	struct ffs_vfs_inode *v = ffs_vfs(dir);
	u32 n = (u32)(dir->i_size >> o->sb.env.block_bits);
	struct ffs_map_run run;

	/* Block 0 of the root was there before it had a block map. */
	while (v->nr_blocks < n && ffs_next_run(dir, v->nr_blocks, &run))
		add_block(dir, run.pblk + (v->nr_blocks - run.lblk),
			  block_room(o) - (v->nr_blocks ? 0 : 24));
	v->indexed = v->nr_blocks > 1 && ffs_feature(&o->sb.env, FOLIOFS_FEATURE_DIR_INDEX);
	if (v->indexed)
		v->room[0] = 0;
}

static void put_entry(struct ffs_vfs_inode *v, const char *name, u32 ino, u32 block)
{
	if (v->nr_entries == v->cap_entries) {
		v->cap_entries = v->cap_entries ? 2 * v->cap_entries : 8;
		v->entry = ffs_realloc(v->entry, v->cap_entries * sizeof(*v->entry));
	}
	v->entry[v->nr_entries++] = (struct ffs_dirent){
		.name = strdup(name), .ino = ino, .block = block,
	};
}

void ffs_dir_put(struct ffs_inode *dir, const char *name, u32 ino)
{
	struct ffs_vfs_inode *v = ffs_vfs(dir);
	u32 need = entry_size(name), at = v->indexed;

	while (at + 1 < v->nr_blocks && v->room[at] < need)
		at++;
	put_entry(v, name, ino, at);
	if (at < v->nr_blocks)
		v->room[at] -= min(need, v->room[at]);
}

struct ffs_dirent *ffs_dir_find(const struct ffs_inode *dir, const char *name)
{
	struct ffs_vfs_inode *v = ffs_vfs(dir);
	u32 i;

	for (i = 0; i < v->nr_entries; i++)
		if (!strcmp(v->entry[i].name, name))
			return &v->entry[i];
	return NULL;
}

/* One more block at the end of the directory (ext4_append). */
static int append(struct ffs_ops *o, struct ffs_handle *h, struct ffs_inode *dir, u32 room)
{
	struct ffs_super *sb = &o->sb;
	u64 size = (u64)(ffs_vfs(dir)->nr_blocks + 1) << sb->env.block_bits;
	struct ffs_map map = { .lblk = ffs_vfs(dir)->nr_blocks, .len = 1 };
	int ret = ffs_map_blocks(&sb->bm, h, dir, &map, FFS_GET_CREATE);

	if (ret < 0)
		return ret;
	add_block(dir, map.pblk, room);
	ffs_set_isize(sb, dir, size);
	ffs_set_disksize(sb, dir, size);
	ffs_mark_inode_dirty(sb, h, dir, "ext4_append");
	return ffs_journal_dirty(h, map.pblk);
}

/* The first block is full: it becomes the htree's root, its entries move to a leaf, which splits. */
static int make_index(struct ffs_ops *o, struct ffs_handle *h, struct ffs_inode *dir)
{
	struct ffs_vfs_inode *v = ffs_vfs(dir);
	u32 used = block_room(o) - v->room[0], i;
	int err = append(o, h, dir, block_room(o) - used / 2);

	if (!err)
		err = append(o, h, dir, block_room(o) - used / 2);
	if (err)
		return err;
	v->indexed = true;
	v->room[0] = 0;
	for (i = 0; i < v->nr_entries; i++)
		v->entry[i].block = 1 + (i >= v->nr_entries / 2);
	return ffs_journal_dirty(h, v->block[0]);
}

/* A block with room for @need bytes; made if there is none. */
static int find_room(struct ffs_ops *o, struct ffs_handle *h, struct ffs_inode *dir, u32 need,
		     u32 *at)
{
	struct ffs_vfs_inode *v = ffs_vfs(dir);
	bool index = ffs_feature(&o->sb.env, FOLIOFS_FEATURE_DIR_INDEX);
	int err;

	for (*at = v->indexed; *at < v->nr_blocks; ++*at)
		if (v->room[*at] >= need)
			return 0;
	if (index && v->nr_blocks == 1 && !v->indexed) {
		err = make_index(o, h, dir);
		*at = 2;
		return err;
	}
	err = append(o, h, dir, index ? block_room(o) / 2 : block_room(o));
	*at = v->nr_blocks - 1;
	if (!err && index) {
		/* The old leaf gives half of its entries away; the index gets one more. */
		err = ffs_journal_dirty(h, v->block[v->nr_blocks - 2]);
		if (!err)
			err = ffs_journal_dirty(h, v->block[0]);
	}
	return err;
}

int ffs_dir_add(struct ffs_ops *o, struct ffs_handle *h, struct ffs_inode *dir, const char *name,
		u32 ino)
{
	struct ffs_vfs_inode *v = ffs_vfs(dir);
	u32 at = 0;
	int err = 0;

	if (!v->no_block)
		err = find_room(o, h, dir, entry_size(name), &at);
	if (err)
		return err;
	o->names_changed++;
	put_entry(v, name, ino, at);
	ffs_set_times(o, dir);
	ffs_mark_inode_dirty(&o->sb, h, dir, "add_dirent_to_buf");
	if (v->no_block)
		return 0;
	v->room[at] -= entry_size(name);
	return ffs_journal_dirty(h, v->block[at]);
}

int ffs_dir_dirty(struct ffs_ops *o, struct ffs_handle *h, struct ffs_inode *dir,
		  const struct ffs_dirent *d)
{
	(void)o;
	return ffs_vfs(dir)->no_block ? 0 : ffs_journal_dirty(h, ffs_vfs(dir)->block[d->block]);
}

int ffs_dir_remove(struct ffs_ops *o, struct ffs_handle *h, struct ffs_inode *dir,
		   struct ffs_dirent *d)
{
	struct ffs_vfs_inode *v = ffs_vfs(dir);
	int err = ffs_dir_dirty(o, h, dir, d);

	if (!v->no_block)
		v->room[d->block] += entry_size(d->name);
	o->names_changed++;
	free(d->name);
	*d = v->entry[--v->nr_entries];
	return err;
}

/* Next component of @path in @part; returns what follows. */
static const char *component(const char *path, char part[256])
{
	size_t n = 0;

	while (*path == '/')
		path++;
	while (*path && *path != '/') {
		if (n < 255)
			part[n++] = *path;
		path++;
	}
	part[n] = 0;
	while (*path == '/')
		path++;
	return path;
}

struct ffs_inode *ffs_lookup_parent(struct ffs_ops *o, const char *path, const char **name)
{
	struct ffs_inode *dir = o->root;
	char part[256];

	for (;;) {
		const char *rest;
		struct ffs_dirent *d;

		while (*path == '/')
			path++;
		rest = component(path, part);
		if (!*rest) {
			*name = path;
			return *path ? dir : NULL;
		}
		if (strcmp(part, ".")) {
			d = ffs_dir_find(dir, part);
			dir = d ? ffs_inode_find(&o->sb, d->ino) : NULL;
			if (!dir || !ffs_is_dir(dir))
				return NULL;
		}
		path = rest;
	}
}

struct ffs_inode *ffs_lookup(struct ffs_ops *o, const char *path)
{
	const char *name;
	struct ffs_inode *dir = ffs_lookup_parent(o, path, &name);
	struct ffs_dirent *d;
	char part[256];

	if (!dir) {
		component(path, part);
		return *part ? NULL : o->root;
	}
	component(name, part);
	if (!strcmp(part, "."))
		return dir;
	d = ffs_dir_find(dir, part);
	return d ? ffs_inode_find(&o->sb, d->ino) : NULL;
}
