// SPDX-License-Identifier: MIT
/*
 * Replays what real kernels asked of their allocator and compares the answers.
 *
 * From a capture: each ext4_request_blocks is put to our allocator on the layout of
 * mke2fs, frees, commits, closes and truncations are done when the trace shows them,
 * and each result has to be the recorded ext4_allocate_blocks: block and length.
 *
 * Captures with a prepare section start from a free space that only the prepare
 * operations could tell.  Where it is known it is in free.gz of the capture, or in
 * tests/data/alloc/free/NAME.gz for those of 6.18 whose preparation comes out the same
 * every time: lines "first length count stride", count free runs of that length.  The
 * others are left out.
 *
 *	unit_alloc_replay [CAPTURE...]     without: tests/data/alloc and ../shared/golden*
 */
#include <dirent.h>
#include <unistd.h>
#include <zlib.h>
#include "alloc_common.h"

#define MAX_INODES 4096
#define MAX_OPS 20000
#define LINE 4096

struct file {
	char name[64];
	u32 ino;
	u64 size; /* left by the prepare operations */
	bool open, writer, direct, unlinked, gone;
};

struct replay {
	const char *dir;
	struct ffs_env env;
	struct ffs_alloc *a;
	struct ffs_handle handle;
	struct ffs_inode *inode[MAX_INODES];
	struct file file[64];
	u32 nr_files;
	long long result[MAX_OPS];
	bool old_trace; /* 6.1: starts without type */

	u64 claimed; /* delayed clusters; some captures leave the claims out */
	u32 op;
	char verb[32], name[64], name2[64], text[256];
	u64 off, len;
	bool moved_done;

	/* the request whose answer comes next */
	bool asked;
	u32 asked_len;
	u64 got;
	u32 requests, wrong, line;
	char first_wrong[640];
};

static u32 flags_of(const char *text, const char *const *words, const u32 *bits, u32 n)
{
	u32 flags = 0, i;

	for (i = 0; i < n; i++) {
		const char *p = strstr(text, words[i]);

		if (p)
			flags |= bits[i];
	}
	return flags;
}

static u32 alloc_flags(const char *text)
{
	static const char *const words[] = { "HINT_DATA", "HINT_NOPREALLOC", "HINT_TRY_GOAL",
					     "DELALLOC_RESV", "USE_RESV", "STREAM_ALLOC" };
	static const u32 bits[] = { FFS_MB_DATA, FFS_MB_NOPREALLOC, FFS_MB_TRY_GOAL,
				    FFS_MB_DELALLOC, FFS_MB_USE_RESERVED, FFS_MB_STREAM };
	char buf[128];

	snprintf(buf, sizeof(buf), "%.*s", (int)strcspn(text, " "), text);
	return flags_of(buf, words, bits, ARRAY_SIZE(words));
}

static u32 free_flags(const char *text)
{
	static const char *const words[] = { "METADATA", "FORGET", "VALIDATED", "NO_QUOTA",
					     "1ST_CLUSTER", "LAST_CLUSTER", "RESERVE" };
	static const u32 bits[] = { FFS_FREE_METADATA, FFS_FREE_FORGET, FFS_FREE_VALIDATED,
				    FFS_FREE_NO_QUOTA, FFS_FREE_NOFREE_FIRST,
				    FFS_FREE_NOFREE_LAST, FFS_FREE_RERESERVE };

	return flags_of(text, words, bits, ARRAY_SIZE(words));
}

/* Number behind "@key " in the text of an event. */
static u64 field(const char *text, const char *key)
{
	char find[40];
	const char *p;

	snprintf(find, sizeof(find), " %s ", key);
	p = strstr(text, find);
	return p ? strtoull(p + strlen(find), NULL, 10) : 0;
}

static struct ffs_inode *inode_of(struct replay *r, u32 ino)
{
	struct ffs_inode *inode;

