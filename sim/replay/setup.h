/* SPDX-License-Identifier: MIT */
/*
 * What is replayed and on what: the options that foliosim replay and compare share, the trace
 * they name, and a file system made by them for each kernel.
 */
#ifndef REPLAY_SETUP_H
#define REPLAY_SETUP_H

#include <foliofs/fs.h>

#include "geometry/geometry_options.h"
#include "kernels.h"
#include "trace/trace.h"

#define REPLAY_KERNELS 12
#define REPLAY_DEFAULT_MKFS "size=20G"
/* Source of the bytes of files that were there before the trace. */
#define REPLAY_OLD_DATA 16000u

enum {
	REPLAY_OPT_KERNEL = 0x5200, REPLAY_OPT_WITH, REPLAY_OPT_WITHOUT, REPLAY_OPT_ROOT,
	REPLAY_OPT_CWD, REPLAY_OPT_FORMAT, REPLAY_OPT_MMAP_DIRTY, REPLAY_OPT_PREPARE,
	REPLAY_OPT_FREE_SPACE, REPLAY_OPT_ALLOC, REPLAY_OPT_ONLY,
};

#define REPLAY_LONG_OPTIONS                                                                        \
	GEOMETRY_LONG_OPTIONS,                                                                     \
	{ "kernel", required_argument, NULL, REPLAY_OPT_KERNEL },                                  \
	{ "with", required_argument, NULL, REPLAY_OPT_WITH },                                      \
	{ "without", required_argument, NULL, REPLAY_OPT_WITHOUT },                                \
	{ "root", required_argument, NULL, REPLAY_OPT_ROOT },                                      \
	{ "cwd", required_argument, NULL, REPLAY_OPT_CWD },                                        \
	{ "format", required_argument, NULL, REPLAY_OPT_FORMAT },                                  \
	{ "mmap-dirty", no_argument, NULL, REPLAY_OPT_MMAP_DIRTY },                                \
	{ "prepare", required_argument, NULL, REPLAY_OPT_PREPARE },                                \
	{ "free-space", required_argument, NULL, REPLAY_OPT_FREE_SPACE },                          \
	{ "alloc", required_argument, NULL, REPLAY_OPT_ALLOC },                                    \
	{ "only", required_argument, NULL, REPLAY_OPT_ONLY }

#define REPLAY_USAGE                                                                               \
	GEOMETRY_USAGE                                                                             \
	"                       (none of these: --mkfs \"" REPLAY_DEFAULT_MKFS "\")\n"             \
	"  --with CHANGE        with this change (may be repeated)\n"                              \
	"  --without CHANGE     without this change (may be repeated)\n"                           \
	"  --root DIR           directory of the trace that is the root of the file system\n"      \
	"  --cwd DIR            working directory of the program at its beginning\n"               \
	"  --format F           oplist, strace, iolog or fsx (default: as the file looks)\n"       \
	"  --mmap-dirty         take shared writable maps as stored to at msync and munmap\n"      \
	"  --prepare OPS        op list that is run before, without events\n"                      \
	"  --free-space P       what is left free: \"one block per group\", per_group=LEN,at=N\n"  \
	"                       or first=N,len=N,stride=N[,count=N]; several with ;\n"             \
	"  --alloc kernel|worst where blocks are placed: as ext4 does, or each in a new group\n"      \
	"  --only N,N-N,...     only these operations of the trace\n"

struct replay_args {
	struct geometry_args geometry;
	struct trace_options trace;
	const char *kernels; /* NULL: not given */
	const char *prepare, *free_space;
	enum foliofs_alloc_policy alloc;
	const char *only; /* numbers of operations; NULL: all */
	bool old_blocks; /* the device was in use before */
	struct kernel_changes changes; /* of --with and --without */
	char again[4096]; /* the options as a command line: to show a finding again */
	char error[320]; /* message of a refused option */
};

struct replay_setup {
	const struct replay_args *args;
	const char *path;
	struct trace trace, prepare;
	bool have_prepare, default_geometry;
	bool has_crash; /* the trace has power cuts */
	struct foliofs_geometry geometry;
};

/* Take an option: 0; 1 if it is none of these; -EINVAL with @a->error (exit 2). */
int replay_option(struct replay_args *a, int opt, const char *arg);
/* The number of a @what ("operation") behind option @name, from 1: 0, or -EINVAL as above. */
int replay_number(struct replay_args *a, const char *name, const char *what, const char *arg,
		  uint32_t *v);
/* Append " NAME 'VALUE'" to @a->again; either may be missing ("", NULL). */
void replay_again(struct replay_args *a, const char *name, const char *value);
/* Read the geometry alone: 0, or a negative errno with a message (exit 3). */
int replay_geometry(struct replay_args *a, struct replay_setup *s, char *err, size_t errlen);
/*
 * Read geometry, trace and prepare operations: 0, or a negative errno with a message (exit 3).
 * replay_setup_free() only after success.
 */
int replay_load(struct replay_args *a, const char *path, struct replay_setup *s, char *err,
		size_t errlen);
void replay_setup_free(struct replay_setup *s);
/*
 * The kernels of the command line with their changes; without --kernel that of the meta.yaml,
 * else those of @by_default.  Their number, or -EINVAL with a message (exit 2).
 */
int replay_kernels(const struct replay_args *a, const char *by_default, struct foliofs_kernel *k,
		   char *err, size_t errlen);
/*
 * A file system under @k with everything before the trace done, rules on.
 * *@base_ns: to be added to the times of the trace.  0, or a negative errno with a message
 * (exit 3).
 */
int replay_start(const struct replay_setup *s, const struct foliofs_kernel *k,
		 bool crash_states, struct foliofs_fs **fs, uint64_t *base_ns, char *err,
		 size_t errlen);

#endif
