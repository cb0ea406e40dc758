// SPDX-License-Identifier: MIT
/* The events of one capture: see events.h. */
#include "events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct conform_kind *kind_of(struct conform_events *e, uint32_t id, struct piece name)
{
	if (id >= e->nr_kinds) {
		e->kinds = realloc(e->kinds, (id + 1) * sizeof(*e->kinds));
		if (!e->kinds)
			abort();
		memset(e->kinds + e->nr_kinds, 0, (id + 1 - e->nr_kinds) * sizeof(*e->kinds));
		e->nr_kinds = id + 1;
	}
	if (!e->kinds[id].name)
		e->kinds[id].name = piece_dup(name);
	return &e->kinds[id];
}

static void add(struct conform_events *e, const struct conform_event *ev)
{
	if (e->nr == e->room) {
		e->room = e->room ? e->room * 2 : 4096;
		e->v = realloc(e->v, e->room * sizeof(*e->v));
		if (!e->v)
			abort();
	}
	e->v[e->nr++] = *ev;
}

static void add_call(struct conform_events *e, struct piece name, struct piece text)
{
	if (e->nr_calls == e->room_calls) {
		e->room_calls = e->room_calls ? e->room_calls * 2 : 256;
		e->calls = realloc(e->calls, e->room_calls * sizeof(*e->calls));
		if (!e->calls)
			abort();
	}
	e->calls[e->nr_calls++] = (struct conform_call){ name, text, (uint32_t)e->nr };
}

/* The event is of another device than @dev: "dev 7,40 ..." or "dev 7:40 ...". */
static bool foreign(struct piece text, const char *dev)
{
	size_t n = strcspn(dev, ",");
	struct piece w;

	if (!*dev || !piece_word(&text, &w) || !piece_is(w, "dev") || !piece_word(&text, &w))
		return false;
	return w.len != strlen(dev) || memcmp(w.s, dev, n) || (w.s[n] != ',' && w.s[n] != ':') ||
	       memcmp(w.s + n + 1, dev + n + 1, w.len - n - 1);
}

static void read_trace(struct conform_events *e, struct conform_tables *t, const char *dev)
{
	struct trace_cursor trace = { .text = &e->text };
	struct conform_base base = { 0 };
	/* family of each kind, so that names are looked up once */
	uint8_t *family = NULL;
	size_t nr_families = 0, n;
	struct trace_line line;
	char buf[4096];
	uint32_t op = 0;

	while (trace_text_next(&trace, &line)) {
		struct conform_kind *kind;
		uint32_t id;

		if (line.lost) {
			e->lost += line.lost;
			continue;
		}
		if (line.marker) {
			e->markers = true;
			op = line.op;
		}
		if (piece_is(line.event, "tracing_mark_write"))
			continue;
		if (line.call.len) {
			add_call(e, line.call, line.text);
			continue;
		}
		if (foreign(line.text, dev)) {
			e->foreign++;
			continue;
		}
		id = intern(&t->names, line.event.s, line.event.len);
		if (id >= nr_families) {
			family = realloc(family, id + 1);
			if (!family)
				abort();
			memset(family + nr_families, 0xff, id + 1 - nr_families);
			nr_families = id + 1;
		}
		if (family[id] == 0xff)
			family[id] = (uint8_t)conform_event_family(line.event);
		kind = kind_of(e, id, line.event);
		kind->count++;
		if (family[id] == CONFORM_FAMILY_COUNT)
			continue;
		kind->compared = true;
		n = conform_normal(&line, family[id], &base, buf, sizeof(buf));
		if (!n)
			continue;
		add(e, &(struct conform_event){
			       .op = op,
			       .family = family[id],
			       .kind = id,
			       .id = intern(&t->events, buf, n),
			       .line = line.number,
			       .text = { line.event.s,
					 (size_t)(line.text.s + line.text.len - line.event.s) },
		       });
	}
	free(family);
}

int conform_events_read(struct conform_events *e, struct conform_tables *t, const char *path,
			const char *dev)
{
	struct stat st;
	int ret;

	memset(e, 0, sizeof(*e));
	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		ret = text_read_in(path, "events.txt", &e->text);
	else
		ret = text_read(path, &e->text);
	if (ret == -ENOENT && !stat(path, &st))
		return 0;
	if (ret)
		return ret;
	read_trace(e, t, dev ? dev : "");
	return 0;
}

void conform_events_flatten(struct conform_events *e)
{
	size_t i;

	for (i = 0; i < e->nr; i++)
		e->v[i].op = 0;
}

static int by_op(const void *x, const void *y)
{
	const struct conform_event *a = x, *b = y;

	if (a->op != b->op)
		return a->op < b->op ? -1 : 1;
	if (a->family != b->family)
		return a->family < b->family ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

void conform_events_sort(struct conform_events *e)
{
	if (e->nr)
		qsort(e->v, e->nr, sizeof(*e->v), by_op);
}

void conform_events_free(struct conform_events *e)
{
	size_t i;

	for (i = 0; i < e->nr_kinds; i++)
		free(e->kinds[i].name);
	free(e->kinds);
	free(e->calls);
	free(e->v);
	text_free(&e->text);
	memset(e, 0, sizeof(*e));
}
