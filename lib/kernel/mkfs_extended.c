// SPDX-License-Identifier: MIT
/*
 * mke2fs -E: the suboptions that change a number of the geometry, and the names of
 * those that do not.  Stands for the extended options of mke2fs 1.47.
 */
#include <ctype.h>
#include "mkfs.h"
#include "parse.h"

int ffs_parse_uuid(const char *text, u8 *uuid)
{
	if (strlen(text) != 36)
		return -EINVAL;
	for (unsigned int i = 0, n = 0; i < 36; i++) {
		static const char digits[] = "0123456789abcdef";
		const char *d;

		if (i == 8 || i == 13 || i == 18 || i == 23) {
			if (text[i] != '-')
				return -EINVAL;
			continue;
		}
		d = strchr(digits, tolower((unsigned char)text[i]));
		if (!d)
			return -EINVAL;
		uuid[n / 2] = (u8)(uuid[n / 2] << 4 | (u8)(d - digits));
		n++;
	}
	return 0;
}

/*
 * Descriptor blocks to reserve so that the file system can grow to @text blocks
 * (or a size).  Counts groups from block 0, as mke2fs does here.
 */
static int parse_resize(const char *text, const struct foliofs_geometry *g, u32 group_size,
			u32 desc_size, u32 *reserved)
{
	u64 blocks, per_block = g->block_size / desc_size, now, then;

	if (ffs_parse_blocks(text, ilog2(g->block_size), &blocks) || blocks <= g->blocks_count)
		return -EINVAL;
	if (!group_size)
		group_size = g->block_size * 8;
	now = div_up(div_up(g->blocks_count, group_size), per_block);
	then = div_up(div_up(blocks, group_size), per_block);
	*reserved = (u32)min(then - now, (u64)g->block_size / 4);
	return 0;
}

static int parse_quota_types(char *list, u8 *types)
{
	static const char names[][9] = { "usrquota", "grpquota", "prjquota" };
	char *save = NULL;

	*types = 0;
	for (char *word = strtok_r(list, ":", &save); word; word = strtok_r(NULL, ":", &save)) {
		unsigned int i = 0;

		while (i < ARRAY_SIZE(names) && strcmp(word, names[i]))
			i++;
		if (i == ARRAY_SIZE(names))
			return -EINVAL;
		*types = (u8)(*types | 1u << i);
	}
	return 0;
}

static bool without_effect(const char *word)
{
	static const char *const names[] = {
		"lazy_itable_init", "lazy_journal_init", "discard", "nodiscard", "test_fs",
		"root_owner", "no_copy_xattrs", "assume_storage_prezeroed", "mmp_update_interval",
		"encoding_flags",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(word, names[i]))
			return true;
	return false;
}

/* One suboption: 0, -EINVAL (bad value), -EOPNOTSUPP (not modelled), -ENOENT (no such one). */
static int read_one(struct ffs_mkfs *m, struct foliofs_geometry *g, u32 group_size,
		    struct ffs_mkfs_extended *e, const char *word, char *value)
{
	u32 desc_size = foliofs_has_feature(g, FOLIOFS_FEATURE_64BIT) ? e->desc_size : 32;
	u64 v = 0;
	int bad = value ? ffs_parse_u64(value, &v) : -EINVAL;

	if (!bad && v > UINT32_MAX)
		bad = -EINVAL;
	if (without_effect(word))
		return 0;
	if (!strcmp(word, "stride")) {
		g->raid_stride = (u32)v;
		return v > UINT16_MAX ? -EINVAL : bad; /* 16 bits in the superblock */
	}
	if (!strcmp(word, "stripe_width") || !strcmp(word, "stripe-width")) {
		g->raid_stripe_width = (u32)v;
		return bad;
	}
	if (!strcmp(word, "num_backup_sb")) {
		e->num_backups = (u32)v;
		return v > 2 ? -EINVAL : bad;
	}
	if (!strcmp(word, "desc_size") || !strcmp(word, "desc-size")) {
		e->desc_size = (u32)v;
		if (!foliofs_has_feature(g, FOLIOFS_FEATURE_64BIT) || e->reserved_gdt_blocks)
			return -EINVAL;
		return v < 64 || v > 1024 || !is_pow2(v) ? -EINVAL : bad;
	}
	if (!strcmp(word, "resize")) {
		if (!value || parse_resize(value, g, group_size, desc_size,
					   &e->reserved_gdt_blocks))
			return -EINVAL;
		if (e->reserved_gdt_blocks)
			g->features |= FOLIOFS_FEATURE_RESIZE_INODE;
		return 0;
	}
	if (!strcmp(word, "orphan_file_size"))
		return !value || ffs_parse_blocks(value, ilog2(g->block_size), &m->orphan_blocks) ||
				       !m->orphan_blocks || m->orphan_blocks > UINT32_MAX ?
			       -EINVAL :
			       0;
	if (!strcmp(word, "hash_seed"))
		return value ? ffs_parse_uuid(value, g->hash_seed) : -EINVAL;
	if (!strcmp(word, "quotatype"))
		return value ? parse_quota_types(value, &g->quota_types) : -EINVAL;
	if (!strcmp(word, "encoding")) {
		g->features |= FOLIOFS_FEATURE_CASEFOLD;
		return value ? 0 : -EINVAL;
	}
	if (!strcmp(word, "packed_meta_blocks"))
		return value && !bad && !v ? 0 : -EOPNOTSUPP;
	if (!strcmp(word, "offset") || !strcmp(word, "android_sparse"))
		return -EOPNOTSUPP;
	return -ENOENT;
}

int ffs_mkfs_extended(struct ffs_mkfs *m, struct foliofs_geometry *g, u32 group_size,
		      struct ffs_mkfs_extended *e, char *err, size_t errlen)
{
	size_t len = m->extended ? strlen(m->extended) + 1 : 1;
	char *copy = ffs_zalloc(len), *save = NULL;
	int ret = 0;

	if (m->extended)
		memcpy(copy, m->extended, len);
	for (char *word = strtok_r(copy, ",", &save); word && !ret;
	     word = strtok_r(NULL, ",", &save)) {
		char *value = strchr(word, '=');

		if (value)
			*value++ = 0;
		ret = read_one(m, g, group_size, e, word, value);
		if (ret == -ENOENT)
			ret = ffs_refuse(err, errlen, "-E: unknown option '%s'", word);
		else if (ret == -EOPNOTSUPP)
			ret = ffs_refuse(err, errlen, "-E %s is not modelled", word);
		else if (ret)
			ret = ffs_refuse(err, errlen, "-E %s: invalid value '%s'", word,
					 value ? value : "");
	}
	free(copy);
	return ret;
}
