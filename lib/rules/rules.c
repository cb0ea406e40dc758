// SPDX-License-Identifier: MIT
/*
 * Rules: read-only checks at every operation's end, and of events on the way;
 * see <foliofs/rules.h>.  What a rule means stands in rules.def.
 */
#include <stdarg.h>
#include <stdio.h>
#include "promise.h"
#include "truth.h"

static const char *const names[] = {
#define FOLIOFS_RULE(id, name, meaning) name,
#include <foliofs/rules.def>
#undef FOLIOFS_RULE
};

static const char *const meanings[] = {
#define FOLIOFS_RULE(id, name, meaning) meaning,
#include <foliofs/rules.def>
#undef FOLIOFS_RULE
};

const char *foliofs_rule_name(enum foliofs_rule r)
{
	return (unsigned int)r < FOLIOFS_RULE_COUNT ? names[r] : NULL;
}

const char *foliofs_rule_meaning(enum foliofs_rule r)
{
	return (unsigned int)r < FOLIOFS_RULE_COUNT ? meanings[r] : NULL;
}

int foliofs_rule_find(const char *name, enum foliofs_rule *r)
{
	u32 i;

	for (i = 0; i < FOLIOFS_RULE_COUNT; i++)
		if (!strcmp(name, names[i])) {
			*r = i;
			return 0;
		}
	return -ENOENT;
}

size_t foliofs_fs_broken(const struct foliofs_fs *fs)
{
	return fs->nr_broken;
}

const struct foliofs_broken *foliofs_fs_broken_at(const struct foliofs_fs *fs, size_t i)
{
	return i < fs->nr_kept ? &fs->broken[i] : NULL;
}

void ffs_keep_broken(void *priv, const struct foliofs_broken *b)
{
	struct foliofs_fs *fs = priv;

	fs->nr_broken++;
	if (fs->nr_kept >= FFS_MAX_BROKEN)
		return;
	if (!(fs->nr_kept & (fs->nr_kept - 1)))
		fs->broken = ffs_realloc(fs->broken, (fs->nr_kept ? 2 * fs->nr_kept : 1) *
							     sizeof(*fs->broken));
	fs->broken[fs->nr_kept++] = *b;
}

void ffs_rule_broken(struct foliofs_fs *fs, enum foliofs_rule rule, u32 ino, const char *format, ...)
{
	struct foliofs_broken b = { .rule = rule, .op = fs->ops.sb.env.op, .ino = ino };
	va_list ap;

	va_start(ap, format);
	vsnprintf(b.text, sizeof(b.text), format, ap);
	va_end(ap);
	ffs_emit(&fs->ops.sb.env, foliofs_rule, ffs_str(names[rule]), ino, ffs_str(b.text));
	ffs_keep_broken(fs, &b);
}

void ffs_rules_wanted(struct foliofs_sink *sink)
{
	sink->wants[FOLIOFS_EV_foliofs_handle_dry] = 1;
	sink->wants[FOLIOFS_EV_foliofs_start_refused] = 1;
	sink->wants[FOLIOFS_EV_foliofs_stale] = 1;
	sink->wants[FOLIOFS_EV_foliofs_log_outgrown] = 1;
	sink->wants[FOLIOFS_EV_foliofs_livelock] = 1;
	sink->wants[FOLIOFS_EV_foliofs_assert] = 1;
	sink->wants[FOLIOFS_EV_foliofs_lost] = 1;
	sink->wants[FOLIOFS_EV_foliofs_bio] = 1;
	sink->wants[FOLIOFS_EV_foliofs_zero] = 1;
	sink->wants[FOLIOFS_EV_foliofs_io_error] = 1;
	sink->wants[FOLIOFS_EV_foliofs_isize] = 1;
	sink->wants[FOLIOFS_EV_foliofs_disksize] = 1;
	sink->wants[FOLIOFS_EV_foliofs_inode_dropped] = 1;
	sink->wants[FOLIOFS_EV_foliofs_lock_order] = 1;
	sink->wants[FOLIOFS_EV_iomap_invalidate_folio] = 1;
}

