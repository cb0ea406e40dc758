// SPDX-License-Identifier: MIT
/* Runs of a scenario under kernels that it says nothing about. */
#include "scenario/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int scenario_outcome(const struct scenario *s, const struct variant *v,
		     const struct foliofs_kernel *k, struct scenario_outcome *o)
{
	struct case_result *c;
	struct run r = { .s = s, .setup = v ? &v->setup : &s->setup, .kernel = *k,
			 .outcome_only = true };

	memset(o, 0, sizeof(*o));
	if (s->ops.first == s->ops.end)
		return -ENOENT;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->tail = &c->failures;
	r.result = c;
	run_case(&r, NULL);
	o->started = c->nr_ops > 0;
	memcpy(o->broken, r.broken, sizeof(o->broken));
	o->nr_failed = r.nr_failed;
	o->first_failed = r.first_failed;
	o->first_error = r.first_error;
	case_results_free(c);
	return 0;
}
