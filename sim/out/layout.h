/* SPDX-License-Identifier: MIT */
/*
 * layout.txt of a simulated capture: the folios in the page cache after each operation,
 * for the files where they changed.
 *
 *	OP FILE INDEX:ORDER:FLAGS ...
 *
 * index and order in pages, *N: N alike in a row; u uptodate, d dirty, p private data,
 * - none of these, or no folio at all.
 */
#ifndef OUT_LAYOUT_H
#define OUT_LAYOUT_H

#include <stdio.h>

#include <foliofs/fs.h>

struct layout;

struct layout *layout_new(FILE *out);
/* What has changed since the last call is of operation @op. */
void layout_after(struct layout *l, const struct foliofs_fs *fs, uint32_t op);
/*
 * A program opened @name.  A file is called by the name that it was opened by; of several, by the
 * one that was new last; a name that was opened again for another file is that one's.  A file
 * that lost all its names so is left out, as in captures of kernels.
 */
void layout_opened(struct layout *l, const char *name, uint32_t ino);
/* All is written, but for tmpfs, which is looked at by name at once. */
void layout_finish(struct layout *l);
void layout_free(struct layout *l);

#endif