/* The blocks of a bio are those that the file maps. */
static void check_bio(struct foliofs_fs *fs, u32 ino, bool write, u64 pblk, u32 len, u64 pos)
{
	const struct ffs_inode *inode = ffs_inode_find(&fs->ops.sb, ino);
	u32 lblk = (u32)(pos >> fs->ops.sb.env.block_bits), end = lblk + len;
	struct ffs_map_run run;

	/* (XFS writes copies elsewhere, and maps them when the I/O is done.) */
	if (!inode || fs->ops.sb.type || (inode->flags & FFS_INODE_INLINE_DATA))
		return;
	for (; lblk < end; pblk += run.len - (lblk - run.lblk), lblk = run.lblk + run.len) {
		bool mapped = ffs_next_run(inode, lblk, &run) && run.lblk <= lblk;

		if (mapped && run.pblk + (lblk - run.lblk) == pblk)
			continue;
		ffs_rule_broken(fs, FOLIOFS_RULE_WRONG_BLOCK, ino,
				"block %u, bytes [%llu,%llu), is %s block %llu of the disk; the file "
				"maps %llu", lblk, (unsigned long long)lblk <<
				fs->ops.sb.env.block_bits, (unsigned long long)(lblk + 1) <<
				fs->ops.sb.env.block_bits, write ? "written to" : "read from",
				(unsigned long long)pblk, mapped ?
				(unsigned long long)(run.pblk + (lblk - run.lblk)) : 0ull);
		return;
	}
}

void ffs_rules_event(void *priv, const struct foliofs_event *ev)
{
	struct foliofs_fs *fs = priv;
	const u64 *a = ev->arg;

	switch (ev->id) {
	case FOLIOFS_EV_foliofs_handle_dry:
		ffs_rule_broken(fs, FOLIOFS_RULE_CREDIT_DRY, 0,
				"a handle of type %u has used all %d credits and dirties block %llu",
				(u32)a[1], (s32)a[3], (unsigned long long)a[2]);
		break;
	case FOLIOFS_EV_foliofs_start_refused:
		if ((s32)a[4] == -ENOSPC || (s32)a[4] == ENOSPC)
			ffs_rule_broken(fs, FOLIOFS_RULE_CREDIT_REFUSED, 0,
					"a handle of type %u asks %d and reserves %d of at most %d",
					(u32)a[0], (s32)a[1], (s32)a[2], (s32)a[3]);
		break;
	case FOLIOFS_EV_foliofs_stale:
		/* Documented for data=writeback: what a crash leaves there may be old.  Without a journal too. */
		if (fs->ops.sb.env.geo.mount.data != FOLIOFS_DATA_WRITEBACK &&
		    !(fs->recovered && !ffs_journal_present(fs->ops.sb.journal)))
			ffs_rule_broken(fs, FOLIOFS_RULE_STALE_DATA, (u32)a[0],
					"bytes [%llu,%llu) are what operation %u wrote to inode %u",
					(unsigned long long)a[1], (unsigned long long)(a[1] + a[2]),
					(u32)a[3], (u32)a[4]);
		break;
	case FOLIOFS_EV_foliofs_log_outgrown:
		ffs_rule_broken(fs, FOLIOFS_RULE_JOURNAL_SPACE, 0,
				"transaction %u takes %u blocks of the log, %u is the limit", (u32)a[0],
				(u32)a[1], (u32)a[2]);
		break;
	case FOLIOFS_EV_foliofs_lock_order:
		ffs_lock_taken(fs, (u32)a[0], (u32)a[3], (u32)a[4]);
		break;
	case FOLIOFS_EV_foliofs_livelock:
		ffs_rule_broken(fs, FOLIOFS_RULE_LIVELOCK, (u32)a[0],
				"%s: %u rounds without progress", (const char *)(uintptr_t)a[2],
				(u32)a[1]);
		break;
	case FOLIOFS_EV_foliofs_assert:
		ffs_rule_broken(fs, FOLIOFS_RULE_ASSERTION, (u32)a[0], "%s",
				(const char *)(uintptr_t)a[1]);
		break;
	case FOLIOFS_EV_foliofs_lost:
		ffs_rule_broken(fs, ffs_lost_rule(ffs_promise_find(fs, (u32)a[0], NULL), a[1],
						  a[1] + a[2], FOLIOFS_RULE_LOST_WRITE), (u32)a[0],
				"bytes [%llu,%llu) are given up by writeback: %s",
				(unsigned long long)a[1], (unsigned long long)(a[1] + a[2]),
				(const char *)(uintptr_t)a[3]);
		break;
	case FOLIOFS_EV_foliofs_bio:
		check_bio(fs, (u32)a[0], a[1], a[2], (u32)a[3], a[4]);
		if (a[1])
			ffs_truth_touch(fs, (u32)a[0], true, a[4],
					a[4] + (a[3] << fs->ops.sb.env.block_bits));
		break;
	case FOLIOFS_EV_foliofs_io_error:
		/* Told by fsync: crash_rules.c sees to that. */
		ffs_truth_lost(fs, (u32)a[0]);
		break;
	case FOLIOFS_EV_foliofs_isize:
	case FOLIOFS_EV_foliofs_disksize:
		ffs_rule_zero_size(fs, (u32)a[0], ev->id == FOLIOFS_EV_foliofs_isize, a[1], a[2]);
		break;
	case FOLIOFS_EV_foliofs_inode_dropped:
		if (a[1])
			ffs_rule_broken(fs, FOLIOFS_RULE_LEAKED_RESERVE, (u32)a[0],
					"%llu delayed blocks stay reserved for an inode that is gone",
					(unsigned long long)a[1]);
		break;
	case FOLIOFS_EV_iomap_invalidate_folio:
		ffs_rule_dropping(fs, (u32)a[0], a[2], a[2] + a[3]);
		break;
	case FOLIOFS_EV_foliofs_zero:
		ffs_rule_zeroed(fs, (u32)a[0], a[1], a[1] + a[2]);
		ffs_truth_touch(fs, (u32)a[0], false, a[1], a[1] + a[2]);
		break;
	default:
		break;
	}
}

