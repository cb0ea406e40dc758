// SPDX-License-Identifier: MIT
/*
 * Rules of power cuts: what recovery finds now (the durable snapshot, the device,
 * the orphan list; lib/fs/committed.c) against what was promised.  Only reads.
 *
 * Promise: the bytes of a file as they were when an fsync (fdatasync, msync, O_SYNC
 * write, sync, syncfs, unmount) succeeded, less what later operations may have
 * changed.  An operation takes back what it may change before it begins, since the
 * power can be cut in its middle: a byte that is being overwritten may be old or new,
 * and what else it could be (stale, memory nobody filled) is looked for in all files.
 *
 * No file system is built for it: recovery only replays metadata and truncates
 * orphans to their size, so that the bytes below it are those of the snapshot.
 */
#include <stdio.h>
#include <stdarg.h>
#include "bh/bh.h"
#include "fs/fs.h"

struct ffs_promise {
	u32 ino;
	u64 seq; /* of the in-core inode: numbers are used again */
	struct ffs_runs bytes; /* key: file offset; content as in content.h, a source offset - key */
	/* Given in exchange for blocks: the cache may still hold what was there before. */
	struct ffs_runs undefined;
	/*
	 * Blocks of a failed write.  Their buffers are mapped and no longer unwritten, the
	 * extent still is: no writeback will ever convert it, so data that is written there
	 * later is as lost, and no fsync says so (as v6.18 keeps its buffers).
	 */
	struct ffs_runs io_lost;
	bool untold; /* a write failed, and no fsync has said so */
	bool fresh; /* has not been looked at since it changed */
	u64 write_size; /* i_disksize that a write_end has set, 0: another moved it later */
};

static struct ffs_promise *find(const struct foliofs_fs *fs, u32 ino, u32 *at)
{
	u32 lo = 0, hi = fs->nr_promises;

	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if (fs->promise[mid].ino < ino)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (at)
		*at = lo;
	return lo < fs->nr_promises && fs->promise[lo].ino == ino ? &fs->promise[lo] : NULL;
}

static struct ffs_promise *get(struct foliofs_fs *fs, const struct ffs_inode *inode)
{
	struct ffs_promise *p;
	u32 at;

	p = find(fs, inode->ino, &at);
	if (p && p->seq == inode->seq)
		return p;
	if (p) {
		ffs_runs_free(&p->bytes);
		ffs_runs_free(&p->undefined);
		ffs_runs_free(&p->io_lost);
	} else {
		if (fs->nr_promises == fs->cap_promises) {
			fs->cap_promises = fs->cap_promises ? 2 * fs->cap_promises : 16;
			fs->promise = ffs_realloc(fs->promise,
						  fs->cap_promises * sizeof(*fs->promise));
		}
		p = &fs->promise[at];
		memmove(p + 1, p, (fs->nr_promises++ - at) * sizeof(*p));
	}
	*p = (struct ffs_promise){ .ino = inode->ino, .seq = inode->seq };
	return p;
}

/* --- what operations take back --- */

static void take_back(struct foliofs_fs *fs, const struct ffs_inode *inode, u64 pos, u64 end)
{
	struct ffs_promise *p = inode ? find(fs, inode->ino, NULL) : NULL;

	if (!p)
		return;
	ffs_runs_clear(&p->bytes, pos, end);
	ffs_runs_clear(&p->undefined, pos, end);
	p->fresh = true;
	fs->promises++;
}

