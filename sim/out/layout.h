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
void layout_free(struct layout *l);

#endif
