// SPDX-License-Identifier: MIT
/*
 * The words of a mke2fs command line.  Stands for the option loop of mke2fs 1.47
 * (names of options, accepted ranges) and for its -J suboptions.  Only the words
 * are read here; what they mean together is in mkfs_sizes.c.
 */
#include <foliofs/mkfs.h>
#include "mkfs.h"
#include "parse.h"

#define MIN_BLOCK 1024u
#define MAX_BLOCK 65536u
#define MAX_CLUSTER (1u << 29)

struct reader {
	struct ffs_mkfs *m;
	char *err;
	size_t errlen;
};

#define refuse(r, ...) ffs_refuse((r)->err, (r)->errlen, __VA_ARGS__)

/* A whole number for option -@opt, in [low, high]. */
static int number(const struct reader *r, char opt, const char *arg, u64 low, u64 high, u64 *value)
{
	if (ffs_parse_u64(arg, value) || *value < low || *value > high)
		return refuse(r, "-%c: expected a number from %llu to %llu, got '%s'", opt,
			      (unsigned long long)low, (unsigned long long)high, arg);
	return 0;
}

/* A size for option -@opt, a power of two in [low, high]. */
static int power(const struct reader *r, char opt, const char *arg, u32 low, u32 high, u32 *value)
{
	u64 v;

	if (foliofs_parse_size(arg, &v) || v < low || v > high || !is_pow2(v))
		return refuse(r, "-%c: expected a power of two from %u to %u, got '%s'", opt, low,
			      high, arg);
	*value = (u32)v;
	return 0;
}

