/* SPDX-License-Identifier: MIT */
/*
 * The recorded side of unit_blockmap_replay: lines of a capture, comparing what the
 * block maps print with them, and a journal and an allocator that answer what the
 * capture shows.
 */
#ifndef BLOCKMAP_CAPTURE_H
#define BLOCKMAP_CAPTURE_H

/* Stand-ins for other layers take what these take, tests the state of cmocka. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <dirent.h>
#include <unistd.h>
#include <zlib.h>
#include <cmocka.h>
#include <foliofs/mkfs.h>
#include "alloc/alloc.h"
#include "blockmap/blockmap.h"

#define LINE 1024
#define MAX_INO 4096

enum line_kind {
	L_EVENT, /* compared */
	L_MID, /* mark_inode_dirty by somebody else */
	L_OP, L_START, L_STATS, L_MODE, L_END_MODE,
};

enum mode { M_NONE, M_TRUNCATE, M_PUNCH, M_COLLAPSE, M_INSERT };

struct line {
	enum line_kind kind;
	s32 handle; /* that is open, -1: none */
	u32 no, ino, op;
	char *text; /* "name: fields", without the device */
	u8 mode;
	u64 off, len;
};

struct handle {
	struct ffs_handle h;
	u32 type;
	s32 dirtied, seen, requested;
	bool truncate;
	bool odd; /* something in it that this test does not know */
};

struct dirty {
	u32 tid;
	u64 blk;
};

static struct replay {
	struct ffs_env env;
	struct ffs_blockmap bm;
	struct foliofs_sink sink;
	const struct foliofs_sink *sinks[1];
	struct line *line;
	u32 nr, cap, pos;
	struct handle *handle;
	u32 nr_handles, cap_handles;
	struct ffs_inode *inode[MAX_INO];
	bool skip[MAX_INO];
	struct dirty *dirty; /* hash set, open addressing */
	u32 dirty_cap, dirty_n;
	char file[64][64];
	u32 file_ino[64], nr_files;
	bool no_delayed; /* the capture has no events of delayed blocks */
	bool no_mid; /* nor of inodes marked dirty */
	bool verbose, inline_data, lost;
	s32 now; /* handle of the question */
	enum mode mode;
	u64 mode_off, mode_len;
	char op[512];
	u32 events, wrong, stats, wrong_stats;
	char first_wrong[3 * LINE];
} r;

/* --- the recorded lines --- */

static u64 field(const char *text, const char *key)
{
	char find[64];
	const char *p;

	snprintf(find, sizeof(find), " %s ", key);
	p = strstr(text, find);
	return p ? strtoull(p + strlen(find), NULL, 10) : 0;
}

static bool is(const char *text, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(text, name, n) && text[n] == ':';
}

static const char *const compared[] = {
	"ext4_ext_map_blocks_exit", "ext4_ind_map_blocks_exit",
	"ext4_ext_handle_unwritten_extents", "ext4_es_insert_extent",
	"ext4_es_insert_delayed_extent", "ext4_es_insert_delayed_block",
	"ext4_es_remove_extent", "ext4_ext_remove_space", "ext4_remove_blocks",
	"ext4_da_reserve_space", "ext4_da_update_reserve_space", "ext4_da_release_space",
	"ext4_request_blocks", "ext4_allocate_blocks", "ext4_free_blocks",
};

static const char *const our_callers[] = {
	"ext4_ext_insert_extent", "ext4_ext_map_blocks", "ext4_split_extent_at",
	"ext4_ext_remove_space", "ext4_ext_shift_extents", "ext4_ext_correct_indexes",
	"ext4_swap_extents", "ext4_ext_rm_idx", "ext4_ind_map_blocks", "ext4_ext_truncate",
};

static bool in_list(const char *text, const char *const *list, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (!strncmp(text, list[i], strlen(list[i])) &&
		    !strchr("abcdefghijklmnopqrstuvwxyz_", text[strlen(list[i])] ?
			    text[strlen(list[i])] : ':'))
			return true;
	return false;
}

static struct line *add_line(enum line_kind kind, u32 no, const char *text)
{
	struct line *l;

	if (r.nr == r.cap) {
		r.cap = r.cap ? 2 * r.cap : 1024;
		r.line = ffs_realloc(r.line, r.cap * sizeof(*r.line));
	}
	l = &r.line[r.nr++];
	memset(l, 0, sizeof(*l));
	l->kind = kind;
	l->no = no;
	l->handle = -1;
	l->text = strdup(text);
	return l;
}

static struct handle *add_handle(const char *text)
{
	struct handle *h;

