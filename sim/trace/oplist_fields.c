// SPDX-License-Identifier: MIT
/*
 * Fields and options of one operation, see oplist.h.
 *
 * Letters of the table: F G open file; X open file or /path; A open file or any path; P Q path;
 * o O offset; l len; c chunk; s stride; g good; n plain number into len; m fallocate mode;
 * a advice; j on or off; f words of open; d flags as a
 * number; * the rest of the line into path; ? what follows may be missing.
 */
#include <errno.h>
#include <string.h>

#include "trace/oplist_fields.h"

#define MS 1000000ull

int oplist_expected(const struct oplist_words *w, unsigned int word, const char *what)
{
	struct trace_where at = *w->where;

	if (at.col && !w->fixed)
		at.col += word < w->nr ? (uint32_t)(w->w[word] - w->copy) :
					 (uint32_t)strlen(w->text);
	if (word < w->nr)
		return trace_fail(&at, "expected %s, got \"%s\"", what, w->w[word]);
	return trace_fail(&at, "expected %s, got the end of the line", what);
}

static int number(struct oplist_words *w, uint64_t *v, const char *what)
{
	if (w->at >= w->nr || oplist_number(w->w[w->at], v))
		return oplist_expected(w, w->at, what);
	w->at++;
	return 0;
}

static const struct oplist_flag *find_flag(const struct oplist_flag *f, const char *word)
{
	for (; f->name; f++)
		if (!strcmp(f->name, word))
			return f;
	return NULL;
}

static int choice(struct oplist_words *w, const struct oplist_flag *list, uint32_t *flags,
		  const char *what)
{
	const struct oplist_flag *f = w->at < w->nr ? find_flag(list, w->w[w->at]) : NULL;

	if (!f)
		return oplist_expected(w, w->at, what);
	*flags = f->flags;
	w->at++;
	return 0;
}

static const struct oplist_flag switches[] = { { "off", 0 }, { "on", 1 }, { NULL, 0 } };

/* An open file ('F'), a path, or what may be either ('X', 'A'). */
static int file_or_path(struct oplist *l, struct oplist_words *w, char what, int32_t *file,
			const char **path)
{
	const char *word = w->at < w->nr ? w->w[w->at] : NULL;
	int32_t slot;

	if (!word)
		return oplist_expected(w, w->at, what == 'P' ? "a path" : "the name of a file");
	if (what == 'P' || (what != 'F' && *word == '/')) {
		*path = opvec_strdup(&l->v, word);
		w->at++;
		return 0;
	}
	slot = oplist_slot(l, word);
	if (slot < 0 && what == 'A')
		*path = opvec_strdup(&l->v, word);
	else if (slot < 0)
		return oplist_expected(w, w->at, "a file that has been opened");
	*file = slot;
	w->at++;
	return 0;
}

/* The words after the name in open, and what they say about creating the file. */
static int open_words(struct oplist_words *w, struct foliofs_op *op)
{
	const struct oplist_flag *f;
	bool create = true;

	for (; w->at < w->nr && !strchr(w->w[w->at], '='); w->at++) {
		f = find_flag(oplist_open_flags, w->w[w->at]);
		if (!f)
			return oplist_expected(w, w->at,
					       "ro, wo, trunc, excl, append, sync, dsync, "
					       "direct, noatime, dir, tmpfile or nocreat");
		op->flags |= f->flags;
		create &= strcmp(f->name, "nocreat") != 0;
	}
	if (create && !(op->flags & (FOLIOFS_O_RDONLY | FOLIOFS_O_DIRECTORY | FOLIOFS_O_TMPFILE)))
		op->flags |= FOLIOFS_O_CREAT;
	return 0;
}

