// SPDX-License-Identifier: MIT
/*
 * foliosim run --inject: a scenario once more for each failure that can happen in it,
 * the first, the second and so on, until no more places are left.
 *
 * The expectations of the scenario are for the run without failures.  Here this must
 * hold: no rule breaks that does not break without; no power cut behind any operation
 * loses what was synced; the first operation whose result differs gives the error of
 * the failure, or less bytes; and where no result differs, nor do the files at the end.
 */
#include "scenario/run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Up to here every number is tried, behind it ever fewer. */
#define ALL_UP_TO 128u

/* One run: results of the operations, what the files are like at the end. */
struct injected {
	int64_t *result; /* [nr] */
	uint32_t *id;
	size_t nr;
	uint64_t digest;
	uint8_t broken[FOLIOFS_RULE_COUNT]; /* power cuts included */
	struct foliofs_broken first[FOLIOFS_RULE_COUNT];
	uint32_t seen;
	bool failed;
};

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

static void free_failures(struct failure *f)
{
	struct failure *next;

	for (; f; f = next) {
		next = f->next;
		free(f->expected);
		free(f->got);
		free(f->before);
		free(f->after);
		free(f);
	}
}

static void injected_free(struct injected *out)
{
	free(out->result);
	free(out->id);
}

static void run_ops(struct run *r, struct injected *out)
{
	size_t i = scenario_next_op(r->s, r->s->ops.first);

	while (i < r->s->ops.end) {
		out->id[out->nr] = scenario_op(r->s, i)->id;
		out->result[out->nr++] = run_op(r, &i);
		foliofs_fs_crash_news(r->fs, keep, out);
	}
}

/* Run all operations; @nth 0: without a failure, but count the places. */
static int run(const struct run *proto, enum foliofs_failure what, uint32_t nth,
	       struct injected *out)
{
	struct case_result scratch = { .tail = &scratch.failures };
	struct run r = *proto;
	const struct foliofs_broken *b;
	struct digest d = { .hash = 0xcbf29ce484222325ull };
	size_t k;
	int ret;

	memset(out, 0, sizeof(*out));
	out->result = calloc(proto->s->ops.last_id + 1, sizeof(*out->result));
	out->id = calloc(proto->s->ops.last_id + 1, sizeof(*out->id));
	r.result = &scratch;
	r.injecting = true;
	event_log_init(&r.events, NULL);
	ret = out->result && out->id ? run_start(&r) : -ENOMEM;
	if (!ret) {
		foliofs_fs_inject(r.fs, what, nth ? nth : UINT32_MAX);
		run_ops(&r, out);
		out->seen = foliofs_fs_injected(r.fs, what, &out->failed);
		for (k = 0; (b = foliofs_fs_broken_at(r.fs, k)); k++)
			keep(out, b);
		d.fs = r.fs;
		foliofs_fs_for_each_name(r.fs, add_file, &d);
		out->digest = d.hash;
	}
	run_end(&r);
	event_log_free(&r.events);
	free_failures(scratch.failures);
	return ret;
}

static void judge_results(struct run *r, const char *name, int error, uint32_t nth,
			  const struct injected *plain, const struct injected *out)
{
	char buf[32];
	size_t k;

	for (k = 0; k < plain->nr && plain->result[k] == out->result[k]; k++)
		;
	if (k == plain->nr) {
		/* Results of operations at stops are not compared. */
		if (plain->digest != out->digest && !r->s->at)
			run_fail(r, 0, NULL,
				 text_of("the same files when %s number %u fails: no operation "
					 "says otherwise", name, nth), text_of("others"));
		return;
	}
	/* A fault that fails is a SIGBUS, whatever the error was. */
	if (error && (out->result[k] == -error || out->result[k] == -EFAULT ||
		      (plain->result[k] > 0 && out->result[k] >= 0 &&
		       out->result[k] < plain->result[k])))
		return;
	run_fail(r, out->id[k], NULL,
		 text_of("%" PRId64 "%s%s when %s number %u fails", plain->result[k],
			 error ? ", less, or " : "",
			 error ? errno_text(error, buf, sizeof(buf)) : "", name, nth),
		 text_of("%" PRId64, out->result[k]));
}

static void judge(struct run *r, enum foliofs_failure what, uint32_t nth,
		  const struct injected *plain, const struct injected *out)
{
	const char *name = foliofs_failure_name(what);
	unsigned int i;

	for (i = 0; i < FOLIOFS_RULE_COUNT; i++)
		if (out->broken[i] && !plain->broken[i])
			run_fail(r, out->first[i].op, NULL,
				 text_of("rule %s kept when %s number %u fails",
					 foliofs_rule_name(i), name, nth),
				 text_of("inode %u: %s", out->first[i].ino, out->first[i].text));
	judge_results(r, name, foliofs_failure_error(what), nth, plain, out);
}

static void one_kind(struct run *proto, enum foliofs_failure what, struct case_result *c)
{
	struct injected plain, out;
	struct run r = *proto;
	uint32_t nth, tried = 0;

	r.result = c;
	if (run(proto, what, 0, &plain)) {
		run_fail(&r, 0, NULL, text_of("a run without failures"), text_of("none"));
		injected_free(&plain);
		return;
	}
	for (nth = 1; nth <= plain.seen; nth += 1 + (nth > ALL_UP_TO ? nth / 16 : 0)) {
		if (!run(proto, what, nth, &out) && out.failed)
			judge(&r, what, nth, &plain, &out);
		injected_free(&out);
		tried++;
	}
	c->nr_ops = tried;
	injected_free(&plain);
}

void inject_all(struct run *proto, const struct run_options *o, struct case_result ***tail)
{
	const struct case_result *like = proto->result;
	enum foliofs_failure what;
	struct case_result *c;
	char err[256] = "";

	if (proto->s->ops.first == proto->s->ops.end || proto->setup->inject || proto->s->inject ||
	    run_geometry(proto, err, sizeof(err)))
		return;
	for (what = 0; what < FOLIOFS_FAILURE_COUNT; what++) {
		if (strcmp(o->inject, "all") && strcmp(o->inject, foliofs_failure_name(what)))
			continue;
		c = calloc(1, sizeof(*c));
		if (!c)
			return;
		c->scenario = proto->s;
		c->label = text_of("%s", like->label);
		c->kernel = text_of("%s", like->kernel);
		c->why = like->why;
		c->tail = &c->failures;
		one_kind(proto, what, c);
		c->name = text_of("%s %s: %u", like->name, foliofs_failure_name(what), c->nr_ops);
		**tail = c;
		*tail = &c->next;
	}
}
