// SPDX-License-Identifier: MIT
/* What a report says: see report.h.  The page is made in report_html.c. */
#define _GNU_SOURCE /* vasprintf */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <foliofs/mkfs.h>

#include "report_parts.h"

void report_init(struct report *r, const char *title)
{
	memset(r, 0, sizeof(*r));
	snprintf(r->title, sizeof(r->title), "%s", title);
	r->outcome = REPORT_UNJUDGED;
}

void report_verdict(struct report *r, enum report_outcome outcome, const char *format, ...)
{
	va_list ap;

	r->outcome = outcome;
	va_start(ap, format);
	vsnprintf(r->verdict, sizeof(r->verdict), format, ap);
	va_end(ap);
}

static char *format_text(const char *format, va_list ap)
{
	char *s;

	if (vasprintf(&s, format, ap) < 0)
		abort();
	return s;
}

static char *copy(const char *s)
{
	char *c = strdup(s);

	if (!c)
		abort();
	return c;
}

void report_pair(struct report *r, const char *key, const char *format, ...)
{
	va_list ap;

	r->pairs = realloc(r->pairs, (r->nr_pairs + 1) * sizeof(*r->pairs));
	if (!r->pairs)
		abort();
	va_start(ap, format);
	r->pairs[r->nr_pairs++] = (struct report_pair){ copy(key), format_text(format, ap) };
	va_end(ap);
}

void report_note(struct report *r, const char *heading, const char *format, ...)
{
	va_list ap;

	r->notes = realloc(r->notes, (r->nr_notes + 1) * sizeof(*r->notes));
	if (!r->notes)
		abort();
	va_start(ap, format);
	r->notes[r->nr_notes++] = (struct report_note){ copy(heading), format_text(format, ap) };
	va_end(ap);
}

/* "20 GiB", "1.5 MiB": exact where it can be. */
static void size_text(char *out, size_t len, uint64_t bytes)
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB" };
	unsigned int u = 0;
	uint64_t unit = 1;

	while (u < 4 && bytes / unit >= 1024) {
		unit <<= 10;
		u++;
	}
	if (bytes % unit)
		snprintf(out, len, "%.1f %s", (double)bytes / (double)unit, units[u]);
	else
		snprintf(out, len, "%" PRIu64 " %s", bytes / unit, units[u]);
}

static void feature_text(char *out, size_t len, uint32_t features)
{
	size_t pos = 0;
	uint32_t bit;

	out[0] = 0;
	for (bit = 1; bit; bit <<= 1) {
		const char *name = features & bit ? foliofs_feature_name(bit) : NULL;

		if (name && pos + strlen(name) + 2 < len)
			pos += (size_t)snprintf(out + pos, len - pos, "%s%s", pos ? " " : "", name);
	}
}

static const char *mode_text(const struct foliofs_geometry *g)
{
	static const char *const modes[] = { "data=ordered", "data=writeback", "data=journal" };

	return (unsigned int)g->mount.data < 3 ? modes[g->mount.data] : "";
}

void report_environment(struct report *r, const struct foliofs_kernel *k,
			const struct foliofs_geometry *g)
{
	struct foliofs_journal_limits l = { 0 };
	struct foliofs_inode_kind kind;
	char size[64], features[512];

	snprintf(r->kernel, sizeof(r->kernel), "%s", k->name);
	report_pair(r, "Kernel", "%s", k->name);
	size_text(size, sizeof(size), g->blocks_count * g->block_size);
	report_pair(r, "File system", "%s, %" PRIu64 " blocks of %u bytes, %u groups", size,
		    g->blocks_count, g->block_size, g->groups);
	if (g->cluster_ratio > 1)
		report_pair(r, "Clusters", "%u blocks", g->cluster_ratio);
	feature_text(features, sizeof(features), g->features);
	report_pair(r, "Features", "%s", features);
	report_pair(r, "Mount", "%s%s%s%s", mode_text(g), g->mount.nodelalloc ? ", nodelalloc" : "",
		    g->mount.dioread_lock ? ", dioread_lock" : "", g->mount.quota ? ", quota" : "");
	foliofs_inode_kind_init(k, g, &kind);
	size_text(size, sizeof(size), (uint64_t)g->page_size << kind.order);
	report_pair(r, "Largest folio", "order %u, %s", kind.order, size);
	if (!g->journal_blocks) {
		report_pair(r, "Journal", "none");
		return;
	}
	foliofs_journal_limits(k, g, &l);
	size_text(size, sizeof(size), (uint64_t)g->journal_blocks * g->block_size);
	report_pair(r, "Journal", "%s, %u blocks", size, g->journal_blocks);
	report_pair(r, "Limits",
		    "transaction %u blocks, one handle %u (of these reserved %u)",
		    l.max_transaction, l.max_handle, l.max_reserved);
	r->max_handle = l.max_handle;
	r->max_transaction = l.max_transaction;
}

