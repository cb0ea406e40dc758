/* SPDX-License-Identifier: MIT */
/*
 * Rules: invariants that must hold at every operation's end, whatever the
 * kernel.  A broken rule is the event foliofs_rule and a record here.
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

FOLIOFS_API const char *foliofs_rule_name(enum foliofs_rule r);
FOLIOFS_API const char *foliofs_rule_meaning(enum foliofs_rule r);
FOLIOFS_API int foliofs_rule_find(const char *name, enum foliofs_rule *r);

/* Rules broken so far: how many in all; the first of them (at most 1000) are kept. */
FOLIOFS_API size_t foliofs_fs_broken(const struct foliofs_fs *fs);
FOLIOFS_API const struct foliofs_broken *foliofs_fs_broken_at(const struct foliofs_fs *fs,
							      size_t i);

#ifdef __cplusplus
}
#endif
#endif
