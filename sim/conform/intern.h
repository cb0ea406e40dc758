/* SPDX-License-Identifier: MIT */
/*
 * Strings as numbers: equal strings have the same number, counted from 0.
 */
#ifndef CONFORM_INTERN_H
#define CONFORM_INTERN_H

#include "text.h"

struct intern {
	struct intern_entry {
		uint64_t hash;
		size_t at; /* in arena */
		uint32_t len, id; /* id: plus 1, 0 for an empty slot */
	} *slots;
	uint32_t nr, room;
	char *arena;
	size_t used, size;
};

uint32_t intern(struct intern *t, const char *s, size_t len);
void intern_free(struct intern *t);

#endif
