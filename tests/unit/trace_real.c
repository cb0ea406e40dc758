// SPDX-License-Identifier: MIT
/*
 * Recorded traces of real programs: the operations read from them, carried out on nothing but names
 * and sizes, leave the files with the sizes that they really had (tests/data/traces/NAME.sizes).
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/trace.h"

struct file {
	uint64_t size;
};

struct name {
	char path[256];
	struct file *file;
};

#define MAX 512

struct tree {
	struct name names[MAX];
	struct file files[MAX], *slots[MAX];
	unsigned int nr, nr_files;
};

static struct name *find(struct tree *t, const char *path)
{
	for (unsigned int i = 0; i < t->nr; i++)
		if (t->names[i].file && !strcmp(t->names[i].path, path))
			return &t->names[i];
	return NULL;
}

static struct name *add(struct tree *t, const char *path, struct file *f)
{
	struct name *n = find(t, path);

	if (!n) {
		assert_true(t->nr < MAX);
		n = &t->names[t->nr++];
		snprintf(n->path, sizeof(n->path), "%s", path);
	}
	if (!f) {
		assert_true(t->nr_files < MAX);
		f = &t->files[t->nr_files++];
		f->size = 0;
	}
	n->file = f;
	return n;
}

static void grow(struct file *f, uint64_t size)
{
	if (size > f->size)
		f->size = size;
}

static void run(struct tree *t, const struct foliofs_op *op)
{
	struct file *f = op->file >= 0 ? t->slots[op->file] : NULL;
	struct name *n = op->path ? find(t, op->path) : NULL;

	switch (op->kind) {
	case FOLIOFS_OP_OPEN:
		if (!n && (op->flags & FOLIOFS_O_CREAT))
			n = add(t, op->path, NULL);
		if (n && (op->flags & FOLIOFS_O_TRUNC))
			n->file->size = 0;
		t->slots[op->file] = n ? n->file : NULL;
		break;
	case FOLIOFS_OP_CLOSE:
		t->slots[op->file] = NULL;
		break;
	case FOLIOFS_OP_WRITE:
		assert_non_null(f);
		grow(f, op->off + op->len);
		break;
	case FOLIOFS_OP_APPEND:
		assert_non_null(f);
		f->size += op->len;
		break;
	case FOLIOFS_OP_TRUNCATE:
		f = f ? f : n->file;
		f->size = op->len;
		break;
	case FOLIOFS_OP_FALLOCATE:
		assert_non_null(f);
		if (!(op->flags & FOLIOFS_FALLOC_KEEP_SIZE))
			grow(f, op->off + op->len);
		break;
	case FOLIOFS_OP_COPY_RANGE:
		assert_true(op->off + op->len <= f->size);
		grow(t->slots[op->file2], op->off2 + op->len);
		break;
	case FOLIOFS_OP_UNLINK:
		if (n)
			n->file = NULL;
		break;
	case FOLIOFS_OP_RENAME:
		if (n) { /* no trace here renames a directory */
			add(t, op->path2, n->file);
			n->file = NULL;
		}
		break;
	case FOLIOFS_OP_LINK:
		assert_non_null(n);
		add(t, op->path2, n->file);
		break;
	default:
		break;
	}
}

static void check(const char *name, uint64_t min_ops)
{
	static struct tree t;
	struct trace_options opt = { 0 };
	struct trace trace;
	char path[512], line[512], err[256] = "", at[256];
	unsigned int files = 0, expected = 0;
	uint64_t time = 0, size;
	FILE *f;

	memset(&t, 0, sizeof(t));
	snprintf(path, sizeof(path), SOURCE_DIR "/tests/data/traces/%s.strace.gz", name);
	if (trace_load(path, &opt, &trace, err, sizeof(err)))
		fail_msg("%s", err);
	assert_int_equal(trace.contradictions, 0);
	assert_true(trace.v.nr >= min_ops);
	for (uint32_t i = 0; i < trace.nr_calls; i++)
		assert_int_equal(trace.calls[i].unmodelled, 0);
	for (uint32_t i = 0; i < trace.nr_assumptions; i++)
		if (!trace.assumptions[i].dir)
			add(&t, trace.assumptions[i].path, NULL)->file->size =
				trace.assumptions[i].size;
	for (uint32_t i = 0; i < trace.v.nr; i++) {
		assert_true(trace.v.ops[i].time_ns >= time);
		time = trace.v.ops[i].time_ns;
		assert_true(trace.v.ops[i].file < (int32_t)trace.nr_slots);
		run(&t, &trace.v.ops[i]);
	}
	snprintf(path, sizeof(path), SOURCE_DIR "/tests/data/traces/%s.sizes", name);
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		assert_int_equal(sscanf(line, "%" SCNu64 " %255[^\n]", &size, at), 2);
		expected++;
		if (!find(&t, at))
			fail_msg("%s: %s is missing", name, at);
		if (find(&t, at)->file->size != size)
			fail_msg("%s: %s has %" PRIu64 " bytes, not %" PRIu64, name, at,
				 find(&t, at)->file->size, size);
	}
	fclose(f);
	for (unsigned int i = 0; i < t.nr; i++) /* symbolic links are no files here */
		files += t.names[i].file != NULL;
	assert_true(files >= expected);
	trace_free(&trace);
}

#define REAL(id, name, ops) \
	static void id(void **state) \
	{ \
		(void)state; \
		check(name, ops); \
	}

REAL(sqlite, "sqlite", 900)
REAL(tar, "tar", 200)
REAL(git_clone, "git-clone", 300)
REAL(rsync, "rsync", 200)
REAL(cp, "cp", 150)
REAL(dd, "dd", 19)
REAL(fio_psync, "fio-psync", 300)
REAL(fio_libaio, "fio-libaio", 500)
REAL(cc, "cc", 300)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sqlite), cmocka_unit_test(tar), cmocka_unit_test(git_clone),
		cmocka_unit_test(rsync), cmocka_unit_test(cp), cmocka_unit_test(dd),
		cmocka_unit_test(fio_psync), cmocka_unit_test(fio_libaio), cmocka_unit_test(cc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
