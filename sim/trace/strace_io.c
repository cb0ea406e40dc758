// SPDX-License-Identifier: MIT
/*
 * Calls of a strace log that read, write, sync and change sizes.
 *
 * A read is replayed with the length that was asked for (readahead looks at it), a write with what
 * was written.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/strace.h"

enum { /* handler->a */
	WRITES = 1,
	AT = 2, /* with an offset */
	VECTOR = 4,
	FLAGS = 8, /* RWF_*; offset -1 is the position */
};

/* Effects of a read of @asked bytes at @off that got @got. */
static void did_read(struct strace *s, struct strace_node *n, uint64_t off, uint64_t asked,
		     uint64_t got)
{
	if (!got || n->dir)
		return;
	if (got < asked)
		strace_size_is(s, n, off + got, "read to the end");
	else
		strace_size_at_least(s, n, off + got, "read that far");
}

static void emit_read(struct strace *s, struct strace_desc *d, uint64_t off, uint64_t asked,
		      uint64_t got)
{
	struct foliofs_op op = { .kind = FOLIOFS_OP_READ, .off = off, .len = asked };

	did_read(s, d->node, off, asked, got);
	if (asked > INT64_MAX - off)
		op.len = got;
	strace_emit(s, &op, d, NULL);
}

static void emit_write(struct strace *s, struct strace_desc *d, uint64_t off, uint64_t len,
		       bool append)
{
	struct foliofs_op op = {.kind = append ? FOLIOFS_OP_APPEND : FOLIOFS_OP_WRITE, .len = len};

	if (!append)
		op.off = off;
	else if (!d->node->size_known)
		d->node->appended = true;
	strace_size_grow(d->node, append ? d->node->size + len : off + len);
	strace_emit(s, &op, d, NULL);
}

/* "1", "2" or "3" written to the file that drops caches; without its data, 1. */
static int drop_caches(struct strace *s, const struct strace_call *c)
{
	struct foliofs_op op = { .kind = FOLIOFS_OP_DROP_CACHES, .flags = 1 };
	bool whole;
	char buf[8];

	if (c->nr > 1 && strace_string(c->args[1], buf, sizeof(buf), &whole) > 0 && buf[0] >= '1' &&
	    buf[0] <= '3')
		op.flags = (uint32_t)(buf[0] - '0');
	strace_emit(s, &op, NULL, NULL);
	return STRACE_REPLAYED;
}

/* The offset argument of a positioned call. */
static int offset(const struct strace *s, const struct strace_call *c, unsigned int arg,
		  uint64_t *off)
{
	int64_t v;

	if (strace_arg_int(s, c, arg, &v))
		return -EINVAL;
	if (v < 0)
		return strace_bad_arg(s, c, arg, "an offset of at least 0");
	*off = (uint64_t)v;
	return 0;
}

