// SPDX-License-Identifier: MIT
/* One file and one journal in words: see show_file.h. */
#include "show_file.h"

#include <inttypes.h>
#include <string.h>

#define SHOWN 32 /* members of a list */

struct list {
	FILE *f;
	const struct foliofs_fs *fs;
	uint32_t ino, block_size;
	uint64_t nr;
};

static void show_extent(void *priv, const struct foliofs_extent *x)
{
	struct list *l = priv;
	char kind = x->flags & FOLIOFS_EXTENT_DELALLOC ? 'D' :
		    x->flags & FOLIOFS_EXTENT_UNWRITTEN ? 'U' : 'W';

	if (l->nr++ >= SHOWN)
		return;
	if (x->flags & FOLIOFS_EXTENT_INLINE) {
		fprintf(l->f, " %" PRIu64 " bytes in the inode", x->len);
		return;
	}
	fprintf(l->f, " %c%" PRIu64 "+%" PRIu64, kind, x->logical / l->block_size,
		x->len / l->block_size);
	if (kind != 'D')
		fprintf(l->f, "@%" PRIu64, x->physical / l->block_size);
}

static void rest(const struct list *l)
{
	if (!l->nr)
		fprintf(l->f, " none");
	else if (l->nr > SHOWN)
		fprintf(l->f, " ... (%" PRIu64 " in all)", l->nr);
}

/* "UDL UDL -" as "UDL*2 -". */
static void show_runs(FILE *f, char *text)
{
	char *word, *prev = NULL;
	unsigned int n = 0;

	while ((word = strsep(&text, " "))) {
		if (prev && !strcmp(prev, word)) {
			n++;
			continue;
		}
		if (prev)
			fprintf(f, n > 1 ? " %s*%u" : " %s", prev, n);
		prev = word;
		n = 1;
	}
	if (prev)
		fprintf(f, n > 1 ? " %s*%u" : " %s", prev, n);
}

static void show_folio(void *priv, const struct foliofs_folio_state *x)
{
	static const char *const words[] = { "", " uptodate", " dirty", " uptodate dirty" };
	struct list *l = priv;
	char blocks[16384];

	if (l->nr++ >= SHOWN)
		return;
	fprintf(l->f, "\n      page %" PRIu64 " order %u%s", x->index, x->order,
		words[(x->uptodate ? 1 : 0) | (x->dirty ? 2 : 0)]);
	if (!x->buffers ||
	    foliofs_fs_folio_text(l->fs, l->ino, x->index, blocks, sizeof(blocks)))
		return;
	fprintf(l->f, ", blocks");
	show_runs(l->f, blocks);
}

void show_file(FILE *f, const struct foliofs_fs *fs, const char *path, uint32_t ino)
{
	struct list l = { .f = f, .fs = fs, .ino = ino,
			  .block_size = foliofs_fs_geometry(fs)->block_size };
	struct foliofs_tree tree;
	struct foliofs_stat st;

	if (foliofs_fs_stat_ino(fs, ino, &st))
		return;
	fprintf(f, "  %s (inode %u): i_size %" PRIu64 ", i_disksize %" PRIu64 ", %" PRIu64
		" sectors, %u clusters delayed\n    extents", path, ino, st.size, st.disksize,
		st.sectors, st.delayed);
	foliofs_fs_for_each_extent(fs, ino, show_extent, &l);
	rest(&l);
	if (!foliofs_fs_tree(fs, ino, &tree) && tree.extents)
		fprintf(f, "; tree of depth %u, %u index and %u leaf blocks", tree.depth,
			tree.index_blocks, tree.leaf_blocks);
	l.nr = 0;
	fprintf(f, "\n    folios (largest order %u)", st.max_order);
	foliofs_fs_for_each_folio(fs, ino, show_folio, &l);
	rest(&l);
	fprintf(f, "\n");
}

void show_journal(FILE *f, const struct foliofs_fs *fs)
{
	struct foliofs_journal_state j;

	fprintf(f, "  free: %" PRIu64 " blocks\n", foliofs_fs_free_blocks(fs));
	if (!foliofs_has_feature(foliofs_fs_geometry(fs), FOLIOFS_FEATURE_HAS_JOURNAL))
		return;
	foliofs_fs_journal(fs, &j);
	if (j.error)
		fprintf(f, "  journal: aborted: %s\n", strerror(j.error < 0 ? -j.error : j.error));
	else if (!j.tid)
		fprintf(f, "  journal: no transaction, %u blocks of log free\n", j.log_free);
	else
		fprintf(f, "  journal: transaction %u, %u credits outstanding, %u reserved, "
			"%u handles, %u blocks, %u blocks of log free\n", j.tid, j.outstanding,
			j.reserved, j.handles, j.blocks, j.log_free);
}
