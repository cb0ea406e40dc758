// SPDX-License-Identifier: MIT
/* What picked changes need. */
#include "backport/backport.h"

#include <string.h>

/* Prerequisites of @c that @k lacks, first those that they need: each once. */
static unsigned int lacking(FILE *out, const struct foliofs_kernel *k, enum foliofs_change c,
			    bool *seen)
{
	const char *list = foliofs_change_needs(c);
	unsigned int nr = 0;

	for (; *list; list += strcspn(list, " "), list += strspn(list, " ")) {
		enum foliofs_change need;
		char name[64];

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(list, " "), list);
		if (foliofs_change_find(name, &need) || foliofs_kernel_has(k, need) || seen[need])
			continue;
		seen[need] = true;
		nr += 1 + lacking(out, k, need, seen);
		fprintf(out, "  %s, which %s needs: %s\n", name, foliofs_change_name(c),
			foliofs_change_meaning(need));
		fprintf(out, "    %s\n", foliofs_change_source(need));
		if (*foliofs_change_without(need))
			fprintf(out, "    without it: %s\n", foliofs_change_without(need));
	}
	return nr;
}

unsigned int backport_prerequisites(FILE *out, const struct backport *b)
{
	const struct foliofs_kernel *k = &b->kernel[BACKPORT_PICKED];
	bool seen[FOLIOFS_CHANGE_COUNT] = { false };
	unsigned int i, nr = 0;

	fprintf(out, "%s\n", k->name);
	for (i = 0; i < b->nr_picks; i++)
		fprintf(out, "  %s: %s%s\n    %s\n", foliofs_change_name(b->pick[i]),
			foliofs_change_meaning(b->pick[i]),
			foliofs_kernel_has(&b->kernel[BACKPORT_BASE], b->pick[i]) ?
				" (in the base already)" : "",
			foliofs_change_source(b->pick[i]));
	fprintf(out, "\nprerequisites that it lacks\n");
	for (i = 0; i < b->nr_picks; i++)
		nr += lacking(out, k, b->pick[i], seen);
	if (!nr)
		fprintf(out, "  none\n");
	return nr;
}
