// SPDX-License-Identifier: MIT
/*
 * Expectations on files: numbers, extents, folios, contents.
 */
#include "scenario/run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int64_t number_of(struct foliofs_fs *fs, const struct foliofs_stat *st, const char *name)
{
	struct foliofs_tree t = { 0 };

	if (!strcmp(name, "size"))
		return (int64_t)st->size;
	if (!strcmp(name, "disksize"))
		return (int64_t)st->disksize;
	if (!strcmp(name, "st_blocks"))
		return (int64_t)st->sectors;
	if (!strcmp(name, "delayed"))
		return st->delayed;
	if (!strcmp(name, "ino"))
		return st->ino;
	if (!strcmp(name, "nlink"))
		return st->nlink;
	if (!strcmp(name, "max_order"))
		return st->max_order;
	if (foliofs_fs_tree(fs, st->ino, &t))
		return -1;
	if (!strcmp(name, "depth"))
		return t.depth;
	if (!strcmp(name, "index_blocks"))
		return t.index_blocks;
	if (!strcmp(name, "leaf_blocks"))
		return t.leaf_blocks;
	if (!strcmp(name, "extents"))
		return t.nr_extents;
	return t.unwritten;
}

/* Lists of words that are the same, but for blanks between them. */
static bool same_words(const char *a, const char *b)
{
	for (;;) {
		size_t la, lb;

		a += strspn(a, " \t\n");
		b += strspn(b, " \t\n");
		la = strcspn(a, " \t\n");
		lb = strcspn(b, " \t\n");
		if (la != lb || memcmp(a, b, la))
			return false;
		if (!la)
			return true;
		a += la;
		b += lb;
	}
}

static void check_text(struct run *r, uint32_t op, const char *path, const char *what,
		       const struct node *want, char *got)
{
	if (got && same_words(want->text, got)) {
		free(got);
		return;
	}
	run_fail(r, op, want, text_of("%s: %s %s", path, what, want->text),
		 text_of("%s", got ? got : "nothing"));
	free(got);
}

/* Contents of a file, runs of one origin joined. */
struct content {
	struct expect_run *run;
	size_t nr, max;
	bool failed;
};

static void add_content(void *priv, const struct foliofs_content *c)
{
	struct content *l = priv;
	struct expect_run *last = l->nr ? &l->run[l->nr - 1] : NULL, *more;

	if (last && last->kind == c->kind && last->off + last->len == c->offset &&
	    (c->kind == FOLIOFS_SOURCE_ZERO || c->kind == FOLIOFS_SOURCE_HOLE ||
	     (last->source == c->source &&
	      last->source_offset + last->len == c->source_offset))) {
		last->len += c->len;
		return;
	}
	if (l->nr == l->max) {
		l->max = l->max ? 2 * l->max : 16;
		more = realloc(l->run, l->max * sizeof(*more));
		if (!more) {
			l->failed = true;
			return;
		}
		l->run = more;
	}
	l->run[l->nr++] = (struct expect_run){ .off = c->offset, .len = c->len, .kind = c->kind,
					       .source = c->source,
					       .source_offset = c->source_offset };
}

static bool same_run(const struct expect_run *want, const struct expect_run *got)
{
	if (want->off != got->off || want->len != got->len || want->kind != got->kind)
		return false;
	if (want->kind != FOLIOFS_SOURCE_OP)
		return true;
	return want->source == got->source &&
	       got->source_offset == (want->moved ? want->source_offset : want->off);
}

