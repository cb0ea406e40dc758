// SPDX-License-Identifier: MIT
/* Power cuts in the middle of a replay: see crash_every.h. */
#include "crash_every.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "player.h"
#include "result.h"
#include "show.h"

#define REDUCE_RUNS 200 /* replays that a reduction may take */

/* First state in which a rule breaks. */
struct found {
	struct foliofs_broken b;
	uint64_t event;
	uint64_t states; /* in how many states it begins to break */
	char text[320]; /* the event */
};

struct cuts {
	struct foliofs_sink sink;
	struct foliofs_fs *fs;
	struct foliofs_event_form form;
	uint64_t events, states, broken_states;
	uint64_t state; /* the last one tried */
	uint64_t at; /* only at this event: print what is left */
	enum foliofs_rule only; /* FOLIOFS_RULE_COUNT: all; else stop looking at the first */
	bool done;
	FILE *f;
	struct found found[FOLIOFS_RULE_COUNT];
	bool seen[FOLIOFS_RULE_COUNT]; /* in the state that is looked at */
};

static void keep(void *priv, const struct foliofs_broken *b)
{
	struct cuts *c = priv;
	struct found *x = &c->found[b->rule];

	if (c->only != FOLIOFS_RULE_COUNT && b->rule != c->only)
		return;
	if (!x->states) {
		x->b = *b;
		x->event = c->events;
	}
	x->states += !c->seen[b->rule];
	c->seen[b->rule] = true;
}

static void event_text(const struct cuts *c, const struct foliofs_event *ev, char *buf, size_t len)
{
	int n;

	if (foliofs_event_text_for(&c->form, ev, buf, len) > 0)
		return;
	n = snprintf(buf, len, "%s: ", foliofs_event_name(ev->id));
	if (n > 0 && (size_t)n < len)
		foliofs_event_text(ev, c->form.dev, buf + n, len - (size_t)n);
}

/* Recovery is shown as files. */
static void show_cut(struct cuts *c, const struct foliofs_event *ev)
{
	struct foliofs_fs *after;
	char text[320];
	int ret = foliofs_fs_crash(c->fs, &after);

	event_text(c, ev, text, sizeof(text));
	fprintf(c->f, "power cut at event %" PRIu64 " in operation %u: %s\n", c->events, ev->op,
		text);
	if (ret) {
		fprintf(c->f, "  no file system is left: %s\n", strerror(-ret));
		return;
	}
	fprintf(c->f, "files after recovery\n");
	show_state(c->f, after);
	foliofs_fs_free(after);
}

/* The state before the event: what it tells of happens behind it, or has just happened. */
static void on_event(void *priv, const struct foliofs_event *ev)
{
	struct cuts *c = priv;
	uint64_t state;
	unsigned int i;

	c->events++;
	if (c->done || (c->at && c->events != c->at))
		return;
	state = foliofs_fs_crash_state(c->fs);
	if (!c->at && c->states && state == c->state)
		return;
	c->state = state;
	c->states++;
	memset(c->seen, 0, sizeof(c->seen));
	if (c->at ? foliofs_fs_crash_broken(c->fs, keep, c) : foliofs_fs_crash_news(c->fs, keep, c))
		c->broken_states++;
	for (i = 0; i < FOLIOFS_RULE_COUNT; i++)
		if (c->seen[i] && c->found[i].states == 1)
			event_text(c, ev, c->found[i].text, sizeof(c->found[i].text));
	if (c->at)
		show_cut(c, ev);
	c->done = c->at || (c->only != FOLIOFS_RULE_COUNT && c->seen[c->only]);
}

