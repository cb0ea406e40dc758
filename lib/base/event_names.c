// SPDX-License-Identifier: MIT
/*
 * Names and fields of events, and the form in which a kernel prints them: the
 * tables of events.def and event-forms.def.
 */
#include "event_names.h"

static const struct ffs_event_desc events[] = {
#define FOLIOFS_EVENT(name, fields, format) { #name, fields, format, NULL },
#include <foliofs/events.def>
#undef FOLIOFS_EVENT
};

struct form {
	enum foliofs_event_id id;
	enum foliofs_change change; /* kernels without it print this form */
	struct ffs_event_desc desc;
};

static const struct form forms[] = {
#define FOLIOFS_EVENT_FORM(id, change, name, map, format)                                          \
	{ FOLIOFS_EV_##id, FOLIOFS_CHANGE_##change, { name, "", format, map } },
#include <foliofs/event-forms.def>
#undef FOLIOFS_EVENT_FORM
};

const struct ffs_event_desc *ffs_event_desc(unsigned int id)
{
	return id < FOLIOFS_EV_COUNT ? &events[id] : NULL;
}

const struct ffs_event_desc *ffs_event_desc_for(const struct foliofs_kernel *k, unsigned int id)
{
	size_t i;

	if (id >= FOLIOFS_EV_COUNT)
		return NULL;
	for (i = 0; i < ARRAY_SIZE(forms); i++) {
		if (forms[i].id != id || foliofs_kernel_has(k, forms[i].change))
			continue;
		return forms[i].desc.name[0] ? &forms[i].desc : NULL;
	}
	return &events[id];
}

const char *foliofs_event_name(unsigned int id)
{
	return id < FOLIOFS_EV_COUNT ? events[id].name : NULL;
}

const char *foliofs_event_name_for(const struct foliofs_kernel *kernel, unsigned int id)
{
	const struct ffs_event_desc *d = ffs_event_desc_for(kernel, id);

	return d ? d->name : NULL;
}

const char *foliofs_event_fields(unsigned int id)
{
	return id < FOLIOFS_EV_COUNT ? events[id].fields : NULL;
}

int foliofs_event_find(const char *name, enum foliofs_event_id *id)
{
	unsigned int i;

	for (i = 0; i < FOLIOFS_EV_COUNT; i++) {
		if (!strcmp(events[i].name, name)) {
			*id = (enum foliofs_event_id)i;
			return 0;
		}
	}
	return -ENOENT;
}

int foliofs_event_field(unsigned int id, const char *name)
{
	size_t len = strlen(name);
	const char *p;
	int i;

	if (id >= FOLIOFS_EV_COUNT || !strcmp(name, "-"))
		return -ENOENT;
	for (i = 0, p = events[id].fields; *p; i++) {
		size_t n = strcspn(p, " ");

		if (n == len && !memcmp(p, name, n))
			return i;
		p += n;
		p += *p == ' ';
	}
	return -ENOENT;
}
