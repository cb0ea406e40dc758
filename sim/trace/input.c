// SPDX-License-Identifier: MIT
/* Reading of whole input files, see input.h.  zlib passes plain files through unchanged. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "trace/input.h"

static int read_all(gzFile gz, struct trace_text *t, const struct trace_where *w)
{
	size_t max = 0;
	int n, zerr;
	const char *msg;

	for (;;) {
		if (max - t->len < 65536) {
			max = max ? 2 * max : 262144;
			t->data = trace_realloc(t->data, max, 1);
		}
		n = gzread(gz, t->data + t->len, 32768);
		if (n <= 0)
			break;
		t->len += (size_t)n;
	}
	t->data[t->len] = '\0';
	msg = gzerror(gz, &zerr);
	if (zerr == Z_ERRNO) {
		int e = errno ? errno : EIO;

		trace_fail(w, "cannot read: %s", strerror(e));
		return -e;
	}
	if (n < 0 || (zerr != Z_OK && zerr != Z_STREAM_END))
		return trace_fail(w, "expected a whole gzip file, got one that is damaged (%s)",
				  msg);
	return 0;
}

/* The line that @at is on. */
static uint32_t line_of(const struct trace_text *t, size_t at)
{
	uint32_t line = 1;

	for (size_t i = 0; i < at; i++)
		line += t->data[i] == '\n';
	return line;
}

int trace_text_load(const char *path, struct trace_text *t, struct trace_where *w)
{
	bool std = !strcmp(path, "-");
	int fd = -1, ret, end;
	const char *nul;
	gzFile gz;

	memset(t, 0, sizeof(*t));
	t->name = std ? "<stdin>" : path;
	w->file = t->name;
	w->line = w->col = 0;
	if (std)
		fd = dup(STDIN_FILENO);
	errno = 0;
	gz = std ? gzdopen(fd, "rb") : gzopen(path, "rb");
	if (!gz) {
		int e = errno ? errno : ENOMEM;

		if (fd >= 0)
			close(fd);
		trace_fail(w, "cannot open: %s", strerror(e));
		return -e;
	}
	ret = read_all(gz, t, w);
	end = gzclose_r(gz);
	if (!ret && end == Z_BUF_ERROR)
		ret = trace_fail(w, "expected a whole gzip file, got one that is cut short");
	if (ret)
		goto fail;
	nul = memchr(t->data, '\0', t->len);
	if (nul) {
		w->line = line_of(t, (size_t)(nul - t->data));
		ret = trace_fail(w, "expected text, got a NUL byte");
		goto fail;
	}
	return 0;
fail:
	trace_text_free(t);
	return ret;
}

void trace_text_free(struct trace_text *t)
{
	free(t->data);
	t->data = NULL;
	t->len = 0;
}

char *trace_text_line(struct trace_text *t, size_t *pos)
{
	char *line, *end;

	if (*pos >= t->len)
		return NULL;
	line = t->data + *pos;
	end = memchr(line, '\n', t->len - *pos);
	if (!end)
		end = t->data + t->len;
	*pos = (size_t)(end - t->data) + 1;
	if (end > line && end[-1] == '\r')
		end[-1] = '\0';
	*end = '\0';
	return line;
}
