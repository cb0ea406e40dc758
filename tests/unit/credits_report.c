// SPDX-License-Identifier: MIT
/*
 * foliosim credits: table, explanation, smallest journal and JSON, for a file system of 20G with
 * 1K blocks and a journal of 1M: 2560 groups, 160 descriptor blocks.
 */
#include "credits_geometry.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "credits/credits_report.h"
#include "kernels.h"

static const struct credits_file fresh = { .order = -1 };

static struct foliofs_geometry small_journal(void)
{
	return geometry(1024, 2560, 160, 1024);
}

/* Line of @text that begins with @word and a blank, in a static buffer. */
static const char *line_of(const char *text, const char *word)
{
	static char line[400];
	size_t len = strlen(word);

	while (*text && (strncmp(text, word, len) || text[len] != ' ')) {
		text = strchr(text, '\n');
		assert_non_null(text);
		text++;
	}
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(text, "\n"), text);
	return line;
}

static int kernels_of(const char *list, struct foliofs_kernel *k, char err[200])
{
	return kernels_parse(list, NULL, k, CREDITS_MAX_KERNELS, err, 200);
}

static void table(void **state)
{
	struct foliofs_geometry g = small_journal();
	struct foliofs_kernel k[CREDITS_MAX_KERNELS];
	char err[200], *text = NULL, cell[4][20];
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	assert_int_equal(kernels_of("v6.15,v6.16,v6.16.1,v6.18", k, err), 4);
	assert_int_equal(credits_report(out, &g, k, 4), 0);
	fclose(out);
	assert_int_equal(sscanf(line_of(text, "writeback"), "writeback %19s %19s %19s %19s",
				cell[0], cell[1], cell[2], cell[3]), 4);
	assert_string_equal(cell[0], "14+9");
	assert_string_equal(cell[1], "126+40~");
	/* 40 + 2088 + 160 + 6 */
	assert_string_equal(cell[2], "2294+41!");
	assert_string_equal(cell[3], "41+41");
	assert_int_equal(sscanf(line_of(text, "move-extents"), "move-extents %19s %19s %19s %19s",
				cell[0], cell[1], cell[2], cell[3]), 4);
	assert_string_equal(cell[0], "28");
	assert_string_equal(cell[1], "252");
	assert_string_equal(cell[2], "4588!");
	assert_string_equal(cell[3], "124");
	assert_non_null(strstr(text, "v6.16.1: refused: requests 2295 and reserves 41, a handle "
				     "may have 334"));
	free(text);
}

/* The terms above "= credits" add up to it, those behind it to "= reserved". */
static void explanation_adds_up(void **state)
{
	static const char *const kernels[] = { "v6.15", "v6.16", "v6.16.1", "v6.18", "v6.1" };
	struct foliofs_geometry g = small_journal();
	unsigned int explained = 0;
	char name[40], *text, *line, *save;
	size_t len;

	(void)state;
	for (unsigned int op = 0; op < FOLIOFS_CREDIT_COUNT; op++) {
		for (size_t n = 0; n < sizeof(kernels) / sizeof(kernels[0]); n++) {
			struct foliofs_kernel k = kernel(kernels[n]);
			unsigned int sum = 0, value, totals = 0;
			FILE *out = open_memstream(&text, &len);

			assert_int_equal(credits_explain(out, &fresh, &g, &k, 1, op), 0);
			fclose(out);
			for (line = strtok_r(text, "\n", &save); line;
			     line = strtok_r(NULL, "\n", &save)) {
				if (sscanf(line, "  = %39s %u", name, &value) == 2) {
					if (!strcmp(name, "credits") || !strcmp(name, "reserved"))
						assert_int_equal(value, sum);
					else
						assert_string_equal(name, "requested");
					sum = 0;
					totals++;
				} else if (sscanf(line, "  %39s %u ", name, &value) == 2 &&
					   strncmp(line, "   ", 3) && strcmp(name, "revokes")) {
					sum += strchr("ibdf", name[0]) ? value : 0;
				}
			}
			/* credits and requested, or one line that says it cannot happen */
			assert_true(totals >= 2 || !sum);
			explained += totals >= 2;
			free(text);
		}
	}
	/*
	 * 36 operations happen to a file with extents; in 6.1 da-write-end has no handle, and with
	 * 1K blocks there is nothing to convert
	 */
	assert_int_equal(explained, 5 * 36 - 2);
}

static void explanation_of_writeback(void **state)
{
	struct foliofs_geometry g = small_journal();
	struct foliofs_kernel k = kernel("v6.16.1");
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	assert_int_equal(credits_explain(out, &fresh, &g, &k, 1, FOLIOFS_CREDIT_WRITEBACK), 0);
	fclose(out);
	assert_non_null(strstr(text, "meta(2048 + u - 1, u), u = 2048 blocks of a folio"));
	assert_non_null(strstr(text, "     40  3 * depth 5 of the deepest tree + up(2048 extents / "
				     "84 of a leaf)"));
	assert_non_null(strstr(text, "   2088  min(index 40 + extents 2048, groups 2560)"));
	assert_non_null(strstr(text, "    160  descriptor blocks 160, fewer than bitmaps"));
	assert_non_null(strstr(text, "= credits        2294"));
	assert_non_null(strstr(text, "= requested      2295"));
	assert_non_null(strstr(text, "= reserved         41"));
	assert_non_null(strstr(text, "fix insufficient credits calculation in"));
	free(text);
}

