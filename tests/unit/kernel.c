// SPDX-License-Identifier: MIT
/* Kernels as sets of changes: names, the parser, prerequisites. */
#include "credits_geometry.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool has(const char *spec, enum foliofs_change c)
{
	struct foliofs_kernel k = kernel(spec);

	return foliofs_kernel_has(&k, c);
}

static void same(const char *a, const char *b)
{
	struct foliofs_kernel x = kernel(a), y = kernel(b);

	assert_memory_equal(x.changes, y.changes, sizeof(x.changes));
	assert_string_equal(x.name, a);
	assert_string_equal(y.name, b);
}

static void refused(const char *spec, const char *words)
{
	struct foliofs_kernel k;
	char err[200] = "";

	assert_int_equal(foliofs_kernel_parse(spec, &k, err, sizeof(err)), -EINVAL);
	if (!strstr(err, words))
		fail_msg("\"%s\": \"%s\" does not say \"%s\"", spec, err, words);
}

static void sets(void **state)
{
	(void)state;
	assert_false(has("v6.1", FOLIOFS_CHANGE_WORST_DEPTH));
	assert_true(has("v6.1-stable", FOLIOFS_CHANGE_WORST_DEPTH));
	assert_false(has("v6.1-stable", FOLIOFS_CHANGE_JBD_LIMIT_THIRD));
	assert_true(has("v6.12", FOLIOFS_CHANGE_JBD_LIMIT_THIRD));
	assert_false(has("v6.12-depth", FOLIOFS_CHANGE_WORST_DEPTH));
	assert_false(has("v6.15", FOLIOFS_CHANGE_WORST_DEPTH));
	assert_true(has("v6.16", FOLIOFS_CHANGE_WORST_DEPTH));
	assert_true(has("v6.16", FOLIOFS_CHANGE_LF_ENABLE));
	assert_false(has("lf-v2-posted", FOLIOFS_CHANGE_WORST_DEPTH));
	assert_true(has("v6.16.1", FOLIOFS_CHANGE_CF_COUNT_EXTENTS));
	assert_false(has("v6.16.1", FOLIOFS_CHANGE_CF_ONE_EXTENT));
	assert_true(has("v6.16.3", FOLIOFS_CHANGE_CF_ORDER_CAP));
	assert_false(has("lf-fix-v1", FOLIOFS_CHANGE_CF_PARTIAL_SUBMIT));
	assert_true(has("lf-fix-v2", FOLIOFS_CHANGE_CF_PARTIAL_SUBMIT));
	assert_false(has("lf-fix-v3", FOLIOFS_CHANGE_CF_PAGE_UNIT));
	assert_true(has("v6.19", FOLIOFS_CHANGE_LARGE_BLOCK_SIZE));
	assert_false(has("v6.19", FOLIOFS_CHANGE_DEFERRED_SPLIT));
	assert_true(has("v7.0", FOLIOFS_CHANGE_DEFERRED_SPLIT));
	assert_true(has("iomap-next-v2", FOLIOFS_CHANGE_IM_ENABLE));
	same("v6.12.117-worst-case-depth", "v6.12-depth");
}

/* The stable release took all eleven patches of the fix series. */
static void fixes_of_stable(void **state)
{
	static const enum foliofs_change fixes[] = {
		FOLIOFS_CHANGE_CF_BYTES, FOLIOFS_CHANGE_CF_NR_TO_WRITE,
		FOLIOFS_CHANGE_CF_PARTIAL_SUBMIT, FOLIOFS_CHANGE_CF_MKWRITE,
		FOLIOFS_CHANGE_CF_RESTART, FOLIOFS_CHANGE_CF_TRACEPOINTS,
		FOLIOFS_CHANGE_CF_RSV_PER_FOLIO, FOLIOFS_CHANGE_CF_ONE_EXTENT,
		FOLIOFS_CHANGE_CF_TRANS_EXTENT, FOLIOFS_CHANGE_CF_COUNT_EXTENTS,
		FOLIOFS_CHANGE_CF_ORDER_CAP,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(fixes) / sizeof(fixes[0]); i++) {
		assert_true(has("v6.16.3", fixes[i]));
		assert_true(has("v6.17", fixes[i]));
		assert_false(has("v6.16", fixes[i]));
	}
}

