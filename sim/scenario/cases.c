// SPDX-License-Identifier: MIT
/*
 * The cases of a scenario: its kernels, and its variants under their kernels.
 */
#include "scenario/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* "scenarios/credits/one-hole.yaml" is called "credits/one-hole". */
static char *short_name(const char *path)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
	const char *from = path;
	size_t len = strlen(path);

	for (; slash && slash > path; slash--)
		if (slash[-1] == '/')
			break;
	if (slash)
		from = slash;
	if (dot && dot > from && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml")))
		len = (size_t)(dot - path);
	return text_of("%.*s", (int)(len - (size_t)(from - path)), from);
}

static int add_change(struct foliofs_kernel *k, const char *name, bool with,
		      struct place_error *err)
{
	enum foliofs_change change;

	if (foliofs_change_find(name, &change)) {
		snprintf(err->text, sizeof(err->text), "expected the name of a change (`foliosim "
			 "kernels' lists them), got \"%s\"", name);
		return -EINVAL;
	}
	if (foliofs_kernel_has(k, change) == with)
		return 0;
	return with ? foliofs_kernel_with(k, change) : foliofs_kernel_without(k, change);
}

static int make_kernel(struct foliofs_kernel *k, const char *name, const struct setup *u,
		       const struct run_options *o, struct place_error *err)
{
	char text[256] = "";
	size_t i;
	int ret = 0;

	if (foliofs_kernel_parse(name, k, text, sizeof(text))) {
		snprintf(err->text, sizeof(err->text), "expected a kernel, got \"%s\": %s", name,
			 text);
		return -EINVAL;
	}
	for (i = 0; i < u->nr_with && !ret; i++)
		ret = add_change(k, u->with[i]->text, true, err);
	for (i = 0; i < u->nr_without && !ret; i++)
		ret = add_change(k, u->without[i]->text, false, err);
	for (i = 0; i < o->nr_with && !ret; i++)
		ret = add_change(k, o->with[i], true, err);
	for (i = 0; i < o->nr_without && !ret; i++)
		ret = add_change(k, o->without[i], false, err);
	return ret;
}

static const struct expect *kernel_expect(const struct expectation *e, const char *kernel)
{
	const struct kernel_expect *k;

	for (k = e->kernels; k; k = k->next)
		if (!strcmp(k->kernel, kernel))
			return &k->expect;
	return NULL;
}

/* One kernel of a scenario or of one of its variants. */
static int one_case(const struct scenario *s, const struct variant *v, const char *kernel,
		    const struct run_options *o, struct case_result ***tail,
		    struct place_error *err)
{
	const struct expectation *e = v ? &v->expect : &s->expect;
	const struct setup *u = v ? &v->setup : &s->setup;
	struct run r = { .s = s, .setup = u };
	struct case_result *c;
	char *file;
	size_t len;
	FILE *log = NULL;
	int ret;

	ret = make_kernel(&r.kernel, kernel, u, o, err);
	if (ret)
		return ret;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	file = short_name(s->path);
	c->label = text_of("%s%s%s", kernel, v ? ", " : "", v ? v->name : "");
	c->name = text_of("%s [%s]", file ? file : s->path, c->label ? c->label : kernel);
	free(file);
	if (o->only && !(c->name && strstr(c->name, o->only))) {
		case_results_free(c);
		return 0;
	}
	c->scenario = s;
	c->why = v && v->why ? v->why : s->why;
	c->kernel = text_of("%s", r.kernel.name);
	c->tail = &c->failures;
	r.result = c;
	r.expect[0] = e->all.at ? &e->all : NULL;
	r.expect[1] = kernel_expect(e, kernel);
	if (o->inject) {
		*o->inject_left_out += !inject_all(&r, o, tail);
		case_results_free(c);
		return 0;
	}
	**tail = c;
	*tail = &c->next;
	if (o->verbose)
		log = open_memstream(&c->log, &len);
	run_case(&r, log);
	if (log)
		fclose(log);
	return 0;
}

static int cases(const struct scenario *s, const struct variant *v, const struct run_options *o,
		 struct case_result ***tail, struct place_error *err)
{
	const struct setup *u = v ? &v->setup : &s->setup;
	size_t i;
	int ret = 0;

	if (o->kernel)
		return one_case(s, v, o->kernel, o, tail, err);
	for (i = 0; i < u->nr_kernels && !ret; i++)
		ret = one_case(s, v, u->kernel[i]->text, o, tail, err);
	return ret;
}

int scenario_run(const struct scenario *s, const struct run_options *o, struct case_result ***tail,
		 struct place_error *err)
{
	const struct variant *v;
	int ret;

	ret = cases(s, NULL, o, tail, err);
	for (v = s->variants; v && !ret; v = v->next)
		ret = cases(s, v, o, tail, err);
	return ret;
}

void failures_free(struct failure *f)
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

void case_results_free(struct case_result *r)
{
	struct case_result *next;

	for (; r; r = next) {
		next = r->next;
		failures_free(r->failures);
		free(r->name);
		free(r->kernel);
		free(r->label);
		free(r->log);
		free(r);
	}
}