/* Blocks may go, and sizes move for other reasons than data. */
static void reshaped(struct foliofs_fs *fs, const struct ffs_inode *inode, u64 pos, u64 end)
{
	struct ffs_promise *p = inode ? find(fs, inode->ino, NULL) : NULL;

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

void ffs_promise_before(struct foliofs_fs *fs, const struct foliofs_op *op)
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
		/* The data of the file stays; the donor's is nobody's concern any more. */
		reshaped(fs, inode, 0, 0);
		reshaped(fs, g ? g->inode : NULL, op->off2, op->off2 + op->len);
		if (g)
			ffs_content_zero(&get(fs, g->inode)->undefined, op->off2,
					 op->off2 + op->len);
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

/* --- what they promise --- */

/* Nobody can say what bytes [first, end) are: the operation that changed them failed. */
static void nobody_knows(struct foliofs_fs *fs, const struct ffs_inode *inode, u64 first, u64 end)
{
	struct ffs_promise *p;

	if (!inode || first >= end || !ffs_is_reg(inode))
		return;
	p = get(fs, inode);
	ffs_content_zero(&p->undefined, first, end);
	ffs_runs_clear(&p->bytes, first, end);
	p->fresh = true;
	fs->promises++;
}

/* What a failed, or half done, operation leaves undefined. */
static void after_failure(struct foliofs_fs *fs, const struct foliofs_op *op,
			  const struct ffs_inode *inode, s64 result)
{
	u64 done = result > 0 ? (u64)result : 0;

	switch (op->kind) {
	case FOLIOFS_OP_WRITE:
	case FOLIOFS_OP_WRITE_BAD:
		nobody_knows(fs, inode, op->off + done, op->off + op->len);
		break;
	case FOLIOFS_OP_MWRITE:
	case FOLIOFS_OP_MTOUCH:
	case FOLIOFS_OP_WRITE_EVERY:
	case FOLIOFS_OP_PUNCH_EVERY:
		nobody_knows(fs, inode, op->off, op->off + op->len);
		break;
	case FOLIOFS_OP_APPEND:
		nobody_knows(fs, inode, fs->append_pos + done, fs->append_pos + op->len);
		break;
	case FOLIOFS_OP_COPY_RANGE:
		nobody_knows(fs, inode, op->off2 + done, op->off2 + op->len);
		break;
	case FOLIOFS_OP_TRUNCATE:
		if (!inode && op->path)
			inode = ffs_lookup(&fs->ops, op->path);
		nobody_knows(fs, inode, op->len, ~0ull);
		break;
	case FOLIOFS_OP_OPEN:
		if ((op->flags & FOLIOFS_O_TRUNC) && op->path)
			nobody_knows(fs, ffs_lookup(&fs->ops, op->path), 0, ~0ull);
		break;
	case FOLIOFS_OP_FALLOCATE:
		nobody_knows(fs, inode, op->off,
			     op->flags & (FOLIOFS_FALLOC_COLLAPSE_RANGE |
					  FOLIOFS_FALLOC_INSERT_RANGE) ? ~0ull : op->off + op->len);
		break;
	default:
		break;
	}
}

/* The first fsync of an open file after a failed write says so. */
static void check_told(struct foliofs_fs *fs, const struct ffs_inode *inode, s64 result)
{
	struct ffs_promise *p = inode ? find(fs, inode->ino, NULL) : NULL;

	if (!p || !p->untold)
		return;
	p->untold = false;
	if (result >= 0)
		ffs_rule_broken(fs, FOLIOFS_RULE_LOST_WRITE, inode->ino,
				"fsync succeeds after a write to the device failed");
}

struct collect {
	struct ffs_runs *bytes;
	u64 first, end;
};

static void promise_run(void *priv, const struct foliofs_content *c)
{
	const struct collect *x = priv;
	u64 first = max(c->offset, x->first), end = min(c->offset + c->len, x->end);

	if (c->kind == FOLIOFS_SOURCE_OP)
		ffs_runs_set(x->bytes, first, end, c->source_offset - c->offset,
			     ffs_src(c->source, c->owner));
	else if (c->kind == FOLIOFS_SOURCE_ZERO || c->kind == FOLIOFS_SOURCE_HOLE)
		ffs_content_zero(x->bytes, first, end);
}

/* Bytes [first, end) of @inode have been synced. */
static void promise(struct foliofs_fs *fs, const struct ffs_inode *inode, u64 first, u64 end)
{
	struct ffs_promise *p;
	struct ffs_runs_pos at;
	const struct ffs_run *r;
	struct collect x;

	if (!ffs_is_reg(inode) || !inode->nlink)
		return;
	p = get(fs, inode);
	x = (struct collect){ &p->bytes, first, min(end, inode->i_size) };
	if (first >= x.end && first)
		return;
	ffs_runs_clear(&p->bytes, first, end);
	if (x.end > first)
		foliofs_fs_for_each_content(fs, inode->ino, promise_run, &x);
	for (r = ffs_runs_at(&p->undefined, 0, &at); r; r = ffs_runs_next(&p->undefined, &at))
		ffs_runs_clear(&p->bytes, r->first, r->end);
	for (r = ffs_runs_at(&p->io_lost, 0, &at); r; r = ffs_runs_next(&p->io_lost, &at))
		ffs_runs_clear(&p->bytes, r->first, r->end);
	p->fresh = true;
	fs->promises++;
}

static void promise_all(struct foliofs_fs *fs)
{
	const struct ffs_super *sb = &fs->ops.sb;
	u32 i;

	for (i = 0; i < sb->cap_inodes; i++)
		if (sb->inodes[i])
			promise(fs, sb->inodes[i], 0, ~0ull);
}

static bool syncs_metadata(const struct foliofs_op *op)
{
	return op->kind == FOLIOFS_OP_FSYNC || op->kind == FOLIOFS_OP_FDATASYNC ||
	       op->kind == FOLIOFS_OP_SYNC || op->kind == FOLIOFS_OP_SYNCFS ||
	       op->kind == FOLIOFS_OP_REMOUNT || op->kind == FOLIOFS_OP_DEBUGFS;
}

void ffs_promise_after(struct foliofs_fs *fs, const struct foliofs_op *op, s64 result)
{
	struct ffs_super *sb = &fs->ops.sb;
	struct ffs_file *f = ffs_file(&fs->ops, op->file);
	struct ffs_inode *inode = f ? f->inode : NULL;

	if (op->kind == FOLIOFS_OP_FSYNC || op->kind == FOLIOFS_OP_FDATASYNC ||
	    (result < 0 && (op->kind == FOLIOFS_OP_SYNC_RANGE || op->kind == FOLIOFS_OP_MSYNC)))
		check_told(fs, inode, result);
	if (result < 0 || (result < (s64)op->len &&
			   (op->kind == FOLIOFS_OP_WRITE || op->kind == FOLIOFS_OP_WRITE_BAD ||
			    op->kind == FOLIOFS_OP_APPEND || op->kind == FOLIOFS_OP_COPY_RANGE)))
		after_failure(fs, op, op->kind == FOLIOFS_OP_COPY_RANGE && ffs_file(&fs->ops, op->file2) ?
			      ffs_file(&fs->ops, op->file2)->inode : inode, result);
	if (result < 0)
		return;
	if (!ffs_journal_present(sb->journal) && syncs_metadata(op)) {
		ffs_commit_locked(fs);
		ffs_commit_done(fs);
	}
	switch (op->kind) {
	case FOLIOFS_OP_FSYNC:
	case FOLIOFS_OP_FDATASYNC:
		if (!inode && op->path)
			inode = ffs_lookup(&fs->ops, op->path);
		if (inode)
			promise(fs, inode, 0, ~0ull);
		break;
	case FOLIOFS_OP_MSYNC:
		if (inode)
			promise(fs, inode, op->off, op->off + op->len);
		break;
	case FOLIOFS_OP_WRITE:
	case FOLIOFS_OP_COPY_RANGE:
		f = op->kind == FOLIOFS_OP_WRITE ? f : ffs_file(&fs->ops, op->file2);
		if (f && ((f->flags & (FOLIOFS_O_SYNC | FOLIOFS_O_DSYNC)) ||
			  sb->env.geo.mount.sync))
			promise(fs, f->inode, op->kind == FOLIOFS_OP_WRITE ? op->off : op->off2,
				(op->kind == FOLIOFS_OP_WRITE ? op->off : op->off2) + (u64)result);
		break;
	case FOLIOFS_OP_SYNC:
	case FOLIOFS_OP_SYNCFS:
	case FOLIOFS_OP_REMOUNT:
	case FOLIOFS_OP_DEBUGFS:
		promise_all(fs);
		break;
	default:
		break;
	}
}

/* Who moves i_disksize: write_end, or writeback, truncate and the like. */
static void watch(void *priv, const struct foliofs_event *ev)
{
	struct foliofs_fs *fs = priv;
	const struct ffs_inode *inode;

	switch (ev->id) {
	case FOLIOFS_EV_ext4_write_end:
	case FOLIOFS_EV_ext4_da_write_end:
	case FOLIOFS_EV_ext4_journalled_write_end:
		fs->in_write_end = (u32)ev->arg[0];
		return;
	case FOLIOFS_EV_foliofs_disksize:
		inode = ffs_inode_find(&fs->ops.sb, (u32)ev->arg[0]);
		if (inode)
			get(fs, inode)->write_size =
				fs->in_write_end == inode->ino ? ev->arg[2] : 0;
		return;
	case FOLIOFS_EV_foliofs_io_error:
		inode = ffs_inode_find(&fs->ops.sb, (u32)ev->arg[0]);
		if (!inode)
			return;
		nobody_knows(fs, inode, ev->arg[3],
			     ev->arg[3] + (ev->arg[2] << fs->ops.sb.env.block_bits));
		ffs_content_zero(&get(fs, inode)->io_lost, ev->arg[3],
				 ev->arg[3] + (ev->arg[2] << fs->ops.sb.env.block_bits));
		get(fs, inode)->untold = true;
		return;
	default:
		fs->in_write_end = 0;
	}
}

void ffs_promise_init(struct foliofs_fs *fs)
{
	static const enum foliofs_event_id ids[] = {
		FOLIOFS_EV_ext4_write_end, FOLIOFS_EV_ext4_da_write_end,
		FOLIOFS_EV_ext4_journalled_write_end, FOLIOFS_EV_foliofs_disksize,
		FOLIOFS_EV_foliofs_io_error,
		/* what ends a write_end */
		FOLIOFS_EV_ext4_write_begin, FOLIOFS_EV_ext4_da_write_begin,
		FOLIOFS_EV_ext4_writepages, FOLIOFS_EV_ext4_truncate_enter, FOLIOFS_EV_foliofs_op,
		FOLIOFS_EV_ext4_punch_hole, FOLIOFS_EV_ext4_zero_range,
		FOLIOFS_EV_ext4_fallocate_enter, FOLIOFS_EV_ext4_collapse_range,
		FOLIOFS_EV_ext4_insert_range,
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ids); i++)
		fs->crash_sink.wants[ids[i]] = 1;
	fs->crash_sink.event = watch;
	fs->crash_sink.priv = fs;
	foliofs_fs_add_sink(fs, &fs->crash_sink);
}

