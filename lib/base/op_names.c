// SPDX-License-Identifier: MIT
/* Names of operations: the table of op.h. */
#include <foliofs/op.h>
#include "base.h"

static const char *const names[] = {
#define OP_NAME(id, name) name,
	FOLIOFS_OPS(OP_NAME)
#undef OP_NAME
};

const char *foliofs_op_name(enum foliofs_op_kind kind)
{
	return (unsigned int)kind < FOLIOFS_OP_COUNT ? names[kind] : NULL;
}

int foliofs_op_find(const char *name, enum foliofs_op_kind *kind)
{
	unsigned int i;

	for (i = 0; i < FOLIOFS_OP_COUNT; i++) {
		if (!strcmp(names[i], name)) {
			*kind = (enum foliofs_op_kind)i;
			return 0;
		}
	}
	return -ENOENT;
}
