// SPDX-License-Identifier: MIT
/*
 * Reader of strace logs: its lines, in order.
 *
 * The log is gone through twice.  First for what has to be known before (strace_ahead.c), then call
 * by call: one that is interrupted by others takes place where it ends, except close and the like,
 * whose descriptor is free at once.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/strace.h"

#define DAY_NS (86400ll * 1000000000)

struct strace_counter {
	char *name;
	const struct strace_handler *handler;
	struct trace_call n;
	UT_hash_handle hh;
};

bool strace_is_line(const char *line)
{
	struct strace_line l;
	char *copy = trace_strdup(line);

	strace_lex_line(copy, &l);
	free(copy);
	return l.kind == STRACE_CALL || l.kind == STRACE_UNFINISHED || l.kind == STRACE_RESUMED ||
	       l.kind == STRACE_EXIT || l.kind == STRACE_NOTE;
}

int strace_bad_arg(const struct strace *s, const struct strace_call *c, unsigned int arg,
		   const char *what)
{
	if (arg >= c->nr)
		return trace_fail(&s->w, "expected %s as argument %u of %s, got %u arguments", what,
				  arg + 1, c->name, c->nr);
	return trace_fail(&s->w, "expected %s as argument %u of %s, got \"%.*s\"", what, arg + 1,
			  c->name, (int)(c->args[arg].len < 80 ? c->args[arg].len : 80),
			  c->args[arg].s);
}

int strace_arg_int(const struct strace *s, const struct strace_call *c, unsigned int arg,
		   int64_t *v)
{
	if (arg < c->nr && c->args[arg].len == 4 && !strncmp(c->args[arg].s, "NULL", 4)) {
		*v = 0;
		return 0;
	}
	return arg < c->nr && strace_int(c->args[arg], v) ? 0 :
							    strace_bad_arg(s, c, arg, "a number");
}

static const struct strace_handler *find_handler(const char *name)
{
	static const struct strace_handler *const tables[] = { strace_io_calls, strace_open_calls,
							       strace_dir_calls, strace_map_calls };

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (const struct strace_handler *h = tables[i]; h->name; h++)
			if (!strcmp(h->name, name))
				return h;
	return NULL;
}

static struct strace_counter *counter(struct strace *s, const char *name)
{
	struct strace_counter *n;

	HASH_FIND_STR(s->counters, name, n);
	if (!n) {
		n = trace_alloc(sizeof(*n));
		n->name = trace_strdup(name);
		n->handler = find_handler(name);
		HASH_ADD_KEYPTR(hh, s->counters, n->name, strlen(n->name), n);
	}
	return n;
}

/* Does a call that has no handler touch the modelled file system?  By what its arguments show. */
static bool touches(struct strace *s, const struct strace_call *c)
{
	struct strace_span path;
	struct strace_fd *f;
	char abs[PATH_MAX];
	bool whole;
	int64_t fd;

	for (unsigned int i = 0; i < c->nr; i++) {
		if (strace_path_of(c->args[i], &path, &whole))
			strace_unescape(path, abs, sizeof(abs));
		else if (strace_string(c->args[i], abs, sizeof(abs), &whole) < 0 || *abs != '/')
			continue;
		if (strace_below_root(s, abs))
			return true;
	}
	if (!c->nr || !strace_int(c->args[0], &fd))
		return false;
	f = strace_fd_find(s->proc->fds, fd);
	return f && f->desc->node;
}

/* A failed call changes nothing, but tells what is there and what is not. */
static int learn_from_failure(struct strace *s, const struct strace_call *c,
			      const struct strace_handler *h)
{
	bool absent = c->error.len == 6 && !strncmp(c->error.s, "ENOENT", 6);
	bool exists = c->error.len == 6 && !strncmp(c->error.s, "EEXIST", 6);
	char abs[PATH_MAX];
	const char *rel;

	if (!h || h->path < 0 || (!absent && !exists))
		return 0;
	if (exists && strncmp(h->name, "mkdir", 5) && strncmp(h->name, "open", 4))
		return 0;
	if (strace_arg_path(s, c, h->dirfd, h->path, true, abs, &rel))
		return -EINVAL;
	if (rel && absent)
		strace_name_absent(s, rel);
	else if (rel)
		strace_node_there(s, rel, h->name[0] == 'm', "EEXIST");
	return 0;
}