static int read_journal(const struct reader *r, char *arg)
{
	struct ffs_mkfs *m = r->m;
	char *save = NULL;

	for (char *word = strtok_r(arg, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		char *value = strchr(word, '=');

		if (value)
			*value++ = 0;
		if (!strcmp(word, "size")) {
			if (!value || ffs_parse_u64(value, &m->journal_mb) ||
			    m->journal_mb > 10240000)
				return refuse(r, "-J size: expected megabytes, got '%s'",
					      value ? value : "");
		} else if (!strcmp(word, "fast_commit_size")) {
			if (!value || ffs_parse_u64(value, &m->fast_commit_kb) ||
			    m->fast_commit_kb > UINT32_MAX)
				return refuse(r,
					      "-J fast_commit_size: expected kilobytes, got '%s'",
					      value ? value : "");
		} else if (!strcmp(word, "device") || !strcmp(word, "location")) {
			return refuse(r, "-J %s is not modelled", word);
		} else if (strcmp(word, "v1_superblock")) {
			return refuse(r, "-J: unknown option '%s'", word);
		}
	}
	m->journal |= m->journal_mb > 0;
	return 0;
}

static int read_percent(const struct reader *r, const char *arg)
{
	char *end;

	r->m->reserved = strtod(arg, &end);
	if (end == arg || *end || !(r->m->reserved >= 0 && r->m->reserved <= 50))
		return refuse(r, "-m: expected a percentage from 0 to 50, got '%s'", arg);
	return 0;
}

/* One option with its argument. */
static int read_option(const struct reader *r, char opt, char *arg)
{
	struct ffs_mkfs *m = r->m;
	u64 v;
	int ret;

	switch (opt) {
	case 'b':
		m->block_size_min = *arg == '-';
		return power(r, opt, arg + m->block_size_min, MIN_BLOCK, MAX_BLOCK, &m->block_size);
	case 'C':
		return power(r, opt, arg, 2 * MIN_BLOCK, MAX_CLUSTER, &m->cluster_size);
	case 'E':
		m->extended = arg;
		return 0;
	case 'g':
		ret = number(r, opt, arg, 0, UINT32_MAX, &v);
		if (!ret && v % 8)
			return refuse(r, "-g: expected a multiple of 8, got '%s'", arg);
		m->group_size = (u32)v;
		return ret;
	case 'G':
		ret = number(r, opt, arg, 1, 1ull << 31, &m->flex_groups);
		if (!ret && !is_pow2(m->flex_groups))
			return refuse(r, "-G: expected a power of two, got '%s'", arg);
		return ret;
	case 'i':
		if (foliofs_parse_size(arg, &m->inode_ratio) || m->inode_ratio < MIN_BLOCK ||
		    m->inode_ratio > MAX_BLOCK * 1024)
			return refuse(r, "-i: expected bytes per inode from %u to %u, got '%s'",
				      MIN_BLOCK, MAX_BLOCK * 1024, arg);
		return 0;
	case 'I':
		return number(r, opt, arg, 0, MAX_BLOCK, &m->inode_size);
	case 'J':
		return read_journal(r, arg);
	case 'm':
		return read_percent(r, arg);
	case 'N':
		return number(r, opt, arg, 0, UINT32_MAX, &m->inodes);
	case 'o':
		if (strcmp(arg, "linux") && strcmp(arg, "Linux") && strcmp(arg, "0"))
			return refuse(r, "-o: only linux is modelled, got '%s'", arg);
		return 0;
	case 'O':
		if (*m->features)
			strcat(m->features, ",");
		strcat(m->features, arg);
		return 0;
	case 'r':
		if (strcmp(arg, "1"))
			return refuse(r, "-r: only revision 1 is modelled, got '%s'", arg);
		return 0;
	case 's':
		ret = number(r, opt, arg, 0, 1, &v);
		m->sparse = (int)v;
		return ret;
	case 't':
		if (m->fs_type)
			return refuse(r, "-t: may be given once");
		m->fs_type = arg;
		return 0;
	case 'T':
		if (m->usage)
			return refuse(r, "-T: may be given once");
		m->usage = arg;
		return 0;
	case 'e':
	case 'L':
	case 'M':
	case 'U':
	case 'z':
		return 0;
	}
	return refuse(r, "-%c is not modelled", opt);
}

/* Letters of one word "-Fqb"; an argument is the rest of the word or the next word. */
static int read_letters(const struct reader *r, char *word, char **save)
{
	for (char *p = word + 1; *p; p++) {
		char *arg;

		if (strchr("FqvDK", *p))
			continue;
		if (*p == 'j') {
			r->m->journal = true;
			continue;
		}
		if (strchr("cnSV", *p))
			return refuse(r, "-%c is not modelled", *p);
		if (!strchr("bCEgGiIJmNoOrstTeLMUzdl", *p))
			return refuse(r, "unknown option -%c", *p);
		arg = p[1] ? p + 1 : strtok_r(NULL, " \t\n", save);
		if (!arg)
			return refuse(r, "-%c needs an argument", *p);
		return read_option(r, *p, arg);
	}
	return 0;
}

int ffs_mkfs_read(const char *options, struct ffs_mkfs *m, char *err, size_t errlen)
{
	struct reader r = { m, err, errlen };
	size_t len = strlen(options) + 1;
	char *save = NULL;
	int ret = 0;

	*m = (struct ffs_mkfs){ .reserved = -1, .sparse = -1 };
	m->words = ffs_zalloc(len);
	m->features = ffs_zalloc(len + 1); /* every -O gave two letters for its comma */
	memcpy(m->words, options, len);
	for (char *word = strtok_r(m->words, " \t\n", &save); word && !ret;
	     word = strtok_r(NULL, " \t\n", &save)) {
		if (word[0] == '-' && word[1]) {
			ret = read_letters(&r, word, &save);
		} else if (!strncmp(word, "size=", 5)) {
			m->has_size = true;
			if (foliofs_parse_size(word + 5, &m->size) || !m->size ||
			    m->size > INT64_MAX)
				ret = refuse(&r, "size: expected a size such as 64M, got '%s'",
					     word + 5);
		} else {
			ret = refuse(&r, "expected size=SIZE or an option of mke2fs, got '%s'",
				     word);
		}
	}
	if (!ret && !m->has_size)
		ret = refuse(&r, "size=SIZE is missing");
	return ret;
}

void ffs_mkfs_release(struct ffs_mkfs *m)
{
	free(m->words);
	free(m->features);
}