	if (r.nr_handles == r.cap_handles) {
		r.cap_handles = r.cap_handles ? 2 * r.cap_handles : 1024;
		r.handle = ffs_realloc(r.handle, r.cap_handles * sizeof(*r.handle));
	}
	h = &r.handle[r.nr_handles++];
	memset(h, 0, sizeof(*h));
	h->h.tid = (u32)field(text, "tid");
	h->type = (u32)field(text, "type");
	h->requested = (s32)field(text, "requested_blocks");
	return h;
}

struct thread {
	char name[64];
	s32 handle;
};

static struct thread *thread_of(struct thread *t, u32 *n, const char *task)
{
	u32 i;

	for (i = 0; i < *n; i++)
		if (!strcmp(t[i].name, task))
			return &t[i];
	snprintf(t[*n].name, sizeof(t[*n].name), "%s", task);
	t[*n].handle = -1;
	return &t[(*n)++];
}

static enum mode mode_of(const char *text)
{
	if (is(text, "ext4_truncate_enter"))
		return M_TRUNCATE;
	if (is(text, "ext4_punch_hole"))
		return M_PUNCH;
	if (is(text, "ext4_collapse_range"))
		return M_COLLAPSE;
	return is(text, "ext4_insert_range") ? M_INSERT : M_NONE;
}

/* One line of the trace: "TASK-PID [CPU] FLAGS TIME: name: dev 7,40 fields". */
static void parse_line(char *raw, u32 no, struct thread *threads, u32 *nr_threads)
{
	char text[LINE], *p, *name, *dev, *end;
	struct thread *t;
	struct line *l;

	if (*raw == '#')
		return;
	raw[strcspn(raw, "\n")] = 0;
	p = raw + strspn(raw, " ");
	name = strstr(p, ": ");
	if (!name)
		return;
	end = strpbrk(p, " [");
	*end = 0;
	t = thread_of(threads, nr_threads, p);
	name += 2;
	if (!strncmp(name, "tracing_mark_write: foliosim op ", 32)) {
		l = add_line(L_OP, no, name + 32);
		l->op = (u32)atoi(name + 32);
		return;
	}
	dev = strstr(name, ": dev 7,40 ");
	if (!dev)
		return;
	snprintf(text, sizeof(text), "%.*s: %s", (int)(dev - name), name, dev + 11);
	p = strstr(text, "+0x");
	if (p)
		*p = 0;

	if (is(text, "jbd2_handle_start")) {
		add_handle(text);
		t->handle = (s32)r.nr_handles - 1;
		l = add_line(L_START, no, text);
	} else if (is(text, "jbd2_handle_stats")) {
		if (t->handle < 0)
			return;
		l = add_line(L_STATS, no, text);
		l->handle = t->handle;
		r.handle[t->handle].dirtied = (s32)(s64)field(text, "dirtied_blocks");
		if (strstr(text, "dirtied_blocks -"))
			r.handle[t->handle].dirtied = -(s32)atoi(strstr(text, "blocks -") + 8);
		t->handle = -1;
		return;
	} else if (is(text, "jbd2_handle_extend") || is(text, "jbd2_handle_restart")) {
		l = add_line(L_EVENT, no, text);
	} else if (mode_of(text)) {
		l = add_line(L_MODE, no, text);
		l->mode = mode_of(text);
		l->off = field(text, "offset");
		l->len = field(text, "len");
	} else if (is(text, "ext4_truncate_exit") || is(text, "ext4_fallocate_exit")) {
		l = add_line(L_END_MODE, no, text);
	} else if (is(text, "ext4_mark_inode_dirty")) {
		p = strstr(text, "caller ");
		l = add_line(p && in_list(p + 7, our_callers, ARRAY_SIZE(our_callers)) ?
			     L_EVENT : L_MID, no, text);
	} else if (in_list(text, compared, ARRAY_SIZE(compared))) {
		l = add_line(L_EVENT, no, text);
	} else {
		return;
	}
	l->handle = t->handle;
	l->ino = (u32)field(text, "ino");
}

static bool of_interest(const struct line *l)
{
	if (l->kind != L_EVENT)
		return true;
	if (!l->ino)
		return true; /* of the journal */
	if (r.no_delayed && is(l->text, "ext4_da_release_space"))
		return false;
	return l->ino < MAX_INO && l->ino > 11 && !r.skip[l->ino] && r.inode[l->ino];
}

/* --- dirtied blocks --- */

#define KEY_BITMAP (1ull << 60)
#define KEY_DESC (2ull << 60)
#define KEY_ITABLE (3ull << 60)