/* read write pread64 pwrite64 readv writev preadv pwritev preadv2 pwritev2 */
static int do_rw(struct strace *s, const struct strace_call *c, const struct strace_handler *h)
{
	struct foliofs_op sync = { .kind = FOLIOFS_OP_FDATASYNC };
	uint64_t off, asked = (uint64_t)c->result, got = (uint64_t)c->result;
	bool at = h->a & AT, append;
	struct strace_desc *d;
	int64_t v;

	if (strace_arg_desc(s, c, 0, &d))
		return -EINVAL;
	if (d && d->drops_caches && (h->a & WRITES))
		return drop_caches(s, c);
	if (!d || d->slot < 0)
		return STRACE_OUTSIDE;
	if (h->a & VECTOR)
		strace_iov_len(c->args[1], &asked);
	else if (strace_arg_int(s, c, 2, &v))
		return -EINVAL;
	else
		asked = (uint64_t)v;
	if (asked < got)
		asked = got;
	if ((h->a & FLAGS) && c->nr > 3 && !strncmp(c->args[3].s, "-1", 2))
		at = false;
	off = d->pos;
	if (at && offset(s, c, 3, &off))
		return -EINVAL;
	if (got > INT64_MAX || off > INT64_MAX - got)
		return strace_bad_arg(s, c, 2, "an end below 2^63");
	append =
		d->append || ((h->a & FLAGS) && c->nr > 4 && strace_flag(c->args[4], "RWF_APPEND"));
	if (!(h->a & WRITES)) {
		emit_read(s, d, off, asked, got);
	} else if (got) {
		emit_write(s, d, off, got, append);
		if (append)
			off = d->node->size - got;
	} else {
		return STRACE_PASSIVE;
	}
	if (!at)
		d->pos = off + got;
	if ((h->a & FLAGS) && c->nr > 4 && strace_flag(c->args[4], "RWF_SYNC"))
		sync.kind = FOLIOFS_OP_FSYNC;
	else if (!(h->a & FLAGS) || c->nr < 5 || !strace_flag(c->args[4], "RWF_DSYNC"))
		return STRACE_REPLAYED;
	if (h->a & WRITES)
		strace_emit(s, &sync, d, NULL);
	return STRACE_REPLAYED;
}

static int do_lseek(struct strace *s, const struct strace_call *c, const struct strace_handler *h)
{
	struct strace_desc *d;
	int64_t off;

	(void)h;
	if (strace_arg_file(s, c, 0, &d))
		return -EINVAL;
	if (!d)
		return STRACE_OUTSIDE;
	d->pos = (uint64_t)c->result;
	if (c->nr > 2 && strace_flag(c->args[2], "SEEK_END") && strace_int(c->args[1], &off) &&
	    off <= c->result)
		strace_size_is(s, d->node, (uint64_t)(c->result - off), "lseek to the end");
	return STRACE_PASSIVE;
}

/* A file argument, then a range; the operation has both. a: kind */
static int do_range(struct strace *s, const struct strace_call *c, const struct strace_handler *h)
{
	static const struct {
		const char *name;
		uint32_t value;
	} advice[] = {
		{ "POSIX_FADV_NORMAL", FOLIOFS_FADV_NORMAL },
		{ "POSIX_FADV_RANDOM", FOLIOFS_FADV_RANDOM },
		{ "POSIX_FADV_SEQUENTIAL", FOLIOFS_FADV_SEQUENTIAL },
		{ "POSIX_FADV_WILLNEED", FOLIOFS_FADV_WILLNEED },
		{ "POSIX_FADV_DONTNEED", FOLIOFS_FADV_DONTNEED },
		{ "POSIX_FADV_NOREUSE", FOLIOFS_FADV_NOREUSE },
		{ "SYNC_FILE_RANGE_WAIT_BEFORE", FOLIOFS_SYNC_RANGE_WAIT_BEFORE },
		{ "SYNC_FILE_RANGE_WRITE", FOLIOFS_SYNC_RANGE_WRITE },
		{ "SYNC_FILE_RANGE_WAIT_AFTER", FOLIOFS_SYNC_RANGE_WAIT_AFTER },
	};
	struct foliofs_op op = { .kind = (enum foliofs_op_kind)h->a };
	struct strace_desc *d;
	int64_t len;

	if (strace_arg_file(s, c, 0, &d))
		return -EINVAL;
	if (!d)
		return STRACE_OUTSIDE;
	if (offset(s, c, 1, &op.off) || strace_arg_int(s, c, 2, &len))
		return -EINVAL;
	op.len = (uint64_t)len;
	if (h->b) { /* readahead */
		op.flags = FOLIOFS_FADV_WILLNEED;
	} else {
		for (size_t i = 0; i < sizeof(advice) / sizeof(advice[0]) && c->nr > 3; i++)
			if (strace_flag(c->args[3], advice[i].name))
				op.flags |= advice[i].value;
	}
	strace_emit(s, &op, d, NULL);
	return STRACE_REPLAYED;
}

