// SPDX-License-Identifier: MIT
/* What is replayed and on what: see setup.h. */
#include "setup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "free_space.h"
#include "player.h"
#include "simulate.h"

void replay_again(struct replay_args *a, const char *name, const char *value)
{
	size_t n = strlen(a->again);
	const char *p;

	if (n + strlen(name) + (value ? 4 * strlen(value) : 0) + 8 > sizeof(a->again))
		return;
	if (*name)
		n += (size_t)sprintf(a->again + n, " %s", name);
	if (!value)
		return;
	if (*value && !value[strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					   "0123456789_./,:=+^%@-")]) {
		sprintf(a->again + n, " %s", value);
		return;
	}
	n += (size_t)sprintf(a->again + n, " '");
	for (p = value; *p; p++)
		n += (size_t)sprintf(a->again + n, *p == '\'' ? "'\\''" : "%c", *p);
	strcpy(a->again + n, "'");
}

static int refuse(struct replay_args *a, const char *what, const char *got)
{
	snprintf(a->error, sizeof(a->error), "%s, got '%s'", what, got);
	return -EINVAL;
}

int replay_number(struct replay_args *a, const char *name, const char *what, const char *arg,
		  uint32_t *v)
{
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(arg, &end, 10);
	if (errno || *end || *arg < '0' || *arg > '9' || !n || n >= UINT32_MAX) {
		snprintf(a->error, sizeof(a->error), "%s: expected the number of an %s, got '%s'",
			 name, what, arg);
		return -EINVAL;
	}
	*v = (uint32_t)n;
	return 0;
}

/* The next "N" or "N-N" of a list at *@p: 0 at its end, 1, or -EINVAL. */
static int next_range(const char **p, uint32_t *first, uint32_t *last)
{
	unsigned long n[2];
	char *end;
	int i;

	if (!**p)
		return 0;
	for (i = 0; i < 2; i++) {
		if (**p < '0' || **p > '9')
			return -EINVAL;
		errno = 0;
		n[i] = strtoul(*p, &end, 10);
		if (errno || n[i] > UINT32_MAX)
			return -EINVAL;
		n[1] = n[i];
		*p = end;
		if (i || *end != '-')
			break;
		++*p;
	}
	if ((**p && **p != ',') || (**p && !(*p)[1]) || n[1] < n[0])
		return -EINVAL;
	*p += **p == ',';
	*first = (uint32_t)n[0];
	*last = (uint32_t)n[1];
	return 1;
}

static int only_check(const char *list)
{
	uint32_t first, last;
	int ret = *list ? 1 : -EINVAL;

	while (ret > 0)
		ret = next_range(&list, &first, &last);
	return ret;
}

/* Operations that --only does not name are left out. */
static void only(struct opvec *v, const char *list)
{
	uint32_t i, nr = 0, first, last;

	for (i = 0; i < v->nr; i++) {
		const char *p = list;
		bool in = false;

		while (!in && next_range(&p, &first, &last) > 0)
			in = first <= v->ops[i].id && v->ops[i].id <= last;
		if (!in)
			continue;
		v->ops[nr] = v->ops[i];
		v->texts[nr] = v->texts[i];
		v->lines[nr++] = v->lines[i];
	}
	v->nr = nr;
}

static int take(struct replay_args *a, int opt, const char *arg)
{
	int ret;

	switch (opt) {
	case REPLAY_OPT_KERNEL:
		a->kernels = arg;
		return 0;
	case REPLAY_OPT_WITH:
	case REPLAY_OPT_WITHOUT:
		if (kernel_changes_add(&a->changes, opt == REPLAY_OPT_WITH, arg))
			return refuse(a, "too many changes", arg);
		return 0;
	case REPLAY_OPT_ROOT:
		a->trace.root = arg;
		return 0;
	case REPLAY_OPT_CWD:
		a->trace.cwd = arg;
		return 0;
	case REPLAY_OPT_FORMAT:
		ret = trace_format_find(arg);
		if (ret < 0)
			return refuse(a, "--format: expected oplist, strace, iolog or fsx", arg);
		a->trace.format = (enum trace_format)ret;
		return 0;
	case REPLAY_OPT_MMAP_DIRTY:
		a->trace.mmap_dirty = true;
		return 0;
	case REPLAY_OPT_PREPARE:
		a->prepare = arg;
		return 0;
	case REPLAY_OPT_FREE_SPACE:
		a->free_space = arg;
		return free_space_check(arg, a->error, sizeof(a->error));
	case REPLAY_OPT_ONLY:
		a->only = arg;
		return only_check(arg) ? refuse(a, "--only: expected numbers of operations (3,7-9)",
						arg) : 0;
	case REPLAY_OPT_ALLOC:
		if (strcmp(arg, "kernel") && strcmp(arg, "worst"))
			return refuse(a, "--alloc: expected kernel or worst", arg);
		a->alloc = *arg == 'w' ? FOLIOFS_ALLOC_WORST : FOLIOFS_ALLOC_KERNEL;
		return 0;
	}
	ret = geometry_option(&a->geometry, opt, arg);
	if (ret < 0)
		snprintf(a->error, sizeof(a->error), "%s", a->geometry.error);
	return ret;
}

