// SPDX-License-Identifier: MIT
/*
 * What of a strace log has to be known before its calls are read: which directory is the root,
 * which process made which, whether it has "# op N TEXT" marks.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "trace/strace.h"

static void add_birth(struct strace *s, int child, int parent, uint32_t nr)
{
	s->births = trace_realloc(s->births, s->nr_births + 1, sizeof(*s->births));
	s->births[s->nr_births++] =
		(struct strace_birth){ .child = child, .parent = parent, .line = nr };
}

/* Does @line make or change a file by a relative path? */
static bool writes_relative(const char *line)
{
	static const char *const calls[] = { "open(\"", "openat(AT_FDCWD, \"", "creat(\"" };
	const char *p;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		p = strstr(line, calls[i]);
		if (p && p[strlen(calls[i])] != '/')
			return *calls[i] == 'c' || strstr(p, "O_CREAT") || strstr(p, "O_WRONLY") ||
			       strstr(p, "O_RDWR");
	}
	return false;
}

/* Marks and forks; paths below /mnt, and relative ones that are written to. */
static void go_through(struct strace *s, const struct trace_text *text, bool *mnt, bool *relative)
{
	static const char *const forks[] = { "clone(", "clone3(", "fork(", "<... clone resumed>",
					     "<... clone3 resumed>", "<... fork resumed>",
					     "<... vfork resumed>" };
	const char *p = text->data, *end, *eq;
	struct strace_line l;
	char *copy;
	uint32_t nr = 0;

	for (; *p; p = *end ? end + 1 : end) {
		bool fork = false;

		nr++;
		end = strchr(p, '\n');
		if (!end)
			end = text->data + text->len;
		copy = strndup(p, (size_t)(end - p));
		if (!copy)
			return;
		s->has_marks |= !strncmp(copy, "# op ", 5);
		*mnt |= strstr(copy, "\"/mnt/") || strstr(copy, "\"/mnt\"") ||
			strstr(copy, "</mnt/") || strstr(copy, "</mnt>");
		*relative |= writes_relative(copy);
		for (size_t i = 0; i < sizeof(forks) / sizeof(forks[0]) && !fork; i++)
			fork = strstr(copy, forks[i]);
		eq = fork ? strrchr(copy, '=') : NULL;
		if (eq && isdigit((unsigned char)eq[eq[1] == ' ' ? 2 : 1])) {
			int child = atoi(eq + 1);

			strace_lex_line(copy, &l);
			if (child > 0 && l.name)
				add_birth(s, child, l.pid, nr);
		}
		free(copy);
	}
}

/* The working directory of the first process, as -y or getcwd shows it before it can change. */
static char *first_cwd(const struct trace_text *text)
{
	const char *at = strstr(text->data, "AT_FDCWD</"), *cd = strstr(text->data, "chdir(");
	const char *get = strstr(text->data, "getcwd(\"/"), *end;

	if (at && (!get || at < get) && (!cd || at < cd)) {
		end = strchr(at, '>');
		return end ? strndup(at + 9, (size_t)(end - at) - 9) : NULL;
	}
	if (get && (!cd || get < cd)) {
		end = strchr(get + 8, '"');
		return end ? strndup(get + 8, (size_t)(end - get) - 8) : NULL;
	}
	return NULL;
}

static void choose_root(struct strace *s, const struct trace_text *text, bool mnt, bool relative)
{
	const char *why = "asked for";
	size_t len;

	if (s->opt->root) {
		s->root = trace_strdup(s->opt->root);
	} else if (mnt) {
		s->root = trace_strdup("/mnt");
		why = "the log has paths there";
	} else {
		s->root = first_cwd(text);
		why = "the working directory of the first process";
	}
	if (!s->root && relative) {
		s->root = trace_strdup("/(working directory)");
		why = "relative paths are written to; what has absolute paths is elsewhere";
	}
	if (!s->root) {
		s->root = trace_strdup("/");
		why = "nothing else is known; without /proc, /sys, /dev, /run";
	}
	len = strlen(s->root);
	while (len && s->root[len - 1] == '/')
		s->root[--len] = '\0';
	s->t->root = opvec_strdup(&s->t->v, *s->root ? s->root : "/");
	trace_note(s->t, "root %s: %s", s->t->root, why);
}

void strace_look_ahead(struct strace *s, const struct trace_text *text)
{
	bool mnt = false, relative = false;

	go_through(s, text, &mnt, &relative);
	choose_root(s, text, mnt, relative);
}
