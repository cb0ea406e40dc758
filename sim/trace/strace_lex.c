// SPDX-License-Identifier: MIT
/*
 * Prefixes of strace lines, and taking calls apart, see strace_lex.h.
 *
 * A process number and a time in whole seconds (strace --timestamps=unix) look alike; what is above
 * the largest process number Linux can have (4194304) is a time.  A time with a fraction is that
 * of the line before if it is below 10^8 seconds (-r), else of the epoch (-ttt).
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "trace/strace_lex.h"

#define SECOND 1000000000ll
#define PID_MAX 4194304ll

static char *blanks(char *p)
{
	return p + strspn(p, " \t");
}

/* Digits behind a decimal point, in nanoseconds. */
static int64_t fraction(char **p)
{
	int64_t ns = 0, unit = SECOND;

	for (; isdigit((unsigned char)**p); (*p)++) {
		unit /= 10;
		ns += unit * (**p - '0');
	}
	return ns;
}

/* A time at @p in any of strace's styles: its end, or @p if there is none. */
static char *scan_time(char *p, struct strace_line *l)
{
	char *end;
	int64_t v, ns = 0;

	if (!isdigit((unsigned char)*p))
		return p;
	v = strtoll(p, &end, 10);
	if (*end == ':' && end - p <= 2) { /* of the day */
		for (int i = 1; i <= 5; i++)
			if (i == 3 ? end[i] != ':' : !isdigit((unsigned char)end[i]))
				return p;
		if (isdigit((unsigned char)end[6]))
			return p;
		v = (v * 60 + strtoll(end + 1, NULL, 10)) * 60 + strtoll(end + 4, &end, 10);
		if (v >= 86400)
			return p;
		l->of_day = true;
	} else if (*end != '.' && v <= PID_MAX) {
		return p;
	}
	if (*end == '.') {
		end++;
		ns = fraction(&end);
	}
	if ((*end && !isspace((unsigned char)*end)) || v > INT64_MAX / SECOND - 1)
		return p;
	l->time_ns = v * SECOND + ns;
	l->relative = !l->of_day && v < 100000000;
	return end;
}

/* [pid N], N and times; what follows. */
static char *prefix(char *p, struct strace_line *l)
{
	char *end;
	long v;

	l->time_ns = -1;
	p = blanks(p);
	if (!strncmp(p, "[pid", 4) && (p[4] == ' ' || p[4] == '\t')) {
		v = strtol(p + 4, &end, 10);
		if (*end == ']' && v > 0 && v <= PID_MAX) {
			l->pid = (int)v;
			p = blanks(end + 1);
		}
	} else if (isdigit((unsigned char)*p)) {
		v = strtol(p, &end, 10);
		if ((*end == ' ' || *end == '\t') && v > 0 && v <= PID_MAX) {
			l->pid = (int)v;
			p = blanks(end);
		}
	}
	end = scan_time(p, l);
	if (end != p) {
		p = blanks(end);
		if (!strncmp(p, "(+", 2)) { /* -r along with -t */
			end = strchr(p, ')');
			p = end ? blanks(end + 1) : p;
		}
	}
	return p;
}

static void garbled(struct strace_line *l, const char *expected, const char *at)
{
	l->kind = STRACE_GARBLED;
	l->expected = expected;
	l->at = at;
}

/* <... NAME resumed>REST */
static void resumed(char *p, struct strace_line *l)
{
	char *end = strstr(p, " resumed>");

	if (!end) {
		garbled(l, "\"<... CALL resumed>\"", p);
		return;
	}
	*end = '\0';
	l->kind = STRACE_RESUMED;
	l->name = p + 5;
	l->rest = end + 9;
}

/* +++ exited with 0 +++, +++ killed by SIGKILL +++, +++ superseded by execve in pid 12 +++ */
static void ended(char *p, struct strace_line *l)
{
	const char *by = "+++ superseded by execve in pid ";

	if (!strncmp(p, by, strlen(by))) {
		l->kind = STRACE_SUPERSEDED;
		l->other = atoi(p + strlen(by));
		return;
	}
	if (!strstr(p + 3, "+++"))
		garbled(l, "\"+++\" at the end of the line", p);
	else
		l->kind = STRACE_EXIT;
}

static bool is_note(const char *p)
{
	return !strncmp(p, "---", 3) || !strncmp(p, "strace:", 7) ||
	       !strncmp(p, "/usr/bin/strace:", 16) ||
	       (!strncmp(p, "Process ", 8) && (strstr(p, "attached") || strstr(p, "detached")));
}

