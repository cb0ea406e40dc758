/* SPDX-License-Identifier: MIT */
/* A trace of a kernel that is no capture folder: what was done is replayed, then compared. */
#ifndef REPLAY_PLAIN_H
#define REPLAY_PLAIN_H

#include "conform/compare.h"
#include "setup.h"

struct plain_trace {
	struct replay_args args; /* geometry, kernel, preparation, format of @ops */
	const char *ops; /* op list, or another log of what was done */
	const char *trace; /* text of tracefs or trace-cmd, plain or gzip */
	const char *dev; /* "MAJOR,MINOR"; NULL: that of the meta.yaml, if it names one */
};

/*
 * Replay into folder @out, compare the trace with it.  0; -EINVAL: input refused; another
 * negative errno: output failed; with a message.  conform_free(@r) only after success.
 */
int plain_conform(struct plain_trace *p, const char *out, struct conform_result *r, char *err,
		  size_t errlen);

#endif
