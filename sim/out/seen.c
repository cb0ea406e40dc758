// SPDX-License-Identifier: MIT
/* The content of files as the bytes tell it: see seen.h. */
#include <stdlib.h>

#include "seen_ops.h"

#define WORD 8u

/* A source: bytes of @op, each written at its place + @delta. */
struct source {
	bool there;
	uint32_t op;
	int64_t delta;
};

/* The byte that @op writes at @off: see the data of captures. */
static uint8_t byte_of(uint32_t op, uint64_t off)
{
	uint64_t w = off >> 3;
	uint32_t x = (op * 37) & 0x7f;

	switch (off & 7) {
	case 0:
		return 0x80 | (op & 0x7f);
	case 1:
		return (uint8_t)(0x80 | (((op >> 7) & 0x7f) ^ x));
	case 7:
		return (uint8_t)(0x80 | ((op + 3 * (op >> 7) + w + 5 * (w >> 7) + 7 * (w >> 14) +
					  11 * (w >> 21) + 13 * (w >> 28) + 0x55) &
					 0x7f));
	default:
		return (uint8_t)(0x80 | (((w >> (7 * ((off & 7) - 2))) & 0x7f) ^ x));
	}
}

/* One word of a file. */
struct look {
	const struct seen *seen;
	struct file_state *out;
	struct source left; /* what the bytes before came from, as far as that is known */
};

static void emit(struct look *l, uint64_t at, uint64_t len, enum foliofs_source_kind kind,
		 uint32_t source, uint64_t from)
{
	file_state_add(l->out, &(struct foliofs_content){ .offset = at, .len = len, .kind = kind,
							  .source = source,
							  .source_offset = from });
}

static bool says(const struct look *l, const struct source *x, uint64_t at, uint8_t byte)
{
	int64_t from = (int64_t)at + x->delta;

	return x->there && from >= 0 && byte_of(x->op, (uint64_t)from) == byte &&
	       seen_wrote(l->seen, x->op, from, 1);
}

/* Who wrote the byte at @at: what stands beside it, else the newest who may have. */
static struct source find(const struct look *l, const struct source *here,
			  const struct source *right, uint64_t at, uint8_t byte)
{
	const struct source *beside[] = { here, &l->left, right };
	const struct seen *s = l->seen;
	size_t i, k;

	for (k = 0; k < 3; k++)
		if (says(l, beside[k], at, byte))
			return *beside[k];
	for (i = s->nr_writers; i-- > 0;) {
		for (k = 0; k < 3; k++) {
			struct source x = { true, s->writers[i].op, k ? beside[k]->delta : 0 };

			if ((!k || beside[k]->there) && says(l, &x, at, byte))
				return x;
		}
	}
	for (i = s->nr_writers; s->nr_shifts && i-- > 0;) {
		struct source x = { true, s->writers[i].op, 0 };
		int64_t from = seen_unmoved(s, &s->writers[i], (int64_t)at);

		x.delta = from - (int64_t)at;
		if (from >= 0 && says(l, &x, at, byte))
			return x;
	}
	return (struct source){ 0 };
}

/* Bytes of one source are whole words that can be read. */
static bool readable(const struct seen *s, const struct foliofs_content *c, uint64_t at)
{
	int64_t from = (int64_t)(c->source_offset + (at - c->offset));

	return (c->kind == FOLIOFS_SOURCE_OP || c->kind == FOLIOFS_SOURCE_STALE) && !(from & 7) &&
	       at >= c->offset && at + WORD <= c->offset + c->len &&
	       seen_wrote(s, c->source, from, WORD);
}

/* The byte at @at, which is not 0; false: it is, or is not known. */
static bool byte_at(const struct foliofs_content *c, uint64_t at, uint8_t *byte)
{
	if (c->kind != FOLIOFS_SOURCE_OP && c->kind != FOLIOFS_SOURCE_STALE)
		return false;
	*byte = byte_of(c->source, c->source_offset + (at - c->offset));
	return true;
}

