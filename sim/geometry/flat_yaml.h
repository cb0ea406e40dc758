/* SPDX-License-Identifier: MIT */
/*
 * A YAML mapping of scalars, lists of scalars and mappings of scalars, flattened:
 * "queue: {max_sectors_kb: 1280}" is the entry "queue.max_sectors_kb", every item of
 * "features: [a, b]" an entry "features[]".
 */
#ifndef FLAT_YAML_H
#define FLAT_YAML_H

#include <stddef.h>

struct flat_entry {
	char *key, *value;
	size_t line, column; /* of the value, from 1 */
};

struct flat_yaml {
	struct flat_entry *entries;
	size_t count;
	/* for messages, as given to flat_yaml_read() */
	const char *path;
	char *err;
	size_t errlen;
};

/*
 * Read @path ("-": standard input).  0, or a negative errno and a message
 * FILE:LINE:COLUMN: ... in @err; flat_yaml_free() in either case.  @path and @err are kept
 * for flat_yaml_refuse() until then.
 */
int flat_yaml_read(const char *path, struct flat_yaml *y, char *err, size_t errlen);
void flat_yaml_free(struct flat_yaml *y);
/* The entry of that key, NULL if there is none. */
const struct flat_entry *flat_yaml_find(const struct flat_yaml *y, const char *key);
/* Message FILE:LINE:COLUMN: ... at @e, at the first line if @e is NULL.  Always -EINVAL. */
__attribute__((format(printf, 3, 4))) int flat_yaml_refuse(const struct flat_yaml *y,
							   const struct flat_entry *e,
							   const char *fmt, ...);

#endif
