// SPDX-License-Identifier: MIT
/* Calls of a strace log that open, copy and close descriptors, and that make processes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/strace.h"

static const struct {
	const char *name;
	uint32_t flag;
} open_flags[] = {
	{ "O_RDONLY", FOLIOFS_O_RDONLY },   { "O_WRONLY", FOLIOFS_O_WRONLY },
	{ "O_CREAT", FOLIOFS_O_CREAT },	    { "O_EXCL", FOLIOFS_O_EXCL },
	{ "O_TRUNC", FOLIOFS_O_TRUNC },	    { "O_APPEND", FOLIOFS_O_APPEND },
	{ "O_SYNC", FOLIOFS_O_SYNC },	    { "O_DSYNC", FOLIOFS_O_DSYNC },
	{ "O_DIRECT", FOLIOFS_O_DIRECT },   { "O_DIRECTORY", FOLIOFS_O_DIRECTORY },
	{ "O_NOATIME", FOLIOFS_O_NOATIME }, { "O_PATH", FOLIOFS_O_PATH },
	{ "O_TMPFILE", FOLIOFS_O_TMPFILE },
};

static uint32_t flags_of(struct strace_span a)
{
	uint32_t flags = 0;

	for (size_t i = 0; i < sizeof(open_flags) / sizeof(open_flags[0]); i++)
		if (strace_flag(a, open_flags[i].name))
			flags |= open_flags[i].flag;
	return flags;
}

/* The node that an open of @rel finds or makes. */
static struct strace_node *open_node(struct strace *s, const char *rel, uint32_t flags)
{
	struct strace_node *n;

	if ((flags & FOLIOFS_O_CREAT) && (flags & FOLIOFS_O_EXCL))
		return strace_node_make(s, rel, false);
	n = flags & FOLIOFS_O_CREAT ?
		    strace_node_maybe(s, rel) :
		    strace_node_there(s, rel, flags & FOLIOFS_O_DIRECTORY, "opened, not created");
	if ((flags & FOLIOFS_O_TRUNC) && !n->dir)
		strace_size_set(n, 0);
	return n;
}

/* open(path, flags, mode), openat(dirfd, ...), creat(path, mode), openat2(dirfd, path, how) */
static int do_open(struct strace *s, const struct strace_call *c, const struct strace_handler *h)
{
	struct foliofs_op op = { .kind = FOLIOFS_OP_OPEN };
	struct strace_span how = { "", 0 }, mode = { "", 0 };
	unsigned int next = (unsigned int)h->path + 1;
	struct strace_desc *d;
	char abs[PATH_MAX];
	const char *rel;
	int64_t v;

	if (next >= c->nr && h->a != 'c')
		return strace_bad_arg(s, c, next, "flags");
	if (c->result < 0 || c->result >= STRACE_FD_MAX)
		return trace_fail(&s->w, "expected a file descriptor as result of %s, got %lld",
				  c->name, (long long)c->result);
	if (h->a == 'c') { /* creat */
		op.flags = FOLIOFS_O_WRONLY | FOLIOFS_O_CREAT | FOLIOFS_O_TRUNC;
		mode = c->args[1];
	} else if (h->a == '2') {
		strace_field(c->args[next], "flags", &how);
		strace_field(c->args[next], "mode", &mode);
	} else {
		how = c->args[next];
		if (next + 1 < c->nr)
			mode = c->args[next + 1];
	}
	op.flags |= flags_of(how);
	if (strace_arg_path(s, c, h->dirfd, h->path, true, abs, &rel))
		return -EINVAL;
	if (c->path.len && !(op.flags & FOLIOFS_O_TMPFILE)) { /* -y: what was really opened */
		strace_unescape(c->path, abs, sizeof(abs));
		rel = strace_below_root(s, abs);
	}
	d = strace_desc_new();
	d->path = trace_strdup(abs);
	d->append = op.flags & FOLIOFS_O_APPEND;
	d->drops_caches = !strcmp(abs, "/proc/sys/vm/drop_caches");
	strace_fd_set(s, s->proc->fds, c->result, d, strace_flag(how, "O_CLOEXEC"));
	if (!rel)
		return STRACE_OUTSIDE;
	if (op.flags & FOLIOFS_O_TMPFILE) {
		d->node = trace_alloc(sizeof(*d->node));
		d->node->path = trace_strdup("(unnamed)");
		d->node->size_known = true;
		d->node->next = s->nodes;
		s->nodes = d->node;
		strace_node_there(s, rel, true, "an unnamed file is made in it");
	} else {
		d->node = open_node(s, rel, op.flags);
	}
	if (op.flags & FOLIOFS_O_PATH)
		return STRACE_PASSIVE;
	if (mode.len && strace_int(mode, &v))
		op.mode = (uint32_t)v & 07777;
	d->slot = strace_slot_take(s);
	op.path = rel;
	strace_emit(s, &op, d, NULL);
	return STRACE_REPLAYED;
}