/* Play operations @ops; what is found is in @c, which also says what to look for. */
static int play(const struct replay_setup *s, const struct foliofs_kernel *k,
		const struct opvec *ops, struct cuts *c, struct player *p, char *err, size_t errlen)
{
	int ret;

	memset(p, 0, sizeof(*p));
	p->ops = ops;
	ret = replay_start(s, k, true, &p->fs, &p->base_ns, err, errlen);
	if (ret)
		return -EINVAL;
	c->fs = p->fs;
	c->form = (struct foliofs_event_form){ k, "7,40", s->geometry.page_size };
	memset(c->sink.wants, 1, sizeof(c->sink.wants));
	c->sink.event = on_event;
	c->sink.priv = c;
	foliofs_fs_add_sink(p->fs, &c->sink);
	while (!ret && !c->done && p->next < ops->nr) {
		p->until = ops->ops[p->next].id;
		ret = player_run(p, err, errlen);
	}
	/* Behind the last event, too. */
	if (!ret && !c->at && !c->done && foliofs_fs_crash_state(p->fs) != c->state) {
		const struct foliofs_event end = { .id = FOLIOFS_EV_foliofs_op, .nargs = 2 };

		on_event(c, &end);
	}
	return ret;
}

/* --- which operations are needed --- */

struct reduction {
	const struct replay_setup *s;
	const struct foliofs_kernel *k;
	enum foliofs_rule rule;
	uint32_t *id; /* numbers of the operations kept */
	size_t nr;
	unsigned int runs;
	uint64_t event; /* where it breaks with those */
};

/* The operations of @v with the numbers @id, which ascend. */
static int choose(const struct opvec *v, const uint32_t *id, size_t nr, struct opvec *out)
{
	size_t at = 0;
	uint32_t i;

	memset(out, 0, sizeof(*out));
	out->ops = calloc(v->nr + 1, sizeof(*out->ops));
	out->texts = calloc(v->nr + 1, sizeof(*out->texts));
	out->lines = calloc(v->nr + 1, sizeof(*out->lines));
	if (!out->ops || !out->texts || !out->lines)
		return -ENOMEM;
	for (i = 0; i < v->nr; i++) {
		while (at < nr && id[at] < v->ops[i].id)
			at++;
		if (at == nr || id[at] != v->ops[i].id)
			continue;
		out->ops[out->nr] = v->ops[i];
		out->texts[out->nr] = v->texts[i];
		out->lines[out->nr++] = v->lines[i];
	}
	return 0;
}

static void choice_free(struct opvec *v)
{
	free(v->ops);
	free(v->texts);
	free(v->lines);
}

/* Does the rule still break with these operations alone? */
static bool still(struct reduction *r, const uint32_t *id, size_t nr)
{
	struct cuts *c = calloc(1, sizeof(*c));
	struct opvec v = { 0 };
	struct player p = { 0 };
	char err[4400];
	bool yes = false;

	r->runs++;
	if (c && !choose(&r->s->trace.v, id, nr, &v)) {
		c->only = r->rule;
		if (!play(r->s, r->k, &v, c, &p, err, sizeof(err)) && c->found[r->rule].states) {
			yes = true;
			r->event = c->found[r->rule].event;
		}
		foliofs_fs_free(p.fs);
	}
	choice_free(&v);
	free(c);
	return yes;
}

/* Leave out ever smaller pieces, as long as it still breaks. */
static void reduce(struct reduction *r)
{
	size_t piece = r->nr / 2 ? r->nr / 2 : 1, at, len;
	uint32_t *id = calloc(r->nr + 1, sizeof(*id));

	if (!id)
		return;
	for (;;) {
		for (at = 0; at < r->nr && r->runs < REDUCE_RUNS;) {
			len = piece < r->nr - at ? piece : r->nr - at;
			memcpy(id, r->id, at * sizeof(*id));
			memcpy(id + at, r->id + at + len, (r->nr - at - len) * sizeof(*id));
			if (len == r->nr || !still(r, id, r->nr - len)) {
				at += len;
				continue;
			}
			r->nr -= len;
			memcpy(r->id, id, r->nr * sizeof(*id));
		}
		if (piece == 1 || r->runs >= REDUCE_RUNS)
			break;
		piece = (piece + 1) / 2;
	}
	free(id);
}