void ffs_promise_free(struct foliofs_fs *fs)
{
	u32 i;

	for (i = 0; i < fs->nr_promises; i++) {
		ffs_runs_free(&fs->promise[i].bytes);
		ffs_runs_free(&fs->promise[i].undefined);
		ffs_runs_free(&fs->promise[i].io_lost);
	}
	free(fs->promise);
}

/* --- what recovery finds --- */

struct check {
	const struct foliofs_fs *fs;
	const struct ffs_committed *c;
	foliofs_broken_fn fn;
	void *priv;
	size_t nr;
	u64 size; /* bytes of the recovered file */
	bool stale_allowed;
	bool only_changed; /* only bytes of the device in [first, end) are looked at */
	u64 first, end;
	bool said[FOLIOFS_RULE_COUNT]; /* one finding of a rule in a file is enough */
};

__attribute__((format(printf, 4, 5))) static void broken(struct check *x, enum foliofs_rule rule,
							  u32 ino, const char *format, ...)
{
	struct foliofs_broken b = { .rule = rule, .op = x->fs->ops.sb.env.op, .ino = ino };
	va_list ap;

	if (x->said[rule])
		return;
	x->said[rule] = true;
	va_start(ap, format);
	vsnprintf(b.text, sizeof(b.text), format, ap);
	va_end(ap);
	x->nr++;
	if (x->fn)
		x->fn(x->priv, &b);
}

