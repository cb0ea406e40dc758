// SPDX-License-Identifier: MIT
/* Reading a trace of any format, see trace.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/oplist.h"
#include "trace/trace_private.h"

static const char *const format_names[] = {
	[TRACE_AUTO] = "auto", [TRACE_OPLIST] = "oplist", [TRACE_STRACE] = "strace",
	[TRACE_IOLOG] = "iolog", [TRACE_FSX] = "fsx",
};

const char *trace_format_name(enum trace_format format)
{
	return format_names[format];
}

int trace_format_find(const char *name)
{
	for (int i = TRACE_AUTO; i <= TRACE_FSX; i++)
		if (!strcmp(format_names[i], name))
			return i;
	return -ENOENT;
}

/*
 * The first lines decide.  An op list is what is nothing else: its parser has the best messages
 * for what is wrong.
 */
static enum trace_format detect(const struct trace_text *text)
{
	const char *p = text->data, *nl;
	char line[512];

	for (int i = 0; i < 64 && *p; i++, p = nl + (*nl == '\n')) {
		nl = strchr(p, '\n');
		nl = nl ? nl : p + strlen(p);
		snprintf(line, sizeof(line), "%.*s", (int)(nl - p), p);
		if (!strncmp(line, "fio version ", 12))
			return TRACE_IOLOG;
		if (!strncmp(line, "# op ", 5) || strace_is_line(line))
			return TRACE_STRACE;
		if (fsx_is_line(line))
			return TRACE_FSX;
		if (line[strspn(line, " \t\r")] && line[0] != '#')
			return TRACE_OPLIST;
	}
	return TRACE_OPLIST;
}

int trace_read_oplist(struct trace *t, struct trace_text *text, struct trace_where *w)
{
	struct oplist l;
	int ret;

	oplist_init(&l, 1);
	ret = oplist_parse_text(&l, text, w);
	t->v = l.v;
	t->nr_slots = (uint32_t)l.nr_slots;
	opvec_init(&l.v);
	oplist_free(&l);
	return ret;
}

int trace_load(const char *path, const struct trace_options *opt, struct trace *t, char *err,
	       size_t errlen)
{
	struct trace_where w = { .err = err, .errlen = errlen };
	struct trace_options none = { 0 };
	struct trace_text text;
	int ret;

	memset(t, 0, sizeof(*t));
	if (!opt)
		opt = &none;
	if (errlen)
		*err = '\0';
	ret = trace_text_load(path, &text, &w);
	if (ret)
		return ret;
	for (size_t i = 0; i < text.len; i++)
		t->nr_lines += text.data[i] == '\n' || i + 1 == text.len;
	opvec_init(&t->v);
	t->root = "/";
	t->format = opt->format == TRACE_AUTO ? detect(&text) : opt->format;
	switch (t->format) {
	case TRACE_STRACE:
		ret = trace_read_strace(t, &text, opt, &w);
		break;
	case TRACE_IOLOG:
		ret = trace_read_iolog(t, &text, opt, &w);
		break;
	case TRACE_FSX:
		ret = trace_read_fsx(t, &text, &w);
		break;
	default:
		ret = trace_read_oplist(t, &text, &w);
	}
	if (!ret && !t->v.nr) {
		w.line = 0;
		ret = trace_fail(&w,
				 "expected operations on the modelled file system (root %s), "
				 "got none in %llu lines",
				 t->root, (unsigned long long)t->nr_lines);
	}
	trace_text_free(&text);
	if (ret)
		trace_free(t);
	return ret;
}

void trace_free(struct trace *t)
{
	opvec_free(&t->v);
	free(t->assumptions);
	free(t->calls);
	free(t->notes);
	memset(t, 0, sizeof(*t));
}

/* Room for one more in an array that grows by powers of two. */
static void *room(void *p, uint32_t nr, size_t size)
{
	return nr & (nr - 1) ? p : trace_realloc(p, nr ? 2 * (size_t)nr : 1, size);
}

void trace_assume(struct trace *t, const char *path, uint64_t size, bool dir, const char *why)
{
	t->assumptions = room(t->assumptions, t->nr_assumptions, sizeof(*t->assumptions));
	t->assumptions[t->nr_assumptions++] = (struct trace_assumption){
		.path = opvec_strdup(&t->v, path), .size = size, .dir = dir,
		.why = opvec_strdup(&t->v, why),
	};
}

static bool assumed(const struct trace *t, const char *path, size_t len)
{
	for (uint32_t i = 0; i < t->nr_assumptions; i++)
		if (!strncmp(t->assumptions[i].path, path, len) && !t->assumptions[i].path[len])
			return true;
	return false;
}

void trace_assume_above(struct trace *t, const char *path)
{
	const char *dir;

	for (const char *p = path; (p = strchr(p, '/')); p++) {
		if (p == path || assumed(t, path, (size_t)(p - path)))
			continue;
		dir = opvec_strndup(&t->v, path, (size_t)(p - path));
		trace_assume(t, dir, 0, true, "a name below it is used");
	}
}

void trace_note(struct trace *t, const char *fmt, ...)
{
	char buf[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	t->notes = room(t->notes, t->nr_notes, sizeof(*t->notes));
	t->notes[t->nr_notes++] = opvec_strdup(&t->v, buf);
}

struct trace_call *trace_count(struct trace *t, const char *name)
{
	for (uint32_t i = 0; i < t->nr_calls; i++)
		if (!strcmp(t->calls[i].name, name))
			return &t->calls[i];
	t->calls = room(t->calls, t->nr_calls, sizeof(*t->calls));
	t->calls[t->nr_calls] = (struct trace_call){ .name = opvec_strdup(&t->v, name) };
	return &t->calls[t->nr_calls++];
}
