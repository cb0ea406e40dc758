// SPDX-License-Identifier: MIT
/*
 * The log: a transaction pins its inodes until a log force writes it; a power cut leaves
 * what the last force had written (xfs_log_force, xlog_recover, v6.18).
 */
#include "xfs.h"

void ffs_xfs_log(struct ffs_inode *inode, bool core)
{
	struct ffs_xfs_inode *i = ffs_xfs_inode(inode);

	i->pinned = true;
	i->core |= core;
}

int ffs_xfs_log_times(struct ffs_super *sb, struct ffs_inode *inode)
{
	(void)sb;
	ffs_xfs_log(inode, false);
	return 0;
}

static void free_durable(struct ffs_xfs_durable *d)
{
	u32 i;

	for (i = 0; i < d->nr_entries; i++)
		free(d->entry[i].name);
	free(d->entry);
	ffs_runs_free(&d->data);
}

void ffs_xfs_durable_free(struct ffs_xfs *x)
{
	u32 i;

	for (i = 0; i < x->nr_durable; i++)
		free_durable(&x->durable[i]);
	free(x->durable);
	x->durable = NULL;
	x->nr_durable = 0;
}

static void keep(struct ffs_xfs_durable *d, const struct ffs_inode *inode)
{
	const struct ffs_xfs_inode *i = ffs_xfs_inode(inode);
	const struct ffs_vfs_inode *v = ffs_vfs(inode);
	struct ffs_xrec r;
	u64 off = 0;
	u32 n;

	*d = (struct ffs_xfs_durable){
		.ino = inode->ino, .mode = inode->mode, .nlink = inode->nlink,
		.size = inode->i_disksize, .reflink = i->reflink, .prealloc = i->prealloc,
	};
	for (; ffs_xfs_lookup(inode, FFS_XFS_DATA, off, &r); off = ffs_xrec_end(&r))
		if (r.state != FFS_XFS_DELAYED)
			ffs_runs_set(&d->data, r.off, ffs_xrec_end(&r), r.blk - r.off, r.state);
	d->entry = ffs_zalloc((v->nr_entries + 1) * sizeof(*d->entry));
	for (n = 0; n < v->nr_entries; n++)
		d->entry[n] = (struct ffs_dirent){ .name = strdup(v->entry[n].name),
						   .ino = v->entry[n].ino };
	d->nr_entries = v->nr_entries;
}

void ffs_xfs_log_force(struct ffs_super *sb)
{
	struct ffs_xfs *x = ffs_xfs(sb);
	u32 i;

	ffs_xfs_durable_free(x);
	x->durable = ffs_zalloc((sb->nr_inodes + 1) * sizeof(*x->durable));
	for (i = 0; i < sb->cap_inodes; i++) {
		if (!sb->inodes[i])
			continue;
		ffs_xfs_inode(sb->inodes[i])->pinned = false;
		ffs_xfs_inode(sb->inodes[i])->core = false;
		keep(&x->durable[x->nr_durable++], sb->inodes[i]);
	}
	ffs_xfs_busy_clear(sb);
}

/* Blocks of a file that was restored are in use; those used twice are shared. */
static void claim(struct ffs_super *sb, const struct ffs_runs *data)
{
	struct ffs_xfs *x = ffs_xfs(sb);
	struct ffs_runs_pos at, fat;
	const struct ffs_run *r, *f;

	for (r = ffs_runs_at(data, 0, &at); r; r = ffs_runs_next(data, &at)) {
		u64 blk = r->first + r->a, end = r->end + r->a;

		while (blk < end) {
			u64 stop = end;

			f = ffs_runs_at(&x->free, blk, &fat);
			if (f && f->first <= blk) {
				stop = min(end, f->end);
				ffs_runs_clear(&x->free, blk, stop);
				x->nr_free -= stop - blk;
			} else {
				if (f && f->first < end)
					stop = f->first;
				ffs_xfs_share(sb, blk, stop - blk);
			}
			blk = stop;
		}
	}
}

void ffs_xfs_restore(struct ffs_ops *to, const struct ffs_ops *from)
{
	const struct ffs_xfs *x = ffs_xfs(&from->sb);
	u32 i, n;

	for (i = 0; i < x->nr_durable; i++) {
		const struct ffs_xfs_durable *d = &x->durable[i];
		struct ffs_inode *inode = ffs_inode_find(&to->sb, d->ino);
		struct ffs_runs_pos at;
		const struct ffs_run *r;

		/* An inode without a name is freed by recovery. */
		if (!d->nlink)
			continue;
		if (!inode)
			inode = ffs_xfs_inode_new(to, d->ino, d->mode);
		inode->nlink = d->nlink;
		inode->i_size = inode->i_disksize = d->size;
		ffs_xfs_inode(inode)->reflink = d->reflink;
		ffs_xfs_inode(inode)->prealloc = d->prealloc;
		for (r = ffs_runs_at(&d->data, 0, &at); r; r = ffs_runs_next(&d->data, &at)) {
			const struct ffs_xrec x = { .off = r->first, .len = r->end - r->first,
						    .blk = r->first + r->a,
						    .state = (enum ffs_xfs_state)r->b };

			ffs_xfs_set(inode, FFS_XFS_DATA, &x);
			inode->i_blocks += x.len;
		}
		claim(&to->sb, &d->data);
		for (n = 0; n < d->nr_entries; n++)
			ffs_simple_add_entry(inode, d->entry[n].name, d->entry[n].ino);
	}
}
