// SPDX-License-Identifier: MIT
/*
 * Named stops: other operations run in the middle of one; see <foliofs/fs.h>.  And the
 * switches of injected failures.
 *
 * Glossary: stopped - the task that has come to a stop; it holds what stops.def says
 * until the operations that run there are over.  So these must not need it: one that
 * does is refused before it begins.
 */
#include "fs.h"

static const char *const stop_names[] = {
#define FOLIOFS_STOP(id, name, meaning) name,
#include <foliofs/stops.def>
#undef FOLIOFS_STOP
};

static const struct {
	const char *name;
	int error;
} failures[] = {
#define FOLIOFS_FAILURE(id, name, error, meaning) { name, error },
#include <foliofs/failures.def>
#undef FOLIOFS_FAILURE
};

const char *foliofs_stop_name(enum foliofs_stop s)
{
	return (unsigned int)s < FOLIOFS_STOP_COUNT ? stop_names[s] : NULL;
}

int foliofs_stop_find(const char *name, enum foliofs_stop *s)
{
	u32 i;

	for (i = 0; i < FOLIOFS_STOP_COUNT; i++)
		if (!strcmp(name, stop_names[i])) {
			*s = i;
			return 0;
		}
	return -ENOENT;
}

const char *foliofs_failure_name(enum foliofs_failure f)
{
	return (unsigned int)f < FOLIOFS_FAILURE_COUNT ? failures[f].name : NULL;
}

int foliofs_failure_error(enum foliofs_failure f)
{
	return (unsigned int)f < FOLIOFS_FAILURE_COUNT ? failures[f].error : 0;
}

int foliofs_failure_find(const char *name, enum foliofs_failure *f)
{
	u32 i;

	for (i = 0; i < FOLIOFS_FAILURE_COUNT; i++)
		if (!strcmp(name, failures[i].name)) {
			*f = i;
			return 0;
		}
	return -ENOENT;
}

void foliofs_fs_inject(struct foliofs_fs *fs, enum foliofs_failure what, uint32_t nth)
{
	struct ffs_env *env = &fs->ops.sb.env;

	env->failure[what] = (struct ffs_failure_count){ .nth = nth };
	env->failures_on &= ~(1u << what);
	if (nth)
		env->failures_on |= 1u << what;
}

void foliofs_fs_set_failure_handler(struct foliofs_fs *fs, foliofs_failure_fn fn, void *priv)
{
	fs->ops.sb.env.fail_ask = fn;
	fs->ops.sb.env.fail_priv = priv;
}

uint32_t foliofs_fs_injected(const struct foliofs_fs *fs, enum foliofs_failure what, bool *failed)
{
	const struct ffs_failure_count *f = &fs->ops.sb.env.failure[what];

	if (failed)
		*failed = f->failed;
	return f->seen;
}

/* Another task runs what the handler asks for; then the stopped one goes on. */
static void come_to_stop(void *priv, const struct ffs_stopped *s)
{
	struct foliofs_fs *fs = priv;
	struct ffs_super *sb = &fs->ops.sb;
	struct ffs_stopped mine = *s;
	u32 op = sb->env.op;
	u8 thread = sb->env.thread;
	struct ffs_locks locks;
	struct ffs_handle *h;

	mine.outer = fs->stopped;
	fs->stopped = &mine;
	h = ffs_journal_switch_task(sb->journal, NULL);
	locks = ffs_locks_switch(&sb->env, (struct ffs_locks){ 0 });
	fs->stop_fn(fs->stop_priv, s->stop, s->ino);
	ffs_locks_switch(&sb->env, locks);
	ffs_journal_switch_task(sb->journal, h);
	fs->stopped = mine.outer;
	sb->env.op = op;
	sb->env.thread = thread;
	sb->env.error[0] = 0;
	ffs_cut_resumed(fs);
}

void foliofs_fs_set_stop_handler(struct foliofs_fs *fs, foliofs_stop_fn fn, void *priv)
{
	fs->stop_fn = fn;
	fs->stop_priv = priv;
	fs->ops.sb.env.stop = fn ? come_to_stop : NULL;
	fs->ops.sb.env.stop_priv = fs;
}

/* --- who would wait --- */

struct needs {
	bool inode_lock, faults, writeback, commit, invalidates, reads;
	u64 first, end; /* bytes of the file whose folios it locks */
};

static void needs_of(const struct foliofs_op *op, const struct ffs_inode *inode, u64 page,
		     struct needs *n)
{
	u64 end = op->off + op->len;

