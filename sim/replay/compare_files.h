/* SPDX-License-Identifier: MIT */
/* What files take and hold: at the end of a run, and behind a power cut there. */
#ifndef REPLAY_COMPARE_FILES_H
#define REPLAY_COMPARE_FILES_H

#include <foliofs/fs.h>

struct compare_files {
	bool known; /* the others are set */
	uint64_t files;
	uint64_t size; /* bytes, of all sizes */
	uint64_t data; /* of these bytes, what operations have written */
	uint64_t space; /* bytes of blocks, delayed ones included */
};

/* Regular files of @fs. */
void compare_files_count(struct foliofs_fs *fs, struct compare_files *c);
/* The same of what a power cut of @fs leaves; unknown where the model cannot cut it (not ext4). */
void compare_files_cut(const struct foliofs_fs *fs, struct compare_files *c);

#endif
