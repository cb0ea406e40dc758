// SPDX-License-Identifier: MIT
/* Constants of the cost model: see constants.h. */
#include "constants.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "csv.h"
#include "trace/opvec.h"

#define COPY_UNIT 4096.0 /* copy_us is for that many bytes, whatever the page size */

const char *cost_class_text(enum cost_class class)
{
	static const char *const texts[COST_CLASSES] = {
		"read", "write, new", "write, over", "write, new, fsync", "write, over, fsync",
		"fsync, new", "fsync, over", "other",
	};

	return texts[class];
}

const char *cost_class_name(enum cost_class class)
{
	static const char *const names[COST_CLASSES] = {
		"read", "write_new", "write_over", "sync_new", "sync_over",
		"fsync_new", "fsync_over", "other",
	};

	return names[class];
}

/* "Y": 1, "N": 0, else -EINVAL. */
static int yes(const char *s)
{
	return !strcmp(s, "Y") ? 1 : !strcmp(s, "N") ? 0 : -EINVAL;
}

int cost_class_of(const char *type, const char *overwrite, const char *sync)
{
	int over = yes(overwrite), synced = yes(sync);

	if (!strcmp(type, "read"))
		return !strcmp(overwrite, "-") && !strcmp(sync, "-") ? COST_READ : -EINVAL;
	if (strcmp(type, "write") || over < 0 || synced < 0)
		return -EINVAL;
	return synced ? (over ? COST_SYNC_OVER : COST_SYNC_NEW) :
			(over ? COST_WRITE_OVER : COST_WRITE_NEW);
}

/* Columns of the file. */
enum { DEVICE, TYPE, OVERWRITE, SYNC, WRITEBACK, OP, COPY, STEP, BLOCK, BH, SOURCE, COLUMNS };

static const char *const columns[COLUMNS] = {
	"device", "type", "overwrite", "sync", "writeback", "op_us", "copy_us", "step_us",
	"block_us", "bh_us", "source",
};

static int read_line(struct csv *csv, const int *at, struct cost_line *l)
{
	double *const number[] = { &l->op, &l->copy, &l->step, &l->block, &l->bh };
	const char *const *f = csv->field;
	int class, wb, i;

	if (!*f[at[DEVICE]] || strlen(f[at[DEVICE]]) >= COST_DEVICE_NAME)
		return csv_refuse(csv, "device: a name of at most 23 letters", f[at[DEVICE]]);
	snprintf(l->device, sizeof(l->device), "%s", f[at[DEVICE]]);
	class = cost_class_of(f[at[TYPE]], f[at[OVERWRITE]], f[at[SYNC]]);
	if (class < 0)
		return csv_refuse(csv, "type, overwrite, sync: read,-,- or write and Y or N each",
				  f[at[TYPE]]);
	l->class = (enum cost_class)class;
	wb = class == COST_READ && !strcmp(f[at[WRITEBACK]], "-") ? 0 : yes(f[at[WRITEBACK]]);
	if (wb < 0 || (wb && class == COST_READ))
		return csv_refuse(csv, "writeback: Y or N, or - for a read", f[at[WRITEBACK]]);
	l->writeback = wb;
	for (i = OP; i <= BH; i++)
		if (csv_number(csv, at[i], 0, number[i - OP]))
			return -EINVAL;
	if (!*f[at[SOURCE]])
		return csv_refuse(csv, "source: where the constants come from", "");
	return 0;
}

static int read_lines(struct cost_constants *c, struct csv *csv)
{
	int at[COLUMNS], ret;

	if (csv_columns(csv, columns, COLUMNS, at))
		return -EINVAL;
	while ((ret = csv_next(csv)) > 0) {
		struct cost_line l = { 0 };

		ret = read_line(csv, at, &l);
		if (ret)
			return ret;
		if (cost_line(c, l.device, l.class))
			return csv_refuse(csv, "each class of a device once", l.device);
		c->lines = trace_realloc(c->lines, c->nr + 1, sizeof(l));
		c->lines[c->nr++] = l;
	}
	if (!ret && !c->nr)
		return csv_refuse(csv, "a line of constants", "the end of the file");
	return ret;
}

