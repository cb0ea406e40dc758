// SPDX-License-Identifier: MIT
/* Statistics of a run: see stats.h. */
#include "stats.h"

#include <string.h>

static const char *const type_names[] = {
	"misc",	 "inode",   "write page", "map blocks",	  "dir",   "truncate",
	"quota", "resize", "migrate",	 "move extents", "xattr", "convert unwritten",
};

const char *stats_type_name(unsigned int type)
{
	return type < FOLIOFS_HT_COUNT ? type_names[type] : "other";
}

double stats_tightness(const struct stats_type *t)
{
	uint64_t granted = t->asked + t->extended;

	return granted ? (double)t->dirtied / (double)granted : 1.0;
}

static void more(int64_t *max, int64_t v)
{
	if (v > *max)
		*max = v;
}

static unsigned int hist_of(uint64_t v)
{
	unsigned int n = v ? 63u - (unsigned int)__builtin_clzll(v) : 0;

	return n < STATS_HIST ? n : STATS_HIST - 1;
}

static uint64_t arg(const struct foliofs_event *ev, unsigned int i)
{
	return i < ev->nargs ? ev->arg[i] : 0;
}

static const char *str(const struct foliofs_event *ev, unsigned int i)
{
	const char *s = (const char *)(uintptr_t)arg(ev, i);

	return s ? s : "";
}

/* As much of @text as fits. */
static void copy(char *out, size_t len, const char *text)
{
	size_t n = strnlen(text, len - 1);

	memcpy(out, text, n);
	out[n] = 0;
}

/* The step of handle @n; all steps are made twice as wide until it fits. */
static struct stats_step *handle_step(struct stats *s, uint64_t n)
{
	while (n / s->step_width >= STATS_STEPS) {
		unsigned int i;

		for (i = 0; i < STATS_STEPS; i++) {
			struct stats_step a = { 0 }, b;

			if (i < STATS_STEPS / 2) {
				a = s->step[2 * i];
				b = s->step[2 * i + 1];
				a.n += b.n;
				more(&a.asked_max, b.asked_max);
				more(&a.dirtied_max, b.dirtied_max);
				more(&a.rsv_max, b.rsv_max);
			}
			s->step[i] = a;
		}
		s->step_width *= 2;
	}
	return &s->step[n / s->step_width];
}

static uint32_t *order_step(struct stats *s, uint32_t op)
{
	while (op / s->order_width >= STATS_STEPS) {
		unsigned int i, k;

		for (i = 0; i < STATS_STEPS; i++)
			for (k = 0; k < STATS_ORDERS; k++)
				s->order_step[i][k] = i < STATS_STEPS / 2 ?
					s->order_step[2 * i][k] + s->order_step[2 * i + 1][k] : 0;
		s->order_width *= 2;
	}
	return s->order_step[op / s->order_width];
}

static struct stats_caller *caller_of(struct stats *s, const struct stats_handle *h)
{
	uint32_t i;

	for (i = 0; i < s->nr_callers; i++)
		if (s->caller[i].type == h->type && !strcmp(s->caller[i].name, h->caller))
			return &s->caller[i];
	if (s->nr_callers == STATS_CALLERS)
		return NULL;
	s->caller[i].type = h->type;
	memcpy(s->caller[i].name, h->caller, sizeof(h->caller));
	return &s->caller[s->nr_callers++];
}

static void start_asked(struct stats *s, const struct foliofs_event *ev, int64_t rsv,
			const char *caller)
{
	struct stats_handle *p = &s->pending[ev->thread & 3];

	p->rsv = rsv;
	copy(p->caller, sizeof(p->caller), caller);
}

static void handle_start(struct stats *s, const struct foliofs_event *ev)
{
	struct stats_handle *h = &s->handle[ev->thread & 3], *p = &s->pending[ev->thread & 3];
	uint64_t type = arg(ev, 1);

	*h = *p;
	memset(p, 0, sizeof(*p));
	h->open = true;
	h->type = type < FOLIOFS_HT_COUNT ? (uint8_t)type : 0;
	h->asked = (int64_t)arg(ev, 3);
	h->op = ev->op;
}

static void count_type(struct stats_type *t, const struct stats_handle *h, int64_t dirtied)
{
	t->handles++;
	t->asked += (uint64_t)h->asked;
	t->rsv += (uint64_t)h->rsv;
	t->extended += (uint64_t)h->extended;
	t->dirtied += (uint64_t)(dirtied > 0 ? dirtied : 0);
	t->used_up += dirtied >= h->asked + h->extended;
	more(&t->asked_max, h->asked + h->extended);
	more(&t->dirtied_max, dirtied);
	more(&t->rsv_max, h->rsv);
}

