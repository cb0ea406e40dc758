/* SPDX-License-Identifier: MIT */
/*
 * Power cuts in the middle of a replay: at every event behind which a cut would
 * leave something new, or at one event by its number.
 *
 * Events are counted from 1 from the first of the trace, those of the model's own
 * (foliofs_*) included.  Power cuts suppose that the device was in use before, so
 * that a block that was allocated and not written shows.
 */
#ifndef REPLAY_CRASH_EVERY_H
#define REPLAY_CRASH_EVERY_H

#include <stdio.h>

#include <foliofs/rules.h>

#include "setup.h"

struct crash_request {
	bool every;
	uint32_t at; /* event, 0: none */
};

/*
 * Replay @s under @k and try the power cuts of @q; the verdict goes to @f.  For each
 * rule that breaks the operations are reduced to those that are needed.
 * 0 clean, 1 a rule is broken, -EINVAL input refused (exit 3), other errors; with a
 * message.
 */
int crash_run(const struct replay_setup *s, const struct foliofs_kernel *k,
	      const struct crash_request *q, FILE *f, char *err, size_t errlen);

#endif