static void releases(void **state)
{
	(void)state;
	same("6.18.44", "v6.18");
	same("v6.18.44", "v6.18");
	same("6.18", "v6.18");
	same("6.12.117", "v6.12.117");
	same("6.12.116", "v6.12-stable");
	same("6.12.35", "v6.12-stable");
	same("6.12.34", "v6.12");
	same("6.1.192", "v6.1-stable");
	same("6.1.142", "v6.1-stable");
	same("6.1.141", "v6.1");
	same("6.16", "v6.16");
	same("6.16.2", "v6.16.1");
	same("6.16.12", "v6.16.3");
	refused("6.6.1", "no kernel");
	refused("6.18.", "no kernel");
	refused("6.18.44x", "no kernel");
	refused("v6", "no kernel");
	refused("6.123456", "no kernel");
	refused("", "no kernel");
	refused("linux", "no kernel \"linux\"");
}

static void modifiers(void **state)
{
	(void)state;
	assert_true(has("v6.16+rsv-per-folio", FOLIOFS_CHANGE_CF_RSV_PER_FOLIO));
	assert_false(has("v6.18-lf-zero", FOLIOFS_CHANGE_LF_ZERO));
	assert_true(has("v6.18-lf-zero+lf-zero", FOLIOFS_CHANGE_LF_ZERO));
	assert_false(has("6.12.117-worst-case-depth+integrity", FOLIOFS_CHANGE_WORST_DEPTH));
	assert_true(has("6.12.117-worst-case-depth+integrity", FOLIOFS_CHANGE_INTEGRITY));
	/* the longest name counts */
	assert_true(has("v6.18+restart-keep-io-end", FOLIOFS_CHANGE_CF_KEEP_IOEND));
	assert_false(has("v6.18-restart+order-cap", FOLIOFS_CHANGE_CF_RESTART));
	assert_false(has("v6.12-depth-da-multi", FOLIOFS_CHANGE_DA_MULTI));
	same("v6.16+count-extents+rsv-per-folio", "v6.16.1");
	refused("v6.18+", "no change \"\"");
	refused("v6.18+lf-everything", "no change \"lf-everything\"");
	refused("v6.18 ", "no kernel");
	refused("v6.18+restart-restart-restart-restart-restart-restart-restart-restart-restart-restart"
		"-restart-restart", "longer than 95");
}

static void every_pair(void **state)
{
	char spec[200], err[200];
	struct foliofs_kernel k;

	(void)state;
	for (unsigned int i = 0; foliofs_kernel_name(i); i++) {
		for (unsigned int c = 0; c < FOLIOFS_CHANGE_COUNT; c++) {
			for (int add = 0; add < 2; add++) {
				snprintf(spec, sizeof(spec), "%s%c%s", foliofs_kernel_name(i),
					 add ? '+' : '-', foliofs_change_name(c));
				assert_int_equal(foliofs_kernel_parse(spec, &k, err, sizeof(err)),
						 0);
				assert_int_equal(foliofs_kernel_has(&k, c), add);
			}
		}
	}
}

static void with_and_without(void **state)
{
	struct foliofs_kernel k = kernel("v6.16"), again;
	char err[200];

	(void)state;
	assert_int_equal(foliofs_kernel_with(&k, FOLIOFS_CHANGE_LF_ENABLE), 0);
	assert_string_equal(k.name, "v6.16");
	assert_int_equal(foliofs_kernel_with(&k, FOLIOFS_CHANGE_CF_RSV_PER_FOLIO), 0);
	assert_int_equal(foliofs_kernel_without(&k, FOLIOFS_CHANGE_LF_ZERO), 0);
	assert_string_equal(k.name, "v6.16+rsv-per-folio-lf-zero");
	assert_int_equal(foliofs_kernel_parse(k.name, &again, err, sizeof(err)), 0);
	assert_memory_equal(k.changes, again.changes, sizeof(k.changes));
	for (unsigned int c = 0; c < FOLIOFS_CHANGE_COUNT; c++)
		if (foliofs_kernel_with(&k, c))
			return;
	fail_msg("the name holds everything");
}

