/* SPDX-License-Identifier: MIT */
/*
 * Scenarios: a corner case with what must come out of it, see foliofs-scenario(5).
 *
 *	scenario_load()		a YAML file, checked completely before anything runs
 *	scenario_run()		each of its cases: a kernel, or a variant under a kernel
 *	verdict_*, tap_* ...	what to say about the results
 *
 * A case is a run of the operations under one kernel.  An expectation that does
 * not hold is a failure: operation, place in the file, expected, got.
 */
#ifndef SCENARIO_SCENARIO_H
#define SCENARIO_SCENARIO_H

#include <foliofs/credits.h>
#include <foliofs/event.h>
#include <foliofs/fs.h>
#include <foliofs/mkfs.h>
#include <foliofs/rules.h>

#include "replay/free_space.h"
#include "scenario/tree.h"

/* Numbers of the first operation of ops and of prepare, as in captures. */
#define SCENARIO_FIRST_OP 1u
#define SCENARIO_FIRST_PREPARE 16001u
/* Of the first operation that runs at a stop. */
#define SCENARIO_FIRST_AT 8001u
/* Source of the bytes of files that are simply there. */
#define SCENARIO_OLD_DATA 16000u

struct arena;
struct oplist;

/* What a number or text must be: "41", "288..289", "..40", "*", or a word. */
struct want {
	enum { WANT_ANY, WANT_RANGE, WANT_TEXT } kind;
	int64_t lo, hi; /* both included */
	const char *text;
};

/* "EVENT [field=value]...", thread=NAME among the fields. */
struct event_match {
	const struct node *at;
	const char *text;
	enum foliofs_event_id id;
	int thread; /* enum foliofs_thread, -1: any */
	unsigned int nr;
	struct {
		int field;
		struct want want;
	} field[FOLIOFS_EVENT_ARGS];
};

struct op_range {
	uint32_t first, last; /* both included; first 0: all of ops */
};

struct want_list {
	const struct node *at;
	struct want *want;
	size_t nr;
};

/* How many events match, what their fields are in order, how many between two others. */
struct expect_event {
	struct expect_event *next;
	struct event_match match;
	struct op_range ops;
	bool counted;
	struct want count;
	const struct node *count_at;
	struct {
		int field;
		struct want_list list;
	} values[4];
	unsigned int nr_values;
	bool grouped; /* counts: matches before each event of kind per */
	enum foliofs_event_id per;
	struct want_list counts;
};

/* Events in this order; exact: no other event of the kinds named lies in between. */
struct expect_sequence {
	struct expect_sequence *next;
	const struct node *at;
	struct op_range ops;
	bool exact;
	struct event_match *match;
	size_t nr;
};

/* Names of the numbers of a state; those of tree: are behind state_tree_first. */
extern const char *const state_numbers[];
#define STATE_TREE_FIRST 7

struct expect_run {
	uint64_t off, len; /* bytes */
	enum foliofs_source_kind kind;
	uint32_t source; /* FOLIOFS_SOURCE_OP: the operation */
	bool moved; /* source_offset is given */
	uint64_t source_offset;
};

/* What a file is like. */
struct expect_state {
	struct expect_state *next;
	const struct node *at;
	const char *path;
	bool missing; /* there is no such file */
	struct {
		const char *name;
		const struct node *at;
		struct want want;
	} number[16]; /* size, disksize ...: state_numbers */
	unsigned int nr_numbers;
	const struct node *extents, *folios; /* text forms */
	const struct node *content_at;
	struct expect_run *content;
	size_t nr_content;
	struct {
		uint64_t page;
		const struct node *text;
	} buffers[8]; /* of the folio that holds the page */
	unsigned int nr_buffers;
};

/* Result of an operation: an error by name ("any": some error) or a number. */
struct expect_result {
	struct expect_result *next;
	const struct node *at;
	struct op_range ops;
	bool error;
	const char *name; /* error: its name */
	int errno_value; /* positive; 0: any */
	struct want number;
};