/* The fsync alone of the device of @sync, a line of class COST_SYNC_* (constants.h). */
static void add_fsync(struct cost_constants *c, const struct cost_line *sync)
{
	bool over = sync->class == COST_SYNC_OVER;
	const struct cost_line *write = cost_line(c, sync->device,
						  over ? COST_WRITE_OVER : COST_WRITE_NEW);
	struct cost_line l = *sync;

	if (!write)
		return;
	l.class = over ? COST_FSYNC_OVER : COST_FSYNC_NEW;
	l.op -= write->op;
	l.copy -= write->copy;
	l.step -= write->step;
	l.block -= write->block;
	l.bh -= write->bh;
	c->lines = trace_realloc(c->lines, c->nr + 1, sizeof(l));
	c->lines[c->nr++] = l;
}

static void add_fsyncs(struct cost_constants *c)
{
	size_t i, nr = c->nr;

	for (i = 0; i < nr; i++) {
		struct cost_line l = c->lines[i];

		if (l.class == COST_SYNC_NEW || l.class == COST_SYNC_OVER)
			add_fsync(c, &l);
	}
}

/* The file beside the program: PREFIX/bin/foliosim and PREFIX/share, or both in a build tree. */
static void default_path(char *path, size_t len)
{
	static const char *const places[] = { "../share/foliosim", "share/foliosim" };
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	size_t i;

	exe[n > 0 ? n : 0] = '\0';
	if (strrchr(exe, '/'))
		*strrchr(exe, '/') = '\0';
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, len, "%s/%s/cost-constants.csv", exe, places[i]);
		if (!access(path, R_OK))
			return;
	}
}

int cost_constants_load(struct cost_constants *c, const char *path, char *err, size_t errlen)
{
	struct csv csv;
	int ret;

	memset(c, 0, sizeof(*c));
	if (path)
		snprintf(c->path, sizeof(c->path), "%s", path);
	else
		default_path(c->path, sizeof(c->path));
	ret = csv_open(&csv, c->path, err, errlen);
	if (ret)
		return ret;
	ret = read_lines(c, &csv);
	csv_close(&csv);
	if (ret)
		cost_constants_free(c);
	else
		add_fsyncs(c);
	return ret;
}

void cost_constants_free(struct cost_constants *c)
{
	free(c->lines);
	c->lines = NULL;
	c->nr = 0;
}

int cost_device(const struct cost_constants *c, const char *device, char *err, size_t errlen)
{
	char names[200] = "";
	size_t i, k;

	for (i = 0; i < c->nr; i++) {
		if (!strcmp(c->lines[i].device, device))
			return 0;
		for (k = 0; k < i && strcmp(c->lines[k].device, c->lines[i].device); k++)
			;
		if (k == i && strlen(names) + COST_DEVICE_NAME + 2 < sizeof(names))
			sprintf(names + strlen(names), "%s%s", *names ? ", " : "",
				c->lines[i].device);
	}
	snprintf(err, errlen, "--device: expected one of %s: %s, got '%s'", c->path, names, device);
	return -ENOENT;
}

const struct cost_line *cost_line(const struct cost_constants *c, const char *device,
				  enum cost_class class)
{
	size_t i;

	for (i = 0; i < c->nr; i++)
		if (c->lines[i].class == class && !strcmp(c->lines[i].device, device))
			return &c->lines[i];
	return NULL;
}

static double time_of(const struct cost_line *l, uint64_t ops, uint64_t bytes, uint64_t folios,
		      uint64_t blocks)
{
	return (double)ops * (l->op + (blocks ? l->bh : 0)) + (double)bytes / COPY_UNIT * l->copy +
	       (double)folios * l->step + (double)blocks * l->block;
}

/*
 * SIMPLIFIED: a linear model of the path through the page cache.  What a partial write reads first,
 * and a commit behind which there is no data, have no price; neither has contention.
 */
double cost_time(const struct cost_line *l, const struct cost_work *w)
{
	if (l->class == COST_FSYNC_NEW || l->class == COST_FSYNC_OVER)
		return time_of(l, w->ops, w->sent, w->wb_folios, w->wb_blocks);
	return time_of(l, w->ops, w->bytes, l->class == COST_READ ? w->folios : w->steps, w->blocks);
}
