/* SPDX-License-Identifier: MIT */
/* One file and one journal in words. */
#ifndef REPLAY_SHOW_FILE_H
#define REPLAY_SHOW_FILE_H

#include <stdio.h>

#include <foliofs/fs.h>

/*
 * Sizes, extents (W written, U unwritten, D delayed: first block + blocks @ physical block),
 * folios (page index : order) with runs of equal blocks.
 */
void show_file(FILE *f, const struct foliofs_fs *fs, const char *path, uint32_t ino);
void show_journal(FILE *f, const struct foliofs_fs *fs);

#endif
