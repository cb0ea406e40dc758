// SPDX-License-Identifier: MIT
/* A simulated run as a capture folder: see capture.h. */
#define _GNU_SOURCE /* strerrorname_np */
#include "capture.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "capture_meta.h"
#include "files.h"
#include "layout.h"
#include "recorder.h"
#include "seen.h"

#define COMPRESS_FROM 300000 /* bytes of events.txt, as in the captures of kernels */

struct capture {
	char *dir;
	struct foliofs_fs *fs;
	struct capture_options opt;
	struct recorder *recorder;
	struct seen *seen; /* what a reader of the files knows */
	FILE *events, *ops, *results, *folios;
	struct layout *layout; /* of file systems on the iomap path, and tmpfs; else NULL */
	char opens[256]; /* name that the operation opens, or empty */
	uint64_t time_ns;
	char failed[280]; /* first file that could not be written */
	int error;
};

static void path_of(const struct capture *c, char *path, size_t len, const char *name)
{
	snprintf(path, len, "%s/%s", c->dir, name);
}

static void fail(struct capture *c, const char *name, int error)
{
	if (c->error)
		return;
	c->error = error ? error : -EIO;
	snprintf(c->failed, sizeof(c->failed), "%s", name);
}

static FILE *create(struct capture *c, const char *name)
{
	char path[4096];
	FILE *f;

	path_of(c, path, sizeof(path), name);
	f = fopen(path, "w");
	if (!f)
		fail(c, name, -errno);
	return f;
}

static void finish(struct capture *c, FILE *f, const char *name)
{
	if (!f)
		return;
	if (ferror(f))
		fail(c, name, -EIO);
	if (fclose(f))
		fail(c, name, -errno);
}

/* What an older capture left: crash files would be taken for those of this one. */
static int clean(struct capture *c, char *err, size_t errlen)
{
	char path[4096];
	struct dirent *e;
	bool crash;
	size_t n;
	DIR *d;

	if (mkdir(c->dir, 0777) && errno != EEXIST) {
		snprintf(err, errlen, "%s: cannot make the folder: %s", c->dir, strerror(errno));
		return -errno;
	}
	d = opendir(c->dir);
	if (!d) {
		snprintf(err, errlen, "%s: %s", c->dir, strerror(errno));
		return -errno;
	}
	while ((e = readdir(d))) {
		n = strlen(e->d_name);
		crash = !strncmp(e->d_name, "crash-", 6) && n > 11 &&
			!strcmp(e->d_name + n - 5, ".yaml");
		if (!crash && strcmp(e->d_name, "events.txt.gz"))
			continue;
		path_of(c, path, sizeof(path), e->d_name);
		unlink(path);
	}
	closedir(d);
	return 0;
}

static void free_capture(struct capture *c)
{
	recorder_free(c->recorder);
	seen_free(c->seen);
	if (c->layout)
		layout_free(c->layout);
	free(c->dir);
	free(c);
}

int capture_open(struct capture **out, const char *dir, struct foliofs_fs *fs,
		 const struct capture_options *opt, char *err, size_t errlen)
{
	struct capture *c = calloc(1, sizeof(*c));
	const struct foliofs_geometry *g = foliofs_fs_geometry(fs);
	const struct foliofs_kernel *k = foliofs_fs_kernel(fs);
	struct foliofs_inode_kind kind;
	struct recorder_options ro = {
		.dev = opt->dev,
		.page_size = g->page_size,
		.own = opt->own,
		.only = opt->only,
		.nr_only = opt->nr_only,
	};
	int ret;

	if (!c || !(c->dir = strdup(dir)))
		abort();
	c->fs = fs;
	c->opt = *opt;
	c->seen = seen_new();
	/* only the iomap path handles delayed ranges at once */
	foliofs_inode_kind_init(k, g, &kind);
	if (!foliofs_buffered_iomap(k, g, &kind))
		ro.cluster_ratio = g->cluster_ratio ? g->cluster_ratio : 1;
	ret = clean(c, err, errlen);
	if (ret) {
		free_capture(c);
		return ret;
	}
	c->events = create(c, "events.txt");
	c->ops = create(c, "ops.txt");
	c->results = create(c, "results.txt");
	if (g->fs_type != FOLIOFS_FS_EXT4)
		c->folios = create(c, "layout.txt");
	if (c->folios) {
		c->layout = layout_new(c->folios);
		layout_after(c->layout, fs, 0);
	}
	if (c->events)
		c->recorder = recorder_new(c->events, k, &ro);
	if (c->error) {
		snprintf(err, errlen, "%s/%s: %s", dir, c->failed, strerror(-c->error));
		ret = c->error;
		finish(c, c->events, "events.txt");
		finish(c, c->ops, "ops.txt");
		finish(c, c->results, "results.txt");
		finish(c, c->folios, "layout.txt");
		free_capture(c);
		return ret;
	}
	*out = c;
	return 0;
}

const struct foliofs_sink *capture_sink(struct capture *c)
{
	return recorder_sink(c->recorder);
}

void capture_prepared(struct capture *c, uint32_t id, const char *text)
{
	seen_op(c->seen, id, text);
}

