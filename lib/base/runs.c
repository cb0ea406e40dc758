// SPDX-License-Identifier: MIT
/* Sorted map of runs: see runs.h. */
#include "runs.h"

void ffs_runs_free(struct ffs_runs *m)
{
	u32 i;

	for (i = 0; i < m->nr_chunks; i++)
		free(m->chunk[i]);
	free(m->chunk);
	free(m->end);
	*m = (struct ffs_runs){ 0 };
}

void ffs_runs_copy(struct ffs_runs *to, const struct ffs_runs *from)
{
	u32 i;

	ffs_runs_free(to);
	*to = *from;
	to->cap_chunks = from->nr_chunks;
	to->chunk = ffs_zalloc(from->nr_chunks * sizeof(*to->chunk));
	to->end = ffs_zalloc(from->nr_chunks * sizeof(*to->end));
	if (from->nr_chunks)
		memcpy(to->end, from->end, from->nr_chunks * sizeof(*to->end));
	for (i = 0; i < from->nr_chunks; i++) {
		to->chunk[i] = ffs_zalloc(sizeof(**to->chunk));
		memcpy(to->chunk[i], from->chunk[i], sizeof(**to->chunk));
	}
}

/* First chunk whose last run ends behind @key; nr_chunks if none. */
static u32 find_chunk(const struct ffs_runs *m, u64 key)
{
	const u64 *at = m->end;
	u32 n = m->nr_chunks;

	if (!n)
		return 0;
	while (n > 1) {
		u32 half = n / 2;

		at += at[half - 1] <= key ? half : 0;
		n -= half;
	}
	return (u32)(at - m->end) + (*at <= key);
}

/* First run of @c that ends behind @key; the last one does. */
static u32 find_run(const struct ffs_runs_chunk *c, u64 key)
{
	const struct ffs_run *at = c->run;
	u32 n = c->n;

	while (n > 1) {
		u32 half = n / 2;

		at += at[half - 1].end <= key ? half : 0;
		n -= half;
	}
	return (u32)(at - c->run);
}

/* The last run of chunk @i may have changed. */
static void update_end(struct ffs_runs *m, u32 i)
{
	m->end[i] = m->chunk[i]->run[m->chunk[i]->n - 1].end;
}

/* The run at @p is the first that ends behind @key. */
static bool is_at(const struct ffs_runs *m, struct ffs_runs_pos p, u64 key)
{
	const struct ffs_runs_chunk *c = m->chunk[p.chunk];

	if (p.i >= c->n || c->run[p.i].end <= key)
		return false;
	if (p.i)
		return c->run[p.i - 1].end <= key;
	return !p.chunk || m->end[p.chunk - 1] <= key;
}

/* Where the last lookup ended, or one further: what goes on where it was needs no search. */
static bool near_hint(const struct ffs_runs *m, u64 key, struct ffs_runs_pos *pos)
{
	*pos = m->hint;
	if (pos->chunk >= m->nr_chunks)
		return false;
	if (is_at(m, *pos, key))
		return true;
	if (++pos->i >= m->chunk[pos->chunk]->n) {
		pos->i = 0;
		if (++pos->chunk >= m->nr_chunks)
			return false;
	}
	return is_at(m, *pos, key);
}

const struct ffs_run *ffs_runs_at(const struct ffs_runs *m, u64 key, struct ffs_runs_pos *pos)
{
	if (!near_hint(m, key, pos)) {
		pos->chunk = find_chunk(m, key);
		pos->i = 0;
		if (pos->chunk == m->nr_chunks)
			return NULL;
		pos->i = find_run(m->chunk[pos->chunk], key);
	}
	((struct ffs_runs *)m)->hint = *pos;
	return &m->chunk[pos->chunk]->run[pos->i];
}

