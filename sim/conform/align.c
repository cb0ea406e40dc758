// SPDX-License-Identifier: MIT
/* Traces without markers: see align.h. */
#include "align.h"

#include <stdlib.h>
#include <string.h>

#include "trace/oplist.h"

/* Events in a row that show that both go on alike, and how far ahead to look for so many. */
static const struct {
	size_t alike, window;
} looks[] = { { 1, 2 }, { 3, 2000 }, { 2, 100 }, { 1, 16 } };

/* System calls that carry out an operation; NULL: it is not known by one call. */
static const char *calls_of(struct piece word)
{
	static const struct {
		const char *op, *calls;
	} table[] = {
		{ "open", "openat open creat openat2" },
		{ "write", "pwrite64 write pwritev writev pwritev2" },
		{ "writebad", "pwrite64 write pwritev writev pwritev2" },
		{ "append", "write pwrite64 writev pwritev pwritev2" },
		{ "read", "pread64 read preadv readv preadv2" },
		{ "truncate", "ftruncate truncate" },
		{ "fallocate", "fallocate" },
		{ "mwrite", "mmap" },
		{ "mtouch", "mmap" },
		{ "mread", "mmap" },
		{ "msync", "msync" },
		{ "fsync", "fsync" },
		{ "fdatasync", "fdatasync" },
		{ "syncfs", "syncfs" },
		{ "sync", "sync" },
		{ "syncrange", "sync_file_range" },
		{ "fadvise", "fadvise64" },
		{ "copyrange", "copy_file_range" },
		{ "moveext", "ioctl" },
		{ "unlink", "unlink unlinkat" },
		{ "rename", "rename renameat renameat2" },
		{ "mkdir", "mkdir mkdirat" },
		{ "rmdir", "rmdir unlinkat" },
		{ "link", "link linkat" },
		{ "symlink", "symlink symlinkat" },
	};
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (piece_is(word, table[i].op))
			return table[i].calls;
	return NULL;
}

static bool listed(const char *list, struct piece name)
{
	struct piece rest = { list, strlen(list) }, w;

	while (piece_word(&rest, &w))
		if (w.len == name.len && !memcmp(w.s, name.s, w.len))
			return true;
	return false;
}

/* "65536", "64K" or "0x10000". */
static bool size_of(struct piece w, uint64_t *v)
{
	char buf[32];

	if (w.len >= sizeof(buf))
		return false;
	memcpy(buf, w.s, w.len);
	buf[w.len] = '\0';
	return !oplist_number(buf, v);
}

/* An operation as far as its system calls show it. */
struct wanted {
	const char *names; /* of the calls; NULL: none */
	bool sized; /* its numbers are arguments of the call */
	uint64_t first, last, chunk; /* first and last number of its text; "chunk=N", 0: none */
	uint64_t calls; /* how many: one for each piece */
};

static struct wanted want(const char *op)
{
	struct piece rest = { op, op ? strlen(op) : 0 }, w;
	struct wanted x = { .calls = 1 };
	bool any = false;
	uint64_t n;

	if (!piece_word(&rest, &w))
		return x;
	x.names = calls_of(w);
	x.sized = x.names && !listed("mmap ioctl msync", (struct piece){ x.names,
								     strcspn(x.names, " ") });
	while (piece_word(&rest, &w)) {
		if (piece_starts(w, "chunk=")) {
			size_of((struct piece){ w.s + 6, w.len - 6 }, &x.chunk);
		} else if (size_of(w, &n)) {
			x.last = n;
			x.first = any ? x.first : n;
			any = true;
		}
	}
	x.sized &= any;
	if (x.chunk && x.last)
		x.calls = (x.last - 1) / x.chunk + 1;
	return x;
}

/* One of the arguments ("count: 0x1000, pos: 0") is @v. */
static bool has_argument(struct piece text, uint64_t v)
{
	struct piece w;
	uint64_t n;

	while (piece_word(&text, &w)) {
		while (w.len && (w.s[w.len - 1] == ',' || w.s[w.len - 1] == ')'))
			w.len--;
		if (size_of(w, &n) && n == v)
			return true;
	}
	return false;
}

/* @call is call number @n of the operation. */
static bool is_call(const struct conform_call *call, const struct wanted *x, uint64_t n)
{
	uint64_t len = x->chunk ? x->chunk : x->last, at = x->first;

	if (!listed(x->names, call->name))
		return false;
	if (!x->sized)
		return true;
	if (x->chunk) {
		at += n * x->chunk;
		if (n + 1 == x->calls)
			len = x->last - n * x->chunk;
	}
	/* vectors do not show their length; write and read take the place from the file */
	if (listed("preadv pwritev preadv2 pwritev2", call->name))
		return has_argument(call->text, at);
	if (listed("readv writev", call->name))
		return true;
	return has_argument(call->text, len) &&
	       (x->first == x->last || piece_is(call->name, "write") ||
		piece_is(call->name, "read") || has_argument(call->text, at));
}

