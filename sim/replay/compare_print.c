// SPDX-License-Identifier: MIT
/* The comparison of kernels in words, as JSON, as a report. */
#include "compare.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stddef.h>
#include <string.h>

#include "kernels.h"

/* Every number of struct stats_type has 64 bits. */
#define ROW(text, field) { text, offsetof(struct stats_type, field) }
static const struct row {
	const char *text;
	size_t offset;
} rows[] = {
	ROW("handles", handles),
	ROW("credits asked", asked),
	ROW("  most by one", asked_max),
	ROW("  most reserved", rsv_max),
	ROW("blocks dirtied", dirtied),
	ROW("  most by one", dirtied_max),
	ROW("credits extended", extended),
	ROW("restarts", restarts),
	ROW("extensions refused", extends_refused),
	ROW("starts refused", refused),
	ROW("ran dry", dry),
};

static uint64_t row_value(const struct stats_type *t, const struct row *row)
{
	uint64_t v;

	memcpy(&v, (const char *)t + row->offset, sizeof(v));
	return v;
}

static void print_type(FILE *f, const struct compare *c, const char *name,
		       const struct stats_type *(*get)(const struct stats *, unsigned int),
		       unsigned int type)
{
	const struct row *row;
	uint64_t any;
	int i;

	for (any = 0, i = 0; i < c->nr; i++)
		any |= get(&c->side[i].result.stats, type)->handles |
		       get(&c->side[i].result.stats, type)->refused;
	if (!any)
		return;
	fprintf(f, "%s\n", name);
	for (row = rows; row < rows + sizeof(rows) / sizeof(*rows); row++) {
		for (any = 0, i = 0; i < c->nr; i++)
			any |= row_value(get(&c->side[i].result.stats, type), row);
		if (!any)
			continue;
		fprintf(f, "  %-22s", row->text);
		for (i = 0; i < c->nr; i++)
			fprintf(f, " %11" PRIu64,
				row_value(get(&c->side[i].result.stats, type), row));
		fprintf(f, "\n");
	}
}

static const struct stats_type *of_type(const struct stats *s, unsigned int type)
{
	return &s->type[type];
}

static const struct stats_type *of_all(const struct stats *s, unsigned int type)
{
	(void)type;
	return &s->all;
}

/* Times that rule @rule was broken. */
static uint64_t times(const struct replay_result *r, enum foliofs_rule rule)
{
	size_t i;

	for (i = 0; i < r->nr_rules; i++)
		if (r->broken[i].rule == rule)
			return r->times[i];
	return 0;
}

static void print_rules(FILE *f, const struct compare *c)
{
	unsigned int rule;
	uint64_t any;
	int i;

	for (rule = 0; rule < FOLIOFS_RULE_COUNT; rule++) {
		for (any = 0, i = 0; i < c->nr; i++)
			any |= times(&c->side[i].result, (enum foliofs_rule)rule);
		if (!any)
			continue;
		fprintf(f, "  %-22s", foliofs_rule_name((enum foliofs_rule)rule));
		for (i = 0; i < c->nr; i++)
			fprintf(f, " %11" PRIu64,
				times(&c->side[i].result, (enum foliofs_rule)rule));
		fprintf(f, "\n");
	}
}

static unsigned int largest_order(const struct stats *s)
{
	unsigned int i = STATS_ORDERS - 1;

	while (i && !s->order[i])
		i--;
	return i;
}

/* Rows of the data path: folios, the device, and what is left of it all. */
enum data_row {
	DATA_FOLIOS, DATA_PAGES, DATA_IOMAPS, DATA_WRITTEN, DATA_WRITE_BIOS, DATA_READ,
	DATA_READ_BIOS, DATA_HELD, DATA_SPACE, DATA_CUT_FILES, DATA_CUT_SIZE, DATA_CUT_HELD,
	DATA_COUNT,
};

static const char *const data_text[DATA_COUNT] = {
	"folios made", "pages written back", "maps of the iomap path", "KiB to the device",
	"  requests", "KiB from the device", "  requests", "KiB that files hold",
	"  KiB of blocks for it", "files after a power cut", "  KiB by their size",
	"  KiB that they hold",
};

