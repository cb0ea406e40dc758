// SPDX-License-Identifier: MIT
/*
 * What files are like, as captures print it: see files.h.  What is asked for and
 * when is up to the caller (capture.c).
 */
#include "files.h"
#include "seen.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void *grow(void *p, size_t nr, size_t *room, size_t size)
{
	if (nr < *room)
		return p;
	*room = *room ? *room * 2 : 16;
	p = realloc(p, *room * size);
	if (!p)
		abort();
	return p;
}

static void add_extent(void *priv, const struct foliofs_extent *x)
{
	struct file_extents *e = priv;

	e->v = grow(e->v, e->nr, &e->room, sizeof(*e->v));
	e->v[e->nr++] = *x;
}

/* Pieces that continue each other are one run, as whoever reads the bytes sees it. */
static bool continues(const struct foliofs_content *a, const struct foliofs_content *b)
{
	if (a->kind != b->kind || a->offset + a->len != b->offset)
		return false;
	if (a->kind != FOLIOFS_SOURCE_OP && a->kind != FOLIOFS_SOURCE_STALE)
		return a->source == b->source;
	return a->source == b->source && a->source_offset + a->len == b->source_offset;
}

void file_state_add(struct file_state *f, const struct foliofs_content *c)
{
	if (f->nr_content && continues(&f->content[f->nr_content - 1], c)) {
		f->content[f->nr_content - 1].len += c->len;
		return;
	}
	f->content = grow(f->content, f->nr_content, &f->room_content, sizeof(*f->content));
	f->content[f->nr_content++] = *c;
}

/* The first extent that ends behind @at. */
static const struct foliofs_extent *extent_at(const struct file_extents *e, uint64_t at)
{
	size_t lo = 0, hi = e->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (e->v[mid].logical + e->v[mid].len <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < e->nr ? &e->v[lo] : NULL;
}

/* Zeros are a hole where FIEMAP shows nothing: it does not show delayed blocks of block maps. */
static void add_content(void *priv, const struct foliofs_content *c)
{
	struct foliofs_content part = *c;
	struct file_state *f = priv;
	uint64_t end = c->offset + c->len;

	if (c->kind != FOLIOFS_SOURCE_ZERO && c->kind != FOLIOFS_SOURCE_HOLE) {
		file_state_add(f, c);
		return;
	}
	while (part.offset < end) {
		const struct foliofs_extent *x = extent_at(&f->extents, part.offset);
		bool mapped = x && x->logical <= part.offset;
		uint64_t stop = mapped ? x->logical + x->len : x ? x->logical : end;

		part.kind = mapped ? FOLIOFS_SOURCE_ZERO : FOLIOFS_SOURCE_HOLE;
		part.len = (stop < end ? stop : end) - part.offset;
		file_state_add(f, &part);
		part.offset += part.len;
	}
}

struct names {
	struct file_states *s;
	size_t room;
	bool deep;
};

static void add_name(void *priv, const char *path, uint32_t ino, uint32_t mode)
{
	struct names *n = priv;
	struct file_state *f;

	if ((mode & 0170000u) != 0100000u)
		return;
	while (*path == '/')
		path++;
	if (!n->deep && strchr(path, '/'))
		return;
	n->s->v = grow(n->s->v, n->s->nr, &n->room, sizeof(*n->s->v));
	f = &n->s->v[n->s->nr++];
	memset(f, 0, sizeof(*f));
	f->name = strdup(path);
	f->st.ino = ino;
	if (!f->name)
		abort();
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct file_state *)a)->name, ((const struct file_state *)b)->name);
}

static bool listed(const char *list, const char *name)
{
	size_t n = strlen(name), k;

	for (; list && *list; list += k + strspn(list + k, " ")) {
		k = strcspn(list, " ");
		if (k == n && !memcmp(list, name, n))
			return true;
	}
	return false;
}

void file_states_take(struct file_states *s, struct foliofs_fs *fs, const char *skip,
		      bool deep)
{
	struct names n = { .s = s, .deep = deep };
	size_t i;

	memset(s, 0, sizeof(*s));
	s->block_size = foliofs_fs_geometry(fs)->block_size;
	foliofs_fs_for_each_name(fs, add_name, &n);
	if (s->nr)
		qsort(s->v, s->nr, sizeof(*s->v), by_name);
	for (i = 0; i < s->nr; i++) {
		struct file_state *f = &s->v[i];

		foliofs_fs_stat_ino(fs, f->st.ino, &f->st);
		foliofs_fs_fiemap(fs, f->st.ino, add_extent, &f->extents);
		f->left_out = listed(skip, f->name);
		if (!f->left_out)
			foliofs_fs_for_each_content(fs, f->st.ino, add_content, f);
	}
}