/* Operations that have events in the simulation. */
static bool *with_events(const struct conform_events *sim, size_t nr_ops)
{
	bool *seen = calloc(nr_ops + 1, sizeof(*seen));
	size_t i;

	if (!seen)
		abort();
	for (i = 0; i < sim->nr; i++)
		if (sim->v[i].op < nr_ops)
			seen[sim->v[i].op] = true;
	return seen;
}

static void not_found(struct conform_alignment *a, uint32_t op)
{
	size_t n = a->ops - a->ops_placed - 1;

	if (n < ALIGN_LISTED)
		a->lost_op[n] = op;
}

/*
 * True if every operation finds its call; then the events have their operations.  From the last
 * operation to the first, so that one without arguments (open, fsync) gets the call nearest to
 * what follows: programs make many calls that are no operations.
 */
static bool by_calls(struct conform_events *kernel, const struct capture_dir *ops,
		     struct conform_alignment *a)
{
	uint32_t *begin = calloc(ops->nr_ops + 1, sizeof(*begin)); /* event; UINT32_MAX: unknown */
	size_t call = kernel->nr_calls, i, op;
	uint32_t now = 0;
	bool all = true;

	if (!begin)
		abort();
	for (op = ops->nr_ops; op-- > 0 && all;) {
		struct wanted x = want(ops->ops[op]);
		uint64_t n;

		begin[op] = UINT32_MAX;
		for (n = x.names ? x.calls : 0; n-- > 0;) {
			while (call > 0 && !is_call(&kernel->calls[call - 1], &x, n))
				call--;
			if (!call) {
				all = false;
				break;
			}
			begin[op] = kernel->calls[--call].at;
		}
	}
	for (i = 0, op = 0; i < kernel->nr && all; i++) {
		for (; op < ops->nr_ops; op++) {
			if (begin[op] == UINT32_MAX)
				continue;
			if (begin[op] > i)
				break;
			now = (uint32_t)op;
		}
		kernel->v[i].op = now;
		a->placed += now != 0;
	}
	free(begin);
	return all;
}

/* Both go on alike from here: @want events, or up to the end. */
static bool alike(const struct conform_events *a, size_t i, const struct conform_events *b,
		  size_t j, size_t want)
{
	size_t n;

	for (n = 0; n < want; n++) {
		if (i + n == a->nr || j + n == b->nr)
			return n && i + n == a->nr && j + n == b->nr;
		if (a->v[i + n].id != b->v[j + n].id)
			return false;
	}
	return true;
}

/* The nearest place behind (*i, *j) where both go on alike; else one event further in both. */
static void resume(const struct conform_events *a, size_t *i, const struct conform_events *b,
		   size_t *j)
{
	size_t k, d, x;

	for (k = 0; k < sizeof(looks) / sizeof(looks[0]); k++) {
		for (d = 1; d < looks[k].window; d++) {
			for (x = 0; x <= d; x++) {
				if (*i + x <= a->nr && *j + d - x <= b->nr &&
				    alike(a, *i + x, b, *j + d - x, looks[k].alike)) {
					*i += x;
					*j += d - x;
					return;
				}
			}
		}
	}
	++*i;
	++*j;
}

static void by_order(struct conform_events *kernel, const struct conform_events *sim,
		     struct conform_alignment *a, bool *found, size_t nr_ops)
{
	size_t i = 0, j = 0, k, from;
	uint32_t op = sim->nr ? sim->v[0].op : 0;

	while (i < kernel->nr && j < sim->nr) {
		if (kernel->v[i].id == sim->v[j].id) {
			op = kernel->v[i].op = sim->v[j].op;
			if (op < nr_ops)
				found[op] = true;
			a->placed++;
			i++;
			j++;
			continue;
		}
		from = i;
		resume(kernel, &i, sim, &j);
		for (k = from; k < i && k < kernel->nr; k++)
			kernel->v[k].op = op;
	}
	for (; i < kernel->nr; i++)
		kernel->v[i].op = op;
}

void conform_align(struct conform_events *kernel, const struct conform_events *sim,
		   const struct capture_dir *ops, struct conform_alignment *a)
{
	bool *seen = with_events(sim, ops->nr_ops), *found;
	size_t i;

	memset(a, 0, sizeof(*a));
	a->events = kernel->nr;
	a->calls = kernel->nr_calls;
	found = calloc(ops->nr_ops + 1, sizeof(*found));
	if (!found)
		abort();
	if (kernel->nr_calls && by_calls(kernel, ops, a)) {
		a->how = ALIGN_CALLS;
		for (i = 0; i < kernel->nr; i++)
			if (kernel->v[i].op < ops->nr_ops)
				found[kernel->v[i].op] = true;
	} else {
		a->how = ALIGN_ORDER;
		a->placed = 0;
		by_order(kernel, sim, a, found, ops->nr_ops);
	}
	for (i = 0; i < ops->nr_ops; i++) {
		if (!seen[i])
			continue;
		a->ops++;
		if (found[i])
			a->ops_placed++;
		else
			not_found(a, (uint32_t)i);
	}
	free(seen);
	free(found);
}