static struct dirty *dirty_slot(u32 tid, u64 blk)
{
	u64 hash = (blk + tid) * 0x9e3779b97f4a7c15ull;
	u32 i = (u32)(hash >> 32) & (r.dirty_cap - 1);

	while (r.dirty[i].tid && (r.dirty[i].tid != tid || r.dirty[i].blk != blk))
		i = (i + 1) & (r.dirty_cap - 1);
	return &r.dirty[i];
}

static void grow_dirty(void)
{
	struct dirty *old = r.dirty;
	u32 n = r.dirty_cap, i;

	r.dirty_cap = n ? 2 * n : 4096;
	r.dirty = ffs_zalloc(r.dirty_cap * sizeof(*r.dirty));
	for (i = 0; i < n; i++)
		if (old[i].tid)
			*dirty_slot(old[i].tid, old[i].blk) = old[i];
	free(old);
}

static void dirty(u64 blk)
{
	struct dirty *d;

	if (r.now < 0)
		return;
	if (2 * r.dirty_n >= r.dirty_cap)
		grow_dirty();
	d = dirty_slot(r.handle[r.now].h.tid, blk);
	if (d->tid && d->blk == blk)
		return;
	d->tid = r.handle[r.now].h.tid;
	d->blk = blk;
	r.dirty_n++;
	r.handle[r.now].seen++;
}

/* A block is forgotten: its entry stays as a tombstone of no transaction. */
static void forget(u64 blk)
{
	struct dirty *d;

	if (r.now < 0 || !r.dirty_cap)
		return;
	d = dirty_slot(r.handle[r.now].h.tid, blk);
	if (!d->tid)
		return;
	d->blk = UINT64_MAX - r.dirty_n;
	r.handle[r.now].seen--;
}

static void dirty_inode(u32 ino)
{
	const struct foliofs_geometry *g = &r.env.geo;
	u32 per = g->block_size / g->inode_size, group = (ino - 1) / g->inodes_per_group;

	dirty(KEY_ITABLE + ((u64)group << 32) + (ino - 1) % g->inodes_per_group / per);
}

static void dirty_group(u64 blk)
{
	const struct foliofs_geometry *g = &r.env.geo;
	u64 group = (blk - g->first_data_block) / g->blocks_per_group;

	dirty(KEY_BITMAP + group);
	dirty(KEY_DESC + group * g->desc_size / g->block_size);
}

/* --- comparing --- */

static struct ffs_inode *new_inode(u32 ino);

static void context(const struct line *l)
{
	struct handle *h = l->handle < 0 ? NULL : &r.handle[l->handle];
	s32 now = r.now;

	switch (l->kind) {
	case L_OP:
		snprintf(r.op, sizeof(r.op), "%s", l->text);
		r.mode = M_NONE;
		break;
	case L_MODE:
		r.mode = l->mode;

		r.mode_off = l->off;
		r.mode_len = l->len;
		break;
	case L_START:
		if (r.mode == M_TRUNCATE && l->handle >= 0)
			h->truncate = true;
		break;
	case L_END_MODE:
		r.mode = M_NONE;
		break;
	case L_MID:
		r.now = l->handle;
		if (l->handle >= 0)
			dirty_inode(l->ino);
		if (l->handle >= 0 && strstr(l->text, "__ext4_new_inode"))
			dirty(KEY_DESC + (u64)((l->ino - 1) / r.env.geo.inodes_per_group) *
			      r.env.geo.desc_size / r.env.geo.block_size);
		if (l->handle >= 0 && strstr(l->text, "ext4_evict_inode"))
			h->odd = true;
		if (strstr(l->text, "__ext4_new_inode") && l->ino < MAX_INO && r.inode[l->ino] &&
		    !r.inode[l->ino]->writers)
			new_inode(l->ino);
		r.now = now;
		break;
	case L_STATS:
		/* writeback, mapping, truncate, move extents, conversion */
		if (h->odd || !(h->type == 2 || h->type == 3 || h->type == 11 || h->type == 9 ||
				h->type == 5))
			break;
		if (r.env.geo.mount.data == FOLIOFS_DATA_JOURNAL || r.no_mid || r.inline_data)
			break;
		r.stats++;
		/* truncate: the super block of the orphan list, or not */
		if (h->seen == h->dirtied || (h->truncate && h->seen + 1 == h->dirtied))
			break;
		r.wrong_stats++;
		if (r.verbose)
			printf("line %u: op %s: %s: counted %d\n", l->no, r.op, l->text, h->seen);
		break;
	default:
		break;
	}
}

