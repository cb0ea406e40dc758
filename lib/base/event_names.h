/* SPDX-License-Identifier: MIT */
/* The tables of events, for what prints them: event_names.c. */
#ifndef FFS_EVENT_NAMES_H
#define FFS_EVENT_NAMES_H

#include <foliofs/event.h>
#include "base.h"

struct ffs_event_desc {
	const char *name;
	const char *fields; /* names, separated by blanks */
	const char *format; /* directives: see events.def */
	const char *map; /* field of each directive, 'a' the first; NULL: in order */
};

/* Event @id as the newest kernel prints it; NULL: no such event. */
const struct ffs_event_desc *ffs_event_desc(unsigned int id);
/* Event @id as @k prints it; NULL: it does not. */
const struct ffs_event_desc *ffs_event_desc_for(const struct foliofs_kernel *k, unsigned int id);

#endif
