// SPDX-License-Identifier: MIT
/* Tables of comma-separated values: see csv.h. */
#include "csv.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

int csv_refuse(struct csv *c, const char *expected, const char *got)
{
	snprintf(c->err, c->errlen, "%s:%u: expected %s, got '%s'", c->path, c->nr_line, expected,
		 got);
	return -EINVAL;
}

/* Cut @s into fields, in place: their number, or -EINVAL. */
static int split(struct csv *c, char *s, const char **field)
{
	size_t n = 0;

	for (;;) {
		bool quoted = *s == '"';
		char *to = s + quoted, *from = to;

		if (n == CSV_FIELDS)
			return csv_refuse(c, "a line of fewer fields", s);
		field[n++] = to;
		while (*from && (quoted || *from != ',')) {
			if (quoted && *from == '"') {
				if (from[1] != '"')
					break;
				from++;
			}
			*to++ = *from++;
		}
		if (quoted && *from++ != '"')
			return csv_refuse(c, "a closing quote", field[n - 1]);
		if (*from && *from != ',')
			return csv_refuse(c, "a comma behind the closing quote", from);
		s = from + 1;
		if (!*from) {
			*to = '\0';
			return (int)n;
		}
		*to = '\0';
	}
}

/* The next line with something in it, without its end: 1, 0 or a negative errno. */
static int next_line(struct csv *c)
{
	ssize_t n;

	do {
		n = getline(&c->line, &c->size, c->f);
		if (n < 0) {
			if (!ferror(c->f))
				return 0;
			snprintf(c->err, c->errlen, "%s: %s", c->path, strerror(errno));
			return -EIO;
		}
		c->nr_line++;
		if (memchr(c->line, '\0', (size_t)n))
			return csv_refuse(c, "text", "a byte 0");
		while (n && (c->line[n - 1] == '\n' || c->line[n - 1] == '\r'))
			c->line[--n] = '\0';
	} while (!n || *c->line == '#');
	return 1;
}

int csv_open(struct csv *c, const char *path, char *err, size_t errlen)
{
	int ret;

	*c = (struct csv){ .path = path, .err = err, .errlen = errlen };
	c->f = !strcmp(path, "-") ? stdin : fopen(path, "r");
	if (!c->f) {
		ret = -errno;
		snprintf(err, errlen, "%s: cannot open: %s", path, strerror(-ret));
		return ret;
	}
	ret = next_line(c);
	if (!ret) {
		c->nr_line++;
		ret = csv_refuse(c, "a line with the names of the columns", "the end of the file");
	}
	if (ret > 0) {
		c->names = c->line;
		c->line = NULL;
		c->size = 0;
		ret = split(c, c->names, c->column);
	}
	if (ret < 0) {
		csv_close(c);
		return ret;
	}
	c->nr = (size_t)ret;
	return 0;
}

int csv_next(struct csv *c)
{
	char text[48], got[24];
	int ret = next_line(c);

	if (ret <= 0)
		return ret;
	ret = split(c, c->line, c->field);
	if (ret < 0)
		return ret;
	if ((size_t)ret == c->nr)
		return 1;
	snprintf(text, sizeof(text), "%zu fields", c->nr);
	snprintf(got, sizeof(got), "%d fields", ret);
	return csv_refuse(c, text, got);
}

void csv_close(struct csv *c)
{
	if (c->f && c->f != stdin)
		fclose(c->f);
	free(c->line);
	free(c->names);
	c->f = NULL;
	c->line = c->names = NULL;
}

static int column(struct csv *c, const char *name)
{
	char text[80];
	size_t i;

	for (i = 0; i < c->nr; i++)
		if (!strcmp(c->column[i], name))
			return (int)i;
	snprintf(text, sizeof(text), "a column \"%s\"", name);
	return csv_refuse(c, text, c->column[0]);
}

int csv_columns(struct csv *c, const char *const *name, size_t nr, int *at)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		at[i] = column(c, name[i]);
		if (at[i] < 0)
			return -EINVAL;
	}
	return 0;
}

int csv_number(struct csv *c, int i, double min, double *v)
{
	const char *s = c->field[i];
	char text[96], *end;

	errno = 0;
	*v = strtod(s, &end);
	if (*s && !*end && !errno && isfinite(*v) && *v >= min)
		return 0;
	snprintf(text, sizeof(text), "%s: a number of at least %g", c->column[i], min);
	return csv_refuse(c, text, s);
}