	assert_in_range(ino, 1, MAX_INODES - 1);
	inode = r->inode[ino];
	if (!inode) {
		inode = r->inode[ino] = ffs_zalloc(sizeof(*inode));
		inode->ino = ino;
		inode->mode = FFS_S_IFREG | 0644;
		if (ino == 2)
			inode->mode = FFS_S_IFDIR | 0755;
		if (ffs_feature(&r->env, FOLIOFS_FEATURE_EXTENTS))
			inode->flags |= FFS_INODE_EXTENTS;
	}
	return inode;
}

static struct file *file_of(struct replay *r, const char *name)
{
	u32 i;

	for (i = 0; i < r->nr_files; i++)
		if (!strcmp(r->file[i].name, name) && !r->file[i].gone)
			return &r->file[i];
	return NULL;
}

static u64 size_of(const char *s)
{
	u64 v = 0;

	return s && !foliofs_parse_size(s, &v) ? v : 0;
}

/* An inode is dropped from memory: its preallocations go. */
static void evict(struct replay *r, struct file *f)
{
	struct ffs_inode *inode = inode_of(r, f->ino);

	ffs_discard_preallocations(r->a, inode);
	memset(inode, 0, sizeof(*inode));
	free(inode);
	r->inode[f->ino] = NULL;
	f->gone = true;
}

static void end_of_op(struct replay *r)
{
	struct file *f = r->name[0] ? file_of(r, r->name) : NULL;
	struct ffs_inode *inode = f && f->ino ? inode_of(r, f->ino) : NULL;
	long long result = r->op < MAX_OPS ? r->result[r->op] : 0;

	if (!strcmp(r->verb, "open") && f && result > 0) {
		inode->i_size = strstr(r->text, " trunc") ? 0 : inode->i_size;
	} else if (!strcmp(r->verb, "write") || !strcmp(r->verb, "append") ||
		   !strcmp(r->verb, "writebad")) {
		/* direct writes have no write_end; appends have one, or did it at the end */
		if (inode && result > 0 && strcmp(r->verb, "append"))
			inode->i_size = max(inode->i_size, r->off + (u64)result);
		else if (inode && result > 0 && f->direct)
			inode->i_size += (u64)result;
	} else if (!strcmp(r->verb, "fallocate") && inode && !result) {
		if (strstr(r->text, " collapse "))
			inode->i_size -= r->len;
		else if (strstr(r->text, " insert "))
			inode->i_size += r->len;
		else if (strstr(r->text, " 0 ") || strstr(r->text, " zero "))
			inode->i_size = max(inode->i_size, r->off + r->len);
	} else if (!strcmp(r->verb, "moveext") && result > 0) {
		struct file *g = file_of(r, r->name2);

		ffs_discard_preallocations(r->a, inode);
		ffs_discard_preallocations(r->a, inode_of(r, g->ino));
	} else if (!strcmp(r->verb, "close") && f && f->open) {
		f->open = false;
		if (f->writer && inode->writers-- == 1 && !inode->reserved)
			ffs_discard_preallocations(r->a, inode);
		f->writer = false;
		if (f->unlinked)
			evict(r, f);
	} else if (!strcmp(r->verb, "unlink") && f && !result) {
		f->unlinked = true;
		if (!f->open)
			evict(r, f);
	} else if (!strcmp(r->verb, "rename") && f && !result) {
		struct file *g = file_of(r, r->name2);

		if (g && g->ino)
			evict(r, g);
		snprintf(f->name, sizeof(f->name), "%s", r->name2);
	}
}

static struct file *file_new(struct replay *r, const char *name)
{
	struct file *f = file_of(r, name);

	if (f)
		return f;
	f = &r->file[r->nr_files++];
	assert_in_range(r->nr_files, 1, ARRAY_SIZE(r->file));
	snprintf(f->name, sizeof(f->name), "%s", name);
	return f;
}

