/* SPDX-License-Identifier: MIT */
/*
 * Facts of a state.yaml or crash-NAME.yaml, of layout.txt and results.txt: what
 * two captures must agree on about their files and operations.
 */
#ifndef CONFORM_FACTS_H
#define CONFORM_FACTS_H

#include "family.h"
#include "intern.h"

struct fact {
	enum conform_family_id family;
	uint32_t id; /* of its text, in the table given */
	char *text; /* "FILE SECTION VALUES" */
};

struct facts {
	struct fact *v;
	size_t nr, room;
	bool present; /* the file was there */
};

/* Read DIR/@name (state.yaml or crash-*.yaml).  0, or a negative errno; no file: not present. */
int facts_read(struct facts *f, struct intern *table, const char *dir, const char *name);
/* Read DIR/layout.txt: the folios after each operation. */
int facts_read_layout(struct facts *f, struct intern *table, const char *dir);
/* Read DIR/results.txt: what each operation returned. */
int facts_read_results(struct facts *f, struct intern *table, const char *dir);
void facts_free(struct facts *f);

#endif
