/* SPDX-License-Identifier: MIT */
/*
 * Copies of this process that go on in their own way from where it stands: what is
 * tried at one place of a long run costs the rest of the run, not all of it.
 */
#ifndef SCENARIO_CHILDREN_H
#define SCENARIO_CHILDREN_H

#include <stddef.h>
#include <stdio.h>

#define CHILDREN_MAX 8

struct child {
	int fd; /* what it says */
	int pid;
	unsigned int kind, nth;
};

struct children {
	/* What a child has said when it is over, in the order in which they were started. */
	void (*said)(void *priv, const struct child *c, const char *text, size_t len, int status);
	void *priv;
	struct child running[CHILDREN_MAX];
	unsigned int nr, max;
};

void children_init(struct children *c,
		   void (*said)(void *priv, const struct child *c, const char *text, size_t len,
				int status), void *priv);
/*
 * In the child, which has to end with children_end(): *@out is where it says what it has
 * found.  In the process that goes on: *@out is NULL.  Negative errno: there is no child.
 */
int children_start(struct children *c, unsigned int kind, unsigned int nth, FILE **out);
__attribute__((noreturn)) void children_end(FILE *out);
/* Wait for all. */
void children_wait(struct children *c);

#endif