	*n = (struct needs){ 0 };
	switch (op->kind) {
	case FOLIOFS_OP_WRITE:
	case FOLIOFS_OP_WRITE_BAD:
	case FOLIOFS_OP_WRITE_EVERY:
	case FOLIOFS_OP_PUNCH_EVERY:
		n->inode_lock = true;
		n->first = round_down_pow2(op->off, page);
		n->end = round_up_pow2(end, page);
		break;
	case FOLIOFS_OP_APPEND:
		n->inode_lock = true;
		n->first = round_down_pow2(inode->i_size, page);
		n->end = ~0ull;
		break;
	case FOLIOFS_OP_TRUNCATE:
		n->inode_lock = true;
		n->invalidates = true;
		n->first = round_down_pow2(min(op->len, inode->i_size), page);
		n->end = ~0ull;
		break;
	case FOLIOFS_OP_FALLOCATE:
		n->inode_lock = true;
		n->invalidates = op->flags & ~FOLIOFS_FALLOC_KEEP_SIZE;
		n->first = round_down_pow2(op->off, page);
		n->end = op->flags & (FOLIOFS_FALLOC_COLLAPSE_RANGE | FOLIOFS_FALLOC_INSERT_RANGE) ?
			 ~0ull : round_up_pow2(end, page);
		break;
	case FOLIOFS_OP_MWRITE:
	case FOLIOFS_OP_MTOUCH:
	case FOLIOFS_OP_MREAD:
		n->faults = true;
		n->first = round_down_pow2(op->off, page);
		n->end = round_up_pow2(end, page);
		break;
	case FOLIOFS_OP_READ:
		n->reads = true;
		n->first = round_down_pow2(op->off, page);
		n->end = round_up_pow2(end, page);
		break;
	case FOLIOFS_OP_FSYNC:
	case FOLIOFS_OP_FDATASYNC:
	case FOLIOFS_OP_MSYNC:
		n->writeback = true;
		n->commit = true;
		n->end = ~0ull;
		break;
	case FOLIOFS_OP_SYNC_RANGE:
	case FOLIOFS_OP_WRITEBACK:
	case FOLIOFS_OP_FADVISE:
	case FOLIOFS_OP_CLOSE:
		n->writeback = true;
		n->end = ~0ull;
		break;
	case FOLIOFS_OP_COPY_RANGE:
	case FOLIOFS_OP_MOVE_EXTENTS:
	case FOLIOFS_OP_UNLINK:
	case FOLIOFS_OP_RENAME:
	case FOLIOFS_OP_SET_JOURNAL_FLAG:
	case FOLIOFS_OP_FILL:
		n->inode_lock = n->invalidates = n->writeback = true;
		n->end = ~0ull;
		break;
	case FOLIOFS_OP_OPEN:
		n->inode_lock = op->flags & FOLIOFS_O_TRUNC;
		n->end = n->inode_lock ? ~0ull : 0;
		break;
	case FOLIOFS_OP_SETATTR:
	case FOLIOFS_OP_CHOWN:
	case FOLIOFS_OP_SETXATTR:
		n->inode_lock = true;
		break;
	default:
		break;
	}
}

/* Everything of the file system, not of one file. */
static bool is_global(const struct foliofs_op *op)
{
	return op->kind == FOLIOFS_OP_SYNC || op->kind == FOLIOFS_OP_SYNCFS ||
	       op->kind == FOLIOFS_OP_COMMIT || op->kind == FOLIOFS_OP_REMOUNT ||
	       op->kind == FOLIOFS_OP_DEBUGFS || op->kind == FOLIOFS_OP_DROP_CACHES ||
	       op->kind == FOLIOFS_OP_SET_JOURNAL_FLAG ||
	       (op->kind == FOLIOFS_OP_WRITEBACK && op->file < 0);
}

static const char *global_waits(const struct foliofs_op *op, const struct ffs_stopped *s)
{
	if (op->kind != FOLIOFS_OP_COMMIT && (s->held & FFS_HELD_FOLIOS))
		return "folios";
	if (op->kind != FOLIOFS_OP_DROP_CACHES && op->kind != FOLIOFS_OP_WRITEBACK) {
		if (s->held & FFS_HELD_HANDLE)
			return "an open handle";
		if (s->held & FFS_HELD_COMMIT)
			return "the journal thread";
	}
	if (op->kind != FOLIOFS_OP_COMMIT && op->kind != FOLIOFS_OP_DROP_CACHES &&
	    (s->held & FFS_HELD_WORKER))
		return "the worker";
	return NULL;
}

