// SPDX-License-Identifier: MIT
/*
 * Recording of events.  An event lives only while it is emitted, so the texts in
 * it are copied.
 */
#include "scenario/record.h"

#include <stdlib.h>
#include <string.h>

static const char *const formats[FOLIOFS_EV_COUNT] = {
#define FOLIOFS_EVENT(name, fields, format) [FOLIOFS_EV_##name] = format,
#include <foliofs/events.def>
#undef FOLIOFS_EVENT
};

bool event_field_is_text(unsigned int id, int field)
{
	const char *f = id < FOLIOFS_EV_COUNT ? formats[id] : NULL;
	int nr = 0;

	for (; f && (f = strchr(f, '%')); f += 2) {
		if (!f[1])
			return false;
		if (f[1] == 'D' || f[1] == 'C') /* the device: no field */
			continue;
		if (nr++ == field)
			return f[1] == 's';
	}
	return false;
}

static const char *keep_text(struct event_log *r, const char *text)
{
	char **more, *copy;

	if (r->nr_texts == r->max_texts) {
		size_t max = r->max_texts ? 2 * r->max_texts : 64;

		more = realloc(r->text, max * sizeof(*more));
		if (!more)
			return NULL;
		r->text = more;
		r->max_texts = max;
	}
	copy = strdup(text ? text : "");
	if (copy)
		r->text[r->nr_texts++] = copy;
	return copy;
}

static void keep(struct event_log *r, const struct foliofs_event *ev)
{
	struct foliofs_event *more, *copy;
	unsigned int i;

	if (r->nr == r->max) {
		size_t max = r->max ? 2 * r->max : 256;

		more = realloc(r->event, max * sizeof(*more));
		if (!more) {
			r->failed = true;
			return;
		}
		r->event = more;
		r->max = max;
	}
	copy = &r->event[r->nr];
	*copy = *ev;
	for (i = 0; i < ev->nargs; i++) {
		const char *text;

		if (!event_field_is_text(ev->id, (int)i))
			continue;
		text = keep_text(r, (const char *)(uintptr_t)ev->arg[i]);
		if (!text) {
			r->failed = true;
			return;
		}
		copy->arg[i] = (uintptr_t)text;
	}
	r->nr++;
}

static void print(FILE *log, const struct foliofs_event *ev)
{
	char text[512];

	foliofs_event_text(ev, "7,40", text, sizeof(text));
	fprintf(log, "\t%s: %s\n", foliofs_event_name(ev->id), text);
}

static void on_event(void *priv, const struct foliofs_event *ev)
{
	struct event_log *r = priv;

	if (r->sink.wants[ev->id] & 2)
		keep(r, ev);
	if (r->log)
		print(r->log, ev);
}

void event_log_init(struct event_log *r, FILE *log)
{
	memset(r, 0, sizeof(*r));
	r->sink.event = on_event;
	r->sink.priv = r;
	r->log = log;
	if (log)
		memset(r->sink.wants, 1, sizeof(r->sink.wants));
}

void event_log_want(struct event_log *r, enum foliofs_event_id id)
{
	r->sink.wants[id] |= 2;
}

void event_log_free(struct event_log *r)
{
	size_t i;

	for (i = 0; i < r->nr_texts; i++)
		free(r->text[i]);
	free(r->text);
	free(r->event);
}
