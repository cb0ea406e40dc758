// SPDX-License-Identifier: MIT
/*
 * Expectations on events: how many, their fields, their order.
 */
#include "scenario/run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool field_holds(const struct foliofs_event *ev, int field, const struct want *w)
{
	char text[300];

	if (w->kind != WANT_TEXT)
		return want_holds(w, (int64_t)ev->arg[field]) &&
		       (w->kind == WANT_ANY || !event_field_is_text(ev->id, field));
	if (foliofs_event_field_text(ev, field, text, sizeof(text)) < 0)
		return false;
	return !strcmp(text, w->text);
}

static bool matches(const struct foliofs_event *ev, const struct event_match *m)
{
	unsigned int i;

	if (ev->id != m->id || (m->thread >= 0 && ev->thread != m->thread))
		return false;
	for (i = 0; i < m->nr; i++)
		if (!field_holds(ev, m->field[i].field, &m->field[i].want))
			return false;
	return true;
}

static bool inside(const struct foliofs_event *ev, struct op_range ops)
{
	return !ops.first || (ops.first <= ev->op && ev->op <= ops.last);
}

static struct op_range narrow(struct op_range ops, struct op_range scope)
{
	return ops.first ? ops : scope;
}

/* A growing text of numbers. */
struct numbers {
	FILE *f;
	char *text;
	size_t len, nr;
};

static void numbers_open(struct numbers *n)
{
	*n = (struct numbers){ 0 };
	n->f = open_memstream(&n->text, &n->len);
}

static void numbers_add(struct numbers *n, const char *text)
{
	if (n->f)
		fprintf(n->f, "%s%s", n->nr ? " " : "", text);
	n->nr++;
}

static char *numbers_close(struct numbers *n)
{
	if (n->f)
		fclose(n->f);
	return n->text;
}

static char *list_text(const char *what, const struct want_list *l)
{
	struct numbers n;
	char buf[60], *text, *ret;
	size_t i;

	numbers_open(&n);
	for (i = 0; i < l->nr; i++)
		numbers_add(&n, want_text(&l->want[i], buf, sizeof(buf)));
	text = numbers_close(&n);
	ret = text_of("%s: %s", what, text && *text ? text : "none");
	free(text);
	return ret;
}

static void check_count(struct run *r, const struct expect_event *x, struct op_range ops)
{
	const struct event_log *rec = &r->events;
	const struct foliofs_event *last = NULL;
	char want[60], text[300] = "";
	int64_t nr = 0;
	size_t i;

	for (i = 0; i < rec->nr; i++)
		if (inside(&rec->event[i], ops)) {
			nr += matches(&rec->event[i], &x->match);
			if (rec->event[i].id == x->match.id)
				last = &rec->event[i];
		}
	if (x->counted ? want_holds(&x->count, nr) : nr > 0)
		return;
	if (!nr && last)
		foliofs_event_text(last, "7,40", text, sizeof(text));
	run_fail(r, ops.first == ops.last ? ops.first : 0, x->counted ? x->count_at : x->match.at,
		 text_of("%s %s times", x->match.text,
			 x->counted ? want_text(&x->count, want, sizeof(want)) : "1 or more"),
		 text_of("%" PRId64 " times%s%s", nr, *text ? "; another: " : "", text));
}

static void check_values(struct run *r, const struct expect_event *x, unsigned int which,
			 struct op_range ops)
{
	const struct want_list *l = &x->values[which].list;
	const struct event_log *rec = &r->events;
	int field = x->values[which].field;
	struct numbers n;
	bool good = true;
	char text[300];
	size_t i;

	numbers_open(&n);
	for (i = 0; i < rec->nr; i++) {
		const struct foliofs_event *ev = &rec->event[i];

		if (!inside(ev, ops) || !matches(ev, &x->match))
			continue;
		good = good && n.nr < l->nr && field_holds(ev, field, &l->want[n.nr]);
		text[0] = 0;
		foliofs_event_field_text(ev, field, text, sizeof(text));
		numbers_add(&n, text);
	}
	good = good && n.nr == l->nr;
	numbers_close(&n);
	if (!good)
		run_fail(r, ops.first == ops.last ? ops.first : 0, l->at,
			 list_text(x->match.text, l), text_of("%s", n.nr ? n.text : "none"));
	free(n.text);
}

