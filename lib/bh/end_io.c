// SPDX-License-Identifier: MIT
/*
 * END: what follows from completed writes.  Unwritten blocks are converted in the
 * reserved handle, then the folios leave writeback (ext4_end_io_end,
 * ext4_convert_unwritten_io_end_vec; v6.18).
 */
#include "bh.h"

static void end_io_work(struct ffs_super *sb, struct ffs_work *w);

struct ffs_io_end *ffs_io_end_new(struct ffs_inode *inode)
{
	struct ffs_io_end *io = ffs_zalloc(sizeof(*io));

	io->work.inode = inode;
	io->work.run = end_io_work;
	return io;
}

struct ffs_io_vec *ffs_io_end_vec(struct ffs_io_end *io, u64 offset)
{
	if (io->nr_vec == io->cap_vec) {
		io->cap_vec = io->cap_vec ? 2 * io->cap_vec : 4;
		io->vec = ffs_realloc(io->vec, io->cap_vec * sizeof(*io->vec));
	}
	io->vec[io->nr_vec] = (struct ffs_io_vec){ .offset = offset };
	return &io->vec[io->nr_vec++];
}

void ffs_io_end_folio(struct ffs_io_end *io, struct ffs_folio *f)
{
	if (io->nr_folio == io->cap_folio) {
		io->cap_folio = io->cap_folio ? 2 * io->cap_folio : 8;
		io->folio = ffs_realloc(io->folio, io->cap_folio * sizeof(*io->folio));
	}
	io->folio[io->nr_folio++] = f;
}

static void io_end_free(struct ffs_io_end *io)
{
	free(io->vec);
	free(io->folio);
	free(io);
}

void ffs_io_end_submit(struct ffs_super *sb, struct ffs_io_end *io)
{
	ffs_io_bio_submit(sb, io);
	io->plug = sb->plug.number;
	if (io->nr_folio) {
		ffs_queue_work(sb, &io->work);
		return;
	}
	/* Writeback gave up before anything was sent: no I/O will end, the task converts itself. */
	if (io->unwritten) {
		end_io_work(sb, &io->work);
		return;
	}
	if (io->rsv)
		ffs_handle_free_reserved(io->rsv);
	io_end_free(io);
}

static int convert(struct ffs_super *sb, struct ffs_io_end *io)
{
	struct ffs_handle *h = NULL;
	int err = 0;
	u32 i;

	if (io->rsv) {
		err = ffs_handle_start_reserved(sb->journal, io->rsv, FOLIOFS_HT_EXT_CONVERT,
						"ext4_convert_unwritten_io_end_vec", &h);
		if (err)
			return err;
	}
	for (i = 0; i < io->nr_vec && !err; i++)
		err = ffs_convert_range(sb, h, io->work.inode, io->vec[i].offset, io->vec[i].size);
	if (h)
		ffs_handle_stop(h);
	return err;
}

static void end_io_work(struct ffs_super *sb, struct ffs_work *w)
{
	struct ffs_io_end *io = container_of(w, struct ffs_io_end, work);
	u32 i;

	ffs_stop(&sb->env, END_IO_BEFORE, w->inode->ino, FFS_HELD_WORKER, 0, 0);
	/*
	 * A failed write keeps its blocks unwritten: they read zero, not old content.  Without
	 * failed-unwritten they are converted all the same.
	 */
	if (io->unwritten &&
	    !(io->failed && ffs_sb_has(sb, FOLIOFS_CHANGE_FAILED_UNWRITTEN))) {
		if (convert(sb, io))
			ffs_emit(&sb->env, foliofs_message,
				 ffs_str("failed to convert unwritten extents"));
	} else if (io->rsv) {
		ffs_handle_free_reserved(io->rsv);
	}
	if (io->failed) {
		ffs_mapping_error(sb, w->inode, -EIO);
		/* What else is in it has reached the device and stays unwritten all the same. */
		for (i = 0; io->unwritten && i < io->nr_vec; i++)
			ffs_emit(&sb->env, foliofs_io_error, w->inode->ino, 0,
				 io->vec[i].size >> sb->env.block_bits, io->vec[i].offset);
		if (sb->env.geo.mount.data_err_abort)
			ffs_journal_abort(sb->journal, -EIO, "data of a file could not be written");
	}
	ffs_stop(&sb->env, END_IO_CONVERTED, w->inode->ino, FFS_HELD_WORKER, 0, 0);
	for (i = 0; i < io->nr_folio; i++) {
		struct ffs_folio *f = io->folio[i];

		ffs_bh_clear(f, FFS_BH_WRITE, 0, f->bpf);
		f->flags &= (u8)~(FFS_FOLIO_WRITEBACK | FFS_FOLIO_MARK);
		ffs_folio_tag(f, FFS_TAG_WRITEBACK, false);
	}
	io_end_free(io);
}