/* The next recorded event; what stands between is taken note of. */
static struct line *peek(void)
{
	while (r.pos < r.nr) {
		struct line *l = &r.line[r.pos];

		if (l->kind == L_EVENT && of_interest(l))
			return l;
		if (l->kind == L_EVENT && l->handle >= 0)
			r.handle[l->handle].odd = true;
		context(l);
		r.pos++;
	}
	return NULL;
}

static void printed(const char *text)
{
	struct line *l = peek();

	r.events++;
	if (l && !strcmp(l->text, text)) {
		r.pos++;
		return;
	}
	r.wrong++;
	if (!*r.first_wrong)
		snprintf(r.first_wrong, sizeof(r.first_wrong),
			 "line %u, op %s:\n\texpected %s\n\tgot      %s", l ? l->no : 0, r.op,
			 l ? l->text : "nothing", text);
	if (r.verbose)
		printf("line %u, op %s:\n\texpected %s\n\tgot      %s\n", l ? l->no : 0, r.op,
		       l ? l->text : "nothing", text);
	r.lost = true;
	/* the same kind of event: take it for this one */
	if (l && !strncmp(l->text, text, strcspn(text, ":") + 1))
		r.pos++;
}

static void on_event(void *priv, const struct foliofs_event *ev)
{
	char buf[LINE], text[LINE + 80], *p;

	foliofs_event_text(ev, "7,40", buf, sizeof(buf));
	snprintf(text, sizeof(text), "%s: %s", foliofs_event_name(ev->id),
		 buf + strlen("dev 7,40 "));
	if (ev->id == FOLIOFS_EV_ext4_da_reserve_space &&
	    !ffs_has(&r.env, FOLIOFS_CHANGE_TRACE_RESERVE_BLOCKS)) {
		p = strstr(text, "reserve_blocks");
		memmove(p, strstr(p, "reserved_"), strlen(strstr(p, "reserved_")) + 1);
	}
	if (r.no_delayed && (ev->id == FOLIOFS_EV_ext4_da_reserve_space ||
			     ev->id == FOLIOFS_EV_ext4_da_release_space ||
			     ev->id == FOLIOFS_EV_ext4_es_insert_delayed_extent ||
			     ev->id == FOLIOFS_EV_ext4_es_insert_delayed_block))
		return;
	printed(text);
}

static int mark_inode_dirty(void *priv, struct ffs_handle *h, struct ffs_inode *inode,
			    const char *caller)
{
	char text[200];

	snprintf(text, sizeof(text), "ext4_mark_inode_dirty: ino %u caller %s", inode->ino, caller);
	if (!r.no_mid)
		printed(text);
	dirty_inode(inode->ino);
	return 0;
}

/* --- the journal: says what the capture says --- */

/* The next recorded event, if it is before the end of the handle. */
static struct line *peek_inside(void)
{
	u32 i;

	for (i = r.pos; i < r.nr && r.line[i].kind != L_STATS && r.line[i].kind != L_OP; i++)
		if (r.line[i].kind == L_EVENT && of_interest(&r.line[i]))
			return peek();
	return NULL;
}

int ffs_journal_dirty(struct ffs_handle *h, u64 blk)
{
	dirty(blk);
	return 0;
}

void ffs_journal_forget(struct ffs_handle *h, u64 blk)
{
	forget(blk);
}

int ffs_journal_revoke(struct ffs_handle *h, u64 blk)
{
	forget(blk);
	return 0;
}

int ffs_handle_start(struct ffs_journal *j, u32 ino, enum foliofs_handle_type type, u32 blocks,
		     u32 rsv, u32 revokes, const char *caller, struct ffs_handle **out)
{
	*out = r.now < 0 ? NULL : &r.handle[r.now].h;
	return 0;
}

int ffs_handle_stop(struct ffs_handle *h)
{
	return 0;
}

int ffs_handle_extend(struct ffs_handle *h, u32 blocks, u32 revokes)
{
	struct line *l = peek_inside();

	/* without a journal there is nothing to extend */
	if (!r.env.geo.journal_blocks)
		return 0;
	if (!l || !is(l->text, "jbd2_handle_extend"))
		return 1;
	r.pos++;
	return 0;
}

int ffs_handle_ensure(struct ffs_handle *h, s32 check, s32 extend, s32 revokes)
{
	struct line *l = peek_inside();

	if (l && is(l->text, "jbd2_handle_restart"))
		return 1;
	if (l && is(l->text, "jbd2_handle_extend"))
		r.pos++;
	return 0;
}

