// SPDX-License-Identifier: MIT
/*
 * Plots of a report: data and gnuplot script of each are written and kept, then
 * gnuplot turns them into SVG.
 */
#include "report_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const names[PLOT_COUNT] = { "credits", "orders", "extents", "matrix", "ratios" };

const char *report_plot_name(enum report_plot_id id)
{
	return names[id];
}

static FILE *create(const char *dir, enum report_plot_id id, const char *suffix)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s.%s", dir, names[id], suffix);
	return fopen(path, "w");
}

/* What all plots have in common. */
static void head(FILE *gp, enum report_plot_id id, unsigned int height)
{
	fprintf(gp,
		"# Draw again: gnuplot %s.gp\n"
		"set terminal svg size 860,%u enhanced font 'Helvetica,13' name '%s'\n"
		"set output '%s.svg'\n"
		"set border 3 lc rgb '#444444'\n"
		"set tics nomirror out\n"
		"set grid ytics lc rgb '#e4e4e4' lt 1\n"
		"set key top left Left reverse samplen 2 spacing 1.1\n",
		names[id], height, names[id], names[id]);
}

static void credits_data(const struct stats *s, FILE *dat)
{
	unsigned int i;

	fprintf(dat, "# handle  asked (largest)  dirtied (largest)  reserved (largest), blocks; "
		     "of %"
		PRIu64 " handles each\n", s->step_width);
	for (i = 0; i < STATS_STEPS; i++)
		if (s->step[i].n)
			fprintf(dat, "%" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 "\n",
				i * s->step_width, s->step[i].asked_max, s->step[i].dirtied_max,
				s->step[i].rsv_max);
	/* steps are drawn up to the next one */
	if (s->all.handles)
		fprintf(dat, "%" PRIu64 " 0 0 0\n", s->all.handles);
}

static void credits_script(const struct report *r, FILE *gp)
{
	const struct stats *s = r->stats;
	int64_t top = s->all.asked_max;
	bool reserved = s->all.rsv_max > 0;

	if (r->max_handle > top)
		top = r->max_handle;
	if (r->max_transaction > top)
		top = r->max_transaction;
	head(gp, PLOT_CREDITS, 400);
	fprintf(gp,
		"set xlabel 'handle'\n"
		"set ylabel 'blocks'\n"
		"set logscale y\n"
		"set yrange [0.7:%" PRId64 "]\n"
		"set xrange [0:%" PRIu64 "]\n"
		"set key outside top center horizontal\n"
		"set style fill solid 0.85 noborder\n"
		"shown(x) = x < 1 ? 0.7 : x\n",
		top * 2, s->all.handles);
	if (r->max_handle)
		fprintf(gp,
			"set arrow from graph 0, first %u to graph 1, first %u nohead lc rgb "
			"'#b3261e' "
			"lw 1.5 front\n"
			"set label 'limit of one handle: %u' at graph 0.995, first %u right "
			"offset 0,0.6 "
			"tc rgb '#b3261e' front\n",
			r->max_handle, r->max_handle, r->max_handle, r->max_handle);
	else if (r->max_transaction)
		fprintf(gp,
			"set arrow from graph 0, first %u to graph 1, first %u nohead lc rgb "
			"'#b3261e' "
			"lw 1.5 front\n"
			"set label 'limit of a transaction: %u' at graph 0.995, first %u right "
			"offset 0,0.6 tc rgb '#b3261e' front\n",
			r->max_transaction, r->max_transaction, r->max_transaction,
			r->max_transaction);
	fprintf(gp,
		"plot 'credits.dat' using 1:(shown($2)) with fillsteps lc rgb '#c9d7e6' "
		"title 'asked', \\\n"
		"     '' using 1:(shown($3)) with fillsteps lc rgb '#33618f' title 'dirtied'");
	if (reserved)
		fprintf(gp, ", \\\n     '' using 1:($4 < 1 ? NaN : $4) with steps "
			    "lc rgb '#c77d11' lw 1.2 "
			    "title 'reserved'");
	fprintf(gp, "\n");
}

static unsigned int top_order(const struct stats *s)
{
	unsigned int top = 0, i;

	for (i = 0; i < STATS_ORDERS; i++)
		if (s->order[i])
			top = i;
	return top;
}

