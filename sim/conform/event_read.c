// SPDX-License-Identifier: MIT
/* Lines of a trace back into events: see event_read.h. */
#define _GNU_SOURCE /* memmem */
#include "event_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STRINGS 512

struct form {
	const char *name;
	const char *format, *map;
	enum foliofs_event_id id;
};

static const struct form forms[] = {
#define FOLIOFS_EVENT(name, fields, format) { #name, format, NULL, FOLIOFS_EV_##name },
#include <foliofs/events.def>
#undef FOLIOFS_EVENT
#define FOLIOFS_EVENT_FORM(id, change, name, map, format) { name, format, map, FOLIOFS_EV_##id },
#include <foliofs/event-forms.def>
#undef FOLIOFS_EVENT_FORM
};

/* Bits by their words. */
struct word {
	uint32_t bit;
	const char *text;
};

#define WORD(bit, text) { bit, text },
#include <foliofs/event-words.def>
static const struct word map_words[] = { FOLIOFS_MAP_WORDS(WORD) { 0, NULL } };
static const struct word alloc_words[] = { FOLIOFS_ALLOC_WORDS(WORD) { 0, NULL } };
static const struct word free_words[] = { FOLIOFS_FREE_WORDS(WORD) { 0, NULL } };
static const struct word falloc_words[] = { FOLIOFS_FALLOC_WORDS(WORD) { 0, NULL } };

static const uint32_t buffer_bits[] = { 0x20, 0x10, 0x800, 0x200 }; /* N M U B */

struct scan {
	const char *s, *end;
	char *strings; /* where the next string goes */
	size_t room;
};

static bool scan_number(struct scan *c, unsigned int base, bool sign, uint64_t *v)
{
	bool minus = sign && c->s < c->end && *c->s == '-';
	const char *from;
	uint64_t n = 0;

	c->s += minus;
	for (from = c->s; c->s < c->end; c->s++) {
		unsigned int d = *c->s >= '0' && *c->s <= '9' ? (unsigned int)(*c->s - '0') :
				 *c->s >= 'a' && *c->s <= 'f' ? (unsigned int)(*c->s - 'a') + 10 :
								99;

		if (d >= base)
			break;
		n = n * base + d;
	}
	*v = minus ? 0 - n : n;
	return c->s > from;
}

/* "A|B|0x40": bits without a word stay as they are. */
static bool scan_words(struct scan *c, const struct word *w, uint64_t *v)
{
	*v = 0;
	while (c->s < c->end && *c->s != ' ') {
		const char *from = c->s;
		const struct word *x;
		size_t n;

		while (c->s < c->end && *c->s != ' ' && *c->s != '|')
			c->s++;
		n = (size_t)(c->s - from);
		for (x = w; x->text; x++)
			if (strlen(x->text) == n && !memcmp(x->text, from, n))
				break;
		if (x->text)
			*v |= x->bit;
		else if (n > 2 && from[0] == '0' && from[1] == 'x')
			*v |= strtoull(from + 2, NULL, 16);
		/* a word of another kernel: left out */
		c->s += c->s < c->end && *c->s == '|';
	}
	return true;
}

/* The bit of each of @letters; null: 1, 2, 4 ... */
static bool scan_letters(struct scan *c, const char *letters, const uint32_t *bits, uint64_t *v)
{
	*v = 0;
	for (; c->s < c->end && *c->s != ' '; c->s++) {
		const char *p = strchr(letters, *c->s);

		if (p)
			*v |= bits ? bits[p - letters] : 1u << (p - letters);
	}
	return true;
}

/* A word, or what is left if the format ends with it; a caller without its offset. */
static bool scan_string(struct scan *c, bool last, uint64_t *v)
{
	const char *from = c->s, *plus;
	size_t n;

	if (last)
		c->s = c->end;
	while (c->s < c->end && *c->s != ' ')
		c->s++;
	n = (size_t)(c->s - from);
	plus = memmem(from, n, "+0x", 3);
	if (plus)
		n = (size_t)(plus - from);
	if (n + 1 > c->room)
		return false;
	memcpy(c->strings, from, n);
	c->strings[n] = 0;
	*v = (uint64_t)(uintptr_t)c->strings;
	c->strings += n + 1;
	c->room -= n + 1;
	return true;
}

static bool scan_dev(struct scan *c)
{
	uint64_t v;

	if (!scan_number(c, 10, false, &v) || c->s == c->end || (*c->s != ',' && *c->s != ':'))
		return false;
	c->s++;
	return scan_number(c, 10, false, &v);
}

