// SPDX-License-Identifier: MIT
/* A report from a capture folder, a kernel's or a simulated one: see report.h. */
#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conform/capture_dir.h"
#include "conform/event_read.h"
#include "geometry/geometry_meta.h"

struct counted {
	uint64_t events, unknown, unreadable, lost, ops;
};

static int count_events(const char *dir, struct stats *s, struct counted *n)
{
	struct trace_line line;
	struct foliofs_event ev;
	struct text t;
	struct trace_cursor trace = { .text = &t };
	char strings[512];
	uint32_t op = 0;
	int ret = text_read_in(dir, "events.txt", &t);

	if (ret)
		return ret;
	while (trace_text_next(&trace, &line)) {
		n->lost += line.lost;
		if (line.lost)
			continue;
		if (line.marker) {
			op = line.op;
			n->ops++;
		}
		if (piece_is(line.event, "tracing_mark_write"))
			continue;
		n->events++;
		ret = event_read(&line, op, &ev, strings);
		if (ret == -ENOENT)
			n->unknown++;
		else if (ret)
			n->unreadable++;
		else
			stats_event(s, &ev);
	}
	text_free(&t);
	return 0;
}

/* "6.18.44" is a release of Linux, "v6.18" a kernel of the model. */
static void name_kernel(struct report *r, const char *kernel)
{
	bool release = *kernel >= '0' && *kernel <= '9';

	snprintf(r->kernel, sizeof(r->kernel), "%s%.80s", release ? "Linux " : "", kernel);
}

/* Geometry and kernel; no meta.yaml, or one of another kind of file system, is no error. */
static void environment(struct report *r, const char *dir, const struct capture_dir *c)
{
	struct foliofs_geometry g = { 0 };
	struct foliofs_kernel k;
	struct geometry_meta m;
	char path[4096], err[240];

	snprintf(path, sizeof(path), "%s/meta.yaml", dir);
	if (geometry_meta_load(path, &m, &g, err, sizeof(err))) {
		report_note(r, "Not known", "geometry: %s", err);
	} else {
		if (!foliofs_kernel_parse(m.kernel, &k, err, sizeof(err))) {
			report_environment(r, &k, &g);
			name_kernel(r, m.kernel);
		} else {
			report_note(r, "Not known", "kernel: %s", err);
		}
		geometry_meta_free(&m);
	}
	if (!r->max_transaction)
		r->max_transaction = (uint32_t)c->max_transaction_blocks;
	if (!r->kernel[0])
		name_kernel(r, c->kernel);
}

static void judge(struct report *r, const struct counted *n)
{
	const struct stats *s = r->stats;

	if (s->broken || s->aborts || s->all.dry || s->all.refused)
		report_verdict(r, REPORT_BROKEN,
			       "%llu rules broken, %llu handles ran dry, %llu starts refused, "
			       "journal "
			       "aborted %llu times.",
			       (unsigned long long)s->broken, (unsigned long long)s->all.dry,
			       (unsigned long long)s->all.refused, (unsigned long long)s->aborts);
	else
		report_verdict(r, REPORT_UNJUDGED,
			       "%llu operations, %llu events, %llu journal handles counted. A "
			       "trace "
			       "alone does not tell whether rules were broken.",
			       (unsigned long long)n->ops, (unsigned long long)n->events,
			       (unsigned long long)s->all.handles);
	if (n->unknown)
		report_note(r, "Left out", "%llu events of kinds that are not known",
			    (unsigned long long)n->unknown);
	if (n->unreadable)
		report_note(r, "Left out", "%llu events in a form that is not known",
			    (unsigned long long)n->unreadable);
	if (n->lost)
		report_note(r, "Left out", "%llu events that the trace lost",
			    (unsigned long long)n->lost);
}

int report_from_capture(struct report *r, const char *dir, char *err, size_t errlen)
{
	struct counted n = { 0 };
	struct capture_dir c;
	char title[160];
	int ret;

	ret = capture_dir_read(&c, dir);
	if (ret) {
		snprintf(err, errlen, "%s: %s", dir, strerror(-ret));
		return ret;
	}
	snprintf(title, sizeof(title), "%s", c.name);
	report_init(r, title);
	r->own_stats = malloc(sizeof(*r->own_stats));
	if (!r->own_stats)
		abort();
	stats_init(r->own_stats);
	r->stats = r->own_stats;
	ret = count_events(dir, r->own_stats, &n);
	if (ret) {
		snprintf(err, errlen, "%s: expected events.txt or events.txt.gz: %s", dir,
			 strerror(-ret));
		report_free(r);
		capture_dir_free(&c);
		return ret;
	}
	if (c.desc[0])
		report_pair(r, "Capture", "%s", c.desc);
	environment(r, dir, &c);
	judge(r, &n);
	capture_dir_free(&c);
	return 0;
}
