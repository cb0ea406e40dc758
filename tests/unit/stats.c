// SPDX-License-Identifier: MIT
/* Statistics of runs, and the recorder: numbers and lines by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "out/expand.h"
#include "out/recorder.h"
#include "out/stats.h"

#define S(s) ((uint64_t)(uintptr_t)(s))

#define EVENT(s, name, ...)                                                                        \
	do {                                                                                       \
		const uint64_t args_[] = { __VA_ARGS__ };                                          \
		struct foliofs_event ev_ = { .id = FOLIOFS_EV_##name, .op = op,                    \
					     .nargs = sizeof(args_) / sizeof(args_[0]) };          \
		memcpy(ev_.arg, args_, sizeof(args_));                                             \
		stats_event(s, &ev_);                                                              \
	} while (0)

/* Writeback of a folio in two handles and the end of its I/O. */
static void handles(void **state)
{
	struct stats *s = malloc(sizeof(*s));
	uint32_t op = 3;

	(void)state;
	stats_init(s);
	EVENT(s, ext4_journal_start_inode, 42, 41, 8, FOLIOFS_HT_WRITE_PAGE, 12,
	      S("ext4_do_writepages"));
	EVENT(s, jbd2_handle_start, 7, FOLIOFS_HT_WRITE_PAGE, 0, 43);
	/* a nested start is answered by no handle */
	EVENT(s, ext4_journal_start_inode, 2, 0, 8, FOLIOFS_HT_INODE, 12, S("ext4_dirty_inode"));
	EVENT(s, jbd2_handle_extend, 7, FOLIOFS_HT_WRITE_PAGE, 0, 1, 250);
	EVENT(s, jbd2_handle_stats, 7, FOLIOFS_HT_WRITE_PAGE, 0, 0, 0, 293, 252);
	op = 4;
	EVENT(s, ext4_journal_start_inode, 42, 41, 8, FOLIOFS_HT_WRITE_PAGE, 12,
	      S("ext4_do_writepages"));
	EVENT(s, jbd2_handle_start, 8, FOLIOFS_HT_WRITE_PAGE, 0, 43);
	EVENT(s, jbd2_handle_stats, 8, FOLIOFS_HT_WRITE_PAGE, 0, 0, 0, 43, 13);
	EVENT(s, ext4_journal_start_reserved, 41, S("ext4_convert_unwritten_io_end_vec"));
	EVENT(s, jbd2_handle_start, 8, FOLIOFS_HT_EXT_CONVERT, 0, 41);
	EVENT(s, jbd2_handle_stats, 8, FOLIOFS_HT_EXT_CONVERT, 0, 0, 0, 41, (uint64_t)-1);
	EVENT(s, jbd2_run_stats, 8, 2, 60, 64);

	assert_int_equal(s->all.handles, 3);
	assert_int_equal(s->type[FOLIOFS_HT_WRITE_PAGE].handles, 2);
	assert_int_equal(s->type[FOLIOFS_HT_WRITE_PAGE].asked, 86);
	assert_int_equal(s->type[FOLIOFS_HT_WRITE_PAGE].extended, 250);
	assert_int_equal(s->type[FOLIOFS_HT_WRITE_PAGE].extends, 1);
	assert_int_equal(s->type[FOLIOFS_HT_WRITE_PAGE].rsv, 82);
	assert_int_equal(s->type[FOLIOFS_HT_WRITE_PAGE].dirtied, 265);
	assert_int_equal(s->type[FOLIOFS_HT_WRITE_PAGE].asked_max, 293);
	assert_int_equal(s->type[FOLIOFS_HT_WRITE_PAGE].dirtied_max, 252);
	assert_true(stats_tightness(&s->type[FOLIOFS_HT_WRITE_PAGE]) == 265.0 / 336.0);
	/* a handle that gave credits back dirtied nothing */
	assert_int_equal(s->type[FOLIOFS_HT_EXT_CONVERT].dirtied, 0);
	assert_int_equal(s->type[FOLIOFS_HT_EXT_CONVERT].rsv, 0);
	assert_int_equal(s->nr_callers, 2);
	assert_string_equal(s->caller[0].name, "ext4_do_writepages");
	assert_int_equal(s->caller[0].handles, 2);
	assert_int_equal(s->caller[0].asked, 43);
	assert_int_equal(s->caller[0].extended, 250);
	assert_int_equal(s->caller[0].op, 3);
	assert_int_equal(s->transactions, 1);
	assert_int_equal(s->t_blocks_max, 60);
	assert_int_equal(s->t_logged_max, 64);
	free(s);
}

