// SPDX-License-Identifier: MIT
/*
 * The work of operations.  Work per MiB is that of the table of iomap.md, 8.1 (4 KiB blocks; with 1 KiB
 * blocks four times the blocks); what it costs, as measured or calculated by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "cost/table.h"
#include "cost/workload.h"

#define K 1024ull
#define M (1024 * K)
#define XFS SOURCE_DIR "/tests/data/cost/xfs.yaml"

static struct replay_args args; /* nothing given */
static struct cost_sides sides;
static char err[4400];

/* A side of @kernel on what mke2fs makes; NULL: XFS. */
static struct cost_side *side_of(const char *kernel, const char *mkfs)
{
	static struct replay_setup s;
	struct foliofs_kernel k;

	memset(&sides, 0, sizeof(sides));
	if (!kernel) {
		assert_int_equal(cost_side_of_meta(&sides, XFS, err, sizeof(err)), 0);
		return &sides.side[0];
	}
	s = (struct replay_setup){ .args = &args };
	s.geometry.page_size = 4096;
	assert_int_equal(foliofs_geometry_from_mkfs(mkfs, &s.geometry, err, sizeof(err)), 0);
	assert_int_equal(foliofs_kernel_parse(kernel, &k, err, sizeof(err)), 0);
	assert_int_equal(cost_sides_of_kernels(&sides, &s, &k, 1, err, sizeof(err)), 0);
	return &sides.side[0];
}

/* The work of a workload, and how many MiB it is about. */
static struct cost_work work(struct cost_side *side, enum cost_class class, uint64_t bs, uint64_t *mib)
{
	const struct cost_workload w = { .class = class, .bs = bs };
	const struct replay_setup base = { .args = &args, .geometry = side->geometry };
	struct replay_setup s;

	cost_workload_setup(&s, &base, &w);
	assert_int_equal(cost_run(side, &s, err, sizeof(err)), 0);
	cost_workload_free(&s);
	*mib = side->work[class].bytes / M;
	assert_true(*mib > 0);
	assert_int_equal(side->work[class].ops * bs, side->work[class].bytes);
	assert_int_equal(side->failed, 0);
	return side->work[class];
}

struct per_mib {
	const char *kernel, *mkfs; /* NULL: XFS */
	const char *path;
	uint64_t bs, steps, blocks, maps, wb_folios, wb_blocks;
};

static const struct per_mib writes[] = {
	{ "v6.15", "size=20G", "bh", 1 * M, 256, 256, 256, 256, 256 },
	{ "v6.15", "size=20G", "bh", 64 * K, 256, 256, 256, 256, 256 },
	{ "v6.15", "size=20G", "bh", 4 * K, 256, 256, 256, 0, 0 },
	{ "v6.18", "size=20G", "bh+lf", 1 * M, 1, 256, 256, 1, 256 },
	{ "v6.18", "size=20G", "bh+lf", 64 * K, 16, 256, 256, 16, 256 },
	{ "v6.18", "size=20G", "bh+lf", 4 * K, 256, 256, 256, 0, 0 },
	{ "v6.15", "size=20G -b 1024", "bh", 64 * K, 256, 1024, 1024, 256, 1024 },
	{ "v6.18", "size=20G -b 1024", "bh+lf", 1 * M, 1, 1024, 1024, 1, 1024 },
	{ "iomap-next-v2", "size=20G", "iomap+lf", 1 * M, 1, 0, 1, 1, 0 },
	{ "iomap-next-v2", "size=20G", "iomap+lf", 64 * K, 16, 0, 16, 16, 0 },
	{ "iomap-next-v2", "size=20G", "iomap+lf", 4 * K, 256, 0, 256, 0, 0 },
	{ "iomap-next-v2", "size=20G -b 1024", "iomap+lf", 1 * M, 1, 0, 1, 1, 0 },
	{ NULL, NULL, "iomap+lf", 1 * M, 1, 0, 1, 1, 0 },
	{ NULL, NULL, "iomap+lf", 64 * K, 16, 0, 16, 16, 0 },
	{ NULL, NULL, "iomap+lf", 4 * K, 256, 0, 256, 0, 0 },
};