/* jbd2_handle_stats: the end of a handle. */
static void handle_end(struct stats *s, const struct foliofs_event *ev)
{
	struct stats_handle *h = &s->handle[ev->thread & 3], lone = { 0 };
	int64_t requested = (int64_t)arg(ev, 5), dirtied = (int64_t)arg(ev, 6);
	struct stats_caller *c;
	struct stats_step *st;

	if (!h->open) { /* its start was before the first event */
		h = &lone;
		h->type = arg(ev, 1) < FOLIOFS_HT_COUNT ? (uint8_t)arg(ev, 1) : 0;
		h->asked = requested;
		h->op = ev->op;
	}
	/* what the end tells counts: a restart begins anew */
	h->extended = requested - h->asked;
	st = handle_step(s, s->all.handles);
	count_type(&s->type[h->type], h, dirtied);
	count_type(&s->all, h, dirtied);
	st->n++;
	more(&st->asked_max, requested);
	more(&st->dirtied_max, dirtied);
	more(&st->rsv_max, h->rsv);
	c = caller_of(s, h);
	if (c) {
		c->handles++;
		more(&c->dirtied_max, dirtied);
		if (requested + h->rsv > c->asked + c->extended + c->rsv || c->handles == 1) {
			c->asked = h->asked;
			c->rsv = h->rsv;
			c->extended = h->extended;
			c->dirtied = dirtied;
			c->op = h->op;
			c->tid = (uint32_t)arg(ev, 0);
		}
	}
	memset(&s->handle[ev->thread & 3], 0, sizeof(*h));
}

static void rule_broken(struct stats *s, const struct foliofs_event *ev)
{
	struct stats_rule *r;
	uint32_t i;

	s->broken++;
	for (i = 0; i < s->nr_rules; i++) {
		if (!strcmp(s->rule[i].id, str(ev, 0))) {
			s->rule[i].count++;
			return;
		}
	}
	if (s->nr_rules == STATS_RULES)
		return;
	r = &s->rule[s->nr_rules++];
	copy(r->id, sizeof(r->id), str(ev, 0));
	copy(r->text, sizeof(r->text), str(ev, 2));
	r->op = ev->op;
	r->count = 1;
}

#define COUNT(s, ev, field, n)                                                                     \
	do {                                                                                       \
		uint64_t type_ = arg(ev, n);                                                       \
		if (type_ < FOLIOFS_HT_COUNT)                                                      \
			(s)->type[type_].field++;                                                  \
		(s)->all.field++;                                                                  \
	} while (0)

static void count_map(struct stats *s, const struct foliofs_event *ev)
{
	/* CREATE without CONVERT: not the answers about what is there, not the end of I/O */
	if ((arg(ev, 1) & 0x11) != 1 || (int64_t)arg(ev, 6) <= 0)
		return;
	s->extents_mapped++;
	s->blocks_mapped += arg(ev, 4);
	s->extent_hist[hist_of(arg(ev, 4))]++;
}

static void count_transaction(struct stats *s, const struct foliofs_event *ev)
{
	s->transactions++;
	s->t_handles += arg(ev, 1);
	s->t_blocks += arg(ev, 2);
	s->t_logged += arg(ev, 3);
	if (arg(ev, 1) > s->t_handles_max)
		s->t_handles_max = arg(ev, 1);
	if (arg(ev, 2) > s->t_blocks_max)
		s->t_blocks_max = arg(ev, 2);
	if (arg(ev, 3) > s->t_logged_max)
		s->t_logged_max = arg(ev, 3);
}

static void message(struct stats *s, const char *text)
{
	if (!s->first_message[0])
		copy(s->first_message, sizeof(s->first_message), text);
}

/* The events that count credits: true if @ev is one. */
static bool credit_event(struct stats *s, const struct foliofs_event *ev)
{
	char text[240] = "the journal was aborted: ";
	size_t n = strlen(text);

	switch (ev->id) {
	case FOLIOFS_EV_ext4_journal_start_inode:
		start_asked(s, ev, (int64_t)arg(ev, 1), str(ev, 5));
		return true;
	case FOLIOFS_EV_ext4_journal_start_sb:
		start_asked(s, ev, (int64_t)arg(ev, 1), str(ev, 4));
		return true;
	case FOLIOFS_EV_ext4_journal_start_reserved:
		start_asked(s, ev, 0, str(ev, 1));
		return true;
	case FOLIOFS_EV_jbd2_handle_start:
		handle_start(s, ev);
		return true;
	case FOLIOFS_EV_jbd2_handle_extend:
		COUNT(s, ev, extends, 1);
		return true;
	case FOLIOFS_EV_jbd2_handle_restart:
		COUNT(s, ev, restarts, 1);
		return true;
	case FOLIOFS_EV_jbd2_handle_stats:
		handle_end(s, ev);
		return true;
	case FOLIOFS_EV_jbd2_run_stats:
		count_transaction(s, ev);
		return true;
	case FOLIOFS_EV_foliofs_start_refused:
		COUNT(s, ev, refused, 0);
		return true;
	case FOLIOFS_EV_foliofs_extend_refused:
		COUNT(s, ev, extends_refused, 1);
		return true;
	case FOLIOFS_EV_foliofs_handle_dry:
		COUNT(s, ev, dry, 1);
		return true;
	case FOLIOFS_EV_foliofs_journal_abort:
		s->aborts++;
		copy(text + n, sizeof(text) - n, str(ev, 1));
		message(s, text);
		return true;
	}
	return false;
}

