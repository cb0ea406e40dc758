// SPDX-License-Identifier: MIT
/*
 * The geometry of a real image.  The only file of the project that uses libext2fs
 * for it; read only, 64 bit.  What the kernel would take from superblock, group
 * descriptors and journal superblock at mount time.
 */
#include "geometry_image.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ext2fs/ext2fs.h>

/* Where in the journal's superblock the length and the fast commit blocks are (big endian). */
#define JOURNAL_MAGIC 0xc03b3998u
#define JOURNAL_MAXLEN 16
#define JOURNAL_FC_BLOCKS 84

struct reader {
	const char *path;
	ext2_filsys fs;
	struct foliofs_geometry *g;
	char *err;
	size_t errlen;
};

__attribute__((format(printf, 2, 3))) static int refuse(const struct reader *r, const char *fmt,
							 ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (r->errlen)
		snprintf(r->err, r->errlen, "%s: %s", r->path, text);
	return -EINVAL;
}

static uint32_t big_endian(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Open; a feature that libext2fs does not know is named. */
static int open_image(struct reader *r)
{
	errcode_t ret;

	initialize_ext2_error_table();
	ret = ext2fs_open(r->path, EXT2_FLAG_64BITS, 0, 0, unix_io_manager, &r->fs);
	if ((ret == EXT2_ET_UNSUPP_FEATURE || ret == EXT2_ET_RO_UNSUPP_FEATURE) &&
	    !ext2fs_open(r->path, EXT2_FLAG_64BITS | EXT2_FLAG_FORCE | EXT2_FLAG_JOURNAL_DEV_OK, 0,
			 0, unix_io_manager, &r->fs))
		return 0; /* read_features() says which one it is */
	if (ret && ret < 1024) /* an errno */
		return refuse(r, "%s", strerror((int)ret));
	return ret ? refuse(r, "no ext4 file system: %s", error_message(ret)) : 0;
}

static int read_features(const struct reader *r)
{
	const struct ext2_super_block *s = r->fs->super;
	char text[128];

	if (foliofs_features_from_disk(s->s_feature_compat, s->s_feature_incompat,
				       s->s_feature_ro_compat, &r->g->features, text,
				       sizeof(text)))
		return refuse(r, "%s", text);
	return 0;
}

static void read_super(const struct reader *r)
{
	struct ext2_super_block *s = r->fs->super;
	struct foliofs_geometry *g = r->g;

	g->block_size = r->fs->blocksize;
	g->cluster_ratio = (uint32_t)EXT2FS_CLUSTER_RATIO(r->fs);
	g->blocks_count = ext2fs_blocks_count(s);
	g->first_data_block = s->s_first_data_block;
	g->blocks_per_group = s->s_blocks_per_group;
	g->clusters_per_group = s->s_clusters_per_group;
	g->groups = r->fs->group_desc_count;
	g->desc_size = EXT2_DESC_SIZE(s);
	g->gdb_count = (uint32_t)r->fs->desc_blocks;
	g->reserved_gdt_blocks = s->s_reserved_gdt_blocks;
	g->flex_bg_size = 1u << (s->s_log_groups_per_flex & 31);
	g->inode_size = EXT2_INODE_SIZE(s);
	g->inodes_per_group = s->s_inodes_per_group;
	g->first_meta_bg = s->s_first_meta_bg;
	g->r_blocks_count = ext2fs_r_blocks_count(s);
	g->raid_stride = s->s_raid_stride;
	g->raid_stripe_width = s->s_raid_stripe_width;
	memcpy(g->hash_seed, s->s_hash_seed, sizeof(g->hash_seed));
	g->backup_bgs[0] = s->s_backup_bgs[0];
	g->backup_bgs[1] = s->s_backup_bgs[1];
	g->quota_types = (uint8_t)((s->s_usr_quota_inum != 0) | (s->s_grp_quota_inum != 0) << 1 |
				   (s->s_prj_quota_inum != 0) << 2);
}

static int read_journal(const struct reader *r)
{
	struct ext2_super_block *s = r->fs->super;
	unsigned char *block;
	blk64_t blk = 0;
	errcode_t ret;

	r->g->journal_blocks = 0;
	r->g->fast_commit_blocks = 0;
	if (!foliofs_has_feature(r->g, FOLIOFS_FEATURE_HAS_JOURNAL))
		return 0;
	if (!s->s_journal_inum)
		return refuse(r, "a journal on another device is not modelled");
	ret = ext2fs_bmap2(r->fs, s->s_journal_inum, NULL, NULL, 0, 0, NULL, &blk);
	if (ret || !blk)
		return refuse(r, "journal inode %u: %s", s->s_journal_inum,
			      ret ? error_message(ret) : "no blocks");
	block = malloc(r->fs->blocksize);
	if (!block)
		return refuse(r, "no memory");
	ret = io_channel_read_blk64(r->fs->io, blk, 1, block);
	if (!ret && big_endian(block) == JOURNAL_MAGIC) {
		r->g->journal_blocks = big_endian(block + JOURNAL_MAXLEN);
		if (foliofs_has_feature(r->g, FOLIOFS_FEATURE_FAST_COMMIT))
			r->g->fast_commit_blocks = big_endian(block + JOURNAL_FC_BLOCKS);
	}
	free(block);
	if (ret)
		return refuse(r, "journal superblock: %s", error_message(ret));
	return r->g->journal_blocks ? 0 : refuse(r, "journal superblock: bad magic number");
}

static int read_orphan_file(const struct reader *r)
{
	struct ext2_inode inode;
	errcode_t ret;

	r->g->orphan_file_blocks = 0;
	if (!foliofs_has_feature(r->g, FOLIOFS_FEATURE_ORPHAN_FILE))
		return 0;
	ret = ext2fs_read_inode(r->fs, r->fs->super->s_orphan_file_inum, &inode);
	if (ret)
		return refuse(r, "orphan file: %s", error_message(ret));
	r->g->orphan_file_blocks = (uint32_t)(EXT2_I_SIZE(&inode) / r->fs->blocksize);
	return 0;
}

/* Default mount options of the superblock, in the words of mount. */
static void read_mount(const struct reader *r, char *mount, size_t len)
{
	static const char *const data[] = { "", ",data=journal", ",data=ordered",
					    ",data=writeback" };
	const struct ext2_super_block *s = r->fs->super;
	const char *extra = (const char *)s->s_mount_opts;

	snprintf(mount, len, "defaults%s%s%s%.*s",
		 data[(s->s_default_mount_opts & EXT3_DEFM_JMODE) / EXT3_DEFM_JMODE_DATA],
		 s->s_default_mount_opts & EXT4_DEFM_NODELALLOC ? ",nodelalloc" : "",
		 *extra ? "," : "", (int)sizeof(s->s_mount_opts), extra);
}

int geometry_from_image(const char *path, struct foliofs_geometry *g, char *mount, size_t mountlen,
			char *err, size_t errlen)
{
	struct reader r = { path, NULL, g, err, errlen };
	char text[160];
	int ret = open_image(&r);

	if (ret)
		return ret;
	ret = read_features(&r);
	if (!ret) {
		read_super(&r);
		ret = read_journal(&r);
	}
	if (!ret)
		ret = read_orphan_file(&r);
	if (!ret) {
		read_mount(&r, mount, mountlen);
		if (foliofs_geometry_check(g, text, sizeof(text)))
			ret = refuse(&r, "%s", text);
	}
	ext2fs_close_free(&r.fs);
	return ret;
}