static void prerequisites(void **state)
{
	static const char *const incomplete[] = { "v6.16.1", "lf-fix-v1" };
	struct foliofs_kernel k = kernel("v6.18-lf-zero");
	enum foliofs_change change, missing;

	(void)state;
	assert_true(foliofs_kernel_lacks(&k, 0, &change, &missing));
	assert_int_equal(change, FOLIOFS_CHANGE_LF_ENABLE);
	assert_int_equal(missing, FOLIOFS_CHANGE_LF_ZERO);
	assert_false(foliofs_kernel_lacks(&k, change + 1, &change, &missing));
	k = kernel("v6.15+one-extent");
	assert_true(foliofs_kernel_lacks(&k, 0, &change, &missing));
	assert_int_equal(missing, FOLIOFS_CHANGE_CF_RESTART);
	/* two of the named kernels went wrong for want of one: requests of a whole folio, and
	 * mapped blocks without their data */
	for (unsigned int i = 0; foliofs_kernel_name(i); i++) {
		const char *name = foliofs_kernel_name(i);
		bool expected = !strcmp(name, incomplete[0]) || !strcmp(name, incomplete[1]);

		k = kernel(name);
		if (foliofs_kernel_lacks(&k, 0, &change, &missing) != expected)
			fail_msg("%s: %s needs %s", name, foliofs_change_name(change),
				 foliofs_change_name(missing));
	}
}

static void texts(void **state)
{
	enum foliofs_change found;

	(void)state;
	for (unsigned int c = 0; c < FOLIOFS_CHANGE_COUNT; c++) {
		char needs[300], *word, *save = NULL;

		assert_true(foliofs_change_name(c)[0] && foliofs_change_meaning(c)[0] &&
			    foliofs_change_source(c)[0]);
		assert_int_equal(foliofs_change_find(foliofs_change_name(c), &found), 0);
		assert_int_equal(found, c);
		snprintf(needs, sizeof(needs), "%s", foliofs_change_needs(c));
		for (word = strtok_r(needs, " ", &save); word; word = strtok_r(NULL, " ", &save))
			if (foliofs_change_find(word, &found))
				fail_msg("%s needs %s", foliofs_change_name(c), word);
	}
	assert_int_equal(foliofs_change_find("P3", &found), 0);
	assert_int_equal(found, FOLIOFS_CHANGE_LF_ZERO);
	assert_int_equal(foliofs_change_find("P9", &found), -ENOENT);
	assert_int_equal(foliofs_change_find("nothing", &found), -ENOENT);
	assert_null(foliofs_kernel_name(1000));
	for (unsigned int i = 0; foliofs_kernel_name(i); i++)
		assert_true(foliofs_kernel_meaning(i)[0]);
}

/* Every word of the lists in kernels.def is a change, every base an earlier kernel. */
static void definitions(void **state)
{
	static const struct {
		const char *name, *base, *add, *take;
	} kernels[] = {
#define FFS_KERNEL(name, meaning, base, add, take) { name, base, add, take },
#include "kernel/kernels.def"
#undef FFS_KERNEL
	};

	(void)state;
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		bool found = !kernels[i].base[0];
		enum foliofs_change c;

		for (size_t j = 0; j < i; j++)
			found |= !strcmp(kernels[j].name, kernels[i].base);
		assert_true(found);
		for (int take = 0; take < 2; take++) {
			char list[1000], *word, *save = NULL;

			snprintf(list, sizeof(list), "%s",
				 take ? kernels[i].take : kernels[i].add);
			for (word = strtok_r(list, " ", &save); word;
			     word = strtok_r(NULL, " ", &save))
				if (foliofs_change_find(word, &c))
					fail_msg("%s: %s", kernels[i].name, word);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets),		 cmocka_unit_test(fixes_of_stable),
		cmocka_unit_test(releases),
		cmocka_unit_test(modifiers),	 cmocka_unit_test(every_pair),
		cmocka_unit_test(with_and_without), cmocka_unit_test(prerequisites),
		cmocka_unit_test(texts),	 cmocka_unit_test(definitions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
