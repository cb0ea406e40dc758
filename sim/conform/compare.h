/* SPDX-License-Identifier: MIT */
/*
 * Comparison of a kernel capture with a simulated one, family by family.
 *
 * For each operation and family the two sequences are aligned; order counts
 * where two runs of the kernel agree on it (level "same" in DETERMINISM.txt).
 * ratio = 2 * matched / (kernel + simulated).  See family.h for what counts.
 */
#ifndef CONFORM_COMPARE_H
#define CONFORM_COMPARE_H

#include "align.h"
#include "capture_dir.h"
#include "family.h"

struct conform_count {
	size_t matched, kernel, sim;
	bool seen; /* the family occurs at all */
};

/* One operation and family, or one file, that differs. */
struct conform_diff {
	enum conform_family_id family;
	uint32_t op; /* of events; 0 for files */
	char *file; /* "state.yaml", NULL for events */
	char *kernel, *sim; /* first line that differs; NULL: nothing (more) on this side */
	uint32_t kernel_line, sim_line; /* where in events.txt; 0: nowhere */
	size_t missing, surplus; /* kernel's without a match, ours without one */
};

struct conform_result {
	struct capture_dir capture; /* the kernel's */
	bool ordered; /* order counted */
	struct conform_alignment align; /* how operations were found in the kernel's trace */
	uint64_t foreign; /* events of other devices */
	uint64_t lost_kernel; /* events the trace says it lost */
	struct conform_count count[CONFORM_FAMILY_COUNT];
	struct conform_diff *diffs; /* events by operation and place in the trace, then files */
	size_t nr_diffs;
	/* Kinds of events that are in the kernel's capture and not compared, with their number. */
	struct conform_left_out {
		char *name;
		uint64_t count; /* 0: the model's, the kernel's trace has none of this kind */
	} *left_out;
	size_t nr_left_out;
	char error[256]; /* what was wrong with the input */
};

/*
 * Compare.  @kernel_dir, @sim_dir: capture folders (@kernel_dir may be a trace
 * alone; events of kinds that it has none of are then taken as not recorded).
 * @dev: "MAJOR,MINOR" of the kernel's device, NULL: all events of the trace count.
 * 0, or a negative errno with r->error set.  A difference is no error.
 */
int conform_compare(const char *kernel_dir, const char *sim_dir, const char *dev,
		    struct conform_result *r);
bool conform_same(const struct conform_result *r);
/* Add the figures of @r to @total. */
void conform_sum(struct conform_count total[CONFORM_FAMILY_COUNT], const struct conform_result *r);
double conform_ratio(const struct conform_count *c);
void conform_free(struct conform_result *r);

#endif
