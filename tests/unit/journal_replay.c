// SPDX-License-Identifier: MIT
/*
 * The journal against kernel captures: the recorded handles are started,
 * extended, restarted and stopped with the recorded numbers, and dirty as many
 * blocks as they did (invented ones, each new).  Then the model must
 *
 *   put every handle into the transaction that the kernel put it in,
 *   grant every extend that was granted, and refuse where the kernel did (what
 *   ended in a restart, or in -EAGAIN of a writeback round),
 *   wait for a commit where the kernel waited,
 *   count handles and blocks of every transaction as the kernel did.
 *
 * A few captures are in tests/data/journal (journal events only); all of them
 * are used if the directory of captures is there (environment FOLIOFS_GOLDEN,
 * or shared/golden next to the source), with its neighbours of other kernels.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <cmocka.h>
#include "journal/journal.h"

enum kind { START, RESERVED, HSTART, EXTEND, RESTART, STATS, COMMIT, RUN, UNWRITTEN, AGAIN };

static const struct {
	const char *name; /* of the event */
	const char *key[4]; /* what stands before its numbers */
} kinds[] = {
	[START] = { "ext4_journal_start", { " blocks ", " rsv_blocks ", " revoke_creds " } },
	[RESERVED] = { "ext4_journal_start_reserved", { " blocks, " } },
	[HSTART] = { "jbd2_handle_start", { " tid ", " type ", " requested_blocks " } },
	[EXTEND] = { "jbd2_handle_extend", { " tid ", " buffer_credits ", " requested_blocks " } },
	[RESTART] = { "jbd2_handle_restart", { " tid ", " requested_blocks " } },
	[STATS] = { "jbd2_handle_stats", { " tid ", " requested_blocks ", " dirtied_blocks " } },
	[COMMIT] = { "jbd2_start_commit", { " transaction " } },
	[RUN] = { "jbd2_run_stats", { " tid ", " handle_count ", " blocks ", " blocks_logged " } },
	[UNWRITTEN] = { "ext4_ext_map_blocks_exit", { NULL } },
	[AGAIN] = { "ext4_da_write_folios_end", { NULL } },
};

struct event {
	enum kind kind;
	u32 thread, line;
	s64 a[4];
};

#define MAX_THREADS 64
#define MAX_TIDS 4096

struct thread {
	char name[40];
	struct ffs_handle *h;
	const struct event *start; /* START or RESERVED that its handle comes from */
	struct ffs_journal_state at_start;
	u32 commits_at_start;
};

struct replay {
	const char *name;
	struct ffs_env env;
	struct foliofs_journal_limits lim;
	struct foliofs_sink sink;
	const struct foliofs_sink *sinks[1];
	struct ffs_journal *j;
	bool data_journal;
	struct event *ev;
	u32 nr, cap;
	struct thread thread[MAX_THREADS];
	u32 nr_threads;
	u32 first_tid;
	u32 blocks[MAX_TIDS]; /* of the kernel's transactions, by number - first_tid */
	s64 model[MAX_TIDS][3]; /* handles, blocks, logged of the model's */
	u32 pending; /* transaction whose commit has begun with handles open in it */
	struct ffs_handle *rsv[512];
	u32 nr_rsv;
	u64 next_block, dirtied[8192];
	u32 nr_dirtied, dirtied_tid;
	s64 stats[2];
	u32 commits, bad;
};

static struct {
	u32 captures, handles, extends, restarts, refusals, waits, commits;
} total;