void report_matrix_fill(struct report *r, uint64_t bytes, uint64_t journal_bytes,
			uint32_t page_size, const struct foliofs_kernel *kernels, size_t nr)
{
	struct report_matrix *m = &r->matrix;
	char options[128], err[160], size[64], journal[64];
	uint32_t bs, i;

	memset(m, 0, sizeof(*m));
	m->nr_kernels = (uint32_t)(nr < REPORT_KERNELS ? nr : REPORT_KERNELS);
	for (i = 0; i < m->nr_kernels; i++)
		snprintf(m->kernel[i], sizeof(m->kernel[i]), "%s", kernels[i].name);
	size_text(size, sizeof(size), bytes);
	if (journal_bytes)
		size_text(journal, sizeof(journal), journal_bytes);
	else
		snprintf(journal, sizeof(journal), "the smallest");
	snprintf(m->title, sizeof(m->title), "%s file system, %s journal", size, journal);
	for (bs = 1024; bs <= page_size && m->nr_sizes < REPORT_SIZES; bs *= 2) {
		struct foliofs_geometry g = { .page_size = page_size };

		snprintf(options, sizeof(options), "size=%" PRIu64 " -b %u -J size=%" PRIu64, bytes,
			 bs, (journal_bytes ? journal_bytes : (uint64_t)bs << 10) >> 20);
		if (foliofs_geometry_from_mkfs(options, &g, err, sizeof(err)))
			continue;
		m->block_size[m->nr_sizes] = bs;
		for (i = 0; i < m->nr_kernels; i++) {
			struct report_cell *c = &m->cell[m->nr_sizes][i];
			struct foliofs_journal_limits l;
			struct foliofs_inode_kind kind;
			struct foliofs_ask ask;

			foliofs_journal_limits(&kernels[i], &g, &l);
			foliofs_inode_kind_init(&kernels[i], &g, &kind);
			ask = foliofs_ask(&kernels[i], &g, &kind, FOLIOFS_CREDIT_WRITEBACK, 0);
			c->asked = ask.credits.total;
			c->rsv = ask.rsv;
			c->order = kind.order;
			c->max_handle = l.max_handle;
			c->max_reserved = l.max_reserved;
			c->worst = foliofs_worst_case(&kernels[i], &g, &kind,
						      FOLIOFS_CREDIT_WRITEBACK, 0);
			c->verdict = foliofs_credit_verdict(&kernels[i], &g, &kind,
							    FOLIOFS_CREDIT_WRITEBACK, 0);
		}
		m->nr_sizes++;
	}
	if (!m->nr_sizes)
		m->nr_kernels = 0;
}

int report_write(const struct report *r, const char *dir, bool *plots_missing, char *err,
		 size_t errlen)
{
	struct report_plots plots = { 0 };
	char path[4096];
	FILE *out;
	int ret;

	if (mkdir(dir, 0777) && errno != EEXIST) {
		ret = -errno;
		snprintf(err, errlen, "%s: cannot make the folder: %s", dir, strerror(-ret));
		return ret;
	}
	ret = report_plot(r, dir, &plots, err, errlen);
	if (ret) {
		report_plots_free(&plots);
		return ret;
	}
	snprintf(path, sizeof(path), "%s/index.html", dir);
	out = fopen(path, "w");
	if (out) {
		report_html(r, &plots, out);
		if (ferror(out))
			ret = -EIO;
		if (fclose(out) && !ret)
			ret = -errno;
	} else {
		ret = -errno;
	}
	if (ret)
		snprintf(err, errlen, "%s: %s", path, strerror(-ret));
	if (plots_missing)
		*plots_missing = plots.missing;
	report_plots_free(&plots);
	return ret;
}

int report_page(const struct report *r, const char *dir, const char *who)
{
	bool plots_missing = false;
	char err[4400];
	int ret = report_write(r, dir, &plots_missing, err, sizeof(err));

	fflush(stdout);
	if (ret)
		fprintf(stderr, "%s: %s\n", who, err);
	else
		fprintf(stderr, "%s/index.html%s\n", dir,
			plots_missing ? " (without plots: gnuplot is not installed)" : "");
	return ret;
}

void report_free(struct report *r)
{
	size_t i;

	for (i = 0; i < r->nr_pairs; i++) {
		free(r->pairs[i].key);
		free(r->pairs[i].value);
	}
	for (i = 0; i < r->nr_notes; i++) {
		free(r->notes[i].heading);
		free(r->notes[i].text);
	}
	report_grids_free(r);
	free(r->pairs);
	free(r->notes);
	free(r->own_stats);
	memset(r, 0, sizeof(*r));
}
