/* SPDX-License-Identifier: MIT */
/* The targets of the trace formats: what holds of every trace that is accepted. */
#ifndef TESTS_FUZZ_TRACE_INPUT_H
#define TESTS_FUZZ_TRACE_INPUT_H

#include "fuzz.h"

#include "trace/trace.h"

bool fuzz_accepted;

static inline int fuzz_trace(enum trace_format format, const uint8_t *data, size_t size)
{
	struct trace_options opt = { .format = format };
	char err[512];
	struct trace t;
	int fd, ret;

	ret = trace_load(fuzz_file(data, size, &fd), &opt, &t, err, sizeof(err));
	close(fd);
	fuzz_accepted = !ret;
	if (ret) {
		fuzz_check(ret < 0 && err[0]);
		return 0;
	}
	fuzz_check(t.v.nr > 0);
	for (uint32_t i = 0; i < t.v.nr; i++) {
		/* a player has one open file for each slot */
		fuzz_check(t.v.ops[i].file < (int64_t)t.nr_slots);
		fuzz_check(t.v.ops[i].file2 < (int64_t)t.nr_slots);
		/* and the model's time does not go back */
		fuzz_check(!i || t.v.ops[i].time_ns >= t.v.ops[i - 1].time_ns);
	}
	trace_free(&t);
	return 0;
}

#endif
