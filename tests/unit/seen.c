// SPDX-License-Identifier: MIT
/*
 * Content as it is told from the bytes: sim/out/seen.c.  The expected runs are what the reader of
 * tools/capture_state.py makes of files with these bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "out/seen.h"

static struct foliofs_content op(uint64_t at, uint64_t len, uint32_t source, uint64_t from)
{
	return (struct foliofs_content){ .offset = at, .len = len, .kind = FOLIOFS_SOURCE_OP,
					 .source = source, .source_offset = from };
}

static struct foliofs_content zero(uint64_t at, uint64_t len)
{
	return (struct foliofs_content){ .offset = at, .len = len, .kind = FOLIOFS_SOURCE_ZERO };
}

static struct foliofs_content raw(uint64_t at, uint64_t len, uint8_t byte)
{
	return (struct foliofs_content){ .offset = at, .len = len, .kind = FOLIOFS_SOURCE_UNKNOWN,
					 .source = SEEN_RAW + byte };
}

static void look(const struct seen *s, const struct foliofs_content *in, size_t nr_in,
		 const struct foliofs_content *want, size_t nr_want)
{
	struct file_state f = { 0 };
	struct file_states all = { .v = &f, .nr = 1 };
	size_t i;

	for (i = 0; i < nr_in; i++)
		file_state_add(&f, &in[i]);
	seen_files(s, &all);
	assert_int_equal(f.nr_content, nr_want);
	for (i = 0; i < nr_want; i++) {
		assert_int_equal(f.content[i].offset, want[i].offset);
		assert_int_equal(f.content[i].len, want[i].len);
		assert_int_equal(f.content[i].kind, want[i].kind);
		assert_int_equal(f.content[i].source, want[i].source);
		assert_int_equal(f.content[i].source_offset, want[i].source_offset);
	}
	free(f.content);
}

#define LOOK(s, in, want)                                                                          \
	look(s, in, sizeof(in) / sizeof((in)[0]), want, sizeof(want) / sizeof((want)[0]))

/* Words of two operations: both are told apart by what stands beside. */
static void straddle(void **state)
{
	const struct foliofs_content in[] = { op(0, 13, 1, 0), op(13, 14, 2, 13), op(27, 13, 1, 27) };
	struct seen *s = seen_new();

	(void)state;
	seen_op(s, 1, "write a 0 4096");
	seen_op(s, 2, "write a 13 100");
	seen_op(s, 3, "append a 50");
	LOOK(s, in, in);
	seen_free(s);
}

/* Every suffix that op lists have. */
static void far(void **state)
{
	const uint64_t tera = 1ull << 40;
	const struct foliofs_content in[] = { zero(0, tera), op(tera, 16, 1, tera) };
	struct seen *s = seen_new();

	(void)state;
	seen_op(s, 1, "write a 1T 16");
	LOOK(s, in, in);
	seen_free(s);
}

/* By a multiple of 8 the words stay words, and tell where they were written. */
static void moved(void **state)
{
	const struct foliofs_content in[] = { zero(0, 8), op(8, 19, 14, 0) };
	struct seen *s = seen_new();

	(void)state;
	seen_op(s, 14, "write a 0 4096");
	LOOK(s, in, in);
	seen_free(s);
}

/* By three bytes they do not: some bytes look like those that belong there. */
static void moved_by_three(void **state)
{
	const struct foliofs_content in[] = { zero(0, 3), op(3, 20, 14, 0) };
	const struct foliofs_content want[] = {
		zero(0, 3), raw(3, 1, 0x8e), op(4, 3, 14, 4), raw(7, 2, 0x86), op(9, 1, 14, 9),
		raw(10, 1, 0xe3), raw(11, 1, 0x8e), op(12, 1, 14, 12), raw(13, 1, 0x87),
		op(14, 1, 14, 14), raw(15, 2, 0x86), op(17, 1, 14, 17), raw(18, 1, 0xe4),
		raw(19, 1, 0x8e), op(20, 1, 14, 20), raw(21, 1, 0x84), op(22, 1, 14, 22),
	};
	struct seen *s = seen_new();

	(void)state;
	seen_op(s, 14, "write a 0 4K");
	LOOK(s, in, want);
	seen_free(s);
}

/* A single byte does not tell where it was. */
static void one_byte(void **state)
{
	const struct foliofs_content in[] = { op(0, 21, 7, 0), op(21, 1, 17, 1021), op(22, 42, 7, 22) };
	const struct foliofs_content want[] = { op(0, 21, 7, 0), op(21, 1, 17, 21), op(22, 42, 7, 22) };
	struct seen *s = seen_new();

	(void)state;
	seen_op(s, 7, "write a 0 64");
	seen_op(s, 17, "write b 0 4096");
	LOOK(s, in, want);
	seen_free(s);
}

/* The end of a moved piece is found through the collapse that moved it, unless that failed. */
static void collapsed(void **state)
{
	const struct foliofs_content in[] = { zero(0, 4096), op(4096, 3, 5, 8192), zero(4099, 97) };
	const struct foliofs_content failed[] = { zero(0, 4096), raw(4096, 1, 0x85),
						  raw(4097, 2, 0xb9), zero(4099, 97) };
	struct seen *s = seen_new();

	(void)state;
	seen_op(s, 5, "write a 8192 8192");
	seen_op(s, 6, "fallocate a collapse 0 4096");
	LOOK(s, in, in);
	seen_failed(s, 6);
	LOOK(s, in, failed);
	seen_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(straddle), cmocka_unit_test(far), cmocka_unit_test(moved),
		cmocka_unit_test(moved_by_three), cmocka_unit_test(one_byte),
		cmocka_unit_test(collapsed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
