// SPDX-License-Identifier: MIT
/*
 * Rules of power cuts: what recovery finds now (the durable snapshot, the device,
 * the orphan list; lib/fs/committed.c) against what was promised (promises.c).  Only
 * reads.
 *
 * No file system is built for it: recovery only replays metadata and truncates
 * orphans to their size, so that the bytes below it are those of the snapshot.
 */
#include <stdarg.h>
#include <stdio.h>
#include "promise.h"

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
	const struct ffs_run *cut; /* whose place is looked at */
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
	last = run ? &x->c->tree->run[x->c->tree->nr_runs] : NULL;
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

/* Ordered data that the device did not take, in blocks that were written extents from the first. */
static bool ordered_error(const struct check *x, u64 pos, u64 end)
{
	const struct ffs_super *sb = &x->fs->ops.sb;
	const struct ffs_promise *p = ffs_promise_find(x->fs, x->c->inode.ino, NULL);
	struct foliofs_inode_kind kind = ffs_inode_kind(sb, &x->c->inode);

	return p && !foliofs_dioread_nolock(&sb->env.kernel, &sb->env.geo, &kind) &&
	       ffs_lost_rule(p, pos, end, FOLIOFS_RULE_SYNCED_LOST) == FOLIOFS_RULE_AFTER_IO_ERROR;
}

static void look_for_stale(struct check *x, u64 pos, u64 end, u64 a, u64 src)
{
	(void)a;
	/* Without data_err=abort the commit does not wait for another try. */
	if ((src & FFS_SRC_STALE || src == FFS_SRC_UNKNOWN) && ordered_error(x, pos, end))
		return;
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
	const struct ffs_promise *p = ffs_promise_find(x->fs, x->c->inode.ino, NULL);
	struct ffs_runs_pos at;
	const struct ffs_run *r;
	char want[32], got[32];

	ffs_runs_for_each(&p->bytes, r, at, pos, end) {
		if (r->b == src && (r->a == a || !ffs_src_op(src)))
			continue;
		broken(x, ffs_lost_rule(p, max(r->first, pos), min(r->end, end),
					FOLIOFS_RULE_SYNCED_LOST), p->ino,
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
			broken(x, ffs_lost_rule(p, r->first, r->end, FOLIOFS_RULE_SYNCED_LOST),
			       p->ino,
			       "bytes [%llu,%llu) were synced, after recovery the file ends at "
			       "%llu",
			       (unsigned long long)max(r->first, x->size),
			       (unsigned long long)r->end, (unsigned long long)x->size);
			return;
		}
		recovered(x, r->first, r->end, compare);
	}
}

/* A byte of a cut's place; where the device did not take a write nobody can say what is there. */
static void look_for_cut(struct check *x, u64 pos, u64 end, u64 a, u64 src)
{
	const struct ffs_promise *p = ffs_promise_find(x->fs, x->c->inode.ino, NULL);

	(void)a;
	if (ffs_cut_off(x->fs, x->cut, src) &&
	    ffs_lost_rule(p, pos, end, FOLIOFS_RULE_CUT_STAYS) == FOLIOFS_RULE_CUT_STAYS)
		broken(x, FOLIOFS_RULE_CUT_STAYS, p->ino,
		       "bytes [%llu,%llu) were cut off or behind EOF, recovery finds those of "
		       "operation %u", (unsigned long long)pos, (unsigned long long)end,
		       ffs_src_op(src));
}

static void check_cuts(struct check *x, const struct ffs_runs *cuts)
{
	struct ffs_runs_pos at;

	ffs_runs_for_each(cuts, x->cut, at, 0, x->size)
		recovered(x, x->cut->first, min(x->cut->end, x->size), look_for_cut);
}

/* Written blocks behind the size, and a block for the last byte where a write put it. */
static void check_blocks(struct check *x, const struct ffs_promise *p)
{
	const struct ffs_env *env = &x->fs->ops.sb.env;
	const struct ffs_inode *inode = &x->c->inode;
	const struct ffs_map_run *run, *last;
	u64 eof = ffs_blocks_up(env, x->size);

	if (x->c->tree->is_inline)
		return;
	run = ffs_committed_run(x->c, eof);
	last = run ? &x->c->tree->run[x->c->tree->nr_runs] : NULL;
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
	const struct ffs_promise *p = ffs_promise_find(x->fs, inode->ino, NULL);

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
	if (p && !x->stale_allowed) {
		check_cuts(x, &p->cut);
		check_cuts(x, &p->cutting);
	}
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
static bool untouched(const struct foliofs_fs *fs, const struct ffs_tree_copy *t, u64 first,
		      u64 end)
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
		const struct ffs_promise *p = ffs_promise_find(fs, s->inode[i].inode.ino, NULL);

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
