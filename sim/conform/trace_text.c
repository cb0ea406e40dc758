// SPDX-License-Identifier: MIT
/* Lines of a trace: see trace_text.h. */
#include "trace_text.h"

#include <string.h>

/* "12.345678:" -> nanoseconds; false if it is something else. */
static bool parse_time(struct piece w, uint64_t *ns)
{
	uint64_t sec = 0, frac = 0, scale = 1000000000;
	bool point = false;
	size_t i;

	if (w.len < 2 || w.s[w.len - 1] != ':')
		return false;
	for (i = 0; i + 1 < w.len; i++) {
		char c = w.s[i];

		if (c == '.' && !point) {
			point = true;
		} else if (c >= '0' && c <= '9') {
			if (!point)
				sec = sec * 10 + (uint64_t)(c - '0');
			else if (scale > 1)
				frac += (scale /= 10) * (uint64_t)(c - '0');
		} else {
			return false;
		}
	}
	*ns = sec * 1000000000 + frac;
	return true;
}

/* "COMM-PID  [CPU]" at the start of @rest, which is cut behind it. */
static bool parse_task(struct piece *rest, struct piece *comm)
{
	const char *s = rest->s, *end = rest->s + rest->len, *p = s, *c;

	for (;;) {
		p = memchr(p, '[', (size_t)(end - p));
		if (!p)
			return false;
		for (c = p + 1; c < end && *c >= '0' && *c <= '9'; c++)
			;
		if (p > s && p[-1] == ' ' && c > p + 1 && c < end && *c == ']')
			break;
		p++;
	}
	rest->s = c + 1;
	rest->len = (size_t)(end - c - 1);
	while (p > s && p[-1] == ' ')
		p--;
	while (p > s && p[-1] >= '0' && p[-1] <= '9')
		p--;
	if (p == s || p[-1] != '-')
		return false;
	p--;
	while (s < p && *s == ' ')
		s++;
	comm->s = s;
	comm->len = (size_t)(p - s);
	return comm->len != 0;
}

static bool parse_line(struct piece rest, struct trace_line *l)
{
	struct piece w;
	const char *colon;

	if (!parse_task(&rest, &l->comm) || !piece_word(&rest, &w))
		return false;
	if (!parse_time(w, &l->time_ns) &&
	    (!piece_word(&rest, &w) || !parse_time(w, &l->time_ns)))
		return false;
	while (rest.len && *rest.s == ' ') {
		rest.s++;
		rest.len--;
	}
	colon = memchr(rest.s, ':', rest.len);
	if (!colon || colon == rest.s)
		return false;
	l->event.s = rest.s;
	l->event.len = (size_t)(colon - rest.s);
	l->text.s = colon + 1;
	l->text.len = rest.len - l->event.len - 1;
	if (l->text.len && *l->text.s == ' ') {
		l->text.s++;
		l->text.len--;
	}
	return !memchr(l->event.s, ' ', l->event.len);
}

/* "CPU:0 [LOST 12 EVENTS]" */
static bool parse_lost(struct piece rest, uint64_t *lost)
{
	struct piece w;

	if (!piece_word(&rest, &w) || !piece_starts(w, "CPU:") || !piece_word(&rest, &w) ||
	    !piece_is(w, "[LOST") || !piece_word(&rest, &w))
		return false;
	if (!piece_number(w, lost) || !*lost)
		*lost = 1;
	return true;
}

static void parse_marker(struct trace_line *l)
{
	struct piece rest = l->text, w;
	uint64_t n;

	if (!piece_word(&rest, &w) || !piece_word(&rest, &w) || !piece_is(w, "op") ||
	    !piece_word(&rest, &w) || !piece_number(w, &n))
		return;
	if (rest.len && *rest.s == ' ') {
		rest.s++;
		rest.len--;
	}
	l->marker = true;
	l->op = (uint32_t)n;
	l->op_text = rest;
}

/* "sys_pwrite64(fd: 3, ...": as tracefs prints it; "sys_enter_pwrite64: ...": as trace-cmd does. */
static void parse_call(struct trace_line *l)
{
	const char *paren = memchr(l->event.s, '(', l->event.len);
	size_t skip = 0;

	if (piece_starts(l->event, "sys_enter_"))
		skip = 10;
	else if (piece_starts(l->event, "sys_") && paren)
		skip = 4;
	if (!skip)
		return;
	if (paren) {
		l->text.len += (size_t)(l->text.s - paren);
		l->text.s = paren;
		l->event.len = (size_t)(paren - l->event.s);
	}
	l->call = (struct piece){ l->event.s + skip, l->event.len - skip };
}

bool trace_text_next(struct trace_cursor *t, struct trace_line *line)
{
	struct piece p;

	while (text_line(t->text, &t->at, &p)) {
		t->number++;
		if (!p.len || *p.s == '#')
			continue;
		memset(line, 0, sizeof(*line));
		line->number = t->number;
		if (parse_line(p, line)) {
			if (piece_is(line->event, "tracing_mark_write"))
				parse_marker(line);
			parse_call(line);
			return true;
		}
		if (parse_lost(p, &line->lost))
			return true;
	}
	return false;
}