static void folios_and_blocks(void **state)
{
	struct stats *s = malloc(sizeof(*s));
	uint32_t op = 1;

	(void)state;
	stats_init(s);
	EVENT(s, mm_filemap_add_to_page_cache, 12, 0, 9);
	EVENT(s, mm_filemap_add_to_page_cache, 12, 2097152, 0);
	EVENT(s, mm_filemap_add_to_page_cache, 1, 0, 0); /* the buddy cache is no file */
	EVENT(s, mm_filemap_delete_from_page_cache, 12, 0, 9);
	EVENT(s, ext4_ext_map_blocks_exit, 12, 0x42f, 0, 8705, 7, 7, 7);
	EVENT(s, ext4_ext_map_blocks_exit, 12, 0x42f, 7, 8720, 8, 7, 8);
	EVENT(s, ext4_ext_map_blocks_exit, 12, 0, 0, 0, 9, 0, 0); /* a hole, nothing created */
	EVENT(s, ext4_ext_map_blocks_exit, 12, 0xc13, 0, 8705, 7, 2, 7); /* end of I/O */
	EVENT(s, ext4_allocate_blocks, 12, 0x19, 7, 8705, 0, 8705, 0, 0, 0, 0);
	EVENT(s, ext4_free_blocks, 12, 0100644, 8705, 7, 4);
	EVENT(s, foliofs_start_refused, FOLIOFS_HT_WRITE_PAGE, 2293, 41, 334, (uint64_t)-28);
	EVENT(s, foliofs_rule, S("credit-refused"), 12, S("asked 2334 of 334"));
	EVENT(s, foliofs_rule, S("credit-refused"), 12, S("again"));
	assert_int_equal(s->order[9], 1);
	assert_int_equal(s->order[0], 1);
	assert_int_equal(s->order_step[1][9], 1);
	assert_int_equal(s->deleted, 1);
	assert_int_equal(s->extents_mapped, 2);
	assert_int_equal(s->blocks_mapped, 15);
	assert_int_equal(s->extent_hist[2], 1); /* 4 to 7 */
	assert_int_equal(s->extent_hist[3], 1); /* 8 to 15 */
	assert_int_equal(s->pieces, 1);
	assert_int_equal(s->piece_blocks, 7);
	assert_int_equal(s->freed_blocks, 7);
	assert_int_equal(s->type[FOLIOFS_HT_WRITE_PAGE].refused, 1);
	assert_int_equal(s->broken, 2);
	assert_int_equal(s->nr_rules, 1);
	assert_int_equal(s->rule[0].count, 2);
	assert_string_equal(s->rule[0].text, "asked 2334 of 334");
	free(s);
}

