// SPDX-License-Identifier: MIT
/* One run of a scenario of which failures are injected: see inject_run.h. */
#include "scenario/inject_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CUT_BEHIND_ALL 32u /* so many operations are followed by power cuts one by one */

struct digest {
	struct foliofs_fs *fs;
	uint64_t hash;
};

static void add(struct digest *d, uint64_t v)
{
	d->hash = (d->hash ^ v) * 0x100000001b3ull;
	d->hash ^= d->hash >> 29;
}

static void add_content(void *priv, const struct foliofs_content *c)
{
	struct digest *d = priv;

	/* Which zero it is does not matter. */
	if (c->kind == FOLIOFS_SOURCE_ZERO || c->kind == FOLIOFS_SOURCE_HOLE)
		return;
	add(d, c->offset);
	add(d, c->len);
	add(d, c->source_offset);
	add(d, (uint64_t)c->kind << 32 | c->source);
}

static void add_file(void *priv, const char *path, uint32_t ino, uint32_t mode)
{
	struct digest *d = priv;
	struct foliofs_stat st;

	for (; *path; path++)
		add(d, (unsigned char)*path);
	if ((mode & 0170000) != 0100000 || foliofs_fs_stat_ino(d->fs, ino, &st))
		return;
	add(d, st.size);
	foliofs_fs_for_each_content(d->fs, ino, add_content, d);
}

static void keep(void *priv, const struct foliofs_broken *b)
{
	struct injected *out = priv;

	if (!out->broken[b->rule])
		out->first[b->rule] = *b;
	out->broken[b->rule] = 1;
}

void injected_free(struct injected *out)
{
	free(out->result);
	free(out->id);
	free(out->asked);
}

/*
 * Behind each of the operations around the failure and the first of the run, then behind each
 * 16th: what is lost stays lost.
 */
static bool cut_power(const struct injected *out)
{
	size_t since = out->nr - out->failed_at;

	return since <= CUT_BEHIND_ALL || since % 16 == 0;
}

static void run_ops(struct run *r, struct injected *out)
{
	size_t i = scenario_next_op(r->s, r->s->ops.first);

	while (i < r->s->ops.end) {
		size_t k = out->nr++;

		out->id[k] = scenario_op(r->s, i)->id;
		out->asked[k] = scenario_op(r->s, i)->len;
		out->result[k] = run_op(r, &i);
		if (cut_power(out) || i >= r->s->ops.end)
			foliofs_fs_crash_news(r->fs, keep, out);
	}
}

int injected_run(struct run *r, foliofs_failure_fn ask, void *priv, struct injected *out)
{
	const struct foliofs_broken *b;
	struct digest d = { .hash = 0xcbf29ce484222325ull };
	enum foliofs_failure what;
	size_t k;
	int ret;

	memset(out, 0, sizeof(*out));
	out->result = calloc(r->s->ops.last_id + 1, sizeof(*out->result));
	out->id = calloc(r->s->ops.last_id + 1, sizeof(*out->id));
	out->asked = calloc(r->s->ops.last_id + 1, sizeof(*out->asked));
	r->injecting = true;
	event_log_init(&r->events, NULL);
	ret = out->result && out->id && out->asked ? run_start(r) : -ENOMEM;
	if (!ret) {
		for (what = 0; what < FOLIOFS_FAILURE_COUNT; what++)
			foliofs_fs_inject(r->fs, what, UINT32_MAX);
		foliofs_fs_set_failure_handler(r->fs, ask, priv);
		run_ops(r, out);
		for (what = 0; what < FOLIOFS_FAILURE_COUNT; what++)
			out->seen[what] = foliofs_fs_injected(r->fs, what, NULL);
		for (k = 0; (b = foliofs_fs_broken_at(r->fs, k)); k++)
			keep(out, b);
		d.fs = r->fs;
		foliofs_fs_for_each_name(r->fs, add_file, &d);
		out->digest = d.hash;
	}
	run_end(r);
	event_log_free(&r->events);
	return ret;
}