static uint64_t data_value(const struct compare *c, const struct compare_side *s, enum data_row row)
{
	const struct stats *st = &s->result.stats;
	uint64_t block = c->setup->geometry.block_size, folios = 0, v[DATA_COUNT];
	unsigned int i;

	for (i = 0; i < STATS_ORDERS; i++)
		folios += st->order[i];
	v[DATA_FOLIOS] = folios;
	v[DATA_PAGES] = st->folios_written;
	v[DATA_IOMAPS] = st->iomaps;
	v[DATA_WRITTEN] = st->io[1].blocks * block / 1024;
	v[DATA_WRITE_BIOS] = st->io[1].bios;
	v[DATA_READ] = st->io[0].blocks * block / 1024;
	v[DATA_READ_BIOS] = st->io[0].bios;
	v[DATA_HELD] = s->end.data / 1024;
	v[DATA_SPACE] = s->end.space / 1024;
	v[DATA_CUT_FILES] = s->cut.files;
	v[DATA_CUT_SIZE] = s->cut.size / 1024;
	v[DATA_CUT_HELD] = s->cut.data / 1024;
	return v[row];
}

static void print_data(FILE *f, const struct compare *c)
{
	int i, row;

	for (row = 0; row < (c->side[0].cut.known ? DATA_COUNT : DATA_CUT_FILES); row++) {
		fprintf(f, "%-24s", data_text[row]);
		for (i = 0; i < c->nr; i++)
			fprintf(f, " %11" PRIu64, data_value(c, &c->side[i], (enum data_row)row));
		fprintf(f, "\n");
	}
}

static void print_table(FILE *f, const struct compare *c)
{
	unsigned int type;
	int i;

	fprintf(f, "%-24s", "");
	for (i = 0; i < c->nr; i++)
		fprintf(f, " %11.20s", c->side[i].result.kernel.name);
	fprintf(f, "\n%-24s", "operations with an error");
	for (i = 0; i < c->nr; i++)
		fprintf(f, " %11" PRIu64, c->side[i].result.player.failed);
	fprintf(f, "\n%-24s", "largest folio order");
	for (i = 0; i < c->nr; i++)
		fprintf(f, " %11u", largest_order(&c->side[i].result.stats));
	fprintf(f, "\n");
	print_data(f, c);
	fprintf(f, "%-24s", "transactions");
	for (i = 0; i < c->nr; i++)
		fprintf(f, " %11" PRIu64, c->side[i].result.stats.transactions);
	fprintf(f, "\n");
	print_type(f, c, "all handles", of_all, 0);
	for (type = 0; type < FOLIOFS_HT_COUNT; type++)
		print_type(f, c, stats_type_name(type), of_type, type);
	fprintf(f, "%-24s", "rules broken");
	for (i = 0; i < c->nr; i++)
		fprintf(f, " %11" PRIu64, c->side[i].result.nr_broken);
	fprintf(f, "\n");
	print_rules(f, c);
}

/* A kernel with the series, switched off: it says nothing about iomap. */
static void print_path(FILE *f, const struct compare *c, const struct compare_side *s)
{
	const struct foliofs_kernel *k = &s->result.kernel;

	if (c->setup->geometry.mount.buffered_iomap || s->result.stats.iomaps ||
	    !kernel_iomap_by_mount(k))
		return;
	fprintf(f, "\n%s: all files are on buffer heads (nobuffered_iomap)\n",
		k->name);
}

static void print_differences(FILE *f, const struct compare *c)
{
	const char *first = c->side[0].result.kernel.name;
	int i;

	for (i = 1; i < c->nr; i++) {
		const struct compare_side *s = &c->side[i];

		if (!s->differs) {
			fprintf(f, "\n%s does the same as %s\n", s->result.kernel.name, first);
			continue;
		}
		fprintf(f, "\n%s differs from %s first in operation %u: %s\n",
			s->result.kernel.name, first, s->op, replay_op_text(c->setup, s->op));
		fprintf(f, "  %-10s %s\n", first, s->first ? s->first : "(nothing more)");
		fprintf(f, "  %-10s %s\n", s->result.kernel.name,
			s->own ? s->own : "(nothing more)");
	}
}

