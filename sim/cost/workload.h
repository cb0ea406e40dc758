/* SPDX-License-Identifier: MIT */
/*
 * Workloads as the tables of fio runs have them: one job that writes or reads a file from its
 * beginning, block by block.
 */
#ifndef COST_WORKLOAD_H
#define COST_WORKLOAD_H

#include "cost.h"

struct cost_workload {
	enum cost_class class;
	bool writeback; /* the flusher runs behind the writes */
	bool hole; /* a read of a sparse file */
	uint64_t bs; /* bytes of an operation */
};

/*
 * The operations of @w, and those that prepare its file, on the file system of @base: @s to be
 * freed by cost_workload_free().
 */
void cost_workload_setup(struct replay_setup *s, const struct replay_setup *base,
			 const struct cost_workload *w);
void cost_workload_free(struct replay_setup *s);

#endif