static void smallest(void **state)
{
	struct foliofs_geometry g = small_journal();
	struct foliofs_kernel k[CREDITS_MAX_KERNELS];
	char err[200], *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	assert_int_equal(kernels_of("v6.16.1,v6.18", k, err), 2);
	assert_int_equal(credits_min_journal(out, &fresh, &g, k, 2), 0);
	fclose(out);
	/*
	 * 2 * 2294 + 1 = 4589 for move extents; 4667 - 1 - up(4667 / 61) = 4589 is the first
	 * limit that takes it, and 3 * 4667 blocks are 13.7 MiB.
	 */
	assert_non_null(strstr(line_of(text, "v6.16.1"), " 14001 blocks, mke2fs -J size=14"));
	assert_non_null(strstr(line_of(text, "v6.18"), " 1024 blocks, mke2fs -J size=1"));
	free(text);
}

static int64_t value_of(struct json_object *o, const char *name)
{
	struct json_object *v;

	assert_true(json_object_object_get_ex(o, name, &v));
	return json_object_get_int64(v);
}

static void json(void **state)
{
	struct foliofs_geometry g = small_journal();
	struct foliofs_kernel k = kernel("v6.16");
	struct json_object *root, *list, *entry, *ops, *terms, *v;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	assert_int_equal(credits_json(out, &fresh, &g, &k, 1), 0);
	fclose(out);
	root = json_tokener_parse(text);
	assert_non_null(root);
	assert_true(json_object_object_get_ex(root, "kernels", &list));
	assert_int_equal(json_object_array_length(list), 1);
	entry = json_object_array_get_idx(list, 0);
	assert_true(json_object_object_get_ex(entry, "operations", &ops));
	entry = json_object_array_get_idx(ops, 0);
	assert_true(json_object_object_get_ex(entry, "name", &v));
	assert_string_equal(json_object_get_string(v), "writeback");
	assert_int_equal(value_of(entry, "credits"), 126);
	assert_int_equal(value_of(entry, "reserved"), 40);
	assert_int_equal(value_of(entry, "requested"), 127);
	assert_true(value_of(entry, "worst_case") > 2200);
	assert_true(json_object_object_get_ex(entry, "terms", &terms));
	assert_int_equal(value_of(terms, "bitmaps"), 40);
	assert_true(json_object_object_get_ex(entry, "verdict", &v));
	assert_string_equal(json_object_get_string(v), "can run dry");
	json_object_put(root);
	free(text);
}

static void lists_of_kernels(void **state)
{
	struct foliofs_kernel k[CREDITS_MAX_KERNELS];
	char err[200];

	(void)state;
	assert_int_equal(kernels_of("v6.18", k, err), 1);
	assert_int_equal(kernels_of("", k, err), -EINVAL);
	assert_int_equal(kernels_of("v6.18,", k, err), -EINVAL);
	assert_int_equal(kernels_of("v6.18,,v6.16", k, err), -EINVAL);
	assert_int_equal(kernels_of("v6.18,v5", k, err), -EINVAL);
	assert_non_null(strstr(err, "v5"));
	assert_int_equal(kernels_of("v6.1,v6.1,v6.1,v6.1,v6.1,v6.1,v6.1,v6.1,v6.1,v6.1,v6.1,"
				    "v6.1,v6.1,v6.1,v6.1,v6.1,v6.1", k, err),
			 -EINVAL);
}

/*
 * The page: asked + reserved of writeback, and the limit.  2560 groups, 160 descriptor blocks:
 * 14+9, 126+40, 40+2088+160+6 and 41, 41+41.  mke2fs takes a journal of 1 MB for 1K blocks only.
 */
static void page(void **state)
{
	char dir[] = "/tmp/credits-page-XXXXXX", command[500], line[100] = "";
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(command, sizeof(command),
		 FOLIOSIM " credits --mkfs 'size=20G -b 1024 -J size=1' --kernel "
			  "v6.15,v6.16,v6.16.1,v6.18 --report %s >/dev/null 2>&1 && "
			  "grep -q 'block size by kernel' %s/index.html && tail -n +2 %s/matrix.dat",
		 dir, dir, dir);
	f = popen(command, "r");
	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	assert_string_equal(line, "1K 23 166 2335 82 334\n");
	assert_null(fgets(line, sizeof(line), f));
	assert_int_equal(pclose(f), 0);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table),	       cmocka_unit_test(explanation_adds_up),
		cmocka_unit_test(explanation_of_writeback), cmocka_unit_test(smallest),
		cmocka_unit_test(json),		       cmocka_unit_test(lists_of_kernels),
		cmocka_unit_test(page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
