// SPDX-License-Identifier: MIT
/*
 * Journal: literal numbers from captures of Linux 6.18 (transaction 28 and those
 * after it of a 2 MiB folio in 2048 one-block holes, 1K blocks, 1024-block journal),
 * from bug reports and from hand calculation.  The smallest journal with 1K blocks
 * and checksums has TMAX 341, overhead 7, U 334, reservations up to 167.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "journal/journal.h"

#define MAX_LOG 4096

static struct {
	struct ffs_env env;
	struct ffs_journal *j;
	struct foliofs_sink sink;
	const struct foliofs_sink *sinks[1];
	struct foliofs_event log[MAX_LOG];
	u32 nr;
	struct ffs_handle *rsv[4]; /* waiting for a worker */
	u32 nr_rsv, locked, submitted, committed;
} fx;

static void record(void *priv, const struct foliofs_event *ev)
{
	(void)priv;
	if (fx.nr < MAX_LOG)
		fx.log[fx.nr++] = *ev;
}

/* A worker: converts, dirtying nothing. */
static void worker(void *priv)
{
	struct ffs_handle *h;

	(void)priv;
	if (!fx.nr_rsv)
		return;
	fx.env.thread = FOLIOFS_THREAD_WORKER;
	if (!ffs_handle_start_reserved(fx.j, fx.rsv[--fx.nr_rsv], FOLIOFS_HT_EXT_CONVERT,
				       "ext4_convert_unwritten_io_end_vec", &h))
		ffs_handle_stop(h);
}

static void locked(void *priv, u32 tid)
{
	(void)priv;
	fx.locked = tid;
}

static void submit(void *priv, u32 tid)
{
	(void)priv;
	fx.submitted = tid;
}

static void committed(void *priv, u32 tid)
{
	(void)priv;
	fx.committed = tid;
}

static void make(const char *kernel, u32 block_size, u32 blocks, u32 features)
{
	const struct ffs_journal_hooks hooks = {
		.sleep = worker, .locked = locked, .submit_data = submit, .committed = committed,
	};
	char err[100];
	u32 i;

	memset(&fx, 0, sizeof(fx));
	assert_int_equal(foliofs_kernel_parse(kernel, &fx.env.kernel, err, sizeof(err)), 0);
	fx.env.geo = (struct foliofs_geometry){
		.page_size = 4096, .block_size = block_size, .journal_blocks = blocks,
		.features = features | FOLIOFS_FEATURE_EXTENTS,
	};
	fx.sink.event = record;
	fx.sinks[0] = &fx.sink;
	fx.env.sinks = fx.sinks;
	fx.env.nr_sinks = 1;
	for (i = 0; i < FOLIOFS_EV_COUNT; i++) {
		fx.sink.wants[i] = i != FOLIOFS_EV_foliofs_dirty_block;
		fx.env.on[i] = fx.sink.wants[i];
	}
	fx.j = ffs_journal_new(&fx.env, 40, &hooks);
}

#define CSUM (FOLIOFS_FEATURE_HAS_JOURNAL | FOLIOFS_FEATURE_64BIT | FOLIOFS_FEATURE_METADATA_CSUM)

static int small(void **state)
{
	(void)state;
	make("v6.18", 1024, 1024, CSUM);
	return 0;
}

static int done(void **state)
{
	(void)state;
	ffs_journal_free(fx.j);
	return 0;
}

static struct ffs_handle *start(u32 blocks, u32 rsv, u32 revokes)
{
	struct ffs_handle *h;

	assert_int_equal(ffs_handle_start(fx.j, 13, FOLIOFS_HT_WRITE_PAGE, blocks, rsv, revokes,
					  "test", &h), 0);
	return h;
}

static int try(u32 blocks, u32 rsv, u32 revokes)
{
	struct ffs_handle *h;
	int err = ffs_handle_start(fx.j, 13, FOLIOFS_HT_WRITE_PAGE, blocks, rsv, revokes, "test",
				   &h);

	if (!err)
		assert_int_equal(ffs_handle_stop(h), 0);
	return err;
}

static void dirty(struct ffs_handle *h, u64 first, u64 end)
{
	for (; first < end; first++)
		assert_int_equal(ffs_journal_dirty(h, first), 0);
}

static u32 out_credits(void)
{
	struct ffs_journal_state s;

	ffs_journal_state(fx.j, &s);
	return s.outstanding;
}

static u32 log_free(void)
{
	struct ffs_journal_state s;

	ffs_journal_state(fx.j, &s);
	return s.log_free;
}

