// SPDX-License-Identifier: MIT
/* Scenarios: what is accepted has said why; what is refused has a place. */
#define _GNU_SOURCE
#include "fuzz.h"

#include "scenario/scenario.h"

bool fuzz_accepted;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_string(data, size);
	unsigned int line, col;
	struct place_error err;
	struct scenario *s;
	int ret = scenario_load_text("t", text, size, &s, &err);

	fuzz_accepted = !ret;
	if (ret) {
		fuzz_check(ret < 0 && !s);
		fuzz_check(sscanf(err.text, "t:%u:%u: ", &line, &col) == 2 && line && col);
	} else {
		fuzz_check(s->why && (s->source || s->fixed_by));
		fuzz_check(s->setup.nr_kernels || s->variants);
		scenario_free(s);
	}
	free(text);
	return 0;
}
