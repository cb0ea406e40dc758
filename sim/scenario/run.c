// SPDX-License-Identifier: MIT
/*
 * Running one case of a scenario: a file system is made, prepared without events,
 * the operations run one after the other, expectations are checked.
 *
 * A case with failures is run a second time, to see the state right before and
 * right behind each operation at fault: both runs are the same.
 */
#define _GNU_SOURCE
#include "scenario/run.h"
#include "geometry/geometry_fs.h"
#include "trace/oplist.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define STATES_SHOWN 8 /* operations whose states are fetched */

char *text_of(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	return text;
}

void run_fail(struct run *r, uint32_t op, const struct node *at, char *expected, char *got)
{
	struct case_result *c = r->result;
	struct failure *f = calloc(1, sizeof(*f));

	c->nr_failures++;
	if (!f) {
		free(expected);
		free(got);
		return;
	}
	f->op = op;
	f->line = at ? at->line : 0;
	f->col = at ? at->col : 0;
	f->expected = expected;
	f->got = got;
	*c->tail = f;
	c->tail = &f->next;
}

/* free_space on the fresh file system. */
static int make_free_space(struct run *r)
{
	const struct foliofs_geometry *g = &r->geometry;
	const struct free_space *f;
	int ret = 0;

	if (r->s->free_space)
		ret = foliofs_fs_mark_blocks(r->fs, g->first_data_block, g->blocks_count, true);
	for (f = r->s->free_space; f && !ret; f = f->next)
		ret = free_pattern_apply(r->fs, &f->pattern);
	return ret;
}

static int make_files(struct run *r)
{
	const struct scenario_file *f;
	char buf[24];
	int ret = 0;

	for (f = r->s->files; f && !ret; f = f->next) {
		ret = f->dir ? foliofs_fs_preexisting_dir(r->fs, f->path) :
			       foliofs_fs_preexisting(r->fs, f->path, f->size, SCENARIO_OLD_DATA);
		if (ret)
			run_fail(r, 0, f->at, text_of("a file %s before the operations", f->path),
				 text_of("%s", errno_text(-ret, buf, sizeof(buf))));
	}
	return ret;
}

static bool has_crash(const struct scenario *s)
{
	size_t i;

	for (i = 0; i < s->oplist->v.nr; i++)
		if (scenario_op(s, i)->kind == FOLIOFS_OP_CRASH ||
		    scenario_op(s, i)->kind == FOLIOFS_OP_RECOVER)
			return true;
	return false;
}

int run_geometry(struct run *r, char *err, size_t len)
{
	const struct setup *u = r->setup;
	int ret;

	ret = geometry_fs(u->fs, u->mkfs, u->mount ? u->mount : "", u->page_size, &r->geometry, err,
			  len);
	if (u->has_read_ahead)
		r->geometry.read_ahead_kb = u->read_ahead_kb;
	if (u->has_io_opt)
		r->geometry.io_opt_pages = u->io_opt_pages;
	return ret;
}

/* Fresh file system with events off and everything before "ops" done. */
int run_start(struct run *r)
{
	struct foliofs_options o = { .alloc = r->setup->alloc, .rules = true,
				     .crash_states = has_crash(r->s) || r->injecting };
	const struct foliofs_op sync = { .kind = FOLIOFS_OP_SYNC, .file = -1, .file2 = -1 };
	const struct scenario_ops *p = &r->s->prepare;
	const struct scenario_inject *x;
	char err[256] = "", buf[32];
	int64_t result;
	size_t i;
	int ret;

	ret = foliofs_fs_new(&r->kernel, &r->geometry, &o, &r->fs, err, sizeof(err));
	if (ret) {
		run_fail(r, 0, r->setup->mkfs_at, text_of("a file system"),
			 text_of("%s: %s", errno_text(-ret, buf, sizeof(buf)), err));
		return ret;
	}
	foliofs_fs_mute(r->fs, true);
	ret = make_free_space(r);
	if (ret)
		run_fail(r, 0, r->s->free_space->at, text_of("free space to be made"),
			 text_of("%s", errno_text(-ret, buf, sizeof(buf))));
	if (!ret)
		ret = make_files(r);
	for (i = p->first; i < p->end && !ret; i++) {
		const struct foliofs_op *op = scenario_op(r->s, i);

		result = foliofs_fs_run(r->fs, op);
		if (result >= 0)
			continue;
		run_fail(r, op->id, NULL, text_of("success of %s", scenario_op_text(r->s, op->id)),
			 text_of("%s %s", errno_text((int)-result, buf, sizeof(buf)),
				 foliofs_fs_error(r->fs)));
		ret = (int)result;
	}
	if (!ret && p->first < p->end)
		foliofs_fs_run(r->fs, &sync); /* as captures do before their first operation */
	foliofs_fs_mute(r->fs, false);
	for (x = r->setup->inject; x && !ret; x = x->next)
		foliofs_fs_inject(r->fs, x->what, x->nth);
	return ret ? ret : at_start(r);
}

