// SPDX-License-Identifier: MIT
/* Numbers, sizes and messages for the parsers of options. */
#include <foliofs/mkfs.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include "parse.h"

int ffs_refuse(char *err, size_t errlen, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (errlen)
		vsnprintf(err, errlen, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

/* The number at the start of @text; *@end is behind it. */
static int parse_start(const char *text, u64 *value, char **end)
{
	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	*value = strtoull(text, end, 0);
	return errno ? -ERANGE : 0;
}

int ffs_parse_u64(const char *text, u64 *value)
{
	char *end;
	int ret = parse_start(text, value, &end);

	if (!ret && *end)
		ret = -EINVAL;
	return ret;
}

/* log2 of what suffix @c multiplies with, or -1. */
static int suffix_bits(char c)
{
	switch (c) {
	case 's':
		return 9;
	case 'k':
	case 'K':
		return 10;
	case 'm':
	case 'M':
		return 20;
	case 'g':
	case 'G':
		return 30;
	case 't':
	case 'T':
		return 40;
	}
	return -1;
}

int foliofs_parse_size(const char *text, u64 *bytes)
{
	u64 n;
	char *end;
	int bits = 0, ret = parse_start(text, &n, &end);

	if (ret)
		return ret;
	if (*end) {
		bits = suffix_bits(*end);
		if (bits < 0 || end[1])
			return -EINVAL;
	}
	if (n > UINT64_MAX >> bits)
		return -ERANGE;
	*bytes = n << bits;
	return 0;
}

int ffs_parse_blocks(const char *text, unsigned int block_bits, u64 *blocks)
{
	u64 bytes;
	char *end;
	int ret = parse_start(text, blocks, &end);

	if (ret || !*end)
		return ret;
	ret = foliofs_parse_size(text, &bytes);
	if (!ret)
		*blocks = bytes >> block_bits;
	return ret;
}