typedef void (*bytes_fn)(struct check *x, u64 pos, u64 end, u64 a, u64 src);

/* Content of the device from @from on for file bytes [pos, end). */
static void disk_bytes(struct check *x, u64 pos, u64 end, u64 from, bytes_fn fn)
{
	const struct ffs_runs *disk = &x->fs->ops.sb.disk;
	u64 at, stop = from + (end - pos);
	struct ffs_runs_pos p;
	const struct ffs_run *r;

	if (x->only_changed) {
		u64 first = max(from, x->first);

		stop = min(stop, x->end);
		if (first >= stop)
			return;
		pos += first - from;
		from = first;
		end = pos + (stop - from);
	}
	at = from;
	ffs_runs_for_each(disk, r, p, from, stop) {
		u64 first = max(r->first, from), last = min(r->end, stop);

		if (first > at)
			fn(x, pos + (at - from), pos + (first - from), 0, FFS_SRC_ZERO);
		/* source offset = device offset + r->a */
		fn(x, pos + (first - from), pos + (last - from),
		   ffs_src_op(r->b) ? r->a + from - pos : 0, r->b);
		at = last;
	}
	if (at < stop)
		fn(x, pos + (at - from), end, 0, FFS_SRC_ZERO);
}

/* Recovered bytes [pos, end), piece by piece: source and source offset - offset. */
static void recovered(struct check *x, u64 pos, u64 end, bytes_fn fn)
{
	const struct ffs_map_run *run, *last;
	u8 bits = x->fs->ops.sb.env.block_bits;

	if (x->c->tree->is_inline) {
		struct ffs_runs_pos p;
		const struct ffs_run *r;

		ffs_runs_for_each(&x->c->tree->inline_data, r, p, pos, end)
			fn(x, max(r->first, pos), min(r->end, end), r->a, r->b);
		return;
	}
	run = pos < end ? ffs_committed_run(x->c, pos >> bits) : NULL;
	last = &x->c->tree->run[x->c->tree->nr_runs];
	while (pos < end) {
		u64 stop = end, first, behind;
		bool written = false;

		if (run && run < last) {
			first = (u64)run->lblk << bits;
			behind = (u64)(run->lblk + run->len) << bits;
			written = first <= pos && !run->unwritten;
			stop = min(end, first > pos ? first : behind);
			if (written)
				disk_bytes(x, pos, stop, (run->pblk << bits) + (pos - first), fn);
			run += stop == behind;
		}
		if (!written && !x->only_changed)
			fn(x, pos, stop, 0, FFS_SRC_ZERO);
		pos = stop;
	}
}