static const struct expect_crash *find_crash(const struct expect *e, const char *name)
{
	const struct expect_crash *x;

	for (x = e ? e->crashes : NULL; x; x = x->next)
		if (!strcmp(x->name, name))
			return x;
	return NULL;
}

/* The power cut of operation @op: what is left is a file system of its own. */
static int64_t do_crash(struct run *r, const struct scenario_line *line,
			const struct foliofs_op *op)
{
	const struct expect_crash *x;
	struct foliofs_fs *after;
	unsigned int i;
	char *text;
	int ret;

	ret = foliofs_fs_crash(r->fs, &after);
	if (ret)
		return ret;
	check_states(r, after, line->expect.states, op->id);
	for (i = 0; i < 2; i++) {
		x = find_crash(r->expect[i], op->path);
		if (x)
			check_states(r, after, x->states, op->id);
	}
	collect_rules(r, after);
	if (r->events.log) {
		text = state_text(after);
		fprintf(r->events.log, "\tafter recovery: %s", text ? text : "");
		free(text);
	}
	foliofs_fs_free(after);
	return 0;
}

static const struct scenario_line *line_of(const struct scenario *s, uint32_t op)
{
	size_t i;

	for (i = 0; i + 1 < s->ops.nr_lines; i++)
		if (op <= s->ops.line[i].last)
			break;
	return &s->ops.line[i];
}

int64_t run_one(struct run *r, const struct scenario_line *line, const struct foliofs_op *op)
{
	int64_t result = foliofs_fs_run(r->fs, op);

	if (op->kind == FOLIOFS_OP_CRASH && result >= 0)
		result = do_crash(r, line, op);
	return result;
}

/* Failures of operation @id alone: switched on, or (@on false) looked at and off. */
static void inject_op(struct run *r, uint32_t id, bool on)
{
	const struct scenario_inject *x;
	bool failed;
	uint32_t seen;

	for (x = r->s->inject; x; x = x->next) {
		if (x->op != id)
			continue;
		seen = foliofs_fs_injected(r->fs, x->what, &failed);
		foliofs_fs_inject(r->fs, x->what, on ? x->nth : 0);
		if (!on && !failed)
			run_fail(r, id, x->at, text_of("failure %s number %u",
						       foliofs_failure_name(x->what), x->nth),
				 text_of("only %u places where it could fail", seen));
	}
}

/* One marked operation: those of the op list with its number. */
int64_t run_op(struct run *r, size_t *i)
{
	uint32_t id = scenario_op(r->s, *i)->id;
	const struct scenario_line *line = line_of(r->s, id);
	bool crash = false;
	FILE *log = r->events.log;
	int64_t result = 0;

	if (log)
		fprintf(log, "%u %s\n", id, scenario_op_text(r->s, id));
	r->op = id;
	inject_op(r, id, true);
	for (; *i < r->s->ops.end && scenario_op(r->s, *i)->id == id; ++*i) {
		result = run_one(r, line, scenario_op(r->s, *i));
		crash = scenario_op(r->s, *i)->kind == FOLIOFS_OP_CRASH;
	}
	*i = scenario_next_op(r->s, *i);
	inject_op(r, id, false);
	r->result->nr_ops++;
	if (log)
		fprintf(log, "\tresult %lld\n", (long long)result);
	if (result < 0 && !r->nr_failed++) {
		r->first_failed = id;
		r->first_error = (int)-result;
	}
	check_result(r, line, id, result);
	if (!crash && id == line->last)
		check_states(r, r->fs, line->expect.states, id);
	return result;
}

static void add_sink(struct run *r)
{
	const struct scenario_ops *ops = &r->s->ops;
	const struct scenario_at *x;
	size_t i;

	for (i = 0; i < 2; i++)
		if (r->expect[i])
			check_events_want(r, r->expect[i]);
	for (i = 0; i < ops->nr_lines; i++)
		check_events_want(r, &ops->line[i].expect);
	for (x = r->s->at; x; x = x->next)
		for (i = 0; i < x->ops.nr_lines; i++)
			check_events_want(r, &x->ops.line[i].expect);
	foliofs_fs_add_sink(r->fs, &r->events.sink);
}

