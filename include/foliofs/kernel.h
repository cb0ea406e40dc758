/* SPDX-License-Identifier: MIT */
/*
 * A kernel is a set of changes.
 *
 * Each upstream change that matters to the model has a name, a meaning of one
 * line, its source and its prerequisites (changes.def).  A kernel release is a
 * named set of them (lib/kernel/kernels.def); the model asks
 * foliofs_kernel_has() and never compares versions.
 */
#ifndef FOLIOFS_KERNEL_H
#define FOLIOFS_KERNEL_H

#include <foliofs/geometry.h>

#ifdef __cplusplus
extern "C" {
#endif

enum foliofs_change {
#define FOLIOFS_CHANGE(id, name, meaning, source, needs, without) FOLIOFS_CHANGE_##id,
#include <foliofs/changes.def>
#undef FOLIOFS_CHANGE
	FOLIOFS_CHANGE_COUNT
};

struct foliofs_kernel {
	char name[96]; /* as given, e.g. "v6.16+rsv-per-folio" */
	uint64_t changes[(FOLIOFS_CHANGE_COUNT + 63) / 64]; /* bit n: change n is in */
};

/* True if change @c is in @k. */
static inline bool foliofs_kernel_has(const struct foliofs_kernel *k, enum foliofs_change c)
{
	return (k->changes[c / 64] >> (c % 64)) & 1;
}

/*
 * Parse "NAME[+CHANGE|-CHANGE...]" ("v6.18", "6.12.117", "v6.16+rsv-per-folio",
 * "v6.18-lf-zero") into @k.  A plain release number that is no named set takes
 * the set of its series ("6.18.44" is v6.18, "6.12.117" v6.12-stable).
 * Returns 0, or -EINVAL with a message in @err (at most @errlen bytes).
 */
FOLIOFS_API int foliofs_kernel_parse(const char *spec, struct foliofs_kernel *k, char *err,
				     size_t errlen);

/* Add or take away one change; the name of @k is extended. -EINVAL: it is full. */
FOLIOFS_API int foliofs_kernel_with(struct foliofs_kernel *k, enum foliofs_change c);
FOLIOFS_API int foliofs_kernel_without(struct foliofs_kernel *k, enum foliofs_change c);

/*
 * First prerequisite that @k lacks: returns true and sets @change (which needs
 * it) and @missing; false if @k is complete.  @from: continue after this change
 * (start with 0), so that all can be listed: the next call takes *change + 1.
 */
FOLIOFS_API bool foliofs_kernel_lacks(const struct foliofs_kernel *k, unsigned int from,
				      enum foliofs_change *change, enum foliofs_change *missing);

/* The @i-th named kernel; NULL behind the last. */
FOLIOFS_API const char *foliofs_kernel_name(unsigned int i);
/* What the @i-th named kernel is, one line. */
FOLIOFS_API const char *foliofs_kernel_meaning(unsigned int i);

/* Name, meaning and source (patch title or release) of a change. */
FOLIOFS_API const char *foliofs_change_name(enum foliofs_change c);
FOLIOFS_API const char *foliofs_change_meaning(enum foliofs_change c);
FOLIOFS_API const char *foliofs_change_source(enum foliofs_change c);
/* Its prerequisites, names separated by blanks ("" if none). */
FOLIOFS_API const char *foliofs_change_needs(enum foliofs_change c);
/* What is seen in a kernel that lacks only this change ("" if nothing worth a line). */
FOLIOFS_API const char *foliofs_change_without(enum foliofs_change c);
/*
 * Change of that name, or P1 to P8 for the patches of the large-folio series (P8 is what that
 * patch has besides switching them on, lf-journal-mode): returns 0 and sets @c, or -ENOENT.
 */
FOLIOFS_API int foliofs_change_find(const char *name, enum foliofs_change *c);

#ifdef __cplusplus
}
#endif
#endif