static void start_op(struct replay *r, const char *text)
{
	char w[6][64] = { { 0 } };
	struct file *f;
	struct ffs_inode *inode;
	int n;

	end_of_op(r);
	r->op = (u32)strtoul(text, NULL, 10);
	snprintf(r->text, sizeof(r->text), "%s", text);
	n = sscanf(text, "%*u %31s %63s %63s %63s %63s %63s", r->verb, w[0], w[1], w[2], w[3], w[4]);
	snprintf(r->name, sizeof(r->name), "%s", n > 1 ? w[0] : "");
	snprintf(r->name2, sizeof(r->name2), "%s", n > 2 ? w[1] : "");
	r->moved_done = false;
	r->off = size_of(w[1]);
	r->len = size_of(w[2]);
	if (!strcmp(r->verb, "fallocate")) {
		r->off = size_of(w[2]);
		r->len = size_of(w[3]);
	}
	if (!strcmp(r->verb, "open") && r->op < MAX_OPS && r->result[r->op] > 0) {
		f = file_new(r, r->name);
		f->ino = (u32)r->result[r->op];
		if (f->size)
			inode_of(r, f->ino)->i_size = f->size;
		f->size = 0;
		if (!f->open) {
			f->open = true;
			f->writer = !strstr(text, " ro");
			f->direct = strstr(text, " direct");
			inode = inode_of(r, f->ino);
			inode->writers += f->writer;
		}
		return;
	}
	f = r->name[0] ? file_of(r, r->name) : NULL;
	if (!f || !f->ino)
		return;
	if (!strcmp(r->verb, "truncate") && !r->result[r->op])
		inode_of(r, f->ino)->i_size = r->off;
}

/* Punch, collapse and insert throw the preallocations away when their handle has started. */
static void truncate_handle(struct replay *r)
{
	struct file *f = file_of(r, r->name);
	u32 bs = ffs_block_size(&r->env);
	u64 end = r->off + r->len;

	if (r->moved_done || strcmp(r->verb, "fallocate") || !f || !f->ino)
		return;
	if (strstr(r->text, " punch ")) {
		if (end >= inode_of(r, f->ino)->i_size)
			end = round_up_pow2(end, max(bs, 4096u));
		if (end / bs <= div_up(r->off, bs))
			return;
	} else if (!strstr(r->text, " collapse ") && !strstr(r->text, " insert ")) {
		return;
	}
	r->moved_done = true;
	ffs_discard_preallocations(r->a, inode_of(r, f->ino));
}

static void request(struct replay *r, const char *t)
{
	struct ffs_alloc_request ar = {
		.inode = inode_of(r, (u32)field(t, "ino")),
		.flags = alloc_flags(strstr(t, " flags ") + 7),
		.len = (u32)field(t, "len"),
		.lblk = (u32)field(t, "lblk"),
		.goal = field(t, "goal"),
		.lleft = (u32)field(t, "lleft"),
		.lright = (u32)field(t, "lright"),
		.pleft = field(t, "pleft"),
		.pright = field(t, "pright"),
	};
	int err;

	r->requests++;
	r->got = ffs_alloc_blocks(r->a, &r->handle, &ar, &err);
	r->asked_len = ar.len;
	r->asked = true;
}

static void answer(struct replay *r, const char *t)
{
	u64 block = field(t, "block");
	u32 len = (u32)field(t, "len");

	if (!r->asked || (block == r->got && len == r->asked_len)) {
		r->asked = false;
		return;
	}
	r->asked = false;
	if (!r->wrong++)
		snprintf(r->first_wrong, sizeof(r->first_wrong),
			 "line %u, op %s: got %llu len %u, kernel %llu len %u:%.250s", r->line,
			 r->text, (unsigned long long)r->got, r->asked_len,
			 (unsigned long long)block, len, t);
}