/* fsync(fd), fdatasync(fd), syncfs(fd); a: kind */
static int do_sync(struct strace *s, const struct strace_call *c, const struct strace_handler *h)
{
	struct foliofs_op op = { .kind = (enum foliofs_op_kind)h->a };
	struct strace_desc *d = NULL;

	if (h->a != FOLIOFS_OP_SYNC && strace_arg_file(s, c, 0, &d))
		return -EINVAL;
	if (h->a != FOLIOFS_OP_SYNC && !d)
		return STRACE_OUTSIDE;
	strace_emit(s, &op, h->a == FOLIOFS_OP_SYNCFS ? NULL : d, NULL);
	return STRACE_REPLAYED;
}

/* ftruncate(fd, size) */
static int do_ftruncate(struct strace *s, const struct strace_call *c,
			const struct strace_handler *h)
{
	struct foliofs_op op = { .kind = FOLIOFS_OP_TRUNCATE };
	struct strace_desc *d;

	(void)h;
	if (strace_arg_file(s, c, 0, &d) || offset(s, c, 1, &op.len))
		return -EINVAL;
	if (!d)
		return STRACE_OUTSIDE;
	strace_size_set(d->node, op.len);
	strace_emit(s, &op, d, NULL);
	return STRACE_REPLAYED;
}

static int do_truncate(struct strace *s, const struct strace_call *c,
		       const struct strace_handler *h)
{
	struct foliofs_op op = { .kind = FOLIOFS_OP_TRUNCATE };
	char abs[PATH_MAX];
	const char *rel;

	(void)h;
	if (strace_arg_path(s, c, -1, 0, true, abs, &rel) || offset(s, c, 1, &op.len))
		return -EINVAL;
	if (!rel)
		return STRACE_OUTSIDE;
	strace_size_set(strace_node_there(s, rel, false, "truncated by name"), op.len);
	op.path = rel;
	strace_emit(s, &op, NULL, NULL);
	return STRACE_REPLAYED;
}

/* fallocate(fd, mode, off, len) */
static int do_fallocate(struct strace *s, const struct strace_call *c,
			const struct strace_handler *h)
{
	static const struct {
		const char *name;
		uint32_t flag;
	} modes[] = {
		{ "FALLOC_FL_KEEP_SIZE", FOLIOFS_FALLOC_KEEP_SIZE },
		{ "FALLOC_FL_PUNCH_HOLE", FOLIOFS_FALLOC_PUNCH_HOLE },
		{ "FALLOC_FL_COLLAPSE_RANGE", FOLIOFS_FALLOC_COLLAPSE_RANGE },
		{ "FALLOC_FL_ZERO_RANGE", FOLIOFS_FALLOC_ZERO_RANGE },
		{ "FALLOC_FL_INSERT_RANGE", FOLIOFS_FALLOC_INSERT_RANGE },
		{ "FALLOC_FL_UNSHARE_RANGE", FOLIOFS_FALLOC_UNSHARE_RANGE },
	};
	struct foliofs_op op = { .kind = FOLIOFS_OP_FALLOCATE };
	struct strace_desc *d;

	(void)h;
	if (strace_arg_file(s, c, 0, &d))
		return -EINVAL;
	if (!d)
		return STRACE_OUTSIDE;
	if (offset(s, c, 2, &op.off) || offset(s, c, 3, &op.len))
		return -EINVAL;
	if (op.off > INT64_MAX - op.len)
		return strace_bad_arg(s, c, 3, "an end below 2^63");
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strace_flag(c->args[1], modes[i].name))
			op.flags |= modes[i].flag;
	if (op.flags & FOLIOFS_FALLOC_COLLAPSE_RANGE)
		d->node->size -= d->node->size < op.len ? d->node->size : op.len;
	else if (op.flags & FOLIOFS_FALLOC_INSERT_RANGE)
		d->node->size += op.len;
	else if (!(op.flags & FOLIOFS_FALLOC_KEEP_SIZE))
		strace_size_grow(d->node, op.off + op.len);
	strace_emit(s, &op, d, NULL);
	return STRACE_REPLAYED;
}

