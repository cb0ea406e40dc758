// SPDX-License-Identifier: MIT
/*
 * Names of the features of ext4, their place in the superblock, and their bit in
 * a geometry.  Stands for the list of e2fsprogs 1.47 (names and bits) and for the
 * choice of those that its mke2fs sets.
 */
#include <foliofs/mkfs.h>
#include <strings.h>
#include "features.h"
#include "parse.h"

enum place { COMPAT, INCOMPAT, RO_COMPAT };

/* What a feature is for the model. */
enum use {
	MODELLED, /* has a bit in foliofs_geometry.features */
	STATE, /* says how the file system is, not what it is like: ignored */
	FOREIGN, /* known by name only */
};

static const struct feature {
	const char *name;
	u32 disk; /* bit in the superblock */
	enum place place;
	enum use use;
	u32 bit; /* of foliofs_geometry.features */
} table[] = {
#define KNOWN(name, place, disk, bit) { name, disk, place, MODELLED, FOLIOFS_FEATURE_##bit }
#define OTHER(name, place, disk, use) { name, disk, place, use, 0 }
	OTHER("dir_prealloc", COMPAT, 0x1, FOREIGN),
	OTHER("imagic_inodes", COMPAT, 0x2, FOREIGN),
	KNOWN("has_journal", COMPAT, 0x4, HAS_JOURNAL),
	KNOWN("ext_attr", COMPAT, 0x8, EXT_ATTR),
	KNOWN("resize_inode", COMPAT, 0x10, RESIZE_INODE),
	KNOWN("dir_index", COMPAT, 0x20, DIR_INDEX),
	OTHER("lazy_bg", COMPAT, 0x40, FOREIGN),
	OTHER("snapshot_bitmap", COMPAT, 0x100, FOREIGN),
	KNOWN("sparse_super2", COMPAT, 0x200, SPARSE_SUPER2),
	KNOWN("fast_commit", COMPAT, 0x400, FAST_COMMIT),
	KNOWN("stable_inodes", COMPAT, 0x800, STABLE_INODES),
	KNOWN("orphan_file", COMPAT, 0x1000, ORPHAN_FILE),
	OTHER("compression", INCOMPAT, 0x1, FOREIGN),
	KNOWN("filetype", INCOMPAT, 0x2, FILETYPE),
	OTHER("needs_recovery", INCOMPAT, 0x4, STATE),
	OTHER("journal_dev", INCOMPAT, 0x8, FOREIGN),
	KNOWN("meta_bg", INCOMPAT, 0x10, META_BG),
	KNOWN("extent", INCOMPAT, 0x40, EXTENTS),
	KNOWN("extents", INCOMPAT, 0x40, EXTENTS),
	KNOWN("64bit", INCOMPAT, 0x80, 64BIT),
	KNOWN("mmp", INCOMPAT, 0x100, MMP),
	KNOWN("flex_bg", INCOMPAT, 0x200, FLEX_BG),
	KNOWN("ea_inode", INCOMPAT, 0x400, EA_INODE),
	OTHER("dirdata", INCOMPAT, 0x1000, FOREIGN),
	KNOWN("metadata_csum_seed", INCOMPAT, 0x2000, CSUM_SEED),
	KNOWN("large_dir", INCOMPAT, 0x4000, LARGE_DIR),
	KNOWN("inline_data", INCOMPAT, 0x8000, INLINE_DATA),
	KNOWN("encrypt", INCOMPAT, 0x10000, ENCRYPT),
	KNOWN("casefold", INCOMPAT, 0x20000, CASEFOLD),
	KNOWN("fname_encoding", INCOMPAT, 0x20000, CASEFOLD),
	KNOWN("sparse_super", RO_COMPAT, 0x1, SPARSE_SUPER),
	KNOWN("large_file", RO_COMPAT, 0x2, LARGE_FILE),
	KNOWN("huge_file", RO_COMPAT, 0x8, HUGE_FILE),
	KNOWN("uninit_bg", RO_COMPAT, 0x10, GDT_CSUM),
	KNOWN("uninit_groups", RO_COMPAT, 0x10, GDT_CSUM),
	KNOWN("dir_nlink", RO_COMPAT, 0x20, DIR_NLINK),
	KNOWN("extra_isize", RO_COMPAT, 0x40, EXTRA_ISIZE),
	OTHER("snapshot", RO_COMPAT, 0x80, FOREIGN),
	KNOWN("quota", RO_COMPAT, 0x100, QUOTA),
	KNOWN("bigalloc", RO_COMPAT, 0x200, BIGALLOC),
	KNOWN("metadata_csum", RO_COMPAT, 0x400, METADATA_CSUM),
	OTHER("replica", RO_COMPAT, 0x800, FOREIGN),
	OTHER("read-only", RO_COMPAT, 0x1000, FOREIGN),
	KNOWN("project", RO_COMPAT, 0x2000, PROJECT),
	OTHER("shared_blocks", RO_COMPAT, 0x4000, FOREIGN),
	KNOWN("verity", RO_COMPAT, 0x8000, VERITY),
	OTHER("orphan_present", RO_COMPAT, 0x10000, STATE),
#undef KNOWN
#undef OTHER
};

