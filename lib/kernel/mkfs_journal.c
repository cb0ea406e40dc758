// SPDX-License-Identifier: MIT
/*
 * How long mke2fs makes the journal and the orphan file.  Stands for
 * ext2fs_default_journal_size(), figure_journal_size() and
 * ext2fs_default_orphan_file_blocks() of e2fsprogs 1.47.
 */
#include "mkfs.h"
#include "parse.h"

#define has(g, f) foliofs_has_feature(g, FOLIOFS_FEATURE_##f)

#define MIN_JOURNAL 1024u
#define MAX_JOURNAL 10240000u
#define FAST_COMMIT_SHARE 64u /* a default journal has one fast commit block for that many */

u32 ffs_default_journal_blocks(u64 blocks)
{
	static const struct {
		u64 below; /* file system blocks */
		u32 journal;
	} table[] = {
		{ 2048, 0 },
		{ 32768, 1024 },
		{ 262144, 4096 },
		{ 524288, 8192 },
		{ 4194304, 16384 },
		{ 8388608, 32768 },
		{ 16777216, 65536 },
		{ 33554432, 131072 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (blocks < table[i].below)
			return table[i].journal;
	return 262144;
}

static u32 default_orphan_blocks(const struct foliofs_geometry *g)
{
	u64 blocks = 512;

	if (g->blocks_count < 128 * 1024)
		blocks = 32;
	else if (g->blocks_count < 2 * 1024 * 1024)
		blocks = g->blocks_count / 4096;
	return (u32)round_up_pow2(blocks, g->cluster_ratio);
}

int ffs_mkfs_journal(const struct ffs_mkfs *m, struct foliofs_geometry *g, u64 free_blocks,
		     char *err, size_t errlen)
{
	u64 journal, fast;

	if (!has(g, HAS_JOURNAL))
		return 0;
	journal = ffs_default_journal_blocks(g->blocks_count);
	if (!journal) { /* mke2fs goes on without one, whatever was asked for */
		g->features &= ~(u32)(FOLIOFS_FEATURE_HAS_JOURNAL | FOLIOFS_FEATURE_ORPHAN_FILE);
		return 0;
	}
	/* also with -J size= it is the default journal that is divided */
	fast = has(g, FAST_COMMIT) ? journal / FAST_COMMIT_SHARE : 0;
	if (m->journal_mb)
		journal = (m->journal_mb << 20) / g->block_size;
	if (has(g, FAST_COMMIT) && m->fast_commit_kb)
		fast = (m->fast_commit_kb << 10) / g->block_size;
	if (m->journal_mb || (has(g, FAST_COMMIT) && m->fast_commit_kb)) {
		if (journal + fast < MIN_JOURNAL || journal + fast > MAX_JOURNAL)
			return ffs_refuse(err, errlen,
					  "-J size: %llu blocks, expected %u to %u",
					  (unsigned long long)(journal + fast), MIN_JOURNAL,
					  MAX_JOURNAL);
		if (journal + fast > free_blocks / 2)
			return ffs_refuse(err, errlen,
					  "-J size: %llu blocks are too many for this file system",
					  (unsigned long long)(journal + fast));
	}
	g->journal_blocks = (u32)(journal + fast);
	g->fast_commit_blocks = (u32)fast;
	if (has(g, ORPHAN_FILE))
		g->orphan_file_blocks = m->orphan_blocks ? (u32)m->orphan_blocks :
							   default_orphan_blocks(g);
	return 0;
}