/* A whole call of s->proc; @rest is what follows the parenthesis. */
static int run_call(struct strace *s, const char *name, const char *rest)
{
	struct strace_counter *n = counter(s, name);
	struct strace_call c = { .name = name };
	const char *want, *at;
	int ret;

	if (strace_lex_call(rest, &c, &want, &at))
		return trace_fail(&s->w, "expected %s of %s, got \"%.80s\"", want, name, at);
	s->call_id = 0;
	n->n.total++;
	if (!c.finished) {
		n->n.failed++;
		return 0;
	}
	if (c.failed || c.result == -1) {
		n->n.failed++;
		return learn_from_failure(s, &c, n->handler);
	}
	ret = n->handler ? n->handler->fn(s, &c, n->handler) :
	      touches(s, &c) ? STRACE_UNMODELLED : STRACE_OUTSIDE;
	if (ret < 0)
		return ret;
	n->n.replayed += ret == STRACE_REPLAYED;
	n->n.passive += ret == STRACE_PASSIVE;
	n->n.outside += ret == STRACE_OUTSIDE;
	n->n.unmodelled += ret == STRACE_UNMODELLED;
	return 0;
}

/* Times of operations begin with the first line; a day may end in between. */
static void set_time(struct strace *s, const struct strace_line *l)
{
	int64_t t = l->time_ns;

	if (t < 0)
		return;
	if (l->relative)
		t = s->last_ns + t;
	if (l->of_day) {
		t += s->day_ns;
		if (s->has_times && t < s->last_ns - DAY_NS / 2) {
			s->day_ns += DAY_NS;
			t += DAY_NS;
		}
	}
	if (!s->has_times)
		s->first_ns = t;
	s->has_times = true;
	s->last_ns = t;
	s->now_ns = t - s->first_ns;
}

static int begin_call(struct strace *s, struct strace_proc *p, const struct strace_line *l)
{
	char *args;
	size_t len;

	if (p->pending)
		return trace_fail(&s->w, "expected \"<... %s resumed>\" of process %d, got %s",
				  p->pending_name, l->pid, l->name);
	p->pending = trace_strdup(l->rest);
	p->pending_name = trace_strdup(l->name);
	p->pending_time = s->now_ns;
	p->done_early = !strcmp(l->name, "close");
	if (!p->done_early)
		return 0;
	len = strlen(l->rest) + 8;
	args = trace_alloc(len);
	snprintf(args, len, "%s) = 0", l->rest);
	s->proc = p;
	if (run_call(s, "close", args)) {
		free(args);
		return -EINVAL;
	}
	free(args);
	return 0;
}

static int end_call(struct strace *s, struct strace_proc *p, const struct strace_line *l)
{
	int64_t now = s->now_ns;
	char *whole, *name;
	size_t len;
	int ret = 0;

	if (!p->pending) {
		/* Attached in the middle of a call: its arguments are not known. */
		struct strace_counter *n = counter(s, l->name);

		n->n.total++;
		n->n.outside++;
		return 0;
	}
	if (strcmp(p->pending_name, l->name))
		return trace_fail(&s->w, "expected \"<... %s resumed>\", got \"<... %s resumed>\"",
				  p->pending_name, l->name);
	len = strlen(p->pending) + strlen(l->rest) + 1;
	whole = trace_alloc(len);
	snprintf(whole, len, "%s%s", p->pending, l->rest);
	name = p->pending_name;
	free(p->pending);
	p->pending = p->pending_name = NULL;
	s->now_ns = p->pending_time;
	s->proc = p;
	if (!p->done_early)
		ret = run_call(s, name, whole);
	s->now_ns = now;
	free(whole);
	free(name);
	return ret;
}

