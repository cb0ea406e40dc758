// SPDX-License-Identifier: MIT
/*
 * Operation logs of fsx as xfstests has it: one operation a line,
 *
 *	[skip] NAME 0xOFFSET 0xLENGTH 0xSIZE [keep_size] [close_open] [*]
 *
 * where SIZE is that of the file before the operation and copy_range and clone_range have their
 * destination in its place; truncate has the new size in LENGTH.  fsx works on one file that it
 * creates empty; here it is called "fsx".  Lines that begin with skip did nothing then.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/oplist.h"
#include "trace/trace_private.h"

#define FSX_STEP_NS 12000000ull

struct fsx_name {
	const char *name;
	enum foliofs_op_kind kind;
	uint32_t flags;
};

static const struct fsx_name names[] = {
	{ "read", FOLIOFS_OP_READ, 0 },
	{ "write", FOLIOFS_OP_WRITE, 0 },
	{ "mapread", FOLIOFS_OP_MREAD, 0 },
	{ "mapwrite", FOLIOFS_OP_MWRITE, 0 },
	{ "truncate", FOLIOFS_OP_TRUNCATE, 0 },
	{ "fallocate", FOLIOFS_OP_FALLOCATE, 0 },
	{ "punch_hole", FOLIOFS_OP_FALLOCATE,
	  FOLIOFS_FALLOC_PUNCH_HOLE | FOLIOFS_FALLOC_KEEP_SIZE },
	{ "zero_range", FOLIOFS_OP_FALLOCATE, FOLIOFS_FALLOC_ZERO_RANGE },
	{ "collapse_range", FOLIOFS_OP_FALLOCATE, FOLIOFS_FALLOC_COLLAPSE_RANGE },
	{ "insert_range", FOLIOFS_OP_FALLOCATE, FOLIOFS_FALLOC_INSERT_RANGE },
	{ "unshare_range", FOLIOFS_OP_FALLOCATE, FOLIOFS_FALLOC_UNSHARE_RANGE },
	{ "copy_range", FOLIOFS_OP_COPY_RANGE, 0 },
	{ "clone_range", FOLIOFS_OP_REFLINK, 0 },
	{ "fsync", FOLIOFS_OP_FSYNC, 0 },
};

static const struct fsx_name *find_name(const char *word)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i].name, word))
			return &names[i];
	return NULL;
}

bool fsx_is_line(const char *line)
{
	char word[32], hex[3];

	if (!strncmp(line, "skip ", 5))
		line += 5;
	return sscanf(line, "%31s %2[0x]", word, hex) == 2 && !strcmp(hex, "0x") && find_name(word);
}

/* Append one operation on the file; its text comes from its fields. */
static void add(struct trace *t, struct foliofs_op *op, uint32_t line)
{
	char text[160];

	oplist_format(op, "fsx", "fsx", text, sizeof(text));
	op->id = t->v.nr + 1;
	op->file2 = op->kind == FOLIOFS_OP_COPY_RANGE || op->kind == FOLIOFS_OP_REFLINK ? 0 : -1;
	op->time_ns = op->id * FSX_STEP_NS;
	*opvec_add(&t->v, op->kind, op->id, text, line) = *op;
}

static void add_open(struct trace *t, bool first, uint32_t line)
{
	struct foliofs_op op = { .kind = FOLIOFS_OP_OPEN, .path = "fsx", .mode = 0666 };

	if (first)
		op.flags = FOLIOFS_O_CREAT | FOLIOFS_O_TRUNC;
	add(t, &op, line);
}

/* A field of @line that has to be a hexadecimal number. */
static int hex(char **save, uint64_t *v, const struct trace_where *w)
{
	const char *word = strtok_r(NULL, " \t", save);
	char *end;

	if (!word)
		return trace_fail(w, "expected a number in hexadecimal, got the end of the line");
	errno = 0;
	*v = strtoull(word, &end, 16);
	if (errno || *end || strncmp(word, "0x", 2) || end == word + 2 || *v > INT64_MAX)
		return trace_fail(w, "expected a number in hexadecimal, got \"%s\"", word);
	return 0;
}

static int parse(struct trace *t, char *line, const struct trace_where *w)
{
	struct foliofs_op op = { .file = 0 };
	bool skip = false, close_open = false;
	const struct fsx_name *name;
	char *save = NULL, *word = strtok_r(line, " \t", &save);
	struct trace_call *call;
	uint64_t args[3];

	if (!word || *word == '#')
		return 0;
	if (!strcmp(word, "skip")) {
		skip = true;
		word = strtok_r(NULL, " \t", &save);
	}
	name = word ? find_name(word) : NULL;
	if (!name)
		return trace_fail(w, "expected an operation of fsx, got \"%s\"", word ? word : "");
	call = trace_count(t, name->name);
	for (int i = 0; i < 3; i++)
		if (hex(&save, &args[i], w))
			return -EINVAL;
	op.kind = name->kind;
	op.flags = name->flags;
	op.off = name->kind == FOLIOFS_OP_TRUNCATE || name->kind == FOLIOFS_OP_FSYNC ? 0 : args[0];
	op.len = args[1];
	op.stride = name->kind == FOLIOFS_OP_MREAD; /* every byte is copied */
	if (name->kind == FOLIOFS_OP_COPY_RANGE || name->kind == FOLIOFS_OP_REFLINK)
		op.off2 = args[2];
	while ((word = strtok_r(NULL, " \t", &save))) {
		if (!strcmp(word, "keep_size"))
			op.flags |= FOLIOFS_FALLOC_KEEP_SIZE;
		else if (!strcmp(word, "close_open"))
			close_open = true;
		else if (strcmp(word, "*"))
			return trace_fail(w, "expected keep_size, close_open or *, got \"%s\"",
					  word);
	}
	call->total++;
	if (skip) {
		call->failed++;
	} else {
		call->replayed++;
		add(t, &op, w->line);
	}
	if (close_open) {
		op = (struct foliofs_op){ .kind = FOLIOFS_OP_CLOSE };
		add(t, &op, w->line);
		add_open(t, false, w->line);
	}
	return 0;
}

int trace_read_fsx(struct trace *t, struct trace_text *text, struct trace_where *w)
{
	size_t pos = 0;
	char *line;
	int ret = 0;

	add_open(t, true, 1);
	t->nr_slots = 1;
	for (w->line = 1; !ret && (line = trace_text_line(text, &pos)); w->line++)
		ret = parse(t, line, w);
	return ret;
}
