// SPDX-License-Identifier: MIT
/* Processes of a strace log and what they have open, see strace.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/strace.h"

struct strace_desc *strace_desc_new(void)
{
	struct strace_desc *d = trace_alloc(sizeof(*d));

	d->refs = 1;
	d->slot = -1;
	return d;
}

void strace_desc_get(struct strace_desc *d)
{
	d->refs++;
}

void strace_desc_put(struct strace *s, struct strace_desc *d)
{
	struct foliofs_op op = { .kind = FOLIOFS_OP_CLOSE };

	if (!d || --d->refs)
		return;
	if (d->slot >= 0) {
		strace_emit(s, &op, d, NULL);
		s->slots[d->slot] = false;
	}
	free(d->path);
	free(d);
}

struct strace_fd *strace_fd_find(struct strace_fds *t, int64_t fd)
{
	return fd >= 0 && fd < t->nr && t->fds[fd].desc ? &t->fds[fd] : NULL;
}

void strace_fd_set(struct strace *s, struct strace_fds *t, int64_t fd, struct strace_desc *d,
		   bool cloexec)
{
	struct strace_desc *old;
	uint32_t nr;

	if (fd < 0 || fd >= STRACE_FD_MAX) {
		strace_desc_put(s, d);
		return;
	}
	if (fd >= t->nr) {
		if (!d)
			return;
		nr = ((uint32_t)fd | 31) + 1;
		t->fds = trace_realloc(t->fds, nr, sizeof(*t->fds));
		memset(t->fds + t->nr, 0, (nr - t->nr) * sizeof(*t->fds));
		t->nr = nr;
	}
	old = t->fds[fd].desc;
	t->fds[fd] = (struct strace_fd){ d, cloexec };
	strace_desc_put(s, old);
}

static struct strace_fds *fds_copy(const struct strace_fds *from)
{
	struct strace_fds *t = trace_alloc(sizeof(*t));

	t->refs = 1;
	if (!from || !from->nr)
		return t;
	t->nr = from->nr;
	t->fds = trace_realloc(NULL, t->nr, sizeof(*t->fds));
	memcpy(t->fds, from->fds, t->nr * sizeof(*t->fds));
	for (uint32_t i = 0; i < t->nr; i++)
		if (t->fds[i].desc)
			strace_desc_get(t->fds[i].desc);
	return t;
}

static void fds_put(struct strace *s, struct strace_fds *t)
{
	if (--t->refs)
		return;
	for (uint32_t i = 0; i < t->nr; i++)
		strace_desc_put(s, t->fds[i].desc);
	free(t->fds);
	free(t);
}

static struct strace_dir *dir_new(const char *path)
{
	struct strace_dir *d = trace_alloc(sizeof(*d));

	d->refs = 1;
	d->path = path ? trace_strdup(path) : NULL;
	return d;
}

static void dir_put(struct strace_dir *d)
{
	if (--d->refs)
		return;
	free(d->path);
	free(d);
}

void strace_dir_set(struct strace_proc *p, const char *path)
{
	free(p->cwd->path);
	p->cwd->path = trace_strdup(path);
}

static void mm_put(struct strace *s, struct strace_mm *mm)
{
	if (--mm->refs)
		return;
	strace_mm_drop(s, mm, 0, UINT64_MAX);
	free(mm->maps);
	free(mm);
}

static struct strace_mm *mm_new(void)
{
	struct strace_mm *mm = trace_alloc(sizeof(*mm));

	mm->refs = 1;
	return mm;
}

struct strace_proc *strace_proc_find(struct strace *s, int pid)
{
	struct strace_proc *p;

	HASH_FIND_INT(s->procs, &pid, p);
	return p;
}

static struct strace_proc *add(struct strace *s, int pid)
{
	struct strace_proc *p = trace_alloc(sizeof(*p));

	p->pid = pid;
	HASH_ADD_INT(s->procs, pid, p);
	return p;
}

void strace_proc_birth(struct strace *s, struct strace_proc *parent, int child, const char *name,
		       const char *args)
{
	bool clone = !strncmp(name, "clone", 5);
	struct strace_proc *p = strace_proc_find(s, child);

	if (p) /* an earlier process of that number, whose end is not in the log */
		strace_proc_exit(s, p);
	p = add(s, child);
	if (clone && strstr(args, "CLONE_FILES"))
		(p->fds = parent->fds)->refs++;
	else
		p->fds = fds_copy(parent->fds);
	if (clone && strstr(args, "CLONE_FS"))
		(p->cwd = parent->cwd)->refs++;
	else
		p->cwd = dir_new(parent->cwd->path);
	if ((clone && strstr(args, "CLONE_VM")) || !strcmp(name, "vfork")) {
		(p->mm = parent->mm)->refs++;
	} else {
		p->mm = mm_new();
		strace_mm_copy(p->mm, parent->mm);
	}
}

/* A process that is not the child of another in the log. */
static struct strace_proc *adopt(struct strace *s, int pid)
{
	struct strace_proc *p = add(s, pid);

	p->fds = fds_copy(NULL);
	p->cwd = dir_new(s->opt->cwd);
	p->mm = mm_new();
	return p;
}

struct strace_proc *strace_proc_of(struct strace *s, int pid)
{
	struct strace_proc *p, *parent;
	struct strace_birth *b;