void compare_print(FILE *f, const struct compare *c, const char *again)
{
	size_t k;
	int i;

	replay_print_input(f, c->setup);
	fprintf(f, "\n");
	print_table(f, c);
	for (i = 0; i < c->nr; i++)
		print_path(f, c, &c->side[i]);
	print_differences(f, c);
	for (i = 0; i < c->nr; i++) {
		const struct replay_result *r = &c->side[i].result;

		if (r->nr_broken)
			fprintf(f, "\n%s breaks\n", r->kernel.name);
		for (k = 0; k < r->nr_rules; k++)
			fprintf(f, "  %s in operation %u %s\n    %s\n    again: %s --kernel %s "
				"--show %u --until %u\n", foliofs_rule_name(r->broken[k].rule),
				r->broken[k].op, replay_op_text(c->setup, r->broken[k].op),
				r->broken[k].text, again, r->kernel.name, r->broken[k].op,
				r->broken[k].op);
		if (r->stats.first_message[0])
			fprintf(f, "  %s: kernel log: %s\n", r->kernel.name,
				r->stats.first_message);
		if (r->journal_error)
			fprintf(f, "  %s: the journal is aborted: %s\n", r->kernel.name,
				strerror(-r->journal_error));
	}
	fprintf(f, "\n");
	replay_print_trace(f, &c->setup->trace);
}

static struct json_object *text_or_null(const char *s)
{
	return s ? json_object_new_string(s) : NULL;
}

int compare_json(FILE *f, const struct compare *c)
{
	int i, ret = 0;

	fprintf(f, "{\"runs\": [\n");
	for (i = 0; i < c->nr && !ret; i++) {
		struct report rep;

		replay_report(&rep, c->setup, &c->side[i].result);
		ret = report_to_json(&rep, f);
		report_free(&rep);
		fprintf(f, "%s\n", i + 1 < c->nr ? "," : "");
	}
	fprintf(f, "], \"first_differences\": [\n");
	for (i = 1; i < c->nr; i++) {
		const struct compare_side *s = &c->side[i];
		struct json_object *o = json_object_new_object();

		json_object_object_add(o, "kernel", json_object_new_string(s->result.kernel.name));
		json_object_object_add(o, "from",
				       json_object_new_string(c->side[0].result.kernel.name));
		json_object_object_add(o, "differs", json_object_new_boolean(s->differs));
		if (s->differs) {
			json_object_object_add(o, "op", json_object_new_int64(s->op));
			json_object_object_add(o, "event_from", text_or_null(s->first));
			json_object_object_add(o, "event", text_or_null(s->own));
		}
		fprintf(f, "%s%s\n", json_object_to_json_string(o), i + 1 < c->nr ? "," : "");
		json_object_put(o);
	}
	fprintf(f, "]}\n");
	return ret ? ret : ferror(f) ? -EIO : 0;
}

void compare_report(struct report *rep, const struct compare *c)
{
	const struct foliofs_geometry *g = &c->setup->geometry;
	struct foliofs_kernel k[REPLAY_KERNELS];
	int i, main = c->nr - 1;

	for (i = c->nr - 1; i >= 0; i--)
		if (c->side[i].result.nr_broken)
			main = i;
	replay_report(rep, c->setup, &c->side[main].result);
	for (i = 0; i < c->nr; i++) {
		const struct replay_result *r = &c->side[i].result;

		k[i] = r->kernel;
		report_note(rep, "All kernels of the comparison", "%s: %" PRIu64 " handles asked %"
			    PRIu64 " credits (most %" PRId64 ") and dirtied %" PRIu64 " blocks; %"
			    PRIu64 " starts refused, %" PRIu64 " ran dry, %" PRIu64
			    " operations with an error, rules broken %" PRIu64 " times",
			    r->kernel.name, r->stats.all.handles, r->stats.all.asked,
			    r->stats.all.asked_max, r->stats.all.dirtied, r->stats.all.refused,
			    r->stats.all.dry, r->player.failed, r->nr_broken);
	}
	/* Notes under one heading follow each other. */
	for (i = 0; i < c->nr; i++)
		if (c->side[i].differs)
			report_note(rep, "First differences", "%s, operation %u: %s instead of %s",
				    k[i].name, c->side[i].op,
				    c->side[i].own ? c->side[i].own : "nothing more",
				    c->side[i].first ? c->side[i].first : "nothing more");
	report_matrix_fill(rep, g->blocks_count * g->block_size,
			   (uint64_t)g->journal_blocks * g->block_size, g->page_size, k,
			   (size_t)c->nr);
}
