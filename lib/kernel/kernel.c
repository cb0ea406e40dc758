// SPDX-License-Identifier: MIT
/*
 * Kernels as sets of changes: the tables behind foliofs/kernel.h and the parser of kernel names.
 * Nothing here stands for a kernel function.
 *
 * series: the release that a stable number belongs to ("6.12" of "6.12.117").
 * modifier: "+CHANGE" or "-CHANGE" behind the name of a kernel.
 */
#include <foliofs/kernel.h>

#include <stdarg.h>
#include <stdio.h>

#include "base/base.h"

struct change_info {
	const char *name, *meaning, *source, *needs, *without;
};

static const struct change_info changes[FOLIOFS_CHANGE_COUNT] = {
#define FOLIOFS_CHANGE(id, name, meaning, source, needs, without)                                  \
	[FOLIOFS_CHANGE_##id] = { name, meaning, source, needs, without },
#include <foliofs/changes.def>
#undef FOLIOFS_CHANGE
};

struct kernel_info {
	const char *name, *meaning, *base, *add, *take;
};

static const struct kernel_info kernels[] = {
#define FFS_KERNEL(name, meaning, base, add, take) { name, meaning, base, add, take },
#include "kernels.def"
#undef FFS_KERNEL
};

/*
 * Which set a release number takes: the last line of its series whose patch level is not above
 * the number's.  Source of the levels: stable change logs (worst-case depth, credit fixes).
 */
static const struct series {
	unsigned int major, minor, patch;
	const char *kernel;
} series[] = {
	{ 6, 1, 0, "v6.1" },	{ 6, 1, 142, "v6.1-stable" },
	{ 6, 12, 0, "v6.12" },	{ 6, 12, 35, "v6.12-stable" },
	{ 6, 12, 117, "v6.12.117" },
	{ 6, 15, 0, "v6.15" },	{ 6, 16, 0, "v6.16" },
	{ 6, 16, 1, "v6.16.1" }, { 6, 16, 3, "v6.16.3" },
	{ 6, 17, 0, "v6.17" },	{ 6, 18, 0, "v6.18" },
	{ 6, 19, 0, "v6.19" },	{ 7, 0, 0, "v7.0" },
};

const char *foliofs_kernel_name(unsigned int i)
{
	return i < ARRAY_SIZE(kernels) ? kernels[i].name : NULL;
}

const char *foliofs_kernel_meaning(unsigned int i)
{
	return i < ARRAY_SIZE(kernels) ? kernels[i].meaning : NULL;
}

const char *foliofs_change_name(enum foliofs_change c)
{
	return changes[c].name;
}

const char *foliofs_change_meaning(enum foliofs_change c)
{
	return changes[c].meaning;
}

const char *foliofs_change_source(enum foliofs_change c)
{
	return changes[c].source;
}

const char *foliofs_change_needs(enum foliofs_change c)
{
	return changes[c].needs;
}

const char *foliofs_change_without(enum foliofs_change c)
{
	return changes[c].without;
}

/* The patches of the large-folio series by their numbers in it, as mails call them. */
static const struct {
	const char *name;
	enum foliofs_change change;
} patches[] = {
	{ "P1", FOLIOFS_CHANGE_LF_READ }, { "P2", FOLIOFS_CHANGE_LF_WRITE },
	{ "P3", FOLIOFS_CHANGE_LF_ZERO }, { "P4", FOLIOFS_CHANGE_LF_CREDITS },
	{ "P5", FOLIOFS_CHANGE_LF_LEAF_CREDITS }, { "P6", FOLIOFS_CHANGE_LF_WRITEBACK },
	{ "P7", FOLIOFS_CHANGE_LF_DEFRAG }, { "P8", FOLIOFS_CHANGE_LF_JOURNAL_MODE },
};

static int find_change(const char *name, size_t len, enum foliofs_change *c)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(patches); i++) {
		if (strlen(patches[i].name) == len && !memcmp(patches[i].name, name, len)) {
			*c = patches[i].change;
			return 0;
		}
	}
	for (unsigned int i = 0; i < FOLIOFS_CHANGE_COUNT; i++) {
		if (strlen(changes[i].name) == len && !memcmp(changes[i].name, name, len)) {
			*c = (enum foliofs_change)i;
			return 0;
		}
	}
	return -ENOENT;
}

int foliofs_change_find(const char *name, enum foliofs_change *c)
{
	return find_change(name, strlen(name), c);
}

static void set_change(struct foliofs_kernel *k, enum foliofs_change c, bool in)
{
	u64 bit = 1ull << (c % 64);

	if (in)
		k->changes[c / 64] |= bit;
	else
		k->changes[c / 64] &= ~bit;
}

/* Next word of a list separated by blanks: its length, 0 at the end; @list moves behind it. */
static size_t next_word(const char **list, const char **word)
{
	size_t len;

	*list += strspn(*list, " ");
	*word = *list;
	len = strcspn(*list, " ");
	*list += len;
	return len;
}

static void set_list(struct foliofs_kernel *k, const char *list, bool in)
{
	enum foliofs_change c;
	const char *word;
	size_t len;

	while ((len = next_word(&list, &word)))
		if (!find_change(word, len, &c))
			set_change(k, c, in);
}

static const struct kernel_info *find_kernel(const char *name, size_t len)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(kernels); i++)
		if (strlen(kernels[i].name) == len && !memcmp(kernels[i].name, name, len))
			return &kernels[i];
	return NULL;
}

