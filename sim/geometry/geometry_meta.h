/* SPDX-License-Identifier: MIT */
/* What the meta.yaml of a capture says about the machine and the file system. */
#ifndef GEOMETRY_META_H
#define GEOMETRY_META_H

#include <foliofs/mkfs.h>

struct geometry_meta_file {
	char *name;
	uint32_t ino;
};

struct geometry_meta {
	char kernel[96]; /* release */
	char kernel_note[192]; /* "" if there is none */
	char mount[256]; /* options, already in the geometry */
	uint32_t max_transaction_blocks; /* as the kernel said; 0: not listed */
	struct geometry_meta_file *files; /* names and inode numbers, in the order of the file */
	size_t nr_files;
};

/*
 * Read @path ("-": standard input) into @m and @g.  The geometry is computed from
 * the options of mke2fs; every number that is listed as well wins over the computed
 * one, and without mke2fs options all must be listed.
 *
 * Returns 0, or a negative errno with a message FILE:LINE:COLUMN: ... in @err.
 * geometry_meta_free() only after success.
 */
int geometry_meta_load(const char *path, struct geometry_meta *m, struct foliofs_geometry *g,
		       char *err, size_t errlen);
void geometry_meta_free(struct geometry_meta *m);

#endif
