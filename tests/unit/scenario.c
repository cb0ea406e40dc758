// SPDX-License-Identifier: MIT
/*
 * The scenario parser: what a file becomes, and where errors are said to be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario/output.h"
#include "scenario/scenario.h"

#define HEAD "why: a test\nsource: none\nkernel: v6.18\nmkfs: size=64M -b 1024\n"

static struct scenario *load(const char *text)
{
	struct place_error err;
	struct scenario *s;

	if (scenario_load_text("t.yaml", text, strlen(text), &s, &err))
		fail_msg("%s", err.text);
	return s;
}

static void refused(const char *text, const char *message)
{
	struct place_error err;
	struct scenario *s;

	assert_int_equal(scenario_load_text("t.yaml", text, strlen(text), &s, &err), -EINVAL);
	assert_null(s);
	if (!strstr(err.text, message))
		fail_msg("expected \"%s\" in \"%s\"", message, err.text);
}

static void test_setup(void **state __attribute__((unused)))
{
	struct scenario *s = load("why: a test\nfixed_by: somebody\nkernel: [v6.16+one-extent, v6.18]\n"
				  "mkfs: size=1G -b 4096\nmount: nodelalloc\npage_size: 64k\n"
				  "alloc: worst\nread_ahead_kb: 256\nwithout: order-cap\n"
				  "files: {d: directory, d/f: 3K}\nfree_space: one block per group\n");

	assert_string_equal(s->why, "a test");
	assert_string_equal(s->fixed_by, "somebody");
	assert_null(s->source);
	assert_int_equal(s->setup.nr_kernels, 2);
	assert_string_equal(s->setup.kernel[0]->text, "v6.16+one-extent");
	assert_string_equal(s->setup.mkfs, "size=1G -b 4096");
	assert_string_equal(s->setup.mount, "nodelalloc");
	assert_int_equal(s->setup.page_size, 65536);
	assert_int_equal(s->setup.alloc, FOLIOFS_ALLOC_WORST);
	assert_true(s->setup.has_read_ahead);
	assert_int_equal(s->setup.read_ahead_kb, 256);
	assert_int_equal(s->setup.nr_without, 1);
	assert_true(s->files->dir);
	assert_string_equal(s->files->next->path, "d/f");
	assert_int_equal(s->files->next->size, 3072);
	assert_true(s->free_space->pattern.per_group);
	assert_int_equal(s->free_space->pattern.first, -1);
	assert_int_equal(s->free_space->pattern.len, 1);
	scenario_free(s);
}

static void test_ops(void **state __attribute__((unused)))
{
	struct scenario *s = load(HEAD
		"prepare:\n- open f\n- write f 0 1K\n"
		"ops:\n- open a\n- for i 0 3 1: write a {i*4096} 4K\n"
		"- {op: fsync a, error: EIO}\n- {op: read a 0 9, result: 5..9}\n");

	assert_int_equal(s->prepare.last_id, 16002);
	assert_int_equal(s->ops.last_id, 6);
	assert_int_equal(s->ops.nr_lines, 4);
	assert_int_equal(s->ops.line[1].first, 2);
	assert_int_equal(s->ops.line[1].last, 4);
	assert_string_equal(scenario_op_text(s, 3), "write a 4096 4K");
	assert_string_equal(scenario_op_text(s, 99), "");
	assert_true(s->ops.line[2].result->error);
	assert_int_equal(s->ops.line[2].result->errno_value, EIO);
	assert_int_equal(s->ops.line[3].result->number.lo, 5);
	assert_int_equal(s->ops.line[3].result->number.hi, 9);
	assert_int_equal(scenario_op(s, s->ops.first)->kind, FOLIOFS_OP_OPEN);
	assert_int_equal(scenario_op(s, s->ops.first)->id, 1);
	/* what prepare left open is closed before */
	assert_int_equal(scenario_op(s, s->prepare.end - 1)->kind, FOLIOFS_OP_CLOSE);
	scenario_free(s);
}