void strace_lex_line(char *text, struct strace_line *l)
{
	char *p, *end;
	size_t len;

	memset(l, 0, sizeof(*l));
	p = prefix(text, l);
	if (!*p) {
		l->kind = l->pid || l->time_ns >= 0 ? STRACE_GARBLED : STRACE_EMPTY;
		l->expected = "a system call";
		l->at = p;
		return;
	}
	if (*p == '#') {
		l->kind = STRACE_COMMENT;
		l->rest = p;
		return;
	}
	if (is_note(p)) {
		l->kind = STRACE_NOTE;
		l->rest = p;
		return;
	}
	if (!strncmp(p, "+++", 3)) {
		ended(p, l);
		return;
	}
	if (!strncmp(p, "<... ", 5)) {
		resumed(p, l);
		return;
	}
	for (end = p; isalnum((unsigned char)*end) || *end == '_'; end++)
		;
	if (end == p || *end != '(' || isdigit((unsigned char)*p)) {
		garbled(l, "a system call", p);
		return;
	}
	*end = '\0';
	l->name = p;
	l->rest = end + 1;
	l->kind = STRACE_CALL;
	len = strlen(l->rest);
	while (len && isspace((unsigned char)l->rest[len - 1]))
		l->rest[--len] = '\0';
	if (len >= 16 && !strcmp(l->rest + len - 16, "<unfinished ...>")) {
		l->rest[len - 16] = '\0';
		l->kind = STRACE_UNFINISHED;
	}
}

/* Behind a quoted string at @p, or NULL. */
static const char *skip_string(const char *p)
{
	for (p++; *p && *p != '"'; p++)
		if (*p == '\\' && !*++p)
			return NULL;
	return *p ? p + 1 : NULL;
}

/* Behind what -y prints after a descriptor, with nested <>, or NULL. */
static const char *skip_angle(const char *p)
{
	int depth = 0;

	for (; *p; p++) {
		if (*p == '<')
			depth++;
		else if (*p == '>' && p[-1] != '-' && p[-1] != '=' && !--depth) /* sockets: -> */
			return p + 1;
	}
	return NULL;
}

/* Does a < at @p belong to a descriptor, rather than to 1<<12 ? */
static bool is_angle(const char *from, const char *p)
{
	return p > from && p[1] != '<' && p[-1] != '<' && p[1] != ' ' &&
	       (isdigit((unsigned char)p[-1]) || p[-1] == 'D');
}

/* The end of one argument: a comma or the closing parenthesis, at depth 0.  NULL: not there. */
static const char *skip_arg(const char *from, const char **expected)
{
	const char *p = from;
	int depth = 0;

	while (*p) {
		if (*p == '"') {
			p = skip_string(p);
			*expected = "a closing quotation mark";
		} else if (*p == '<' && is_angle(from, p)) {
			p = skip_angle(p);
			*expected = "\">\" after a descriptor";
		} else if (!strncmp(p, "/*", 2)) {
			p = strstr(p + 2, "*/");
			p = p ? p + 2 : NULL;
			*expected = "the end of a comment";
		} else if (strchr("([{", *p)) {
			depth++;
			p++;
		} else if (strchr(")]}", *p)) {
			if (!depth && *p == ')')
				return p;
			depth--;
			p++;
		} else if (*p == ',' && !depth) {
			return p;
		} else {
			p++;
		}
		if (!p)
			return NULL;
	}
	*expected = "\")\" after the arguments";
	return NULL;
}

/* What follows the "=": a number, -1 ERROR, or ?. */
static int lex_result(const char *p, struct strace_call *c, const char **expected, const char **at)
{
	struct strace_span rest;
	char *end;

	*at = p;
	*expected = "\"= RESULT\"";
	p += strspn(p, " \t");
	if (*p != '=')
		return -1;
	p++;
	p += strspn(p, " \t");
	if (*p == '?') {
		c->finished = false;
		/* "= ? ERESTARTSYS": a signal came first */
		return 0;
	}
	if (*p != '-' && !isdigit((unsigned char)*p))
		return -1;
	c->finished = true;
	c->result = !strncmp(p, "0x", 2) ? (int64_t)strtoull(p, &end, 16) : strtoll(p, &end, 10);
	rest = (struct strace_span){ p, strlen(p) };
	if (*end == '<') {
		bool deleted;

		strace_path_of(rest, &c->path, &deleted);
		return 0;
	}
	if (*end && !isspace((unsigned char)*end))
		return -1;
	if (c->result < 0 && *end) {
		end += strspn(end, " \t");
		c->failed = *end == 'E';
		c->error.s = end;
		c->error.len = strcspn(end, " (\t");
	}
	return 0;
}

int strace_lex_call(const char *p, struct strace_call *c, const char **expected, const char **at)
{
	const char *end;

	c->nr = 0;
	c->failed = false;
	c->error.len = c->path.len = 0;
	for (;; p = end + 1) {
		p += strspn(p, " \t");
		*at = p;
		end = skip_arg(p, expected);
		if (!end)
			return -1;
		if (end > p && c->nr < STRACE_ARGS) {
			c->args[c->nr].s = p;
			c->args[c->nr].len = (size_t)(end - p);
			while (isspace((unsigned char)p[c->args[c->nr].len - 1]))
				c->args[c->nr].len--;
			c->nr++;
		}
		if (*end == ')')
			break;
	}
	return lex_result(end + 1, c, expected, at);
}
