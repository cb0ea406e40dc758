/* SPDX-License-Identifier: MIT */
/*
 * Op lists: file operations in words, one a line, as in the kernel captures and in scenarios.
 *
 *	[N] OP		N is the number of the operation (else: that of the one before, plus 1)
 *	for VAR START STOP STEP: OP with {EXPRESSION}
 *
 * The loop is half-open, as range(START, STOP, STEP) in Python; so are / (rounds down) and % in
 * expressions, which know + - * / // % ( ), VAR, K M G T and numbers.  Numbers may be hexadecimal
 * or octal (0x.., 0..) and end in K, M, G or T.  # begins a comment.
 *
 *	open F [ro|wo|trunc|excl|append|sync|dsync|direct|noatime|dir|tmpfile|nocreat]
 *		[mode=0644] [as=X]	for reading and writing, and created, unless ro or nocreat
 *	close F
 *	write F off len [chunk=N] [pause=MS]		append F len [chunk=N] [pause=MS]
 *	read F off len [chunk=N]
 *	truncate F size
 *	fallocate F MODE off len	0 keep_size punch zero zero_keep collapse insert unshare
 *	mwrite F off len [pause=MS] [madv=A]
 *	mtouch F off len stride [pause=MS] [madv=A]
 *	mread F off len [madv=huge|random|seq|willneed|normal]
 *	msync F off len
 *	fsync F		fdatasync F	syncfs		sync
 *	syncrange F off len		write and wait		[how=write|wait|both|start]
 *	dropcaches [1|2|3]
 *	fadvise F off len dontneed|willneed|random|sequential|normal|noreuse
 *	moveext F G off len [donor_off]
 *	chattr_j F on|off
 *	unlink P	rename P Q	link P Q	symlink NEW TARGET
 *	mkdir P [mode=0755]		rmdir P
 *	copyrange F off G off len	reflink F off G off len
 *	writebad F off len good
 *	setattr F	chown F		stat F		setxattr F len
 *	crash NAME	recover		sleep_ms N	commit
 *	writeback [F [off]] [pages=N]	background writeback: all files, or one; N pages, or all
 *	fill F [unit]	punchevery F off len hole stride	writeevery F off len piece stride
 *	remount		sysfs NAME VALUE	debugfs COMMAND ...	load_buddies
 *
 * F and G are open files, called by the name they were opened with (or by X: so one file can be
 * open twice); P and Q are paths.  An open file keeps its name in the op list over rename: the new
 * name; a file that was known by the new name before is then called NAME~.  Where an operation
 * takes an open file or a path (truncate, setattr, chown, stat, setxattr), a name that begins with
 * / is a path; so is, but for truncate, one that is no open file.  pause= is milliseconds between
 * the pieces of an operation.
 *
 * What becomes of it (fields of struct foliofs_op beyond those named in op.h):
 *	punchevery	chunk: hole		fill	len: first unit (64M if not given)
 *	moveext		off2 = off if no donor offset is given
 *	open		of a name that is open: into another slot, then the file that had the
 *			name is closed, by an operation of the same number.  (Not if it is an
 *			exclusive open of a file that is there: that fails, and the name stays.)
 *	remount, sysfs, debugfs, load_buddies	done when the program that ran the operations before
 *			has ended: all files are closed first, by operations of the same number
 */
#ifndef SIM_TRACE_OPLIST_H
#define SIM_TRACE_OPLIST_H

#include "trace/opvec.h"

struct oplist_name;

struct oplist {
	struct opvec v;
	struct oplist_name *names; /* of open files */
	int32_t nr_slots; /* slots [0, nr_slots) are in use or have been */
	uint32_t next_id; /* number of the next operation that has none */
	uint64_t now_ns; /* the time of the operation before, and how long it paused */
	uint64_t step_ns; /* time between operations */
};

/* @first_id: number of the first operation.  Operations are 12 ms apart, as in the captures. */
void oplist_init(struct oplist *l, uint32_t first_id);
void oplist_free(struct oplist *l);

/*
 * One line of an op list: appends its operations, none for an empty line or a comment.
 * 0, or -EINVAL with the message in @w (w->col is where @text begins in its line); what was
 * appended before the error stays.
 */
int oplist_parse_line(struct oplist *l, const char *text, const struct trace_where *w);
/* All lines of @text (cut to pieces by it), from line 1. */
struct trace_text;
int oplist_parse_text(struct oplist *l, struct trace_text *text, struct trace_where *w);
/* The program that ran the operations ends: closes all its open files, under the number @id. */
void oplist_close_all(struct oplist *l, uint32_t id, const char *text, uint32_t line);
/* Slot of an open file by its name now; -1: never opened. */
int32_t oplist_slot(const struct oplist *l, const char *name);

/*
 * The text of @op in op list syntax, with @file and @file2 for the open files; cut to @len.
 * Returns @buf.
 */
const char *oplist_format(const struct foliofs_op *op, const char *file, const char *file2,
			  char *buf, size_t len);

/* oplist_expr.c: a number with K, M, G or T behind; -EINVAL if @s is not all of one. */
int oplist_number(const char *s, uint64_t *v);
/* Value of an expression in which @var is @value.  0, or -EINVAL with what was expected. */
int oplist_expression(const char *s, size_t len, const char *var, int64_t value, int64_t *out,
		      const char **expected);

#endif
