// SPDX-License-Identifier: MIT
/*
 * foliosim run --inject: each failure that can happen in a scenario, the first, the second
 * and so on, until no more places are left.  At each a copy of the process goes on with it.
 *
 * The expectations of the scenario are for the run without failures.  Here this must
 * hold: no rule breaks that does not break without; no power cut behind any operation
 * loses what was synced; the first operation whose result differs gives the error of
 * the failure, or less bytes; and where no result differs, nor do the files at the end.
 * (Nothing is compared where the scenario itself breaks a rule, nor results and files where
 * it is about an error.)
 */
#include "scenario/children.h"
#include "scenario/inject_run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What kernels up to now break behind an I/O error, and what the scenario says. */
static bool known_hole(const struct run *r, unsigned int rule)
{
	unsigned int i;

	if (rule == FOLIOFS_RULE_AFTER_IO_ERROR)
		return true;
	for (i = 0; i < 2; i++)
		if (r->expect[i] && r->expect[i]->injected_rules[rule])
			return true;
	return false;
}

static bool known_holes(const struct run *r, const struct injected *out)
{
	unsigned int i;

	for (i = 0; i < FOLIOFS_RULE_COUNT; i++)
		if (out->broken[i] && known_hole(r, i))
			return true;
	return false;
}

static void judge_results(struct run *r, enum foliofs_failure what, uint32_t nth,
			  const struct injected *plain, const struct injected *out)
{
	const char *name = foliofs_failure_name(what);
	int error = foliofs_failure_error(what);
	char buf[32];
	size_t k;

	/* A kernel that fails here anyhow fails in another way, or in another place. */
	for (k = 0; k < plain->nr; k++)
		if (plain->result[k] < 0)
			return;
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
	/* Smaller folios are busy where one large folio is not. */
	if (what == FOLIOFS_FAILURE_MEMORY && out->result[k] == -EBUSY)
		return;
	/* Where space runs out in the middle of a write depends on its folios. */
	if (what == FOLIOFS_FAILURE_MEMORY && plain->result[k] > 0 && out->result[k] > 0 &&
	    (uint64_t)plain->result[k] < plain->asked[k] && (uint64_t)out->result[k] < plain->asked[k])
		return;
	/* Who waits for pages, not for a file, is told EIO whatever kept them from the disk. */
	if (error && out->result[k] == -EIO)
		return;
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

	/* What a kernel breaks in addition that breaks rules anyhow is not told. */
	for (i = 0; i < FOLIOFS_RULE_COUNT; i++)
		if (plain->broken[i])
			return;
	for (i = 0; i < FOLIOFS_RULE_COUNT; i++)
		if (out->broken[i] && !known_hole(r, i))
			run_fail(r, out->first[i].op, NULL,
				 text_of("rule %s kept when %s number %u fails",
					 foliofs_rule_name(i), name, nth),
				 text_of("inode %u: %s", out->first[i].ino, out->first[i].text));
	if (!known_holes(r, out))
		judge_results(r, what, nth, plain, out);
}

/* --- every place in turn --- */

/* A run in which a copy of the process goes on from each place with the failure. */
struct injection {
	const struct injected *plain;
	const struct run_options *o;
	struct case_result *c[FOLIOFS_FAILURE_COUNT]; /* NULL: not asked for */
	uint32_t tried[FOLIOFS_FAILURE_COUNT], next[FOLIOFS_FAILURE_COUNT];
	uint32_t known[FOLIOFS_FAILURE_COUNT]; /* runs with a hole that is known */
	struct children children;
	struct injected *now; /* the run */
	FILE *out; /* in a copy: where its failures go */
	enum foliofs_failure what; /* in a copy */
	uint32_t nth;
	struct run *r;
};

static void failure_of(struct injection *x, const struct child *c, uint32_t op, char *expected,
		       char *got)
{
	struct run r = *x->r;

	r.result = x->c[c->kind];
	run_fail(&r, op, NULL, expected, got);
}

/*
 * What a copy has found: 1 or 0, holes that are known; for each failure its operation and two texts,
 * all ended by NUL.
 */
static void said(void *priv, const struct child *c, const char *text, size_t len, int status)
{
	const char *end = text + len, *expected, *got;
	struct injection *x = priv;

	if (status)
		failure_of(x, c, 0, text_of("an end of the run when %s number %u fails",
					    foliofs_failure_name(c->kind), c->nth),
			   text_of("none (wait status %d)", status));
	if (text < end)
		x->known[c->kind] += *text++ == '1';
	for (; text < end; text = got + strlen(got) + 1) {
		expected = memchr(text, 0, (size_t)(end - text));
		got = expected ? memchr(expected + 1, 0, (size_t)(end - expected - 1)) : NULL;
		if (!got || !memchr(got + 1, 0, (size_t)(end - got - 1)))
			return; /* it died while it spoke: told above */
		expected++;
		got++;
		failure_of(x, c, (uint32_t)strtoul(text, NULL, 10), text_of("%s", expected),
			   text_of("%s", got));
	}
}

