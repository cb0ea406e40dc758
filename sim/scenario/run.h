/* SPDX-License-Identifier: MIT */
/*
 * One case while it runs, and the checks of its expectations.
 */
#ifndef SCENARIO_RUN_H
#define SCENARIO_RUN_H

#include "scenario/record.h"
#include "scenario/scenario.h"

struct run {
	const struct scenario *s;
	const struct setup *setup;
	const struct expect *expect[2]; /* for all kernels, for this one; NULL: none */
	struct foliofs_kernel kernel;
	struct foliofs_geometry geometry;
	struct foliofs_fs *fs; /* NULL: a scenario without operations */
	struct event_log events;
	uint32_t op; /* operation that runs, not one of a stop */
	uint32_t *at_seen; /* [nr_at] how often its stop was met */
	uint8_t *at_done;
	bool injecting; /* for --inject: power cuts can be asked for */
	struct case_result *result;
	bool outcome_only; /* failures are not looked into */
	uint32_t nr_failed; /* operations that returned an error */
	uint32_t first_failed; /* the first of them */
	int first_error; /* its error, positive */
	uint8_t broken[FOLIOFS_RULE_COUNT]; /* rules, those after crashes too */
	char broken_text[FOLIOFS_RULE_COUNT][260]; /* the first of each */
};

/* Run the case: everything in @r up to kernel is set; @log: verbose output, or NULL. */
void run_case(struct run *r, FILE *log);
/* Its steps: geometry, file system with what is prepared, one operation (*@i moves), the end. */
int run_geometry(struct run *r, char *err, size_t len);
int run_start(struct run *r);
int64_t run_op(struct run *r, size_t *i);
void run_end(struct run *r);
/* One operation of @line, without its checks: the result. */
int64_t run_one(struct run *r, const struct scenario_line *line, const struct foliofs_op *op);

/* at.c: operations at stops; at the end: were they all met? */
int at_start(struct run *r);
void at_check(struct run *r);
void at_free(struct run *r);
/*
 * inject.c: a case for each kind of failure in @o->inject, instead of that of @proto.
 * false: it has no operations, failures of its own, or a change taken away.
 */
bool inject_all(struct run *proto, const struct run_options *o, struct case_result ***tail);
/*
 * Note a failure: @expected and @got are allocated texts (NULL: out of memory)
 * and belong to the failure.
 */
void run_fail(struct run *r, uint32_t op, const struct node *at, char *expected, char *got);
/* Allocated text. */
char *text_of(const char *format, ...) __attribute__((format(printf, 1, 2)));

void check_events(struct run *r, const struct expect *e, struct op_range scope);
/* Kinds of events that @e needs. */
void check_events_want(struct run *r, const struct expect *e);
void check_states(struct run *r, struct foliofs_fs *fs, const struct expect_state *states,
		  uint32_t op);
void check_credits(struct run *r, const struct expect *e);
void check_result(struct run *r, const struct scenario_line *line, uint32_t op, int64_t result);
/* Collect the rules that @fs has broken, then compare with those expected. */
void collect_rules(struct run *r, const struct foliofs_fs *fs);
void check_rules(struct run *r);

/* Every file of @fs and the journal, for verdicts; allocated. */
char *state_text(struct foliofs_fs *fs);
/* Text forms of extents and folios; @physical, @flags: with what expectations may leave out. */
char *extents_text(struct foliofs_fs *fs, uint32_t ino, bool physical);
char *folios_text(struct foliofs_fs *fs, uint32_t ino, bool flags);

#endif