int replay_option(struct replay_args *a, int opt, const char *arg)
{
	static const struct option options[] = { REPLAY_LONG_OPTIONS, { 0 } };
	const struct option *o;
	char name[32];
	int ret = take(a, opt, arg);

	for (o = options; !ret && o->name; o++) {
		if (o->val != opt)
			continue;
		snprintf(name, sizeof(name), "--%s", o->name);
		replay_again(a, name, o->has_arg ? arg : NULL);
	}
	return ret;
}

int replay_geometry(struct replay_args *a, struct replay_setup *s, char *err, size_t errlen)
{
	memset(s, 0, sizeof(*s));
	s->args = a;
	if (!geometry_given(&a->geometry)) {
		s->default_geometry = true;
		a->geometry.mkfs = REPLAY_DEFAULT_MKFS;
	}
	return geometry_load(&a->geometry, &s->geometry, err, errlen);
}

int replay_load(struct replay_args *a, const char *path, struct replay_setup *s, char *err,
		size_t errlen)
{
	const struct trace_options oplist = { .format = TRACE_OPLIST };
	int ret = replay_geometry(a, s, err, errlen);
	uint32_t i;

	if (ret)
		return ret;
	s->path = path;
	ret = trace_load(path, &a->trace, &s->trace, err, errlen);
	if (ret)
		return ret;
	if (a->prepare) {
		ret = trace_load(a->prepare, &oplist, &s->prepare, err, errlen);
		s->have_prepare = !ret;
	}
	if (ret)
		trace_free(&s->trace);
	else if (a->only)
		only(&s->trace.v, a->only);
	for (i = 0; !ret && i < s->trace.v.nr; i++)
		s->has_crash |= s->trace.v.ops[i].kind == FOLIOFS_OP_CRASH ||
				s->trace.v.ops[i].kind == FOLIOFS_OP_RECOVER;
	return ret;
}

void replay_setup_free(struct replay_setup *s)
{
	trace_free(&s->trace);
	if (s->have_prepare)
		trace_free(&s->prepare);
}

int replay_kernels(const struct replay_args *a, const char *by_default, struct foliofs_kernel *k,
		   char *err, size_t errlen)
{
	int ret;

	if (a->kernels || !a->geometry.kernel[0])
		return kernels_parse(a->kernels ? a->kernels : by_default, &a->changes, k,
				     REPLAY_KERNELS, err, errlen);
	ret = simulate_kernel(a->geometry.kernel, a->geometry.kernel_note, k, err, errlen);
	if (!ret)
		ret = kernel_changes_apply(&a->changes, k, err, errlen);
	if (!ret)
		kernel_tell_lacks(k);
	return ret ? ret : 1;
}

/* The files that the trace shows to have been there. */
static int make_files(const struct replay_setup *s, struct foliofs_fs *fs, char *err,
		      size_t errlen)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; i < s->trace.nr_assumptions && !ret; i++) {
		const struct trace_assumption *a = &s->trace.assumptions[i];

		ret = a->dir ? foliofs_fs_preexisting_dir(fs, a->path) :
			       foliofs_fs_preexisting(fs, a->path, a->size, REPLAY_OLD_DATA);
		if (ret)
			snprintf(err, errlen, "%s: cannot make %s of %llu bytes, which was there "
				 "before: %s", s->path, a->path, (unsigned long long)a->size,
				 strerror(-ret));
	}
	return ret;
}

int replay_start(const struct replay_setup *s, const struct foliofs_kernel *k,
		 bool crash_states, struct foliofs_fs **out, uint64_t *base_ns, char *err,
		 size_t errlen)
{
	const struct foliofs_options options = {
		.alloc = s->args->alloc,
		.crash_states = crash_states || s->has_crash,
		.rules = true,
		.old_blocks = s->args->old_blocks,
	};
	struct foliofs_fs *fs;
	int ret = foliofs_fs_new(k, &s->geometry, &options, &fs, err, errlen);

	if (ret)
		return ret;
	foliofs_fs_mute(fs, true);
	if (s->args->free_space)
		ret = free_space_apply(fs, s->args->free_space, err, errlen);
	if (!ret)
		ret = make_files(s, fs, err, errlen);
	foliofs_fs_mute(fs, false);
	*base_ns = 0;
	if (!ret && s->have_prepare)
		ret = player_prepare(fs, &s->prepare.v, base_ns, err, errlen);
	if (ret)
		foliofs_fs_free(fs);
	else
		*out = fs;
	return ret;
}