static void say(FILE *out, const struct failure *f)
{
	for (; f; f = f->next) {
		fprintf(out, "%u", f->op);
		fputc(0, out);
		fputs(f->expected ? f->expected : "", out);
		fputc(0, out);
		fputs(f->got ? f->got : "", out);
		fputc(0, out);
	}
}

static bool ask(void *priv, enum foliofs_failure what, uint32_t nth)
{
	struct injection *x = priv;
	uint32_t all = x->o->inject_all_up_to;
	FILE *out;
	int ret;

	if (x->out || !x->c[what] || nth < x->next[what])
		return false;
	x->next[what] = nth + 1 + (all && nth > all ? nth / 4 : 0);
	x->tried[what]++;
	ret = children_start(&x->children, what, nth, &out);
	if (ret) {
		struct child none = { .kind = what, .nth = nth };

		failure_of(x, &none, 0, text_of("a process in which %s number %u fails",
						foliofs_failure_name(what), nth),
			   text_of("errno %d", -ret));
	}
	if (!out)
		return false;
	x->out = out;
	x->what = what;
	x->nth = nth;
	x->now->failed_at = x->now->nr - 1;
	return true;
}

static void every_place(const struct run *proto, struct injection *x)
{
	struct case_result scratch = { .tail = &scratch.failures };
	struct run r = *proto;
	struct injected out;

	r.result = &scratch;
	x->now = &out;
	children_init(&x->children, said, x);
	injected_run(&r, ask, x, &out);
	if (x->out) { /* a copy */
		failures_free(scratch.failures);
		scratch = (struct case_result){ .tail = &scratch.failures };
		judge(&r, x->what, x->nth, x->plain, &out);
		fputc(known_holes(&r, &out) ? '1' : '0', x->out);
		say(x->out, scratch.failures);
		children_end(x->out);
	}
	children_wait(&x->children);
	failures_free(scratch.failures);
	injected_free(&out);
}

static char *with_known(char *name, uint32_t known)
{
	char *text = text_of("%s, %u with a hole that is known", name ? name : "", known);

	free(name);
	return text;
}

static void one_case(struct run *proto, const struct case_result *like, struct injection *x)
{
	struct case_result scratch = { .tail = &scratch.failures };
	struct injected plain;
	struct run r = *proto;
	enum foliofs_failure what;

	r.result = &scratch;
	x->plain = &plain;
	x->r = proto;
	if (!injected_run(&r, NULL, NULL, &plain))
		every_place(proto, x);
	for (what = 0; what < FOLIOFS_FAILURE_COUNT; what++) {
		struct case_result *c = x->c[what];

		if (!c)
			continue;
		if (!plain.nr) {
			r.result = c;
			run_fail(&r, 0, NULL, text_of("a run without failures"), text_of("none"));
		}
		c->nr_ops = x->tried[what];
		c->name = text_of("%s %s: %u of %u places", like->name, foliofs_failure_name(what),
				  x->tried[what], plain.seen[what]);
		if (x->known[what])
			c->name = with_known(c->name, x->known[what]);
	}
	failures_free(scratch.failures);
	injected_free(&plain);
}

bool inject_all(struct run *proto, const struct run_options *o, struct case_result ***tail)
{
	const struct case_result *like = proto->result;
	struct injection x = { .o = o };
	enum foliofs_failure what;
	struct case_result *c;
	char err[256] = "";

	/* A change taken away is what the case is about: its kernel keeps no promise anyhow. */
	if (proto->s->ops.first == proto->s->ops.end || proto->setup->inject || proto->s->inject ||
	    proto->setup->nr_without ||
	    run_geometry(proto, err, sizeof(err)))
		return false;
	for (what = 0; what < FOLIOFS_FAILURE_COUNT; what++) {
		if (strcmp(o->inject, "all") && strcmp(o->inject, foliofs_failure_name(what)))
			continue;
		c = calloc(1, sizeof(*c));
		if (!c)
			break;
		c->scenario = proto->s;
		c->label = text_of("%s", like->label);
		c->kernel = text_of("%s", like->kernel);
		c->why = like->why;
		c->inject = foliofs_failure_name(what);
		c->tail = &c->failures;
		x.c[what] = c;
		**tail = c;
		*tail = &c->next;
	}
	one_case(proto, like, &x);
	return true;
}
