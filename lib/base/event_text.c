// SPDX-License-Identifier: MIT
/*
 * The text of an event, byte for byte as tracefs prints it: stands for the
 * TP_printk of the tracepoints of fs/ext4, fs/jbd2 and mm/filemap.c.
 *
 * Formats are those of events.def and event-forms.def.  They are carried out
 * here and not by printf: a recorder prints millions of events.
 */
#include "event_names.h"

struct word {
	u32 bit;
	const char *text;
};

#define WORD(bit, text) { bit, text },
#include <foliofs/event-words.def>

/* Order of the words: that of the kernel's tables, not of the bits. */
static const struct word map_words[] = { FOLIOFS_MAP_WORDS(WORD) { 0, NULL } };
static const struct word state_words[] = {
	{ 1, "N" }, { 2, "M" }, { 4, "U" }, { 8, "B" }, { 0, NULL },
};
static const struct word buffer_words[] = {
	{ 0x20, "N" }, { 0x10, "M" }, { 0x800, "U" }, { 0x200, "B" }, { 0, NULL },
};
static const struct word status_words[] = {
	{ 1, "W" }, { 2, "U" }, { 4, "D" }, { 8, "H" }, { 0, NULL },
};
static const struct word alloc_words[] = { FOLIOFS_ALLOC_WORDS(WORD) { 0, NULL } };
static const struct word free_words[] = { FOLIOFS_FREE_WORDS(WORD) { 0, NULL } };
static const struct word falloc_words[] = { FOLIOFS_FALLOC_WORDS(WORD) { 0, NULL } };

static const struct word op_words[] = {
	{ 0x01, "WRITE" },  { 0x02, "ZERO" },	{ 0x04, "REPORT" },	    { 0x08, "FAULT" },
	{ 0x10, "DIRECT" }, { 0x20, "NOWAIT" }, { 0x40, "OVERWRITE_ONLY" }, { 0x80, "UNSHARE" },
	{ 0, NULL },
};
static const struct word iomap_words[] = {
	{ 0x001, "NEW" },	   { 0x002, "DIRTY" }, { 0x004, "SHARED" }, { 0x008, "MERGED" },
	{ 0x010, "BH" },	   { 0x020, "XATTR" }, { 0x040, "BOUNDARY" },
	{ 0x100, "SIZE_CHANGED" }, { 0x200, "STALE" }, { 0, NULL },
};
static const char *const iomap_types[] = { "HOLE", "DELALLOC", "MAPPED", "UNWRITTEN", "INLINE" };

/* Text written so far; counts on behind the end of the buffer. */
struct out {
	char *buf;
	size_t len; /* room, the final 0 included */
	size_t pos; /* length of the text */
};

static inline void put(struct out *o, const char *s, size_t n)
{
	if (likely(o->pos + n < o->len))
		memcpy(o->buf + o->pos, s, n);
	else if (o->pos + 1 < o->len)
		memcpy(o->buf + o->pos, s, o->len - 1 - o->pos);
	o->pos += n;
}

static inline void put_char(struct out *o, char c)
{
	if (likely(o->pos + 1 < o->len))
		o->buf[o->pos] = c;
	o->pos++;
}

static void put_number(struct out *o, u64 v, u32 base)
{
	char digits[24];
	size_t i = sizeof(digits);

	do {
		digits[--i] = "0123456789abcdef"[v % base];
		v /= base;
	} while (v);
	put(o, digits + i, sizeof(digits) - i);
}