__attribute__((format(printf, 3, 4)))
static void bad(struct replay *r, const struct event *e, const char *fmt, ...)
{
	va_list ap;

	if (++r->bad > 5)
		return;
	fprintf(stderr, "%s:%u: ", r->name, e->line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

static void model_event(void *priv, const struct foliofs_event *ev)
{
	struct replay *r = priv;
	u32 i;

	if (ev->id == FOLIOFS_EV_jbd2_handle_stats) {
		r->stats[0] = (s64)ev->arg[5];
		r->stats[1] = (s64)ev->arg[6];
		return;
	}
	if (ev->id == FOLIOFS_EV_jbd2_start_commit) {
		r->commits++;
		return;
	}
	i = (u32)ev->arg[0] - r->first_tid;
	assert_true(i < MAX_TIDS);
	r->model[i][0] = (s64)ev->arg[1];
	r->model[i][1] = (s64)ev->arg[2];
	r->model[i][2] = (s64)ev->arg[3];
}

/* Find or make; its name ends before " [" and the processor. */
static u32 thread_of(struct replay *r, const char *line)
{
	struct thread *t;
	size_t len;
	u32 i;

	line += strspn(line, " ");
	len = strcspn(line, " ");
	if (len >= sizeof(t->name))
		len = sizeof(t->name) - 1;
	for (i = 0; i < r->nr_threads; i++)
		if (!strncmp(r->thread[i].name, line, len) && !r->thread[i].name[len])
			return i;
	assert_true(r->nr_threads < MAX_THREADS);
	t = &r->thread[r->nr_threads++];
	memcpy(t->name, line, len);
	return i;
}

static bool parse(const char *line, struct event *e)
{
	const char *p = strstr(line, ": "), *end, *v;
	u32 k, i, len;

	end = p ? strstr(p + 2, ": ") : NULL;
	if (!end)
		return false;
	p += 2;
	len = (u32)(end - p);
	/* the forms that name the inode or not */
	if (!strncmp(p, "ext4_journal_start_inode:", 25) ||
	    !strncmp(p, "ext4_journal_start_sb:", 22))
		len = 18;
	for (k = 0; k < ARRAY_SIZE(kinds); k++)
		if (strlen(kinds[k].name) == len && !strncmp(p, kinds[k].name, len))
			break;
	if (k == ARRAY_SIZE(kinds))
		return false;
	e->kind = (enum kind)k;
	if (k == UNWRITTEN) {
		v = strstr(end, " mflags ");
		return strstr(end, "UNWRIT") && v && memchr(v + 8, 'U', strcspn(v + 8, " "));
	}
	if (k == AGAIN)
		return strstr(end, " ret -11") != NULL;
	for (i = 0; i < 4 && kinds[k].key[i]; i++) {
		v = strstr(end + 1, kinds[k].key[i]);
		if (!v)
			return false;
		e->a[i] = strtoll(v + strlen(kinds[k].key[i]), NULL, 10);
	}
	return true;
}

static bool load_events(struct replay *r, const char *path)
{
	gzFile f = gzopen(path, "r");
	char line[2048];
	struct event e;
	u32 i, n = 0;

	if (!f)
		return false;
	while (gzgets(f, line, sizeof(line))) {
		e = (struct event){ .line = ++n };
		if (!parse(line, &e))
			continue;
		e.thread = thread_of(r, line);
		if (e.kind == AGAIN) {
			/* the handle that it is about has just been stopped */
			for (i = r->nr; i-- > 0 && r->ev[i].thread != e.thread;)
				;
			if (i < r->nr && r->ev[i].kind == STATS)
				r->ev[i].a[3] = 1;
			continue;
		}
		if (r->nr == r->cap) {
			r->cap = r->cap ? 2 * r->cap : 1024;
			r->ev = ffs_realloc(r->ev, r->cap * sizeof(*r->ev));
		}
		r->ev[r->nr++] = e;
		if (!r->first_tid && e.kind == HSTART)
			r->first_tid = (u32)e.a[0];
		if (e.kind == RUN && (u32)e.a[0] - r->first_tid < MAX_TIDS)
			r->blocks[(u32)e.a[0] - r->first_tid] = (u32)e.a[2];
	}
	gzclose(f);
	return true;
}

static bool load_meta(struct replay *r, const char *path)
{
	struct foliofs_geometry *g = &r->env.geo;
	char line[4096], err[100], *v;
	FILE *f = fopen(path, "r");
	u32 limit = 0;

	if (!f)
		return false;
	*g = (struct foliofs_geometry){ .mount.commit_interval = 300 };
	while (fgets(line, sizeof(line), f)) {
		v = strchr(line, ':');
		if (!v)
			continue;
		*v++ = 0;
		v += strspn(v, " \"");
		v[strcspn(v, "\"\n")] = 0;
		if (!strcmp(line, "kernel")) {
			assert_int_equal(foliofs_kernel_parse(v, &r->env.kernel, err, sizeof(err)),
					 0);
		} else if (!strcmp(line, "block_size")) {
			g->block_size = (u32)atoi(v);
		} else if (!strcmp(line, "journal_blocks")) {
			g->journal_blocks = (u32)atoi(v);
		} else if (!strcmp(line, "max_transaction_blocks")) {
			limit = (u32)atoi(v);
		} else if (!strcmp(line, "mount")) {
			r->data_journal = strstr(v, "data=journal") != NULL;
		} else if (!strcmp(line, "features")) {
			g->features = strstr(v, "has_journal") ? FOLIOFS_FEATURE_HAS_JOURNAL : 0;
			g->features |= strstr(v, "64bit") ? FOLIOFS_FEATURE_64BIT : 0;
			if (strstr(v, "metadata_csum"))
				g->features |= FOLIOFS_FEATURE_METADATA_CSUM;
		}
	}
	fclose(f);
	if (!g->journal_blocks)
		return false;
	foliofs_journal_limits(&r->env.kernel, g, &r->lim);
	assert_int_equal(r->lim.max_transaction, limit);
	return true;
}

/* Dirty new blocks, or forget some of this transaction, until @h has @left credits. */
static void use_credits(struct replay *r, const struct event *e, struct ffs_handle *h, s32 left)
{
	if (r->dirtied_tid != h->tid) {
		r->dirtied_tid = h->tid;
		r->nr_dirtied = 0;
	}
	while (h->credits > left) {
		if (ffs_journal_dirty(h, ++r->next_block)) {
			bad(r, e, "ran out of credits");
			return;
		}
		if (r->nr_dirtied < ARRAY_SIZE(r->dirtied))
			r->dirtied[r->nr_dirtied++] = r->next_block;
	}
	while (h->credits < left && r->nr_dirtied)
		ffs_journal_forget(h, r->dirtied[--r->nr_dirtied]);
	if (h->credits != left)
		bad(r, e, "%d credits left, kernel %d", h->credits, left);
}

static void start_handle(struct replay *r, const struct event *e, struct thread *t)
{
	const struct event *s = t->start;
	u32 i, b, now = r->commits;
	int err;

	total.handles++;
	if (!s) {
		bad(r, e, "a handle without a start");
		return;
	}
	if (s->kind == RESERVED) {
		for (i = 0; i < r->nr_rsv && r->rsv[i]->credits != s->a[0]; i++)
			;
		if (i == r->nr_rsv) {
			bad(r, e, "no reservation of %d", (int)s->a[0]);
			return;
		}
		err = ffs_handle_start_reserved(r->j, r->rsv[i], (enum foliofs_handle_type)e->a[1],
						"replay", &t->h);
		r->nr_rsv--;
		memmove(r->rsv + i, r->rsv + i + 1, (r->nr_rsv - i) * sizeof(*r->rsv));
	} else {
		/* Did it wait for a commit, and had it to? */
		b = foliofs_requested(&r->lim, (u32)s->a[0], (u32)s->a[2]) + (u32)s->a[1];
		if (r->commits != t->commits_at_start) {
			total.waits++;
			if (t->at_start.outstanding + b <= r->lim.max_transaction &&
			    t->at_start.log_free >= r->lim.max_transaction + 32)
				bad(r, e, "waited with %u of %u taken", t->at_start.outstanding,
				    r->lim.max_transaction);
		}
		err = ffs_handle_start(r->j, 1, (enum foliofs_handle_type)e->a[1], (u32)s->a[0],
				       (u32)s->a[1], (u32)s->a[2], "replay", &t->h);
	}
	t->start = s;
	if (err)
		bad(r, e, "start: %d", err);
	else if (t->h->tid != e->a[0])
		bad(r, e, "transaction %u, kernel %u", t->h->tid, (u32)e->a[0]);
	else if (t->h->requested != e->a[2])
		bad(r, e, "requested %d, kernel %d", t->h->requested, (int)e->a[2]);
	else if (r->commits != now)
		bad(r, e, "waited, the kernel did not");
}

/* The transaction is full: what is missing in its number of blocks was dirtied since the extend. */
static void restart_handle(struct replay *r, const struct event *e, struct thread *t)
{
	struct ffs_journal_state s;
	struct ffs_handle *h = t->h;
	u32 blocks = r->blocks[h->tid - r->first_tid];
	s32 n = (s32)e->a[1];

	total.restarts++;
	ffs_journal_state(r->j, &s);
	if (s.blocks > blocks)
		bad(r, e, "%u blocks, kernel %u", s.blocks, blocks);
	else
		use_credits(r, e, h, h->credits - (s32)(blocks - s.blocks));
	if (ffs_handle_ensure(h, n - 1, n - 1, 0) != 1)
		bad(r, e, "extend granted, the kernel restarted");
	if (ffs_handle_restart(h, (u32)n - 1, 1))
		bad(r, e, "restart failed");
	if (h->tid != e->a[0])
		bad(r, e, "restart into %u, kernel %u", h->tid, (u32)e->a[0]);
}

static void stop_handle(struct replay *r, const struct event *e, struct thread *t)
{
	struct ffs_handle *h = t->h;
	s32 one_extent = (s32)t->start->a[0]; /* what a round starts with and makes sure of */

	if (h->requested != e->a[1])
		bad(r, e, "requested %d, kernel %d", h->requested, (int)e->a[1]);
	use_credits(r, e, h, (s32)(e->a[1] - e->a[2]));
	if (e->a[3]) {
		total.refusals++;
		if (ffs_handle_ensure(h, one_extent, one_extent, 0) != 1)
			bad(r, e, "extend granted, the kernel gave the round up");
	}
	ffs_handle_stop(h);
	t->h = NULL;
	t->start = NULL;
	if (r->stats[0] != e->a[1] || r->stats[1] != e->a[2])
		bad(r, e, "statistics %d/%d", (int)r->stats[0], (int)r->stats[1]);
	if (r->pending && r->pending == ffs_journal_tid(r->j))
		ffs_journal_run_thread(r->j);
}

static void commit(struct replay *r, const struct event *e)
{
	u32 tid = (u32)e->a[0];

	if (tid == ffs_journal_tid(r->j)) {
		ffs_journal_request_commit(r->j);
		ffs_journal_run_thread(r->j);
		r->pending = tid;
	} else if (tid != ffs_journal_committed_tid(r->j)) {
		bad(r, e, "commit of %u, running %u", tid, ffs_journal_tid(r->j));
	}
}

static void run_stats(struct replay *r, const struct event *e)
{
	const s64 *m = r->model[(u32)e->a[0] - r->first_tid];
	s64 revoke;

	total.commits++;
	if (m[0] != e->a[1])
		bad(r, e, "%d handles, kernel %d", (int)m[0], (int)e->a[1]);
	/* data=journal: pages thrown away take blocks out */
	if (r->data_journal ? m[1] < e->a[2] : m[1] != e->a[2])
		bad(r, e, "%d blocks, kernel %d", (int)m[1], (int)e->a[2]);
	/* revoke records are not replayed: their blocks are what is more */
	revoke = e->a[3] - m[2];
	if (m[1] == e->a[2] && (revoke < 0 || revoke > 3))
		bad(r, e, "%d blocks logged, kernel %d", (int)m[2], (int)e->a[3]);
}

static void replay_event(struct replay *r, const struct event *e)
{
	struct thread *t = &r->thread[e->thread];

	ffs_journal_switch_task(r->j, t->h);
	switch (e->kind) {
	case START:
	case RESERVED:
		if (t->h)
			break; /* nested */
		t->start = e;
		t->commits_at_start = r->commits;
		ffs_journal_state(r->j, &t->at_start);
		break;
	case HSTART:
		start_handle(r, e, t);
		break;
	case EXTEND:
		total.extends++;
		if (!t->h)
			break;
		use_credits(r, e, t->h, (s32)e->a[1]);
		if (ffs_handle_extend(t->h, (u32)e->a[2], 0))
			bad(r, e, "extend refused");
		break;
	case RESTART:
		if (t->h)
			restart_handle(r, e, t);
		break;
	case STATS:
		if (t->h)
			stop_handle(r, e, t);
		break;
	case COMMIT:
		commit(r, e);
		break;
	case RUN:
		break; /* at the end: a handle that leaves it may print after it */
	case UNWRITTEN:
		if (!t->h || !t->h->rsv)
			break;
		assert_true(r->nr_rsv < ARRAY_SIZE(r->rsv));
		r->rsv[r->nr_rsv++] = ffs_handle_take_reserved(t->h);
		break;
	case AGAIN:
		break;
	}
}

/* Number of differences; negative: nothing to replay. */
static int replay(const char *meta, const char *events)
{
	static const u16 wanted[] = {
		FOLIOFS_EV_jbd2_handle_stats, FOLIOFS_EV_jbd2_run_stats,
		FOLIOFS_EV_jbd2_start_commit,
	};
	struct replay *r = ffs_zalloc(sizeof(*r));
	int ret = -1;
	u32 i;

	r->name = events;
	if (!load_meta(r, meta) || !load_events(r, events) || !r->first_tid)
		goto out;
	r->sink.event = model_event;
	r->sink.priv = r;
	r->sinks[0] = &r->sink;
	r->env.sinks = r->sinks;
	r->env.nr_sinks = 1;
	for (i = 0; i < ARRAY_SIZE(wanted); i++)
		r->sink.wants[wanted[i]] = r->env.on[wanted[i]] = 1;
	r->j = ffs_journal_new(&r->env, r->first_tid, NULL);
	for (i = 0; i < r->nr && r->bad < 5; i++)
		replay_event(r, &r->ev[i]);
	for (i = 0; i < r->nr && r->bad < 5; i++)
		if (r->ev[i].kind == RUN)
			run_stats(r, &r->ev[i]);
	ffs_journal_free(r->j);
	total.captures++;
	ret = (int)r->bad;
out:
	free(r->ev);
	free(r);
	return ret;
}

/* All captures below @dir: NAME/meta.yaml, NAME/events.txt[.gz]. */
static u32 replay_dir(const char *dir)
{
	char meta[1300], events[1300];
	struct dirent **list;
	u32 failed = 0;
	int i, n = scandir(dir, &list, NULL, alphasort), ret;

	for (i = 0; i < n; i++) {
		snprintf(meta, sizeof(meta), "%s/%s/meta.yaml", dir, list[i]->d_name);
		snprintf(events, sizeof(events), "%s/%s/events.txt.gz", dir, list[i]->d_name);
		ret = replay(meta, events);
		if (ret < 0) {
			events[strlen(events) - 3] = 0;
			ret = replay(meta, events);
		}
		failed += ret > 0;
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	return failed;
}

static void kept_here(void **state)
{
	static const char *const names[] = {
		"6.18-credit-2560g-j1", "6.18-punch-scatter-2550g-j1", "6.18-rand-38-trunc-1k",
		"6.12-credit-2550g-4k-j4", "6.1-datajournal-2m-1k-j1",
	};
	char meta[400], events[400];
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(meta, sizeof(meta), SOURCE_DIR "/tests/data/journal/%s.meta", names[i]);
		snprintf(events, sizeof(events), SOURCE_DIR "/tests/data/journal/%s.events.gz",
			 names[i]);
		assert_int_equal(replay(meta, events), 0);
	}
}

static void all_captures(void **state)
{
	static const char *const kernels[] = { "", "-6.1", "-6.12", "-6.12-depth" };
	const char *base = getenv("FOLIOFS_GOLDEN");
	char dir[1000];
	u32 i, failed = 0;

	(void)state;
	memset(&total, 0, sizeof(total));
	if (!base)
		base = SOURCE_DIR "/../shared/golden";
	for (i = 0; i < ARRAY_SIZE(kernels); i++) {
		snprintf(dir, sizeof(dir), "%s%s", base, kernels[i]);
		failed += replay_dir(dir);
	}
	if (!total.captures)
		skip();
	print_message("%u captures: %u handles, %u extends granted, %u refused, %u restarts, "
		      "%u waits, %u commits\n", total.captures, total.handles, total.extends, total.refusals,
		      total.restarts, total.waits, total.commits);
	assert_int_equal(failed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kept_here),
		cmocka_unit_test(all_captures),
	};

	return cmocka_run_group_tests_name("journal_replay", tests, NULL, NULL);
}