static u32 count(enum foliofs_event_id id)
{
	u32 i, n = 0;

	for (i = 0; i < fx.nr; i++)
		n += fx.log[i].id == id;
	return n;
}

/* Last event of that kind. */
static const u64 *last(enum foliofs_event_id id)
{
	u32 i;

	for (i = fx.nr; i-- > 0;)
		if (fx.log[i].id == id)
			return fx.log[i].arg;
	fail_msg("no event %u", id);
	return NULL;
}

static void expect_run_stats(u32 tid, u32 handles, u32 blocks, u32 logged)
{
	const u64 *a = last(FOLIOFS_EV_jbd2_run_stats);

	assert_int_equal(a[0], tid);
	assert_int_equal(a[1], handles);
	assert_int_equal(a[2], blocks);
	assert_int_equal(a[3], logged);
}

static void refusals(void **state)
{
	const u64 *a;

	(void)state;
	assert_int_equal(try(334, 0, 0), 0);
	assert_int_equal(try(335, 0, 0), -ENOSPC);
	/* 333 and one block for 8 revoke records */
	assert_int_equal(try(333, 0, 8), 0);
	assert_int_equal(try(334, 0, 8), -ENOSPC);
	a = last(FOLIOFS_EV_foliofs_start_refused);
	assert_int_equal(a[1], 335);
	assert_int_equal(a[2], 0);
	assert_int_equal(a[3], 334);
	assert_int_equal((s64)a[4], -28);
	assert_int_equal(try(1, 168, 0), -ENOSPC);
	assert_int_equal(try(167, 167, 0), 0);
	assert_int_equal(try(168, 167, 0), -ENOSPC);
	assert_int_equal(try(UINT32_MAX, UINT32_MAX, UINT32_MAX), -ENOSPC);
	/* every start is printed, also the refused ones */
	assert_int_equal(count(FOLIOFS_EV_ext4_journal_start_inode), 8);
	assert_int_equal(count(FOLIOFS_EV_jbd2_handle_start), 3);
	assert_int_equal(count(FOLIOFS_EV_foliofs_start_refused), 5);
}

static void nested(void **state)
{
	struct ffs_handle *h = start(41, 0, 8), *in;

	(void)state;
	assert_int_equal(h->tid, 40);
	assert_int_equal(last(FOLIOFS_EV_jbd2_handle_start)[3], 42);
	assert_int_equal(ffs_handle_start(fx.j, 0, FOLIOFS_HT_INODE, 5000, 0, 8, "in", &in), 0);
	assert_ptr_equal(in, h);
	assert_int_equal(count(FOLIOFS_EV_ext4_journal_start_sb), 1);
	assert_int_equal(count(FOLIOFS_EV_jbd2_handle_start), 1);
	assert_int_equal(out_credits(), 7 + 42);
	ffs_handle_stop(in);
	assert_int_equal(count(FOLIOFS_EV_jbd2_handle_stats), 0);
	assert_ptr_equal(ffs_journal_current(fx.j), h);
	ffs_handle_stop(h);
	assert_int_equal(count(FOLIOFS_EV_jbd2_handle_stats), 1);
	assert_null(ffs_journal_current(fx.j));
	assert_int_equal(out_credits(), 7);
}

