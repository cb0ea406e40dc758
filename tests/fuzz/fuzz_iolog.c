// SPDX-License-Identifier: MIT
/* Logs of fio. */
#define _GNU_SOURCE
#include "trace_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_trace(TRACE_IOLOG, data, size);
}