/* Writes over a file that was there; those of 64K and 1M with an fsync each, so with writeback. */
static void writes_per_mib(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(writes) / sizeof(writes[0]); i++) {
		const struct per_mib *p = &writes[i];
		struct cost_side *side = side_of(p->kernel, p->mkfs);
		uint64_t mib;
		struct cost_work w = work(side, p->wb_folios ? COST_SYNC_OVER : COST_WRITE_OVER,
					  p->bs, &mib);

		assert_string_equal(side->path, p->path);
		assert_int_equal(w.steps, p->steps * mib);
		assert_int_equal(w.blocks, p->blocks * mib);
		assert_int_equal(w.maps, p->maps * mib);
		assert_int_equal(w.wb_folios, p->wb_folios * mib);
		assert_int_equal(w.wb_blocks, p->wb_blocks * mib);
		assert_int_equal(w.converts, 0);
	}
}

/*
 * New files: the same on ext4, and each fsync converts once.  XFS is not in this: its extents
 * beyond the end of a file that grows cut folios.
 */
static void new_files(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(writes) / sizeof(writes[0]) && writes[i].kernel; i++) {
		const struct per_mib *p = &writes[i];
		struct cost_side *side = side_of(p->kernel, p->mkfs);
		uint64_t mib;
		struct cost_work w = work(side, p->wb_folios ? COST_SYNC_NEW : COST_WRITE_NEW,
					  p->bs, &mib);

		assert_int_equal(w.steps, p->steps * mib);
		assert_int_equal(w.blocks, p->blocks * mib);
		assert_int_equal(w.maps, p->maps * mib);
		assert_int_equal(w.wb_folios, p->wb_folios * mib);
		assert_int_equal(w.handles, p->wb_folios ? w.ops : 0);
		assert_int_equal(w.converts, p->wb_folios ? w.ops : 0);
	}
}

static struct replay_setup list; /* operations made by hand */

static struct foliofs_op *op(enum foliofs_op_kind kind, int32_t file, uint64_t off, uint64_t len)
{
	struct foliofs_op *o = opvec_add(&list.trace.v, kind, list.trace.v.nr + 1, NULL, 0);

	o->file = file;
	o->off = off;
	o->len = len;
	return o;
}

static void open_file(int32_t file, const char *path, uint32_t flags)
{
	struct foliofs_op *o = op(FOLIOFS_OP_OPEN, file, 0, 0);

	o->path = path;
	o->flags = flags | FOLIOFS_O_CREAT;
	o->mode = 0644;
}

static void begin_list(void)
{
	list = (struct replay_setup){ .args = &args };
	opvec_init(&list.trace.v);
}

static void run_list(struct cost_side *side)
{
	assert_int_equal(cost_run(side, &list, err, sizeof(err)), 0);
	opvec_free(&list.trace.v);
}

/* 16 MiB with one fsync: a handle takes 2048 blocks, so 1/8 a MiB; at least as long are the bios. */
static void handles_and_bios(void **state)
{
	struct cost_side *side = side_of("v6.18", "size=20G");
	struct cost_work w;

	(void)state;
	begin_list();
	open_file(0, "a", 0);
	op(FOLIOFS_OP_WRITE, 0, 0, 16 * M)->chunk = 1 * M;
	op(FOLIOFS_OP_FSYNC, 0, 0, 0);
	run_list(side);
	w = cost_total(side);
	assert_int_equal(w.handles, 2);
	assert_true(w.bios_written >= 1 && w.bios_written <= 4);
	assert_int_equal(w.wb_folios, 16);
}

/*
 * Reads of a cold file: what 8 MiB more need, when the readahead window is as long as it gets, on a
 * device whose requests do not make windows longer.
 */
static struct cost_work read_more(const char *kernel, uint64_t bs)
{
	struct cost_work w[2];
	int i;

	for (i = 0; i < 2; i++) {
		struct cost_side *side = side_of(kernel, "size=20G");

		side->geometry.io_opt_pages = 0;
		begin_list();
		open_file(0, "a", 0);
		op(FOLIOFS_OP_WRITE, 0, 0, 32 * M)->chunk = 1 * M;
		op(FOLIOFS_OP_FSYNC, 0, 0, 0);
		op(FOLIOFS_OP_DROP_CACHES, -1, 0, 0)->flags = 1;
		op(FOLIOFS_OP_READ, 0, 0, i ? 16 * M : 8 * M)->chunk = bs;
		run_list(side);
		w[i] = side->work[COST_READ];
	}
	w[1].folios -= w[0].folios;
	w[1].steps -= w[0].steps;
	w[1].blocks -= w[0].blocks;
	return w[1];
}

