/* SPDX-License-Identifier: MIT */
/*
 * The reader of strace logs, inside: what the traced processes have open, where they are, what is
 * mapped, and what is known about the files.
 *
 *	process		its descriptor table, directory and memory, each possibly shared
 *	description	an open file as the kernel has it: position, flags; shared by dup and fork.
 *			One that is on the modelled file system owns a slot of the operations.
 *	node		a file of the modelled file system, with the size that the log implies
 *	name		a path that has a node, or is known to have none
 *
 *	strace.c	lines, processes' calls, times, counts
 *	strace_ahead.c	what is looked up in the whole log before: marks, forks, the root
 *	strace_proc.c	processes, descriptors
 *	strace_path.c	arguments that are paths
 *	strace_names.c	names, nodes, sizes, assumptions
 *	strace_emit.c	operations and their texts
 *	strace_map.c	mappings
 *	strace_open.c strace_io.c strace_dir.c	the calls
 */
#ifndef SIM_TRACE_STRACE_H
#define SIM_TRACE_STRACE_H

#include <limits.h>
#include <uthash.h>

#include "trace/strace_lex.h"
#include "trace/trace_private.h"

#define STRACE_FD_MAX (1 << 20) /* what Linux allows by default */

struct strace_node {
	struct strace_node *next; /* of all */
	char *path; /* one of its names now, or the last; relative to the root, "/" for that */
	char *first_path; /* when the trace began; NULL: made in the trace */
	uint64_t size; /* at least; exact once size_known */
	uint64_t first_size; /* of a file that was there: at least */
	uint64_t map_size; /* the farthest that it was mapped */
	const char *why; /* it was there */
	bool appended; /* so its first size is less than its size by what was appended */
	bool size_known, was_there, dir, journal_data;
};

struct strace_name {
	char *path;
	struct strace_node *node; /* NULL: known to be absent */
	char *target; /* of a symbolic link made in the trace */
	UT_hash_handle hh;
};

struct strace_desc {
	unsigned int refs; /* descriptors and mappings */
	int32_t slot; /* < 0: not on the modelled file system, or O_PATH */
	struct strace_node *node; /* NULL: not on the modelled file system */
	char *path; /* absolute, as traced, when opened outside */
	uint64_t pos;
	bool append, drops_caches;
};

struct strace_fd {
	struct strace_desc *desc;
	bool cloexec;
};

struct strace_fds {
	unsigned int refs; /* processes */
	struct strace_fd *fds; /* [nr] */
	uint32_t nr;
};

struct strace_dir { /* working directory */
	unsigned int refs;
	char *path; /* absolute, as traced; NULL: not known */
};

struct strace_map { /* [start, end) of memory is desc from off */
	uint64_t start, end, off;
	struct strace_desc *desc;
	bool stores; /* shared and writable */
};

struct strace_mm {
	unsigned int refs;
	struct strace_map *maps; /* [nr], in no order */
	uint32_t nr, max;
};

struct strace_proc {
	int pid; /* 0: of lines without one */
	struct strace_fds *fds;
	struct strace_dir *cwd;
	struct strace_mm *mm;
	char *pending; /* arguments of the call that has not ended; NULL: none */
	char *pending_name;
	int64_t pending_time;
	bool done_early; /* the pending call was carried out when it began */
	UT_hash_handle hh;
};

/* One process made another: found before the calls are read, as the child may come first. */
struct strace_birth {
	int child, parent;
	uint32_t line; /* where the parent's call returns */
	bool used;
};

struct strace_counter;

struct strace {
	struct trace *t;
	const struct trace_options *opt;
	struct trace_where w;
	char *root; /* absolute as traced, no / at the end: "" is / */
	struct strace_node *nodes;
	struct strace_name *names;
	struct strace_proc *procs, *proc; /* proc: of the call at hand */
	struct strace_counter *counters;
	struct strace_birth *births;
	uint32_t nr_births;
	int main_pid; /* that lines without one belong to; 0: not known yet */
	bool *slots; /* [nr_slots] in use */
	uint32_t nr_slots;

	/* times: of the log, and as operations have them (since the first line) */
	int64_t first_ns, last_ns, day_ns, now_ns;
	uint64_t op_ns;
	bool has_times, assumed_cwd;

	/* marked operations */
	bool has_marks; /* the log has "# op N TEXT" */
	uint32_t mark_id, next_id, call_id; /* call_id: of this call, 0 before its first op */
	const char *mark_text; /* not yet given to an operation */
};

enum strace_outcome { /* of a successful call */
	STRACE_REPLAYED,
	STRACE_PASSIVE,
	STRACE_OUTSIDE,
	STRACE_UNMODELLED,
};

/*
 * What carries a call out.  An enum strace_outcome, or -EINVAL with the message told.
 * The numbers are those of its table entry.
 */
struct strace_handler {
	const char *name;
	int (*fn)(struct strace *s, const struct strace_call *c, const struct strace_handler *h);
	int dirfd, path; /* which arguments; -1: none */
	int a, b; /* for fn */
};