const struct ffs_run *ffs_runs_next(const struct ffs_runs *m, struct ffs_runs_pos *pos)
{
	if (pos->chunk >= m->nr_chunks)
		return NULL;
	if (++pos->i < m->chunk[pos->chunk]->n)
		return &m->chunk[pos->chunk]->run[pos->i];
	pos->i = 0;
	if (++pos->chunk >= m->nr_chunks)
		return NULL;
	return &m->chunk[pos->chunk]->run[0];
}

const struct ffs_run *ffs_runs_prev(const struct ffs_runs *m, struct ffs_runs_pos *pos)
{
	if (pos->chunk < m->nr_chunks && pos->i)
		return &m->chunk[pos->chunk]->run[--pos->i];
	if (!pos->chunk)
		return NULL;
	pos->chunk--;
	pos->i = m->chunk[pos->chunk]->n - 1;
	return &m->chunk[pos->chunk]->run[pos->i];
}

const struct ffs_run *ffs_runs_find(const struct ffs_runs *m, u64 key)
{
	struct ffs_runs_pos pos;
	const struct ffs_run *r = ffs_runs_at(m, key, &pos);

	return r && r->first <= key ? r : NULL;
}

static void changed(struct ffs_runs *m, u64 first, u64 end)
{
	m->changed_first = m->changed_end ? min(m->changed_first, first) : first;
	m->changed_end = max(m->changed_end, end);
	m->changes++;
}

static void insert_chunk(struct ffs_runs *m, u32 at)
{
	if (m->nr_chunks == m->cap_chunks) {
		m->cap_chunks = m->cap_chunks ? 2 * m->cap_chunks : 4;
		m->chunk = ffs_realloc(m->chunk, m->cap_chunks * sizeof(*m->chunk));
		m->end = ffs_realloc(m->end, m->cap_chunks * sizeof(*m->end));
	}
	memmove(&m->chunk[at + 1], &m->chunk[at], (m->nr_chunks - at) * sizeof(*m->chunk));
	memmove(&m->end[at + 1], &m->end[at], (m->nr_chunks - at) * sizeof(*m->end));
	m->chunk[at] = ffs_zalloc(sizeof(**m->chunk));
	m->nr_chunks++;
}

static void remove_chunk(struct ffs_runs *m, u32 at)
{
	free(m->chunk[at]);
	m->nr_chunks--;
	memmove(&m->chunk[at], &m->chunk[at + 1], (m->nr_chunks - at) * sizeof(*m->chunk));
	memmove(&m->end[at], &m->end[at + 1], (m->nr_chunks - at) * sizeof(*m->end));
}

/* A position behind the last run of its chunk is the first of the next one. */
static void normalise(const struct ffs_runs *m, struct ffs_runs_pos *pos)
{
	if (pos->chunk < m->nr_chunks && pos->i == m->chunk[pos->chunk]->n) {
		pos->chunk++;
		pos->i = 0;
	}
}

/* Insert @run before *pos (which may be behind the last run); *pos: where it is now. */
static void insert_run(struct ffs_runs *m, struct ffs_runs_pos *pos, struct ffs_run run)
{
	struct ffs_runs_chunk *c;

	if (pos->chunk == m->nr_chunks) {
		if (pos->chunk && m->chunk[pos->chunk - 1]->n < FFS_RUNS_CHUNK) {
			pos->chunk--;
			pos->i = m->chunk[pos->chunk]->n;
		} else {
			insert_chunk(m, pos->chunk);
		}
	}
	c = m->chunk[pos->chunk];
	if (c->n == FFS_RUNS_CHUNK) {
		struct ffs_runs_chunk *right;
		u32 half = FFS_RUNS_CHUNK / 2;

		insert_chunk(m, pos->chunk + 1);
		right = m->chunk[pos->chunk + 1];
		right->n = c->n - half;
		memcpy(right->run, &c->run[half], right->n * sizeof(*c->run));
		c->n = half;
		update_end(m, pos->chunk);
		update_end(m, pos->chunk + 1);
		if (pos->i > half) {
			c = right;
			pos->chunk++;
			pos->i -= half;
		}
	}
	memmove(&c->run[pos->i + 1], &c->run[pos->i], (c->n - pos->i) * sizeof(*c->run));
	c->run[pos->i] = run;
	c->n++;
	m->nr++;
	update_end(m, pos->chunk);
}

