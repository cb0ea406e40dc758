// SPDX-License-Identifier: MIT
/*
 * Work and its price.  Work per MiB is that of the table of iomap.md, 8.1 (4 KiB blocks; with 1 KiB
 * blocks four times the blocks); the rest is calculated by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "cost/csv.h"
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
 * New files: the same on buffer heads, and each fsync converts once.  XFS is not in this: its extents
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

/* Which class an operation is of. */
static void classes(void **state)
{
	static const uint64_t ops[COST_CLASSES] = {
		[COST_READ] = 1, [COST_WRITE_NEW] = 4, [COST_WRITE_OVER] = 2, [COST_SYNC_NEW] = 2,
		[COST_SYNC_OVER] = 1,
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
	assert_int_equal(side->work[COST_READ].bytes, 128 * K);
	assert_int_equal(side->work[COST_READ].folios, 0);
}

/* 2 operations of 2 pages each, one of 1 block a page. */
static void price(void **state)
{
	struct cost_line l = { .class = COST_WRITE_NEW, .op = 2, .copy = 3, .step = 5, .block = 7,
			       .bh = 11 };
	struct cost_work w = { .ops = 2, .bytes = 16384, .steps = 1, .folios = 10, .blocks = 4 };

	(void)state;
	assert_true(fabs(cost_time(&l, &w) - (2 * 2 + 4 * 3 + 5 + 4 * 7 + 2 * 11)) < 1e-9);
	w.blocks = 0; /* no buffer heads */
	assert_true(fabs(cost_time(&l, &w) - (2 * 2 + 4 * 3 + 5)) < 1e-9);
	l.class = COST_READ; /* a read pays for the folios that it brings in */
	assert_true(fabs(cost_time(&l, &w) - (2 * 2 + 4 * 3 + 10 * 5)) < 1e-9);
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
	assert_int_equal(c.nr, 14);
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

static void ranks(void **state)
{
	const double a[] = { 1, 2, 3, 4 }, b[] = { 10, 30, 20, 40 }, tied[] = { 1, 2, 2, 3 };
	const double down[] = { 4, 3, 2, 1 }, flat[] = { 5, 5, 5, 5 };

	(void)state;
	assert_true(fabs(cost_rank_correlation(a, a, 4) - 1) < 1e-12);
	assert_true(fabs(cost_rank_correlation(a, down, 4) + 1) < 1e-12);
	/* 1 - 6 * (1 + 1) / (4 * 15) */
	assert_true(fabs(cost_rank_correlation(a, b, 4) - 0.8) < 1e-12);
	/* ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: 4.5 / sqrt(4.5 * 5) */
	assert_true(fabs(cost_rank_correlation(tied, a, 4) - sqrt(0.9)) < 1e-12);
	assert_true(isnan(cost_rank_correlation(a, flat, 4)));
	assert_true(isnan(cost_rank_correlation(a, a, 1)));
}

/* A file of @text. */
static const char *file_of(const char *text)
{
	static char path[32];
	int fd;

	strcpy(path, "cost-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	return path;
}

#define HEAD "device,type,overwrite,sync,writeback,op_us,copy_us,step_us,block_us,bh_us,source\n"

static void refused(void **state)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
		{ "", ":1: expected a line with the names of the columns" },
		{ "# only words\n", ":2: expected a line with the names of the columns" },
		{ "device,type\n", ":1: expected a column \"overwrite\"" },
		{ HEAD, ":1: expected a line of constants" },
		{ HEAD "x,read,-,-,-,1,1,1,1,s\n", ":2: expected 11 fields, got '10 fields'" },
		{ HEAD "\n# c\nx,read,-,-,-,1,1,-1,1,0,s\n", ":4: expected step_us: a number" },
		{ HEAD "x,read,-,-,-,1,1,1us,1,0,s\n", ":2: expected step_us: a number" },
		{ HEAD "x,read,-,-,-,nan,1,1,1,0,s\n", ":2: expected op_us: a number" },
		{ HEAD "x,read,Y,N,-,1,1,1,1,0,s\n", ":2: expected type, overwrite, sync" },
		{ HEAD "x,write,Y,y,N,1,1,1,1,0,s\n", ":2: expected type, overwrite, sync" },
		{ HEAD "x,write,Y,N,-,1,1,1,1,0,s\n", ":2: expected writeback" },
		{ HEAD "x,read,-,-,-,1,1,1,1,0,\n", ":2: expected source" },
		{ HEAD "x,read,-,-,-,1,1,1,1,0,\"s\n", ":2: expected a closing quote" },
		{ HEAD "x,read,-,-,-,1,1,1,1,0,s\nx,read,-,-,-,1,1,1,1,0,s\n",
		  ":3: expected each class of a device once, got 'x'" },
	};
	struct cost_constants c;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *path = file_of(bad[i].text);

		assert_int_equal(cost_constants_load(&c, path, err, sizeof(err)), -EINVAL);
		unlink(path);
		assert_int_equal(strncmp(err, path, strlen(path)), 0);
		if (!strstr(err, bad[i].message))
			fail_msg("%s: expected %s", err, bad[i].message);
	}
}

