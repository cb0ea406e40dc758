// SPDX-License-Identifier: MIT
/* The verdict of a replay as a report. */
#include <inttypes.h>
#include <string.h>

#include "result.h"

static void note_trace(struct report *rep, const struct trace *t)
{
	uint32_t i;

	for (i = 0; i < t->nr_assumptions; i++)
		report_note(rep, "Assumed to be there before the trace", "%s%s, %" PRIu64
			    " bytes: %s", t->assumptions[i].path, t->assumptions[i].dir ? "/" : "",
			    t->assumptions[i].size,
			    t->assumptions[i].why ? t->assumptions[i].why : "");
	for (i = 0; i < t->nr_calls; i++)
		if (t->calls[i].unmodelled)
			report_note(rep, "Calls that are not modelled", "%s (%" PRIu64 ")",
				    t->calls[i].name, t->calls[i].unmodelled);
	for (i = 0; i < t->nr_notes; i++)
		report_note(rep, "Notes on the trace", "%s", t->notes[i]);
}

void replay_report(struct report *rep, const struct replay_setup *s,
		   const struct replay_result *r)
{
	const struct player *p = &r->player;
	const char *name = strrchr(s->path, '/');
	char buf[24];
	uint64_t i;

	report_init(rep, name ? name + 1 : s->path);
	report_environment(rep, &r->kernel, &s->geometry);
	if (r->nr_broken)
		report_verdict(rep, REPORT_BROKEN, "%zu rule%s broken %" PRIu64 " times in %"
			       PRIu64 " operations", r->nr_rules, r->nr_rules > 1 ? "s" : "",
			       r->nr_broken, p->played);
	else
		report_verdict(rep, REPORT_CLEAN, "No rule broken in %" PRIu64 " operations",
			       p->played);
	rep->stats = &r->stats;
	for (i = 0; i < p->failed && i < PLAYER_FAILURES; i++)
		report_note(rep, "Operations with an error", "%u %s: %s%s%s", p->failure[i].id,
			    p->failure[i].text, replay_errno(p->failure[i].error, buf),
			    *p->failure[i].why ? ": " : "", p->failure[i].why);
	note_trace(rep, &s->trace);
}
