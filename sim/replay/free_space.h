/* SPDX-License-Identifier: MIT */
/*
 * Free-space patterns: what is left free on a new file system, everything else is taken
 * outside of any file.  As fragmented file systems are described in scenarios and on the
 * command line:
 *
 *	one block per group
 *	per_group=LEN,at=BLOCK		BLOCK from the group's beginning, negative: from its end
 *	first=BLOCK,len=LEN,stride=DISTANCE,count=N
 *
 * several of them with a ';' in between.
 */
#ifndef REPLAY_FREE_SPACE_H
#define REPLAY_FREE_SPACE_H

#include <foliofs/fs.h>

struct free_pattern {
	bool per_group;
	int64_t first; /* block; with per_group: in the group, negative: from its end */
	uint64_t len, stride; /* blocks */
	uint64_t count; /* 0: to the end */
};

/* Free the blocks of one pattern: 0, or a negative errno. */
int free_pattern_apply(struct foliofs_fs *fs, const struct free_pattern *f);
/* All patterns of @text on the new file system: 0, or -EINVAL with a message. */
int free_space_apply(struct foliofs_fs *fs, const char *text, char *err, size_t errlen);
/* Is @text a list of patterns?  0, or -EINVAL with a message. */
int free_space_check(const char *text, char *err, size_t errlen);

#endif
