// SPDX-License-Identifier: MIT
/* Whole files in memory: see text.h. */
#include "text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define CHUNK (1u << 20)

int text_read(const char *path, struct text *t)
{
	size_t room = 0;
	struct stat st;
	gzFile f;
	int n;

	t->data = NULL;
	t->len = 0;
	errno = 0;
	if (strcmp(path, "-") && !stat(path, &st) && S_ISDIR(st.st_mode))
		return -EISDIR;
	f = strcmp(path, "-") ? gzopen(path, "rb") : gzdopen(dup(0), "rb");
	if (!f)
		return errno ? -errno : -ENOMEM;
	gzbuffer(f, 256u << 10);
	for (;;) {
		if (t->len + CHUNK + 1 > room) {
			char *p;

			room = room ? room * 2 : 2 * CHUNK;
			p = realloc(t->data, room);
			if (!p) {
				gzclose(f);
				text_free(t);
				return -ENOMEM;
			}
			t->data = p;
		}
		n = gzread(f, t->data + t->len, CHUNK);
		if (n <= 0)
			break;
		t->len += (size_t)n;
	}
	t->data[t->len] = 0;
	/* a damaged file is seen at its end at the latest */
	if (gzclose(f) != Z_OK || n < 0) {
		text_free(t);
		return -EIO;
	}
	return 0;
}

int text_read_in(const char *dir, const char *name, struct text *t)
{
	char path[4096];
	int ret;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s.gz", dir, name) >= sizeof(path))
		return -ENAMETOOLONG;
	path[strlen(path) - 3] = 0;
	ret = text_read(path, t);
	if (ret != -ENOENT)
		return ret;
	path[strlen(path)] = '.';
	return text_read(path, t);
}

void text_free(struct text *t)
{
	free(t->data);
	t->data = NULL;
	t->len = 0;
}

bool text_line(const struct text *t, size_t *at, struct piece *line)
{
	const char *s, *end;

	if (*at >= t->len)
		return false;
	s = t->data + *at;
	end = memchr(s, '\n', t->len - *at);
	line->s = s;
	line->len = end ? (size_t)(end - s) : t->len - *at;
	*at += line->len + 1;
	return true;
}

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

bool piece_word(struct piece *p, struct piece *word)
{
	const char *s = p->s, *end = p->s + p->len;

	while (s < end && blank(*s))
		s++;
	word->s = s;
	while (s < end && !blank(*s))
		s++;
	word->len = (size_t)(s - word->s);
	p->s = s;
	p->len = (size_t)(end - s);
	return word->len != 0;
}

bool piece_is(struct piece p, const char *s)
{
	return strlen(s) == p.len && !memcmp(p.s, s, p.len);
}

bool piece_starts(struct piece p, const char *s)
{
	size_t n = strlen(s);

	return p.len >= n && !memcmp(p.s, s, n);
}

bool piece_number(struct piece p, uint64_t *v)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < p.len; i++) {
		if (p.s[i] < '0' || p.s[i] > '9' || __builtin_mul_overflow(n, 10u, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(p.s[i] - '0'), &n))
			return false;
	}
	*v = n;
	return p.len != 0;
}

char *piece_dup(struct piece p)
{
	char *s = malloc(p.len + 1);

	if (!s)
		abort();
	memcpy(s, p.s, p.len);
	s[p.len] = 0;
	return s;
}
