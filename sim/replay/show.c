// SPDX-License-Identifier: MIT
/* The state around one operation: see show.h. */
#define _GNU_SOURCE
#include "show.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "show_file.h"

static void touch(struct show *s, uint32_t ino)
{
	unsigned int i;

	for (i = 0; i < s->nr_touched; i++)
		if (s->touched[i] == ino)
			return;
	if (s->nr_touched < SHOW_TOUCHED)
		s->touched[s->nr_touched++] = ino;
}

static bool touched(const struct show *s, uint32_t ino)
{
	unsigned int i;

	for (i = 0; i < s->nr_touched; i++)
		if (s->touched[i] == ino)
			return true;
	return !s->nr_touched;
}

static void on_event(void *priv, const struct foliofs_event *ev)
{
	struct show *s = priv;
	int field = foliofs_event_field(ev->id, "ino");
	char text[640];

	if (!s->on)
		return;
	if (field >= 0 && field < ev->nargs)
		touch(s, (uint32_t)ev->arg[field]);
	if (foliofs_event_text_for(&s->form, ev, text, sizeof(text)) > 0) {
		fprintf(s->events, "  %s\n", text);
	} else {
		foliofs_event_text(ev, s->form.dev, text, sizeof(text));
		fprintf(s->events, "  %s: %s\n", foliofs_event_name(ev->id), text);
	}
}

static void add_file(void *priv, const char *path, uint32_t ino, uint32_t mode)
{
	struct show *s = priv;
	struct show_file *more;
	size_t len;
	FILE *f;

	if (!S_ISREG(mode))
		return;
	if (s->nr == s->max) {
		s->max = s->max ? 2 * s->max : 32;
		more = realloc(s->before, s->max * sizeof(*more));
		if (!more)
			return;
		s->before = more;
	}
	s->before[s->nr].ino = ino;
	f = open_memstream(&s->before[s->nr].text, &len);
	if (!f)
		return;
	show_file(f, s->fs, path, ino);
	fclose(f);
	s->nr++;
}

int show_begin(struct show *s, struct foliofs_fs *fs)
{
	const struct foliofs_geometry *g = foliofs_fs_geometry(fs);
	size_t len;
	FILE *f;

	memset(s, 0, sizeof(*s));
	s->fs = fs;
	s->form = (struct foliofs_event_form){ foliofs_fs_kernel(fs), "7,40", g->page_size };
	s->events = open_memstream(&s->events_text, &s->events_len);
	f = open_memstream(&s->journal, &len);
	if (!s->events || !f)
		return -ENOMEM;
	show_journal(f, fs);
	fclose(f);
	foliofs_fs_for_each_name(fs, add_file, s);
	memset(s->sink.wants, 1, sizeof(s->sink.wants));
	s->sink.event = on_event;
	s->sink.priv = s;
	s->on = true;
	return 0;
}

struct printer {
	FILE *f;
	const struct foliofs_fs *fs;
	const struct show *s; /* NULL: every file */
};

static void print_file(void *priv, const char *path, uint32_t ino, uint32_t mode)
{
	struct printer *p = priv;

	if (S_ISREG(mode) && (!p->s || touched(p->s, ino)))
		show_file(p->f, p->fs, path, ino);
}

void show_state(FILE *f, const struct foliofs_fs *fs)
{
	struct printer p = { f, fs, NULL };

	foliofs_fs_for_each_name(fs, print_file, &p);
	show_journal(f, fs);
}

void show_end(struct show *s, FILE *f)
{
	struct printer p = { f, s->fs, s };
	size_t i;

	s->on = false;
	fclose(s->events);
	fprintf(f, "before\n");
	for (i = 0; i < s->nr; i++) {
		if (touched(s, s->before[i].ino))
			fputs(s->before[i].text, f);
		free(s->before[i].text);
	}
	fprintf(f, "%sevents\n%safter\n", s->journal, s->events_len ? s->events_text : "  none\n");
	foliofs_fs_for_each_name(s->fs, print_file, &p);
	show_journal(f, s->fs);
	free(s->before);
	free(s->journal);
	free(s->events_text);
}
