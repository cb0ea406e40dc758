// SPDX-License-Identifier: MIT
/*
 * The words of an explained sum: one line a term with its numbers filled in, and the change that
 * made the rule what it is.
 */
#include "credits.h"

#include <stdarg.h>
#include <stdio.h>

void ffs_explain_line(struct ffs_sum *s, const char *term, u32 value, const char *source,
		      const char *fmt, ...)
{
	struct foliofs_explain_line *line;
	va_list ap;

	if (s->e->nr == ARRAY_SIZE(s->e->line))
		abort();
	line = &s->e->line[s->e->nr++];
	*line = (struct foliofs_explain_line){
		.term = term, .source = source, .value = value, .reserved = s->reserved,
	};
	va_start(ap, fmt);
	vsnprintf(line->how, sizeof(line->how), fmt, ap);
	va_end(ap);
}

void ffs_rule(struct ffs_sum *s, const char *fmt, ...)
{
	va_list ap;

	if (!s->e)
		return;
	va_start(ap, fmt);
	vsnprintf(s->e->rule, sizeof(s->e->rule), fmt, ap);
	va_end(ap);
}

static const char *source_of(const struct ffs_sum *s, enum foliofs_change c, const char *otherwise)
{
	return foliofs_kernel_has(s->k, c) ? foliofs_change_source(c) : otherwise;
}

static const char *index_source(const struct ffs_sum *s, u32 p)
{
	if (!s->i->extents)
		return "ext4, indirect blocks";
	if (p > 1 && foliofs_kernel_has(s->k, FOLIOFS_CHANGE_LF_MISMERGE))
		return foliofs_change_source(FOLIOFS_CHANGE_LF_MISMERGE);
	if (p > 1 && foliofs_kernel_has(s->k, FOLIOFS_CHANGE_LF_LEAF_CREDITS))
		return foliofs_change_source(FOLIOFS_CHANGE_LF_LEAF_CREDITS);
	return source_of(s, FOLIOFS_CHANGE_WORST_DEPTH, "ext4 before the worst-case depth");
}

void ffs_explain_index(struct ffs_sum *s, u32 times, u32 l, u32 p, u32 value)
{
	const char *which = foliofs_kernel_has(s->k, FOLIOFS_CHANGE_WORST_DEPTH) ?
				    "deepest tree" : "tree now";
	bool worst = foliofs_kernel_has(s->k, FOLIOFS_CHANGE_WORST_DEPTH);
	u32 depth = worst ? FFS_MAX_DEPTH : s->i->depth, path = (p <= 1 ? 2 : 3) * depth;
	u32 leaves = value / times - path;
	char twice[16] = "";

	if (times > 1)
		snprintf(twice, sizeof(twice), "%u * (", times);
	if (!s->i->extents)
		ffs_explain_line(s, "index", value, index_source(s, p),
				 "%sup(%u / %u pointers of a block) + 4%s", twice, l,
				 ffs_pointers_per_block(s->g), times > 1 ? ")" : "");
	else if (p <= 1 || !leaves)
		ffs_explain_line(s, "index", value, index_source(s, p),
				 "%s%u * depth %u of the %s + %u new leaves%s", twice,
				 p <= 1 ? 2u : 3u, depth, which, leaves, times > 1 ? ")" : "");
	else
		ffs_explain_line(s, "index", value, index_source(s, p),
				 "%s3 * depth %u of the %s + up(%u extents / %u of a leaf)%s",
				 twice, depth, which, p, ffs_extents_per_block(s->g),
				 times > 1 ? ")" : "");
}

static const char *seed_source(const struct ffs_sum *s)
{
	if (!foliofs_kernel_has(s->k, FOLIOFS_CHANGE_LF_LEAF_CREDITS))
		return "ext4";
	return foliofs_change_source(foliofs_kernel_has(s->k, FOLIOFS_CHANGE_CF_COUNT_EXTENTS) ?
					     FOLIOFS_CHANGE_CF_COUNT_EXTENTS :
					     FOLIOFS_CHANGE_LF_LEAF_CREDITS);
}

void ffs_explain_meta(struct ffs_sum *s, u32 times, u32 l, u32 p, const struct foliofs_credits *m)
{
	u32 seed = ffs_group_seed(s->k, m->index, p);
	const char *source = seed_source(s);
	char twice[16] = "", groups[48];

	if (times > 1)
		snprintf(twice, sizeof(twice), "%u * ", times);
	if (seed == m->index)
		snprintf(groups, sizeof(groups), "index %u", m->index);
	else
		snprintf(groups, sizeof(groups), "index %u + extents %u", m->index, p);
	ffs_explain_index(s, times, l, p, times * m->index);
	ffs_explain_line(s, "bitmaps", times * m->bitmaps, source, "%smin(%s, groups %u)", twice,
			 groups, s->g->groups);
	if (m->bitmaps > s->g->gdb_count)
		ffs_explain_line(s, "descriptors", times * m->descriptors, source,
				 "%sdescriptor blocks %u, fewer than bitmaps", twice,
				 s->g->gdb_count);
	else
		ffs_explain_line(s, "descriptors", times * m->descriptors, source,
				 "%s(%s), because bitmaps %u are not more than descriptor blocks %u",
				 twice, groups, m->bitmaps, s->g->gdb_count);
	ffs_explain_line(s, "fixed", times * m->fixed, "ext4",
			 "%s(superblock, inode, quota, xattr: 6%s)", twice,
			 ffs_quota_capable(s->g) ? " + quota 3" : "");
}