static void check_free(struct run *r, const struct expect *e)
{
	int64_t got = (int64_t)foliofs_fs_free_blocks(r->fs);
	char want[60];

	if (e->free_at && !want_holds(&e->free, got))
		run_fail(r, 0, e->free_at,
			 text_of("%s free blocks", want_text(&e->free, want, sizeof(want))),
			 text_of("%" PRId64, got));
}

static void check_failures(struct run *r)
{
	const struct scenario_inject *x;
	bool failed;

	for (x = r->setup->inject; x; x = x->next) {
		foliofs_fs_injected(r->fs, x->what, &failed);
		if (!failed)
			run_fail(r, 0, x->at, text_of("failure %s number %u",
						      foliofs_failure_name(x->what), x->nth),
				 text_of("less places where it could fail"));
	}
}

static void check_end(struct run *r)
{
	const struct scenario_ops *ops = &r->s->ops;
	const struct scenario_at *x;
	struct op_range all = { 0, 0 };
	size_t i;

	for (i = 0; i < 2; i++) {
		if (!r->expect[i])
			continue;
		check_events(r, r->expect[i], all);
		check_states(r, r->fs, r->expect[i]->states, 0);
		check_credits(r, r->expect[i]);
		check_free(r, r->expect[i]);
	}
	for (i = 0; i < ops->nr_lines; i++)
		check_events(r, &ops->line[i].expect,
			     (struct op_range){ ops->line[i].first, ops->line[i].last });
	for (x = r->s->at; x; x = x->next)
		for (i = 0; i < x->ops.nr_lines; i++)
			check_events(r, &x->ops.line[i].expect,
				     (struct op_range){ x->ops.line[i].first,
							x->ops.line[i].last });
	at_check(r);
	check_failures(r);
	collect_rules(r, r->fs);
	check_rules(r);
	if (r->events.failed)
		run_fail(r, 0, NULL, text_of("memory for events"), text_of("none"));
}

/* The second run: the first failure of each operation gets the states around it. */
static void fetch_states(struct run *first)
{
	struct case_result scratch = { .tail = &scratch.failures };
	struct run r = *first;
	struct failure *f;
	unsigned int left = STATES_SHOWN;
	size_t i;

	r.fs = NULL;
	r.at_seen = NULL;
	r.at_done = NULL;
	r.result = &scratch;
	event_log_init(&r.events, NULL);
	if (!run_start(&r)) {
		for (i = scenario_next_op(r.s, r.s->ops.first); i < r.s->ops.end && left;) {
			uint32_t id = scenario_op(r.s, i)->id;

			for (f = first->result->failures; f; f = f->next)
				if (f->op == id)
					break;
			if (f)
				f->before = state_text(r.fs);
			run_op(&r, &i);
			if (f) {
				f->after = state_text(r.fs);
				left--;
			}
		}
		for (f = first->result->failures; f; f = f->next)
			if (!f->op)
				break;
		if (f && i == r.s->ops.end)
			f->after = state_text(r.fs);
	}
	run_end(&r);
	event_log_free(&r.events);
	scratch.kernel = scratch.name = scratch.label = NULL;
	failures_free(scratch.failures);
}

void run_end(struct run *r)
{
	foliofs_fs_free(r->fs);
	r->fs = NULL;
	at_free(r);
}

void run_case(struct run *r, FILE *log)
{
	const struct scenario *s = r->s;
	char err[256] = "";
	unsigned int k;
	size_t i;

	if (run_geometry(r, err, sizeof(err))) {
		run_fail(r, 0, r->setup->mkfs_at, text_of("a geometry"), text_of("%s", err));
		return;
	}
	if (s->ops.first == s->ops.end) {
		for (k = 0; k < 2; k++)
			if (r->expect[k])
				check_credits(r, r->expect[k]);
		return;
	}
	event_log_init(&r->events, log);
	if (!run_start(r)) {
		add_sink(r);
		for (i = scenario_next_op(s, s->ops.first); i < s->ops.end;)
			run_op(r, &i);
		check_end(r);
	}
	run_end(r);
	event_log_free(&r->events);
	if (r->result->failures && !r->outcome_only)
		fetch_states(r);
}