static const struct feature *find(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (!strncasecmp(table[i].name, name, len) && !table[i].name[len])
			return &table[i];
	return NULL;
}

int foliofs_feature_find(const char *name, u32 *feature)
{
	const struct feature *f = find(name, strlen(name));

	*feature = 0;
	if (!f)
		return -ENOENT;
	if (f->use == FOREIGN)
		return -EOPNOTSUPP;
	*feature = f->bit;
	return 0;
}

const char *foliofs_feature_name(u32 feature)
{
	for (size_t i = 0; feature && i < ARRAY_SIZE(table); i++)
		if (table[i].bit == feature)
			return table[i].name;
	return NULL;
}

int foliofs_features_from_disk(u32 compat, u32 incompat, u32 ro_compat, u32 *features, char *err,
			       size_t errlen)
{
	static const char letter[] = { 'C', 'I', 'R' };
	const u32 word[] = { compat, incompat, ro_compat };

	*features = 0;
	for (unsigned int place = COMPAT; place <= RO_COMPAT; place++) {
		for (unsigned int n = 0; n < 32; n++) {
			const struct feature *f = NULL;

			if (!(word[place] >> n & 1))
				continue;
			for (size_t i = 0; i < ARRAY_SIZE(table) && !f; i++)
				if (table[i].place == place && table[i].disk == 1u << n)
					f = &table[i];
			if (!f)
				return ffs_refuse(err, errlen, "unknown feature FEATURE_%c%u",
						  letter[place], n);
			if (f->use == FOREIGN)
				return ffs_refuse(err, errlen, "feature %s is not modelled",
						  f->name);
			*features |= f->bit;
		}
	}
	return 0;
}

int ffs_features_edit(const char *list, u32 *features, char *err, size_t errlen)
{
	while (*list) {
		size_t len = strcspn(list, ", \t\n");
		const char *name = list;
		const struct feature *f;
		bool drop = false;

		list += len + (list[len] != 0);
		if (!len)
			continue;
		if ((len == 4 && !strncasecmp(name, "none", 4)) ||
		    (len == 5 && !strncasecmp(name, "clear", 5))) {
			*features = 0;
			continue;
		}
		if (strchr("^-+", *name)) {
			drop = *name != '+';
			name++;
			len--;
		}
		f = find(name, len);
		if (!f)
			return ffs_refuse(err, errlen, "-O: unknown feature '%.*s'", (int)len,
					  name);
		if (f->use != MODELLED)
			return ffs_refuse(err, errlen, "-O: feature '%s' cannot be set or cleared",
					  f->name);
		if (drop)
			*features &= ~f->bit;
		else
			*features |= f->bit;
	}
	return 0;
}
