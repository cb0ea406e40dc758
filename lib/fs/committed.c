// SPDX-License-Identifier: MIT
/*
 * What commits make durable.
 *
 * When a transaction is locked no handle is open in it: the metadata in memory is
 * what it will make durable, and is kept as the pending snapshot.  When its commit
 * block is on disk (jbd2_journal_commit_transaction, the step from COMMIT_JFLUSH on)
 * the pending snapshot becomes the durable one; a power cut in between finds the
 * older.  A snapshot shares the trees of inodes, and the name space, with the one
 * before wherever nothing has changed.
 *
 * SIMPLIFIED: without a journal the metadata of the last successful fsync, msync, O_SYNC
 * write, sync or syncfs is taken to be on disk, of all files; a real file system without a
 * journal may be in any state that e2fsck has to repair.
 */
#include "bh/bh.h"
#include "fs.h"

static int by_ino(const void *a, const void *b)
{
	const struct ffs_committed *x = a, *y = b;

	return x->inode.ino < y->inode.ino ? -1 : x->inode.ino > y->inode.ino;
}

const struct ffs_committed *ffs_committed_find(const struct ffs_snapshot *s, u32 ino)
{
	const struct ffs_committed key = { .inode = { .ino = ino } };

	return s->nr ? bsearch(&key, s->inode, s->nr, sizeof(*s->inode), by_ino) : NULL;
}

bool ffs_committed_orphan(const struct ffs_snapshot *s, u32 ino)
{
	u32 i;

	for (i = 0; i < s->nr_orphans; i++)
		if (s->orphans[i] == ino)
			return true;
	return false;
}

const struct ffs_map_run *ffs_committed_run(const struct ffs_committed *c, u64 lblk)
{
	const struct ffs_tree_copy *t = c->tree;
	u32 lo = 0, hi = t->nr_runs;

	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if ((u64)t->run[mid].lblk + t->run[mid].len <= lblk)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < t->nr_runs ? &t->run[lo] : NULL;
}

static void put_tree(struct foliofs_fs *fs, struct ffs_tree_copy *t)
{
	if (!t || --t->refs)
		return;
	ffs_blockmap_destroy(&fs->ops.sb.bm, &t->inode);
	ffs_runs_free(&t->inline_data);
	free(t->run);
	free(t);
}

static void mapped(void *priv, const struct ffs_map_run *run)
{
	struct ffs_tree_copy *t = priv;

	if (t->nr_runs == t->cap_runs) {
		t->cap_runs = t->cap_runs ? 2 * t->cap_runs : 8;
		t->run = ffs_realloc(t->run, t->cap_runs * sizeof(*t->run));
	}
	t->run[t->nr_runs++] = *run;
	t->first = t->end ? min(t->first, run->pblk) : run->pblk;
	t->end = max(t->end, run->pblk + run->len);
}

/* The tree of @inode, copied only where it changed since the snapshot before. */
static struct ffs_tree_copy *get_tree(struct foliofs_fs *fs, const struct ffs_inode *inode)
{
	const struct ffs_committed *before = ffs_committed_find(fs->durable, inode->ino);
	u64 generation = ffs_blockmap_generation(inode);
	bool is_inline = inode->flags & FFS_INODE_INLINE_DATA;
	struct ffs_tree_copy *t = before ? before->tree : NULL;

	if (t && !is_inline && !t->is_inline && t->seq == inode->seq &&
	    t->generation == generation) {
		t->refs++;
		return t;
	}
	t = ffs_zalloc(sizeof(*t));
	t->refs = 1;
	t->seq = inode->seq;
	t->generation = generation;
	t->is_inline = is_inline;
	if (is_inline)
		ffs_runs_copy(&t->inline_data, &ffs_bh_inode(inode)->inline_data);
	else
		ffs_blockmap_clone(&t->inode, inode);
	if (!is_inline)
		ffs_for_each_run(inode, mapped, t);
	return t;
}

static void record_inode(struct foliofs_fs *fs, struct ffs_snapshot *s,
			 const struct ffs_inode *inode)
{
	const struct ffs_committed *before;
	struct ffs_committed *c;

	if (s->nr == s->cap) {
		s->cap = s->cap ? 2 * s->cap : 16;
		s->inode = ffs_realloc(s->inode, s->cap * sizeof(*s->inode));
	}
	c = &s->inode[s->nr++];
	c->tree = get_tree(fs, inode);
	c->inode = *inode;
	c->inode.tree = c->tree->inode.tree;
	c->inode.ind = c->tree->inode.ind;
	c->inode.es = NULL;
	c->inode.pas = NULL;
	c->inode.mapping = NULL;
	c->inode.data_path = NULL;
	c->inode.vfs = NULL;
	c->inode.opens = c->inode.writers = c->inode.reserved = 0;
	/* What is on disk is the inode as it was last written to its buffer. */
	c->inode.i_size = c->inode.i_disksize = inode->raw_disksize;
	before = ffs_committed_find(fs->durable, inode->ino);
	c->changed = !before || before->tree != c->tree || before->inode.nlink != inode->nlink ||
		     before->inode.i_disksize != inode->raw_disksize ||
		     ffs_committed_orphan(fs->durable, inode->ino);
}