static void quotes(void **state)
{
	const char *path = file_of("a,b,\"c,d\"\r\n1,\"say \"\"no\"\"\",\n");
	struct csv csv;

	(void)state;
	assert_int_equal(csv_open(&csv, path, err, sizeof(err)), 0);
	unlink(path);
	assert_int_equal(csv.nr, 3);
	assert_int_equal(csv_column(&csv, "c,d"), 2);
	assert_int_equal(csv_next(&csv), 1);
	assert_string_equal(csv.field[0], "1");
	assert_string_equal(csv.field[1], "say \"no\"");
	assert_string_equal(csv.field[2], "");
	assert_int_equal(csv_next(&csv), 0);
	csv_close(&csv);
}

/* Rows that cannot be compared say why. */
static void left_out(void **state)
{
	static const char text[] =
		"source,table,type,bs,overwrite,sync,writeback,path,iops\n"
		"s,write,cache,64K,N,N,N,bh,100\n"
		"s,write,cache,64K,N,N,N,bh+lf,200\n"
		"s,write,cache,64K,N,N,N,page copy,200\n"
		"s,write,cache,64K,N,?,N,bh+lf,200\n"
		"s,write,cache,64K,N,N,Y,bh+lf,200\n"
		"s,write,cache,4K,N,N,N,bh+lf,200\n"
		"s,write,cache,64K,N,N,N,iomap+lf,200\n";
	static const char *const why[] = {
		NULL, NULL, "no path of the model", "no constants for its device and class",
		"no constants for its device and class", "no row of path bh to compare with",
		"no kernel with its path",
	};
	struct replay_setup base = { .args = &args };
	const char *path = file_of(text);
	struct cost_constants c;
	struct foliofs_kernel k[2];
	struct cost_table t;
	size_t i;

	(void)state;
	base.geometry.page_size = 4096;
	assert_int_equal(foliofs_geometry_from_mkfs("size=20G", &base.geometry, err, sizeof(err)), 0);
	assert_int_equal(foliofs_kernel_parse("v6.15", &k[0], err, sizeof(err)), 0);
	assert_int_equal(foliofs_kernel_parse("v6.18", &k[1], err, sizeof(err)), 0);
	memset(&sides, 0, sizeof(sides));
	assert_int_equal(cost_sides_of_kernels(&sides, &base, k, 2, err, sizeof(err)), 0);
	assert_int_equal(cost_constants_load(&c, SOURCE_DIR "/data/cost-constants.csv", err,
					     sizeof(err)), 0);
	assert_int_equal(cost_table_load(&t, path, err, sizeof(err)), 0);
	unlink(path);
	assert_int_equal(cost_table_run(&t, &sides, &base, &c, err, sizeof(err)), 0);
	for (i = 0; i < t.nr; i++) {
		if (why[i])
			assert_string_equal(t.rows[i].left_out, why[i]);
		else
			assert_null(t.rows[i].left_out);
	}
	assert_int_equal(t.nr_found, 1);
	assert_int_equal(t.found[0].rows, 1);
	assert_true(fabs(t.rows[1].measured - 2) < 1e-12);
	/* (0.62 + 16 * (0.68 + 0.86 + 0.29)) / (0.62 + 16 * (0.68 + 0.29) + 0.86) */
	assert_true(fabs(t.rows[1].predicted - 29.9 / 17.0) < 1e-9);
	cost_table_free(&t);
	cost_constants_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_per_mib),
		cmocka_unit_test(new_files),
		cmocka_unit_test(handles_and_bios),
		cmocka_unit_test(reads_per_mib),
		cmocka_unit_test(classes),
		cmocka_unit_test(price),
		cmocka_unit_test(published_constants),
		cmocka_unit_test(blocks_of_1k),
		cmocka_unit_test(ranks),
		cmocka_unit_test(refused),
		cmocka_unit_test(quotes),
		cmocka_unit_test(left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
