/* SPDX-License-Identifier: MIT */
/* Sizes on the command line and in input files. */
#ifndef SIM_SIZE_H
#define SIM_SIZE_H

#include <foliofs/mkfs.h>

/* "2M": bytes, suffixes k m g t and s (sectors): 0, -EINVAL or -ERANGE. */
static inline int parse_size(const char *text, uint64_t *bytes)
{
	return foliofs_parse_size(text, bytes);
}

#endif