static void put_names(struct ffs_names *n)
{
	u32 i;

	if (!n || --n->refs)
		return;
	for (i = 0; i < n->nr; i++)
		free(n->name[i].path);
	free(n->name);
	free(n);
}

static void record_name(void *priv, const char *path, uint32_t ino, uint32_t mode)
{
	struct ffs_names *n = priv;

	(void)mode;
	if (n->nr == n->cap) {
		n->cap = n->cap ? 2 * n->cap : 16;
		n->name = ffs_realloc(n->name, n->cap * sizeof(*n->name));
	}
	n->name[n->nr++] = (struct ffs_name){ strdup(path), ino };
}

static struct ffs_names *get_names(struct foliofs_fs *fs)
{
	struct ffs_names *n = fs->durable->names;

	if (n && n->changed == fs->ops.names_changed) {
		n->refs++;
		return n;
	}
	n = ffs_zalloc(sizeof(*n));
	n->refs = 1;
	n->changed = fs->ops.names_changed;
	foliofs_fs_for_each_name(fs, record_name, n);
	return n;
}

/* The arrays stay for the next use. */
static void forget(struct foliofs_fs *fs, struct ffs_snapshot *s)
{
	u32 i;

	for (i = 0; i < s->nr; i++)
		put_tree(fs, s->inode[i].tree);
	s->nr = 0;
	put_names(s->names);
	s->names = NULL;
	s->nr_orphans = 0;
}

void ffs_commit_locked(struct foliofs_fs *fs)
{
	struct ffs_super *sb = &fs->ops.sb;
	struct ffs_snapshot *s = fs->pending;
	u32 i;

	forget(fs, s);
	for (i = 0; i < sb->cap_inodes; i++)
		if (sb->inodes[i])
			record_inode(fs, s, sb->inodes[i]);
	qsort(s->inode, s->nr, sizeof(*s->inode), by_ino);
	s->names = get_names(fs);
	s->orphans = ffs_realloc(s->orphans, (sb->nr_orphans + 1) * sizeof(*s->orphans));
	if (sb->nr_orphans)
		memcpy(s->orphans, sb->orphans, sb->nr_orphans * sizeof(*s->orphans));
	s->nr_orphans = sb->nr_orphans;
	fs->commit_pending = true;
}

void ffs_commit_done(struct foliofs_fs *fs)
{
	struct ffs_snapshot *s = fs->durable;

	if (!fs->commit_pending)
		return;
	fs->durable = fs->pending;
	fs->pending = s;
	fs->commit_pending = false;
	fs->commits++;
	forget(fs, s);
}

void ffs_snapshot_copy(struct ffs_snapshot *to, const struct ffs_snapshot *from)
{
	u32 i;

	*to = *from;
	to->cap = from->nr;
	to->inode = ffs_realloc(NULL, (from->nr + 1) * sizeof(*to->inode));
	to->orphans = ffs_realloc(NULL, (from->nr_orphans + 1) * sizeof(*to->orphans));
	for (i = 0; i < from->nr; i++) {
		to->inode[i] = from->inode[i];
		to->inode[i].tree->refs++;
	}
	if (from->nr_orphans)
		memcpy(to->orphans, from->orphans, from->nr_orphans * sizeof(*to->orphans));
	if (to->names)
		to->names->refs++;
}

void ffs_snapshot_replace(struct foliofs_fs *fs, const struct ffs_snapshot *s)
{
	forget(fs, fs->durable);
	free(fs->durable->inode);
	free(fs->durable->orphans);
	*fs->durable = *s;
}

void ffs_committed_init(struct foliofs_fs *fs)
{
	fs->durable = &fs->snapshot[0];
	fs->pending = &fs->snapshot[1];
}

void ffs_committed_free(struct foliofs_fs *fs)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(fs->snapshot); i++) {
		forget(fs, &fs->snapshot[i]);
		free(fs->snapshot[i].inode);
		free(fs->snapshot[i].orphans);
	}
}