struct expect_credit {
	struct expect_credit *next;
	const struct node *at;
	enum foliofs_credit_op op;
	bool has_len;
	uint32_t len; /* has_len: else that of foliofs_credit_op_len() */
	struct want asked, rsv;
	bool has_rsv;
	bool is_verdict; /* not the numbers but what becomes of the handle */
	int verdict; /* enum foliofs_verdict */
};

/* The inode that the credits are asked for; < 0: as of a new regular file. */
struct expect_inode {
	int depth, order, indirect, journal_flag;
	int default_acl, encrypted_dir; /* of the directory a file is made in */
	int64_t blocks;
};

struct expect_limit {
	struct expect_limit *next;
	const struct node *at;
	const char *name;
	struct want want;
};

/* What jbd2 says to a start of a handle in an empty journal. */
struct expect_start {
	struct expect_start *next;
	const struct node *at;
	uint32_t blocks, revokes, rsv;
	struct want requested;
	bool has_requested;
	int verdict; /* enum foliofs_verdict, -1: nothing said */
};

struct expect_crash {
	struct expect_crash *next;
	const struct node *at;
	const char *name;
	struct expect_state *states;
};

struct expect {
	const struct node *at;
	struct expect_event *events;
	struct expect_sequence *sequences;
	struct expect_state *states;
	struct expect_crash *crashes;
	struct expect_result *results;
	struct expect_credit *credits; /* and verdicts */
	struct expect_inode inode; /* whose credits */
	struct expect_limit *limits;
	struct expect_start *starts;
	const struct node *free_at; /* NULL: nothing said */
	struct want free; /* blocks */
	const struct node *rules_at; /* NULL: nothing said, none must be broken */
	uint8_t rules[FOLIOFS_RULE_COUNT];
	uint8_t injected_rules[FOLIOFS_RULE_COUNT]; /* with --inject: holes that are known */
};

/* Expectations of kernels that the key names. */
struct kernel_expect {
	struct kernel_expect *next;
	const char *kernel;
	struct expect expect;
};

struct expectation {
	struct expect all;
	struct kernel_expect *kernels;
};

/* One line of ops or prepare; a "for" makes several operations. */
struct scenario_line {
	const struct node *at;
	const char *text;
	uint32_t first, last; /* operations */
	struct expect_result *result; /* NULL: must succeed */
	struct expect expect; /* at this point: events of these operations, states behind them */
};

struct scenario_ops {
	size_t first, end; /* of the op list: operations [first, end) */
	uint32_t last_id; /* number of the last one, 0: none */
	struct scenario_line *line;
	size_t nr_lines;
};

/* Operations that run where another comes to a named stop. */
struct scenario_at {
	struct scenario_at *next;
	const struct node *at;
	enum foliofs_stop stop;
	uint32_t nth; /* at its nth time, from 1 */
	uint32_t op; /* only in this operation, which counts for itself; 0: in any */
	unsigned int index; /* among all of them */
	struct scenario_ops ops;
};

/* A failure to be injected. */
struct scenario_inject {
	struct scenario_inject *next;
	const struct node *at;
	enum foliofs_failure what;
	uint32_t nth;
	uint32_t op; /* only in this operation, which counts for itself; 0: from the first on */
};

/* Free space: everything is taken but for these blocks, and those of the others in the list. */
struct free_space {
	struct free_space *next;
	const struct node *at;
	struct free_pattern pattern;
};

struct scenario_file {
	struct scenario_file *next;
	const struct node *at;
	const char *path;
	bool dir;
	uint64_t size;
};

/* What is set up; a variant replaces parts of it. */
struct setup {
	enum foliofs_fs_type fs;
	const char *mkfs, *mount;
	const struct node *mkfs_at, *mount_at;
	uint32_t page_size;
	uint32_t read_ahead_kb, io_opt_pages;
	bool has_read_ahead, has_io_opt;
	enum foliofs_alloc_policy alloc;
	const struct scenario_inject *inject; /* NULL: no failures but those at operations */
	const struct node **kernel; /* texts */
	size_t nr_kernels;
	const struct node **with, **without; /* names of changes */
	size_t nr_with, nr_without;
};

