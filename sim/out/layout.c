// SPDX-License-Identifier: MIT
/* Folios of each file as text: see layout.h. */
#include "layout.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Text that grows. */
struct growing {
	char *s;
	size_t len, room;
};

struct known {
	char *name; /* that it had first */
	uint32_t ino;
	struct growing text;
	bool seen;
};

/* A change of the file @ino. */
struct line {
	uint32_t op, ino;
	char *text;
};

struct opened {
	char *name;
	uint32_t ino;
};

struct layout {
	FILE *out;
	/* What is still to be printed: names are known at the end. */
	struct line *line;
	size_t nr_lines, room_lines;
	struct opened *opened; /* one for each name, the first time it was opened first */
	size_t nr_opened;
	bool told; /* operations say what they open */
	struct known *v;
	size_t nr, room;
	/* of the operation that is looked at */
	const struct foliofs_fs *fs;
	uint32_t op;
};

/* Folios alike in a row. */
struct row {
	struct growing *g;
	struct foliofs_folio_state first;
	uint64_t nr;
	/*
	 * tmpfs: what has data and lies below the end of the file, in pages; folios elsewhere
	 * are not seen by who maps it.
	 */
	bool data_only;
	uint64_t pages;
};

static void add_text(struct growing *g, const char *s)
{
	size_t n = strlen(s);

	if (g->len + n + 1 > g->room) {
		g->room = 2 * (g->len + n + 64);
		g->s = realloc(g->s, g->room);
		if (!g->s)
			abort();
	}
	memcpy(g->s + g->len, s, n + 1);
	g->len += n;
}

static void end_row(struct row *r)
{
	const struct foliofs_folio_state *f = &r->first;
	char text[64], flags[4], *p = flags;

	if (!r->nr)
		return;
	if (f->uptodate)
		*p++ = 'u';
	if (f->dirty)
		*p++ = 'd';
	if (f->buffers)
		*p++ = 'p';
	*p = 0;
	snprintf(text, sizeof(text), "%s%" PRIu64 ":%u:%s", r->g->len ? " " : "", f->index, f->order,
		 *flags ? flags : "-");
	add_text(r->g, text);
	if (r->nr > 1) {
		snprintf(text, sizeof(text), "*%" PRIu64, r->nr);
		add_text(r->g, text);
	}
	r->nr = 0;
}

static void add_folio(void *priv, const struct foliofs_folio_state *f)
{
	struct row *r = priv;

	if (r->data_only && (!f->uptodate || f->index >= r->pages))
		return;
	if (r->nr && f->order == r->first.order && f->uptodate == r->first.uptodate &&
	    f->dirty == r->first.dirty && f->buffers == r->first.buffers &&
	    f->index == r->first.index + (r->nr << f->order)) {
		r->nr++;
		return;
	}
	end_row(r);
	r->first = *f;
	r->nr = 1;
}

/*
 * Files are followed by their inodes, as the events of the page cache are; tmpfs has none and
 * is looked at by name.
 */
static struct known *find(struct layout *l, const char *name, uint32_t ino, bool by_name)
{
	size_t i;

	for (i = 0; i < l->nr; i++)
		if (by_name ? !strcmp(l->v[i].name, name) : l->v[i].ino == ino)
			return &l->v[i];
	if (l->nr == l->room) {
		l->room = l->room ? 2 * l->room : 16;
		l->v = realloc(l->v, l->room * sizeof(*l->v));
		if (!l->v)
			abort();
	}
	memset(&l->v[l->nr], 0, sizeof(*l->v));
	l->v[l->nr].name = strdup(name);
	l->v[l->nr].ino = ino;
	if (!l->v[l->nr].name)
		abort();
	add_text(&l->v[l->nr].text, "-");
	return &l->v[l->nr++];
}

static void keep(struct layout *l, uint32_t ino, const char *text)
{
	if (l->nr_lines == l->room_lines) {
		l->room_lines = l->room_lines ? 2 * l->room_lines : 64;
		l->line = realloc(l->line, l->room_lines * sizeof(*l->line));
		if (!l->line)
			abort();
	}
	l->line[l->nr_lines] = (struct line){ .op = l->op, .ino = ino, .text = strdup(text) };
	if (!l->line[l->nr_lines++].text)
		abort();
}

