// SPDX-License-Identifier: MIT
/*
 * Results as JSON.
 */
#include "scenario/output.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>

static void add_text(struct json_object *o, const char *key, const char *text)
{
	if (text)
		json_object_object_add(o, key, json_object_new_string(text));
}

static struct json_object *one_failure(const struct case_result *r, const struct failure *x)
{
	struct json_object *o = json_object_new_object();

	if (x->op) {
		json_object_object_add(o, "operation", json_object_new_int64(x->op));
		add_text(o, "text", scenario_op_text(r->scenario, x->op));
	}
	if (x->line) {
		json_object_object_add(o, "line", json_object_new_int64(x->line));
		json_object_object_add(o, "column", json_object_new_int64(x->col));
	}
	add_text(o, "expected", x->expected);
	add_text(o, "got", x->got);
	add_text(o, "before", x->before);
	add_text(o, "after", x->after);
	return o;
}

static struct json_object *one_case(const struct case_result *r)
{
	struct json_object *o = json_object_new_object(), *list;
	const struct failure *x;
	char *again;

	add_text(o, "name", r->name);
	add_text(o, "file", r->scenario->path);
	add_text(o, "kernel", r->kernel);
	add_text(o, "why", r->why);
	json_object_object_add(o, "operations", json_object_new_int64(r->nr_ops));
	json_object_object_add(o, "passed", json_object_new_boolean(!r->nr_failures));
	if (!r->failures)
		return o;
	again = output_again(r);
	add_text(o, "again", again);
	free(again);
	list = json_object_new_array();
	for (x = r->failures; x; x = x->next)
		json_object_array_add(list, one_failure(r, x));
	json_object_object_add(o, "failures", list);
	return o;
}

int output_json(FILE *f, const struct case_result *r)
{
	struct json_object *top = json_object_new_object(), *list = json_object_new_array();
	unsigned int cases, failed;
	const char *text;

	output_count(r, &cases, &failed);
	for (; r; r = r->next)
		json_object_array_add(list, one_case(r));
	json_object_object_add(top, "cases", list);
	json_object_object_add(top, "passed", json_object_new_int64(cases - failed));
	json_object_object_add(top, "failed", json_object_new_int64(failed));
	text = json_object_to_json_string_ext(top, JSON_C_TO_STRING_PRETTY |
					      JSON_C_TO_STRING_NOSLASHESCAPE);
	if (text)
		fprintf(f, "%s\n", text);
	json_object_put(top);
	return text ? 0 : -ENOMEM;
}