static void reads_per_mib(void **state)
{
	static const struct {
		const char *kernel;
		uint64_t bs, folios, steps;
	} reads[] = {
		{ "v6.15", 1 * M, 256, 256 }, { "v6.15", 4 * K, 256, 256 },
		{ "v6.18", 1 * M, 8, 8 }, { "v6.18", 4 * K, 8, 256 },
		/* a call copies at least once */
		{ "v6.18", 64 * K, 8, 16 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
		struct cost_work w = read_more(reads[i].kernel, reads[i].bs);

		assert_int_equal(w.folios, 8 * reads[i].folios);
		assert_int_equal(w.steps, 8 * reads[i].steps);
		assert_int_equal(w.blocks, 8 * 256);
	}
}

/* What ran, also where there are no blocks to walk through. */
static void paths(void **state)
{
	static const struct {
		enum foliofs_fs_type type;
		const char *path;
	} sys[] = { { FOLIOFS_FS_EXT2, "bh" }, { FOLIOFS_FS_TMPFS, "memory" } };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(sys) / sizeof(sys[0]); i++) {
		struct cost_side *side = side_of("v6.18", "size=64M");

		side->geometry.fs_type = sys[i].type;
		side->geometry.huge = FOLIOFS_HUGE_NEVER;
		begin_list();
		open_file(0, "a", 0);
		op(FOLIOFS_OP_WRITE, 0, 0, 64 * K);
		op(FOLIOFS_OP_READ, 0, 0, 64 * K);
		run_list(side);
		assert_string_equal(side->path, sys[i].path);
	}
}

/* Which class an operation is of. */
static void classes(void **state)
{
	static const uint64_t ops[COST_CLASSES] = {
		[COST_READ] = 1, [COST_WRITE_NEW] = 4, [COST_WRITE_OVER] = 2, [COST_SYNC_NEW] = 2,
		[COST_SYNC_OVER] = 1, [COST_FSYNC_NEW] = 2,
	};
	struct cost_side *side = side_of("v6.18", "size=20G");
	int i;

	(void)state;
	begin_list();
	open_file(0, "a", 0);
	open_file(1, "b", FOLIOFS_O_DSYNC);
	op(FOLIOFS_OP_WRITE, 0, 128 * K, 64 * K); /* new */
	op(FOLIOFS_OP_WRITE, 0, 0, 64 * K); /* new: the fsync writes two folios */
	op(FOLIOFS_OP_FSYNC, 0, 0, 0);
	op(FOLIOFS_OP_WRITE, 0, 64 * K, 64 * K); /* sync, new: */
	op(FOLIOFS_OP_FDATASYNC, 0, 0, 0);
	op(FOLIOFS_OP_WRITE, 0, 0, 64 * K); /* over */
	op(FOLIOFS_OP_WRITE, 1, 0, 4 * K); /* sync, new: O_DSYNC */
	op(FOLIOFS_OP_WRITE, 0, 4 * K, 4 * K); /* over: the fsync is of another file */
	op(FOLIOFS_OP_FSYNC, 1, 0, 0);
	op(FOLIOFS_OP_WRITE, 0, 8 * K, 4 * K); /* sync, over: */
	op(FOLIOFS_OP_FSYNC, 0, 0, 0);
	op(FOLIOFS_OP_READ, 0, 0, 128 * K); /* read */
	op(FOLIOFS_OP_READ, 0, 1 * M, 4 * K); /* behind the end: nothing */
	op(FOLIOFS_OP_WRITE, 0, 256 * K, 128 * K)->chunk = 64 * K; /* 2 new: not the fsync's */
	op(FOLIOFS_OP_FSYNC, 0, 0, 0);
	run_list(side);
	for (i = 0; i < COST_OTHER; i++)
		assert_int_equal(side->work[i].ops, ops[i]);
	assert_int_equal(side->work[COST_SYNC_OVER].wb_folios, 1);
	assert_int_equal(side->work[COST_FSYNC_NEW].sent, 256 * K);
	assert_int_equal(side->work[COST_READ].bytes, 128 * K);
	assert_int_equal(side->work[COST_READ].folios, 0);
}

