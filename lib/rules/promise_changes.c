// SPDX-License-Identifier: MIT
/*
 * What operations do to promises (promises.c): each takes back what it may change before it
 * begins, and what it has not done, if it fails, nobody can tell.
 */
#include "promise.h"

static void take_back(struct foliofs_fs *fs, const struct ffs_inode *inode, u64 pos, u64 end)
{
	struct ffs_promise *p = inode ? ffs_promise_find(fs, inode->ino, NULL) : NULL;

	if (!p)
		return;
	ffs_runs_clear(&p->bytes, pos, end);
	ffs_runs_clear(&p->undefined, pos, end);
	ffs_runs_clear(&p->starting, pos, end);
	p->fresh = true;
	fs->promises++;
}

/* Blocks may go, and sizes move for other reasons than data. */
static void reshaped(struct foliofs_fs *fs, const struct ffs_inode *inode, u64 pos, u64 end)
{
	struct ffs_promise *p = inode ? ffs_promise_find(fs, inode->ino, NULL) : NULL;

	take_back(fs, inode, pos, end);
	if (!p)
		return;
	p->write_size = 0;
	ffs_runs_clear(&p->io_lost, pos, end); /* its blocks go */
}

static void before_fallocate(struct foliofs_fs *fs, const struct ffs_inode *inode,
			     const struct foliofs_op *op)
{
	u64 end = op->off + op->len;

	if (op->flags & (FOLIOFS_FALLOC_COLLAPSE_RANGE | FOLIOFS_FALLOC_INSERT_RANGE))
		end = ~0ull;
	else if (!(op->flags & (FOLIOFS_FALLOC_PUNCH_HOLE | FOLIOFS_FALLOC_ZERO_RANGE)))
		end = op->off;
	reshaped(fs, inode, op->off, end);
}

/*
 * The data of the file stays; what the donor's blocks hold is nobody's concern any more.  The call
 * counts in blocks, and less than one may be all of the file (lib/ops/moveext.c).
 */
static void before_move(struct foliofs_fs *fs, const struct ffs_inode *inode,
			const struct ffs_inode *donor, const struct foliofs_op *op)
{
	u8 bits = fs->ops.sb.env.block_bits;
	u64 blocks = op->len >> bits, first = op->off2 >> bits << bits, end;

	reshaped(fs, inode, 0, 0);
	if (!donor)
		return;
	end = blocks ? first + (blocks << bits) :
		       ffs_blocks_up(&fs->ops.sb.env, donor->i_size) << bits;
	reshaped(fs, donor, first, end);
	ffs_content_zero(&ffs_promise_get(fs, donor)->undefined, first, end);
}

void ffs_promise_take_back(struct foliofs_fs *fs, const struct foliofs_op *op)
{
	struct ffs_file *f = ffs_file(&fs->ops, op->file), *g = ffs_file(&fs->ops, op->file2);
	struct ffs_inode *inode = f ? f->inode : NULL;

	switch (op->kind) {
	case FOLIOFS_OP_WRITE:
	case FOLIOFS_OP_WRITE_BAD:
	case FOLIOFS_OP_MWRITE:
	case FOLIOFS_OP_MTOUCH:
	case FOLIOFS_OP_WRITE_EVERY:
		take_back(fs, inode, op->off, op->off + op->len);
		break;
	case FOLIOFS_OP_APPEND:
		if (inode) {
			fs->append_pos = inode->i_size;
			take_back(fs, inode, inode->i_size, ~0ull);
		}
		break;
	case FOLIOFS_OP_COPY_RANGE:
		take_back(fs, g ? g->inode : NULL, op->off2, op->off2 + op->len);
		break;
	case FOLIOFS_OP_MOVE_EXTENTS:
		before_move(fs, inode, g ? g->inode : NULL, op);
		break;
	case FOLIOFS_OP_TRUNCATE:
		reshaped(fs, inode ? inode : op->path ? ffs_lookup(&fs->ops, op->path) : NULL,
			 op->len, ~0ull);
		break;
	case FOLIOFS_OP_FALLOCATE:
		before_fallocate(fs, inode, op);
		break;
	case FOLIOFS_OP_PUNCH_EVERY:
		reshaped(fs, inode, op->off, op->off + op->len);
		break;
	case FOLIOFS_OP_FILL:
		reshaped(fs, inode, 0, 0);
		break;
	case FOLIOFS_OP_OPEN:
		if (op->flags & FOLIOFS_O_TRUNC)
			reshaped(fs, ffs_lookup(&fs->ops, op->path), 0, ~0ull);
		break;
	case FOLIOFS_OP_UNLINK:
		reshaped(fs, ffs_lookup(&fs->ops, op->path), 0, ~0ull);
		break;
	case FOLIOFS_OP_RENAME:
		if (op->path2 && ffs_lookup(&fs->ops, op->path2) != ffs_lookup(&fs->ops, op->path))
			reshaped(fs, ffs_lookup(&fs->ops, op->path2), 0, ~0ull);
		break;
	default:
		break;
	}
}

void ffs_promise_undefined(struct foliofs_fs *fs, const struct ffs_inode *inode, u64 first, u64 end)
{
	struct ffs_promise *p;

	if (!inode || first >= end || !ffs_is_reg(inode))
		return;
	p = ffs_promise_get(fs, inode);
	ffs_content_zero(&p->undefined, first, end);
	ffs_runs_clear(&p->bytes, first, end);
	p->fresh = true;
	fs->promises++;
}

void ffs_promise_failed(struct foliofs_fs *fs, const struct foliofs_op *op,
			const struct ffs_inode *inode, s64 result)
{
	u64 done = result > 0 ? (u64)result : 0;

	switch (op->kind) {
	case FOLIOFS_OP_WRITE:
	case FOLIOFS_OP_WRITE_BAD:
		ffs_promise_undefined(fs, inode, op->off + done, op->off + op->len);
		break;
	case FOLIOFS_OP_MWRITE:
	case FOLIOFS_OP_MTOUCH:
	case FOLIOFS_OP_WRITE_EVERY:
	case FOLIOFS_OP_PUNCH_EVERY:
		ffs_promise_undefined(fs, inode, op->off, op->off + op->len);
		break;
	case FOLIOFS_OP_APPEND:
		ffs_promise_undefined(fs, inode, fs->append_pos + done, fs->append_pos + op->len);
		break;
	case FOLIOFS_OP_COPY_RANGE:
		ffs_promise_undefined(fs, inode, op->off2 + done, op->off2 + op->len);
		break;
	case FOLIOFS_OP_TRUNCATE:
		if (!inode && op->path)
			inode = ffs_lookup(&fs->ops, op->path);
		ffs_promise_undefined(fs, inode, op->len, ~0ull);
		break;
	case FOLIOFS_OP_OPEN:
		if ((op->flags & FOLIOFS_O_TRUNC) && op->path)
			ffs_promise_undefined(fs, ffs_lookup(&fs->ops, op->path), 0, ~0ull);
		break;
	case FOLIOFS_OP_FALLOCATE:
		ffs_promise_undefined(fs, inode, op->off,
			     op->flags & (FOLIOFS_FALLOC_COLLAPSE_RANGE |
					  FOLIOFS_FALLOC_INSERT_RANGE) ? ~0ull : op->off + op->len);
		break;
	default:
		break;
	}
}
