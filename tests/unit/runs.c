// SPDX-License-Identifier: MIT
/* The map of runs against a plain array: every operation, many positions. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "base/runs.h"

#define KEYS 4096u

static u64 seed;

static u32 rnd(u32 n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (u32)(seed % n);
}

static void same(const struct ffs_runs *m, const u32 *model)
{
	struct ffs_runs_pos pos;
	const struct ffs_run *r, *found;
	u64 k = 0, nr = 0;

	for (r = ffs_runs_at(m, 0, &pos); r; r = ffs_runs_next(m, &pos), nr++) {
		assert_true(r->first < r->end);
		for (; k < r->first; k++)
			assert_int_equal(model[k], 0);
		for (; k < r->end; k++)
			assert_int_equal(model[k], r->a);
	}
	for (; k < KEYS; k++)
		assert_int_equal(model[k], 0);
	assert_int_equal(nr, m->nr);
	for (k = 0; k < KEYS; k += 37) {
		found = ffs_runs_find(m, k);
		assert_int_equal(found ? found->a : 0, model[k]);
	}
}

static void against_array(void **state)
{
	struct ffs_runs m = { 0 }, copy = { 0 };
	static u32 model[KEYS];
	u32 i;

	(void)state;
	seed = 1;
	memset(model, 0, sizeof(model));
	for (i = 0; i < 20000; i++) {
		u32 first = rnd(KEYS), len = 1 + rnd(rnd(8) ? 4 : 300), k;
		u32 end = first + len < KEYS ? first + len : KEYS, value = rnd(4);

		if (value)
			ffs_runs_set(&m, first, end, value, 0);
		else
			ffs_runs_clear(&m, first, end);
		for (k = first; k < end; k++)
			model[k] = value;
		if (!(i % 97))
			same(&m, model);
	}
	ffs_runs_copy(&copy, &m);
	same(&copy, model);
	ffs_runs_free(&copy);
	ffs_runs_free(&m);
}

static void neighbours_merge(void **state)
{
	struct ffs_runs m = { 0 };
	const struct ffs_run *r;

	(void)state;
	ffs_runs_set(&m, 0, 10, 7, 1);
	ffs_runs_set(&m, 20, 30, 7, 1);
	assert_int_equal(m.nr, 2);
	ffs_runs_set(&m, 10, 20, 7, 1);
	assert_int_equal(m.nr, 1);
	r = ffs_runs_find(&m, 15);
	assert_int_equal(r->first, 0);
	assert_int_equal(r->end, 30);
	/* another value in the middle: three runs, the value of the sides unchanged */
	ffs_runs_set(&m, 12, 13, 8, 1);
	assert_int_equal(m.nr, 3);
	assert_int_equal(ffs_runs_find(&m, 29)->a, 7);
	ffs_runs_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(against_array),
		cmocka_unit_test(neighbours_merge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