void layout_opened(struct layout *l, const char *name, uint32_t ino)
{
	size_t i;

	l->told |= l->op != 0;
	for (i = 0; i < l->nr_opened; i++)
		if (!strcmp(l->opened[i].name, name)) {
			l->opened[i].ino = ino;
			return;
		}
	l->opened = realloc(l->opened, (l->nr_opened + 1) * sizeof(*l->opened));
	if (!l->opened || !(name = strdup(name)))
		abort();
	l->opened[l->nr_opened++] = (struct opened){ .name = (char *)name, .ino = ino };
}

/* NULL: nobody knows the file by a name. */
static const char *name_of(const struct layout *l, uint32_t ino)
{
	size_t i;

	for (i = l->nr_opened; i--;)
		if (l->opened[i].ino == ino)
			return l->opened[i].name;
	for (i = 0; !l->told && i < l->nr; i++)
		if (l->v[i].ino == ino)
			return l->v[i].name;
	return NULL;
}

void layout_finish(struct layout *l)
{
	size_t i;

	for (i = 0; i < l->nr_lines; i++) {
		const char *name = name_of(l, l->line[i].ino);

		if (name)
			fprintf(l->out, "%u %s %s\n", l->line[i].op, name, l->line[i].text);
	}
}

static void compare(struct layout *l, struct known *k, struct growing *now)
{
	if (!now->len)
		add_text(now, "-");
	if (!strcmp(k->text.s, now->s))
		;
	else if (foliofs_fs_geometry(l->fs)->fs_type == FOLIOFS_FS_TMPFS)
		fprintf(l->out, "%u %s %s\n", l->op, k->name, now->s);
	else
		keep(l, k->ino, now->s);
	free(k->text.s);
	k->text = *now;
}

static void look(void *priv, const char *path, uint32_t ino, uint32_t mode)
{
	struct growing now = { 0 };
	struct row r = { .g = &now };
	struct layout *l = priv;
	struct foliofs_stat st;
	struct known *k;

	while (*path == '/')
		path++;
	if ((mode & 0170000u) != 0100000u || strchr(path, '/'))
		return;
	r.data_only = foliofs_fs_geometry(l->fs)->fs_type == FOLIOFS_FS_TMPFS;
	if (!foliofs_fs_stat_ino(l->fs, ino, &st)) {
		uint32_t page = foliofs_fs_geometry(l->fs)->page_size;

		r.pages = (st.size + page - 1) / page;
	}
	foliofs_fs_for_each_folio(l->fs, ino, add_folio, &r);
	end_row(&r);
	k = find(l, path, ino, r.data_only);
	k->seen = true;
	if (!l->op)
		layout_opened(l, path, ino);
	compare(l, k, &now);
}

struct layout *layout_new(FILE *out)
{
	struct layout *l = calloc(1, sizeof(*l));

	if (!l)
		abort();
	l->out = out;
	fputs("# folios in the page cache after each op, for files where that changed:\n"
	      "# op file index:order:flags ... (*N: N alike in a row; u uptodate, d dirty, "
	      "p private; - none)\n",
	      out);
	return l;
}

void layout_after(struct layout *l, const struct foliofs_fs *fs, uint32_t op)
{
	size_t i;

	l->fs = fs;
	l->op = op;
	for (i = 0; i < l->nr; i++)
		l->v[i].seen = false;
	foliofs_fs_for_each_name(fs, look, l);
	/* Files that have lost their name may still be open. */
	for (i = 0; i < l->nr; i++) {
		struct growing now = { 0 };
		struct row r = { .g = &now };

		if (l->v[i].seen)
			continue;
		if (foliofs_fs_geometry(fs)->fs_type != FOLIOFS_FS_TMPFS)
			foliofs_fs_for_each_folio(fs, l->v[i].ino, add_folio, &r);
		end_row(&r);
		compare(l, &l->v[i], &now);
	}
}

void layout_free(struct layout *l)
{
	size_t i;

	for (i = 0; i < l->nr; i++) {
		free(l->v[i].name);
		free(l->v[i].text.s);
	}
	for (i = 0; i < l->nr_lines; i++)
		free(l->line[i].text);
	for (i = 0; i < l->nr_opened; i++)
		free(l->opened[i].name);
	free(l->line);
	free(l->opened);
	free(l->v);
	free(l);
}