static void test_expectations(void **state __attribute__((unused)))
{
	struct scenario *s = load(HEAD
		"ops: [open a, write a 0 1K, crash c]\n"
		"expect:\n"
		"  events:\n"
		"  - {event: jbd2_handle_stats type=2 thread=task, op: [1, 2], count: 2..,\n"
		"     values: {requested_blocks: [42, 288..289, '*']}}\n"
		"  sequences: [{exact: yes, events: [ext4_da_write_begin pos=0, ext4_da_write_end]}]\n"
		"  states:\n"
		"    a: {size: 2M, content: [[0, 100, 2], [100, 24, zero], [124, 4, 2, 8]]}\n"
		"    b: missing\n"
		"  crash: {c: {a: {size: 0}}}\n"
		"  credits: {inode: {depth: 1}, writeback: [41, 41], move-extents 4: 100}\n"
		"  verdicts: {truncate: refused}\n"
		"  rules: [credit-dry]\n"
		"  v6.18: {errors: {2: ENOSPC}}\n");
	const struct expect *e = &s->expect.all;
	const struct expect_event *x = e->events;

	assert_int_equal(x->match.id, FOLIOFS_EV_jbd2_handle_stats);
	assert_int_equal(x->match.thread, FOLIOFS_THREAD_TASK);
	assert_int_equal(x->match.nr, 1);
	assert_int_equal(x->match.field[0].want.lo, 2);
	assert_int_equal(x->ops.first, 1);
	assert_int_equal(x->ops.last, 2);
	assert_true(want_holds(&x->count, 2));
	assert_false(want_holds(&x->count, 1));
	assert_int_equal(x->values[0].list.nr, 3);
	assert_true(want_holds(&x->values[0].list.want[1], 289));
	assert_false(want_holds(&x->values[0].list.want[1], 290));
	assert_true(want_holds(&x->values[0].list.want[2], -1));
	assert_true(e->sequences->exact);
	assert_int_equal(e->sequences->nr, 2);
	assert_string_equal(e->states->path, "a");
	assert_int_equal(e->states->number[0].want.lo, 2097152);
	assert_int_equal(e->states->nr_content, 3);
	assert_int_equal(e->states->content[1].kind, FOLIOFS_SOURCE_ZERO);
	assert_true(e->states->content[2].moved);
	assert_int_equal(e->states->content[2].source_offset, 8);
	assert_true(e->states->next->missing);
	assert_string_equal(e->crashes->name, "c");
	assert_int_equal(e->inode.depth, 1);
	assert_int_equal(e->inode.indirect, -1);
	assert_int_equal(e->rules[FOLIOFS_RULE_CREDIT_DRY], 1);
	assert_int_equal(e->rules[FOLIOFS_RULE_LIVELOCK], 0);
	assert_string_equal(s->expect.kernels->kernel, "v6.18");
	assert_int_equal(s->expect.kernels->expect.results->errno_value, ENOSPC);
	scenario_free(s);
}

static void test_marks(void **state __attribute__((unused)))
{
	refused("", "t.yaml:1:1: expected a scenario, got an empty file");
	refused("- a\n", "t.yaml:1:1: expected a map: a scenario, got a list");
	refused("source: x\n", "t.yaml:1:1: expected a key why, got none");
	refused("why: x\nkernel: v6.18\nmkfs: size=64M\n", "expected a key source or fixed_by");
	refused(HEAD "colour: red\n", "t.yaml:5:1: expected why, source,");
	refused(HEAD "why: again\n", "t.yaml:5:1: expected each key once, got \"why\" again (first in "
				     "line 1)");
	refused("why: &a x\n", "t.yaml:1:6: expected a plain value, got an anchor or a tag");
	refused("why: [x\n", "t.yaml:2:1: expected YAML, got an error: ");
	refused(HEAD "---\nwhy: x\n", "expected one document, got another one");
	refused("why: x\nsource: y\nkernel: v9.99\nmkfs: size=64M\n",
		"t.yaml:3:9: expected a kernel, got \"v9.99\"");
	refused(HEAD "without: [one-extent, two]\n",
		"t.yaml:5:23: expected the name of a change (`foliosim kernels' lists them), got \"two\"");
	refused(HEAD "page_size: 8k\n", "t.yaml:5:12: expected 4k, 16k or 64k, got \"8k\"");
	refused(HEAD "mount: data=fast\n", "t.yaml:5:8: expected mount options, got \"data=fast\": ");
	refused(HEAD "ops:\n- opne a\n", "t.yaml:6:3: expected an operation, got \"opne\"");
	refused(HEAD "ops:\n- write a 0 1K\n", "t.yaml:6:9: expected ");
	refused(HEAD "ops:\n- open a\n- {op: fsync a, error: EWHAT}\n",
		"t.yaml:7:24: expected the name of an error (ENOSPC ...) or any, got \"EWHAT\"");
}

static void test_expectation_marks(void **state __attribute__((unused)))
{
#define OPS HEAD "ops: [open a]\nexpect:\n"
	refused(OPS "  event: []\n", "t.yaml:7:3: expected events, sequences,");
	refused(OPS "  v6.16: {}\n", "t.yaml:7:3: expected events, sequences,");
	refused(OPS "  events: [jbd2_handle_go]\n",
		"t.yaml:7:12: expected the name of an event, got \"jbd2_handle_go\"");
	refused(OPS "  events: [jbd2_handle_start typ=2]\n",
		"expected a field of jbd2_handle_start (tid type line_no requested_blocks), "
		"got \"typ\"");
	refused(OPS "  events: [jbd2_handle_start type=2x]\n",
		"expected a number, a range FIRST..LAST or *, got \"2x\"");
	refused(OPS "  events: [{event: ext4_sync_fs, op: 2}]\n",
		"t.yaml:7:38: expected an operation from 1 to 1, got \"2\"");
	refused(OPS "  states: {a: {length: 3}}\n", "t.yaml:7:16: expected size, disksize,");
	refused(OPS "  states: {a: {content: [[0, 4, 1], [5, 4, 1]]}}\n",
		"t.yaml:7:37: expected a run from 4 on, got one from 5");
	refused(OPS "  crash: {x: {}}\n", "t.yaml:7:11: expected the name of an operation crash");
	refused(OPS "  rules: [I9]\n", "t.yaml:7:11: expected the name of a rule, got \"I9\"");
	refused(OPS "  credits: {wirteback: 4}\n",
		"t.yaml:7:13: expected an operation of `foliosim credits', or inode");
	refused(OPS "  limits: {max: 4}\n", "t.yaml:7:12: expected length, fast_commit,");
#undef OPS
}

