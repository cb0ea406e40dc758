/* SPDX-License-Identifier: MIT */
/* Numbers, sizes and messages for the parsers of options. */
#ifndef FFS_PARSE_H
#define FFS_PARSE_H

#include "base/base.h"

/* Write the message to @err (at most @errlen bytes, may be 0) and return -EINVAL. */
__attribute__((format(printf, 3, 4))) int ffs_refuse(char *err, size_t errlen, const char *fmt,
						     ...);

/* A whole number without sign, base as strtoull finds it: 0, -EINVAL or -ERANGE. */
int ffs_parse_u64(const char *text, u64 *value);

/*
 * A number of blocks as mke2fs takes it: plain it counts blocks, with a suffix
 * it is a size that is divided by the block size.  @block_bits: log2 of that.
 */
int ffs_parse_blocks(const char *text, unsigned int block_bits, u64 *blocks);

#endif