/* nvme, 1 MiB, new, fsync, buffer heads: 78 + 256 * 2.5 + 256 * 1.5 + 256 * 1.4 us. */
static void published_constants(void **state)
{
	struct cost_side *side = side_of("v6.15", "size=20G");
	struct cost_constants c;
	struct cost_work w;
	uint64_t mib;

	(void)state;
	assert_int_equal(cost_constants_load(&c, SOURCE_DIR "/data/cost-constants.csv", err,
					     sizeof(err)), 0);
	assert_int_equal(c.nr, 14 + 4); /* and an fsync alone on ramdisk and nvme, new and over */
	w = work(side, COST_SYNC_NEW, 1 * M, &mib);
	assert_true(fabs(cost_time(cost_line(&c, "nvme", COST_SYNC_NEW), &w) / (double)w.ops -
			 1460.4) < 1e-6);
	assert_null(cost_line(&c, "cache", COST_READ));
	assert_int_equal(cost_device(&c, "hole", err, sizeof(err)), 0);
	assert_int_equal(cost_device(&c, "floppy", err, sizeof(err)), -ENOENT);
	assert_non_null(strstr(err, "cache, ramdisk, nvme, loop, hole"));
	cost_constants_free(&c);
}

/*
 * nvme: an fsync costs what a write with it costs more than one without: 78 - 0.55 us, and for each page of
 * two writes of 512 KiB 2.5 - 0.79, for each folio 1.5 - 1.08, for each block 1.4 - 0.25.
 */
static void fsync_of_several(void **state)
{
	static const struct {
		const char *kernel;
		uint64_t folios, blocks;
	} runs[] = { { "v6.15", 256, 256 }, { "v6.18", 2, 256 }, { "iomap-next-v2", 2, 0 } };
	struct cost_constants c;
	uint64_t unpriced;
	size_t i;

	(void)state;
	assert_int_equal(cost_constants_load(&c, SOURCE_DIR "/data/cost-constants.csv", err,
					     sizeof(err)), 0);
	for (i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		struct cost_side *side = side_of(runs[i].kernel, "size=20G");
		double us = 77.45 + 256 * 1.71 + (double)runs[i].folios * 0.42 +
			    (double)runs[i].blocks * 1.15;

		begin_list();
		open_file(0, "a", 0);
		op(FOLIOFS_OP_WRITE, 0, 0, 512 * K);
		op(FOLIOFS_OP_WRITE, 0, 512 * K, 512 * K);
		op(FOLIOFS_OP_FSYNC, 0, 0, 0);
		run_list(side);
		assert_int_equal(side->work[COST_FSYNC_NEW].ops, 1);
		assert_true(fabs(cost_time(cost_line(&c, "nvme", COST_FSYNC_NEW),
					   &side->work[COST_FSYNC_NEW]) - us) < 1e-6);
		cost_side_time(side, &c, "nvme", &unpriced);
		assert_int_equal(unpriced, 1); /* open */
	}
	cost_constants_free(&c);
}

/*
 * Measured on 6.18, us for 1 MiB into a new file on a loop device in memory: four times the blocks cost
 * what they cost, whatever their size.
 */
static void blocks_of_1k(void **state)
{
	static const struct {
		const char *kernel, *mkfs;
		double us;
	} runs[] = {
		{ "v6.18", "size=20G", 435 }, { "v6.18", "size=20G -b 1024", 1115 },
		{ NULL, NULL, 202 },
	};
	struct cost_constants c;
	size_t i;

	(void)state;
	assert_int_equal(cost_constants_load(&c, SOURCE_DIR "/data/cost-constants.csv", err,
					     sizeof(err)), 0);
	for (i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		struct cost_side *side = side_of(runs[i].kernel, runs[i].mkfs);
		uint64_t mib;
		struct cost_work w = work(side, COST_WRITE_NEW, 1 * M, &mib);
		double us = cost_time(cost_line(&c, "loop", COST_WRITE_NEW), &w) / (double)w.ops;

		if (fabs(us / runs[i].us - 1) > 0.10)
			fail_msg("%s: %.1f us, measured %.1f", side->name, us, runs[i].us);
	}
	cost_constants_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_per_mib),
		cmocka_unit_test(new_files),
		cmocka_unit_test(paths),
		cmocka_unit_test(handles_and_bios),
		cmocka_unit_test(reads_per_mib),
		cmocka_unit_test(classes),
		cmocka_unit_test(published_constants),
		cmocka_unit_test(fsync_of_several),
		cmocka_unit_test(blocks_of_1k),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