/* Dirty blocks of the folio below EOF must have somewhere to go. */
static void check_folio(struct foliofs_fs *fs, const struct ffs_inode *inode,
			const struct ffs_folio *f)
{
	const struct ffs_env *env = &fs->ops.sb.env;
	u64 eof = ffs_blocks_up(env, inode->i_size), base = ffs_folio_block(inode->mapping, f);
	u32 end = eof <= base ? 0 : (u32)min((u64)f->bpf, eof - base), w;

	if (inode->flags & FFS_INODE_IOMAP) {
		ffs_iomap_folio_rules(fs, inode, f);
		return;
	}
	if (!ffs_has_buffers(f))
		return;
	for (w = 0; w * 64 < end; w++) {
		u64 bad = ffs_bh_word(f, FFS_BH_DIRTY, w) & ~ffs_bh_word(f, FFS_BH_MAPPED, w);

		if (end - w * 64 < 64)
			bad &= (1ull << (end - w * 64)) - 1;
		for (; bad; bad &= bad - 1) {
			u64 lblk = base + w * 64 + (u32)__builtin_ctzll(bad);

			/* Zeros that a store behind EOF left, once EOF has moved: as good as a hole. */
			if (!ffs_holds_data(inode->mapping, lblk << env->block_bits,
					    (lblk + 1) << env->block_bits))
				continue;
			ffs_rule_broken(fs, FOLIOFS_RULE_DIRTY_UNMAPPED, inode->ino,
					"block %llu is dirty and maps nothing",
					(unsigned long long)lblk);
			return;
		}
	}
}

/* Delayed blocks in the status tree and what is reserved for them. */
static void check_reserved(struct foliofs_fs *fs, const struct ffs_inode *inode)
{
	struct ffs_es es;
	u64 at = 0, delayed = 0;

	if (fs->ops.sb.env.geo.cluster_ratio > 1)
		return;
	/* The walk takes time with the size of the file: it stays a fraction of the work done. */
	if (++fs->since_check * 64ull < inode->mapping->nr_folios)
		return;
	fs->since_check = 0;
	while (ffs_es_find_delayed(inode, at, FFS_LBLK_MAX, &es)) {
		/* Before rsv-in-status-tree blocks stay delayed when fallocate gives them a place. */
		if (!es.pblk)
			delayed += es.len;
		at = (u64)es.lblk + es.len;
	}
	if (delayed != inode->reserved)
		ffs_rule_broken(fs, FOLIOFS_RULE_RESERVED_COUNT, inode->ino,
				"%llu blocks are delayed, %u reserved", (unsigned long long)delayed,
				inode->reserved);
}

