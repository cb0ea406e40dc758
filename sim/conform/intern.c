// SPDX-License-Identifier: MIT
/* Strings as numbers: see intern.h. */
#include "intern.h"

#include <stdlib.h>
#include <string.h>

/* Eight bytes at a step; only has to spread well, it is not kept. */
static uint64_t hash_of(const char *s, size_t len)
{
	uint64_t h = 0x9e3779b97f4a7c15u ^ len, w;

	for (; len >= 8; s += 8, len -= 8) {
		memcpy(&w, s, 8);
		h = (h ^ w) * 0xff51afd7ed558ccdu;
		h ^= h >> 32;
	}
	w = 0;
	memcpy(&w, s, len);
	h = (h ^ w) * 0xc4ceb9fe1a85ec53u;
	return h ^ (h >> 29);
}

static void *grow(void *p, size_t size)
{
	p = realloc(p, size);
	if (!p)
		abort();
	return p;
}

static void rehash(struct intern *t)
{
	struct intern_entry *old = t->slots;
	uint32_t i, k, n = t->room;

	t->room = n ? n * 2 : 1024;
	t->slots = calloc(t->room, sizeof(*t->slots));
	if (!t->slots)
		abort();
	for (i = 0; i < n; i++) {
		if (!old[i].id)
			continue;
		for (k = (uint32_t)old[i].hash & (t->room - 1); t->slots[k].id;)
			k = (k + 1) & (t->room - 1);
		t->slots[k] = old[i];
	}
	free(old);
}

uint32_t intern(struct intern *t, const char *s, size_t len)
{
	uint64_t h = hash_of(s, len);
	struct intern_entry *e;
	uint32_t k;

	if (t->nr * 2 >= t->room)
		rehash(t);
	for (k = (uint32_t)h & (t->room - 1);; k = (k + 1) & (t->room - 1)) {
		e = &t->slots[k];
		if (!e->id)
			break;
		if (e->hash == h && e->len == len && !memcmp(t->arena + e->at, s, len))
			return e->id - 1;
	}
	if (t->used + len > t->size) {
		t->size = (t->size + len) * 2 + 4096;
		t->arena = grow(t->arena, t->size);
	}
	memcpy(t->arena + t->used, s, len);
	*e = (struct intern_entry){ h, t->used, (uint32_t)len, ++t->nr };
	t->used += len;
	return e->id - 1;
}

void intern_free(struct intern *t)
{
	free(t->slots);
	free(t->arena);
	memset(t, 0, sizeof(*t));
}