static void look_for_stale(struct check *x, u64 pos, u64 end, u64 a, u64 src)
{
	(void)a;
	if (src & FFS_SRC_STALE && src != FFS_SRC_OLD_DISK)
		broken(x, FOLIOFS_RULE_STALE_DATA, x->c->inode.ino,
		       "after recovery bytes [%llu,%llu) are what operation %u wrote to inode %u",
		       (unsigned long long)pos, (unsigned long long)end, ffs_src_op(src),
		       ffs_src_ino(src));
	else if (src & FFS_SRC_STALE)
		broken(x, FOLIOFS_RULE_STALE_DATA, x->c->inode.ino,
		       "after recovery bytes [%llu,%llu) are what the device held before mke2fs",
		       (unsigned long long)pos, (unsigned long long)end);
	else if (src == FFS_SRC_UNKNOWN)
		broken(x, FOLIOFS_RULE_STALE_DATA, x->c->inode.ino,
		       "after recovery bytes [%llu,%llu) are memory that nobody filled",
		       (unsigned long long)pos, (unsigned long long)end);
}

static const char *source_text(char buf[32], u64 src)
{
	if (src == FFS_SRC_ZERO)
		return "zero";
	if (src & FFS_SRC_STALE)
		return "stale";
	snprintf(buf, 32, "operation %u's", ffs_src_op(src));
	return buf;
}

/* Recovered bytes against the promised ones. */
static void compare(struct check *x, u64 pos, u64 end, u64 a, u64 src)
{
	const struct ffs_promise *p = find(x->fs, x->c->inode.ino, NULL);
	struct ffs_runs_pos at;
	const struct ffs_run *r;
	char want[32], got[32];

	ffs_runs_for_each(&p->bytes, r, at, pos, end) {
		if (r->b == src && (r->a == a || !ffs_src_op(src)))
			continue;
		broken(x, FOLIOFS_RULE_SYNCED_LOST, p->ino,
		       "bytes [%llu,%llu) were synced as %s, recovery finds %s bytes",
		       (unsigned long long)max(r->first, pos),
		       (unsigned long long)min(r->end, end), source_text(want, r->b),
		       source_text(got, src));
		return;
	}
}

static void check_promise(struct check *x, const struct ffs_promise *p)
{
	struct ffs_runs_pos at;
	const struct ffs_run *r;

	for (r = ffs_runs_at(&p->bytes, 0, &at); r; r = ffs_runs_next(&p->bytes, &at)) {
		if (r->end > x->size) {
			broken(x, FOLIOFS_RULE_SYNCED_LOST, p->ino,
			       "bytes [%llu,%llu) were synced, after recovery the file ends at %llu",
			       (unsigned long long)max(r->first, x->size),
			       (unsigned long long)r->end, (unsigned long long)x->size);
			return;
		}
		recovered(x, r->first, r->end, compare);
	}
}

/* Written blocks behind the size, and a block for the last byte where a write put it. */
static void check_blocks(struct check *x, const struct ffs_promise *p)
{
	const struct ffs_env *env = &x->fs->ops.sb.env;
	const struct ffs_inode *inode = &x->c->inode;
	const struct ffs_map_run *run, *last = &x->c->tree->run[x->c->tree->nr_runs];
	u64 eof = ffs_blocks_up(env, x->size);

	if (x->c->tree->is_inline)
		return;
	run = ffs_committed_run(x->c, eof);
	/* Orphans are truncated to their size. */
	if (run && !ffs_committed_orphan(x->fs->durable, inode->ino))
		for (; run < last; run++)
			if (!run->unwritten)
				broken(x, FOLIOFS_RULE_BEYOND_DISKSIZE, inode->ino,
				       "blocks [%llu,%llu) are written, the size on disk is %llu",
				       (unsigned long long)max((u64)run->lblk, eof),
				       (unsigned long long)run->lblk + run->len,
				       (unsigned long long)x->size);
	run = eof ? ffs_committed_run(x->c, eof - 1) : NULL;
	if (p && p->write_size && p->write_size == x->size && !(run && run->lblk < eof))
		broken(x, FOLIOFS_RULE_SIZE_BEYOND_DATA, inode->ino,
		       "a write moved the size on disk to %llu, block %llu is a hole",
		       (unsigned long long)x->size, (unsigned long long)eof - 1);
}