/* Cases without operations need no file system: limits of a journal of 1024 blocks of 1K. */
static void test_cases(void **state __attribute__((unused)))
{
	struct scenario *s = load("why: a test\nsource: none\nkernel: [v6.1, v6.18]\n"
				  "mkfs: size=64M -b 1024 -J size=1\n"
				  "expect:\n"
				  "  limits: {max_transaction: 341}\n"
				  "variants:\n"
				  "- {name: old, kernel: v6.1, expect: {limits: {max_transaction: 256}}}\n");
	struct run_options o = { 0 };
	struct case_result *r = NULL, **tail = &r;
	struct place_error err;
	unsigned int cases, failed;
	char *again;

	assert_int_equal(scenario_run(s, &o, &tail, &err), 0);
	output_count(r, &cases, &failed);
	assert_int_equal(cases, 3);
	assert_int_equal(failed, 1);
	assert_string_equal(r->name, "t [v6.1]");
	assert_int_equal(r->nr_failures, 1);
	assert_string_equal(r->failures->expected, "limit max_transaction: 341");
	assert_string_equal(r->failures->got, "256");
	assert_int_equal(r->failures->line, 6);
	assert_int_equal(r->failures->col, 29);
	again = output_again(r);
	assert_string_equal(again, "foliosim run --verbose --only '[v6.1]' t.yaml");
	free(again);
	assert_string_equal(r->next->name, "t [v6.18]");
	assert_string_equal(r->next->next->name, "t [v6.1, old]");
	case_results_free(r);

	/* another kernel by option, one case by its name */
	r = NULL;
	tail = &r;
	o.kernel = "6.12.117";
	o.only = "117]";
	assert_int_equal(scenario_run(s, &o, &tail, &err), 0);
	output_count(r, &cases, &failed);
	assert_int_equal(cases, 1);
	assert_int_equal(failed, 0);
	case_results_free(r);

	r = NULL;
	tail = &r;
	o.kernel = "v0";
	assert_int_equal(scenario_run(s, &o, &tail, &err), -EINVAL);
	assert_non_null(strstr(err.text, "expected a kernel, got \"v0\""));
	case_results_free(r);
	scenario_free(s);
}

static void test_outputs(void **state __attribute__((unused)))
{
	struct scenario *s = load("why: <a> & \"b\"\nsource: none\nkernel: v6.18\nmkfs: size=64M\n"
				  "expect: {limits: {overhead: 1}}\n");
	struct run_options o = { 0 };
	struct case_result *r = NULL, **tail = &r;
	struct place_error err;
	char *text;
	size_t len;
	FILE *f;

	assert_int_equal(scenario_run(s, &o, &tail, &err), 0);
	f = open_memstream(&text, &len);
	output_tap(f, r);
	fclose(f);
	assert_non_null(strstr(text, "TAP version 14\n1..1\nnot ok 1 - t [v6.18]\n  ---\n"));
	assert_non_null(strstr(text, "at: \"t.yaml:5:29\"\n"));
	free(text);
	f = open_memstream(&text, &len);
	output_junit(f, r);
	fclose(f);
	assert_non_null(strstr(text, "tests=\"1\" failures=\"1\">"));
	assert_non_null(strstr(text, "<failure message=\"expected limit overhead: 1\">"));
	free(text);
	f = open_memstream(&text, &len);
	assert_int_equal(output_json(f, r), 0);
	fclose(f);
	assert_non_null(strstr(text, "\"why\":\"<a> & \\\"b\\\"\""));
	assert_non_null(strstr(text, "\"failed\":1"));
	free(text);
	f = open_memstream(&text, &len);
	output_verdict(f, r, 1);
	fclose(f);
	assert_non_null(strstr(text, "1 scenarios, 1 cases: 0 passed, 1 failed\n"));
	free(text);
	case_results_free(r);
	scenario_free(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_setup),
		cmocka_unit_test(test_ops),
		cmocka_unit_test(test_expectations),
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_expectation_marks),
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_outputs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