/* Remove @n runs from @pos on, all in its chunk; @pos is that of the run behind them. */
static void remove_runs(struct ffs_runs *m, struct ffs_runs_pos *pos, u32 n)
{
	struct ffs_runs_chunk *c = m->chunk[pos->chunk];

	c->n -= n;
	m->nr -= n;
	memmove(&c->run[pos->i], &c->run[pos->i + n], (c->n - pos->i) * sizeof(*c->run));
	if (!c->n) {
		remove_chunk(m, pos->chunk);
	} else {
		update_end(m, pos->chunk);
		normalise(m, pos);
	}
}

/*
 * Cut [first, end) out, from the run at *pos on, the first that ends behind @first; *pos
 * becomes the place of a run that begins at @first.
 */
static void cut(struct ffs_runs *m, struct ffs_runs_pos *pos, u64 first, u64 end)
{
	struct ffs_run *r;

	if (pos->chunk == m->nr_chunks)
		return;
	r = &m->chunk[pos->chunk]->run[pos->i];
	if (r->first < first) {
		struct ffs_run tail = *r;

		r->end = first;
		update_end(m, pos->chunk);
		pos->i++;
		if (tail.end > end) {
			tail.first = end;
			insert_run(m, pos, tail);
			return;
		}
		normalise(m, pos);
	}
	while (pos->chunk < m->nr_chunks) {
		struct ffs_runs_chunk *c = m->chunk[pos->chunk];
		u32 n = 0;

		while (pos->i + n < c->n && c->run[pos->i + n].end <= end)
			n++;
		if (pos->i + n < c->n) {
			/* the last one is only touched, or not at all */
			c->run[pos->i + n].first = max(c->run[pos->i + n].first, end);
			if (n)
				remove_runs(m, pos, n);
			return;
		}
		remove_runs(m, pos, n);
	}
}

void ffs_runs_clear(struct ffs_runs *m, u64 first, u64 end)
{
	struct ffs_runs_pos pos;

	if (first >= end)
		return;
	changed(m, first, end);
	if (ffs_runs_at(m, first, &pos))
		cut(m, &pos, first, end);
}

/* Put a new run before @pos, or let a neighbour that is adjacent and equal grow. */
static void place(struct ffs_runs *m, struct ffs_runs_pos pos, u64 first, u64 end, u64 a, u64 b)
{
	struct ffs_runs_pos left = pos;
	struct ffs_run *l = (struct ffs_run *)ffs_runs_prev(m, &left);
	struct ffs_run *r = pos.chunk < m->nr_chunks ? &m->chunk[pos.chunk]->run[pos.i] : NULL;
	bool join_right = r && r->first == end && r->a == a && r->b == b;

	if (l && l->end == first && l->a == a && l->b == b) {
		l->end = join_right ? r->end : end;
		update_end(m, left.chunk);
		if (join_right)
			remove_runs(m, &pos, 1);
	} else if (join_right) {
		r->first = first;
	} else {
		insert_run(m, &pos, (struct ffs_run){ first, end, a, b });
	}
}

void ffs_runs_set(struct ffs_runs *m, u64 first, u64 end, u64 a, u64 b)
{
	struct ffs_runs_pos pos;
	const struct ffs_run *r;

	if (first >= end)
		return;
	r = ffs_runs_at(m, first, &pos);
	if (r && r->first <= first && r->a == a && r->b == b && r->end >= end)
		return;
	changed(m, first, end);
	if (r && r->first < end)
		cut(m, &pos, first, end);
	place(m, pos, first, end, a, b);
}