/* The first handles of the captured 2 MiB fsync: 292 asked for, 251 dirtied, refused at 341. */
static void fragmented_folio(void **state)
{
	static const u16 order[] = {
		FOLIOFS_EV_ext4_journal_start_inode, FOLIOFS_EV_jbd2_start_commit,
		FOLIOFS_EV_ext4_journal_start_reserved, FOLIOFS_EV_jbd2_handle_start,
		FOLIOFS_EV_jbd2_handle_stats, FOLIOFS_EV_jbd2_run_stats,
		FOLIOFS_EV_jbd2_end_commit, FOLIOFS_EV_jbd2_handle_start,
	};
	struct ffs_handle *h = start(2, 0, 8);
	const u64 *a;
	u32 i;

	(void)state;
	dirty(h, 0, 1); /* the inode, for its time */
	ffs_handle_stop(h);
	h = start(41, 41, 8);
	assert_int_equal(out_credits(), 7 + 1 + 42 + 41);
	for (i = 0; i < 250; i++) {
		dirty(h, 100 + i, 101 + i);
		assert_int_equal(ffs_handle_ensure(h, 41, 41, 0), 0);
	}
	dirty(h, 350, 351);
	assert_int_equal(h->requested, 292);
	assert_int_equal(out_credits(), 341);
	assert_int_equal(ffs_handle_ensure(h, 41, 41, 0), 1);
	assert_int_equal(count(FOLIOFS_EV_foliofs_extend_refused), 1);
	assert_int_equal(last(FOLIOFS_EV_foliofs_extend_refused)[3], 1);
	a = last(FOLIOFS_EV_jbd2_handle_extend);
	assert_int_equal(a[3], 41); /* 40 and one for revoke records */
	assert_int_equal(a[4], 1);
	assert_int_equal(count(FOLIOFS_EV_jbd2_handle_extend), 250);
	fx.rsv[fx.nr_rsv++] = ffs_handle_take_reserved(h);
	ffs_handle_stop(h);
	a = last(FOLIOFS_EV_jbd2_handle_stats);
	assert_int_equal(a[5], 292);
	assert_int_equal(a[6], 251);
	assert_int_equal(out_credits(), 7 + 1 + 251 + 41);

	/* 42 + 41 more do not fit; the conversion gets into the transaction after it */
	fx.nr = 0;
	h = start(41, 41, 8);
	assert_int_equal(h->tid, 41);
	assert_int_equal(fx.nr, ARRAY_SIZE(order));
	for (i = 0; i < ARRAY_SIZE(order); i++)
		assert_int_equal(fx.log[i].id, order[i]);
	assert_int_equal(fx.log[1].arg[0], 40);
	assert_int_equal(fx.log[1].thread, FOLIOFS_THREAD_JOURNAL);
	assert_int_equal(fx.log[2].arg[0], 41);
	assert_int_equal(fx.log[2].thread, FOLIOFS_THREAD_WORKER);
	assert_int_equal(fx.log[3].arg[0], 41);
	assert_int_equal(fx.log[3].arg[3], 41);
	assert_int_equal(fx.log[6].thread, FOLIOFS_THREAD_JOURNAL);
	assert_int_equal(fx.log[7].thread, FOLIOFS_THREAD_TASK);
	expect_run_stats(40, 2, 252, 258);
	assert_int_equal(fx.locked, 40);
	assert_int_equal(fx.submitted, 40);
	assert_int_equal(fx.committed, 40);
	assert_int_equal(ffs_journal_committed_tid(fx.j), 40);
	assert_int_equal(out_credits(), 7 + 42 + 41);
	ffs_handle_stop(h);
	assert_int_equal(out_credits(), 7);
}

/* Blocks in the log: with descriptors of 61 tags and the commit block. */
static void logged(void **state)
{
	static const u32 sizes[][2] = {
		{ 252, 258 }, { 293, 299 }, { 64, 67 }, { 1, 3 }, { 0, 1 },
	};
	struct ffs_handle *h;
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		h = start(sizes[i][0], 0, 8);
		dirty(h, 0, sizes[i][0]);
		ffs_handle_stop(h);
		assert_int_equal(ffs_journal_wait_commit(fx.j, 40 + i), 1);
		expect_run_stats(40 + i, 1, sizes[i][0], sizes[i][1]);
		assert_int_equal(ffs_journal_wait_commit(fx.j, 40 + i), 0);
	}
	assert_int_equal(ffs_journal_force_commit(fx.j), 0);
}

/* Truncation that restarts: 327 blocks and a revoke block in each transaction. */
static void restarts(void **state)
{
	struct ffs_handle *h = start(7, 0, 8);
	u32 tid, dirtied;
	int got;
	u64 blk = 0;

	(void)state;
	for (tid = 40; tid < 43; tid++) {
		assert_int_equal(ffs_journal_revoke(h, 100000 + tid), 0);
		for (dirtied = 0; !(got = ffs_handle_ensure_restart(h, 7, 7, 1)); dirtied++, blk++)
			dirty(h, blk, blk + 1);
		assert_int_equal(got, 1);
		assert_int_equal(dirtied, 327);
		expect_run_stats(tid, 1, 327, 335);
		assert_int_equal(h->tid, tid + 1);
		assert_int_equal(last(FOLIOFS_EV_jbd2_handle_restart)[0], tid + 1);
		assert_int_equal(last(FOLIOFS_EV_jbd2_handle_restart)[3], 8);
		assert_int_equal(h->requested, 8);
	}
	ffs_handle_stop(h);
	assert_int_equal(count(FOLIOFS_EV_jbd2_handle_stats), 1);
}