/* The tag alone does not say it: it outlives the flag where nothing could be written. */
static const struct ffs_folio *first_dirty(const struct ffs_mapping *m)
{
	struct ffs_folio *f = ffs_folio_next_tagged(m, 0, FFS_TAG_DIRTY);

	while (f && !(f->flags & FFS_FOLIO_DIRTY))
		f = ffs_folio_next_tagged(m, f->index + ffs_folio_pages(f), FFS_TAG_DIRTY);
	return f;
}

/* After fsync: nothing dirty is left below EOF, and the size on disk is the size. */
void ffs_rule_synced(struct foliofs_fs *fs, const struct ffs_inode *inode)
{
	const struct ffs_folio *f = first_dirty(inode->mapping);

	/* A short copy may leave delayed blocks behind EOF: nobody's data. */
	if (f && ffs_folio_pos(inode->mapping, f) < inode->i_size &&
	    !ffs_should_journal_data(&fs->ops.sb, inode))
		ffs_rule_broken(fs, FOLIOFS_RULE_SYNCED_LOST, inode->ino,
				"fsync succeeded and left dirty folios");
	/* (XFS reserves ahead behind EOF: type_rules.c.) */
	else if ((inode->flags & FFS_INODE_IOMAP) && !fs->ops.sb.type && inode->reserved)
		ffs_rule_broken(fs, FOLIOFS_RULE_CLEAN_DELAYED, inode->ino,
				"fsync has written all dirty blocks, %u clusters are still reserved",
				inode->reserved);
	/* On iomap the size waits for the data: a write that failed, and was told, moves none. */
	else if (inode->i_disksize < inode->i_size &&
		 !((inode->flags & FFS_INODE_IOMAP) && inode->wb_err))
		ffs_rule_broken(fs, FOLIOFS_RULE_SYNCED_LOST, inode->ino,
				"fsync succeeded with i_disksize %llu below i_size %llu",
				(unsigned long long)inode->i_disksize,
				(unsigned long long)inode->i_size);
}

void ffs_rules_after_op(struct foliofs_fs *fs, const struct foliofs_op *op, s64 result)
{
	const struct ffs_file *f = ffs_file(&fs->ops, op->file);
	const struct ffs_inode *inode = f ? f->inode : NULL;
	struct foliofs_journal_state j;

	foliofs_fs_journal(fs, &j);
	ffs_truth_op(fs, op, result);
	/* In the middle of another operation: looked at when that is over. */
	if (!j.error && !fs->stopped)
		ffs_truth_check(fs, op, result);
	if (!inode || !ffs_is_reg(inode) || j.error)
		return;
	if (inode->i_disksize > inode->i_size)
		ffs_rule_broken(fs, FOLIOFS_RULE_DISKSIZE, inode->ino,
				"i_disksize %llu exceeds i_size %llu",
				(unsigned long long)inode->i_disksize,
				(unsigned long long)inode->i_size);
	if (inode->flags & FFS_INODE_IOMAP)
		ffs_rule_dropped(fs, inode, op);
	switch (op->kind) {
	case FOLIOFS_OP_FSYNC:
		/* (At stops others may have written meanwhile.) */
		if (!result && !fs->stop_fn)
			ffs_rule_synced(fs, inode);
		check_reserved(fs, inode);
		break;
	case FOLIOFS_OP_WRITE:
	case FOLIOFS_OP_APPEND:
	case FOLIOFS_OP_MTOUCH: {
		const struct ffs_folio *folio =
			op->len ? ffs_folio_find(inode->mapping,
						 (u32)(op->off >> fs->ops.sb.env.page_bits)) :
				  NULL;

		if (folio)
			check_folio(fs, inode, folio);
		break;
	}
	case FOLIOFS_OP_TRUNCATE:
	case FOLIOFS_OP_FALLOCATE:
		check_reserved(fs, inode);
		break;
	default:
		break;
	}
}
