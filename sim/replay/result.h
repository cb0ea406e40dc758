/* SPDX-License-Identifier: MIT */
/* One trace on one kernel: what came of it. */
#ifndef REPLAY_RESULT_H
#define REPLAY_RESULT_H

#include <foliofs/rules.h>

#include "out/report.h"
#include "out/stats.h"
#include "player.h"
#include "setup.h"

/* What is wanted beside the result; NULL and 0: not. */
struct replay_outputs {
	const char *events; /* file, "-": standard output */
	const char *capture; /* folder */
	uint32_t until; /* last operation */
	uint32_t show; /* print the state around this operation */
	uint32_t crash_after; /* cut the power behind this operation, print what is left */
};

struct replay_result {
	struct foliofs_kernel kernel;
	struct stats stats;
	struct player player;
	struct foliofs_broken broken[FOLIOFS_RULE_COUNT]; /* the first of each rule */
	size_t nr_rules;
	uint64_t times[FOLIOFS_RULE_COUNT]; /* how often each of them */
	uint64_t nr_broken; /* all in all */
	int journal_error; /* the journal is aborted: negative errno */
};

/*
 * Replay @s under @k.  0; -EINVAL: input refused (exit 3); another negative errno: output
 * failed (exit 4); with a message.  @r is big: static or allocated.
 */
int replay_run(const struct replay_setup *s, const struct foliofs_kernel *k,
	       const struct replay_outputs *out, struct replay_result *r, char *err,
	       size_t errlen);
/* The same in steps: replay_begin(), r->player played, replay_add_rules(), replay_end(). */
int replay_begin(const struct replay_setup *s, const struct foliofs_kernel *k,
		 bool crash_states, struct replay_result *r, char *err, size_t errlen);
void replay_end(struct replay_result *r);
/* Rules that @fs broke, added to @r. */
void replay_add_rules(struct replay_result *r, const struct foliofs_fs *fs);
/* The verdict for people; @again: command that shows an operation, without its number. */
void replay_print(FILE *f, const struct replay_setup *s, const struct replay_result *r,
		  const char *again);
/* Fill a report: verdict, geometry, notes.  report_free() by the caller. */
void replay_report(struct report *rep, const struct replay_setup *s,
		   const struct replay_result *r);
/* The trace, the file system, without the kernel: first lines of a verdict. */
void replay_print_input(FILE *f, const struct replay_setup *s);
/* What the trace left open: assumptions, calls not modelled, notes. */
void replay_print_trace(FILE *f, const struct trace *t);
/* Text of operation @id of the trace; "" if there is none. */
const char *replay_op_text(const struct replay_setup *s, uint32_t id);
/* "ENOENT", or "errno N". */
const char *replay_errno(int negative, char buf[24]);

#endif
