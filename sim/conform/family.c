// SPDX-License-Identifier: MIT
/* Families of events and what of an event counts: see family.h. */
#define _GNU_SOURCE /* memmem */
#include "family.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {
#define FAMILY_NAME(id, name) name,
	CONFORM_FAMILIES(FAMILY_NAME)
#undef FAMILY_NAME
};

static const struct {
	const char *event;
	enum conform_family_id family;
} events[] = {
	{ "mm_filemap_add_to_page_cache", CONFORM_FOLIO },
	{ "mm_filemap_delete_from_page_cache", CONFORM_FOLIO },
	{ "ext4_journal_start_inode", CONFORM_START },
	{ "ext4_journal_start_sb", CONFORM_START },
	{ "ext4_journal_start_reserved", CONFORM_START },
	{ "ext4_journal_start", CONFORM_START },
	{ "jbd2_handle_start", CONFORM_HANDLE },
	{ "jbd2_handle_extend", CONFORM_HANDLE },
	{ "jbd2_handle_restart", CONFORM_HANDLE },
	{ "jbd2_handle_stats", CONFORM_DIRTIED },
	{ "jbd2_start_commit", CONFORM_COMMIT },
	{ "jbd2_end_commit", CONFORM_COMMIT },
	{ "jbd2_run_stats", CONFORM_COMMIT },
	{ "ext4_ext_map_blocks_exit", CONFORM_MAP },
	{ "ext4_ind_map_blocks_exit", CONFORM_MAP },
	{ "ext4_ext_handle_unwritten_extents", CONFORM_MAP },
	{ "ext4_request_blocks", CONFORM_ALLOC },
	{ "ext4_allocate_blocks", CONFORM_ALLOC },
	{ "ext4_free_blocks", CONFORM_ALLOC },
	{ "ext4_remove_blocks", CONFORM_ALLOC },
	{ "ext4_write_begin", CONFORM_WRITE },
	{ "ext4_write_end", CONFORM_WRITE },
	{ "ext4_journalled_write_end", CONFORM_WRITE },
	{ "ext4_da_write_begin", CONFORM_WRITE },
	{ "ext4_da_write_end", CONFORM_WRITE },
	{ "ext4_writepages", CONFORM_WRITE },
	{ "ext4_writepages_result", CONFORM_WRITE },
	{ "ext4_da_write_folios_start", CONFORM_WRITE },
	{ "ext4_da_write_folios_end", CONFORM_WRITE },
	{ "ext4_da_write_pages_extent", CONFORM_WRITE },
	{ "ext4_da_write_pages", CONFORM_WRITE },
	{ "ext4_writepage", CONFORM_WRITE },
	{ "ext4_truncate_enter", CONFORM_RANGE },
	{ "ext4_truncate_exit", CONFORM_RANGE },
	{ "ext4_punch_hole", CONFORM_RANGE },
	{ "ext4_zero_range", CONFORM_RANGE },
	{ "ext4_collapse_range", CONFORM_RANGE },
	{ "ext4_insert_range", CONFORM_RANGE },
	{ "ext4_fallocate_enter", CONFORM_RANGE },
	{ "ext4_fallocate_exit", CONFORM_RANGE },
	{ "ext4_ext_remove_space", CONFORM_RANGE },
	{ "ext4_invalidate_folio", CONFORM_RANGE },
	{ "ext4_journalled_invalidate_folio", CONFORM_RANGE },
	{ "ext4_es_insert_extent", CONFORM_STATUS },
	{ "ext4_es_insert_delayed_extent", CONFORM_STATUS },
	{ "ext4_es_insert_delayed_block", CONFORM_STATUS },
	{ "ext4_es_remove_extent", CONFORM_STATUS },
	{ "ext4_da_reserve_space", CONFORM_RESERVE },
	{ "ext4_da_update_reserve_space", CONFORM_RESERVE },
	{ "ext4_da_release_space", CONFORM_RESERVE },
	{ "ext4_mark_inode_dirty", CONFORM_INODE },
};

const char *conform_family_name(enum conform_family_id f)
{
	return (unsigned int)f < CONFORM_FAMILY_COUNT ? names[f] : NULL;
}

int conform_family_find(const char *name, enum conform_family_id *f)
{
	unsigned int i;

	for (i = 0; i < CONFORM_FAMILY_COUNT; i++) {
		if (!strcmp(names[i], name)) {
			*f = (enum conform_family_id)i;
			return 0;
		}
	}
	return -ENOENT;
}

enum conform_family_id conform_event_family(struct piece name)
{
	size_t i;

	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (piece_is(name, events[i].event))
			return events[i].family;
	if (piece_starts(name, "iomap_"))
		return CONFORM_IOMAP;
	if (piece_starts(name, "xfs_"))
		return CONFORM_XFS;
	if (piece_starts(name, "block_"))
		return CONFORM_BIO;
	return CONFORM_FAMILY_COUNT;
}

static bool contains(struct piece p, const char *s)
{
	return memmem(p.s, p.len, s, strlen(s)) != NULL;
}

/* Keys whose number is left out. */
static bool dropped_number(struct piece w)
{
	static const char *const keys[] = {
		"interval", "line_no", "wait",	   "request_delay", "running",
		"locked",   "flushing", "logging", "head",	    "handle_count",
	};
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (piece_is(w, keys[i]))
			return true;
	return false;
}

