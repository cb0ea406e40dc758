// SPDX-License-Identifier: MIT
/*
 * Numbers and integer expressions of op lists.  Division and remainder round down, as in the
 * language that the specifications of the captures were expanded with; every result must fit in
 * 64 bits.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/oplist.h"

static unsigned int suffix_shift(char c)
{
	switch (c) {
	case 'k':
	case 'K':
		return 10;
	case 'm':
	case 'M':
		return 20;
	case 'g':
	case 'G':
		return 30;
	case 't':
	case 'T':
		return 40;
	default:
		return 0;
	}
}

/* An unsigned number at @s with its suffix; the end of it, or NULL. */
static const char *scan_number(const char *s, uint64_t *v)
{
	unsigned int shift;
	char *end;

	if (!isdigit((unsigned char)*s))
		return NULL;
	errno = 0;
	*v = strtoull(s, &end, 0);
	if (errno || end == s)
		return NULL;
	shift = suffix_shift(*end);
	if (shift) {
		if (*v > UINT64_MAX >> shift)
			return NULL;
		*v <<= shift;
		end++;
	}
	return end;
}

int oplist_number(const char *s, uint64_t *v)
{
	const char *end = scan_number(s, v);

	/* Offsets and lengths are signed in the kernel. */
	return end && !*end && *v <= INT64_MAX ? 0 : -EINVAL;
}

#define EXPR_DEPTH 64 /* of parentheses and signs; more is refused, not recursed into */

struct expr {
	const char *at, *end;
	const char *var;
	int64_t value;
	int depth;
	const char *expected; /* set on the first error */
};

static int64_t sum(struct expr *e);

static int64_t fail(struct expr *e, const char *expected)
{
	if (!e->expected)
		e->expected = expected;
	e->at = e->end;
	return 0;
}

static char peek(struct expr *e)
{
	while (e->at < e->end && isspace((unsigned char)*e->at))
		e->at++;
	return e->at < e->end ? *e->at : '\0';
}

static int64_t name(struct expr *e)
{
	const char *from = e->at;
	size_t len;

	while (e->at < e->end && (isalnum((unsigned char)*e->at) || *e->at == '_'))
		e->at++;
	len = (size_t)(e->at - from);
	if (strlen(e->var) == len && !memcmp(from, e->var, len))
		return e->value;
	if (len == 1 && isupper((unsigned char)*from) && suffix_shift(*from))
		return (int64_t)1 << suffix_shift(*from);
	return fail(e, "the loop's variable or K, M, G, T");
}

static int64_t primary(struct expr *e)
{
	char c = peek(e);
	int64_t v;
	uint64_t u;

	if (++e->depth > EXPR_DEPTH)
		return fail(e, "fewer parentheses");
	if (c == '(') {
		e->at++;
		v = sum(e);
		if (peek(e) != ')')
			return fail(e, "\")\"");
		e->at++;
	} else if (c == '-') {
		e->at++;
		v = primary(e);
		if (__builtin_sub_overflow((int64_t)0, v, &v))
			return fail(e, "a number of 64 bits");
	} else if (isdigit((unsigned char)c)) {
		e->at = scan_number(e->at, &u);
		if (!e->at || e->at > e->end || u > INT64_MAX) {
			e->at = e->end;
			return fail(e, "a number of 64 bits");
		}
		v = (int64_t)u;
	} else if (isalpha((unsigned char)c) || c == '_') {
		v = name(e);
	} else {
		return fail(e, "a number, a name or \"(\"");
	}
	e->depth--;
	return v;
}

static int64_t product(struct expr *e)
{
	int64_t v = primary(e), w, q, r;
	char c;

	while ((c = peek(e)) == '*' || c == '/' || c == '%') {
		e->at++;
		if (c == '/' && e->at < e->end && *e->at == '/')
			e->at++;
		w = primary(e);
		if (e->expected)
			return 0;
		if (c == '*') {
			if (__builtin_mul_overflow(v, w, &v))
				return fail(e, "a number of 64 bits");
			continue;
		}
		if (!w || (w == -1 && v == INT64_MIN))
			return fail(e, "a divisor other than 0");
		q = v / w;
		r = v % w;
		if (r && (r < 0) != (w < 0)) {
			q--;
			r += w;
		}
		v = c == '/' ? q : r;
	}
	return v;
}

static int64_t sum(struct expr *e)
{
	int64_t v = product(e), w;
	bool bad;
	char c;

	while ((c = peek(e)) == '+' || c == '-') {
		e->at++;
		w = product(e);
		bad = c == '+' ? __builtin_add_overflow(v, w, &v)
			       : __builtin_sub_overflow(v, w, &v);
		if (bad)
			return fail(e, "a number of 64 bits");
	}
	return v;
}

int oplist_expression(const char *s, size_t len, const char *var, int64_t value, int64_t *out,
		      const char **expected)
{
	struct expr e = { .at = s, .end = s + len, .var = var, .value = value };

	*out = sum(&e);
	if (!e.expected && peek(&e))
		e.expected = "an operator or the end of the expression";
	*expected = e.expected;
	return e.expected ? -EINVAL : 0;
}
