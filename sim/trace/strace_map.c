// SPDX-License-Identifier: MIT
/*
 * Memory mappings of files in a strace log: a mapping keeps its file open, and tells msync and
 * madvise which file is meant.
 *
 * SIMPLIFIED: page faults are not in the log.  Loads through mappings become no operations; stores
 * only with mmap_dirty (see trace.h).  A shared mapping made writable by mprotect counts as one
 * that is not.
 */
#include <errno.h>
#include <string.h>

#include "trace/strace.h"

static struct strace_map *add(struct strace_mm *mm)
{
	if (mm->nr == mm->max) {
		mm->max = mm->max ? 2 * mm->max : 16;
		mm->maps = trace_realloc(mm->maps, mm->max, sizeof(*mm->maps));
	}
	return &mm->maps[mm->nr++];
}

/* All of [start, end) of @m has been stored to, up to the end of the file. */
static void stores(struct strace *s, const struct strace_map *m, uint64_t start, uint64_t end)
{
	struct foliofs_op op = { .kind = FOLIOFS_OP_MWRITE };

	if (!s->opt->mmap_dirty || !m->stores)
		return;
	op.off = m->off + (start - m->start);
	if (op.off >= m->desc->node->size)
		return;
	op.len = end - start;
	if (op.len > m->desc->node->size - op.off)
		op.len = m->desc->node->size - op.off;
	strace_emit(s, &op, m->desc, NULL);
}

void strace_mm_drop(struct strace *s, struct strace_mm *mm, uint64_t start, uint64_t end)
{
	for (uint32_t i = 0; i < mm->nr;) {
		struct strace_map *m = &mm->maps[i], left;

		if (m->end <= start || m->start >= end) {
			i++;
			continue;
		}
		left = *m;
		stores(s, m, m->start > start ? m->start : start, m->end < end ? m->end : end);
		if (m->start < start && m->end > end) { /* in two */
			m->end = start;
			m = add(mm);
			*m = left;
			m->off += end - m->start;
			m->start = end;
			strace_desc_get(m->desc);
			i++;
		} else if (m->start < start) {
			m->end = start;
			i++;
		} else if (m->end > end) {
			m->off += end - m->start;
			m->start = end;
			i++;
		} else {
			mm->maps[i] = mm->maps[--mm->nr];
			strace_desc_put(s, left.desc);
		}
	}
}

void strace_mm_copy(struct strace_mm *to, const struct strace_mm *from)
{
	for (uint32_t i = 0; i < from->nr; i++) {
		*add(to) = from->maps[i];
		strace_desc_get(from->maps[i].desc);
	}
}

/* @addr and @len arguments as a range of memory; whole pages. */
static int range(struct strace *s, const struct strace_call *c, uint64_t *start, uint64_t *end)
{
	int64_t addr, len;

	if (strace_arg_int(s, c, 0, &addr) || strace_arg_int(s, c, 1, &len))
		return -EINVAL;
	*start = (uint64_t)addr;
	if (__builtin_add_overflow(*start, ((uint64_t)len + 4095) & ~4095ull, end))
		return strace_bad_arg(s, c, 1, "a length within the address space");
	return 0;
}

/* mmap(addr, len, prot, flags, fd, off) = addr */
static int do_mmap(struct strace *s, const struct strace_call *c, const struct strace_handler *h)
{
	uint64_t start = (uint64_t)c->result, end;
	struct strace_desc *d = NULL;
	struct strace_map *m;
	int64_t len, off;

	(void)h;
	if (c->nr < 6)
		return strace_bad_arg(s, c, c->nr, "6 arguments");
	if (strace_arg_int(s, c, 1, &len) || strace_arg_int(s, c, 5, &off))
		return -EINVAL;
	if (__builtin_add_overflow(start, ((uint64_t)len + 4095) & ~4095ull, &end))
		return strace_bad_arg(s, c, 1, "a length within the address space");
	strace_mm_drop(s, s->proc->mm, start, end);
	if (strace_flag(c->args[3], "MAP_ANONYMOUS"))
		return STRACE_OUTSIDE;
	if (strace_arg_file(s, c, 4, &d))
		return -EINVAL;
	if (!d || d->node->dir)
		return STRACE_OUTSIDE;
	if ((uint64_t)off + (uint64_t)len > d->node->map_size)
		d->node->map_size = (uint64_t)off + (uint64_t)len;
	m = add(s->proc->mm);
	m->start = start;
	m->end = end;
	m->off = (uint64_t)off;
	m->desc = d;
	m->stores = strace_flag(c->args[2], "PROT_WRITE") &&
		    (strace_flag(c->args[3], "MAP_SHARED") ||
		     strace_flag(c->args[3], "MAP_SHARED_VALIDATE"));
	strace_desc_get(d);
	return STRACE_PASSIVE;
}