/* A handle alone in its transaction grows to U: 7 + 334 = 341. */
static void user_max(void **state)
{
	struct ffs_handle *h = start(41, 0, 8);

	(void)state;
	assert_int_equal(ffs_handle_extend(h, 292, 0), 0);
	assert_int_equal(h->requested, 334);
	assert_int_equal(ffs_handle_extend(h, 1, 0), 1);
	assert_int_equal(ffs_handle_extend(h, 0, 117), 0); /* 125 records in one block */
	assert_int_equal(ffs_handle_extend(h, 0, 1), 1);
	ffs_handle_stop(h);
}

/* A 4K block takes 509 revoke records with checksums and 64-bit numbers. */
static void revoke_blocks(void **state)
{
	struct ffs_handle *h;

	done(state);
	make("v6.18", 4096, 1024, CSUM);
	h = start(1, 0, 508);
	assert_int_equal(h->requested, 2);
	assert_int_equal(ffs_handle_buffer_credits(h), 1);
	assert_int_equal(ffs_handle_extend(h, 0, 1), 0);
	assert_int_equal(h->requested, 2);
	assert_int_equal(ffs_handle_extend(h, 0, 1), 0);
	assert_int_equal(h->requested, 3);
	assert_int_equal(ffs_handle_buffer_credits(h), 1);
	ffs_handle_stop(h);
}

/* Of the revoke credits, the transaction keeps the blocks that its records need. */
static void revoke_accounting(void **state)
{
	struct ffs_handle *h = start(5, 0, 200);
	u32 i;

	(void)state;
	assert_int_equal(h->requested, 7);
	dirty(h, 1, 3);
	for (i = 0; i < 124; i++)
		assert_int_equal(ffs_journal_revoke(h, 1000 + i), 0);
	ffs_handle_stop(h);
	assert_int_equal((s64)last(FOLIOFS_EV_jbd2_handle_stats)[6], 2);
	assert_int_equal(out_credits(), 7 + 2 + 1);
	h = start(5, 0, 8);
	assert_int_equal(ffs_journal_revoke(h, 2000), 0);
	ffs_handle_stop(h);
	assert_int_equal(out_credits(), 7 + 2 + 1);
	h = start(5, 0, 1);
	assert_int_equal(ffs_journal_revoke(h, 2001), 0);
	/* used up: the handle is aborted */
	assert_int_equal(ffs_journal_revoke(h, 2002), -EIO);
	assert_int_equal(ffs_journal_dirty(h, 1), -EROFS);
	assert_int_equal(ffs_handle_stop(h), -EIO);
	assert_int_equal(out_credits(), 7 + 2 + 2);
	ffs_journal_force_commit(fx.j);
	/* 2 + 1 descriptor + 2 revoke blocks + commit block */
	expect_run_stats(40, 3, 2, 6);
}

static void once_per_transaction(void **state)
{
	struct ffs_handle *h = start(10, 0, 0);

	(void)state;
	dirty(h, 5, 6);
	dirty(h, 5, 6);
	assert_int_equal(h->credits, 9);
	assert_true(ffs_journal_has(fx.j, 5));
	ffs_handle_stop(h);
	h = start(10, 0, 0);
	dirty(h, 5, 6);
	assert_int_equal(h->credits, 10);
	/* freed: what the handle before was charged for comes back to this one */
	ffs_journal_forget(h, 5);
	ffs_journal_forget(h, 5);
	ffs_journal_forget(h, 6);
	assert_int_equal(h->credits, 11);
	assert_false(ffs_journal_has(fx.j, 5));
	ffs_handle_stop(h);
	assert_int_equal((s64)last(FOLIOFS_EV_jbd2_handle_stats)[6], -1);
	assert_int_equal(out_credits(), 7);
	h = start(10, 0, 0);
	dirty(h, 7, 9);
	ffs_handle_stop(h);
	/* pages thrown away: no credit, and charged again */
	ffs_journal_drop(fx.j, 7);
	assert_int_equal(out_credits(), 9);
	h = start(10, 0, 0);
	dirty(h, 7, 8);
	assert_int_equal(h->credits, 9);
	ffs_journal_drop(fx.j, 7);
	ffs_handle_stop(h);
	ffs_journal_force_commit(fx.j);
	expect_run_stats(40, 4, 1, 3);
	assert_false(ffs_journal_has(fx.j, 8));
	h = start(10, 0, 0);
	dirty(h, 8, 9);
	assert_int_equal(h->credits, 9);
	ffs_handle_stop(h);
}

/* A revoked block that is used again takes its record back. */
static void revoke_cancelled(void **state)
{
	struct ffs_handle *h = start(10, 0, 8);

	(void)state;
	assert_int_equal(ffs_journal_revoke(h, 9), 0);
	dirty(h, 9, 10);
	ffs_handle_stop(h);
	ffs_journal_force_commit(fx.j);
	expect_run_stats(40, 1, 1, 3);
}

