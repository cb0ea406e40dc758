// SPDX-License-Identifier: MIT
/* Traces of kernels: lines, their events with fields, and what of them counts in a comparison. */
#define _GNU_SOURCE
#include "fuzz.h"

#include "conform/event_read.h"
#include "conform/family.h"

bool fuzz_accepted;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text text = { .data = fuzz_string(data, size), .len = size };
	struct trace_cursor at = { .text = &text };
	struct conform_base base = { 0 };
	char strings[512], normal[1024];
	struct trace_line line;
	struct foliofs_event ev;
	uint32_t before = 0;

	fuzz_accepted = true;
	while (trace_text_next(&at, &line)) {
		enum conform_family_id family = conform_event_family(line.event);

		fuzz_check(line.number > before);
		before = line.number;
		if (line.marker || line.lost)
			continue;
		if (event_read(&line, 1, &ev, strings))
			fuzz_accepted = false;
		else
			fuzz_check(ev.id < FOLIOFS_EV_COUNT);
		if (family != CONFORM_FAMILY_COUNT)
			fuzz_check(conform_normal(&line, family, &base, normal,
						  sizeof(normal)) <= sizeof(normal));
	}
	free(text.data);
	return 0;
}
