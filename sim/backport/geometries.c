// SPDX-License-Identifier: MIT
/* The file systems that a backport is tried on. */
#include "backport/backport.h"

#include <string.h>

#include <foliofs/mkfs.h>

static const struct {
	uint32_t page, block;
} sizes[] = {
	{ 4096, 4096 }, { 4096, 2048 }, { 4096, 1024 }, { 16384, 4096 }, { 16384, 1024 },
	{ 65536, 65536 }, { 65536, 4096 }, { 65536, 1024 },
};

static const char *const features[] = { "", " -O quota", " -O ^extent", " -O bigalloc" };
/* As mke2fs chooses it, or the smallest one. */
static const char *const journals[] = { "", "smallest" };

enum { FIRST_SIZE = 21, LAST_SIZE = 44 }; /* 2 MiB to 16 TiB, by powers of two */
/* Descriptor and group counts are capped by the extents of a folio long before. */
enum { MAX_GROUPS = 32768 };

/* A group has as many blocks as a block has bits. */
static unsigned int last_size(unsigned int s)
{
	unsigned int bits = FIRST_SIZE;

	while (bits < LAST_SIZE &&
	       (2ull << bits) / (8ull * sizes[s].block * sizes[s].block) <= MAX_GROUPS)
		bits++;
	return bits;
}

static int make(struct backport_case *c, unsigned int s, unsigned int f, unsigned int j,
		unsigned int bits)
{
	static const char units[] = "MGT";
	char journal[24] = "", err[160];
	unsigned int unit = (bits - 20) / 10;

	if (*journals[j])
		snprintf(journal, sizeof(journal), " -J size=%u", sizes[s].block / 1024);
	snprintf(c->mkfs, sizeof(c->mkfs), "size=%u%c -b %u%s%s", 1u << (bits - 20 - 10 * unit),
		 units[unit], sizes[s].block, features[f], journal);
	memset(&c->g, 0, sizeof(c->g));
	c->g.page_size = sizes[s].page;
	if (foliofs_geometry_from_mkfs(c->mkfs, &c->g, err, sizeof(err)) ||
	    !c->g.journal_blocks)
		return -1; /* too small, or too large for such blocks */
	c->g.page_size = sizes[s].page;
	return foliofs_mount_parse("", &c->g, err, sizeof(err));
}

int backport_geometries(int (*fn)(void *priv, const struct backport_case *c), void *priv)
{
	struct backport_case c = { .column = 0 };
	unsigned int s, f, j, bits;
	int ret;

	for (f = 0; f < sizeof(features) / sizeof(features[0]); f++)
		for (s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++, c.column++)
			for (bits = FIRST_SIZE; bits <= last_size(s); bits++)
				for (j = 0; j < sizeof(journals) / sizeof(journals[0]); j++) {
					if (make(&c, s, f, j, bits))
						continue;
					ret = fn(priv, &c);
					if (ret)
						return ret;
				}
	return 0;
}