static int close_one(struct strace *s, struct strace_fds *t, int64_t fd)
{
	struct strace_fd *f = strace_fd_find(t, fd);
	uint32_t nr = s->t->v.nr;
	bool inside;

	if (!f)
		return STRACE_OUTSIDE;
	inside = f->desc->node;
	strace_fd_set(s, t, fd, NULL, false);
	return s->t->v.nr > nr ? STRACE_REPLAYED : inside ? STRACE_PASSIVE : STRACE_OUTSIDE;
}

static int do_close(struct strace *s, const struct strace_call *c, const struct strace_handler *h)
{
	int64_t fd;

	(void)h;
	if (strace_arg_int(s, c, 0, &fd))
		return -EINVAL;
	return close_one(s, s->proc->fds, fd);
}

/* close_range(first, last, flags) */
static int do_close_range(struct strace *s, const struct strace_call *c,
			  const struct strace_handler *h)
{
	struct strace_fds *t = s->proc->fds;
	uint32_t nr = s->t->v.nr;
	int64_t first, last;
	bool mark;

	(void)h;
	if (strace_arg_int(s, c, 0, &first) || strace_arg_int(s, c, 1, &last))
		return -EINVAL;
	mark = c->nr > 2 && strace_flag(c->args[2], "CLOSE_RANGE_CLOEXEC");
	for (int64_t fd = first; fd >= 0 && fd <= last && fd < t->nr; fd++) {
		if (mark)
			t->fds[fd].cloexec = true;
		else
			close_one(s, t, fd);
	}
	return s->t->v.nr > nr ? STRACE_REPLAYED : STRACE_PASSIVE;
}

/* @fd again, as the descriptor that the call returned */
static int copy_fd(struct strace *s, struct strace_desc *d, int64_t fd, bool cloexec)
{
	uint32_t nr = s->t->v.nr;

	if (d)
		strace_desc_get(d);
	strace_fd_set(s, s->proc->fds, fd, d, cloexec);
	return s->t->v.nr > nr ? STRACE_REPLAYED : d && d->node ? STRACE_PASSIVE : STRACE_OUTSIDE;
}

/* dup(fd), dup2(fd, new), dup3(fd, new, flags) */
static int do_dup(struct strace *s, const struct strace_call *c, const struct strace_handler *h)
{
	struct strace_desc *d;
	int64_t fd;

	(void)h;
	if (strace_arg_desc(s, c, 0, &d) || strace_arg_int(s, c, 0, &fd))
		return -EINVAL;
	if (fd == c->result)
		return STRACE_PASSIVE;
	return copy_fd(s, d, c->result, c->nr > 2 && strace_flag(c->args[2], "O_CLOEXEC"));
}

static int do_fcntl(struct strace *s, const struct strace_call *c, const struct strace_handler *h)
{
	struct strace_desc *d;
	struct strace_fd *f;
	int64_t fd;

	(void)h;
	if (strace_arg_desc(s, c, 0, &d) || strace_arg_int(s, c, 0, &fd))
		return -EINVAL;
	if (c->nr < 2)
		return strace_bad_arg(s, c, 1, "a command");
	if (strace_flag(c->args[1], "F_DUPFD"))
		return copy_fd(s, d, c->result, false);
	if (strace_flag(c->args[1], "F_DUPFD_CLOEXEC"))
		return copy_fd(s, d, c->result, true);
	f = strace_fd_find(s->proc->fds, fd);
	if (f && c->nr > 2 && strace_flag(c->args[1], "F_SETFD"))
		f->cloexec = strace_flag(c->args[2], "FD_CLOEXEC");
	if (d && c->nr > 2 && strace_flag(c->args[1], "F_SETFL"))
		d->append = strace_flag(c->args[2], "O_APPEND");
	return d && d->node ? STRACE_PASSIVE : STRACE_OUTSIDE;
}

