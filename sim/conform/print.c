// SPDX-License-Identifier: MIT
/* Results of a comparison in words: see print.h. */
#include "print.h"

#include <string.h>

static bool passes(const struct conform_diff *d, const struct conform_filter *f)
{
	if (f->have_family && d->family != f->family)
		return false;
	return !f->have_op || (!d->file && d->op == f->op);
}

static void print_side(FILE *out, const char *who, const char *text, uint32_t line)
{
	if (!text)
		fprintf(out, "        %-6s (nothing more)\n", who);
	else if (line)
		fprintf(out, "        %-6s %s   (line %u)\n", who, text, line);
	else
		fprintf(out, "        %-6s %s\n", who, text);
}

static void print_diff(FILE *out, const struct conform_result *r, const struct conform_diff *d)
{
	const char *op = d->file ? "" : capture_dir_op(&r->capture, d->op);

	if (d->file)
		fprintf(out, "    %s", d->file);
	else if (r->align.how != ALIGN_NOT)
		fprintf(out, "    op %u%s%s", d->op, *op ? " " : "", op);
	else
		fprintf(out, "    trace");
	fprintf(out, ", %s: %zu missing, %zu too many\n", conform_family_name(d->family),
		d->missing, d->surplus);
	print_side(out, "kernel", d->kernel, d->kernel_line);
	print_side(out, "model", d->sim, d->sim_line);
}

/* How operations were found in a trace that does not mark them, and which were not. */
static void print_alignment(FILE *out, const struct conform_result *r)
{
	const struct conform_alignment *a = &r->align;
	size_t i, lost = a->ops - a->ops_placed;

	if (r->foreign)
		fprintf(out, "    %llu events of other devices passed over\n",
			(unsigned long long)r->foreign);
	switch (a->how) {
	case ALIGN_MARKERS:
		return;
	case ALIGN_NOT:
		fprintf(out, "    no markers of operations: compared as a whole\n");
		return;
	case ALIGN_CALLS:
		fprintf(out, "    no markers of operations: aligned by %zu system calls; %zu of %zu "
			     "events are behind the first\n",
			a->calls, a->placed, a->events);
		break;
	case ALIGN_ORDER:
		fprintf(out, "    no markers of operations: aligned by order%s; %zu of %zu events "
			     "have a place of their own\n",
			a->calls ? " (the trace's system calls are not those of the operations)" :
				   "",
			a->placed, a->events);
		break;
	}
	if (!lost)
		return;
	fprintf(out, "    %zu of %zu operations with events were not found:", lost, a->ops);
	for (i = 0; i < lost && i < ALIGN_LISTED; i++)
		fprintf(out, "%s op %u %s", i ? "," : "", a->lost_op[i],
			capture_dir_op(&r->capture, a->lost_op[i]));
	fprintf(out, "%s\n", lost > ALIGN_LISTED ? ", ..." : "");
}

void conform_print(FILE *out, const struct conform_result *r, const struct conform_filter *f)
{
	size_t lacks[CONFORM_FAMILY_COUNT] = { 0 }, i, shown = 0;
	const struct conform_diff *d;
	bool same = true;

	for (i = 0; i < r->nr_diffs; i++) {
		d = &r->diffs[i];
		if (!passes(d, f))
			continue;
		lacks[d->family] += d->missing > d->surplus ? d->missing : d->surplus;
		same = false;
	}
	fprintf(out, "%-32s", r->capture.name);
	if (same)
		fprintf(out, " same");
	for (i = 0; i < CONFORM_FAMILY_COUNT; i++)
		if (lacks[i])
			fprintf(out, " %s:%zu", conform_family_name((enum conform_family_id)i),
				lacks[i]);
	if (!r->ordered)
		fprintf(out, "  (order not compared: two runs of the kernel are alike as \"%s\")",
			r->capture.level);
	fprintf(out, "\n");
	if (r->lost_kernel)
		fprintf(out, "    the kernel's trace lost %llu events: differences may come from "
			     "that\n",
			(unsigned long long)r->lost_kernel);
	print_alignment(out, r);
	for (i = 0; i < r->nr_diffs && (f->all || !shown); i++) {
		if (!passes(&r->diffs[i], f))
			continue;
		print_diff(out, r, &r->diffs[i]);
		shown++;
	}
}

void conform_print_table(FILE *out, const struct conform_count total[CONFORM_FAMILY_COUNT])
{
	int i;

	fprintf(out, "%-16s %9s %9s %9s  %s\n", "family", "matched", "kernel", "model", "ratio");
	for (i = 0; i < CONFORM_FAMILY_COUNT; i++)
		if (total[i].seen)
			fprintf(out, "%-16s %9zu %9zu %9zu  %.4f\n",
				conform_family_name((enum conform_family_id)i), total[i].matched,
				total[i].kernel, total[i].sim, conform_ratio(&total[i]));
}

static const char *reason(const char *name)
{
	if (!strncmp(name, "xfs_", 4))
		return "XFS's own, the model has none of this kind";
	if (!strncmp(name, "block_", 6))
		return "the model sends no requests to a block layer";
	if (!strncmp(name, "ext4_sync_", 10))
		return "belongs to no family; its work is seen in the others";
	return "belongs to no family";
}

void conform_print_left_out(FILE *out, const struct conform_result *r)
{
	size_t i;

	for (i = 0; i < r->nr_left_out; i++) {
		if (!r->left_out[i].count) {
			fprintf(out, "    not compared: %s: the trace has none\n",
				r->left_out[i].name);
			continue;
		}
		fprintf(out, "    not compared: %s (%llu): %s\n", r->left_out[i].name,
			(unsigned long long)r->left_out[i].count, reason(r->left_out[i].name));
	}
}