static void count_bio(struct stats *s, const struct foliofs_event *ev)
{
	struct stats_io *io = &s->io[arg(ev, 1) ? 1 : 0];
	uint64_t block = arg(ev, 2), len = arg(ev, 3), pos = arg(ev, 4);

	if (!io->bios || io->ino != arg(ev, 0) || io->block != block || io->pos > pos)
		io->bios++;
	io->blocks += len;
	io->ino = arg(ev, 0);
	io->block = block + len;
	io->pos = pos;
}

void stats_event(struct stats *s, const struct foliofs_event *ev)
{
	/* (Not counted as events: they are a second view of others.) */
	if (ev->id == FOLIOFS_EV_foliofs_bio) {
		count_bio(s, ev);
		return;
	}
	if (ev->id == FOLIOFS_EV_iomap_iter_dstmap) {
		s->iomaps++;
		return;
	}
	s->events++;
	if (ev->op != s->last_op) {
		s->ops++;
		s->last_op = ev->op;
	}
	if (credit_event(s, ev))
		return;
	switch (ev->id) {
	case FOLIOFS_EV_mm_filemap_add_to_page_cache:
		if (arg(ev, 0) == 1) /* the allocator's buddy cache */
			return;
		if (arg(ev, 2) < STATS_ORDERS) {
			s->order[arg(ev, 2)]++;
			order_step(s, ev->op)[arg(ev, 2)]++;
		}
		return;
	case FOLIOFS_EV_mm_filemap_delete_from_page_cache:
		s->deleted += arg(ev, 0) != 1;
		return;
	case FOLIOFS_EV_ext4_writepages:
		s->rounds++;
		return;
	case FOLIOFS_EV_ext4_writepages_result:
		s->folios_written += (uint64_t)((int64_t)arg(ev, 2) > 0 ? arg(ev, 2) : 0);
		s->rounds_empty += (int64_t)arg(ev, 2) <= 0;
		return;
	case FOLIOFS_EV_ext4_ext_map_blocks_exit:
	case FOLIOFS_EV_ext4_ind_map_blocks_exit:
		count_map(s, ev);
		return;
	case FOLIOFS_EV_ext4_allocate_blocks:
		s->pieces++;
		s->piece_blocks += arg(ev, 2);
		s->piece_hist[hist_of(arg(ev, 2))]++;
		return;
	case FOLIOFS_EV_ext4_free_blocks:
		s->frees++;
		s->freed_blocks += arg(ev, 3);
		return;
	case FOLIOFS_EV_foliofs_rule:
		rule_broken(s, ev);
		return;
	case FOLIOFS_EV_foliofs_stale:
		s->stale++;
		return;
	case FOLIOFS_EV_foliofs_livelock:
		s->livelocks++;
		return;
	case FOLIOFS_EV_foliofs_message:
		message(s, str(ev, 0));
		return;
	}
}

static void on_event(void *priv, const struct foliofs_event *ev)
{
	stats_event(priv, ev);
}

void stats_init(struct stats *s)
{
	static const enum foliofs_event_id wanted[] = {
		FOLIOFS_EV_mm_filemap_add_to_page_cache,
		FOLIOFS_EV_mm_filemap_delete_from_page_cache,
		FOLIOFS_EV_ext4_journal_start_inode,
		FOLIOFS_EV_ext4_journal_start_sb,
		FOLIOFS_EV_ext4_journal_start_reserved,
		FOLIOFS_EV_jbd2_handle_start,
		FOLIOFS_EV_jbd2_handle_extend,
		FOLIOFS_EV_jbd2_handle_restart,
		FOLIOFS_EV_jbd2_handle_stats,
		FOLIOFS_EV_jbd2_run_stats,
		FOLIOFS_EV_ext4_writepages,
		FOLIOFS_EV_ext4_writepages_result,
		FOLIOFS_EV_ext4_ext_map_blocks_exit,
		FOLIOFS_EV_ext4_ind_map_blocks_exit,
		FOLIOFS_EV_ext4_allocate_blocks,
		FOLIOFS_EV_ext4_free_blocks,
		FOLIOFS_EV_foliofs_start_refused,
		FOLIOFS_EV_foliofs_extend_refused,
		FOLIOFS_EV_foliofs_handle_dry,
		FOLIOFS_EV_foliofs_journal_abort,
		FOLIOFS_EV_foliofs_rule,
		FOLIOFS_EV_foliofs_stale,
		FOLIOFS_EV_foliofs_livelock,
		FOLIOFS_EV_foliofs_message,
		FOLIOFS_EV_foliofs_bio,
		FOLIOFS_EV_iomap_iter_dstmap,
	};
	size_t i;

	memset(s, 0, sizeof(*s));
	s->step_width = s->order_width = 1;
	s->sink.event = on_event;
	s->sink.priv = s;
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		s->sink.wants[wanted[i]] = 1;
}