/* A process is made; unless it has been seen already, before this call returned. */
static int do_clone(struct strace *s, const struct strace_call *c, const struct strace_handler *h)
{
	char args[1024];
	size_t n = 0;

	(void)h;
	for (uint32_t i = 0; i < s->nr_births; i++) {
		if (s->births[i].line != s->w.line)
			continue;
		if (s->births[i].used)
			return STRACE_PASSIVE;
		s->births[i].used = true;
	}
	for (unsigned int i = 0; i < c->nr && n < sizeof(args); i++)
		n += (size_t)snprintf(args + n, sizeof(args) - n, "%.*s,", (int)c->args[i].len,
				      c->args[i].s);
	if (c->result > 0 && c->result != s->proc->pid)
		strace_proc_birth(s, s->proc, (int)c->result, c->name, args);
	return STRACE_PASSIVE;
}

static int do_exec(struct strace *s, const struct strace_call *c, const struct strace_handler *h)
{
	uint32_t nr = s->t->v.nr;

	(void)c;
	(void)h;
	strace_proc_exec(s, s->proc);
	return s->t->v.nr > nr ? STRACE_REPLAYED : STRACE_OUTSIDE;
}

/* Calls that return descriptors of other things: whatever had the number is gone. */
static int do_other_fd(struct strace *s, const struct strace_call *c,
		       const struct strace_handler *h)
{
	(void)h;
	if (strace_fd_find(s->proc->fds, c->result))
		close_one(s, s->proc->fds, c->result);
	return STRACE_OUTSIDE;
}

const struct strace_handler strace_open_calls[] = {
	{ "open", do_open, -1, 0, 0, 0 },
	{ "openat", do_open, 0, 1, 0, 0 },
	{ "openat2", do_open, 0, 1, '2', 0 },
	{ "creat", do_open, -1, 0, 'c', 0 },
	{ "close", do_close, -1, -1, 0, 0 },
	{ "close_range", do_close_range, -1, -1, 0, 0 },
	{ "dup", do_dup, -1, -1, 0, 0 },
	{ "dup2", do_dup, -1, -1, 0, 0 },
	{ "dup3", do_dup, -1, -1, 0, 0 },
	{ "fcntl", do_fcntl, -1, -1, 0, 0 },
	{ "fcntl64", do_fcntl, -1, -1, 0, 0 },
	{ "fork", do_clone, -1, -1, 0, 0 },
	{ "vfork", do_clone, -1, -1, 0, 0 },
	{ "clone", do_clone, -1, -1, 0, 0 },
	{ "clone2", do_clone, -1, -1, 0, 0 },
	{ "clone3", do_clone, -1, -1, 0, 0 },
	{ "execve", do_exec, -1, -1, 0, 0 },
	{ "execveat", do_exec, -1, -1, 0, 0 },
	{ "socket", do_other_fd, -1, -1, 0, 0 },
	{ "accept", do_other_fd, -1, -1, 0, 0 },
	{ "accept4", do_other_fd, -1, -1, 0, 0 },
	{ "eventfd2", do_other_fd, -1, -1, 0, 0 },
	{ "epoll_create1", do_other_fd, -1, -1, 0, 0 },
	{ "timerfd_create", do_other_fd, -1, -1, 0, 0 },
	{ "memfd_create", do_other_fd, -1, -1, 0, 0 },
	{ "inotify_init1", do_other_fd, -1, -1, 0, 0 },
	{ "pidfd_open", do_other_fd, -1, -1, 0, 0 },
	{ NULL, NULL, 0, 0, 0, 0 },
};