static void print_reduced(FILE *f, const struct replay_setup *s, const struct foliofs_kernel *k,
			  const struct found *x, const char *again)
{
	const struct opvec *v = &s->trace.v;
	struct reduction r = { .s = s, .k = k, .rule = x->b.rule, .event = x->event };
	uint32_t i;
	size_t n;

	r.id = calloc(v->nr + 1, sizeof(*r.id));
	if (!r.id)
		return;
	for (i = 0; i < v->nr && v->ops[i].id <= x->b.op; i++)
		if (!r.nr || r.id[r.nr - 1] != v->ops[i].id)
			r.id[r.nr++] = v->ops[i].id;
	if (!still(&r, r.id, r.nr)) { /* the state behind the last operation */
		free(r.id);
		return;
	}
	reduce(&r);
	fprintf(f, "    %zu operation%s suffice%s\n", r.nr, r.nr > 1 ? "s" : "",
		r.nr > 1 ? "" : "s");
	for (n = 0; n < r.nr; n++)
		fprintf(f, "      %u %s\n", r.id[n], replay_op_text(s, r.id[n]));
	fprintf(f, "      %s --only ", again);
	for (n = 0; n < r.nr; n++)
		fprintf(f, "%s%u", n ? "," : "", r.id[n]);
	fprintf(f, " --crash-at %" PRIu64 "\n", r.event);
	free(r.id);
}

static void print(FILE *f, const struct replay_setup *s, const struct foliofs_kernel *k,
		  const struct cuts *c)
{
	unsigned int i, rules = 0;
	char again[4500];

	snprintf(again, sizeof(again), "foliosim replay%s", s->args->again);
	for (i = 0; i < FOLIOFS_RULE_COUNT; i++)
		rules += c->found[i].states != 0;
	replay_print_input(f, s);
	fprintf(f, "kernel       %s\npower cuts   %" PRIu64 " events, %" PRIu64 " different states",
		k->name, c->events, c->states);
	if (!rules) {
		fprintf(f, "\nverdict      clean: no rule broken\n");
		return;
	}
	fprintf(f, "\nverdict      BROKEN: %u rule%s\n", rules, rules > 1 ? "s" : "");
	for (i = 0; i < FOLIOFS_RULE_COUNT; i++) {
		const struct found *x = &c->found[i];

		if (!x->states)
			continue;
		fprintf(f, "  %s: %s\n", foliofs_rule_name(i), foliofs_rule_meaning(i));
		fprintf(f, "    first at event %" PRIu64 " (%s)\n    in operation %u: %s\n", x->event,
			x->text, x->b.op, replay_op_text(s, x->b.op));
		fprintf(f, "    inode %u: %s\n", x->b.ino, x->b.text);
		fprintf(f, "    see it again: %s --crash-at %" PRIu64 "\n", again, x->event);
		print_reduced(f, s, k, x, again);
	}
}

static int print_at(FILE *f, const struct cuts *c, char *err, size_t errlen)
{
	unsigned int i, nr = 0;

	if (!c->states) {
		snprintf(err, errlen, "--crash-at %" PRIu64 ": the replay has %" PRIu64 " events",
			 c->at, c->events);
		return -EINVAL;
	}
	for (i = 0; i < FOLIOFS_RULE_COUNT; i++) {
		if (!c->found[i].states)
			continue;
		fprintf(f, "%s: %s\n  inode %u: %s\n", foliofs_rule_name(i), foliofs_rule_meaning(i),
			c->found[i].b.ino, c->found[i].b.text);
		nr++;
	}
	if (!nr)
		fprintf(f, "no rule broken\n");
	return nr ? 1 : 0;
}

int crash_run(const struct replay_setup *s, const struct foliofs_kernel *k,
	      const struct crash_request *q, FILE *f, char *err, size_t errlen)
{
	struct cuts *c = calloc(1, sizeof(*c));
	struct player p;
	int ret;

	if (!c)
		return -ENOMEM;
	if (s->geometry.fs_type != FOLIOFS_FS_EXT4) {
		free(c);
		snprintf(err, errlen, "expected ext4, got another file system: what a power cut "
			 "must leave of that is not known");
		return -EINVAL;
	}
	c->f = f;
	c->at = q->at;
	c->only = FOLIOFS_RULE_COUNT;
	ret = play(s, k, &s->trace.v, c, &p, err, errlen);
	if (!ret && q->at)
		ret = print_at(f, c, err, errlen);
	else if (!ret) {
		print(f, s, k, c);
		ret = c->broken_states ? 1 : 0;
	}
	foliofs_fs_free(p.fs);
	free(c);
	return ret;
}