static bool any(const struct strace_mm *mm, uint64_t start, uint64_t end)
{
	for (uint32_t i = 0; i < mm->nr; i++)
		if (mm->maps[i].start < end && start < mm->maps[i].end)
			return true;
	return false;
}

static int do_munmap(struct strace *s, const struct strace_call *c, const struct strace_handler *h)
{
	uint32_t nr = s->t->v.nr;
	uint64_t start, end;
	bool some;

	(void)h;
	if (range(s, c, &start, &end))
		return -EINVAL;
	some = any(s->proc->mm, start, end);
	strace_mm_drop(s, s->proc->mm, start, end);
	return s->t->v.nr > nr ? STRACE_REPLAYED : some ? STRACE_PASSIVE : STRACE_OUTSIDE;
}

/* mremap(old, old_len, new_len, flags[, new]) = new: moved and resized, or (old_len 0) doubled */
static int do_mremap(struct strace *s, const struct strace_call *c, const struct strace_handler *h)
{
	uint64_t start, end, to = (uint64_t)c->result;
	struct strace_map moved = { 0 };
	int64_t len;

	(void)h;
	if (range(s, c, &start, &end) || strace_arg_int(s, c, 2, &len))
		return -EINVAL;
	for (uint32_t i = 0; i < s->proc->mm->nr; i++) {
		const struct strace_map *m = &s->proc->mm->maps[i];

		if (m->start <= start && start < m->end) {
			moved = *m;
			moved.off += start - m->start;
		}
	}
	if (!moved.desc)
		return STRACE_OUTSIDE;
	strace_desc_get(moved.desc);
	strace_mm_drop(s, s->proc->mm, start, end);
	strace_mm_drop(s, s->proc->mm, to, to + (uint64_t)len);
	moved.start = to;
	moved.end = to + (((uint64_t)len + 4095) & ~4095ull);
	if (moved.off + (uint64_t)len > moved.desc->node->map_size)
		moved.desc->node->map_size = moved.off + (uint64_t)len;
	*add(s->proc->mm) = moved;
	return STRACE_PASSIVE;
}

/* a: 0 msync, 1 madvise; each mapping in the range */
static int do_range(struct strace *s, const struct strace_call *c, const struct strace_handler *h)
{
	struct strace_mm *mm = s->proc->mm;
	int ret = STRACE_OUTSIDE;
	uint64_t start, end;

	if (range(s, c, &start, &end))
		return -EINVAL;
	if (c->nr < 3)
		return strace_bad_arg(s, c, c->nr, "flags");
	for (uint32_t i = 0; i < mm->nr; i++) {
		const struct strace_map *m = &mm->maps[i];
		uint64_t a = m->start > start ? m->start : start;
		uint64_t b = m->end < end ? m->end : end;
		struct foliofs_op op = { .kind = FOLIOFS_OP_MSYNC };

		if (a >= b)
			continue;
		op.off = m->off + (a - m->start);
		op.len = b - a;
		if (ret == STRACE_OUTSIDE)
			ret = STRACE_PASSIVE;
		if (!h->a) {
			stores(s, m, a, b);
			if (!strace_flag(c->args[2], "MS_SYNC"))
				continue;
		} else {
			if (!strace_flag(c->args[2], "MADV_WILLNEED"))
				continue;
			op.kind = FOLIOFS_OP_FADVISE;
			op.flags = FOLIOFS_FADV_WILLNEED;
		}
		strace_emit(s, &op, m->desc, NULL);
		ret = STRACE_REPLAYED;
	}
	return ret;
}

const struct strace_handler strace_map_calls[] = {
	{ "mmap", do_mmap, -1, -1, 0, 0 },
	{ "mmap2", do_mmap, -1, -1, 0, 0 },
	{ "munmap", do_munmap, -1, -1, 0, 0 },
	{ "mremap", do_mremap, -1, -1, 0, 0 },
	{ "msync", do_range, -1, -1, 0, 0 },
	{ "madvise", do_range, -1, -1, 1, 0 },
	{ NULL, NULL, 0, 0, 0, 0 },
};