void file_states_synced(struct file_states *s, struct foliofs_fs *fs)
{
	size_t i;

	/* There is nothing to be written to. */
	if (foliofs_fs_geometry(fs)->fs_type == FOLIOFS_FS_TMPFS)
		return;
	for (i = 0; i < s->nr; i++) {
		struct file_state *f = &s->v[i];
		struct foliofs_stat st;

		if (f->left_out || foliofs_fs_stat_ino(fs, f->st.ino, &st))
			continue;
		f->have_synced = true;
		f->sectors_synced = st.sectors;
		foliofs_fs_fiemap(fs, f->st.ino, add_extent, &f->synced);
	}
}

/*
 * Blocks of an indirect map by level, from the blocks that it maps: those of a
 * level exist where one of the blocks below them does.
 */
struct levels {
	struct file_state *f;
	uint64_t per; /* block numbers in a block */
	uint32_t block_size;
	uint64_t last_ind, last_dind; /* of those counted: plus 1, since extents ascend */
	uint64_t data;
};

static void count_levels(void *priv, const struct foliofs_extent *x)
{
	struct levels *l = priv;
	uint64_t b = x->logical / l->block_size, end = b + x->len / l->block_size;
	uint64_t per = l->per, n;

	l->data += end - b;
	for (; b < end; b += n) {
		uint64_t k = b - 12; /* 12 direct ones */

		if (b < 12) {
			n = 12 - b;
			continue;
		}
		/* numbered through: indirect block 0, those of the double one behind it */
		n = per - k % per;
		if (k / per + 1 == l->last_ind)
			continue;
		l->last_ind = k / per + 1;
		l->f->ind++;
		if (k < per)
			continue;
		k = (k - per) / (per * per);
		if (k + 1 != l->last_dind) {
			l->last_dind = k + 1;
			l->f->dind++;
		}
		if (k)
			l->f->tind = 1;
	}
}

void file_states_tree(struct file_states *s, const struct foliofs_fs *fs)
{
	size_t i;

	for (i = 0; i < s->nr; i++) {
		struct file_state *f = &s->v[i];
		struct levels l = { .f = f, .per = s->block_size / 4, .block_size = s->block_size };
		struct foliofs_stat st;

		if (foliofs_fs_stat_ino(fs, f->st.ino, &st) ||
		    foliofs_fs_tree(fs, f->st.ino, &f->tree))
			continue;
		f->have_tree = true;
		f->is_inline = st.inline_data;
		f->inline_size = st.size;
		if (f->is_inline || f->tree.extents)
			continue;
		foliofs_fs_for_each_extent(fs, f->st.ino, count_levels, &l);
		f->total_blocks = l.data + f->ind + f->dind + f->tind;
	}
}

static void print_flags(FILE *out, uint32_t flags)
{
	static const struct {
		uint32_t bit;
		const char *word;
	} words[] = {
		{ FOLIOFS_EXTENT_LAST, "last" },
		{ FOLIOFS_EXTENT_UNKNOWN, "unknown" },
		{ FOLIOFS_EXTENT_DELALLOC, "delalloc" },
		{ FOLIOFS_EXTENT_NOT_ALIGNED, "unaligned" },
		{ FOLIOFS_EXTENT_INLINE, "inline" },
		{ FOLIOFS_EXTENT_UNWRITTEN, "unwritten" },
		{ FOLIOFS_EXTENT_MERGED, "merged" },
		{ FOLIOFS_EXTENT_SHARED, "shared" },
		{ FOLIOFS_EXTENT_DATA, "data" },
	};
	const char *sep = "";
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!(flags & words[i].bit))
			continue;
		fprintf(out, "%s%s", sep, words[i].word);
		sep = "+";
	}
	if (!*sep)
		fputs("none", out);
}

