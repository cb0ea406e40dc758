// SPDX-License-Identifier: MIT
/*
 * Bios of writeback and their end: iomap_add_to_ioend, iomap_can_add_to_ioend,
 * iomap_finish_ioend, iomap_sort_ioends, iomap_ioend_try_merge (fs/iomap/ioend.c, v6.18).
 */
#include "iomap.h"

#define BATCH_FOLIOS 4096u /* IOEND_BATCH_SIZE */
/*
 * SIMPLIFIED: BIO_MAX_VECS pieces; the kernel takes pages that happen to be adjacent in
 * memory for one.  A run of small folios is cut more often here.
 */
#define MAX_VECS 256u

static bool can_add(const struct ffs_wpc *w, u64 pos, u64 addr, bool unwritten, bool shared,
		    bool boundary)
{
	const struct ffs_ioend *io = w->ioend;

	return io && !boundary && io->unwritten == unwritten && io->shared == shared &&
	       pos == io->pos + io->size && addr == io->addr + io->bytes &&
	       w->nr_folios < BATCH_FOLIOS && io->vecs < MAX_VECS;
}

void ffs_ioend_add(struct ffs_wpc *w, struct ffs_folio *f, u64 pos, u64 len, u64 eof)
{
	bool unwritten = w->map.type == FFS_IOMAP_UNWRITTEN;
	bool shared = w->map.flags & FFS_IOMAP_F_SHARED;
	bool boundary = pos == w->map.offset && (w->map.flags & FFS_IOMAP_F_BOUNDARY);
	u64 addr = ffs_iomap_addr(&w->map, pos);

	if (!can_add(w, pos, addr, unwritten, shared, boundary)) {
		if (w->ioend)
			ffs_ioend_submit(w, 0);
		w->ioend = ffs_zalloc(sizeof(*w->ioend));
		*w->ioend = (struct ffs_ioend){
			.pos = pos, .addr = addr, .unwritten = unwritten, .shared = shared,
			.boundary = boundary,
		};
	}
	w->ioend->vecs++;
	w->ioend->bytes += len;
	w->ioend->size += len;
	/* Sizes on disk are exact to the byte. */
	if (w->ioend->pos + w->ioend->size > eof)
		w->ioend->size = eof - w->ioend->pos;
	f->write_pending += (u32)len;
}

/* The device takes the data, or the write fails: true. */
static bool transfer(struct ffs_super *sb, struct ffs_inode *inode, const struct ffs_ioend *io)
{
	u8 bits = sb->env.block_bits;

	if (ffs_fails(&sb->env, EIO)) {
		ffs_emit(&sb->env, foliofs_io_error, inode->ino, io->addr >> bits, io->bytes >> bits,
			 io->pos);
		return false;
	}
	ffs_iomap_bio_piece(sb, inode, true, io->pos, io->addr, io->bytes);
	ffs_device_write(sb, io->addr, &inode->mapping->content, io->pos, io->bytes,
			 FFS_SRC_UNKNOWN);
	return true;
}

/* What was sent of each folio is there; the last byte of a folio ends its writeback. */
static void finish(struct ffs_super *sb, struct ffs_inode *inode, const struct ffs_ioend *io)
{
	struct ffs_mapping *m = inode->mapping;
	u64 pos = io->pos, end = io->pos + io->bytes;

	if (io->error)
		ffs_mapping_error(sb, inode, io->error);
	while (pos < end) {
		struct ffs_folio *f = ffs_folio_find(m, (u32)(pos >> m->env->page_bits));
		u64 stop;

		/* What runs at a stop may have thrown it away where the kernel would have waited. */
		if (!f || !(f->flags & FFS_FOLIO_WRITEBACK)) {
			pos = (pos | (ffs_page_size(m->env) - 1)) + 1;
			continue;
		}
		stop = min(end, ffs_folio_end(m, f));

		f->write_pending -= (u32)(stop - pos);
		if (!f->write_pending) {
			f->flags &= (u8)~(FFS_FOLIO_WRITEBACK | FFS_FOLIO_MARK);
			ffs_folio_tag(f, FFS_TAG_WRITEBACK, false);
		}
		pos = stop;
	}
}