int ffs_handle_restart(struct ffs_handle *h, u32 blocks, u32 revokes)
{
	struct line *l = peek_inside();

	if (r.now >= 0)
		r.handle[r.now].odd = true;
	if (!l || !is(l->text, "jbd2_handle_restart"))
		return -EINVAL;
	r.pos++;
	return 0;
}

/* --- the allocator: gives what the capture gives --- */

static void emit_request(const struct ffs_alloc_request *ar)
{
	ffs_emit(&r.env, ext4_request_blocks, ar->inode->ino, ar->flags, ar->len, ar->lblk,
		 ar->goal, ar->lleft, ar->lright, ar->pleft, ar->pright);
}

u64 ffs_alloc_blocks(struct ffs_alloc *a, struct ffs_handle *h, struct ffs_alloc_request *ar,
		     int *err)
{
	u64 blk;
	struct line *l;

	emit_request(ar);
	l = peek();
	*err = 0;
	if (!l || !is(l->text, "ext4_allocate_blocks") || l->ino != ar->inode->ino) {
		*err = -ENOSPC;
		return 0;
	}
	blk = field(l->text, "block");
	ar->len = (u32)field(l->text, "len");
	ffs_emit(&r.env, ext4_allocate_blocks, ar->inode->ino, ar->flags, ar->len, blk, ar->lblk,
		 ar->goal, ar->lleft, ar->lright, ar->pleft, ar->pright);
	if (!blk) {
		*err = -ENOSPC;
		return 0;
	}
	if (!(ar->flags & FFS_MB_DELALLOC))
		ar->inode->i_blocks += (u64)ar->len * r.env.geo.cluster_ratio;
	dirty_inode(ar->inode->ino);
	dirty_group(blk);
	return blk;
}

u64 ffs_alloc_meta_block(struct ffs_alloc *a, struct ffs_handle *h, struct ffs_inode *inode,
			 u64 goal, u32 flags, int *err)
{
	struct ffs_alloc_request ar = { .inode = inode, .flags = flags, .len = 1, .goal = goal };
	u64 blk = ffs_alloc_blocks(a, h, &ar, err);

	if (blk && (flags & FFS_MB_DELALLOC))
		inode->i_blocks += r.env.geo.cluster_ratio;
	return blk;
}

int ffs_free_blocks(struct ffs_alloc *a, struct ffs_handle *h, struct ffs_inode *inode, u64 blk,
		    u64 count, u32 flags)
{
	const struct foliofs_geometry *g = &r.env.geo;
	u64 first = blk, end = blk + count, ratio = g->cluster_ratio, group;

	ffs_emit(&r.env, ext4_free_blocks, inode->ino, inode->mode, blk, count,
		 flags | FFS_FREE_VALIDATED);
	first = flags & FFS_FREE_NOFREE_FIRST ? div_up(first, ratio) * ratio :
						first - first % ratio;
	end = flags & FFS_FREE_NOFREE_LAST ? end - end % ratio : div_up(end, ratio) * ratio;
	if (first >= end)
		return 0;
	if (flags & FFS_FREE_FORGET && flags & FFS_FREE_METADATA)
		for (blk = first; blk < end; blk++)
			forget(blk);
	for (blk = first; blk < end;) {
		dirty_group(blk);
		group = (blk - g->first_data_block) / g->blocks_per_group;
		blk = g->first_data_block + (group + 1) * g->blocks_per_group;
	}
	dirty_inode(inode->ino);
	if (!(flags & (FFS_FREE_RERESERVE | FFS_FREE_NO_QUOTA)))
		inode->i_blocks -= end - first;
	return 0;
}

void ffs_discard_preallocations(struct ffs_alloc *a, struct ffs_inode *inode)
{
}

/* The goal of the inode is the allocator's: what the capture prints is right. */
u64 ffs_inode_goal(const struct ffs_alloc *a, const struct ffs_inode *inode)
{
	u32 i;

	for (i = r.pos; i < r.nr; i++)
		if (r.line[i].kind == L_EVENT && is(r.line[i].text, "ext4_request_blocks") &&
		    r.line[i].ino == inode->ino)
			return field(r.line[i].text, "goal");
	return 0;
}

int ffs_claim_delayed(struct ffs_alloc *a, u64 clusters)
{
	return 0;
}

void ffs_release_delayed(struct ffs_alloc *a, u64 clusters)
{
}

static void i_blocks_changed(void *priv, struct ffs_inode *inode)
{
	if (r.now >= 0)
		dirty_inode(inode->ino);
}

#endif