/* # op N TEXT */
static int mark(struct strace *s, const char *text)
{
	char *end;
	unsigned long id;

	if (strncmp(text, "# op ", 5))
		return 0;
	id = strtoul(text + 5, &end, 10);
	if (end == text + 5 || (*end && *end != ' ') || id < s->next_id || id >= UINT32_MAX)
		return trace_fail(&s->w,
				  "expected \"# op N TEXT\" with N of at least %u, got \"%.80s\"",
				  s->next_id, text);
	s->mark_id = (uint32_t)id;
	s->next_id = s->mark_id + 1;
	s->mark_text = end + strspn(end, " ");
	return 0;
}

static int line(struct strace *s, char *text)
{
	struct strace_line l;
	struct strace_proc *p;

	strace_lex_line(text, &l);
	set_time(s, &l);
	switch (l.kind) {
	case STRACE_EMPTY:
	case STRACE_NOTE:
		return 0;
	case STRACE_COMMENT:
		return mark(s, l.rest);
	case STRACE_GARBLED:
		return trace_fail(&s->w, "expected %s, got \"%.80s\"", l.expected, l.at);
	default:
		break;
	}
	p = strace_proc_of(s, l.pid);
	s->proc = p;
	s->call_id = 0;
	switch (l.kind) {
	case STRACE_UNFINISHED:
		return begin_call(s, p, &l);
	case STRACE_RESUMED:
		return end_call(s, p, &l);
	case STRACE_EXIT:
		strace_proc_exit(s, p);
		return 0;
	case STRACE_SUPERSEDED:
		strace_proc_rename(s, p, l.other);
		return 0;
	default:
		if (p->pending) /* its end was lost, as strace does when a process is killed */
			return trace_fail(&s->w,
					  "expected \"<... %s resumed>\" of process %d, got %s",
					  p->pending_name, l.pid, l.name);
		return run_call(s, l.name, l.rest);
	}
}

static int by_name(const void *a, const void *b)
{
	const struct trace_call *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* Counts into the trace. */
static void report_counts(struct strace *s)
{
	struct strace_counter *n, *tmp;
	struct trace *t = s->t;

	t->calls = trace_realloc(NULL, HASH_COUNT(s->counters), sizeof(*t->calls));
	HASH_ITER(hh, s->counters, n, tmp) {
		n->n.name = opvec_strdup(&t->v, n->name);
		t->calls[t->nr_calls++] = n->n;
	}
	if (t->nr_calls)
		qsort(t->calls, t->nr_calls, sizeof(*t->calls), by_name);
}

int trace_read_strace(struct trace *t, struct trace_text *text, const struct trace_options *opt,
		      struct trace_where *w)
{
	struct strace s = { .t = t, .opt = opt, .next_id = 1 };
	struct strace_counter *n, *tmp;
	size_t pos = 0;
	char *l;
	int ret = 0;

	s.w = *w;
	if ((opt->root && *opt->root != '/') || (opt->cwd && *opt->cwd != '/')) {
		s.w.line = 0;
		return trace_fail(&s.w,
				  "expected an absolute path as root and working directory, "
				  "got \"%s\"",
				  opt->root && *opt->root != '/' ? opt->root : opt->cwd);
	}
	strace_look_ahead(&s, text);
	for (s.w.line = 1; !ret && (l = trace_text_line(text, &pos)); s.w.line++)
		ret = line(&s, l);
	if (!ret) {
		strace_names_report(&s);
		report_counts(&s);
	}
	strace_proc_free_all(&s);
	strace_names_free(&s);
	HASH_ITER(hh, s.counters, n, tmp) {
		HASH_DEL(s.counters, n);
		free(n->name);
		free(n);
	}
	free(s.births);
	free(s.slots);
	free(s.root);
	return ret;
}