static void event(struct replay *r, const char *name, const char *t)
{
	struct ffs_inode *inode;
	u64 end;

	if (!strcmp(name, "ext4_request_blocks")) {
		request(r, t);
	} else if (!strcmp(name, "ext4_allocate_blocks")) {
		answer(r, t);
	} else if (!strcmp(name, "ext4_free_blocks")) {
		ffs_free_blocks(r->a, &r->handle, inode_of(r, (u32)field(t, "ino")),
				field(t, "block"), field(t, "count"), free_flags(t));
	} else if (!strcmp(name, "jbd2_handle_start") || !strcmp(name, "jbd2_handle_restart")) {
		r->handle.tid = (u32)field(t, "tid");
		if (r->old_trace && field(t, "type") == 5)
			truncate_handle(r);
	} else if (!strcmp(name, "ext4_journal_start_inode")) {
		if (strstr(t, "type 5,"))
			truncate_handle(r);
	} else if (!strcmp(name, "jbd2_end_commit")) {
		ffs_alloc_committed(r->a, (u32)field(t, "transaction"));
	} else if (!strcmp(name, "ext4_da_write_end") || !strcmp(name, "ext4_write_end") ||
		   !strcmp(name, "ext4_journalled_write_end")) {
		inode = inode_of(r, (u32)field(t, "ino"));
		inode->i_size = max(inode->i_size, field(t, "pos") + field(t, "copied"));
	} else if (!strcmp(name, "ext4_ext_map_blocks_exit") && !strcmp(r->verb, "fallocate") &&
		   (strstr(r->text, " 0 ") || strstr(r->text, " zero ")) &&
		   (long long)field(t, "ret") > 0 && strstr(t, "CREATE")) {
		inode = inode_of(r, (u32)field(t, "ino"));
		end = (field(t, "lblk") + field(t, "len")) << r->env.block_bits;
		inode->i_size = max(inode->i_size, min(end, r->off + r->len));
	} else if (!strcmp(name, "ext4_truncate_enter")) {
		ffs_discard_preallocations(r->a, inode_of(r, (u32)field(t, "ino")));
	} else if (!strcmp(name, "ext4_da_reserve_space")) {
		const char *p = strstr(t, "reserved_data_blocks ");

		inode = inode_of(r, (u32)field(t, "ino"));
		end = strtoull(p + 21, NULL, 10);
		if (end > inode->reserved && !ffs_claim_delayed(r->a, end - inode->reserved))
			r->claimed += end - inode->reserved;
		inode->reserved = (u32)end;
	} else if (!strcmp(name, "ext4_da_update_reserve_space") ||
		   !strcmp(name, "ext4_da_release_space")) {
		u64 n = field(t, "used_blocks") + field(t, "freed_blocks");

		inode = inode_of(r, (u32)field(t, "ino"));
		inode->reserved = (u32)(field(t, "reserved_data_blocks") - n);
		n = min(n, r->claimed);
		r->claimed -= n;
		ffs_release_delayed(r->a, n);
		if (!inode->reserved && !inode->writers && !strstr(name, "release"))
			ffs_discard_preallocations(r->a, inode);
	}
}

/* "key: value" or key: "value" of meta.yaml. */
static bool meta(const char *dir, const char *key, char *out, size_t size)
{
	char path[512], line[LINE];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "%s/meta.yaml", dir);
	f = fopen(path, "r");
	out[0] = 0;
	while (f && !found && fgets(line, sizeof(line), f)) {
		size_t n = strlen(key);
		char *p = line + n + 1;

		if (strncmp(line, key, n) || line[n] != ':')
			continue;
		p += strspn(p, " \"");
		p[strcspn(p, "\"\n")] = 0;
		snprintf(out, size, "%s", p);
		found = true;
	}
	if (f)
		fclose(f);
	return found;
}

static void read_results(struct replay *r)
{
	char path[512], line[LINE];
	FILE *f;

	snprintf(path, sizeof(path), "%s/results.txt", r->dir);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f)) {
		unsigned int op;
		long long v;

		if (sscanf(line, "%u %lld", &op, &v) == 2 && op < MAX_OPS)
			r->result[op] = v;
	}
	if (f)
		fclose(f);
}

static struct replay *replay_new(const char *dir)
{
	struct replay *r = ffs_zalloc(sizeof(*r));
	char options[1024], size[64], mke2fs[640], mount[256], err[256], kernel[64];