	if (!pid) {
		/* Lines without a number: of the only process left, or of the first one. */
		if (HASH_COUNT(s->procs) == 1)
			return s->procs;
		p = strace_proc_find(s, s->main_pid);
		return p ? p : adopt(s, 0);
	}
	p = strace_proc_find(s, pid);
	if (p)
		return p;
	for (uint32_t i = 0; i < s->nr_births; i++) {
		b = &s->births[i];
		if (b->child != pid || b->used)
			continue;
		parent = strace_proc_find(s, b->parent);
		if (!parent && !b->parent)
			parent = strace_proc_find(s, s->main_pid);
		if (!parent)
			continue;
		/* The child runs before its parent's call has returned. */
		b->used = true;
		strace_proc_birth(s, parent, pid,
				  parent->pending_name ? parent->pending_name : "fork",
				  parent->pending ? parent->pending : "");
		return strace_proc_find(s, pid);
	}
	/* The first number ever: that of the lines without one. */
	p = s->main_pid ? NULL : strace_proc_find(s, 0);
	if (p) {
		strace_proc_rename(s, p, pid);
		s->main_pid = pid;
		return p;
	}
	return adopt(s, pid);
}

void strace_proc_rename(struct strace *s, struct strace_proc *p, int pid)
{
	struct strace_proc *old = strace_proc_find(s, pid);

	if (old && old != p) {
		/* A thread becomes the process: the call it is in is what goes on. */
		free(old->pending);
		free(old->pending_name);
		old->pending = p->pending;
		old->pending_name = p->pending_name;
		old->pending_time = p->pending_time;
		p->pending = p->pending_name = NULL;
		strace_proc_exit(s, p);
		return;
	}
	HASH_DEL(s->procs, p);
	p->pid = pid;
	HASH_ADD_INT(s->procs, pid, p);
}

void strace_proc_exec(struct strace *s, struct strace_proc *p)
{
	struct strace_fds *own;

	if (p->fds->refs > 1) {
		own = fds_copy(p->fds);
		fds_put(s, p->fds);
		p->fds = own;
	}
	for (uint32_t fd = 0; fd < p->fds->nr; fd++)
		if (p->fds->fds[fd].cloexec)
			strace_fd_set(s, p->fds, fd, NULL, false);
	mm_put(s, p->mm);
	p->mm = mm_new();
}

void strace_proc_exit(struct strace *s, struct strace_proc *p)
{
	HASH_DEL(s->procs, p);
	mm_put(s, p->mm);
	fds_put(s, p->fds);
	dir_put(p->cwd);
	free(p->pending);
	free(p->pending_name);
	free(p);
}

/* The log has ended: what is still open stays so. */
void strace_proc_free_all(struct strace *s)
{
	struct strace_proc *p, *tmp;
	uint32_t nr = s->t->v.nr;

	HASH_ITER(hh, s->procs, p, tmp)
		strace_proc_exit(s, p);
	s->t->v.nr = nr;
}

static void take_cwd(struct strace *s, const struct strace_call *c, unsigned int arg)
{
	struct strace_span path;
	char buf[PATH_MAX];
	bool deleted;

	if (!strace_path_of(c->args[arg], &path, &deleted) || deleted)
		return;
	strace_unescape(path, buf, sizeof(buf));
	if (!s->proc->cwd->path || strcmp(s->proc->cwd->path, buf))
		strace_dir_set(s->proc, buf);
}

int strace_arg_desc(struct strace *s, const struct strace_call *c, unsigned int arg,
		    struct strace_desc **out)
{
	struct foliofs_op op = { .kind = FOLIOFS_OP_OPEN };
	struct strace_span path;
	struct strace_desc *d;
	struct strace_fd *f;
	char buf[PATH_MAX];
	const char *rel;
	bool deleted;
	int64_t fd;

	*out = NULL;
	if (arg < c->nr && c->args[arg].len >= 8 && !strncmp(c->args[arg].s, "AT_FDCWD", 8)) {
		take_cwd(s, c, arg);
		return 0;
	}
	if (strace_arg_int(s, c, arg, &fd))
		return -EINVAL;
	if (fd < -1 || fd >= STRACE_FD_MAX)
		return strace_bad_arg(s, c, arg, "a file descriptor");
	f = strace_fd_find(s->proc->fds, fd);
	if (f) {
		*out = f->desc;
		return 0;
	}
	if (fd < 0 || !strace_path_of(c->args[arg], &path, &deleted))
		return 0;
	strace_unescape(path, buf, sizeof(buf));
	rel = strace_below_root(s, buf);
	d = strace_desc_new();
	d->path = trace_strdup(buf);
	if (rel && !deleted) {
		d->node = strace_node_there(s, rel, false, "open before the trace");
		d->slot = strace_slot_take(s);
		op.path = rel;
		strace_emit(s, &op, d, NULL);
		trace_note(s->t,
			   "line %u: %s was open before the trace: reads and writes without an "
			   "offset are taken to begin at 0",
			   s->w.line, rel);
	}
	strace_fd_set(s, s->proc->fds, fd, d, false);
	*out = d;
	return 0;
}

int strace_arg_file(struct strace *s, const struct strace_call *c, unsigned int arg,
		    struct strace_desc **d)
{
	int ret = strace_arg_desc(s, c, arg, d);

	if (*d && (*d)->slot < 0)
		*d = NULL;
	return ret;
}
