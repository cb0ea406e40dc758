/* SPDX-License-Identifier: MIT */
/*
 * One trace under several kernels, operation by operation on all of them, so that the first
 * event in which two differ is found without keeping events.
 */
#ifndef REPLAY_COMPARE_H
#define REPLAY_COMPARE_H

#include "compare_files.h"
#include "result.h"

struct compare_side {
	struct replay_result result;
	struct compare_files end, cut; /* behind the last operation; and a power cut there */
	struct foliofs_sink sink;
	FILE *f; /* events of the operation, into memory */
	char *text;
	size_t len;
	/* first difference from side 0: */
	bool differs;
	uint32_t op;
	char *first, *own; /* the events; NULL: none there */
};

struct compare {
	const struct replay_setup *setup;
	struct compare_side *side;
	int nr;
};

/* 0; -EINVAL: input refused (exit 3); another negative errno (exit 4); with a message. */
int compare_run(struct compare *c, const struct replay_setup *s, const struct foliofs_kernel *k,
		int nr, char *err, size_t errlen);
void compare_free(struct compare *c);
/* Table, differences, rules.  @again: as for replay_print(), without kernel. */
void compare_print(FILE *f, const struct compare *c, const char *again);
/* Results and first differences as JSON.  0, or a negative errno. */
int compare_json(FILE *f, const struct compare *c);
/* True if a rule is broken or two kernels differ. */
bool compare_found(const struct compare *c);
/* The report: that of the first kernel that breaks a rule, else of the last; all in notes. */
void compare_report(struct report *rep, const struct compare *c);

#endif
