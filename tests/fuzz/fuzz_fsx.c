// SPDX-License-Identifier: MIT
/* Operation logs of fsx. */
#define _GNU_SOURCE
#include "trace_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_trace(TRACE_FSX, data, size);
}