/* All pages of the range are cached and uptodate: a read needs no lock. */
static bool all_cached(const struct ffs_inode *inode, u8 page_bits, u64 first, u64 end)
{
	u64 index = first >> page_bits, last = min(end, inode->i_size);

	while (index << page_bits < last) {
		const struct ffs_folio *f = ffs_folio_find(inode->mapping, (u32)index);

		if (!f || !(f->flags & FFS_FOLIO_UPTODATE))
			return false;
		index = f->index + ffs_folio_pages(f);
	}
	return true;
}

/* A commit that the operation waits for is not over yet. */
static bool needs_commit(const struct foliofs_fs *fs, const struct ffs_inode *inode,
			 const struct foliofs_op *op)
{
	u32 tid = op->kind == FOLIOFS_OP_FSYNC ? inode->sync_tid : inode->datasync_tid;

	return (s32)(tid - ffs_journal_committed_tid(fs->ops.sb.journal)) > 0 ||
	       ffs_mapping_tagged(inode->mapping, FFS_TAG_DIRTY);
}

static const char *inode_waits(const struct foliofs_fs *fs, const struct foliofs_op *op,
			       const struct ffs_inode *inode, const struct ffs_stopped *s)
{
	u8 bits = fs->ops.sb.env.page_bits;
	bool under_io = ffs_mapping_tagged(inode->mapping, FFS_TAG_WRITEBACK);
	bool dirty = ffs_mapping_tagged(inode->mapping, FFS_TAG_DIRTY);
	struct needs n;

	needs_of(op, inode, 1ull << bits, &n);
	if (n.commit && needs_commit(fs, inode, op)) {
		if (s->held & FFS_HELD_HANDLE)
			return "an open handle";
		if (s->held & FFS_HELD_COMMIT)
			return "the journal thread";
	}
	if ((s->held & FFS_HELD_WORKER) &&
	    (((under_io || dirty) && (n.commit || op->kind == FOLIOFS_OP_SYNC_RANGE)) ||
	     (under_io && n.invalidates)))
		return "the worker";
	if (inode->ino != s->ino)
		return NULL;
	if ((s->held & FFS_HELD_INODE) && n.inode_lock)
		return "the inode lock";
	if ((s->held & FFS_HELD_INVALIDATE) &&
	    (n.faults || n.invalidates || (n.reads && !all_cached(inode, bits, n.first, n.end))))
		return "the invalidate lock";
	if ((s->held & FFS_HELD_FOLIOS) && n.first < s->end && s->first < n.end &&
	    !(n.reads && all_cached(inode, bits, n.first, n.end)))
		return "folios";
	return NULL;
}

static const char *waits(struct foliofs_fs *fs, const struct foliofs_op *op,
			 const struct ffs_stopped *s)
{
	const struct ffs_file *f = ffs_file(&fs->ops, op->file), *g = ffs_file(&fs->ops, op->file2);
	const struct ffs_inode *inode[4] = {
		f ? f->inode : NULL, g ? g->inode : NULL,
		op->path && *op->path && op->kind != FOLIOFS_OP_CRASH &&
				op->kind != FOLIOFS_OP_SYSFS && op->kind != FOLIOFS_OP_DEBUGFS ?
			ffs_lookup(&fs->ops, op->path) : NULL,
		op->path2 && *op->path2 && op->kind == FOLIOFS_OP_RENAME ?
			ffs_lookup(&fs->ops, op->path2) : NULL,
	};
	const char *what = NULL;
	u32 i;

	if (op->kind == FOLIOFS_OP_CRASH || op->kind == FOLIOFS_OP_STAT)
		return NULL;
	if (s->held & FFS_HELD_ALL)
		return "what is not known";
	if (is_global(op))
		what = global_waits(op, s);
	for (i = 0; i < ARRAY_SIZE(inode) && !what; i++)
		if (inode[i] && inode[i]->mapping)
			what = inode_waits(fs, op, inode[i], s);
	return what;
}

bool ffs_would_wait(struct foliofs_fs *fs, const struct foliofs_op *op)
{
	const struct ffs_file *f = ffs_file(&fs->ops, op->file);
	const struct ffs_stopped *s;

	/* The kernel's close would leave the file to the call that runs with it. */
	if ((op->kind == FOLIOFS_OP_CLOSE || op->kind == FOLIOFS_OP_OPEN) && f && f->calls) {
		ffs_error(&fs->ops.sb.env, "a stopped task uses the file");
		return true;
	}
	for (s = fs->stopped; s; s = s->outer) {
		const char *what = waits(fs, op, s);

		if (!what)
			continue;
		ffs_error(&fs->ops.sb.env, "it would wait for %s of the task stopped at %s", what,
			  stop_names[s->stop]);
		return true;
	}
	return false;
}