static void check_file(struct check *x)
{
	const struct ffs_inode *inode = &x->c->inode;
	const struct ffs_promise *p = find(x->fs, inode->ino, NULL);

	if (!ffs_is_reg(inode) || !inode->nlink)
		return;
	/* The number may have been used for another file since. */
	if (p && p->seq != inode->seq)
		p = NULL;
	x->size = inode->i_disksize;
	memset(x->said, 0, sizeof(x->said));
	if (!x->stale_allowed)
		recovered(x, 0, x->size, look_for_stale);
	if (!x->only_changed && ffs_journal_present(x->fs->ops.sb.journal))
		check_blocks(x, p);
	if (p)
		check_promise(x, p);
}

/* A synced file whose inode is not there at all. */
static void check_missing(struct check *x)
{
	u32 i;

	for (i = 0; i < x->fs->nr_promises; i++) {
		const struct ffs_promise *p = &x->fs->promise[i];
		const struct ffs_committed *c = ffs_committed_find(x->fs->durable, p->ino);

		if (!p->bytes.nr || (c && c->inode.seq == p->seq && c->inode.nlink))
			continue;
		memset(x->said, 0, sizeof(x->said));
		broken(x, FOLIOFS_RULE_SYNCED_LOST, p->ino,
		       "the file was synced, after recovery it is not there");
	}
}

static bool may_be_stale(const struct foliofs_fs *fs)
{
	return fs->ops.sb.env.geo.mount.data == FOLIOFS_DATA_WRITEBACK ||
	       !ffs_journal_present(fs->ops.sb.journal);
}

size_t ffs_crash_rules(const struct foliofs_fs *fs, foliofs_broken_fn fn, void *priv)
{
	struct check x = { .fs = fs, .fn = fn, .priv = priv };
	const struct ffs_snapshot *s = fs->durable;
	u32 i;

	if (!fs->options.crash_states)
		return 0;
	x.stale_allowed = may_be_stale(fs);
	for (i = 0; i < s->nr; i++) {
		x.c = &s->inode[i];
		check_file(&x);
	}
	check_missing(&x);
	return x.nr;
}

/* Nothing of the device that the file maps has changed. */
static bool untouched(const struct foliofs_fs *fs, const struct ffs_tree_copy *t, u64 first, u64 end)
{
	u8 bits = fs->ops.sb.env.block_bits;

	return t->end << bits <= first || end <= t->first << bits;
}

size_t foliofs_fs_crash_news(struct foliofs_fs *fs, foliofs_broken_fn fn, void *priv)
{
	struct ffs_runs *disk = &fs->ops.sb.disk;
	struct check x = { .fs = fs, .fn = fn, .priv = priv };
	u64 commits = fs->commits - fs->commits_seen;
	const struct ffs_snapshot *s = fs->durable;
	u32 i;

	if (!fs->options.crash_states)
		return 0;
	x.stale_allowed = may_be_stale(fs);
	x.first = disk->changed_first;
	x.end = disk->changed_end;
	for (i = 0; i < s->nr; i++) {
		const struct ffs_promise *p = find(fs, s->inode[i].inode.ino, NULL);

		x.c = &s->inode[i];
		x.only_changed = !(commits > 1 || (commits && x.c->changed) || (p && p->fresh));
		if (!x.only_changed || !untouched(fs, x.c->tree, x.first, x.end))
			check_file(&x);
	}
	x.only_changed = false;
	check_missing(&x);
	for (i = 0; i < fs->nr_promises; i++)
		fs->promise[i].fresh = false;
	fs->commits_seen = fs->commits;
	disk->changed_end = 0;
	return x.nr;
}

size_t foliofs_fs_crash_broken(const struct foliofs_fs *fs, foliofs_broken_fn fn, void *priv)
{
	return ffs_crash_rules(fs, fn, priv);
}
