/* SPDX-License-Identifier: MIT */
/* One run of a scenario with a failure or without, and what is compared of it: see inject.c. */
#ifndef SCENARIO_INJECT_RUN_H
#define SCENARIO_INJECT_RUN_H

#include "scenario/run.h"

/* One run: results of the operations, what the files are like at the end. */
struct injected {
	int64_t *result; /* [nr] */
	uint32_t *id;
	uint64_t *asked; /* bytes */
	size_t nr;
	uint64_t digest;
	uint8_t broken[FOLIOFS_RULE_COUNT]; /* power cuts included */
	struct foliofs_broken first[FOLIOFS_RULE_COUNT];
	uint32_t seen[FOLIOFS_FAILURE_COUNT];
	size_t failed_at; /* operations before the one with the failure */
};

/*
 * Run all operations.  @ask: decides at each place whether it fails; NULL: never.  0 or a
 * negative errno of a run that did not start; injected_free() in either case.
 */
int injected_run(struct run *r, foliofs_failure_fn ask, void *priv, struct injected *out);
void injected_free(struct injected *out);

#endif
