/* SPDX-License-Identifier: MIT */
/*
 * Capture writer: a simulated run as a capture folder, in the formats of the
 * captures of real kernels, so that the same tools read both:
 *
 *	events.txt (.gz if large)  meta.yaml  ops.txt  results.txt
 *	state.yaml  crash-NAME.yaml
 *
 *	capture_open(&c, dir, fs, &options, err, sizeof(err));
 *	foliofs_fs_add_sink(fs, capture_sink(c));
 *	for each operation:
 *		capture_op(c, id, text, time);
 *		result = foliofs_fs_run(fs, op);		(a crash: capture_crash())
 *		capture_result(c, id, result, text);
 *	capture_close(c);
 *
 * States are taken as the captures of kernels take them: files as they are after
 * the last operation, before anything is closed or synced; then again after
 * syncfs; the trees after unmount.  So capture_close() ends the file system's use.
 */
#ifndef OUT_CAPTURE_H
#define OUT_CAPTURE_H

#include <foliofs/fs.h>

struct capture;

/* Strings must live as long as the capture. */
struct capture_options {
	const char *name, *desc; /* for meta.yaml; NULL: not given */
	const char *mkfs, *mount; /* options as given, for meta.yaml */
	const char *dev; /* as events print it; NULL: "7,40" */
	const char *skip_files; /* files left out of states, separated by blanks; NULL: "f g" */
	bool deep; /* files of all directories, not of the root alone */
	bool own; /* the model's own events too */
	bool plain; /* never compress events.txt */
	char *const *only; /* names of the events to write; NULL: all */
	size_t nr_only;
};

/*
 * Begin a capture of @fs in @dir (made if it is not there; files of an older
 * capture in it are overwritten).  0, or a negative errno and a message.
 */
int capture_open(struct capture **out, const char *dir, struct foliofs_fs *fs,
		 const struct capture_options *opt, char *err, size_t errlen);
const struct foliofs_sink *capture_sink(struct capture *c);
/* Operation @id ran before: its bytes may be in the files. */
void capture_prepared(struct capture *c, uint32_t id, const char *text);
/* Operation @id begins: marker in the events, line in ops.txt. */
void capture_op(struct capture *c, uint32_t id, const char *text, uint64_t time_ns);
/* Its result: line in results.txt. */
void capture_result(struct capture *c, uint32_t id, int64_t result);
/* crash-NAME.yaml: the files after a power cut now and recovery. 0, or a negative errno. */
int capture_crash(struct capture *c, const char *name);
/*
 * State, syncfs, unmount, the remaining files; @c is freed.
 * 0, or a negative errno and a message.
 */
int capture_close(struct capture *c, char *err, size_t errlen);

#endif
