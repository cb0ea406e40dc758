// SPDX-License-Identifier: MIT
/* The price of work, files of constants and tables of measurements: calculated by hand; bad files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "cost/csv.h"
#include "cost/table.h"

static struct replay_args args; /* nothing given */
static char err[4400];

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
	const char *const name = "c,d";
	struct csv csv;
	int at;

	(void)state;
	assert_int_equal(csv_open(&csv, path, err, sizeof(err)), 0);
	unlink(path);
	assert_int_equal(csv.nr, 3);
	assert_int_equal(csv_columns(&csv, &name, 1, &at), 0);
	assert_int_equal(at, 2);
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
	static struct cost_sides sides;
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
		cmocka_unit_test(price),
		cmocka_unit_test(ranks),
		cmocka_unit_test(refused),
		cmocka_unit_test(quotes),
		cmocka_unit_test(left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
