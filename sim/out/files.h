/* SPDX-License-Identifier: MIT */
/*
 * What the files of a file system are like, in the form of a capture's
 * state.yaml and crash-NAME.yaml.
 */
#ifndef OUT_FILES_H
#define OUT_FILES_H

#include <stdio.h>

#include <foliofs/fs.h>

/* Extents of one file. */
struct file_extents {
	struct foliofs_extent *v;
	size_t nr, room;
};

struct file_state {
	char *name; /* without the leading slash */
	struct foliofs_stat st;
	bool left_out; /* only its extents are counted: see skip */
	struct file_extents extents, synced;
	bool have_synced, have_tree;
	uint64_t sectors_synced;
	struct foliofs_content *content;
	size_t nr_content, room_content;
	struct foliofs_tree tree;
	bool is_inline; /* when the tree was looked at */
	uint64_t inline_size;
	/* of an indirect map: blocks of each level, and all blocks */
	uint32_t ind, dind, tind;
	uint64_t total_blocks;
};

struct file_states {
	struct file_state *v;
	size_t nr;
	uint32_t block_size;
};

/*
 * The regular files in the root directory, by name (@deep: in all directories,
 * by path).  @skip: names, separated by blanks, of files left out.
 */
void file_states_take(struct file_states *s, struct foliofs_fs *fs, const char *skip,
		      bool deep);
/* What the extents are like after everything was synced. */
void file_states_synced(struct file_states *s, struct foliofs_fs *fs);
/* What the trees are like: after unmount. */
void file_states_tree(struct file_states *s, const struct foliofs_fs *fs);
/* Append a piece of content; one that continues the last is joined with it. */
void file_state_add(struct file_state *f, const struct foliofs_content *c);
void file_states_print(const struct file_states *s, FILE *out);
void file_states_free(struct file_states *s);

#endif
