/* SPDX-License-Identifier: MIT */
/*
 * Rules: invariants that must hold at every operation's end, whatever the
 * kernel.  A broken rule is the event foliofs_rule and a record here.
 *
 * Of XFS and tmpfs are checked: content (I2, lost-write), what fsync promises of the cache
 * (I1), livelock, assertion, I9 to I12 and I14; the rules of ext4's journal and power cuts are not.
 */
#ifndef FOLIOFS_RULES_H
#define FOLIOFS_RULES_H

#include <foliofs/fs.h>

#ifdef __cplusplus
extern "C" {
#endif

enum foliofs_rule {
#define FOLIOFS_RULE(id, name, meaning) FOLIOFS_RULE_##id,
#include <foliofs/rules.def>
#undef FOLIOFS_RULE
	FOLIOFS_RULE_COUNT
};

struct foliofs_broken {
	enum foliofs_rule rule;
	uint32_t op; /* number of the operation */
	uint32_t ino; /* 0: none */
	char text[200]; /* what was found, with numbers */
};

/* Name of a rule and what must hold, as in rules.def.  NULL: there is no such rule. */
FOLIOFS_API const char *foliofs_rule_name(enum foliofs_rule r);
FOLIOFS_API const char *foliofs_rule_meaning(enum foliofs_rule r);
/* Rule of that name: 0 and *@r, or -ENOENT. */
FOLIOFS_API int foliofs_rule_find(const char *name, enum foliofs_rule *r);

/* Rules broken so far: how many in all; the first of them (at most 1000) are kept. */
FOLIOFS_API size_t foliofs_fs_broken(const struct foliofs_fs *fs);
FOLIOFS_API const struct foliofs_broken *foliofs_fs_broken_at(const struct foliofs_fs *fs,
							      size_t i);

/*
 * The rules of power cuts (stale data, written blocks beyond i_disksize, a size
 * beyond its data, synced data lost, bytes cut off that are back) for a cut now,
 * with recovery: each one broken goes to @fn, which may be NULL.  Needs crash_states;
 * without a journal and under data=writeback stale bytes, and those that come back,
 * are no fault.  What counts as cut off (I13): what truncate, an open with O_TRUNC,
 * collapse and insert leave behind i_size, what is stored behind it through a mapping,
 * and whole blocks of a hole or of zero range.  The edges of these do not: they are
 * not atomic.  Returns how many.  What @fs has broken
 * so far stays as it is.  foliofs_fs_crash() makes the same part of what @after has
 * broken, if @fs has its rules checked.
 */
typedef void (*foliofs_broken_fn)(void *priv, const struct foliofs_broken *b);
FOLIOFS_API size_t foliofs_fs_crash_broken(const struct foliofs_fs *fs, foliofs_broken_fn fn,
					   void *priv);
/*
 * The same, but looks only at what has changed since the last call: for a cut at
 * every event.  What was broken then and still is may be told again, or not.
 */
FOLIOFS_API size_t foliofs_fs_crash_news(struct foliofs_fs *fs, foliofs_broken_fn fn, void *priv);

#ifdef __cplusplus
}
#endif
#endif
