// SPDX-License-Identifier: MIT
/* The credits as JSON: file system, and for each kernel limits, operations, smallest journal. */
#include "credits_report.h"

#include <errno.h>
#include <json-c/json.h>

static void number(struct json_object *o, const char *name, uint64_t value)
{
	json_object_object_add(o, name, json_object_new_uint64(value));
}

static void string(struct json_object *o, const char *name, const char *value)
{
	json_object_object_add(o, name, json_object_new_string(value));
}

static struct json_object *file_system(const struct foliofs_geometry *g)
{
	struct json_object *o = json_object_new_object();

	number(o, "page_size", g->page_size);
	number(o, "block_size", g->block_size);
	number(o, "cluster_ratio", g->cluster_ratio);
	number(o, "blocks", g->blocks_count);
	number(o, "groups", g->groups);
	number(o, "descriptor_blocks", g->gdb_count);
	number(o, "journal_blocks", g->journal_blocks);
	return o;
}

static struct json_object *limits(const struct foliofs_journal_limits *l)
{
	struct json_object *o = json_object_new_object();

	number(o, "transaction", l->max_transaction);
	number(o, "overhead", l->overhead);
	number(o, "handle", l->max_handle);
	number(o, "reservation", l->max_reserved);
	number(o, "fast_commit", l->fast_commit);
	number(o, "revokes_per_block", l->revokes_per_block);
	return o;
}

static struct json_object *terms(const struct foliofs_credits *c)
{
	struct json_object *o = json_object_new_object();

	number(o, "index", c->index);
	number(o, "bitmaps", c->bitmaps);
	number(o, "descriptors", c->descriptors);
	number(o, "fixed", c->fixed);
	number(o, "data", c->data);
	return o;
}

static struct json_object *operation(const struct foliofs_kernel *k,
				     const struct foliofs_geometry *g,
				     const struct foliofs_inode_kind *kind,
				     const struct foliofs_journal_limits *l,
				     enum foliofs_credit_op op)
{
	struct foliofs_ask ask = foliofs_ask(k, g, kind, op, 0);
	struct json_object *o = json_object_new_object();
	char why[120];

	string(o, "name", foliofs_credit_op_name(op));
	number(o, "handle_type", ask.type);
	number(o, "credits", ask.credits.total);
	json_object_object_add(o, "terms", terms(&ask.credits));
	number(o, "reserved", ask.rsv);
	number(o, "revokes", ask.revokes);
	number(o, "requested", foliofs_requested(l, ask.credits.total, ask.revokes));
	number(o, "worst_case", foliofs_worst_case(k, g, kind, op, 0));
	string(o, "verdict", credits_verdict_name(foliofs_credit_verdict(k, g, kind, op, 0)));
	credits_verdict_reason(k, g, kind, op, why, sizeof(why));
	if (why[0])
		string(o, "reason", why);
	return o;
}

static struct json_object *kernel(const struct credits_file *f, const struct foliofs_kernel *k,
				  const struct foliofs_geometry *g)
{
	struct json_object *o = json_object_new_object(), *ops = json_object_new_array();
	struct foliofs_journal_limits l;
	struct foliofs_inode_kind kind;

	credits_kind(f, k, g, &kind);
	foliofs_journal_limits(k, g, &l);
	string(o, "kernel", k->name);
	number(o, "folio_order", kind.order);
	json_object_object_add(o, "limits", limits(&l));
	for (unsigned int op = 0; op < FOLIOFS_CREDIT_COUNT; op++)
		if (foliofs_credit_op_applies(k, g, &kind, op))
			json_object_array_add(ops, operation(k, g, &kind, &l, op));
	json_object_object_add(o, "operations", ops);
	number(o, "min_journal_blocks", foliofs_min_journal(k, g, &kind));
	return o;
}

int credits_json(FILE *out, const struct credits_file *f, const struct foliofs_geometry *g,
		 const struct foliofs_kernel *k, unsigned int nr_kernels)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();

	json_object_object_add(o, "file_system", file_system(g));
	for (unsigned int n = 0; n < nr_kernels; n++)
		json_object_array_add(list, kernel(f, &k[n], g));
	json_object_object_add(o, "kernels", list);
	fprintf(out, "%s\n", json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY));
	json_object_put(o);
	return fflush(out) || ferror(out) ? -EIO : 0;
}
