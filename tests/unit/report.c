// SPDX-License-Identifier: MIT
/* The report: its numbers on the page, JSON and back, refused input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <foliofs/mkfs.h>

#include "out/report.h"
#include "out/report_parts.h"

static char root[] = "report-test-XXXXXX";

/* 20 GiB of 1K blocks with a journal of 1 MiB: worked examples of the credit formulas. */
static void make_report(struct report *r, struct stats *s)
{
	struct foliofs_geometry g = { .page_size = 4096 };
	struct foliofs_kernel k[2];
	char err[200];

	assert_int_equal(foliofs_kernel_parse("v6.16.1", &k[0], err, sizeof(err)), 0);
	assert_int_equal(foliofs_kernel_parse("v6.18", &k[1], err, sizeof(err)), 0);
	assert_int_equal(foliofs_geometry_from_mkfs("size=20G -b 1024 -J size=1", &g, err,
						    sizeof(err)), 0);
	report_init(r, "a <test> & \"more\"");
	report_environment(r, &k[1], &g);
	report_verdict(r, REPORT_BROKEN, "%d rules broken", 1);
	report_note(r, "Assumptions", "file %s: %d bytes", "a", 7);
	report_matrix_fill(r, 20ull << 30, 1u << 20, 4096, k, 2);
	stats_init(s);
	s->all.handles = s->type[FOLIOFS_HT_WRITE_PAGE].handles = 2;
	s->type[FOLIOFS_HT_WRITE_PAGE].asked = 84;
	s->type[FOLIOFS_HT_WRITE_PAGE].extended = 516;
	s->type[FOLIOFS_HT_WRITE_PAGE].dirtied = 450;
	s->step[0].n = 2;
	s->step[0].asked_max = 300;
	s->order[9] = s->order_step[1][9] = 3;
	s->nr_callers = 1;
	snprintf(s->caller[0].name, sizeof(s->caller[0].name), "ext4_do_writepages");
	s->caller[0].asked = 42;
	s->caller[0].rsv = 41;
	s->caller[0].type = FOLIOFS_HT_WRITE_PAGE;
	r->stats = s;
}

static char *page_of(const struct report *r)
{
	struct report_plots none = { .missing = true, .wanted = { true, true } };
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	report_html(r, &none, out);
	fclose(out);
	return text;
}

static void page(void **state)
{
	struct stats *s = malloc(sizeof(*s));
	struct report r;
	char *text;

	(void)state;
	make_report(&r, s);
	assert_int_equal(r.max_handle, 334);
	assert_int_equal(r.max_transaction, 341);
	/* only blocks of 1K go with a journal of 1 MiB */
	assert_int_equal(r.matrix.nr_sizes, 1);
	assert_int_equal(r.matrix.cell[0][0].verdict, FOLIOFS_REFUSED);
	assert_int_equal(r.matrix.cell[0][1].asked, 41);
	assert_int_equal(r.matrix.cell[0][1].rsv, 41);
	assert_int_equal(r.matrix.cell[0][1].verdict, FOLIOFS_FITS);
	text = page_of(&r);
	assert_non_null(strstr(text, "<h1>a &lt;test&gt; &amp; &quot;more&quot;</h1>"));
	assert_non_null(strstr(text, "<b>Broken.</b>1 rules broken"));
	assert_non_null(strstr(text, "<td>75.0&nbsp;%</td>")); /* 450 of 600 */
	assert_non_null(strstr(text, "<td>25&nbsp;%</td>")); /* 83 of 334 */
	assert_non_null(strstr(text, "<li>file a: 7 bytes</li>"));
	assert_non_null(strstr(text, "gnuplot is not installed"));
	assert_null(strstr(text, "<script"));
	free(text);
	report_free(&r);
	free(s);
}

static void json(void **state)
{
	struct stats *s = malloc(sizeof(*s));
	struct report r, back;
	char path[64], err[300], *a, *b;
	FILE *f;

	(void)state;
	make_report(&r, s);
	snprintf(path, sizeof(path), "%s/report.json", root);
	f = fopen(path, "w");
	assert_int_equal(report_to_json(&r, f), 0);
	fclose(f);
	assert_int_equal(report_from_json(&back, path, err, sizeof(err)), 0);
	assert_int_equal(back.stats->order_step[1][9], 3);
	assert_int_equal(back.stats->step[0].asked_max, 300);
	assert_int_equal(back.matrix.cell[0][1].max_handle, 334);
	a = page_of(&r);
	b = page_of(&back);
	assert_string_equal(a, b);
	free(a);
	free(b);
	report_free(&back);
	report_free(&r);
	free(s);
}

static void refuse(const char *text, const char *expected)
{
	struct report r;
	char path[64], err[300];
	FILE *f;

	snprintf(path, sizeof(path), "%s/bad.json", root);
	f = fopen(path, "w");
	fputs(text, f);
	fclose(f);
	assert_int_equal(report_from_json(&r, path, err, sizeof(err)), -EINVAL);
	assert_non_null(strstr(err, expected));
}

static void refused(void **state)
{
	(void)state;
	refuse("{\n\"a\": [1,\n", "bad.json:3: expected a report as JSON, got: end of file");
	refuse("{\"a\": }\n", "bad.json:1: expected a report as JSON");
	refuse("[1]\n", "expected \"format\": \"foliosim-report-1\"");
	refuse("{\"format\": \"x\"}\n", "got \"x\"");
	refuse("", "expected a report as JSON");
}

static int make_root(void **state)
{
	(void)state;
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

/* Tables of text, and the points of a plot: a block of data for each series. */
static void grids(void **state)
{
	struct report r;
	char *text;
	size_t len;
	FILE *out;

	(void)state;
	report_init(&r, "t");
	report_grid(&r, "Work <1>", 2);
	report_cell(&r, "a");
	report_cell(&r, "b");
	report_cell(&r, "x & y");
	report_cell(&r, "%d", 7);
	text = page_of(&r);
	assert_non_null(strstr(text, "<h2>Work &lt;1&gt;</h2>"));
	assert_non_null(strstr(text, "<tr><th>a<th>b</tr>\n<tr><td>x &amp; y<td>7</tr>"));
	free(text);
	report_point(&r, "one", "p", 2, 1.5);
	report_point(&r, "two", "q", 3, 3.25);
	report_point(&r, "one", "s", 1, 1);
	out = open_memstream(&text, &len);
	report_points_data(&r, out);
	fclose(out);
	assert_string_equal(strchr(text, '\n') + 1,
			    "# one\n2.0000 1.5000 \"p\"\n1.0000 1.0000 \"s\"\n\n\n"
			    "# two\n3.0000 3.2500 \"q\"\n");
	free(text);
	out = open_memstream(&text, &len);
	report_points_script(&r, out);
	fclose(out);
	assert_non_null(strstr(text, "'ratios.dat' index 0 using 1:2"));
	assert_non_null(strstr(text, "'ratios.dat' index 1 using 1:2"));
	assert_null(strstr(text, "index 2"));
	free(text);
	report_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(page),
		cmocka_unit_test(grids),
		cmocka_unit_test(json),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
