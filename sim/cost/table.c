// SPDX-License-Identifier: MIT
/* Published tables, read: see table.h. */
#include "table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"
#include "trace/opvec.h"

enum { SOURCE, TABLE, TYPE, BS, OVERWRITE, SYNC, WRITEBACK, PATH, IOPS, COLUMNS };

static const char *const columns[COLUMNS] = {
	"source", "table", "type", "bs", "overwrite", "sync", "writeback", "path", "iops",
};

static int copy(struct csv *csv, int i, char *to, size_t len)
{
	if (!*csv->field[i] || strlen(csv->field[i]) >= len)
		return csv_refuse(csv, "a name that is not empty and not that long", csv->field[i]);
	snprintf(to, len, "%s", csv->field[i]);
	return 0;
}

/* One of "Y", "N", "-", "?". */
static int answer(struct csv *csv, int i)
{
	const char *s = csv->field[i];

	if (strlen(s) == 1 && strchr("YN-?", *s))
		return 0;
	return csv_refuse(csv, "overwrite, sync, writeback: Y, N, - or ?", s);
}

static int read_row(struct csv *csv, const int *at, struct cost_row *r)
{
	const char *const *f = csv->field;
	int class;

	r->line = csv->nr_line;
	if (copy(csv, at[SOURCE], r->source, sizeof(r->source)) ||
	    copy(csv, at[TYPE], r->device, sizeof(r->device)) ||
	    copy(csv, at[PATH], r->path, sizeof(r->path)) || answer(csv, at[OVERWRITE]) ||
	    answer(csv, at[SYNC]) || answer(csv, at[WRITEBACK]))
		return -EINVAL;
	if (strcmp(f[at[TABLE]], "read") && strcmp(f[at[TABLE]], "write"))
		return csv_refuse(csv, "table: read or write", f[at[TABLE]]);
	if (foliofs_parse_size(f[at[BS]], &r->w.bs) || r->w.bs < 512 || r->w.bs > 1u << 30)
		return csv_refuse(csv, "bs: a size from 512 to 1G", f[at[BS]]);
	if (csv_number(csv, at[IOPS], 1e-9, &r->iops))
		return -EINVAL;
	class = cost_class_of(f[at[TABLE]], f[at[OVERWRITE]], f[at[SYNC]]);
	r->w.class = class < 0 ? COST_OTHER : (enum cost_class)class;
	r->w.writeback = *f[at[WRITEBACK]] == 'Y';
	r->w.hole = r->w.class == COST_READ && !strcmp(r->device, "hole");
	return 0;
}

static int read_rows(struct cost_table *t, struct csv *csv)
{
	int at[COLUMNS], ret;

	if (csv_columns(csv, columns, COLUMNS, at))
		return -EINVAL;
	while ((ret = csv_next(csv)) > 0) {
		struct cost_row r = { 0 };

		ret = read_row(csv, at, &r);
		if (ret)
			return ret;
		t->rows = trace_realloc(t->rows, t->nr + 1, sizeof(r));
		t->rows[t->nr++] = r;
	}
	if (!ret && !t->nr) {
		csv->nr_line++;
		return csv_refuse(csv, "a row of a table", "the end of the file");
	}
	return ret;
}

int cost_table_load(struct cost_table *t, const char *path, char *err, size_t errlen)
{
	struct csv csv;
	int ret;

	*t = (struct cost_table){ .path = path };
	ret = csv_open(&csv, path, err, errlen);
	if (ret)
		return ret;
	ret = read_rows(t, &csv);
	csv_close(&csv);
	if (ret)
		cost_table_free(t);
	return ret;
}

void cost_table_free(struct cost_table *t)
{
	free(t->rows);
	free(t->found);
	t->rows = NULL;
	t->found = NULL;
}

void cost_row_text(const struct cost_row *r, char *buf, size_t len)
{
	static const char *const words[COST_CLASSES] = {
		"read", "write", "write", "write", "write", "?",
	};
	bool over = r->w.class == COST_WRITE_OVER || r->w.class == COST_SYNC_OVER;
	bool sync = r->w.class == COST_SYNC_NEW || r->w.class == COST_SYNC_OVER;
	bool mega = !(r->w.bs & ((1u << 20) - 1));

	snprintf(buf, len, "%s %llu%s %s%s%s%s", r->device,
		 (unsigned long long)r->w.bs >> (mega ? 20 : 10), mega ? "M" : "K",
		 words[r->w.class], over ? " over" : r->w.class == COST_READ ? "" : " new",
		 sync ? " fsync" : "", r->w.writeback ? " writeback" : "");
}
