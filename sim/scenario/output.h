/* SPDX-License-Identifier: MIT */
/*
 * What is said about the results of scenarios, in four forms.
 */
#ifndef SCENARIO_OUTPUT_H
#define SCENARIO_OUTPUT_H

#include <stdio.h>

#include "scenario/scenario.h"

/* For people: a line for each case, the details of failures, a sum. */
void output_verdict(FILE *f, const struct case_result *r, unsigned int scenarios);
/* Test Anything Protocol, version 14, failures as diagnostics. */
void output_tap(FILE *f, const struct case_result *r);
/* JUnit XML: one test suite, a test case for each case. */
void output_junit(FILE *f, const struct case_result *r);
/* JSON: {"cases": [...], "failed": N}.  -ENOMEM if it cannot be built. */
int output_json(FILE *f, const struct case_result *r);

/* Number of cases and of those with failures. */
void output_count(const struct case_result *r, unsigned int *cases, unsigned int *failed);
/* The command that shows a case again; allocated. */
char *output_again(const struct case_result *r);

#endif
