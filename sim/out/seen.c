// SPDX-License-Identifier: MIT
/* The content of files as the bytes tell it: see seen.h. */
#include "seen.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define WORD 8u
#define PREPARED 16001u /* operations from here on ran before the others */

/* Where an operation may have written. */
struct writer {
	uint32_t op;
	char *name;
	uint64_t off, end, stride; /* [off, end), one byte each stride if not 1 */
	bool anywhere;
};

/* A collapse or an insert. */
struct shift {
	uint32_t op;
	char *name;
	int64_t off, len;
	bool insert;
};

struct seen {
	struct writer *writers;
	struct shift *shifts;
	size_t nr_writers, nr_shifts;
};

/* A source: bytes of @op, each written at its place + @delta. */
struct source {
	bool there;
	uint32_t op;
	int64_t delta;
};

static void *more(void *p, size_t nr, size_t size)
{
	if (nr & (nr - 1))
		return p;
	p = realloc(p, (nr ? 2 * nr : 1) * size);
	if (!p)
		abort();
	return p;
}

struct seen *seen_new(void)
{
	struct seen *s = calloc(1, sizeof(*s));

	if (!s)
		abort();
	return s;
}

void seen_free(struct seen *s)
{
	size_t i;

	for (i = 0; i < s->nr_writers; i++)
		free(s->writers[i].name);
	for (i = 0; i < s->nr_shifts; i++)
		free(s->shifts[i].name);
	free(s->writers);
	free(s->shifts);
	free(s);
}

/* Size with a suffix of the word at *@p, which moves behind it. */
static uint64_t number(const char **p)
{
	char *end;
	uint64_t v;

	while (isspace((unsigned char)**p))
		++*p;
	v = strtoull(*p, &end, 0);
	switch (toupper((unsigned char)*end)) {
	case 'G':
		v <<= 10; /* fall through */
	case 'M':
		v <<= 10; /* fall through */
	case 'K':
		v <<= 10;
		end++;
	}
	*p = end;
	return v;
}

/* The word at *@p has this text; then *@p moves behind it. */
static bool word_is(const char **p, const char *text)
{
	size_t n = strlen(text);

	if (strncmp(*p, text, n) || (*p)[n] != ' ')
		return false;
	*p += n + 1;
	return true;
}

static char *name(const char **p)
{
	size_t n = strcspn(*p, " ");
	char *s = strndup(*p, n);

	if (!s)
		abort();
	*p += n + ((*p)[n] == ' ');
	return s;
}

static void add_shift(struct seen *s, uint32_t id, const char *p)
{
	struct shift x = { .op = id, .name = name(&p) };

	x.insert = word_is(&p, "insert");
	if (!x.insert && !word_is(&p, "collapse")) {
		free(x.name);
		return;
	}
	x.off = (int64_t)number(&p);
	x.len = (int64_t)number(&p);
	s->shifts = more(s->shifts, s->nr_shifts, sizeof(*s->shifts));
	s->shifts[s->nr_shifts++] = x;
}

void seen_op(struct seen *s, uint32_t id, const char *text)
{
	struct writer w = { .op = id, .stride = 1 };
	const char *p = text;
	bool touch;

	if (word_is(&p, "fallocate")) {
		add_shift(s, id, p);
		return;
	}
	w.anywhere = word_is(&p, "append") || word_is(&p, "writeevery");
	touch = !w.anywhere && word_is(&p, "mtouch");
	if (!w.anywhere && !touch && !word_is(&p, "write") && !word_is(&p, "writebad") &&
	    !word_is(&p, "mwrite"))
		return;
	w.name = name(&p);
	if (!w.anywhere) {
		w.off = number(&p);
		w.end = w.off + number(&p);
	}
	if (touch)
		w.stride = number(&p);
	w.stride += !w.stride;
	s->writers = more(s->writers, s->nr_writers, sizeof(*s->writers));
	s->writers[s->nr_writers++] = w;
}

void seen_failed(struct seen *s, uint32_t id)
{
	if (s->nr_shifts && s->shifts[s->nr_shifts - 1].op == id)
		free(s->shifts[--s->nr_shifts].name);
}

/* An operation that nothing is known of may have written anything. */
static bool wrote(const struct seen *s, uint32_t op, int64_t off, uint64_t len)
{
	bool listed = false;
	size_t i;

	for (i = 0; off >= 0 && i < s->nr_writers; i++) {
		const struct writer *w = &s->writers[i];

		if (w->op != op)
			continue;
		listed = true;
		if (w->anywhere)
			return true;
		if ((uint64_t)off < w->off || (uint64_t)off + len > w->end)
			continue;
		if (len > 1 || !(((uint64_t)off - w->off) % w->stride))
			return true;
	}
	return off >= 0 && !listed;
}

static bool known(const struct seen *s, uint32_t op)
{
	size_t i;

	for (i = 0; i < s->nr_writers; i++)
		if (s->writers[i].op == op)
			return true;
	return false;
}

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

/* Does the shift come behind what @w wrote, in the same file? */
static bool shifts(const struct shift *x, const struct writer *w)
{
	return (x->op >= w->op || w->op >= PREPARED) && !strcmp(x->name, w->name);
}

/* Where the byte now at @at was when @w wrote it; -1: nowhere. */
static int64_t unmoved(const struct seen *s, const struct writer *w, int64_t at)
{
	size_t i;

	for (i = s->nr_shifts; i-- > 0;) {
		const struct shift *x = &s->shifts[i];

		if (!shifts(x, w) || at < x->off)
			continue;
		if (!x->insert)
			at += x->len;
		else if (at >= x->off + x->len)
			at -= x->len;
		else
			return -1;
	}
	return at;
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
	       wrote(l->seen, x->op, from, 1);
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
		int64_t from = unmoved(s, &s->writers[i], (int64_t)at);

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
	       wrote(s, c->source, from, WORD);
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
	if (!known(s, op) || !wrote(s, op, (int64_t)(w * WORD), WORD))
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
			    !wrote(s, word.op, (int64_t)at + word.delta, stop - at))
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