/* The buffer is held from the first change to the commit behind its way home. */
static void held(void **state)
{
	struct ffs_handle *h = start(10, 0, 0);

	(void)state;
	dirty(h, 9, 10);
	ffs_handle_stop(h);
	assert_true(ffs_journal_holds(fx.j, 9));
	assert_false(ffs_journal_holds(fx.j, 10));
	ffs_journal_force_commit(fx.j);
	assert_true(ffs_journal_holds(fx.j, 9));
	/* clean, but on a checkpoint list still */
	ffs_journal_written(fx.j);
	assert_true(ffs_journal_holds(fx.j, 9));
	h = start(10, 0, 0);
	dirty(h, 10, 11);
	ffs_handle_stop(h);
	ffs_journal_force_commit(fx.j);
	assert_false(ffs_journal_holds(fx.j, 9));
	assert_true(ffs_journal_holds(fx.j, 10));
}

static void dry(void **state)
{
	struct ffs_handle *h = start(2, 0, 8);
	const u64 *a;

	(void)state;
	dirty(h, 1, 3);
	dirty(h, 1, 3);
	assert_int_equal(ffs_journal_dirty(h, 3), -ENOSPC);
	a = last(FOLIOFS_EV_foliofs_handle_dry);
	assert_int_equal(a[0], 40);
	assert_int_equal(a[2], 3);
	assert_int_equal(a[3], 3);
	assert_int_equal(a[4], 0);
	assert_int_equal(count(FOLIOFS_EV_foliofs_journal_abort), 1);
	assert_int_equal(ffs_journal_dirty(h, 1), -EROFS);
	assert_int_equal(ffs_handle_extend(h, 1, 0), -EROFS);
	assert_int_equal(ffs_handle_ensure(h, 1, 1, 0), -EROFS);
	assert_int_equal(ffs_handle_restart(h, 1, 0), 0);
	assert_int_equal(ffs_handle_stop(h), -ENOSPC);
	assert_int_equal(try(1, 0, 0), -EROFS);
	assert_int_equal(ffs_journal_error(fx.j), -ENOSPC);
	assert_int_equal(ffs_journal_wait_commit(fx.j, 40), -EIO);
	assert_int_equal(count(FOLIOFS_EV_jbd2_start_commit), 0);
}

/*
 * Before v6.11 the limit of a handle did not leave room for the overhead: one
 * that asks for more than 256 less it is let in and commits empty transactions
 * for ever.  1024-block journal.
 */