/* Steps get wider and lose nothing. */
static void long_runs(void **state)
{
	struct stats *s = malloc(sizeof(*s));
	uint64_t handles = 0, i;
	uint32_t op;

	(void)state;
	stats_init(s);
	for (op = 1; op <= 5000; op++) {
		EVENT(s, jbd2_handle_start, 1, FOLIOFS_HT_INODE, 0, 3);
		EVENT(s, jbd2_handle_stats, 1, FOLIOFS_HT_INODE, 0, 0, 0, op == 77 ? 99 : 3, 1);
		EVENT(s, mm_filemap_add_to_page_cache, 12, 0, 2);
	}
	/* 5000 handles in 512 steps: 16 each */
	assert_int_equal(s->step_width, 16);
	assert_int_equal(s->order_width, 16);
	for (i = 0; i < STATS_STEPS; i++)
		handles += s->step[i].n;
	assert_int_equal(handles, 5000);
	assert_int_equal(s->step[0].n, 16);
	assert_int_equal(s->step[312].n, 8);
	assert_int_equal(s->step[4].asked_max, 99); /* handle 76, counted from 0 */
	assert_int_equal(s->step[5].asked_max, 3);
	assert_int_equal(s->order_step[0][2], 15); /* operations begin with 1 */
	assert_int_equal(s->order_step[312][2], 9);
	assert_int_equal(s->ops, 5000);
	free(s);
}

static void recorded(void **state)
{
	(void)state;
	static char name1[] = "ext4_da_write_begin", name2[] = "ext4_journal_start";
	char *const only[] = { name1, name2 };
	struct recorder_options opt = { .dev = "7,40", .only = only, .nr_only = 2 };
	struct foliofs_event ev = { .id = FOLIOFS_EV_ext4_da_write_begin, .nargs = 3,
				    .time_ns = 1012345678, .arg = { 12, 4096, 100 } };
	struct foliofs_kernel k;
	struct recorder *r;
	char *text, err[120];
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(foliofs_kernel_parse("6.1.192", &k, err, sizeof(err)), 0);
	r = recorder_new(out, &k, &opt);
	assert_true(recorder_wants(r, FOLIOFS_EV_ext4_journal_start_sb)); /* named so in 6.1 */
	assert_false(recorder_wants(r, FOLIOFS_EV_jbd2_handle_start));
	assert_false(recorder_wants(r, FOLIOFS_EV_foliofs_rule));
	recorder_op(r, 2, "write a 4096 100", 1012000000);
	recorder_sink(r)->event(recorder_sink(r)->priv, &ev);
	ev = (struct foliofs_event){ .id = FOLIOFS_EV_ext4_journal_start_sb, .nargs = 5,
				     .thread = FOLIOFS_THREAD_FLUSHER, .time_ns = 123456000001000,
				     .arg = { 1, 0, 8, 0, S("ext4_file_open") } };
	recorder_sink(r)->event(recorder_sink(r)->priv, &ev);
	assert_int_equal(recorder_end(r, 123456000002000), 0);
	fclose(out);
	assert_int_equal(strncmp(text,
				 "# tracer: nop\n#\n"
				 "# entries-in-buffer/entries-written: 4/4   #P:1",
				 63), 0);
	assert_non_null(strstr(text, "\n"
		"           oprun-1000    [000] ...1.     1.012000: tracing_mark_write: foliosim "
		"op 2 "
		"write a 4096 100\n"
		"           oprun-1000    [000] .....     1.012345: ext4_da_write_begin: dev 7,40 "
		"ino 12 pos 4096 len 100\n"
		"    kworker/u8:1-1003    [000] ..... 123456.000001: ext4_journal_start: dev 7,40 "
		"blocks 1, rsv_blocks 0, revoke_creds 8, caller ext4_file_open\n"
		"           oprun-1000    [000] ...1. 123456.000002: tracing_mark_write: foliosim "
		"end\n"));
	recorder_free(r);
	free(text);
}

static char expanded[1024];

static void on_expanded(void *priv, const struct foliofs_event *ev)
{
	size_t n = strlen(expanded);

	(void)priv;
	snprintf(expanded + n, sizeof(expanded) - n, "%s ",
		 ev->id == FOLIOFS_EV_ext4_da_reserve_space ? "r" : "i");
	n = strlen(expanded);
	if (ev->id == FOLIOFS_EV_ext4_da_reserve_space)
		snprintf(expanded + n, sizeof(expanded) - n, "%d/%d ", (int)ev->arg[3],
			 (int)ev->arg[4]);
	else
		snprintf(expanded + n, sizeof(expanded) - n, "%d/%d:%d ", (int)ev->arg[1],
			 (int)ev->arg[2], (int)ev->arg[5]);
}

