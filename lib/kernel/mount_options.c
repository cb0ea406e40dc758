// SPDX-License-Identifier: MIT
/*
 * Mount options: those that change what the model does, and the names of those
 * that do not.  Stands for ext4's option table (up to v6.18, and the option
 * buffered_iomap of the series that brings the iomap path) and for the generic
 * options that reach a file system as flags.
 */
#include <foliofs/mkfs.h>
#include "parse.h"

/* Options without a value that set one field of struct foliofs_mount. */
static const struct flag {
	const char *name;
	size_t field; /* offset of a bool in struct foliofs_mount */
	bool value;
} flags[] = {
#define FLAG(name, field, value) { name, offsetof(struct foliofs_mount, field), value }
	FLAG("nodelalloc", nodelalloc, true),
	FLAG("delalloc", nodelalloc, false),
	FLAG("dioread_lock", dioread_lock, true),
	FLAG("dioread_nolock", dioread_lock, false),
	FLAG("usrquota", quota, true),
	FLAG("grpquota", quota, true),
	FLAG("prjquota", quota, true),
	FLAG("quota", quota, true),
	FLAG("noquota", quota, false),
	FLAG("noauto_da_alloc", noauto_da_alloc, true),
	FLAG("auto_da_alloc", noauto_da_alloc, false),
	FLAG("nodiratime", nodiratime, true),
	FLAG("diratime", nodiratime, false),
	FLAG("lazytime", lazytime, true),
	FLAG("nolazytime", lazytime, false),
	FLAG("sync", sync, true),
	FLAG("async", sync, false),
	FLAG("dirsync", dirsync, true),
	FLAG("buffered_iomap", buffered_iomap, true),
	FLAG("nobuffered_iomap", buffered_iomap, false),
#undef FLAG
};

/* Options that the model has no use for; "=" at the end: with a value. */
static const char *const ignored[] = {
	"defaults", "rw", "suid", "nosuid", "dev", "nodev", "exec", "noexec", "auto", "noauto",
	"user", "nouser", "users", "owner", "group", "_netdev", "nofail", "iversion", "noiversion",
	"mand", "nomand", "silent", "loud", "loop", "acl", "noacl", "user_xattr", "nouser_xattr",
	"minixdf", "bsddf", "grpid", "bsdgroups", "nogrpid", "sysvgroups", "resgid=", "resuid=",
	"sb=", "errors=", "nouid32", "debug", "orlov", "oldalloc", "check=", "nocheck", "noload",
	"norecovery", "max_batch_time=", "min_batch_time=", "journal_ioprio=", "journal_dev=",
	"journal_path=", "journal_checksum", "nojournal_checksum", "journal_async_commit",
	"barrier", "nobarrier", "barrier=", "i_version", "warn_on_error", "nowarn_on_error",
	"debug_want_extra_isize=", "block_validity", "noblock_validity", "discard", "nodiscard",
	"init_itable", "init_itable=", "noinit_itable", "max_dir_size_kb=",
	"no_prefetch_block_bitmaps", "prefetch_block_bitmaps", "no_mbcache", "nombcache",
	"mblk_io_submit", "nomblk_io_submit", "inode_readahead_blks=", "fc_debug_max_replay=",
	"jqfmt=", "usrjquota=", "grpjquota=", "bh", "nobh", "reservation", "noreservation",
	"extent", "noextents", "context=", "fscontext=", "defcontext=", "rootcontext=",
	"inlinecrypt", "dax=never", "dax=inode",
};

#define refuse(...) ffs_refuse(err, errlen, __VA_ARGS__)

static int parse_data(const char *value, enum foliofs_data_mode *mode)
{
	static const char *const names[] = {
		[FOLIOFS_DATA_ORDERED] = "ordered",
		[FOLIOFS_DATA_WRITEBACK] = "writeback",
		[FOLIOFS_DATA_JOURNAL] = "journal",
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(value, names[i])) {
			*mode = (enum foliofs_data_mode)i;
			return 0;
		}
	}
	return -EINVAL;
}

