// SPDX-License-Identifier: MIT
/*
 * Events in the form of tracefs: see recorder.h.  Lines are put together by
 * hand into a large buffer, since a run has millions of them.
 */
#include "recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "expand.h"

#define BUFFER (1u << 20)
#define LINE 2048 /* no line is longer, but for texts of messages */

/* "COMM-PID" as far as the CPU, by enum foliofs_thread. */
static const char *const tasks[] = {
	"           oprun-1000    [000] ",
	"     kworker/0:1-1002    [000] ",
	"   jbd2/loop40-8-1001    [000] ",
	"    kworker/u8:1-1003    [000] ",
};
#define TASK_LEN 31

/* Where the numbers of events go once they are known. */
static const char counts[] = "# entries-in-buffer/entries-written: %20s   #P:1\n";
#define COUNTS_LEN ((int)sizeof(counts) - 1 - 4 + 20 - 1) /* without the end of the line */
static const char header[] = "# tracer: nop\n"
			     "#\n";
static const char header_rest[] =
	"#\n"
	"#                                _-----=> irqs-off/BH-disabled\n"
	"#                               / _----=> need-resched\n"
	"#                              | / _---=> hardirq/softirq\n"
	"#                              || / _--=> preempt-depth\n"
	"#                              ||| / _-=> migrate-disable\n"
	"#                              |||| /     delay\n"
	"#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
	"#              | |         |   |||||     |         |\n";

struct recorder {
	FILE *out;
	struct foliofs_kernel kernel;
	struct foliofs_event_form form;
	struct foliofs_sink sink;
	struct expand expand;
	char dev[32];
	uint64_t count;
	int error;
	size_t used;
	char buf[BUFFER];
};

static void flush(struct recorder *r)
{
	if (r->used && fwrite(r->buf, 1, r->used, r->out) != r->used && !r->error)
		r->error = errno ? -errno : -EIO;
	r->used = 0;
}

/* Room for a line of @len bytes; NULL: it is too long for the buffer. */
static char *room(struct recorder *r, size_t len)
{
	if (r->used + len > BUFFER)
		flush(r);
	return len <= BUFFER ? r->buf + r->used : NULL;
}

/* "   12.345678: ", the seconds at least five wide. */
static char *put_time(char *p, uint64_t ns)
{
	uint64_t sec = ns / 1000000000, us = ns / 1000 % 1000000, v = sec;
	char digits[24];
	int n = 0, i;

	do {
		digits[n++] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	while (n < 5)
		digits[n++] = ' ';
	while (n)
		*p++ = digits[--n];
	*p++ = '.';
	for (i = 5; i >= 0; i--) {
		p[i] = (char)('0' + us % 10);
		us /= 10;
	}
	p += 6;
	*p++ = ':';
	*p++ = ' ';
	return p;
}

static char *put_task(char *p, unsigned int thread, const char *flags, uint64_t ns)
{
	memcpy(p, tasks[thread < 4 ? thread : 0], TASK_LEN);
	p += TASK_LEN;
	memcpy(p, flags, 5);
	p += 5;
	*p++ = ' ';
	return put_time(p, ns);
}

static void write_event(void *priv, const struct foliofs_event *ev)
{
	struct recorder *r = priv;
	char *start = room(r, LINE), *p;
	size_t left;
	int n;

	p = put_task(start, ev->thread, ".....", ev->time_ns);
	left = LINE - (size_t)(p - start);
	n = foliofs_event_text_for(&r->form, ev, p, left);
	if (!n)
		return;
	if ((size_t)n >= left) /* the text of a message */
		n = (int)left - 1;
	p += n;
	*p++ = '\n';
	r->used += (size_t)(p - start);
	r->count++;
}

static void on_event(void *priv, const struct foliofs_event *ev)
{
	struct recorder *r = priv;

	expand_event(&r->expand, ev);
}

static bool named(const struct recorder_options *opt, const char *name)
{
	size_t i;

	if (!opt->only)
		return true;
	for (i = 0; i < opt->nr_only; i++)
		if (!strcmp(opt->only[i], name))
			return true;
	return false;
}

struct recorder *recorder_new(FILE *out, const struct foliofs_kernel *k,
			      const struct recorder_options *opt)
{
	struct recorder *r = malloc(sizeof(*r));
	unsigned int id;

	if (!r)
		return NULL;
	memset(r, 0, offsetof(struct recorder, buf));
	r->out = out;
	r->kernel = *k;
	snprintf(r->dev, sizeof(r->dev), "%s", opt->dev && opt->dev[0] ? opt->dev : "7,40");
	r->form.kernel = &r->kernel;
	r->form.dev = r->dev;
	r->form.page_size = opt->page_size ? opt->page_size : 4096;
	r->sink.event = on_event;
	r->sink.priv = r;
	r->expand.event = write_event;
	r->expand.priv = r;
	r->expand.cluster_ratio = opt->cluster_ratio;
	for (id = 0; id < FOLIOFS_EV_COUNT; id++) {
		const char *name = foliofs_event_name_for(k, id);

		if (!name)
			continue;
		if (!strncmp(name, "foliofs_", 8))
			r->sink.wants[id] = opt->own;
		else
			r->sink.wants[id] = named(opt, name);
	}
	fputs(header, out);
	fprintf(out, counts, "");
	fputs(header_rest, out);
	return r;
}

const struct foliofs_sink *recorder_sink(struct recorder *r)
{
	return &r->sink;
}

static void mark(struct recorder *r, const char *head, const char *text, uint64_t ns)
{
	size_t n = strlen(head), m = strlen(text);
	char *start, *p;

	expand_flush(&r->expand);
	start = room(r, TASK_LEN + 64 + n + m);
	if (!start)
		return;
	p = put_task(start, FOLIOFS_THREAD_TASK, "...1.", ns);
	memcpy(p, "tracing_mark_write: ", 20);
	p += 20;
	memcpy(p, head, n);
	memcpy(p + n, text, m);
	p += n + m;
	*p++ = '\n';
	r->used += (size_t)(p - start);
	r->count++;
}

void recorder_op(struct recorder *r, uint32_t id, const char *text, uint64_t time_ns)
{
	char head[40];

	snprintf(head, sizeof(head), "foliosim op %u ", id);
	mark(r, head, text, time_ns);
}

int recorder_end(struct recorder *r, uint64_t time_ns)
{
	char number[64], line[128];
	long here;

	mark(r, "foliosim end", "", time_ns);
	flush(r);
	here = ftell(r->out);
	if (here >= 0 && !fseek(r->out, (long)sizeof(header) - 1, SEEK_SET)) {
		snprintf(number, sizeof(number), "%llu/%llu", (unsigned long long)r->count,
			 (unsigned long long)r->count);
		/* the line keeps its length: the rest is filled with blanks */
		snprintf(line, sizeof(line), "# entries-in-buffer/entries-written: %s   #P:1",
			 number);
		fprintf(r->out, "%-*.*s", COUNTS_LEN, COUNTS_LEN, line);
		fseek(r->out, here, SEEK_SET);
	}
	if (fflush(r->out) && !r->error)
		r->error = -errno;
	return r->error;
}

bool recorder_wants(const struct recorder *r, unsigned int id)
{
	return id < FOLIOFS_EV_COUNT && r->sink.wants[id];
}

void recorder_free(struct recorder *r)
{
	free(r);
}
