/* SPDX-License-Identifier: MIT */
/*
 * A geometry from words: options of mke2fs, mount options, feature names.
 *
 * The numbers are those that mke2fs 1.47 writes when it is called as mkfs.ext4
 * on a regular file of the given size with the configuration file of Debian 12.
 */
#ifndef FOLIOFS_MKFS_H
#define FOLIOFS_MKFS_H

#include <foliofs/geometry.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Compute @g from "size=20G -b 1024 -J size=1 -O ^64bit": the size of the device
 * (bytes, or with a suffix k m g t, or s for sectors) and options of mke2fs.
 * Options that change no number (-q, -F, -U, -L, -E lazy_itable_init ...) are
 * accepted; what the model does not know is refused by name.  Blocks larger than a
 * page need no -F here, and a type of mke2fs.conf that does not exist is an error.
 *
 * @g->page_size: page size of the machine that runs mke2fs if not 0 (the size
 * is rounded down to it when -b does not say more), else 4096 is taken.  Every
 * other field is written; mount options get their defaults, the block device those
 * of a loop device (128 KiB of readahead, requests of 1280 KiB).
 *
 * Returns 0, or -EINVAL with a message in @err (at most @errlen bytes).
 */
FOLIOFS_API int foliofs_geometry_from_mkfs(const char *options, struct foliofs_geometry *g,
					   char *err, size_t errlen);

/*
 * Check that the numbers of @g agree with each other (whoever filled it in), so
 * that everything else may rely on them.  -EINVAL: a message that names the field.
 */
FOLIOFS_API int foliofs_geometry_check(const struct foliofs_geometry *g, char *err, size_t errlen);

/*
 * Set @g->mount from a comma separated list as given to mount -o, starting from
 * the defaults ("" is fine).  Options without effect on the model are accepted if
 * they are ext4's; others are refused: -EINVAL and a message that names it.
 */
FOLIOFS_API int foliofs_mount_parse(const char *options, struct foliofs_geometry *g, char *err,
				    size_t errlen);

/*
 * Stripe of the allocator in blocks, by mount option or superblock; 0: none, or one that is no
 * multiple of the cluster, which mount and remount switch off.
 */
FOLIOFS_API uint32_t foliofs_stripe(const struct foliofs_geometry *g);

/*
 * A feature by the name that e2fsprogs prints: 0 and *@feature its bit in
 * foliofs_geometry.features, or 0 for what is a state and no property
 * (needs_recovery, orphan_present).  -EOPNOTSUPP: a feature of ext4 that is not
 * modelled; -ENOENT: no such feature.
 */
FOLIOFS_API int foliofs_feature_find(const char *name, uint32_t *feature);
/* Name of one bit of foliofs_geometry.features; NULL if it is none. */
FOLIOFS_API const char *foliofs_feature_name(uint32_t feature);
/*
 * Features of a superblock, its three words, as bits for foliofs_geometry.features.
 * -EINVAL: one that is not known or not modelled, named in @err.
 */
FOLIOFS_API int foliofs_features_from_disk(uint32_t compat, uint32_t incompat, uint32_t ro_compat,
					   uint32_t *features, char *err, size_t errlen);

/*
 * "2M": bytes, with an optional suffix k m g t (powers of 1024, either case) or
 * s (sectors of 512).  Numbers as strtoull takes them (0x...), no sign, no blanks.
 * -EINVAL: not of that form; -ERANGE: more than 64 bits.
 */
FOLIOFS_API int foliofs_parse_size(const char *text, uint64_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