/* A reservation of @blocks (0: none), @all of the inode then, and the range behind it. */
static void check_expanded(uint32_t ratio, uint32_t blocks, uint32_t all, uint32_t lblk,
			   uint32_t len, bool first, bool last, const char *expected)
{
	struct expand x = { .event = on_expanded, .cluster_ratio = ratio };
	struct foliofs_event ev = { .id = FOLIOFS_EV_ext4_da_reserve_space, .nargs = 5,
				    .arg = { 12, 0100644, 0, blocks, all } };

	expanded[0] = 0;
	if (blocks)
		expand_event(&x, &ev);
	ev = (struct foliofs_event){ .id = FOLIOFS_EV_ext4_es_insert_delayed_extent, .nargs = 7,
				     .arg = { 12, lblk, len, 0, 4, first, last } };
	if (len)
		expand_event(&x, &ev);
	expand_flush(&x);
	assert_string_equal(expanded, expected);
}

static void delayed_ranges(void **state)
{
	(void)state;
	/* append-small-1k, op 8: three blocks */
	check_expanded(1, 3, 5, 4, 3, 0, 0, "r 1/3 i 4/1:0 r 1/4 i 5/1:0 r 1/5 i 6/1:0 ");
	check_expanded(1, 1, 1, 4, 1, 0, 0, "r 1/1 i 4/1:0 ");
	check_expanded(0, 3, 5, 4, 3, 0, 0, "r 3/5 i 4/3:0 ");
	check_expanded(1, 2, 2, 0, 0, 0, 0, "r 1/1 r 1/2 ");
	/* bigalloc-16k: blocks 24 and on, clusters of 4: 24 begins one, 28 the next */
	check_expanded(4, 2, 3, 24, 6, 0, 0,
		       "r 1/2 i 24/1:0 i 25/1:0 i 26/1:0 i 27/1:0 r 1/3 i 28/1:0 i 29/1:0 ");
	/* the first cluster is delayed already */
	check_expanded(4, 1, 2, 3, 2, 0, 0, "i 3/1:0 r 1/2 i 4/1:0 ");
	/* and here it is allocated */
	check_expanded(4, 1, 1, 3, 2, 1, 0, "i 3/1:1 r 1/1 i 4/1:0 ");
	/* the last one is */
	check_expanded(4, 1, 1, 4, 5, 0, 1, "r 1/1 i 4/1:0 i 5/1:0 i 6/1:0 i 7/1:0 i 8/1:1 ");
	/* inside one cluster that is delayed */
	check_expanded(4, 0, 0, 1, 2, 0, 0, "i 1/1:0 i 2/1:0 ");
}

/* Requests: what goes on in the file and on disk belongs to the one before. */
static void requests(void **state)
{
	struct stats *s = malloc(sizeof(*s));
	uint32_t op = 1;

	(void)state;
	stats_init(s);
	EVENT(s, foliofs_bio, 12, 1, 1000, 16, 0);
	EVENT(s, foliofs_bio, 12, 1, 1016, 16, 65536);
	EVENT(s, foliofs_bio, 12, 1, 2000, 4, 131072); /* elsewhere on disk */
	EVENT(s, foliofs_bio, 13, 1, 2004, 4, 0); /* of another file, in front of it */
	EVENT(s, foliofs_bio, 12, 0, 1000, 16, 0);
	assert_int_equal(s->io[1].bios, 3);
	assert_int_equal(s->io[1].blocks, 40);
	assert_int_equal(s->io[0].bios, 1);
	assert_int_equal(s->io[0].blocks, 16);
	assert_int_equal(s->events, 0);
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(handles),
		cmocka_unit_test(requests),
		cmocka_unit_test(folios_and_blocks),
		cmocka_unit_test(long_runs),
		cmocka_unit_test(recorded),
		cmocka_unit_test(delayed_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