/* Matches before each event of kind per, and behind the last one if there are any. */
static void check_groups(struct run *r, const struct expect_event *x, struct op_range ops)
{
	const struct event_log *rec = &r->events;
	struct numbers n;
	bool good = true;
	char text[24];
	int64_t nr = 0;
	size_t i;

	numbers_open(&n);
	for (i = 0; i <= rec->nr; i++) {
		if (i < rec->nr && !inside(&rec->event[i], ops))
			continue;
		if (i < rec->nr && matches(&rec->event[i], &x->match))
			nr++;
		if (i < rec->nr ? rec->event[i].id != x->per : !nr)
			continue;
		good = good && n.nr < x->counts.nr && want_holds(&x->counts.want[n.nr], nr);
		snprintf(text, sizeof(text), "%" PRId64, nr);
		numbers_add(&n, text);
		nr = 0;
	}
	good = good && n.nr == x->counts.nr;
	numbers_close(&n);
	if (!good)
		run_fail(r, ops.first == ops.last ? ops.first : 0, x->counts.at,
			 list_text(x->match.text, &x->counts),
			 text_of("%s", n.nr ? n.text : "none"));
	free(n.text);
}

static void check_sequence(struct run *r, const struct expect_sequence *x, struct op_range ops)
{
	const struct event_log *rec = &r->events;
	uint8_t kinds[FOLIOFS_EV_COUNT] = { 0 };
	const struct foliofs_event *other = NULL;
	char text[300] = "no more events";
	size_t i, at = 0;

	for (i = 0; i < x->nr; i++)
		kinds[x->match[i].id] = 1;
	for (i = 0; i < rec->nr; i++) {
		const struct foliofs_event *ev = &rec->event[i];

		if (!kinds[ev->id] || !inside(ev, ops))
			continue;
		if (at < x->nr && matches(ev, &x->match[at])) {
			at++;
			continue;
		}
		other = ev;
		if (x->exact)
			break;
	}
	if (at == x->nr && (!x->exact || !other))
		return;
	if (other && x->exact) {
		int len = snprintf(text, sizeof(text), "%s: ", foliofs_event_name(other->id));

		foliofs_event_text(other, "7,40", text + len, sizeof(text) - (size_t)len);
	}
	run_fail(r, ops.first == ops.last ? ops.first : 0,
		 at < x->nr ? x->match[at].at : x->at,
		 text_of("event %zu of the sequence: %s", at + 1,
			 at < x->nr ? x->match[at].text : "the end"),
		 text_of("%s", text));
}

void check_events(struct run *r, const struct expect *e, struct op_range scope)
{
	const struct expect_sequence *q;
	const struct expect_event *x;
	struct op_range ops;
	unsigned int i;

	for (x = e->events; x; x = x->next) {
		ops = narrow(x->ops, scope);
		if (x->counted || (!x->nr_values && !x->grouped))
			check_count(r, x, ops);
		for (i = 0; i < x->nr_values; i++)
			check_values(r, x, i, ops);
		if (x->grouped)
			check_groups(r, x, ops);
	}
	for (q = e->sequences; q; q = q->next)
		check_sequence(r, q, narrow(q->ops, scope));
}

void check_events_want(struct run *r, const struct expect *e)
{
	const struct expect_sequence *q;
	const struct expect_event *x;
	size_t i;

	for (x = e->events; x; x = x->next) {
		event_log_want(&r->events, x->match.id);
		if (x->grouped)
			event_log_want(&r->events, x->per);
	}
	for (q = e->sequences; q; q = q->next)
		for (i = 0; i < q->nr; i++)
			event_log_want(&r->events, q->match[i].id);
}
