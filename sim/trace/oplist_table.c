// SPDX-License-Identifier: MIT
/* Tables of the op list syntax, and its other direction: operations written as text. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "trace/oplist_fields.h"

#define CHUNK "chunk=BYTES"
#define PAUSE "pause=MS"
#define MADV "madv=huge, random, seq, willneed or normal"

static const struct oplist_syntax table[FOLIOFS_OP_COUNT] = {
	[FOLIOFS_OP_OPEN] = { "Pf", "mode=MODE or as=NAME" },
	[FOLIOFS_OP_CLOSE] = { "F", NULL },
	[FOLIOFS_OP_WRITE] = { "Fol", CHUNK " or " PAUSE },
	[FOLIOFS_OP_APPEND] = { "Fl", CHUNK " or " PAUSE },
	[FOLIOFS_OP_READ] = { "Fol", CHUNK },
	[FOLIOFS_OP_TRUNCATE] = { "Xl", NULL },
	[FOLIOFS_OP_FALLOCATE] = { "Fmol", NULL },
	[FOLIOFS_OP_MWRITE] = { "Fol", PAUSE " or " MADV },
	[FOLIOFS_OP_MTOUCH] = { "Fols", PAUSE " or " MADV },
	[FOLIOFS_OP_MREAD] = { "Fol", MADV },
	[FOLIOFS_OP_MSYNC] = { "Fol", NULL },
	[FOLIOFS_OP_FSYNC] = { "F", NULL },
	[FOLIOFS_OP_FDATASYNC] = { "F", NULL },
	[FOLIOFS_OP_SYNCFS] = { "", NULL },
	[FOLIOFS_OP_SYNC] = { "", NULL },
	[FOLIOFS_OP_SYNC_RANGE] = { "Fol", "how=start, write, wait or both" },
	[FOLIOFS_OP_DROP_CACHES] = { "?d", NULL },
	[FOLIOFS_OP_FADVISE] = { "Fola", NULL },
	[FOLIOFS_OP_MOVE_EXTENTS] = { "FGol?O", NULL },
	[FOLIOFS_OP_SET_JOURNAL_FLAG] = { "Fj", NULL },
	[FOLIOFS_OP_UNLINK] = { "P", NULL },
	[FOLIOFS_OP_RENAME] = { "PQ", NULL },
	[FOLIOFS_OP_LINK] = { "PQ", NULL },
	[FOLIOFS_OP_SYMLINK] = { "PQ", NULL },
	[FOLIOFS_OP_MKDIR] = { "P", "mode=MODE" },
	[FOLIOFS_OP_RMDIR] = { "P", NULL },
	[FOLIOFS_OP_COPY_RANGE] = { "FoGOl", NULL },
	[FOLIOFS_OP_REFLINK] = { "FoGOl", NULL },
	[FOLIOFS_OP_WRITE_BAD] = { "Folg", NULL },
	[FOLIOFS_OP_SETATTR] = { "A", NULL },
	[FOLIOFS_OP_CHOWN] = { "A", NULL },
	[FOLIOFS_OP_SETXATTR] = { "Al", NULL },
	[FOLIOFS_OP_HWPOISON] = { "Fo", NULL },
	[FOLIOFS_OP_PAGEOUT] = { "Fol", NULL },
	[FOLIOFS_OP_STAT] = { "A", NULL },
	[FOLIOFS_OP_CRASH] = { "P", NULL },
	[FOLIOFS_OP_RECOVER] = { "", NULL },
	[FOLIOFS_OP_SLEEP] = { "n", NULL },
	[FOLIOFS_OP_COMMIT] = { "", NULL },
	[FOLIOFS_OP_WRITEBACK] = { "", "pages=N" },
	[FOLIOFS_OP_FILL] = { "F?l", NULL },
	[FOLIOFS_OP_PUNCH_EVERY] = { "Folcs", NULL },
	[FOLIOFS_OP_WRITE_EVERY] = { "Folcs", NULL },
	[FOLIOFS_OP_REMOUNT] = { "", NULL },
	[FOLIOFS_OP_SYSFS] = { "Pn", NULL },
	[FOLIOFS_OP_DEBUGFS] = { "*", NULL },
	[FOLIOFS_OP_LOAD_BUDDIES] = { "", NULL },
};

const struct oplist_flag oplist_open_flags[] = {
	{ "ro", FOLIOFS_O_RDONLY },	   { "nocreat", 0 },
	{ "dir", FOLIOFS_O_DIRECTORY },	   { "tmpfile", FOLIOFS_O_TMPFILE },
	{ "wo", FOLIOFS_O_WRONLY },	   { "trunc", FOLIOFS_O_TRUNC },
	{ "excl", FOLIOFS_O_EXCL },	   { "append", FOLIOFS_O_APPEND },
	{ "sync", FOLIOFS_O_SYNC },	   { "dsync", FOLIOFS_O_DSYNC },
	{ "direct", FOLIOFS_O_DIRECT },	   { "noatime", FOLIOFS_O_NOATIME },
	{ NULL, 0 },
};

const struct oplist_flag oplist_fallocate_modes[] = {
	{ "0", 0 },
	{ "keep_size", FOLIOFS_FALLOC_KEEP_SIZE },
	{ "punch", FOLIOFS_FALLOC_PUNCH_HOLE | FOLIOFS_FALLOC_KEEP_SIZE },
	{ "zero", FOLIOFS_FALLOC_ZERO_RANGE },
	{ "zero_keep", FOLIOFS_FALLOC_ZERO_RANGE | FOLIOFS_FALLOC_KEEP_SIZE },
	{ "collapse", FOLIOFS_FALLOC_COLLAPSE_RANGE },
	{ "insert", FOLIOFS_FALLOC_INSERT_RANGE },
	{ "unshare", FOLIOFS_FALLOC_UNSHARE_RANGE },
	{ NULL, 0 },
};

const struct oplist_flag oplist_fadvise[] = {
	{ "normal", FOLIOFS_FADV_NORMAL },     { "random", FOLIOFS_FADV_RANDOM },
	{ "sequential", FOLIOFS_FADV_SEQUENTIAL }, { "willneed", FOLIOFS_FADV_WILLNEED },
	{ "dontneed", FOLIOFS_FADV_DONTNEED }, { "noreuse", FOLIOFS_FADV_NOREUSE },
	{ NULL, 0 },
};

const struct oplist_flag oplist_madvise[] = {
	{ "normal", FOLIOFS_FADV_NORMAL },  { "random", FOLIOFS_FADV_RANDOM },
	{ "seq", FOLIOFS_FADV_SEQUENTIAL }, { "willneed", FOLIOFS_FADV_WILLNEED },
	{ "huge", FOLIOFS_MADV_HUGEPAGE },  { NULL, 0 },
};

const struct oplist_flag oplist_how[] = {
	{ "start", FOLIOFS_SYNC_RANGE_WRITE },
	{ "write", FOLIOFS_SYNC_RANGE_WAIT_BEFORE | FOLIOFS_SYNC_RANGE_WRITE },
	{ "wait", FOLIOFS_SYNC_RANGE_WAIT_BEFORE },
	{ "both", OPLIST_HOW_BOTH },
	{ NULL, 0 },
};

const struct oplist_syntax *oplist_syntax(enum foliofs_op_kind kind)
{
	return &table[kind];
}

struct out {
	char *buf;
	size_t len, n;
};

static void put(struct out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void put(struct out *o, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (o->n >= o->len)
		return;
	va_start(ap, fmt);
	n = vsnprintf(o->buf + o->n, o->len - o->n, fmt, ap);
	va_end(ap);
	o->n += n > 0 ? (size_t)n : 0;
}

static const char *flag_name(const struct oplist_flag *f, uint32_t flags, const char *none)
{
	for (; f->name; f++)
		if (f->flags == flags)
			return f->name;
	return none;
}

static void put_open_flags(struct out *o, uint32_t flags)
{
	for (const struct oplist_flag *f = oplist_open_flags; f->name; f++)
		if (f->flags && (flags & f->flags) == f->flags)
			put(o, " %s", f->name);
	if (!(flags & (FOLIOFS_O_CREAT | FOLIOFS_O_RDONLY | FOLIOFS_O_DIRECTORY |
		       FOLIOFS_O_TMPFILE)))
		put(o, " nocreat");
}

static void put_field(struct out *o, char letter, const struct foliofs_op *op, const char *file,
		      const char *file2)
{
	switch (letter) {
	case 'F':
		put(o, " %s", op->file < 0 && op->path ? op->path : file);
		break;
	case 'X': /* a path has to begin with / to be told from an open file */
	case 'A':
		if (op->file >= 0)
			put(o, " %s", file);
		else
			put(o, *op->path == '/' ? " %s" : " /%s", op->path);
		break;
	case 'P':
	case '*':
		put(o, " %s", op->path ? op->path : file);
		break;
	case 'G':
		put(o, " %s", file2);
		break;
	case 'Q':
		put(o, " %s", op->path2);
		break;
	case 'o':
		put(o, " %" PRIu64, op->off);
		break;
	case 'O':
		put(o, " %" PRIu64, op->off2);
		break;
	case 'l':
	case 'n':
		put(o, " %" PRIu64, op->len);
		break;
	case 'c':
		put(o, " %" PRIu64, op->chunk);
		break;
	case 's':
		put(o, " %" PRIu64, op->stride);
		break;
	case 'g':
		put(o, " %" PRIu64, op->good);
		break;
	case 'f':
		put_open_flags(o, op->flags);
		break;
	case 'd':
		put(o, " %u", op->flags);
		break;
	case 'm':
		put(o, " %s", flag_name(oplist_fallocate_modes, op->flags, "other"));
		break;
	case 'a':
		put(o, " %s", flag_name(oplist_fadvise, op->flags, "normal"));
		break;
	case 'j':
		put(o, " %s", op->len ? "on" : "off");
		break;
	}
}