static bool scan_field(struct scan *c, char directive, bool last, uint64_t *v)
{
	switch (directive) {
	case 'u':
	case 'd':
		return scan_number(c, 10, true, v);
	case 'P':
		if (!scan_number(c, 10, false, v))
			return false;
		*v <<= 12;
		return true;
	case 'X':
		if (c->end - c->s < 2 || c->s[0] != '0' || c->s[1] != 'x')
			return false;
		c->s += 2;
		return scan_number(c, 16, false, v);
	case 'x':
		return scan_number(c, 16, false, v);
	case 'o':
		return scan_number(c, 8, false, v);
	case 's':
		return scan_string(c, last, v);
	case 'm':
		return scan_words(c, map_words, v);
	case 'a':
		return scan_words(c, alloc_words, v);
	case 'f':
		return scan_words(c, free_words, v);
	case 'l':
		return scan_words(c, falloc_words, v);
	case 'i':
	case 'g':
	case 't': /* words, then the number: "NEW|DIRTY (0x3)" */
		while (c->s < c->end && *c->s != '(')
			c->s++;
		if (c->end - c->s < 4 || c->s[1] != '0' || c->s[2] != 'x')
			return false;
		c->s += 3;
		if (!scan_number(c, 16, false, v) || c->s == c->end)
			return false;
		c->s++;
		return true;
	case 'w':
		if (c->end - c->s >= 2 && c->s[0] == '0' && c->s[1] == 'x') {
			c->s += 2;
			return scan_number(c, 16, false, v);
		}
		return scan_letters(c, "NMUB", buffer_bits, v);
	case 'M':
		return scan_letters(c, "NMUB", NULL, v);
	case 'e':
		return scan_letters(c, "WUDH", NULL, v);
	}
	return false;
}

/*
 * Text of the format at *@f: the same, but numbers that the model prints as a
 * constant may be others (pfn=0x0, times of jbd2_run_stats).
 */
static bool scan_literal(struct scan *c, const char **f)
{
	uint64_t v;

	for (; **f && **f != '%'; ++*f) {
		if (c->s < c->end && *c->s == **f && **f != '0') {
			c->s++;
			continue;
		}
		/* "0o" of an octal number begins with a 0 of its own */
		if (**f != '0' || c->s == c->end)
			return false;
		if (!memcmp(*f, "0x0", 3)) {
			*f += 2;
			if (c->end - c->s < 3 || c->s[1] != 'x')
				return false;
			c->s += 2;
			if (!scan_number(c, 16, false, &v))
				return false;
		} else if ((*f)[1] == '%') {
			c->s += *c->s == '0';
		} else if (!scan_number(c, 10, false, &v)) {
			return false;
		}
	}
	return true;
}

static int read_form(const struct form *form, const struct trace_line *line,
		     struct foliofs_event *ev, char *strings)
{
	struct scan c = { line->text.s, line->text.s + line->text.len, strings, STRINGS };
	const char *f = form->format;
	unsigned int next = 0;
	uint64_t v;

	while (*f) {
		unsigned int i;

		if (*f != '%') {
			if (!scan_literal(&c, &f))
				return -EINVAL;
			continue;
		}
		if (f[1] == 'D' || f[1] == 'C') {
			if (!scan_dev(&c))
				return -EINVAL;
			f += 2;
			continue;
		}
		i = form->map ? (unsigned int)(form->map[next] - 'a') : next;
		next++;
		if (i >= FOLIOFS_EVENT_ARGS || !scan_field(&c, f[1], !f[2], &v))
			return -EINVAL;
		ev->arg[i] = v;
		if (i >= ev->nargs)
			ev->nargs = (uint8_t)(i + 1);
		f += 2;
	}
	/* more fields behind: another kernel's, passed over */
	return 0;
}

static uint8_t thread_of(struct piece comm)
{
	if (piece_starts(comm, "jbd2/"))
		return FOLIOFS_THREAD_JOURNAL;
	if (piece_starts(comm, "kworker/u"))
		return FOLIOFS_THREAD_FLUSHER;
	if (piece_starts(comm, "kworker/"))
		return FOLIOFS_THREAD_WORKER;
	return FOLIOFS_THREAD_TASK;
}

int event_read(const struct trace_line *line, uint32_t op, struct foliofs_event *ev, char *strings)
{
	int ret = -ENOENT;
	size_t i;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (!piece_is(line->event, forms[i].name) || !line->event.len)
			continue;
		memset(ev, 0, sizeof(*ev));
		ev->id = (uint16_t)forms[i].id;
		ev->op = op;
		ev->time_ns = line->time_ns;
		ev->thread = thread_of(line->comm);
		ret = read_form(&forms[i], line, ev, strings);
		if (!ret)
			return 0;
	}
	return ret;
}