/* Where one side of a copy is: [offset] or the position, which moves on. */
static uint64_t side(const struct strace_call *c, unsigned int arg, struct strace_desc *d,
		     uint64_t len)
{
	int64_t v;
	uint64_t off;

	if (arg < c->nr && strace_pointed(c->args[arg], &v) && v >= 0)
		return (uint64_t)v;
	off = d ? d->pos : 0;
	if (d)
		d->pos += len;
	return off;
}

/*
 * copy_file_range(in, &off, out, &off, len, flags), splice(the same), sendfile(out, in, &off, len);
 * a: which
 */
static int do_copy(struct strace *s, const struct strace_call *c, const struct strace_handler *h)
{
	unsigned int in_arg = h->a == 'f' ? 1 : 0, out_arg = h->a == 'f' ? 0 : 2;
	uint64_t len = (uint64_t)c->result, from, to;
	struct foliofs_op op = { .kind = FOLIOFS_OP_COPY_RANGE, .len = len };
	struct strace_desc *in, *out;

	if (c->nr < 4)
		return strace_bad_arg(s, c, c->nr, "an argument");
	if (strace_arg_desc(s, c, in_arg, &in) || strace_arg_desc(s, c, out_arg, &out))
		return -EINVAL;
	from = side(c, h->a == 'f' ? 2 : 1, in, len);
	to = side(c, h->a == 'f' ? STRACE_ARGS : 3, out, len);
	if (in && in->slot < 0)
		in = NULL;
	if (out && out->slot < 0)
		out = NULL;
	if (!in && !out)
		return STRACE_OUTSIDE;
	if (!len)
		return STRACE_PASSIVE;
	if (in && out && h->a == 'c') {
		strace_size_at_least(s, in->node, from + len, "copied that far");
		strace_size_grow(out->node, to + len);
		op.off = from;
		op.off2 = to;
		strace_emit(s, &op, in, out);
		return STRACE_REPLAYED;
	}
	if (in)
		emit_read(s, in, from, len, len);
	if (out)
		emit_write(s, out, to, len, out->append);
	return STRACE_REPLAYED;
}

/* One request: {aio_lio_opcode=IOCB_CMD_PWRITE, aio_fildes=3, aio_nbytes=N, aio_offset=N, ...} */
static int do_iocb(struct strace *s, struct strace_span iocb, const struct strace_call *c)
{
	struct strace_call one = { .name = c->name, .nr = 1 };
	struct strace_span what, v[2];
	struct foliofs_op op = { .kind = FOLIOFS_OP_FSYNC };
	struct strace_desc *d;
	int64_t len = 0, off = 0;

	if (!strace_field(iocb, "aio_fildes", &one.args[0]) ||
	    !strace_field(iocb, "aio_lio_opcode", &what))
		return STRACE_UNMODELLED;
	if (strace_arg_file(s, &one, 0, &d))
		return -EINVAL;
	if (!d)
		return STRACE_OUTSIDE;
	if (strace_field(iocb, "aio_nbytes", &v[0]) && strace_field(iocb, "aio_offset", &v[1]) &&
	    (!strace_int(v[0], &len) || !strace_int(v[1], &off) || len < 0 || off < 0))
		return STRACE_UNMODELLED;
	if (strace_flag(what, "IOCB_CMD_PWRITE") || strace_flag(what, "IOCB_CMD_PWRITEV")) {
		emit_write(s, d, (uint64_t)off, (uint64_t)len, d->append);
	} else if (strace_flag(what, "IOCB_CMD_PREAD") || strace_flag(what, "IOCB_CMD_PREADV")) {
		emit_read(s, d, (uint64_t)off, (uint64_t)len, 0);
	} else if (strace_flag(what, "IOCB_CMD_FSYNC") || strace_flag(what, "IOCB_CMD_FDSYNC")) {
		if (strace_flag(what, "IOCB_CMD_FDSYNC"))
			op.kind = FOLIOFS_OP_FDATASYNC;
		strace_emit(s, &op, d, NULL);
	} else {
		return STRACE_UNMODELLED;
	}
	return STRACE_REPLAYED;
}

