// SPDX-License-Identifier: MIT
/* The file that credits are asked for, and verdicts in words. */
#include "credits_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void credits_kind(const struct credits_file *f, const struct foliofs_kernel *k,
		  const struct foliofs_geometry *g, struct foliofs_inode_kind *kind)
{
	foliofs_inode_kind_init(k, g, kind);
	if (f->indirect)
		kind->extents = false;
	kind->depth = f->depth;
	kind->i_blocks = f->i_blocks;
	if (f->order >= 0)
		kind->order = (uint8_t)f->order;
}

const char *credits_verdict_name(enum foliofs_verdict v)
{
	static const char *const names[] = {
		[FOLIOFS_FITS] = "fits",
		[FOLIOFS_REFUSED] = "refused",
		[FOLIOFS_RUNS_DRY] = "can run dry",
		[FOLIOFS_LOOPS] = "can loop",
	};

	return names[v];
}

void credits_verdict_reason(const struct foliofs_kernel *k, const struct foliofs_geometry *g,
			    const struct foliofs_inode_kind *kind, enum foliofs_credit_op op,
			    char *text, size_t len)
{
	struct foliofs_ask ask = foliofs_ask(k, g, kind, op, 0);
	struct foliofs_journal_limits l;
	uint32_t requested;

	foliofs_journal_limits(k, g, &l);
	requested = foliofs_requested(&l, ask.credits.total, ask.revokes);
	switch (foliofs_credit_verdict(k, g, kind, op, 0)) {
	case FOLIOFS_REFUSED:
		if (ask.rsv > l.max_reserved)
			snprintf(text, len, "reserves %u, a reservation may have %u", ask.rsv,
				 l.max_reserved);
		else if (ask.rsv)
			snprintf(text, len, "requests %u and reserves %u, a handle may have %u",
				 requested, ask.rsv, l.max_handle);
		else
			snprintf(text, len, "requests %u, a handle may have %u", requested,
				 l.max_handle);
		break;
	case FOLIOFS_RUNS_DRY:
		snprintf(text, len, "asks %u, every extent in a group of its own needs %u",
			 ask.credits.total, foliofs_worst_case(k, g, kind, op, 0));
		break;
	case FOLIOFS_LOOPS:
		snprintf(text, len, "a scattered write beyond EOF of one folio is more than %u",
			 l.max_handle);
		break;
	default:
		text[0] = '\0';
	}
}

uint32_t credits_journal_size(const struct foliofs_geometry *g, uint32_t blocks)
{
	const uint64_t mib = 1 << 20;

	if (foliofs_has_feature(g, FOLIOFS_FEATURE_FAST_COMMIT))
		blocks -= g->fast_commit_blocks ? g->fast_commit_blocks : 256;
	return (uint32_t)(((uint64_t)blocks * g->block_size + mib - 1) / mib);
}
