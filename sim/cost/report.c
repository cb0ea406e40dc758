// SPDX-License-Identifier: MIT
/* The result as a report: see print.h. */
#include "print.h"

void cost_report(struct report *rep, const struct cost_result *r)
{
	report_init(rep, r->setup->path);
}

void cost_table_report(struct report *rep, const struct cost_table *t,
		       const struct cost_constants *c)
{
	(void)c;
	report_init(rep, t->path);
}