static void endless_commits(void **state)
{
	static const struct {
		u32 block_size, features, fits;
	} geo[] = {
		{ 4096, CSUM, 253 },
		{ 1024, CSUM, 250 },
		{ 1024, FOLIOFS_FEATURE_HAS_JOURNAL | FOLIOFS_FEATURE_64BIT, 251 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(geo); i++) {
		done(state);
		make("v6.1", geo[i].block_size, 1024, geo[i].features);
		assert_int_equal(try(geo[i].fits, 0, 0), 0);
		assert_int_equal(count(FOLIOFS_EV_jbd2_start_commit), 0);
		assert_int_equal(try(geo[i].fits + 1, 0, 0), -ENOSPC);
		assert_int_equal(count(FOLIOFS_EV_foliofs_livelock), 1);
		assert_int_equal(count(FOLIOFS_EV_foliofs_start_refused), 0);
		assert_in_range(count(FOLIOFS_EV_jbd2_end_commit), 2, 100);
		assert_int_equal(try(256, 0, 0), -ENOSPC);
		assert_int_equal(count(FOLIOFS_EV_foliofs_livelock), 2);
		assert_int_equal(try(257, 0, 0), -ENOSPC);
		assert_int_equal(count(FOLIOFS_EV_foliofs_start_refused), 1);
		/* with the limit of v6.11 it is refused at once */
		done(state);
		make("v6.1+jbd-user-max", geo[i].block_size, 1024, geo[i].features);
		assert_int_equal(try(geo[i].fits, 0, 0), 0);
		assert_int_equal(try(geo[i].fits + 1, 0, 0), -ENOSPC);
		assert_int_equal(count(FOLIOFS_EV_foliofs_livelock), 0);
		assert_int_equal(count(FOLIOFS_EV_foliofs_start_refused), 1);
	}
}

static struct ffs_handle *reservation(u32 r)
{
	struct ffs_handle *h = start(1, r, 0), *rsv = ffs_handle_take_reserved(h);

	ffs_handle_stop(h);
	return rsv;
}

static void reservations(void **state)
{
	struct ffs_handle *h, *rsv;
	struct ffs_journal_state s;

	(void)state;
	/* one that is not taken goes with its handle */
	ffs_handle_stop(start(1, 100, 0));
	assert_int_equal(out_credits(), 7);
	fx.rsv[0] = reservation(100);
	rsv = reservation(60);
	ffs_journal_state(fx.j, &s);
	assert_int_equal(s.outstanding, 167);
	assert_int_equal(s.reserved, 160);
	/* 160 + 10 > 167: waits for a worker */
	fx.nr_rsv = 1;
	h = start(1, 10, 0);
	assert_int_equal(fx.nr_rsv, 0);
	assert_int_equal(h->tid, 40);
	assert_int_equal(count(FOLIOFS_EV_jbd2_start_commit), 0);
	assert_int_equal(out_credits(), 7 + 60 + 1 + 10);
	/* all of them are charged to the next transaction */
	fx.rsv[0] = ffs_handle_take_reserved(h);
	ffs_handle_stop(h);
	ffs_journal_force_commit(fx.j);
	h = start(1, 0, 0);
	assert_int_equal(h->tid, 41);
	assert_int_equal(out_credits(), 7 + 60 + 10 + 1);
	ffs_handle_stop(h);
	/* 70 + 265 > 334, and nobody gives back: the wait would never end */
	assert_int_equal(try(265, 0, 0), -ENOSPC);
	assert_int_equal(count(FOLIOFS_EV_foliofs_livelock), 1);
	ffs_handle_free_reserved(rsv);
	assert_int_equal(try(265, 0, 0), 0);
	ffs_handle_free_reserved(fx.rsv[0]);
	assert_int_equal(out_credits(), 7);
	assert_int_equal(ffs_journal_tid(fx.j), 41);
}

/* The reservation counts when the handle joins: 7 + 260 + 34 would fit, 41 more do not. */
static void full_by_reservation(void **state)
{
	struct ffs_handle *h = start(260, 0, 0);

	(void)state;
	dirty(h, 0, 260);
	ffs_handle_stop(h);
	assert_int_equal(try(74, 0, 0), 0);
	assert_int_equal(try(33, 41, 0), 0);
	assert_int_equal(count(FOLIOFS_EV_jbd2_start_commit), 0);
	h = start(34, 41, 0);
	assert_int_equal(h->tid, 41);
	ffs_handle_stop(h);
	expect_run_stats(40, 3, 260, 266);
}

/* A restart counts its reservation again. */
static void restart_with_reservation(void **state)
{
	struct ffs_handle *h = start(300, 30, 0);

	(void)state;
	dirty(h, 0, 300);
	assert_int_equal(ffs_handle_extend(h, 10, 0), 1);
	assert_int_equal(ffs_handle_restart(h, 305, 0), -ENOSPC);
	assert_int_equal(last(FOLIOFS_EV_jbd2_handle_restart)[0], 0);
	assert_int_equal(ffs_journal_dirty(h, 0), -EROFS);
	assert_int_equal(ffs_handle_stop(h), -ENOSPC);
	assert_int_equal(count(FOLIOFS_EV_jbd2_handle_stats), 0);
	h = start(300, 30, 0);
	assert_int_equal(h->tid, 41);
	assert_int_equal(ffs_handle_restart(h, 304, 0), 0);
	assert_int_equal(h->tid, 42);
	assert_int_equal(out_credits(), 7 + 304 + 30);
	ffs_handle_stop(h);
	assert_int_equal(out_credits(), 7);
}

static void transaction_of(u32 blocks, u64 first)
{
	struct ffs_handle *h = start(blocks, 0, 0);

	dirty(h, first, first + blocks);
	ffs_handle_stop(h);
	ffs_journal_force_commit(fx.j);
}

/* 1023 blocks: room for a whole transaction at 638 logged, not at 705. */
static void log_space(void **state)
{
	u32 i;

	(void)state;
	assert_int_equal(log_free(), 1023);
	transaction_of(33, 0); /* 35 logged */
	for (i = 0; i < 9; i++)
		transaction_of(64, 1000 * (i + 1));
	assert_int_equal(log_free(), 1023 - 638);
	assert_int_equal(try(1, 0, 0), 0);
	assert_int_equal(count(FOLIOFS_EV_foliofs_checkpoint), 0);
	transaction_of(64, 50000);
	assert_int_equal(log_free(), 1023 - 705);
	assert_int_equal(try(1, 0, 0), 0);
	/* the oldest, 35 blocks: 353 - 32 < 341 still; then the next, 67 */
	assert_int_equal(count(FOLIOFS_EV_foliofs_checkpoint), 2);
	assert_int_equal(log_free(), 1023 - 705 + 35 + 67);
}

/* The same blocks again and again: a commit moves the tail when it frees 341 or more. */
static void tail_in_commit(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < 7; i++)
		transaction_of(64, 0);
	assert_int_equal(count(FOLIOFS_EV_foliofs_checkpoint), 0);
	assert_int_equal(last(FOLIOFS_EV_jbd2_end_commit)[2], 40);
	transaction_of(64, 0);
	assert_int_equal(count(FOLIOFS_EV_foliofs_checkpoint), 1);
	assert_int_equal(log_free(), 1023 - 8 * 67 + 402);
	assert_int_equal(last(FOLIOFS_EV_jbd2_end_commit)[2], 46);
}