static char *run_text(const struct expect_run *r)
{
	static const char *const names[] = { [FOLIOFS_SOURCE_ZERO] = "zero",
					     [FOLIOFS_SOURCE_HOLE] = "hole",
					     [FOLIOFS_SOURCE_STALE] = "stale",
					     [FOLIOFS_SOURCE_UNKNOWN] = "unknown" };
	uint64_t from = r->moved || r->source_offset ? r->source_offset : r->off;

	if (r->kind != FOLIOFS_SOURCE_OP)
		return text_of("[%" PRIu64 ", %" PRIu64 ", %s]", r->off, r->len, names[r->kind]);
	if (r->source == SCENARIO_OLD_DATA && from == r->off)
		return text_of("[%" PRIu64 ", %" PRIu64 ", old]", r->off, r->len);
	if (from == r->off)
		return text_of("[%" PRIu64 ", %" PRIu64 ", %u]", r->off, r->len, r->source);
	return text_of("[%" PRIu64 ", %" PRIu64 ", %u, %" PRIu64 "]", r->off, r->len, r->source,
		       from);
}

static void check_content(struct run *r, struct foliofs_fs *fs, const struct expect_state *x,
			  uint32_t ino, uint32_t op)
{
	struct content got = { 0 };
	char *a, *b;
	size_t i;

	foliofs_fs_for_each_content(fs, ino, add_content, &got);
	for (i = 0; i < x->nr_content && i < got.nr; i++)
		if (!same_run(&x->content[i], &got.run[i]))
			break;
	if (i < x->nr_content || i < got.nr || got.failed) {
		a = i < x->nr_content ? run_text(&x->content[i]) : text_of("no more");
		b = i < got.nr ? run_text(&got.run[i]) : text_of("no more");
		run_fail(r, op, x->content_at,
			 text_of("%s: run %zu of the content %s", x->path, i + 1, a ? a : ""),
			 text_of("%s (%zu runs)", b ? b : "", got.nr));
		free(a);
		free(b);
	}
	free(got.run);
}

static void check_buffers(struct run *r, struct foliofs_fs *fs, const struct expect_state *x,
			  uint32_t ino, uint32_t op)
{
	size_t size = 1 << 16;
	unsigned int i;
	char *got;

	for (i = 0; i < x->nr_buffers; i++) {
		got = calloc(1, size);
		if (got && foliofs_fs_folio_text(fs, ino, x->buffers[i].page, got, size) < 0)
			strcpy(got, "no folio");
		check_text(r, op, x->path, "blocks of the folio", x->buffers[i].text, got);
	}
}

static void check_state(struct run *r, struct foliofs_fs *fs, const struct expect_state *x,
			uint32_t op)
{
	struct foliofs_stat st;
	char want[60];
	unsigned int i;

	if (foliofs_fs_stat(fs, x->path, &st)) {
		if (!x->missing)
			run_fail(r, op, x->at, text_of("a file %s", x->path),
				 text_of("no such file"));
		return;
	}
	if (x->missing) {
		run_fail(r, op, x->at, text_of("no file %s", x->path),
			 text_of("one of %" PRIu64 " bytes", st.size));
		return;
	}
	for (i = 0; i < x->nr_numbers; i++) {
		int64_t got = number_of(fs, &st, x->number[i].name);

		if (!want_holds(&x->number[i].want, got))
			run_fail(r, op, x->number[i].at,
				 text_of("%s: %s %s", x->path, x->number[i].name,
					 want_text(&x->number[i].want, want, sizeof(want))),
				 text_of("%" PRId64, got));
	}
	if (x->extents)
		check_text(r, op, x->path, "extents", x->extents,
			   extents_text(fs, st.ino, strchr(x->extents->text, '@')));
	if (x->folios)
		check_text(r, op, x->path, "folios", x->folios,
			   folios_text(fs, st.ino, strspn(x->folios->text, "0123456789: ") <
							    strlen(x->folios->text) &&
						    strcmp(x->folios->text, "none")));
	if (x->content_at)
		check_content(r, fs, x, st.ino, op);
	check_buffers(r, fs, x, st.ino, op);
}

void check_states(struct run *r, struct foliofs_fs *fs, const struct expect_state *states,
		  uint32_t op)
{
	for (; states; states = states->next)
		check_state(r, fs, states, op);
}