const char *oplist_format(const struct foliofs_op *op, const char *file, const char *file2,
			  char *buf, size_t len)
{
	const uint32_t made = FOLIOFS_O_CREAT | FOLIOFS_O_TMPFILE;
	struct out o = { .buf = buf, .len = len };

	put(&o, "%s", foliofs_op_name(op->kind));
	for (const char *f = table[op->kind].fields; *f; f++)
		put_field(&o, *f, op, file, file2);
	if (op->kind == FOLIOFS_OP_OPEN ? op->flags & made && op->mode != 0644 :
					  op->kind == FOLIOFS_OP_MKDIR && op->mode != 0755)
		put(&o, " mode=%04o", op->mode);
	if (op->kind == FOLIOFS_OP_SYNC_RANGE && op->flags != OPLIST_HOW_BOTH)
		put(&o, " how=%s", flag_name(oplist_how, op->flags, "other"));
	if (op->flags && (op->kind == FOLIOFS_OP_MREAD || op->kind == FOLIOFS_OP_MWRITE ||
			  op->kind == FOLIOFS_OP_MTOUCH))
		put(&o, " madv=%s", flag_name(oplist_madvise, op->flags, "normal"));
	if (op->kind == FOLIOFS_OP_WRITEBACK && op->file >= 0)
		put(&o, " %s %" PRIu64, file, op->off);
	if (op->kind == FOLIOFS_OP_WRITEBACK && op->len)
		put(&o, " pages=%" PRIu64, op->len);
	if (op->chunk && !strchr(table[op->kind].fields, 'c'))
		put(&o, " chunk=%" PRIu64, op->chunk);
	if (op->pause_ns)
		put(&o, " pause=%" PRIu64, op->pause_ns / 1000000);
	return buf;
}