/* A block of the oldest segment that the running transaction has: that one is committed first. */
static void checkpoint_forces_commit(void **state)
{
	struct ffs_handle *rsv = reservation(4), *h;

	(void)state;
	transaction_of(1, 7); /* 3 logged */
	transaction_of(330, 5000); /* 337 */
	transaction_of(330, 6000); /* 337: 346 free, 314 usable */
	assert_int_equal(log_free(), 346);
	assert_int_equal(count(FOLIOFS_EV_foliofs_checkpoint), 0);
	/* a reserved handle gets in without a look at the log */
	assert_int_equal(ffs_handle_start_reserved(fx.j, rsv, FOLIOFS_HT_EXT_CONVERT, "test", &h),
			 0);
	assert_int_equal(h->tid, 43);
	dirty(h, 7, 8);
	ffs_handle_stop(h);
	h = start(1, 0, 0);
	assert_int_equal(h->tid, 44);
	expect_run_stats(43, 1, 1, 3);
	/* 346 - 3, then the old 3, then the 337 of 41 */
	assert_int_equal(log_free(), 346 + 337);
	ffs_handle_stop(h);
	/* all at home: 340 blocks, a commit frees 341 or more */
	ffs_journal_written(fx.j);
	transaction_of(1, 8); /* 3 */
	assert_int_equal(log_free(), 346 + 337 - 3);
	transaction_of(1, 8);
	assert_int_equal(log_free(), 346 + 337 - 6);
	transaction_of(1, 8); /* 337 + 3 + 3 dead */
	assert_int_equal(log_free(), 1023 - 6);
}

/* A transaction of @n blocks from @first on; the next start of @n2 does not fit into it. */
static struct ffs_handle *fill(u32 n, u32 first, u32 n2)
{
	struct ffs_handle *h = start(n, 0, 0);

	dirty(h, first, first + n);
	ffs_handle_stop(h);
	return start(n2, 0, 0);
}

/* What a full transaction frees is there when the next one is full, not before. */
static void busy_task(void **state)
{
	struct ffs_handle *h;

	(void)state;
	ffs_journal_set_busy(fx.j, true);
	h = fill(300, 0, 300);
	assert_int_equal(h->tid, 41);
	assert_int_equal(fx.submitted, 40);
	assert_int_equal(fx.committed, 0);
	dirty(h, 1000, 1300);
	ffs_handle_stop(h);
	h = start(250, 0, 0);
	assert_int_equal(fx.submitted, 41);
	assert_int_equal(fx.committed, 40);
	/* the next start needs the log of 40: its blocks are at nobody's else */
	dirty(h, 2000, 2250);
	ffs_handle_stop(h);
	assert_int_equal(count(FOLIOFS_EV_foliofs_checkpoint), 0);
	h = start(300, 0, 0);
	assert_int_equal(count(FOLIOFS_EV_foliofs_checkpoint), 1);
	assert_int_equal(fx.submitted, 42);
	assert_int_equal(fx.committed, 41);
	/* now a block of 41, the oldest, is taken over: the commit that has it is waited for */
	dirty(h, 1299, 1599);
	ffs_handle_stop(h);
	h = start(300, 0, 0);
	assert_int_equal(fx.submitted, 43);
	assert_int_equal(fx.committed, 43);
	ffs_handle_stop(h);
	/* fsync waits */
	assert_int_equal(ffs_journal_force_commit(fx.j), 1);
	assert_int_equal(fx.committed, 44);
}