/* NAME=VALUE with an effect: 0, -EINVAL (bad value), -ENOENT (no such option). */
static int parse_value(const char *name, const char *value, struct foliofs_mount *m)
{
	u64 v;

	if (!strcmp(name, "data"))
		return parse_data(value, &m->data);
	if (!strcmp(name, "data_err")) {
		m->data_err_abort = !strcmp(value, "abort");
		return m->data_err_abort || !strcmp(value, "ignore") ? 0 : -EINVAL;
	}
	if (!strcmp(name, "auto_da_alloc")) {
		if (ffs_parse_u64(value, &v))
			return -EINVAL;
		m->noauto_da_alloc = !v;
		return 0;
	}
	if (!strcmp(name, "commit")) {
		if (ffs_parse_u64(value, &v) || v > INT32_MAX / 1000)
			return -EINVAL;
		m->commit_interval = v ? (u32)v : 5; /* 0 means the default */
		return 0;
	}
	if (!strcmp(name, "mb_optimize_scan")) {
		if (ffs_parse_u64(value, &v) || v > 1)
			return -EINVAL;
		m->mb_optimize_scan = v ? 1 : -1;
		return 0;
	}
	if (!strcmp(name, "stripe")) {
		if (ffs_parse_u64(value, &v) || v > UINT32_MAX)
			return -EINVAL;
		m->stripe = (u32)v;
		return 0;
	}
	return -ENOENT;
}

static bool parse_word(const char *name, struct foliofs_mount *m)
{
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		if (!strcmp(name, flags[i].name)) {
			*(bool *)((char *)m + flags[i].field) = flags[i].value;
			return true;
		}
	}
	if (!strcmp(name, "relatime") || !strcmp(name, "atime") || !strcmp(name, "nostrictatime"))
		m->atime = FOLIOFS_ATIME_RELATIME;
	else if (!strcmp(name, "noatime"))
		m->atime = FOLIOFS_ATIME_NOATIME;
	else if (!strcmp(name, "strictatime") || !strcmp(name, "norelatime"))
		m->atime = FOLIOFS_ATIME_STRICTATIME;
	else
		return false;
	return true;
}

/* @name, or its part up to and with '=' of @len bytes, is one of ignored[]. */
static bool is_ignored(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
		if (!strcmp(ignored[i], name) ||
		    (len && strlen(ignored[i]) == len && !strncmp(ignored[i], name, len)))
			return true;
	return false;
}

/* One option, @word is changed. */
static int parse_one(char *word, struct foliofs_mount *m, char *err, size_t errlen)
{
	char *eq = strchr(word, '=');
	int ret = -ENOENT;

	if (is_ignored(word, eq ? (size_t)(eq + 1 - word) : 0))
		return 0;
	if (!strcmp(word, "ro") || !strcmp(word, "dax") || !strcmp(word, "dax=always") ||
	    !strcmp(word, "remount"))
		return refuse("mount option '%s' is not modelled", word);
	if (eq) {
		*eq = 0;
		ret = parse_value(word, eq + 1, m);
	} else if (parse_word(word, m)) {
		ret = 0;
	}
	if (ret == -ENOENT)
		return refuse("unknown mount option '%s'", word);
	if (ret)
		return refuse("mount option '%s': invalid value '%s'", word, eq + 1);
	return 0;
}

int foliofs_mount_parse(const char *options, struct foliofs_geometry *g, char *err, size_t errlen)
{
	struct foliofs_mount m = { .commit_interval = 5 };
	size_t len = strlen(options) + 1;
	char *copy = ffs_zalloc(len), *save = NULL;
	int ret = 0;

	memcpy(copy, options, len);
	for (char *word = strtok_r(copy, ",", &save); word && !ret;
	     word = strtok_r(NULL, ",", &save))
		ret = parse_one(word, &m, err, errlen);
	free(copy);
	if (!ret)
		g->mount = m;
	return ret;
}

/* ext4_get_stripe_size and ext4_is_stripe_incompatible */
uint32_t foliofs_stripe(const struct foliofs_geometry *g)
{
	u32 stripe = 0;

	if (g->mount.stripe && g->mount.stripe <= g->blocks_per_group)
		stripe = g->mount.stripe;
	else if (g->raid_stripe_width && g->raid_stripe_width <= g->blocks_per_group)
		stripe = g->raid_stripe_width;
	else if (g->raid_stride <= g->blocks_per_group)
		stripe = g->raid_stride;
	return stripe <= 1 || stripe % g->cluster_ratio ? 0 : stripe;
}