struct variant {
	struct variant *next;
	const struct node *at;
	const char *name, *why;
	struct setup setup;
	struct expectation expect;
};

struct scenario {
	const char *path;
	struct node *root;
	struct arena *arena;
	const char *why, *source, *fixed_by;
	struct setup setup;
	struct free_space *free_space; /* NULL: as mke2fs leaves it */
	struct scenario_file *files;
	struct scenario_ops prepare, ops;
	struct scenario_at *at;
	unsigned int nr_at;
	struct scenario_inject *inject; /* at operations */
	struct oplist *oplist; /* owns the operations of both; NULL: none */
	struct expectation expect;
	struct variant *variants;
};

/*
 * Load @path.  0, or a negative errno with a message "FILE:LINE:COL: ...".
 * Free with scenario_free().
 */
int scenario_load(const char *path, struct scenario **out, struct place_error *err);
int scenario_load_text(const char *path, const char *text, size_t len, struct scenario **out,
		       struct place_error *err);
void scenario_free(struct scenario *s);

struct failure {
	struct failure *next;
	uint32_t op; /* 0: none in particular */
	unsigned int line, col; /* of the expectation, 0: none */
	char *expected, *got;
	char *before, *after; /* state around the operation, NULL: not known */
};

/* Free a list of failures. */
void failures_free(struct failure *f);

struct case_result {
	struct case_result *next;
	const struct scenario *scenario;
	char *name; /* "credits/one-hole [v6.18]" */
	char *kernel; /* full name of the set of changes */
	char *label; /* the part in brackets */
	const char *why;
	const char *inject; /* the kind of failure tried, or NULL */
	struct failure *failures, **tail;
	unsigned int nr_failures;
	uint32_t nr_ops;
	char *log; /* with verbose: operations, results and events */
};

struct run_options {
	const char *kernel; /* instead of those of the scenario; NULL: those */
	const char **with, **without;
	size_t nr_with, nr_without;
	const char *only; /* cases whose name has this text */
	const char *inject; /* a kind of failure, or "all": instead of the expectations */
	uint32_t inject_all_up_to; /* behind this place of a kind ever fewer are tried; 0: all */
	unsigned int *inject_left_out; /* cases that inject_all() has not tried */
	bool verbose;
};

/*
 * Run every case of @s that @o selects and append the results to *@tail.
 * 0, or -EINVAL with a message: an option does not fit (a change unknown).
 */
int scenario_run(const struct scenario *s, const struct run_options *o, struct case_result ***tail,
		 struct place_error *err);
void case_results_free(struct case_result *r);

/* How a run ends, whatever the scenario expects of it. */
struct scenario_outcome {
	bool started; /* there is such a file system under this kernel */
	uint8_t broken[FOLIOFS_RULE_COUNT];
	uint32_t nr_failed, first_failed; /* operations that returned errors, the first one */
	int first_error; /* positive */
};

/*
 * Run @s, or its variant @v, under @k alone.  0, -ENOENT: it has no operations, -ENOMEM.
 */
int scenario_outcome(const struct scenario *s, const struct variant *v,
		     const struct foliofs_kernel *k, struct scenario_outcome *o);

/* Names of enum foliofs_verdict in scenarios. */
extern const char *const verdict_names[];

bool want_holds(const struct want *w, int64_t value);
const char *want_text(const struct want *w, char *buf, size_t len);
/* Name of an error ("errno 5" if unknown). */
const char *errno_text(int positive, char *buf, size_t len);

/* First operation of ops at or behind @i that is not one of a stop; ops.end if none. */
size_t scenario_next_op(const struct scenario *s, size_t i);

/* Text of an operation by its number; "" if there is none. */
const char *scenario_op_text(const struct scenario *s, uint32_t id);
/* The operations [0, nr) of both lists. */
const struct foliofs_op *scenario_op(const struct scenario *s, size_t i);

#endif
