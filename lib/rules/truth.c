// SPDX-License-Identifier: MIT
/* The content of files by the operations alone: see truth.h. */
#include "truth.h"

#define MAX_BYTES (1ull << 60)

struct ffs_truths *ffs_truths(struct foliofs_fs *fs)
{
	if (!fs->truths)
		fs->truths = ffs_zalloc(sizeof(*fs->truths));
	return fs->truths;
}

static u32 place(const struct ffs_truths *t, u32 ino)
{
	u32 lo = 0, hi = t->nr;

	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;

		if (t->v[mid].ino < ino)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct ffs_truth *find(const struct ffs_truths *t, u32 ino)
{
	u32 i = place(t, ino);

	return i < t->nr && t->v[i].ino == ino ? &t->v[i] : NULL;
}

static struct ffs_truth *find_or_add(struct ffs_truths *t, u32 ino)
{
	u32 i = place(t, ino);

	if (i < t->nr && t->v[i].ino == ino)
		return &t->v[i];
	if (t->nr == t->cap) {
		t->cap = t->cap ? 2 * t->cap : 16;
		t->v = ffs_realloc(t->v, t->cap * sizeof(*t->v));
	}
	memmove(&t->v[i + 1], &t->v[i], (t->nr - i) * sizeof(*t->v));
	t->nr++;
	t->v[i] = (struct ffs_truth){ .ino = ino };
	return &t->v[i];
}

static void reset(struct ffs_truth *t)
{
	ffs_runs_free(&t->want);
	t->want = (struct ffs_runs){ 0 };
	t->found_size = 0;
	t->unknown = false;
}

const struct ffs_runs *ffs_truth_of(const struct foliofs_fs *fs, u32 ino)
{
	const struct ffs_truth *t = fs->truths ? find(fs->truths, ino) : NULL;

	return t && !t->unknown ? &t->want : NULL;
}

u64 ffs_truth_max_size(const struct foliofs_fs *fs, u32 ino)
{
	const struct ffs_truth *t = fs->truths ? find(fs->truths, ino) : NULL;

	return t ? t->max_size : ~0ull;
}

bool ffs_truth_found_at(const struct foliofs_fs *fs, u32 ino, u64 size)
{
	const struct ffs_truth *t = fs->truths ? find(fs->truths, ino) : NULL;

	return t && size && t->found_size == size;
}

void ffs_truths_free(struct ffs_truths *t)
{
	u32 i;

	if (!t)
		return;
	for (i = 0; i < t->nr; i++)
		ffs_runs_free(&t->v[i].want);
	free(t->v);
	free(t->touched);
	ffs_runs_free(&t->dropped);
	free(t);
}

/* Bytes at and behind @at move by @delta; where they come from stays the same. */
static void shift(struct ffs_runs *want, u64 at, s64 delta)
{
	struct ffs_runs moved = { 0 };
	u64 to = at + (u64)delta;

	ffs_content_copy(&moved, 0, want, 0, min(at, to), FFS_SRC_ZERO);
	ffs_content_copy(&moved, to, want, at, MAX_BYTES - max(at, to), FFS_SRC_ZERO);
	ffs_runs_free(want);
	*want = moved;
}

static void fallocated(struct ffs_truth *t, const struct foliofs_op *op)
{
	switch (op->flags & ~FOLIOFS_FALLOC_KEEP_SIZE) {
	case FOLIOFS_FALLOC_PUNCH_HOLE:
	case FOLIOFS_FALLOC_ZERO_RANGE:
		ffs_runs_clear(&t->want, op->off, op->off + op->len);
		break;
	case FOLIOFS_FALLOC_COLLAPSE_RANGE:
		shift(&t->want, op->off + op->len, -(s64)op->len);
		t->found_size -= min(op->len, t->found_size);
		break;
	case FOLIOFS_FALLOC_INSERT_RANGE:
		shift(&t->want, op->off, (s64)op->len);
		t->found_size += t->found_size ? op->len : 0;
		break;
	default:
		break;
	}
}

/* Stores through a mapping; those behind EOF are not part of the file. */
static void stored(struct ffs_truth *t, const struct ffs_inode *inode, const struct foliofs_op *op)
{
	u64 src = ffs_src(op->id, inode->ino), end = min(op->off + op->len, inode->i_size), pos;

	if (!op->stride)
		ffs_content_write(&t->want, op->off, max(op->off, end), src);
	else
		for (pos = op->off; pos < end; pos += op->stride)
			ffs_content_write(&t->want, pos, pos + 1, src);
}

/* writeevery, punchevery: the same at each stride. */
static void every(struct ffs_truth *t, const struct foliofs_op *op, u64 src)
{
	u64 pos;

	for (pos = op->off; pos < op->off + op->len; pos += op->stride)
		if (op->kind == FOLIOFS_OP_WRITE_EVERY)
			ffs_content_write(&t->want, pos, pos + op->chunk, src);
		else
			ffs_runs_clear(&t->want, pos, pos + op->chunk);
}

/* The inode of a file operation is gone or was never there: forget what is not in core. */
static void forget_gone(struct foliofs_fs *fs)
{
	struct ffs_truths *t = ffs_truths(fs);
	u32 i;

	for (i = 0; i < t->nr;) {
		if (ffs_inode_find(&fs->ops.sb, t->v[i].ino)) {
			i++;
			continue;
		}
		ffs_runs_free(&t->v[i].want);
		memmove(&t->v[i], &t->v[i + 1], (--t->nr - i) * sizeof(*t->v));
	}
}

static void file_op(struct foliofs_fs *fs, struct ffs_inode *inode, const struct foliofs_op *op,
		    s64 result)
{
	struct ffs_truth *t = find_or_add(ffs_truths(fs), inode->ino);
	u64 src = ffs_src(op->id, inode->ino), at;

	switch (op->kind) {
	case FOLIOFS_OP_WRITE:
	case FOLIOFS_OP_WRITE_BAD:
	case FOLIOFS_OP_APPEND:
		if (result <= 0)
			break;
		at = op->kind == FOLIOFS_OP_APPEND ? inode->i_size - (u64)result : op->off;
		ffs_content_write(&t->want, at, at + (u64)result, src);
		break;
	case FOLIOFS_OP_MWRITE:
	case FOLIOFS_OP_MTOUCH:
		if (result < 0)
			t->unknown = true;
		else
			stored(t, inode, op);
		break;
	case FOLIOFS_OP_TRUNCATE:
		ffs_runs_clear(&t->want, op->len, MAX_BYTES);
		if (!op->len)
			t->unknown = false;
		break;
	case FOLIOFS_OP_FALLOCATE:
		if (!result)
			fallocated(t, op);
		else if (op->flags & ~FOLIOFS_FALLOC_KEEP_SIZE)
			t->unknown = true;
		break;
	case FOLIOFS_OP_WRITE_EVERY:
	case FOLIOFS_OP_PUNCH_EVERY:
		if (result < 0)
			t->unknown = true;
		else
			every(t, op, src);
		break;
	case FOLIOFS_OP_FSYNC:
	case FOLIOFS_OP_FDATASYNC:
	case FOLIOFS_OP_SYNC_RANGE:
	case FOLIOFS_OP_MSYNC:
		/* An error was told: data may be lost. */
		if (result < 0)
			t->unknown = true;
		break;
	default:
		break;
	}
}

static struct ffs_inode *inode_of(struct foliofs_fs *fs, const struct foliofs_op *op)
{
	const struct ffs_file *f = ffs_file(&fs->ops, op->file);

	if (f)
		return f->inode;
	return op->path && op->kind == FOLIOFS_OP_TRUNCATE ? ffs_lookup(&fs->ops, op->path) : NULL;
}

/* Another operation is in the middle of changing the file: which comes first is not known. */
static bool being_changed(const struct foliofs_fs *fs, u32 ino)
{
	const struct ffs_stopped *s;

	for (s = fs->stopped; s; s = s->outer)
		if (s->ino == ino && s->stop < FOLIOFS_STOP_HANDLE_RESTARTED)
			return true;
	return false;
}

/* What writes back or reads changes no byte, wherever it comes. */
static bool changes_bytes(enum foliofs_op_kind kind)
{
	switch (kind) {
	case FOLIOFS_OP_READ:
	case FOLIOFS_OP_FSYNC:
	case FOLIOFS_OP_FDATASYNC:
	case FOLIOFS_OP_SYNC_RANGE:
	case FOLIOFS_OP_MSYNC:
	case FOLIOFS_OP_WRITEBACK:
		return false;
	default:
		return true;
	}
}

static void note_size(struct foliofs_fs *fs, s32 file)
{
	const struct ffs_file *f = ffs_file(&fs->ops, file);
	struct ffs_truth *t = f ? find(ffs_truths(fs), f->inode->ino) : NULL;

	if (t && !being_changed(fs, f->inode->ino))
		t->max_size = max(t->max_size, f->inode->i_size);
}

/*
 * copy_file_range: the bytes stay those of who wrote them.  @shared: the blocks are those of the
 * source, so their bytes are its; else they are written anew, to inode @ino.
 */
static void copied(struct ffs_truth *to, const struct ffs_truth *from, const struct foliofs_op *op,
		   u64 len, u32 ino, bool shared)
{
	struct ffs_runs copy = { 0 }; /* it may be one file */

	if (!from || from->unknown) {
		to->unknown = true;
	} else if (shared) {
		ffs_content_copy(&copy, 0, &from->want, op->off, len, FFS_SRC_ZERO);
		ffs_content_copy(&to->want, op->off2, &copy, 0, len, FFS_SRC_ZERO);
		ffs_runs_free(&copy);
	} else {
		ffs_content_clone(&to->want, op->off2, &from->want, op->off, len, ino);
	}
}

static void found_piece(void *priv, const struct foliofs_content *c)
{
	struct ffs_truth *t = priv;

	if (c->kind == FOLIOFS_SOURCE_OP)
		ffs_runs_set(&t->want, c->offset, c->offset + c->len, c->source_offset - c->offset,
			     ffs_src(c->source, c->owner));
	else if (c->kind == FOLIOFS_SOURCE_STALE || c->kind == FOLIOFS_SOURCE_UNKNOWN)
		t->unknown = true;
}

void ffs_truth_recovered(struct foliofs_fs *fs)
{
	const struct ffs_super *sb = &fs->ops.sb;
	u32 i;

	ffs_truths_free(fs->truths);
	fs->truths = NULL;
	for (i = 0; i < sb->cap_inodes; i++) {
		const struct ffs_inode *inode = sb->inodes[i];
		struct ffs_truth *t;

		if (!inode || !ffs_is_reg(inode))
			continue;
		t = find_or_add(ffs_truths(fs), inode->ino);
		t->max_size = t->found_size = inode->i_size;
		foliofs_fs_for_each_content(fs, inode->ino, found_piece, t);
	}
}

void ffs_truth_lost(struct foliofs_fs *fs, u32 ino)
{
	find_or_add(ffs_truths(fs), ino)->unknown = true;
}

void ffs_truth_op(struct foliofs_fs *fs, const struct foliofs_op *op, s64 result)
{
	struct ffs_inode *inode = inode_of(fs, op);
	const struct ffs_file *g;

	switch (op->kind) {
	case FOLIOFS_OP_OPEN:
		/* An empty file: new, or cut to nothing.  Others have been seen, or are not known. */
		if (inode && result >= 0 && !inode->i_size)
			reset(find_or_add(ffs_truths(fs), inode->ino));
		else if (inode && result >= 0 && !find(ffs_truths(fs), inode->ino))
			find_or_add(ffs_truths(fs), inode->ino)->unknown = true;
		break;
	case FOLIOFS_OP_UNLINK:
	case FOLIOFS_OP_RENAME:
	case FOLIOFS_OP_CLOSE:
		forget_gone(fs);
		break;
	case FOLIOFS_OP_COPY_RANGE:
	case FOLIOFS_OP_REFLINK:
		g = ffs_file(&fs->ops, op->file2);
		if (g && inode && (result > 0 || (!result && op->kind == FOLIOFS_OP_REFLINK))) {
			struct ffs_truth *to = find_or_add(ffs_truths(fs), g->inode->ino);
			u64 len = result ? (u64)result :
				  op->len ? op->len : inode->i_size - op->off;

			copied(to, find(ffs_truths(fs), inode->ino), op, len, g->inode->ino,
			       fs->ops.sb.copy_shared);
		}
		/* As below: a copy that an injected failure cut short. */
		if (unlikely(fs->ops.sb.env.failures_on) && g && result < (s64)op->len)
			ffs_truth_lost(fs, g->inode->ino);
		break;
	case FOLIOFS_OP_MOVE_EXTENTS:
		/* The donor gets what the other file's blocks held. */
		g = ffs_file(&fs->ops, op->file2);
		if (g)
			find_or_add(ffs_truths(fs), g->inode->ino)->unknown = true;
		break;
	default:
		if (inode && ffs_is_reg(inode))
			file_op(fs, inode, op, result);
		/* An injected failure: what is half done may stay. */
		if (unlikely(fs->ops.sb.env.failures_on) && inode && ffs_is_reg(inode) &&
		    (result < 0 || (op->len && result < (s64)op->len &&
				    (op->kind == FOLIOFS_OP_WRITE || op->kind == FOLIOFS_OP_APPEND))))
			ffs_truth_lost(fs, inode->ino);
		if (unlikely(fs->stopped) && inode && changes_bytes(op->kind) &&
		    being_changed(fs, inode->ino))
			find_or_add(ffs_truths(fs), inode->ino)->unknown = true;
		break;
	}
	note_size(fs, op->file);
	note_size(fs, op->file2);
}
