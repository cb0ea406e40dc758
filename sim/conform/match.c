// SPDX-License-Identifier: MIT
/* How much two sequences have in common: see match.h. */
#include "match.h"

#include <stdlib.h>
#include <string.h>

/* An element and where it stands. */
struct at {
	uint32_t v, pos;
};

static int by_value(const void *x, const void *y)
{
	const struct at *a = x, *b = y;

	if (a->v != b->v)
		return a->v < b->v ? -1 : 1;
	return a->pos < b->pos ? -1 : a->pos > b->pos;
}

static void *get(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		abort();
	return p;
}

static struct at *sorted(const uint32_t *a, size_t n)
{
	struct at *s = get(n, sizeof(*s));
	size_t i;

	for (i = 0; i < n; i++)
		s[i] = (struct at){ a[i], (uint32_t)i };
	qsort(s, n, sizeof(*s), by_value);
	return s;
}

/* First in @s with a value >= @v. */
static size_t lower(const struct at *s, size_t n, uint32_t v)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s[mid].v < v)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct range {
	size_t alo, ahi, blo, bhi;
};

struct matcher {
	const uint32_t *a;
	const struct at *b; /* by value, then position */
	const size_t *first, *last; /* of each element of a: its places in b */
	uint32_t *len, *len_before; /* of the common run that ends at b[j] */
};

/*
 * Longest common run in @r: its length, *@i and *@j where it starts.  Of several
 * the one that starts first in a, of these the one that starts first in b.
 */
static size_t longest(struct matcher *m, const struct range *r, size_t *i, size_t *j)
{
	size_t best = 0, x, k;
	uint32_t *swap;

	memset(m->len_before + r->blo, 0, (r->bhi - r->blo + 1) * sizeof(*m->len));
	memset(m->len + r->blo, 0, (r->bhi - r->blo + 1) * sizeof(*m->len));
	for (x = r->alo; x < r->ahi; x++) {
		for (k = m->first[x]; k < m->last[x]; k++) {
			size_t pos = m->b[k].pos;
			uint32_t n;

			if (pos < r->blo)
				continue;
			if (pos >= r->bhi)
				break;
			/* index pos + 1, so that pos - 1 exists */
			n = (pos > r->blo ? m->len_before[pos] : 0) + 1;
			m->len[pos + 1] = n;
			if (n > best) {
				best = n;
				*i = x + 1 - n;
				*j = pos + 1 - n;
			}
		}
		swap = m->len_before;
		m->len_before = m->len;
		m->len = swap;
		/* forget the row before last: only the places that it touched */
		if (x > r->alo) {
			for (k = m->first[x - 1]; k < m->last[x - 1]; k++)
				if (m->b[k].pos >= r->blo && m->b[k].pos < r->bhi)
					m->len[m->b[k].pos + 1] = 0;
		}
	}
	return best;
}

size_t match_ordered(const uint32_t *a, size_t na, const uint32_t *b, size_t nb)
{
	struct matcher m = { .a = a };
	size_t matched = 0, depth = 0, room = 64, i, n;
	size_t *first, *last;
	struct range *todo;
	struct at *s;

	if (na == nb && (!na || !memcmp(a, b, na * sizeof(*a))))
		return na;
	if (!na || !nb)
		return 0;
	if (na > MATCH_LIMIT / nb)
		return match_unordered(a, na, b, nb);
	m.b = s = sorted(b, nb);
	m.first = first = get(na, sizeof(*first));
	m.last = last = get(na, sizeof(*last));
	for (i = 0; i < na; i++) {
		first[i] = lower(s, nb, a[i]);
		last[i] = a[i] == UINT32_MAX ? nb : lower(s, nb, a[i] + 1);
	}
	m.len = get(nb + 2, sizeof(*m.len));
	m.len_before = get(nb + 2, sizeof(*m.len_before));
	todo = get(room, sizeof(*todo));
	todo[depth++] = (struct range){ 0, na, 0, nb };
	while (depth) {
		struct range r = todo[--depth];
		size_t x = 0, y = 0;

		n = longest(&m, &r, &x, &y);
		if (!n)
			continue;
		matched += n;
		if (depth + 2 > room) {
			room *= 2;
			todo = realloc(todo, room * sizeof(*todo));
			if (!todo)
				abort();
		}
		if (r.alo < x && r.blo < y)
			todo[depth++] = (struct range){ r.alo, x, r.blo, y };
		if (x + n < r.ahi && y + n < r.bhi)
			todo[depth++] = (struct range){ x + n, r.ahi, y + n, r.bhi };
	}
	free(todo);
	free(m.len);
	free(m.len_before);
	free(first);
	free(last);
	free(s);
	return matched;
}

size_t match_unordered(const uint32_t *a, size_t na, const uint32_t *b, size_t nb)
{
	struct at *x = sorted(a, na), *y = sorted(b, nb);
	size_t i = 0, j = 0, n = 0;

	while (i < na && j < nb) {
		if (x[i].v == y[j].v)
			n++, i++, j++;
		else if (x[i].v < y[j].v)
			i++;
		else
			j++;
	}
	free(x);
	free(y);
	return n;
}

void match_first(const uint32_t *a, size_t na, const uint32_t *b, size_t nb, int ordered,
		 size_t *i, size_t *j)
{
	struct at *x, *y;
	size_t k = 0, l = 0;

	*i = *j = 0;
	if (ordered && (!nb || na <= MATCH_LIMIT / nb)) {
		while (*i < na && *i < nb && a[*i] == b[*i])
			++*i;
		*j = *i;
		return;
	}
	*i = na;
	*j = nb;
	x = sorted(a, na);
	y = sorted(b, nb);
	while (k < na || l < nb) {
		if (k < na && l < nb && x[k].v == y[l].v) {
			k++, l++;
		} else if (l == nb || (k < na && x[k].v < y[l].v)) {
			if (x[k].pos < *i)
				*i = x[k].pos;
			k++;
		} else {
			if (y[l].pos < *j)
				*j = y[l].pos;
			l++;
		}
	}
	free(x);
	free(y);
}