/* io_submit(ctx, nr, [iocbs]) = those taken.  SIMPLIFIED: done in order, as they are submitted. */
static int do_submit(struct strace *s, const struct strace_call *c, const struct strace_handler *h)
{
	struct strace_span list = c->nr > 2 ? c->args[2] : (struct strace_span){ "", 0 };
	int ret = STRACE_OUTSIDE, one;
	const char *p = list.s, *end = list.s + list.len, *close;

	(void)h;
	for (int64_t i = 0; i < c->result; i++) {
		p = memchr(p, '{', (size_t)(end - p));
		close = p ? memchr(p, '}', (size_t)(end - p)) : NULL;
		if (!close)
			return ret == STRACE_OUTSIDE ? ret : STRACE_UNMODELLED;
		one = do_iocb(s, (struct strace_span){ p, (size_t)(close - p) + 1 }, c);
		if (one < 0)
			return one;
		if (one != STRACE_OUTSIDE)
			ret = one;
		p = close;
	}
	return ret;
}

const struct strace_handler strace_io_calls[] = {
	{ "read", do_rw, -1, -1, 0, 0 },
	{ "write", do_rw, -1, -1, WRITES, 0 },
	{ "pread64", do_rw, -1, -1, AT, 0 },
	{ "pread", do_rw, -1, -1, AT, 0 },
	{ "pwrite64", do_rw, -1, -1, WRITES | AT, 0 },
	{ "pwrite", do_rw, -1, -1, WRITES | AT, 0 },
	{ "readv", do_rw, -1, -1, VECTOR, 0 },
	{ "writev", do_rw, -1, -1, WRITES | VECTOR, 0 },
	{ "preadv", do_rw, -1, -1, AT | VECTOR, 0 },
	{ "pwritev", do_rw, -1, -1, WRITES | AT | VECTOR, 0 },
	{ "preadv2", do_rw, -1, -1, AT | VECTOR | FLAGS, 0 },
	{ "pwritev2", do_rw, -1, -1, WRITES | AT | VECTOR | FLAGS, 0 },
	{ "lseek", do_lseek, -1, -1, 0, 0 },
	{ "fadvise64", do_range, -1, -1, FOLIOFS_OP_FADVISE, 0 },
	{ "readahead", do_range, -1, -1, FOLIOFS_OP_FADVISE, 1 },
	{ "sync_file_range", do_range, -1, -1, FOLIOFS_OP_SYNC_RANGE, 0 },
	{ "fsync", do_sync, -1, -1, FOLIOFS_OP_FSYNC, 0 },
	{ "fdatasync", do_sync, -1, -1, FOLIOFS_OP_FDATASYNC, 0 },
	{ "syncfs", do_sync, -1, -1, FOLIOFS_OP_SYNCFS, 0 },
	{ "sync", do_sync, -1, -1, FOLIOFS_OP_SYNC, 0 },
	{ "ftruncate", do_ftruncate, -1, -1, 0, 0 },
	{ "truncate", do_truncate, -1, 0, 0, 0 },
	{ "fallocate", do_fallocate, -1, -1, 0, 0 },
	{ "copy_file_range", do_copy, -1, -1, 'c', 0 },
	{ "splice", do_copy, -1, -1, 's', 0 },
	{ "sendfile", do_copy, -1, -1, 'f', 0 },
	{ "sendfile64", do_copy, -1, -1, 'f', 0 },
	{ "io_submit", do_submit, -1, -1, 0, 0 },
	{ NULL, NULL, 0, 0, 0, 0 },
};