int oplist_field(struct oplist *l, struct oplist_words *w, char letter, struct foliofs_op *op)
{
	uint64_t v = 0;
	uint32_t i = 0;
	int ret = 0;

	switch (letter) {
	case 'F':
	case 'X':
	case 'A':
	case 'P':
		return file_or_path(l, w, letter, &op->file, &op->path);
	case 'G':
		return file_or_path(l, w, 'F', &op->file2, &op->path2);
	case 'Q':
		return file_or_path(l, w, 'P', &op->file2, &op->path2);
	case 'o':
		return number(w, &op->off, "an offset");
	case 'O':
		return number(w, &op->off2, "an offset in the second file");
	case 'l':
		return number(w, &op->len, "a length");
	case 'n':
		return number(w, &op->len, "a number");
	case 'c':
	case 's':
		ret = number(w, letter == 'c' ? &op->chunk : &op->stride, "a length above 0");
		if (!ret && !(letter == 'c' ? op->chunk : op->stride)) {
			w->at--;
			return oplist_expected(w, w->at, "a length above 0");
		}
		return ret;
	case 'g':
		return number(w, &op->good, "the length that can be read");
	case 'd':
		ret = number(w, &v, "1, 2 or 3");
		if (!ret && (v < 1 || v > 3)) {
			w->at--;
			return oplist_expected(w, w->at, "1, 2 or 3");
		}
		op->flags = (uint32_t)v;
		return ret;
	case 'm':
		return choice(w, oplist_fallocate_modes, &op->flags,
			      "a fallocate mode (0, keep_size, punch, zero, zero_keep, collapse, "
			      "insert or unshare)");
	case 'a':
		return choice(w, oplist_fadvise, &op->flags,
			      "normal, random, sequential, willneed, dontneed or noreuse");
	case 'j':
		ret = choice(w, switches, &i, "on or off");
		op->len = i;
		return ret;
	case 'f':
		return open_words(w, op);
	case '*':
		if (w->at >= w->nr)
			return oplist_expected(w, w->at, "a command");
		op->path = opvec_strdup(&l->v, w->text + (w->w[w->at] - w->copy));
		w->at = w->nr;
		return 0;
	}
	return -EINVAL;
}

/* Is KEY= (of @len bytes, without =) among the options? */
static bool known_option(const struct oplist_syntax *s, const char *key, size_t len)
{
	for (const char *o = s->options; o; o = strstr(o, " or ")) {
		o += strncmp(o, " or ", 4) ? 0 : 4;
		if (!strncmp(o, key, len) && o[len] == '=')
			return true;
	}
	return false;
}

/* key=value at the end of the line. */
static int option(struct oplist_words *w, const struct oplist_syntax *s, struct foliofs_op *op,
		  const char **alias)
{
	const char *word = w->w[w->at], *eq = strchr(word, '=');
	const char *what = s->options ? s->options : "the end of the line";
	const struct oplist_flag *f;
	uint64_t v;

	if (!eq || eq == word || !known_option(s, word, (size_t)(eq - word)))
		return oplist_expected(w, w->at, what);
	eq++;
	if (!strncmp(word, "madv=", 5) || !strncmp(word, "how=", 4)) {
		f = find_flag(*word == 'm' ? oplist_madvise : oplist_how, eq);
		if (!f)
			return oplist_expected(w, w->at, what);
		op->flags = f->flags;
	} else if (!strncmp(word, "as=", 3)) {
		if (!*eq)
			return oplist_expected(w, w->at, "as=NAME");
		*alias = eq;
	} else if (oplist_number(eq, &v)) {
		return oplist_expected(w, w->at, what);
	} else if (!strncmp(word, "chunk=", 6)) {
		if (!v)
			return oplist_expected(w, w->at, "chunk= of at least one byte");
		op->chunk = v;
	} else if (!strncmp(word, "pause=", 6)) {
		if (v > 86400000)
			return oplist_expected(w, w->at, "pause= of at most a day");
		op->pause_ns = v * MS;
	} else if (!strncmp(word, "mode=", 5)) {
		if (v > 07777)
			return oplist_expected(w, w->at, "mode= of at most 07777");
		op->mode = (uint32_t)v;
	} else {
		op->len = v; /* pages= */
	}
	w->at++;
	return 0;
}

int oplist_options(struct oplist_words *w, const struct oplist_syntax *s, struct foliofs_op *op,
		   const char **alias)
{
	int ret = 0;

	while (!ret && w->at < w->nr)
		ret = option(w, s, op, alias);
	return ret;
}

int oplist_fields(struct oplist *l, struct oplist_words *w, const struct oplist_syntax *s,
			struct foliofs_op *op)
{
	bool optional = false;
	int ret = 0;

	for (const char *f = s->fields; *f && !ret; f++) {
		if (*f == '?') {
			optional = true;
			continue;
		}
		if (optional && (w->at >= w->nr || strchr(w->w[w->at], '=')))
			break;
		ret = oplist_field(l, w, *f, op);
	}
	return ret;
}
