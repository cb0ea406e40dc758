// SPDX-License-Identifier: MIT
/* Values of strace's arguments, see strace_lex.h. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/strace_lex.h"

bool strace_int(struct strace_span a, int64_t *v)
{
	char buf[32], *end;
	size_t n = 0;

	while (n < a.len && n < sizeof(buf) - 1 &&
	       (isalnum((unsigned char)a.s[n]) || a.s[n] == '-'))
		n++;
	if (!n || n == sizeof(buf) - 1)
		return false;
	memcpy(buf, a.s, n);
	buf[n] = '\0';
	errno = 0;
	/* Large unsigned numbers are how strace prints some negative ones. */
	*v = buf[0] == '-' ? strtoll(buf, &end, 0) : (int64_t)strtoull(buf, &end, 0);
	if (errno || *end || end == buf)
		return false;
	return n == a.len || a.s[n] == '<' || isspace((unsigned char)a.s[n]);
}

bool strace_pointed(struct strace_span a, int64_t *v)
{
	struct strace_span in;
	const char *end;

	if (a.len < 3 || a.s[0] != '[')
		return false;
	end = memchr(a.s, ']', a.len);
	if (!end)
		return false;
	in = (struct strace_span){ a.s + 1, (size_t)(end - a.s) - 1 };
	return strace_int(in, v);
}

bool strace_flag(struct strace_span a, const char *flag)
{
	size_t len = strlen(flag);

	for (size_t i = 0; i + len <= a.len; i++) {
		if (i && (isalnum((unsigned char)a.s[i - 1]) || a.s[i - 1] == '_'))
			continue;
		if (!strncmp(a.s + i, flag, len) &&
		    (i + len == a.len ||
		     (!isalnum((unsigned char)a.s[i + len]) && a.s[i + len] != '_')))
			return true;
	}
	return false;
}

bool strace_field(struct strace_span a, const char *name, struct strace_span *v)
{
	size_t len = strlen(name), end;
	char last;

	for (size_t i = 1; i + len < a.len; i++) {
		last = a.s[i - 1];
		if ((last != '{' && last != ' ' && last != ',') || strncmp(a.s + i, name, len) ||
		    a.s[i + len] != '=')
			continue;
		i += len + 1;
		for (end = i; end < a.len && a.s[end] != ',' && a.s[end] != '}'; end++)
			;
		*v = (struct strace_span){ a.s + i, end - i };
		return true;
	}
	return false;
}

bool strace_path_of(struct strace_span a, struct strace_span *path, bool *deleted)
{
	static const char gone[] = "(deleted)";
	const char *open = memchr(a.s, '<', a.len), *end = a.s + a.len, *p;
	int depth = 0;

	*deleted = false;
	if (!open || open + 1 >= end || open[1] != '/')
		return false;
	for (p = open; p < end; p++) {
		if (*p == '<')
			depth++;
		else if (*p == '>' && !--depth)
			break;
	}
	if (p == end)
		return false;
	path->s = open + 1;
	path->len = (size_t)(p - open) - 1;
	/* -yy: </dev/sda<block 8:0>> is a device */
	if (memchr(path->s, '<', path->len))
		return false;
	if ((size_t)(end - p) > sizeof(gone) - 1 && !strncmp(p + 1, gone, sizeof(gone) - 1))
		*deleted = true;
	if (path->len > 10 && !strncmp(path->s + path->len - 10, " (deleted)", 10)) {
		path->len -= 10;
		*deleted = true;
	}
	return true;
}

/* One character, of an escape or not; moves *@p. */
static char unescape(const char **p, const char *end)
{
	static const char from[] = "abfnrtv", to[] = "\a\b\f\n\r\t\v";
	const char *which;
	unsigned int v = 0;
	char c = *(*p)++;

	if (c != '\\' || *p == end)
		return c;
	c = *(*p)++;
	if (c >= '0' && c <= '7') {
		v = (unsigned int)(c - '0');
		for (int i = 0; i < 2 && *p < end && **p >= '0' && **p <= '7'; i++)
			v = 8 * v + (unsigned int)(*(*p)++ - '0');
		return (char)v;
	}
	if (c == 'x') {
		for (int i = 0; i < 2 && *p < end && isxdigit((unsigned char)**p); i++) {
			c = *(*p)++;
			v = 16 * v + (unsigned int)(isdigit((unsigned char)c) ? c - '0' :
						    (c | 0x20) - 'a' + 10);
		}
		return (char)v;
	}
	which = strchr(from, c);
	return which ? to[which - from] : c;
}

int strace_unescape(struct strace_span a, char *buf, size_t size)
{
	const char *p = a.s, *end = a.s + a.len;
	size_t n = 0;

	while (p < end && n + 1 < size)
		buf[n++] = unescape(&p, end);
	buf[n] = '\0';
	return (int)n;
}

int strace_string(struct strace_span a, char *buf, size_t size, bool *whole)
{
	size_t end = 1;

	if (a.len < 2 || a.s[0] != '"')
		return -1;
	while (end < a.len && a.s[end] != '"')
		end += a.s[end] == '\\' ? 2 : 1;
	if (end >= a.len)
		return -1;
	*whole = end + 1 == a.len;
	return strace_unescape((struct strace_span){ a.s + 1, end - 1 }, buf, size);
}

bool strace_iov_len(struct strace_span a, uint64_t *len)
{
	static const char key[] = "iov_len=";
	const char *p = a.s, *end = a.s + a.len;
	bool some = false;

	*len = 0;
	while (p < end) {
		if (*p == '"') {
			for (p++; p < end && *p != '"'; p++)
				p += *p == '\\';
			p++;
		} else if ((size_t)(end - p) > sizeof(key) && !strncmp(p, key, sizeof(key) - 1)) {
			*len += strtoull(p + sizeof(key) - 1, NULL, 10);
			some = true;
			p++;
		} else if ((size_t)(end - p) > 4 && !strncmp(p, ", ...", 5)) {
			return false; /* -s: elements left out */
		} else {
			p++;
		}
	}
	return some;
}