/* A base stands before what is built on it, so this ends. */
static void build_kernel(struct foliofs_kernel *k, const struct kernel_info *info)
{
	const struct kernel_info *base = find_kernel(info->base, strlen(info->base));

	if (base)
		build_kernel(k, base);
	set_list(k, info->add, true);
	set_list(k, info->take, false);
}

static int fail(char *err, size_t errlen, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int fail(char *err, size_t errlen, const char *fmt, ...)
{
	va_list ap;

	if (err && errlen) {
		va_start(ap, fmt);
		vsnprintf(err, errlen, fmt, ap);
		va_end(ap);
	}
	return -EINVAL;
}

/* A decimal number of at most 5 digits without sign; @s moves behind it. */
static bool take_number(const char **s, unsigned int *v)
{
	const char *p = *s;

	for (*v = 0; *p >= '0' && *p <= '9' && p - *s < 5; p++)
		*v = *v * 10 + (unsigned int)(*p - '0');
	if (p == *s || (*p >= '0' && *p <= '9'))
		return false;
	*s = p;
	return true;
}

static bool at_end_of_name(const char *s)
{
	return *s == '\0' || *s == '+' || *s == '-';
}

/* "[v]A.B[.C]": the set of its series, and the length of the number in @len; NULL if none. */
static const struct kernel_info *find_release(const char *spec, size_t *len)
{
	const char *s = spec + (*spec == 'v'), *name = NULL;
	unsigned int major, minor, patch = 0;

	if (!take_number(&s, &major) || *s++ != '.' || !take_number(&s, &minor))
		return NULL;
	if (*s == '.' && (s++, !take_number(&s, &patch)))
		return NULL;
	*len = (size_t)(s - spec);
	for (unsigned int i = 0; i < ARRAY_SIZE(series); i++)
		if (series[i].major == major && series[i].minor == minor &&
		    series[i].patch <= patch)
			name = series[i].kernel;
	return name && at_end_of_name(s) ? find_kernel(name, strlen(name)) : NULL;
}

/* Names contain '-' themselves: the longest kernel name that ends at a modifier counts. */
static const struct kernel_info *find_prefix(const char *spec, size_t *len)
{
	const struct kernel_info *best = NULL;

	*len = 0;
	for (unsigned int i = 0; i < ARRAY_SIZE(kernels); i++) {
		size_t n = strlen(kernels[i].name);

		if (n > *len && !strncmp(spec, kernels[i].name, n) && at_end_of_name(spec + n)) {
			best = &kernels[i];
			*len = n;
		}
	}
	return best ? best : find_release(spec, len);
}

/* Apply one modifier; returns its length with the sign, 0 if no change has that name. */
static size_t apply_modifier(struct foliofs_kernel *k, const char *s)
{
	enum foliofs_change best = FOLIOFS_CHANGE_COUNT;
	size_t len = 0;

	for (unsigned int i = 0; i < FOLIOFS_CHANGE_COUNT; i++) {
		size_t n = strlen(changes[i].name);

		if (n > len && !strncmp(s + 1, changes[i].name, n) && at_end_of_name(s + 1 + n)) {
			best = (enum foliofs_change)i;
			len = n;
		}
	}
	if (!len)
		return 0;
	set_change(k, best, *s == '+');
	return len + 1;
}

int foliofs_kernel_parse(const char *spec, struct foliofs_kernel *k, char *err, size_t errlen)
{
	const struct kernel_info *info;
	size_t len, n;

	memset(k, 0, sizeof(*k));
	if (strlen(spec) >= sizeof(k->name))
		return fail(err, errlen, "kernel name is longer than %zu characters",
			    sizeof(k->name) - 1);
	info = find_prefix(spec, &len);
	if (!info)
		return fail(err, errlen,
			    "no kernel \"%s\": expected a name of the list that \"foliosim kernels\""
			    " prints, or a release of one of its series", spec);
	build_kernel(k, info);
	for (const char *s = spec + len; *s; s += n) {
		n = apply_modifier(k, s);
		if (!n)
			return fail(err, errlen, "kernel \"%s\": no change \"%s\"", spec, s + 1);
	}
	memcpy(k->name, spec, strlen(spec) + 1);
	return 0;
}

static int modify(struct foliofs_kernel *k, enum foliofs_change c, bool in)
{
	size_t used = strlen(k->name), n = strlen(changes[c].name);

	if (foliofs_kernel_has(k, c) == in)
		return 0;
	if (used + n + 2 > sizeof(k->name))
		return -EINVAL;
	k->name[used] = in ? '+' : '-';
	memcpy(k->name + used + 1, changes[c].name, n + 1);
	set_change(k, c, in);
	return 0;
}

int foliofs_kernel_with(struct foliofs_kernel *k, enum foliofs_change c)
{
	return modify(k, c, true);
}

int foliofs_kernel_without(struct foliofs_kernel *k, enum foliofs_change c)
{
	return modify(k, c, false);
}

bool foliofs_kernel_lacks(const struct foliofs_kernel *k, unsigned int from,
			  enum foliofs_change *change, enum foliofs_change *missing)
{
	for (unsigned int i = from; i < FOLIOFS_CHANGE_COUNT; i++) {
		const char *list = changes[i].needs, *word;
		size_t len;

		if (!foliofs_kernel_has(k, (enum foliofs_change)i))
			continue;
		while ((len = next_word(&list, &word))) {
			if (find_change(word, len, missing) || foliofs_kernel_has(k, *missing))
				continue;
			*change = (enum foliofs_change)i;
			return true;
		}
	}
	return false;
}
