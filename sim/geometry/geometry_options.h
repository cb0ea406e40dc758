/* SPDX-License-Identifier: MIT */
/*
 * The command line options that every command has to say what the file system is:
 *
 *	--image IMG | --meta FILE | --mkfs "size=20G -b 1024 -J size=1"
 *	--mount OPTIONS		added to those that the image or meta.yaml gives
 *	--page-size 4k|16k|64k
 */
#ifndef GEOMETRY_OPTIONS_H
#define GEOMETRY_OPTIONS_H

#include <getopt.h>
#include <foliofs/mkfs.h>

enum {
	GEOMETRY_OPT_IMAGE = 0x4700,
	GEOMETRY_OPT_META,
	GEOMETRY_OPT_MKFS,
	GEOMETRY_OPT_MOUNT,
	GEOMETRY_OPT_PAGE_SIZE,
};

/* Entries for the table of getopt_long(). */
#define GEOMETRY_LONG_OPTIONS                                                                      \
	{ "image", required_argument, NULL, GEOMETRY_OPT_IMAGE },                                  \
	{ "meta", required_argument, NULL, GEOMETRY_OPT_META },                                    \
	{ "mkfs", required_argument, NULL, GEOMETRY_OPT_MKFS },                                    \
	{ "mount", required_argument, NULL, GEOMETRY_OPT_MOUNT },                                  \
	{ "page-size", required_argument, NULL, GEOMETRY_OPT_PAGE_SIZE }

/* Lines for the help text of a command. */
#define GEOMETRY_USAGE                                                                             \
	"  --image IMG          file system of an image or block device (only read)\n"            \
	"  --meta FILE          file system of a capture's meta.yaml (-: standard input)\n"       \
	"  --mkfs OPTIONS       file system that mke2fs makes: \"size=20G -b 1024 -J size=1\"\n"  \
	"  --mount OPTIONS      mount options, added to what the source gives\n"                  \
	"  --page-size SIZE     page size of the machine: 4k, 16k or 64k\n"

/* Begin with { 0 }. */
struct geometry_args {
	const char *image, *meta, *mkfs, *mount; /* as given, NULL if not */
	uint32_t page_size; /* 0: not given */
	char kernel[96]; /* after geometry_load(): kernel of the meta.yaml, else "" */
	char kernel_note[192]; /* and what it says of that kernel */
	char error[160]; /* message of a refused option */
};

/*
 * Take option @opt of getopt_long() with argument @arg.  Returns 0; 1 if it is none
 * of ours; -EINVAL with a message in @a->error (a usage error: exit 2).
 */
int geometry_option(struct geometry_args *a, int opt, const char *arg);
/* True if one of --image, --meta and --mkfs was given. */
bool geometry_given(const struct geometry_args *a);
/* Read the geometry: 0, or a negative errno with a message in @err (exit 3). */
int geometry_load(struct geometry_args *a, struct foliofs_geometry *g, char *err, size_t n);

#endif
