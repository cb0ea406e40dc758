/* SPDX-License-Identifier: MIT */
/* Plays a list of operations on a file system, with who wants to know told. */
#ifndef REPLAY_PLAYER_H
#define REPLAY_PLAYER_H

#include "out/capture.h"
#include "out/recorder.h"
#include "trace/trace.h"

#define PLAYER_FAILURES 20

/* An operation that gave an error. */
struct player_failure {
	uint32_t id;
	const char *text; /* of the operations' owner */
	int error; /* negative errno */
	char why[160]; /* "" if it is the kernel's error; else why the model does not take it */
};

struct player {
	struct foliofs_fs *fs;
	const struct opvec *ops;
	struct capture *capture; /* NULL: none is written */
	struct recorder *recorder; /* NULL: no text of events */
	uint64_t base_ns; /* added to the times of the operations (after a preparation) */
	uint32_t until; /* stop behind the operation of this number; 0: play all */
	/* NULL, or called behind each operation with its result */
	void (*played_op)(void *priv, const struct foliofs_op *op, int64_t ret);
	void *priv;
	/* filled; all 0 at the beginning: */
	uint32_t next; /* operation to go on with: index in ops */
	uint64_t last_ns; /* when the last operation began */
	uint64_t played, failed; /* operations; those that gave an error */
	uint64_t refused; /* that the model does not take (foliofs_fs_error) */
	char first_refused[200];
	struct player_failure failure[PLAYER_FAILURES]; /* the first of them */
};

/*
 * Prepare operations: without events.  The file system is synced after them.
 * *end_ns: when they are over.  0, or -EINVAL with a message.
 */
int player_prepare(struct foliofs_fs *fs, const struct opvec *ops, uint64_t *end_ns, char *err,
		   size_t errlen);
/* Tell a capture, just opened, of the preparation that its files come from. */
void player_prepared(struct capture *c, const struct opvec *ops);
/*
 * Play from where the last call stopped: 0, or a negative errno of the output with a message.
 */
int player_run(struct player *p, char *err, size_t errlen);

#endif