static void no_journal(void **state)
{
	struct ffs_handle *h, *in;

	done(state);
	make("v6.18", 4096, 0, FOLIOFS_FEATURE_64BIT);
	assert_false(ffs_journal_present(fx.j));
	h = start(100000, 11, 8);
	assert_true(h->nojournal);
	assert_null(ffs_handle_take_reserved(h));
	assert_int_equal(ffs_handle_start(fx.j, 0, FOLIOFS_HT_INODE, 2, 0, 8, "in", &in), 0);
	assert_int_equal(ffs_journal_dirty(in, 5), 0);
	assert_int_equal(ffs_journal_revoke(in, 5), 0);
	ffs_handle_stop(in);
	assert_int_equal(ffs_handle_extend(h, 100000, 0), 0);
	assert_int_equal(ffs_handle_ensure_restart(h, 100000, 100000, 0), 0);
	assert_int_equal(ffs_handle_stop(h), 0);
	ffs_journal_request_commit(fx.j);
	ffs_journal_run_thread(fx.j);
	assert_int_equal(ffs_journal_force_commit(fx.j), 0);
	assert_int_equal(count(FOLIOFS_EV_ext4_journal_start_inode), 1);
	assert_int_equal(count(FOLIOFS_EV_ext4_journal_start_sb), 1);
	assert_int_equal(fx.nr, 2);
}

static void who_commits(void **state)
{
	struct ffs_handle *h = start(1, 0, 0);

	(void)state;
	/* asked for: at the next sleep, and not while a handle is open */
	ffs_journal_request_commit(fx.j);
	ffs_journal_run_thread(fx.j);
	assert_int_equal(ffs_journal_wait_commit(fx.j, 40), 0);
	ffs_handle_stop(h);
	assert_int_equal(try(1, 0, 0), 0);
	assert_int_equal(ffs_journal_tid(fx.j), 40);
	ffs_journal_run_thread(fx.j);
	assert_int_equal(ffs_journal_committed_tid(fx.j), 40);
	assert_int_equal(ffs_journal_tid(fx.j), 0);
	assert_int_equal(ffs_journal_next_tid(fx.j), 41);
	/* a synchronous handle */
	h = start(1, 0, 0);
	h->sync = true;
	ffs_handle_stop(h);
	assert_int_equal(ffs_journal_committed_tid(fx.j), 41);
	assert_int_equal(last(FOLIOFS_EV_jbd2_start_commit)[1], 1);
	assert_int_equal(last(FOLIOFS_EV_jbd2_end_commit)[1], 1);
	/* age: 5 s, at a full second */
	fx.env.now_ns = 1100000000;
	assert_int_equal(try(1, 0, 0), 0);
	fx.env.now_ns = 6999999999;
	ffs_journal_run_thread(fx.j);
	assert_int_equal(ffs_journal_tid(fx.j), 42);
	fx.env.now_ns = 7000000000;
	ffs_journal_run_thread(fx.j);
	assert_int_equal(ffs_journal_committed_tid(fx.j), 42);
	assert_int_equal(last(FOLIOFS_EV_jbd2_start_commit)[1], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(refusals, small, done),
		cmocka_unit_test_setup_teardown(nested, small, done),
		cmocka_unit_test_setup_teardown(fragmented_folio, small, done),
		cmocka_unit_test_setup_teardown(logged, small, done),
		cmocka_unit_test_setup_teardown(restarts, small, done),
		cmocka_unit_test_setup_teardown(user_max, small, done),
		cmocka_unit_test_setup_teardown(revoke_blocks, small, done),
		cmocka_unit_test_setup_teardown(revoke_accounting, small, done),
		cmocka_unit_test_setup_teardown(once_per_transaction, small, done),
		cmocka_unit_test_setup_teardown(revoke_cancelled, small, done),
		cmocka_unit_test_setup_teardown(held, small, done),
		cmocka_unit_test_setup_teardown(dry, small, done),
		cmocka_unit_test_setup_teardown(endless_commits, small, done),
		cmocka_unit_test_setup_teardown(reservations, small, done),
		cmocka_unit_test_setup_teardown(full_by_reservation, small, done),
		cmocka_unit_test_setup_teardown(restart_with_reservation, small, done),
		cmocka_unit_test_setup_teardown(log_space, small, done),
		cmocka_unit_test_setup_teardown(tail_in_commit, small, done),
		cmocka_unit_test_setup_teardown(checkpoint_forces_commit, small, done),
		cmocka_unit_test_setup_teardown(busy_task, small, done),
		cmocka_unit_test_setup_teardown(no_journal, small, done),
		cmocka_unit_test_setup_teardown(who_commits, small, done),
	};

	return cmocka_run_group_tests_name("journal", tests, NULL, NULL);
}