void capture_op(struct capture *c, uint32_t id, const char *text, uint64_t time_ns)
{
	c->time_ns = time_ns;
	recorder_op(c->recorder, id, text, time_ns);
	seen_op(c->seen, id, text);
	fprintf(c->ops, "%u %s\n", id, text);
	if (sscanf(text, "open %255s", c->opens) != 1)
		c->opens[0] = 0;
}

void capture_result(struct capture *c, uint32_t id, int64_t result)
{
	const char *name = result < 0 ? strerrorname_np((int)-result) : "ok";

	if (c->layout)
		layout_after(c->layout, c->fs, id);
	if (c->layout && c->opens[0] && result > 0)
		layout_opened(c->layout, c->opens, (uint32_t)result);
	c->opens[0] = 0;
	if (result < 0)
		seen_failed(c->seen, id);
	if (result >= 0)
		fprintf(c->results, "%u %" PRId64 " ok\n", id, result);
	else if (name)
		fprintf(c->results, "%u -1 %s\n", id, name);
	else
		fprintf(c->results, "%u -1 %" PRId64 "\n", id, -result);
}

/*
 * SIMPLIFIED: no check of the file system like e2fsck's is made; captures of
 * kernels have its verdict in the key "fsck".
 */
static void print_states(struct capture *c, const char *name, const char *head,
			 const struct file_states *s)
{
	FILE *f = create(c, name);

	if (!f)
		return;
	fputs(head, f);
	fputs("fsck: not run (simulated)\n", f);
	file_states_print(s, f);
	finish(c, f, name);
}

int capture_crash(struct capture *c, const char *name)
{
	struct file_states s;
	struct foliofs_fs *after;
	char file[256], head[512];
	int ret = foliofs_fs_crash(c->fs, &after);

	if (ret)
		return ret;
	file_states_take(&s, after, c->opt.skip_files ? c->opt.skip_files : "f g", c->opt.deep);
	seen_files(c->seen, &s);
	file_states_tree(&s, after);
	snprintf(file, sizeof(file), "crash-%s.yaml", name);
	snprintf(head, sizeof(head),
		 "# files after a power cut at op \"crash %s\" and journal recovery\n"
		 "needs_recovery: true\n",
		 name);
	print_states(c, file, head, &s);
	file_states_free(&s);
	foliofs_fs_free(after);
	return c->error;
}

/* events.txt to events.txt.gz: always the same bytes for the same events. */
static void compress_events(struct capture *c)
{
	char from[4096], to[4096], buf[65536];
	struct stat st;
	gzFile gz;
	FILE *f;
	size_t n;

	path_of(c, from, sizeof(from), "events.txt");
	path_of(c, to, sizeof(to), "events.txt.gz");
	if (stat(from, &st) || st.st_size <= COMPRESS_FROM)
		return;
	f = fopen(from, "r");
	gz = f ? gzopen(to, "wb6") : NULL;
	if (!gz) {
		fail(c, "events.txt.gz", -errno);
		if (f)
			fclose(f);
		return;
	}
	while ((n = fread(buf, 1, sizeof(buf), f)))
		if (gzwrite(gz, buf, (unsigned int)n) != (int)n)
			fail(c, "events.txt.gz", -EIO);
	fclose(f);
	if (gzclose(gz) != Z_OK)
		fail(c, "events.txt.gz", -EIO);
	if (!c->error)
		unlink(from);
}

int capture_close(struct capture *c, char *err, size_t errlen)
{
	const struct foliofs_op syncfs = { .kind = FOLIOFS_OP_SYNCFS, .file = -1, .file2 = -1,
					   .time_ns = c->time_ns };
	struct file_states s;
	FILE *meta;
	int ret = recorder_end(c->recorder, c->time_ns);

	if (ret)
		fail(c, "events.txt", ret);
	finish(c, c->events, "events.txt");
	finish(c, c->ops, "ops.txt");
	finish(c, c->results, "results.txt");
	if (c->layout)
		layout_finish(c->layout);
	finish(c, c->folios, "layout.txt");
	meta = create(c, "meta.yaml");
	if (meta)
		capture_meta_print(meta, &c->opt, c->fs, c->recorder);
	finish(c, meta, "meta.yaml");

	foliofs_fs_mute(c->fs, true);
	file_states_take(&s, c->fs, c->opt.skip_files ? c->opt.skip_files : "f g", c->opt.deep);
	seen_files(c->seen, &s);
	/* The program that ran the operations has ended when the files are synced. */
	foliofs_fs_close_all(c->fs);
	foliofs_fs_run(c->fs, &syncfs);
	file_states_synced(&s, c->fs);
	foliofs_fs_unmount(c->fs);
	file_states_tree(&s, c->fs);
	print_states(c, "state.yaml",
		     "# state when the last op had finished, before anything was closed or "
		     "synced\n",
		     &s);
	file_states_free(&s);
	if (!c->opt.plain)
		compress_events(c);
	ret = c->error;
	if (ret)
		snprintf(err, errlen, "%s/%s: %s", c->dir, c->failed, strerror(-ret));
	free_capture(c);
	return ret;
}
