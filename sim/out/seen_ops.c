// SPDX-License-Identifier: MIT
/* What a reader of bytes knows of the operations: see seen_ops.h. */
#include "seen_ops.h"

#include <stdlib.h>
#include <string.h>

#include "trace/oplist.h"

#define PREPARED 16001u /* operations from here on ran before the others */

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

/* The size at *@p, which moves behind it; 0: the word there is none. */
static uint64_t number(const char **p)
{
	uint64_t v = 0;
	char word[32];
	size_t n;

	*p += strspn(*p, " ");
	n = strcspn(*p, " ");
	if (n < sizeof(word)) {
		memcpy(word, *p, n);
		word[n] = '\0';
		oplist_number(word, &v);
	}
	*p += n;
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

bool seen_wrote(const struct seen *s, uint32_t op, int64_t off, uint64_t len)
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

bool seen_known(const struct seen *s, uint32_t op)
{
	size_t i;

	for (i = 0; i < s->nr_writers; i++)
		if (s->writers[i].op == op)
			return true;
	return false;
}

/* Does the shift come behind what @w wrote, in the same file? */
static bool shifts(const struct shift *x, const struct writer *w)
{
	return (x->op >= w->op || w->op >= PREPARED) && !strcmp(x->name, w->name);
}

int64_t seen_unmoved(const struct seen *s, const struct writer *w, int64_t at)
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
