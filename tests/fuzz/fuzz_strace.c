// SPDX-License-Identifier: MIT
/* Logs of strace, plain or gzipped. */
#define _GNU_SOURCE
#include "fuzz.h"

#include "trace/trace.h"

bool fuzz_accepted;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace_options opt = { .format = TRACE_STRACE };
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
	/* a player has one open file for each slot */
	for (uint32_t i = 0; i < t.v.nr; i++) {
		fuzz_check(t.v.ops[i].file < (int64_t)t.nr_slots);
		fuzz_check(t.v.ops[i].file2 < (int64_t)t.nr_slots);
	}
	trace_free(&t);
	return 0;
}