	r->dir = dir;
	if (!meta(dir, "image_size", size, sizeof(size)) ||
	    !meta(dir, "mke2fs", mke2fs, sizeof(mke2fs)))
		fail_msg("%s: no mke2fs in meta.yaml", dir);
	snprintf(options, sizeof(options), "size=%s %s", size, mke2fs);
	r->env.geo.page_size = 4096;
	if (foliofs_geometry_from_mkfs(options, &r->env.geo, err, sizeof(err)))
		fail_msg("%s: %s", dir, err);
	meta(dir, "mount", mount, sizeof(mount));
	if (foliofs_mount_parse(mount, &r->env.geo, err, sizeof(err)))
		fail_msg("%s: %s", dir, err);
	meta(dir, "kernel", kernel, sizeof(kernel));
	if (foliofs_kernel_parse(kernel, &r->env.kernel, err, sizeof(err)))
		fail_msg("%s: %s", dir, err);
	r->env.block_bits = (u8)ilog2(r->env.geo.block_size);
	r->env.page_bits = 12;
	r->old_trace = !strncmp(kernel, "6.1.", 4);
	r->a = ffs_alloc_new(&r->env, NULL);
	assert_non_null(r->a);
	r->handle.nojournal = !ffs_feature(&r->env, FOLIOFS_FEATURE_HAS_JOURNAL);
	if (r->old_trace)
		ffs_alloc_tune(r->a, "cpus", 1);
	read_results(r);
	return r;
}

/* Sizes of files, and the reserve, as the prepare operations leave them. */
static void prepare_op(struct replay *r, const char *text)
{
	char verb[32], w[5][64] = { { 0 } };
	u64 off, len;
	struct file *f;

	if (sscanf(text, "%*u %31s %63s %63s %63s %63s %63s", verb, w[0], w[1], w[2], w[3], w[4]) < 2)
		return;
	if (!strcmp(verb, "remount"))
		ffs_alloc_remount(r->a);
	if (!strcmp(verb, "load_buddies"))
		ffs_alloc_load_all(r->a);
	if (!strcmp(verb, "sysfs"))
		ffs_alloc_tune(r->a, w[0], size_of(w[1]));
	off = size_of(w[1]);
	len = size_of(w[2]);
	if (!strcmp(verb, "write") || !strcmp(verb, "append") || !strcmp(verb, "writeevery")) {
		f = file_new(r, w[0]);
		f->size = max(f->size, verb[0] == 'a' ? f->size + off : off + len);
	} else if (!strcmp(verb, "fallocate") && !strcmp(w[1], "0")) {
		f = file_new(r, w[0]);
		f->size = max(f->size, len + size_of(w[3]));
	} else if (!strcmp(verb, "truncate")) {
		file_new(r, w[0])->size = off;
	}
}

/* False: what was prepared is not known. */
static bool prepare(struct replay *r)
{
	char path[1024], line[LINE];
	const char *base = strrchr(r->dir, '/');
	u64 at = r->env.geo.first_data_block;
	unsigned long long first, len, count, stride;
	gzFile f;
	FILE *p;

	snprintf(path, sizeof(path), "%s/free.gz", r->dir);
	if (access(path, F_OK) && strstr(r->dir, "/golden/"))
		snprintf(path, sizeof(path), "%s/tests/data/alloc/free/%s.gz", SOURCE_DIR,
			 base ? base + 1 : r->dir);
	f = gzopen(path, "rb");
	if (!f)
		return false;
	while (gzgets(f, line, sizeof(line)) &&
	       sscanf(line, "%llu %llu %llu %llu", &first, &len, &count, &stride) == 4) {
		for (; count--; first += stride) {
			ffs_alloc_mark(r->a, at, first, true);
			ffs_alloc_mark(r->a, first, first + len, false);
			at = first + len;
		}
	}
	ffs_alloc_mark(r->a, at, r->env.geo.blocks_count, true);
	gzclose(f);
	snprintf(path, sizeof(path), "%s/prepare.txt", r->dir);
	p = fopen(path, "r");
	while (p && fgets(line, sizeof(line), p))
		prepare_op(r, line);
	if (p)
		fclose(p);
	return true;
}