/* "7,40" or "7:40", with a comma behind it or not. */
static bool is_dev(struct piece w)
{
	size_t i, seps = 0;

	if (w.len && w.s[w.len - 1] == ',')
		w.len--;
	for (i = 0; i < w.len; i++) {
		if (w.s[i] == ',' || w.s[i] == ':')
			seps++;
		else if (w.s[i] < '0' || w.s[i] > '9')
			return false;
	}
	return seps == 1 && w.s[0] >= '0' && w.s[0] <= '9' && w.s[w.len - 1] >= '0' &&
	       w.s[w.len - 1] <= '9';
}

struct words {
	char *buf;
	size_t len, pos;
};

static void add(struct words *o, struct piece w)
{
	if (o->pos + w.len + 1 >= o->len)
		return;
	o->buf[o->pos++] = ' ';
	memcpy(o->buf + o->pos, w.s, w.len);
	o->pos += w.len;
}

static void add_str(struct words *o, const char *s)
{
	add(o, (struct piece){ s, strlen(s) });
}

static void drop_comma(struct words *o)
{
	if (o->pos && o->buf[o->pos - 1] == ',')
		o->pos--;
}

/* "7,60 WS 192 + 1024 [comm]": operation and length. */
static bool bio_words(struct piece text, struct words *o)
{
	struct piece rest = text, w, op, plus, len;
	uint64_t n;

	if (!piece_word(&rest, &w) || !piece_word(&rest, &op) || !piece_word(&rest, &w) ||
	    !piece_number(w, &n) || !piece_word(&rest, &plus) || !piece_is(plus, "+") ||
	    !piece_word(&rest, &len) || !piece_number(len, &n))
		return false;
	add(o, op);
	add(o, plus);
	add(o, len);
	return true;
}

/* A name "f+0x1/0x2", and where the file system is a module "[ext4]" behind it. */
static void skip_module(struct piece *rest)
{
	struct piece w, keep = *rest;

	if (!piece_word(rest, &w) || w.s[0] != '[' || w.s[w.len - 1] != ']')
		*rest = keep;
}

/* Words of the iomap path that are no matter of the model; @rest stands behind @w. */
static bool other_word(struct piece w, struct piece *rest, enum conform_family_id family,
		       struct words *o)
{
	struct piece v, keep = *rest;

	if (piece_is(w, "state")) { /* "state A|B cur X": up to cur's value */
		while (piece_word(rest, &v) && !memchr(v.s, '/', v.len)) {
			if (piece_is(v, "cur"))
				return piece_word(rest, &v);
		}
		*rest = keep;
		return false;
	}
	if (piece_is(w, "bdev") || piece_is(w, "ops"))
		return piece_word(rest, &v);
	if (family == CONFORM_IOMAP && piece_is(w, "addr") && piece_word(rest, &v)) {
		add(o, w);
		if (piece_is(v, "0xffffffffffffffff"))
			add_str(o, "none");
		else if (piece_starts(v, "0x"))
			add_str(o, "P");
		else
			add(o, v);
		return true;
	}
	*rest = keep;
	return false;
}

size_t conform_normal(const struct trace_line *line, enum conform_family_id family,
		      struct conform_base *base, char *buf, size_t len)
{
	bool other = family == CONFORM_IOMAP || family == CONFORM_XFS || family == CONFORM_BIO;
	struct piece rest = line->text, w, v, keep;
	struct words o = { buf, len, 0 };
	char number[24];
	uint64_t n;

	if (family == CONFORM_FOLIO && contains(line->text, " ino 1 "))
		return 0;
	if (contains(line->text, "caller ext4_dirty_inode"))
		return 0;
	if ((piece_is(line->event, "jbd2_handle_start") ||
	     piece_is(line->event, "jbd2_handle_stats")) &&
	    contains(line->text, " type 1 ") && contains(line->text, "requested_blocks 3"))
		return 0;
	/*
	 * A flush without data is in a capture of XFS only by chance: its filter of requests of
	 * metadata looks for their mark M behind the end of the text, too, where the request of
	 * the log may have left one (FWFSM).
	 */
	if (family == CONFORM_BIO && contains(line->text, " FWS 0 + 0 "))
		return 0;
	add(&o, line->event);
	if (family == CONFORM_BIO && bio_words(line->text, &o))
		return o.pos;
	while (piece_word(&rest, &w)) {
		keep = rest;
		if (piece_is(w, "dev") && piece_word(&rest, &v) && is_dev(v))
			continue;
		rest = keep;
		if (piece_starts(w, "pfn="))
			continue;
		if (dropped_number(w) && piece_word(&rest, &v) && piece_number(v, &n))
			continue;
		rest = keep;
		if (piece_is(w, "caller") && piece_word(&rest, &v)) {
			drop_comma(&o);
			skip_module(&rest);
			continue;
		}
		rest = keep;
		if (other && other_word(w, &rest, family, &o))
			continue;
		add(&o, w);
		if ((piece_is(w, "tid") || piece_is(w, "transaction")) && piece_word(&rest, &v) &&
		    piece_number(v, &n)) {
			if (!base->known)
				*base = (struct conform_base){ true, n };
			snprintf(number, sizeof(number), "%lld", (long long)(n - base->tid));
			add_str(&o, number);
			continue;
		}
		rest = keep;
		if (piece_is(w, "nr_to_write") && piece_word(&rest, &v) && v.len >= 7 &&
		    piece_number(v, &n)) {
			add_str(&o, "N");
			continue;
		}
		rest = keep;
	}
	return o.pos;
}