/* The word at @at, in @c or behind it, as it is read - by chance bytes of two can make a word. */
static struct source read_word(const struct seen *s, const struct foliofs_content *c,
			       const struct foliofs_content *end, uint64_t at)
{
	uint64_t i, w = 0;
	uint8_t b[WORD];
	uint32_t op;

	while (c < end && c->offset + c->len <= at)
		c++;
	if (c < end && readable(s, c, at))
		return (struct source){ true, c->source, (int64_t)(c->source_offset - c->offset) };
	for (i = 0; i < WORD; i++) {
		while (c < end && c->offset + c->len <= at + i)
			c++;
		if (c == end || !byte_at(c, at + i, &b[i]))
			return (struct source){ 0 };
	}
	op = b[0] & 0x7f;
	op |= (uint32_t)((b[1] ^ (op * 37)) & 0x7f) << 7;
	for (i = 0; i < 5; i++)
		w |= (uint64_t)((b[2 + i] ^ (op * 37)) & 0x7f) << (7 * i);
	for (i = 0; i < WORD; i++)
		if (byte_of(op, w * WORD + i) != b[i])
			return (struct source){ 0 };
	if (!seen_known(s, op) || !seen_wrote(s, op, (int64_t)(w * WORD), WORD))
		return (struct source){ 0 };
	return (struct source){ true, op, (int64_t)(w * WORD - at) };
}

static void mixed(struct look *l, const struct foliofs_content *c,
		  const struct foliofs_content *end, uint64_t at, uint64_t len)
{
	struct source here = { 0 }, right = { 0 }, found;
	uint64_t i;

	if (len == WORD)
		right = read_word(l->seen, c, end, at + WORD);
	for (i = at; i < at + len; i++) {
		uint8_t byte;

		while (c->offset + c->len <= i)
			c++;
		if (!byte_at(c, i, &byte)) {
			emit(l, i, 1, c->kind, 0, 0);
			continue;
		}
		found = find(l, &here, &right, i, byte);
		if (!found.there) {
			emit(l, i, 1, FOLIOFS_SOURCE_UNKNOWN, SEEN_RAW + byte, 0);
			continue;
		}
		here = found;
		emit(l, i, 1, FOLIOFS_SOURCE_OP, found.op, i + (uint64_t)found.delta);
	}
	if (!right.there && here.there && len == WORD)
		l->left = here;
}

/* All bytes of the word at @at are zero. */
static bool zero(const struct foliofs_content *c, const struct foliofs_content *end, uint64_t stop)
{
	for (; c < end && c->offset < stop; c++)
		if (c->kind != FOLIOFS_SOURCE_ZERO && c->kind != FOLIOFS_SOURCE_HOLE)
			return false;
	return true;
}

static void see(const struct seen *s, struct file_state *f)
{
	struct foliofs_content *c = f->content, *end = c + f->nr_content, *all = c;
	struct look l = { .seen = s, .out = f };
	uint64_t at = 0, size = f->nr_content ? end[-1].offset + end[-1].len : 0;
	struct source word;

	f->content = NULL;
	f->nr_content = f->room_content = 0;
	while (at < size) {
		uint64_t len = size - at < WORD ? size - at : WORD, stop;

		while (c->offset + c->len <= at)
			c++;
		stop = (c->offset + c->len) & ~(uint64_t)(WORD - 1); /* of whole words of this run */
		if (zero(c, end, at + len)) {
			stop = stop > at ? stop : at + len;
			for (; at < stop; c += c->offset + c->len <= at) {
				uint64_t n = c->offset + c->len < stop ? c->offset + c->len : stop;

				emit(&l, at, n - at, c->kind, 0, 0);
				at = n;
			}
			l.left.there = false;
			continue;
		}
		word = len == WORD ? read_word(s, c, end, at) : (struct source){ 0 };
		if (word.there) {
			if (!readable(s, c, at) ||
			    !seen_wrote(s, word.op, (int64_t)at + word.delta, stop - at))
				stop = at + WORD;
			emit(&l, at, stop - at, FOLIOFS_SOURCE_OP, word.op,
			     at + (uint64_t)word.delta);
			l.left = word;
			at = stop;
		} else {
			mixed(&l, c, end, at, len);
			at += len;
		}
	}
	free(all);
}

void seen_files(const struct seen *s, struct file_states *files)
{
	size_t i;

	for (i = 0; i < files->nr && s->nr_writers; i++)
		if (files->v[i].nr_content)
			see(s, &files->v[i]);
}