static void replay_free(struct replay *r)
{
	u32 i;

	for (i = 0; i < MAX_INODES; i++) {
		if (r->inode[i] && r->inode[i]->pas)
			ffs_discard_preallocations(r->a, r->inode[i]);
		free(r->inode[i]);
	}
	ffs_alloc_free(r->a);
	free(r);
}

/* Requests and wrong answers are added up; returns false if there is no trace. */
static bool replay(const char *dir, u32 *requests, u32 *wrong, bool verbose)
{
	struct replay *r;
	char path[512], line[LINE];
	bool prepared;
	gzFile f;

	snprintf(path, sizeof(path), "%s/prepare.txt", dir);
	prepared = !access(path, F_OK);
	snprintf(path, sizeof(path), "%s/events.txt", dir);
	if (access(path, F_OK))
		snprintf(path, sizeof(path), "%s/events.txt.gz", dir);
	f = gzopen(path, "rb");
	if (!f)
		return false;
	r = replay_new(dir);
	if (prepared && !prepare(r)) {
		gzclose(f);
		replay_free(r);
		return false;
	}
	while (gzgets(f, line, sizeof(line))) {
		char *p = strchr(line, '['), *name, *text;

		r->line++;
		if (line[0] == '#' || !p)
			continue;
		name = strstr(p, ": ");
		if (!name)
			continue;
		name += 2;
		text = strchr(name, ':');
		if (!text)
			continue;
		*text++ = 0;
		text[strcspn(text, "\n")] = ' ';
		if (strcmp(name, "tracing_mark_write"))
			event(r, name, text);
		else if (!strncmp(text, " foliosim op ", 13))
			start_op(r, text + 13);
	}
	gzclose(f);
	if (verbose || r->wrong)
		printf("%s: %u requests, %u differ%s%s\n", dir, r->requests, r->wrong,
		       r->wrong ? "\n    " : "", r->first_wrong);
	*requests += r->requests;
	*wrong += r->wrong;
	replay_free(r);
	return true;
}

static u32 replay_all(const char *top, u32 *requests, u32 *wrong, bool verbose)
{
	DIR *d = opendir(top);
	struct dirent *e;
	u32 n = 0;

	while (d && (e = readdir(d))) {
		char dir[1024];

		snprintf(dir, sizeof(dir), "%s/%s/meta.yaml", top, e->d_name);
		if (e->d_name[0] == '.' || access(dir, F_OK))
			continue;
		snprintf(dir, sizeof(dir), "%s/%s", top, e->d_name);
		n += replay(dir, requests, wrong, verbose);
	}
	if (d)
		closedir(d);
	return n;
}

static void test_committed_captures(void **state UNUSED)
{
	u32 requests = 0, wrong = 0;
	u32 n = replay_all(SOURCE_DIR "/tests/data/alloc", &requests, &wrong, false);

	printf("%u captures, %u requests, %u differ\n", n, requests, wrong);
	assert_int_not_equal(n, 0);
	assert_int_equal(wrong, 0);
}

static void test_all_captures(void **state UNUSED)
{
	static const char *const tops[] = { "golden", "golden-6.12", "golden-6.1",
					    "golden-6.12-depth" };
	u32 requests = 0, wrong = 0, n = 0, i;

	for (i = 0; i < ARRAY_SIZE(tops); i++) {
		char top[512];

		snprintf(top, sizeof(top), "%s/../shared/%s", SOURCE_DIR, tops[i]);
		n += replay_all(top, &requests, &wrong, false);
	}
	if (!n)
		skip();
	printf("%u captures, %u requests, %u differ\n", n, requests, wrong);
	assert_int_equal(wrong, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_committed_captures),
		cmocka_unit_test(test_all_captures),
	};
	u32 requests = 0, wrong = 0;
	int i;

	if (argc == 1)
		return cmocka_run_group_tests(tests, NULL, NULL);
	for (i = 1; i < argc; i++)
		if (!replay(argv[i], &requests, &wrong, true))
			printf("%s: prepared, or no trace\n", argv[i]);
	return wrong != 0;
}