static void print_extents(FILE *out, const char *key, const struct file_extents *e)
{
	size_t i;

	fprintf(out, "    %s:%s\n", key, e->nr ? "" : " []");
	for (i = 0; i < e->nr; i++) {
		fprintf(out, "      - [%" PRIu64 ", %" PRIu64 ", %" PRIu64 ", ", e->v[i].logical,
			e->v[i].physical, e->v[i].len);
		print_flags(out, e->v[i].flags);
		fputs("]\n", out);
	}
}

static bool same_extents(const struct file_extents *a, const struct file_extents *b)
{
	size_t i;

	if (a->nr != b->nr)
		return false;
	for (i = 0; i < a->nr; i++) {
		const struct foliofs_extent *x = &a->v[i], *y = &b->v[i];

		if (x->logical != y->logical || x->physical != y->physical || x->len != y->len ||
		    x->flags != y->flags)
			return false;
	}
	return true;
}

static void print_content(FILE *out, const struct file_state *f)
{
	size_t i;

	fprintf(out, "    content:%s\n", f->nr_content ? "" : " []");
	for (i = 0; i < f->nr_content; i++) {
		const struct foliofs_content *c = &f->content[i];

		fprintf(out, "      - [%" PRIu64 ", %" PRIu64 ", ", c->offset, c->len);
		switch (c->kind) {
		case FOLIOFS_SOURCE_OP:
		case FOLIOFS_SOURCE_STALE: /* whose bytes they are shows all the same */
			fprintf(out, "%u", c->source);
			if (c->source_offset != c->offset)
				fprintf(out, ", %" PRIu64, c->source_offset);
			break;
		case FOLIOFS_SOURCE_ZERO:
			fputs("zero", out);
			break;
		case FOLIOFS_SOURCE_HOLE:
			fputs("hole", out);
			break;
		case FOLIOFS_SOURCE_UNKNOWN:
			if (c->source)
				fprintf(out, "raw, %02x", c->source & 0xff);
			else
				fputs("raw, unknown", out);
			break;
		}
		fputs("]\n", out);
	}
}

static void print_tree(FILE *out, const struct file_state *f)
{
	fputs("    tree:\n", out);
	if (f->is_inline) {
		fprintf(out, "      kind: inline\n      inline_size: %" PRIu64 "\n",
			f->inline_size);
	} else if (f->tree.extents) {
		fprintf(out,
			"      kind: extents\n"
			"      depth: %u\n"
			"      index_blocks: %u\n"
			"      leaf_blocks: %u\n"
			"      extents: %u\n"
			"      unwritten: %u\n",
			f->tree.depth, f->tree.index_blocks, f->tree.leaf_blocks,
			f->tree.nr_extents, f->tree.unwritten);
	} else {
		fprintf(out,
			"      kind: indirect\n"
			"      ind: %u\n"
			"      dind: %u\n"
			"      tind: %u\n"
			"      total_blocks: %" PRIu64 "\n",
			f->ind, f->dind, f->tind, f->total_blocks);
	}
}

void file_states_print(const struct file_states *s, FILE *out)
{
	size_t i;

	fprintf(out, "files:%s\n", s->nr ? "" : " {}");
	for (i = 0; i < s->nr; i++) {
		const struct file_state *f = &s->v[i];

		fprintf(out,
			"  %s:\n    ino: %u\n    size: %" PRIu64 "\n    st_blocks: %" PRIu64 "\n",
			f->name, f->st.ino, f->st.size, f->st.sectors);
		if (f->left_out) {
			fprintf(out,
				"    fiemap: left out (%zu extents)\n    content: left out\n",
				f->extents.nr);
		} else {
			print_extents(out, "fiemap", &f->extents);
			if (f->have_synced && same_extents(&f->extents, &f->synced))
				fputs("    fiemap_synced: same\n", out);
			else if (f->have_synced)
				print_extents(out, "fiemap_synced", &f->synced);
			if (f->have_synced)
				fprintf(out, "    st_blocks_synced: %" PRIu64 "\n",
					f->sectors_synced);
			print_content(out, f);
		}
		if (f->have_tree)
			print_tree(out, f);
	}
}

void file_states_free(struct file_states *s)
{
	size_t i;

	for (i = 0; i < s->nr; i++) {
		free(s->v[i].name);
		free(s->v[i].extents.v);
		free(s->v[i].synced.v);
		free(s->v[i].content);
	}
	free(s->v);
	memset(s, 0, sizeof(*s));
}