/* Take what is deferred (or not) out of the list, in its order. */
static struct ffs_ioend *take(struct ffs_iomap_inode *i, bool deferred)
{
	struct ffs_ioend **p = &i->sent, *list = NULL, **tail = &list;

	while (*p) {
		struct ffs_ioend *io = *p;

		if (io->deferred != deferred) {
			p = &io->next;
			continue;
		}
		*p = io->next;
		io->next = NULL;
		*tail = io;
		tail = &io->next;
	}
	i->sent_tail = p;
	return list;
}

/* By offset, as the worker finishes them. */
static struct ffs_ioend *sort(struct ffs_ioend *list)
{
	struct ffs_ioend *sorted = NULL;

	while (list) {
		struct ffs_ioend *io = list, **p = &sorted;

		list = list->next;
		while (*p && (*p)->pos <= io->pos)
			p = &(*p)->next;
		io->next = *p;
		*p = io;
	}
	return sorted;
}

static bool can_merge(const struct ffs_ioend *a, const struct ffs_ioend *b)
{
	return a->error == b->error && a->unwritten == b->unwritten && a->shared == b->shared &&
	       !b->boundary && a->pos + a->size == b->pos && a->addr + a->bytes == b->addr;
}

static void run_work(struct ffs_super *sb, struct ffs_work *work)
{
	struct ffs_inode *inode = work->inode;
	struct ffs_iomap_inode *i = ffs_iomap_inode(inode);
	struct ffs_ioend *io, *next;

	i->queued = false;
	for (io = take(i, false); io; io = next) {
		next = io->next;
		finish(sb, inode, io);
		free(io);
	}
	ffs_lock(&sb->env, FFS_LOCK_END_IO, inode->ino);
	for (io = sort(take(i, true)); io; io = next) {
		struct ffs_ioend all = *io;

		/* Neighbours are accounted for at once. */
		for (next = io->next; next && can_merge(&all, next); next = next->next) {
			all.size += next->size;
			all.bytes += next->bytes;
		}
		ffs_stop(&sb->env, END_IO_BEFORE, inode->ino, FFS_HELD_WORKER, 0, 0);
		sb->iomap_fs->wb_end(sb, inode, &all);
		ffs_stop(&sb->env, END_IO_CONVERTED, inode->ino, FFS_HELD_WORKER, 0, 0);
		while (io != next) {
			struct ffs_ioend *done = io;

			finish(sb, inode, io);
			io = io->next;
			free(done);
		}
	}
	ffs_unlock(&sb->env, FFS_LOCK_END_IO);
}

void ffs_ioend_submit(struct ffs_wpc *w, int error)
{
	struct ffs_iomap_inode *i = ffs_iomap_inode(w->inode);
	struct ffs_ioend *io = w->ioend;

	if (!io)
		return;
	w->ioend = NULL;
	w->nr_folios = 0;
	io->error = error;
	if (!error)
		ffs_iomap_bio(w->sb, w->wbc->sync_mode == FFS_WB_ALL ? "WS" : "W", io->addr,
			      io->bytes);
	if (!error && !transfer(w->sb, w->inode, io))
		io->error = -EIO;
	io->deferred = w->sb->iomap_fs->wb_submit(w->sb, w->inode, io);
	if (!i->sent)
		i->sent_tail = &i->sent;
	*i->sent_tail = io;
	i->sent_tail = &io->next;
	if (!i->queued) {
		i->queued = true;
		i->work = (struct ffs_work){ .run = run_work, .inode = w->inode };
		ffs_queue_work(w->sb, &i->work);
	}
}

void ffs_ioend_free_all(struct ffs_iomap_inode *i)
{
	while (i->sent) {
		struct ffs_ioend *io = i->sent;

		i->sent = io->next;
		free(io);
	}
}
