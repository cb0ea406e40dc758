// SPDX-License-Identifier: MIT
/* Memory of the model itself: see base.h. */
#include "base.h"

void *ffs_zalloc(size_t size)
{
	void *p = calloc(1, size ? size : 1);

	if (!p)
		abort();
	return p;
}

void *ffs_realloc(void *p, size_t size)
{
	p = realloc(p, size ? size : 1);
	if (!p)
		abort();
	return p;
}