static void orders_data(const struct stats *s, FILE *dat)
{
	unsigned int i, k;

	fprintf(dat, "# operation  order  folios added; of %" PRIu64 " operations each\n",
		s->order_width);
	for (i = 0; i < STATS_STEPS; i++)
		for (k = 0; k < STATS_ORDERS; k++)
			if (s->order_step[i][k])
				fprintf(dat, "%" PRIu64 " %u %u\n", i * s->order_width, k,
					s->order_step[i][k]);
}

static void orders_script(const struct stats *s, FILE *gp)
{
	unsigned int top = top_order(s), i;
	uint64_t max = 1, end = 0;

	for (i = 0; i < STATS_STEPS; i++) {
		unsigned int k;

		for (k = 0; k < STATS_ORDERS; k++) {
			if (s->order_step[i][k] > max)
				max = s->order_step[i][k];
			if (s->order_step[i][k])
				end = (i + 1) * s->order_width;
		}
	}
	if (end < s->ops + 1)
		end = s->ops + 1;
	head(gp, PLOT_ORDERS, 150 + 22 * (top + 1));
	fprintf(gp,
		"unset key\n"
		"%s"
		"set xlabel 'operation'\n"
		"set ylabel 'folio order'\n"
		"set ytics 1\n"
		"set yrange [-0.5:%u.5]\n"
		"set xrange [0:%" PRIu64 "]\n"
		"set logscale cb\n"
		"set cbrange [1:%" PRIu64 "]\n"
		"set cblabel 'folios added'\n"
		"set palette defined (0 '#c9d7e6', 0.5 '#5f8dbb', 1 '#12314f')\n"
		"set style fill solid 1 noborder\n"
		"w = %" PRIu64 "\n"
		"plot 'orders.dat' using ($1+w/2.0):2:($1):($1+w):($2-0.4):($2+0.4):3 "
		"with boxxyerror palette\n",
		max > 1 ? "" : "unset colorbox\n", top, end, max > 1 ? max : 10, s->order_width);
}

static void extents_data(const struct stats *s, FILE *dat)
{
	unsigned int i, top = 0;

	for (i = 0; i < STATS_HIST; i++)
		if (s->extent_hist[i] || s->piece_hist[i])
			top = i;
	fprintf(dat, "# blocks (from)  extents mapped  pieces allocated\n");
	for (i = 0; i <= top; i++)
		fprintf(dat, "%llu %" PRIu64 " %" PRIu64 "\n", 1ull << i, s->extent_hist[i],
			s->piece_hist[i]);
}

static void extents_script(FILE *gp)
{
	head(gp, PLOT_EXTENTS, 300);
	fprintf(gp,
		"set key top right\n"
		"set xlabel 'length in blocks (from, by powers of two)'\n"
		"set ylabel 'how many'\n"
		"set logscale y\n"
		"set yrange [0.7:*]\n"
		"set style data histogram\n"
		"set style histogram clustered gap 1\n"
		"set style fill solid 1 noborder\n"
		"plot 'extents.dat' using 2:xtic(1) lc rgb '#33618f' title 'extents mapped', \\\n"
		"     '' using 3 lc rgb '#c77d11' title 'pieces allocated'\n");
}

static void matrix_data(const struct report_matrix *m, FILE *dat)
{
	uint32_t i, k;

	fprintf(dat, "# block size, for each kernel: asked + reserved; the last: limit of a "
		     "handle\n");
	for (i = 0; i < m->nr_sizes; i++) {
		fprintf(dat, "%uK", m->block_size[i] / 1024);
		for (k = 0; k < m->nr_kernels; k++)
			fprintf(dat, " %u", m->cell[i][k].asked + m->cell[i][k].rsv);
		fprintf(dat, " %u\n", m->cell[i][m->nr_kernels - 1].max_handle);
	}
}

static void matrix_script(const struct report_matrix *m, FILE *gp)
{
	static const char *const colours[] = { "#c9d7e6", "#12314f", "#c77d11", "#5f8dbb",
					       "#8a9a5b", "#7d6b91" };
	uint32_t k, i, max = 1;

	for (i = 0; i < m->nr_sizes; i++)
		for (k = 0; k < m->nr_kernels; k++) {
			const struct report_cell *c = &m->cell[i][k];
			uint32_t v = c->asked + c->rsv;

			v = v > c->max_handle ? v : c->max_handle;
			max = v > max ? v : max;
		}
	head(gp, PLOT_MATRIX, 340);
	fprintf(gp,
		"set key outside top center horizontal\n"
		"set xlabel 'block size'\n"
		"set ylabel 'blocks'\n"
		"set logscale y\n"
		"set yrange [1:%u]\n"
		"set style data histogram\n"
		"set style histogram clustered gap 1\n"
		"set style fill solid 1 noborder\n"
		"plot ",
		max * 2);
	for (k = 0; k < m->nr_kernels; k++)
		fprintf(gp, "%s'%s' using %u:xtic(1) lc rgb '%s' title '%s'",
			k ? ", \\\n     " : "", k ? "" : "matrix.dat", k + 2, colours[k % 6],
			m->kernel[k]);
	/* the limit, a line across each group of bars */
	fprintf(gp,
		", \\\n     '' using ($0-0.5):%u:(1):(0) with vectors nohead lc rgb '#b3261e' lw 2 "
		"title 'limit of one handle'\n",
		m->nr_kernels + 2);
}

