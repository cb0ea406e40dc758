// SPDX-License-Identifier: MIT
/* Work counted from events: see work.h. */
#include "work.h"

#include <foliofs/credits.h>
#include <string.h>

/*
 * SIMPLIFIED: a bio takes 256 pieces; the kernel takes pages that happen to be adjacent in memory for
 * one.
 */
#define BIO_PIECES 256u
#define IOMAP_NEW 1u /* flags of a map */

void cost_meter_clear(struct cost_meter *m)
{
	memset(&m->work, 0, sizeof(m->work));
	m->made = false;
}

void cost_work_add(struct cost_work *to, const struct cost_work *from)
{
	to->ops += from->ops;
#define COST_ADD(field, text) to->field += from->field;
	COST_COUNTS(COST_ADD)
#undef COST_ADD
}

uint64_t cost_work_get(const struct cost_work *w, enum cost_count n)
{
	const uint64_t v[] = {
#define COST_VALUE(field, text) w->field,
		COST_COUNTS(COST_VALUE)
#undef COST_VALUE
	};

	return v[n];
}

const char *cost_count_text(enum cost_count n)
{
	static const char *const texts[] = {
#define COST_TEXT(field, text) text,
		COST_COUNTS(COST_TEXT)
#undef COST_TEXT
	};

	return texts[n];
}

const char *cost_count_name(enum cost_count n)
{
	static const char *const names[] = {
#define COST_NAME(field, text) #field,
		COST_COUNTS(COST_NAME)
#undef COST_NAME
	};

	return names[n];
}

/* foliofs_block_loop: ino what folio_index first end asked */
static void count_blocks(struct cost_meter *m, const struct foliofs_event *ev)
{
	const char *what = (const char *)(uintptr_t)ev->arg[1];
	uint64_t n = ev->arg[4] - ev->arg[3];

	m->buffers = true;
	if (!strcmp(what, "writeback")) {
		m->work.wb_folios++;
		m->work.wb_blocks += n;
		return;
	}
	m->work.blocks += n;
	m->work.maps += ev->arg[5];
}

/*
 * foliofs_bio: ino write block len pos.  What follows on disk joins the bio before.  The iomap path
 * tells the bios themselves (block_bio_queue).
 */
static void count_bio(struct cost_meter *m, const struct foliofs_event *ev)
{
	bool write = ev->arg[1];
	struct cost_bio *b = &m->bio[write];

	m->work.sent += write ? ev->arg[3] * m->block_size : 0;
	if (m->iomap)
		return;
	if (!b->pieces || b->pieces == BIO_PIECES || b->ino != ev->arg[0] ||
	    b->block != ev->arg[2]) {
		b->pieces = 0;
		if (write)
			m->work.bios_written++;
		else
			m->work.bios_read++;
	}
	b->pieces++;
	b->ino = ev->arg[0];
	b->block = ev->arg[2] + ev->arg[3];
}

static void on_event(void *priv, const struct foliofs_event *ev)
{
	struct cost_meter *m = priv;
	const char *rwbs;

	switch (ev->id) {
	case FOLIOFS_EV_foliofs_step:
		m->folios = true;
		m->work.steps++;
		m->work.bytes += ev->arg[3];
		return;
	case FOLIOFS_EV_mm_filemap_add_to_page_cache:
		m->bio[0].pieces = 0; /* another readahead */
		m->work.folios += ev->arg[0] != 1; /* not the allocator's buddy cache */
		return;
	case FOLIOFS_EV_foliofs_block_loop:
		count_blocks(m, ev);
		return;
	case FOLIOFS_EV_iomap_iter:
		m->iomap = true;
		return;
	case FOLIOFS_EV_iomap_iter_dstmap:
		m->work.maps++;
		m->made |= ev->arg[5] & IOMAP_NEW;
		return;
	case FOLIOFS_EV_iomap_writeback_folio:
		m->work.wb_folios++;
		return;
	case FOLIOFS_EV_foliofs_bio:
		count_bio(m, ev);
		return;
	case FOLIOFS_EV_ext4_da_write_folios_end:
	case FOLIOFS_EV_ext4_writepages_result:
		m->bio[1].pieces = 0;
		return;
	case FOLIOFS_EV_block_bio_queue:
		rwbs = (const char *)(uintptr_t)ev->arg[0];
		m->work.bios_read += *rwbs == 'R';
		m->work.bios_written += *rwbs == 'W';
		return;
	case FOLIOFS_EV_jbd2_handle_start:
		m->work.handles += ev->arg[1] == FOLIOFS_HT_WRITE_PAGE;
		m->work.converts += ev->arg[1] == FOLIOFS_HT_EXT_CONVERT;
		return;
	case FOLIOFS_EV_xfs_unwritten_convert:
	case FOLIOFS_EV_xfs_setfilesize:
		m->work.converts++;
		return;
	case FOLIOFS_EV_foliofs_isize:
		m->made |= ev->arg[2] > ev->arg[1];
		return;
	case FOLIOFS_EV_ext4_da_reserve_space:
	case FOLIOFS_EV_ext4_allocate_blocks:
		m->made |= ev->thread == FOLIOFS_THREAD_TASK;
		return;
	}
}

void cost_meter_init(struct cost_meter *m, uint32_t block_size)
{
	static const enum foliofs_event_id wanted[] = {
		FOLIOFS_EV_foliofs_step,
		FOLIOFS_EV_mm_filemap_add_to_page_cache,
		FOLIOFS_EV_foliofs_block_loop,
		FOLIOFS_EV_iomap_iter,
		FOLIOFS_EV_iomap_iter_dstmap,
		FOLIOFS_EV_iomap_writeback_folio,
		FOLIOFS_EV_foliofs_bio,
		FOLIOFS_EV_ext4_da_write_folios_end,
		FOLIOFS_EV_ext4_writepages_result,
		FOLIOFS_EV_block_bio_queue,
		FOLIOFS_EV_jbd2_handle_start,
		FOLIOFS_EV_xfs_unwritten_convert,
		FOLIOFS_EV_xfs_setfilesize,
		FOLIOFS_EV_foliofs_isize,
		FOLIOFS_EV_ext4_da_reserve_space,
		FOLIOFS_EV_ext4_allocate_blocks,
	};
	size_t i;

	memset(m, 0, sizeof(*m));
	m->block_size = block_size;
	m->sink.event = on_event;
	m->sink.priv = m;
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		m->sink.wants[wanted[i]] = 1;
}
