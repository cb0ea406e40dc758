// SPDX-License-Identifier: MIT
/*
 * The plug of writeback: how bios become requests, in which order these are done, which is
 * the order of conversions before plug-order (blk_start_plug, blk_finish_plug), and how many
 * the device takes before the writer has to wait (blk-wbt).
 */
#include "bh.h"

#define PLUG_REQUESTS 32u /* BLK_MAX_REQUEST_COUNT */
#define PLUG_BYTES (128u << 10) /* BLK_PLUG_FLUSH_SIZE */
#define MAX_SEGMENTS 128u /* of a request: BLK_MAX_SEGMENTS */
#define BIO_PAGES 256u /* BIO_MAX_VECS */
/*
 * Requests of a sync in flight; of other writeback half as many (wbt_wait, get_limit).
 * SIMPLIFIED: the depth is that of a device which has been writing for 300 ms or was made less
 * than a second ago, 3/4 of its 128 tags; it goes down to 16 with half a second of rest a step.
 */
#define IN_FLIGHT 96u

u32 ffs_io_plug(struct ffs_super *sb, bool sync)
{
	sb->plug.batch++;
	sb->plug.requests = 0;
	sb->plug.limit = sync ? IN_FLIGHT : IN_FLIGHT / 2;
	return ++sb->plug.number;
}

/* Of one flush @a is done before @b. */
static bool done_before(const struct ffs_io_end *a, const struct ffs_io_end *b)
{
	return a->request != b->request ? a->request > b->request : a->place < b->place;
}

/* What has been sent since @plug began, in the order it is done; batch @as_made stays as it is. */
static void order_done(struct ffs_super *sb, u32 plug, u32 as_made)
{
	struct ffs_work **flush = &sb->work, **tail, *w, *next; /* flush: where this one begins */
	u32 batch = 0;

	if (ffs_sb_has(sb, FOLIOFS_CHANGE_PLUG_ORDER) || !sb->work)
		return;
	while (*flush && container_of(*flush, struct ffs_io_end, work)->plug != plug)
		flush = &(*flush)->next;
	tail = flush;
	for (w = *flush, *flush = NULL; w; w = next) {
		struct ffs_io_end *io = container_of(w, struct ffs_io_end, work);
		struct ffs_work **at;

		next = w->next;
		if (io->batch != batch)
			flush = tail;
		batch = io->batch;
		for (at = flush; *at; at = &(*at)->next)
			if (batch != as_made &&
			    done_before(io, container_of(*at, struct ffs_io_end, work)))
				break;
		w->next = *at;
		*at = w;
		if (at == tail)
			tail = &w->next;
	}
	sb->work_tail = tail;
}

/*
 * One more request: if as many as may be are in flight, the writer sleeps until they are done.
 * What waits in a plug goes to the device as it was made if its task sleeps.
 */
static void throttle(struct ffs_super *sb)
{
	if (sb->plug.in_flight >= sb->plug.limit) {
		order_done(sb, sb->plug.number, sb->plug.batch);
		ffs_run_work(sb);
	}
	sb->plug.in_flight++;
}

/*
 * A bio goes to the plug: behind the newest request if that ends where it begins, else as a
 * request of its own; a plug that is full, or whose newest request is large, is flushed before
 * (blk_attempt_plug_merge, blk_add_rq_to_plug).  SIMPLIFIED: each page is a segment, and nothing
 * is put in front of a request.
 */
static void bio_to_plug(struct ffs_super *sb, struct ffs_io_end *io, u64 first, u64 end, u32 pages)
{
	u64 bytes = (end - first) << sb->env.block_bits;

	if (sb->plug.requests && sb->plug.end == first &&
	    sb->plug.pages + pages <= MAX_SEGMENTS) {
		sb->plug.place++;
		sb->plug.pages += pages;
		sb->plug.bytes += bytes;
	} else {
		throttle(sb);
		if (sb->plug.requests >= PLUG_REQUESTS ||
		    (sb->plug.requests && sb->plug.bytes >= PLUG_BYTES)) {
			sb->plug.batch++;
			sb->plug.requests = 0;
		}
		sb->plug.requests++;
		sb->plug.request++;
		sb->plug.place = 0;
		sb->plug.pages = pages;
		sb->plug.bytes = bytes;
	}
	sb->plug.end = end;
	/* of one flush the oldest request is the last to be done */
	if (io->request && io->batch == sb->plug.batch && io->request < sb->plug.request)
		return;
	io->batch = sb->plug.batch;
	io->request = sb->plug.request;
	io->place = sb->plug.place;
}

void ffs_io_bio_submit(struct ffs_super *sb, struct ffs_io_end *io)
{
	u32 per_page = max(sb->env.geo.page_size >> sb->env.block_bits, 1u);

	/* what has too many segments is split */
	while (io->bio_pages > MAX_SEGMENTS) {
		u64 at = min(io->bio_first + (u64)MAX_SEGMENTS * per_page, io->bio_end);

		bio_to_plug(sb, io, io->bio_first, at, MAX_SEGMENTS);
		io->bio_first = at;
		io->bio_pages -= MAX_SEGMENTS;
	}
	if (io->bio_pages)
		bio_to_plug(sb, io, io->bio_first, io->bio_end, io->bio_pages);
	io->bio_pages = 0;
}

void ffs_io_end_blocks(struct ffs_super *sb, struct ffs_io_end *io, u64 pblk, u64 n, u64 lblk)
{
	/* (a block larger than a page is a segment, too) */
	u8 shift = sb->env.page_bits - min(sb->env.page_bits, sb->env.block_bits);
	u32 page = (u32)(lblk >> shift), last = (u32)((lblk + n - 1) >> shift);

	if (io->bio_pages && (io->bio_end != pblk || io->bio_pages + last - page >= BIO_PAGES))
		ffs_io_bio_submit(sb, io);
	if (!io->bio_pages) {
		io->bio_first = pblk;
		io->bio_last_page = page;
		io->bio_pages = 1;
	}
	io->bio_pages += last - io->bio_last_page;
	io->bio_last_page = last;
	io->bio_end = pblk + n;
}

void ffs_io_unplug(struct ffs_super *sb, u32 plug)
{
	order_done(sb, plug, 0);
}
