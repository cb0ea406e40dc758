/* SPDX-License-Identifier: MIT */
/*
 * The work that operations are made of, counted from the events of a run: a consumer of events.
 *
 * Glossary: step - one folio that a write or read copies to or from; block loop - the walk over the
 * blocks of a folio that buffer heads need; map - a question to the file system where blocks lie.
 */
#ifndef COST_WORK_H
#define COST_WORK_H

#include <stdbool.h>

#include <foliofs/event.h>

/*
 * COST_COUNT(field, what it counts).
 * Blocks and maps are those of reads and writes; writeback has its own.
 */
#define COST_COUNTS(COUNT)                                                                         \
	COUNT(bytes, "bytes copied")                                                               \
	COUNT(steps, "folio steps")                                                                \
	COUNT(folios, "folios added to the page cache")                                            \
	COUNT(blocks, "blocks gone through")                                                       \
	COUNT(maps, "questions for a map")                                                         \
	COUNT(sent, "bytes sent to the device")                                                    \
	COUNT(wb_folios, "folios written back")                                                    \
	COUNT(wb_blocks, "buffers visited by writeback")                                           \
	COUNT(handles, "handles to write pages")                                                   \
	COUNT(converts, "handles to convert")                                                      \
	COUNT(bios_written, "bios written")                                                        \
	COUNT(bios_read, "bios read")

struct cost_work {
	uint64_t ops; /* calls: reads, writes */
#define COST_FIELD(field, text) uint64_t field;
	COST_COUNTS(COST_FIELD)
#undef COST_FIELD
};

enum cost_count {
#define COST_ID(field, text) COST_COUNT_##field,
	COST_COUNTS(COST_ID)
#undef COST_ID
	COST_NR_COUNTS
};

/* What a bio of buffer heads that is being filled ends with; pieces 0: none. */
struct cost_bio {
	uint64_t ino, block;
	uint32_t pieces;
};

struct cost_meter {
	struct foliofs_sink sink;
	uint32_t block_size;
	struct cost_work work; /* since it was last cleared */
	bool made; /* space was promised or taken, or the size grew, since then */
	bool iomap; /* ever: the iomap path runs */
	bool buffers; /* ever: buffer heads are walked */
	bool folios; /* ever: something was copied */
	struct cost_bio bio[2]; /* read, written */
};

void cost_meter_init(struct cost_meter *m, uint32_t block_size);
/* Begin to count anew. */
void cost_meter_clear(struct cost_meter *m);
void cost_work_add(struct cost_work *to, const struct cost_work *from);
/* By number, for tables. */
uint64_t cost_work_get(const struct cost_work *w, enum cost_count n);
const char *cost_count_text(enum cost_count n);
/* Name of the field, for JSON. */
const char *cost_count_name(enum cost_count n);

#endif
