/* SPDX-License-Identifier: MIT */
/*
 * Families of events and facts, and what of an event counts in a comparison.
 * The rules are those of the script that comes with the captures ("score"), so
 * that both give the same figures; the family "results" is only here.
 */
#ifndef CONFORM_FAMILY_H
#define CONFORM_FAMILY_H

#include "trace_text.h"

/* In the order of their names, which is the order of the table. */
#define CONFORM_FAMILIES(F)                                                                        \
	F(ALLOC, "alloc") F(BIO, "bio") F(COMMIT, "commit") F(CONTENT, "content")                  \
	F(CRASH_CONTENT, "crash.content") F(CRASH_EXTENT, "crash.extent")                          \
	F(CRASH_PHYSICAL, "crash.physical") F(CRASH_STATE, "crash.state")                          \
	F(CRASH_TREE, "crash.tree") F(DIRTIED, "dirtied") F(EXTENT, "extent") F(FOLIO, "folio")    \
	F(HANDLE, "handle") F(INODE, "inode") F(IOMAP, "iomap") F(LAYOUT, "layout") F(MAP, "map")  \
	F(PHYSICAL, "physical") F(RANGE, "range") F(RESERVE, "reserve")                            \
	F(RESULTS, "results") F(START, "start") F(STATE, "state") F(STATUS, "status")              \
	F(TREE, "tree") F(WRITE, "write") F(XFS, "xfs")

enum conform_family_id {
#define FAMILY_ID(id, name) CONFORM_##id,
	CONFORM_FAMILIES(FAMILY_ID)
#undef FAMILY_ID
	CONFORM_FAMILY_COUNT
};

const char *conform_family_name(enum conform_family_id f);
/* 0, or -ENOENT. */
int conform_family_find(const char *name, enum conform_family_id *f);
/* Family of an event by its name; CONFORM_FAMILY_COUNT: it is not compared. */
enum conform_family_id conform_event_family(struct piece name);

/* Numbers of transactions are taken relative to the first one that appears. */
struct conform_base {
	bool known;
	uint64_t tid;
};

/*
 * What counts of an event: "NAME TEXT" without time stamps, process, device,
 * pfn, callers, line numbers.  Returns its length (at most @len), or 0 if the
 * event does not count: the buddy cache, updates of times that depend on the
 * clock tick.
 */
size_t conform_normal(const struct trace_line *line, enum conform_family_id family,
		      struct conform_base *base, char *buf, size_t len);

#endif
