// SPDX-License-Identifier: MIT
/* Op lists. */
#define _GNU_SOURCE
#include "trace_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_trace(TRACE_OPLIST, data, size);
}