static int write_sources(const struct report *r, const char *dir, enum report_plot_id id)
{
	FILE *dat = create(dir, id, "dat"), *gp = create(dir, id, "gp");
	int ret = dat && gp ? 0 : -errno;

	if (!ret) {
		switch (id) {
		case PLOT_CREDITS:
			credits_data(r->stats, dat);
			credits_script(r, gp);
			break;
		case PLOT_ORDERS:
			orders_data(r->stats, dat);
			orders_script(r->stats, gp);
			break;
		case PLOT_EXTENTS:
			extents_data(r->stats, dat);
			extents_script(gp);
			break;
		case PLOT_MATRIX:
			matrix_data(&r->matrix, dat);
			matrix_script(&r->matrix, gp);
			break;
		case PLOT_RATIOS:
			head(gp, PLOT_RATIOS, 560);
			report_points_data(r, dat);
			report_points_script(r, gp);
			break;
		case PLOT_COUNT:
			break;
		}
	}
	if (dat && fclose(dat) && !ret)
		ret = -errno;
	if (gp && fclose(gp) && !ret)
		ret = -errno;
	return ret;
}

/* True if gnuplot drew it. */
static bool run_gnuplot(const char *dir, enum report_plot_id id, bool *missing)
{
	char script[64];
	int status;
	pid_t pid;

	snprintf(script, sizeof(script), "%s.gp", names[id]);
	pid = fork();
	if (!pid) {
		if (chdir(dir))
			_exit(126);
		execlp("gnuplot", "gnuplot", script, (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		status = 127 << 8;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		*missing = true;
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* The SVG as it can stand inside a page: from "<svg" on. */
static char *read_svg(const char *dir, enum report_plot_id id)
{
	char path[4096], *data, *start, *svg = NULL;
	long len;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.svg", dir, names[id]);
	f = fopen(path, "r");
	if (!f)
		return NULL;
	fseek(f, 0, SEEK_END);
	len = ftell(f);
	rewind(f);
	data = len > 0 ? calloc(1, (size_t)len + 1) : NULL;
	if (data && fread(data, 1, (size_t)len, f) == (size_t)len) {
		start = strstr(data, "<svg");
		if (start)
			svg = strdup(start);
	}
	free(data);
	fclose(f);
	return svg;
}

int report_plot(const struct report *r, const char *dir, struct report_plots *p, char *err,
		size_t errlen)
{
	const struct stats *s = r->stats;
	unsigned int i, orders = 0;
	int ret;

	for (i = 0; s && i < STATS_ORDERS; i++)
		orders += s->order[i] != 0;
	p->wanted[PLOT_CREDITS] = s && s->all.handles;
	p->wanted[PLOT_ORDERS] = orders != 0;
	p->wanted[PLOT_EXTENTS] = s && (s->extents_mapped || s->pieces);
	p->wanted[PLOT_MATRIX] = r->matrix.nr_kernels != 0;
	p->wanted[PLOT_RATIOS] = r->nr_points != 0;
	for (i = 0; i < PLOT_COUNT; i++) {
		if (!p->wanted[i])
			continue;
		ret = write_sources(r, dir, (enum report_plot_id)i);
		if (ret) {
			snprintf(err, errlen, "%s/%s.gp: %s", dir, names[i], strerror(-ret));
			return ret;
		}
		if (!p->missing && run_gnuplot(dir, (enum report_plot_id)i, &p->missing))
			p->svg[i] = read_svg(dir, (enum report_plot_id)i);
	}
	return 0;
}

void report_plots_free(struct report_plots *p)
{
	unsigned int i;

	for (i = 0; i < PLOT_COUNT; i++)
		free(p->svg[i]);
	memset(p, 0, sizeof(*p));
}
