// SPDX-License-Identifier: MIT
/*
 * Logs of fio's write_iolog=, version 2 and 3:
 *
 *	[TIME] FILE add | open | close
 *	[TIME] FILE read | write | trim | sync | datasync | wait OFFSET LENGTH
 *
 * TIME (version 3) and the time to wait (version 2: since the wait before) are in microseconds;
 * that of version 3 is what fio 3.33 writes, its manual does not name the unit.  Files are those
 * that the job laid out before it began, at least as long as the log reads; trim punches a hole.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "trace/oplist.h"
#include "trace/trace_private.h"

#define US 1000ull

struct iolog_file {
	char *log_name;
	const char *path;
	int32_t slot;
	bool open;
	uint64_t written, read; /* ends of what has been written, of what had to be there */
	UT_hash_handle hh;
};

struct iolog {
	struct trace *t;
	const struct trace_options *opt;
	struct iolog_file *files;
	unsigned int version;
	uint64_t now_ns;
};

/* What of a name in the log is the path on the file system. */
static const char *below_root(const struct iolog *log, const char *name)
{
	const char *root = log->opt->root;
	size_t len = root ? strlen(root) : 0;

	while (len && root[len - 1] == '/')
		len--;
	if (len && !strncmp(name, root, len) && name[len] == '/')
		name += len;
	return name + strspn(name, "/");
}

static void add(struct iolog *log, struct iolog_file *f, struct foliofs_op *op, uint32_t line)
{
	char text[4400];

	oplist_format(op, f->path, NULL, text, sizeof(text));
	op->id = log->t->v.nr + 1;
	op->file = f->slot;
	op->file2 = -1;
	/* Version 2 has no times but waits: actions follow at once, a microsecond apart. */
	op->time_ns = log->now_ns;
	log->now_ns += log->version == 2 ? US : 0;
	*opvec_add(&log->t->v, op->kind, op->id, text, line) = *op;
}

static int act(struct iolog *log, struct iolog_file *f, const char *action, uint64_t off,
	       uint64_t len, const struct trace_where *w)
{
	struct foliofs_op op = { .off = off, .len = len };

	if (!strcmp(action, "open")) {
		op = (struct foliofs_op){ .kind = FOLIOFS_OP_OPEN, .path = f->path, .mode = 0644,
					  .flags = FOLIOFS_O_CREAT };
		f->open = true;
		add(log, f, &op, w->line);
		return 0;
	}
	if (!f->open)
		return trace_fail(w, "expected \"open\" of the file before, got \"%s\"", action);
	if (!strcmp(action, "close")) {
		f->open = false;
		op = (struct foliofs_op){ .kind = FOLIOFS_OP_CLOSE };
	} else if (!strcmp(action, "read")) {
		op.kind = FOLIOFS_OP_READ;
		if (off + len > f->written && off + len > f->read)
			f->read = off + len;
	} else if (!strcmp(action, "write")) {
		op.kind = FOLIOFS_OP_WRITE;
		if (off + len > f->written)
			f->written = off + len;
	} else if (!strcmp(action, "trim")) {
		op.kind = FOLIOFS_OP_FALLOCATE;
		op.flags = FOLIOFS_FALLOC_PUNCH_HOLE | FOLIOFS_FALLOC_KEEP_SIZE;
	} else if (!strcmp(action, "sync") || !strcmp(action, "datasync")) {
		op.kind = *action == 's' ? FOLIOFS_OP_FSYNC : FOLIOFS_OP_FDATASYNC;
		op.off = op.len = 0;
	} else {
		return trace_fail(w,
				  "expected add, open, close, read, write, trim, sync or datasync, "
				  "got \"%s\"",
				  action);
	}
	add(log, f, &op, w->line);
	return 0;
}

static int parse(struct iolog *log, char *line, const struct trace_where *w)
{
	char *save = NULL, *word[6] = { NULL };
	struct iolog_file *f;
	struct trace_call *call;
	uint64_t v[3] = { 0 };
	unsigned int nr = 0, first = log->version == 3 ? 1 : 0;
	int ret;

	for (char *p = strtok_r(line, " \t", &save); p; p = strtok_r(NULL, " \t", &save)) {
		if (nr == 6)
			return trace_fail(w, "expected at most 5 words, got more");
		word[nr++] = p;
	}
	if (!nr)
		return 0;
	if (nr != first + 2 && nr != first + 4)
		return trace_fail(w, "expected \"%sFILE ACTION [OFFSET LENGTH]\", got %u words",
				  first ? "TIME " : "", nr);
	for (unsigned int i = 0; i < 3; i++) {
		const char *s = i == 0 ? (first ? word[0] : NULL) : word[first + 1 + i];

		if (s && oplist_number(s, &v[i]))
			return trace_fail(w, "expected %s, got \"%s\"",
					  i == 0 ? "a time in microseconds" :
					  i == 1 ? "an offset" : "a length", s);
	}
	if (v[1] + v[2] > INT64_MAX || v[0] > INT64_MAX / US || v[1] > INT64_MAX / US)
		return trace_fail(w, "expected numbers below 2^63, got more");
	if (first && v[0] * US > log->now_ns)
		log->now_ns = v[0] * US;
	call = trace_count(log->t, word[first + 1]);
	call->total++;
	if (!strcmp(word[first + 1], "wait") && log->version == 2) {
		log->now_ns += v[1] * US;
		call->passive++;
		return 0;
	}
	HASH_FIND_STR(log->files, word[first], f);
	if (!strcmp(word[first + 1], "add")) {
		call->passive++;
		if (f)
			return 0;
		f = trace_alloc(sizeof(*f));
		f->log_name = trace_strdup(word[first]);
		f->path = opvec_strdup(&log->t->v, below_root(log, word[first]));
		f->slot = (int32_t)log->t->nr_slots++;
		HASH_ADD_KEYPTR(hh, log->files, f->log_name, strlen(f->log_name), f);
		return 0;
	}
	if (!f)
		return trace_fail(w, "expected \"add\" of the file before, got \"%s %s\"",
				  word[first], word[first + 1]);
	ret = act(log, f, word[first + 1], v[1], v[2], w);
	call->replayed += !ret;
	return ret;
}

int trace_read_iolog(struct trace *t, struct trace_text *text, const struct trace_options *opt,
		     struct trace_where *w)
{
	struct iolog log = { .t = t, .opt = opt };
	struct iolog_file *f, *tmp;
	size_t pos = 0;
	char *line = trace_text_line(text, &pos), end;
	int ret = 0;

	w->line = 1;
	if (!line || sscanf(line, "fio version %u iolo%c", &log.version, &end) != 2 ||
	    log.version < 2 || log.version > 3)
		return trace_fail(w, "expected \"fio version 2 iolog\" or 3, got \"%.80s\"",
				  line ? line : "");
	if (opt->root)
		t->root = opvec_strdup(&t->v, opt->root);
	for (w->line = 2; !ret && (line = trace_text_line(text, &pos)); w->line++)
		ret = parse(&log, line, w);
	HASH_ITER(hh, log.files, f, tmp) {
		trace_assume_above(t, f->path);
		if (f->read)
			trace_assume(t, f->path, f->read, false, "read before it was written");
		HASH_DEL(log.files, f);
		free(f->log_name);
		free(f);
	}
	return ret;
}
