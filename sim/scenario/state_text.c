// SPDX-License-Identifier: MIT
/*
 * The state of a file system in words: what verdicts print before and after an
 * operation, and the text forms that expectations are compared with.
 *
 *	extents		"W0+8 U8+24 D32+1": written, unwritten, delayed; first block + blocks,
 *			behind @ the physical block
 *	folios		"0:9 512:9": page index : order, behind another : what it is
 *			(u uptodate, d dirty, b has buffers)
 */
#include "scenario/run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SHOWN 12 /* members of a list that a verdict shows */

struct text {
	FILE *f;
	uint32_t block_size;
	bool more; /* physical blocks, flags */
	size_t nr, max;
};

static bool separate(struct text *t)
{
	if (t->max && t->nr++ >= t->max)
		return false;
	fprintf(t->f, "%s", t->nr > 1 || (!t->max && t->nr++) ? " " : "");
	return true;
}

static void add_extent(void *priv, const struct foliofs_extent *x)
{
	struct text *t = priv;
	uint64_t first = x->logical / t->block_size, len = x->len / t->block_size;
	char kind = x->flags & FOLIOFS_EXTENT_DELALLOC ? 'D' :
		    x->flags & FOLIOFS_EXTENT_UNWRITTEN ? 'U' :
		    x->flags & FOLIOFS_EXTENT_INLINE ? 'I' : 'W';

	if (!separate(t))
		return;
	if (kind == 'I') {
		first = x->logical;
		len = x->len;
	}
	fprintf(t->f, "%c%" PRIu64 "+%" PRIu64, kind, first, len);
	if (t->more && kind != 'D' && kind != 'I')
		fprintf(t->f, "@%" PRIu64, x->physical / t->block_size);
}

static void add_folio(void *priv, const struct foliofs_folio_state *f)
{
	struct text *t = priv;

	if (!separate(t))
		return;
	fprintf(t->f, "%" PRIu64 ":%u", f->index, f->order);
	if (t->more && (f->uptodate || f->dirty || f->buffers))
		fprintf(t->f, ":%s%s%s", f->uptodate ? "u" : "", f->dirty ? "d" : "",
			f->buffers ? "b" : "");
}

static void rest(struct text *t)
{
	if (t->max && t->nr > t->max)
		fprintf(t->f, " ... (%zu)", t->nr);
	if (!t->nr)
		fprintf(t->f, "none");
}

char *extents_text(struct foliofs_fs *fs, uint32_t ino, bool physical)
{
	struct text t = { .block_size = foliofs_fs_geometry(fs)->block_size, .more = physical };
	char *out = NULL;
	size_t len;

	t.f = open_memstream(&out, &len);
	if (!t.f)
		return NULL;
	foliofs_fs_for_each_extent(fs, ino, add_extent, &t);
	rest(&t);
	fclose(t.f);
	return out;
}

char *folios_text(struct foliofs_fs *fs, uint32_t ino, bool flags)
{
	struct text t = { .more = flags };
	char *out = NULL;
	size_t len;

	t.f = open_memstream(&out, &len);
	if (!t.f)
		return NULL;
	foliofs_fs_for_each_folio(fs, ino, add_folio, &t);
	rest(&t);
	fclose(t.f);
	return out;
}

struct whole {
	struct foliofs_fs *fs;
	FILE *f;
};

static void add_file(void *priv, const char *path, uint32_t ino, uint32_t mode)
{
	struct whole *w = priv;
	struct text t = { .f = w->f, .max = SHOWN,
			  .block_size = foliofs_fs_geometry(w->fs)->block_size };
	struct foliofs_tree tree;
	struct foliofs_stat st;

	if (!S_ISREG(mode) || foliofs_fs_stat_ino(w->fs, ino, &st))
		return;
	fprintf(w->f, "%s: size %" PRIu64 ", on disk %" PRIu64 ", %" PRIu64 " sectors, "
		"%u delayed, largest order %u; extents ", path, st.size, st.disksize, st.sectors,
		st.delayed, st.max_order);
	foliofs_fs_for_each_extent(w->fs, ino, add_extent, &t);
	rest(&t);
	if (!foliofs_fs_tree(w->fs, ino, &tree))
		fprintf(w->f, ", depth %u", tree.depth);
	t.nr = 0;
	t.more = true;
	fprintf(w->f, "; folios ");
	foliofs_fs_for_each_folio(w->fs, ino, add_folio, &t);
	rest(&t);
	fprintf(w->f, "\n");
}

char *state_text(struct foliofs_fs *fs)
{
	struct whole w = { .fs = fs };
	struct foliofs_journal_state j;
	char *out = NULL, buf[32];
	size_t len;

	w.f = open_memstream(&out, &len);
	if (!w.f)
		return NULL;
	foliofs_fs_for_each_name(fs, add_file, &w);
	if (foliofs_has_feature(foliofs_fs_geometry(fs), FOLIOFS_FEATURE_HAS_JOURNAL)) {
		foliofs_fs_journal(fs, &j);
		fprintf(w.f, "journal: transaction %u, %u credits out, %u reserved, %u blocks "
			"dirtied, %u blocks of log free", j.tid, j.outstanding, j.reserved,
			j.blocks, j.log_free);
		if (j.error)
			fprintf(w.f, ", aborted with %s",
				errno_text(j.error < 0 ? -j.error : j.error, buf, sizeof(buf)));
		fprintf(w.f, "\n");
	}
	fprintf(w.f, "free: %" PRIu64 " blocks\n", foliofs_fs_free_blocks(fs));
	fclose(w.f);
	return out;
}