static void put_decimal(struct out *o, u64 v)
{
	char digits[24];
	size_t i = sizeof(digits);

	do {
		digits[--i] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	put(o, digits + i, sizeof(digits) - i);
}

static void put_signed(struct out *o, u64 v)
{
	if ((s64)v < 0) {
		put_char(o, '-');
		v = 0 - v;
	}
	put_decimal(o, v);
}

/* @sep between the words; @rest: bits without a word follow in hex. */
static void put_words(struct out *o, u64 v, const struct word *w, const char *sep, bool rest)
{
	bool first = true;

	for (; w->text; w++) {
		if (!(v & w->bit))
			continue;
		v &= ~(u64)w->bit;
		if (!first)
			put(o, sep, strlen(sep));
		first = false;
		put(o, w->text, strlen(w->text));
	}
	if (v && rest) {
		if (!first)
			put(o, sep, strlen(sep));
		put(o, "0x", 2);
		put_number(o, v, 16);
	}
}

/* " (0x3)" behind the words. */
static void put_bracket(struct out *o, u64 v)
{
	put(o, " (0x", 4);
	put_number(o, v, 16);
	put_char(o, ')');
}

/* One field by its directive; @page_bits for %P. */
static void put_field(struct out *o, char directive, u64 v, u32 page_bits)
{
	const char *s;

	switch (directive) {
	case 'u':
		put_decimal(o, v);
		break;
	case 'd':
		put_signed(o, v);
		break;
	case 'P':
		put_decimal(o, v >> page_bits);
		break;
	case 'X':
		put(o, "0x", 2);
		put_number(o, v, 16);
		break;
	case 'x':
		put_number(o, v, 16);
		break;
	case 'o':
		put_number(o, v, 8);
		break;
	case 's':
		s = v ? (const char *)(uintptr_t)v : "";
		put(o, s, strlen(s));
		break;
	case 'm':
		put_words(o, v, map_words, "|", true);
		break;
	case 'M':
		put_words(o, v, state_words, "", false);
		break;
	case 'w':
		put_words(o, v, buffer_words, "", true);
		break;
	case 'e':
		put_words(o, v, status_words, "", false);
		break;
	case 'a':
		put_words(o, v, alloc_words, "|", true);
		break;
	case 'f':
		put_words(o, v, free_words, "|", true);
		break;
	case 'l':
		put_words(o, v, falloc_words, "|", true);
		break;
	case 'i':
		put_words(o, v, op_words, "|", false);
		put_bracket(o, v);
		break;
	case 'g':
		put_words(o, v, iomap_words, "|", false);
		put_bracket(o, v);
		break;
	case 't':
		s = v < ARRAY_SIZE(iomap_types) ? iomap_types[v] : "";
		put(o, s, strlen(s));
		put_bracket(o, v);
		break;
	}
}

/* The device with @sep between its numbers: "7:40". */
static void put_dev(struct out *o, const char *dev, char sep)
{
	for (; *dev; dev++)
		put_char(o, *dev == ',' || *dev == ':' ? sep : *dev);
}

static void put_event(struct out *o, const struct ffs_event_desc *d,
		      const struct foliofs_event *ev, const char *dev, u32 page_bits)
{
	const char *map = d->map;
	const char *f = d->format;
	u32 next = 0;

	for (;;) {
		const char *p = f;
		u32 i;

		while (*p && *p != '%')
			p++;
		put(o, f, (size_t)(p - f));
		if (!*p)
			break;
		f = p + 2;
		if (p[1] == 'D' || p[1] == 'C') {
			put_dev(o, dev, p[1] == 'D' ? ',' : ':');
			continue;
		}
		i = map ? (u32)(map[next] - 'a') : next;
		next++;
		put_field(o, p[1], i < ev->nargs ? ev->arg[i] : 0, page_bits);
	}
}

static int finish(struct out *o)
{
	if (o->len)
		o->buf[min(o->pos, o->len - 1)] = 0;
	return (int)o->pos;
}

int foliofs_event_text(const struct foliofs_event *ev, const char *dev, char *buf, size_t len)
{
	const struct ffs_event_desc *d = ffs_event_desc(ev->id);
	struct out o = { buf, len, 0 };

	if (d)
		put_event(&o, d, ev, dev, 12);
	return finish(&o);
}

int foliofs_event_text_for(const struct foliofs_event_form *form, const struct foliofs_event *ev,
			   char *buf, size_t len)
{
	const struct ffs_event_desc *d = ffs_event_desc_for(form->kernel, ev->id);
	struct out o = { buf, len, 0 };

	if (d) {
		put(&o, d->name, strlen(d->name));
		put(&o, ": ", 2);
		put_event(&o, d, ev, form->dev, ilog2(form->page_size));
	}
	return finish(&o);
}

int foliofs_event_field_text(const struct foliofs_event *ev, int field, char *buf, size_t len)
{
	const struct ffs_event_desc *d = ffs_event_desc(ev->id);
	struct out o = { buf, len, 0 };
	const char *p;
	int i = 0;

	if (!d || field < 0 || field >= ev->nargs)
		return -ENOENT;
	for (p = d->format; (p = strchr(p, '%')); p += 2) {
		if (p[1] == 'D' || p[1] == 'C')
			continue;
		if (i++ != field)
			continue;
		put_field(&o, p[1], ev->arg[field], 12);
		return finish(&o);
	}
	return -ENOENT;
}