/* The tables end in a NULL name. */
extern const struct strace_handler strace_open_calls[], strace_io_calls[], strace_dir_calls[],
	strace_map_calls[];

/* "expected @what, got ARGUMENT": argument @arg of a call is not one.  -EINVAL. */
int strace_bad_arg(const struct strace *s, const struct strace_call *c, unsigned int arg,
		   const char *what);
/* Argument @arg as a number; -EINVAL with the message told. */
int strace_arg_int(const struct strace *s, const struct strace_call *c, unsigned int arg,
		   int64_t *v);

/* strace_ahead.c */
/* Go through the whole log: has_marks, births and root of @s, and a note on the root. */
void strace_look_ahead(struct strace *s, const struct trace_text *text);

/* strace_proc.c */
struct strace_proc *strace_proc_find(struct strace *s, int pid);
/* The process of a line; made, as a child or from nothing, if it is new. */
struct strace_proc *strace_proc_of(struct strace *s, int pid);
/* @parent makes @child by the call @name with arguments @args. */
void strace_proc_birth(struct strace *s, struct strace_proc *parent, int child, const char *name,
		       const char *args);
void strace_proc_exec(struct strace *s, struct strace_proc *p);
void strace_proc_exit(struct strace *s, struct strace_proc *p);
void strace_proc_rename(struct strace *s, struct strace_proc *p, int pid);
void strace_proc_free_all(struct strace *s); /* without operations */
void strace_dir_set(struct strace_proc *p, const char *path);

struct strace_desc *strace_desc_new(void);
void strace_desc_get(struct strace_desc *d);
void strace_desc_put(struct strace *s, struct strace_desc *d); /* the last one closes */
/* Put @d (whose reference is taken over) at @fd; what was there is closed first. */
void strace_fd_set(struct strace *s, struct strace_fds *t, int64_t fd, struct strace_desc *d,
		   bool cloexec);
struct strace_fd *strace_fd_find(struct strace_fds *t, int64_t fd);
/*
 * The description of descriptor argument @arg; NULL: not known, so outside.  If -y shows that it
 * is a file of the modelled file system that was opened before the trace, it is opened now.
 */
int strace_arg_desc(struct strace *s, const struct strace_call *c, unsigned int arg,
		    struct strace_desc **d);
/* The same, and NULL if it is not on the modelled file system, or cannot do I/O. */
int strace_arg_file(struct strace *s, const struct strace_call *c, unsigned int arg,
		    struct strace_desc **d);

/* strace_path.c */
/*
 * Path argument @path, relative to descriptor argument @dirfd (< 0: the working directory):
 * absolute as traced, into @abs; *@rel is what of it is below the root of the modelled file
 * system ("/" for the root itself), or NULL.  @follow: through symbolic links made in the trace.
 */
int strace_arg_path(struct strace *s, const struct strace_call *c, int dirfd, int path,
		    bool follow, char abs[PATH_MAX], const char **rel);
/* What of @abs is below the root of the modelled file system; NULL: it is elsewhere. */
const char *strace_below_root(const struct strace *s, const char *abs);

/* strace_names.c */
struct strace_name *strace_name_find(const struct strace *s, const char *rel);
/* The node of a path that is there in the trace: known, or assumed to have been there. */
struct strace_node *strace_node_there(struct strace *s, const char *rel, bool dir, const char *why);
/* A new node, made in the trace. */
struct strace_node *strace_node_make(struct strace *s, const char *rel, bool dir);
/* open(O_CREAT) without O_EXCL: if it is not known, it may have been there. */
struct strace_node *strace_node_maybe(struct strace *s, const char *rel);
/* @rel is no more, or is known not to be (then only if nothing is known about it). */
void strace_name_remove(struct strace *s, const char *rel);
void strace_name_absent(struct strace *s, const char *rel);
void strace_name_link(struct strace *s, const char *rel, struct strace_node *n);
void strace_name_rename(struct strace *s, const char *from, const char *to);
/* Sizes: what the log shows about now, and what it does. */
void strace_size_at_least(struct strace *s, struct strace_node *n, uint64_t size, const char *why);
void strace_size_is(struct strace *s, struct strace_node *n, uint64_t size, const char *why);
void strace_size_set(struct strace_node *n, uint64_t size); /* truncate */
void strace_size_grow(struct strace_node *n, uint64_t size); /* write */
void strace_names_report(struct strace *s); /* assumptions into the trace */
void strace_names_free(struct strace *s);
/* The log does not fit what came before. */
void strace_contradiction(struct strace *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* strace_emit.c */
/* Append @op with number, time and text of the call at hand. */
void strace_emit(struct strace *s, struct foliofs_op *op, const struct strace_desc *d,
		 const struct strace_desc *d2);
/* Take the lowest slot that is free. */
int32_t strace_slot_take(struct strace *s);

/* strace_map.c */
void strace_mm_drop(struct strace *s, struct strace_mm *mm, uint64_t start, uint64_t end);
void strace_mm_copy(struct strace_mm *to, const struct strace_mm *from);

#endif
