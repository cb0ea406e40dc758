/* SPDX-License-Identifier: MIT */
/* The kernels of a command line: --kernel K,K.. with the changes of --with and --without. */
#ifndef SIM_KERNELS_H
#define SIM_KERNELS_H

#include <foliofs/kernel.h>

/* Without --kernel: before large folios, the first with them, and two ways of counting credits. */
#define KERNELS_DEFAULT "v6.15,v6.16,v6.16.1,v6.18"
#define KERNELS_CHANGES 32

/* Changes in the order of the command line; begin with { 0 }. */
struct kernel_changes {
	const char *name[KERNELS_CHANGES]; /* as given, not copied */
	bool with[KERNELS_CHANGES]; /* false: without it */
	unsigned int nr;
};

/* Add a change: 0, or -ENOSPC if there are KERNELS_CHANGES already. */
int kernel_changes_add(struct kernel_changes *c, bool with, const char *name);
/* Apply them to @k: 0, or -EINVAL with a message in @err. */
int kernel_changes_apply(const struct kernel_changes *c, struct foliofs_kernel *k, char *err,
			 size_t errlen);
/*
 * Prerequisites that @k lacks, to standard error: a set of changes that nobody could have built as
 * it is, what is found may come from that.  Not those of a kernel of the list: v6.16.1 and
 * lf-fix-v1 were built without one (foliosim kernels tells of it).
 */
void kernel_tell_lacks(const struct foliofs_kernel *k);
/*
 * "v6.15,v6.16+rsv-per-folio" with @c (NULL: none) into at most @max kernels: their number, at
 * least 1, or -EINVAL with a message in @err.  Tells what they lack.
 */
int kernels_parse(const char *list, const struct kernel_changes *c, struct foliofs_kernel *k,
		  int max, char *err, size_t errlen);

/*
 * True if the paths of @k[0..nr) are to be compared with ext4 on iomap: it is a mount option of one of
 * them, and @mount (what was given; may be NULL) says neither yes nor no.
 */
bool kernels_want_iomap(const struct foliofs_kernel *k, int nr, const char *mount);
/* True if ext4 on iomap is a mount option of @k: without buffered_iomap it uses buffer heads. */
bool kernel_iomap_by_mount(const struct foliofs_kernel *k);

#endif
