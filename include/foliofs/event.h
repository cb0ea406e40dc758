/* SPDX-License-Identifier: MIT */
/*
 * Events: everything the model decides, in the kernel's own words.
 *
 * An event has the name and the fields of the kernel's tracepoint; events named
 * foliofs_* are ours, for what the kernel does not trace.  events.def lists all
 * of them with their field names and the text format of tracefs.
 */
#ifndef FOLIOFS_EVENT_H
#define FOLIOFS_EVENT_H

#include <foliofs/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

enum foliofs_event_id {
#define FOLIOFS_EVENT(name, fields, format) FOLIOFS_EV_##name,
#include <foliofs/events.def>
#undef FOLIOFS_EVENT
	FOLIOFS_EV_COUNT
};

/* Who ran: the caller of the operation, a worker finishing I/O, the journal thread, the flusher. */
enum foliofs_thread {
	FOLIOFS_THREAD_TASK, FOLIOFS_THREAD_WORKER, FOLIOFS_THREAD_JOURNAL, FOLIOFS_THREAD_FLUSHER,
};

#define FOLIOFS_EVENT_ARGS 14

struct foliofs_event {
	uint16_t id; /* enum foliofs_event_id */
	uint8_t thread; /* enum foliofs_thread */
	uint8_t nargs;
	uint32_t op; /* number of the operation running */
	uint64_t time_ns;
	/* in the order of the fields; signed values as int64_t, strings as const char * */
	uint64_t arg[FOLIOFS_EVENT_ARGS];
};

/* A consumer of events.  @wants[id] != 0: call it for events of that id. */
struct foliofs_sink {
	uint8_t wants[FOLIOFS_EV_COUNT];
	void (*event)(void *priv, const struct foliofs_event *ev);
	void *priv;
};

/* Name of an event; its field names, separated by blanks. */
FOLIOFS_API const char *foliofs_event_name(unsigned int id);
FOLIOFS_API const char *foliofs_event_fields(unsigned int id);
/* Event of that name: 0, or -ENOENT. */
FOLIOFS_API int foliofs_event_find(const char *name, enum foliofs_event_id *id);
/* Index of field @name of event @id, or -ENOENT. */
FOLIOFS_API int foliofs_event_field(unsigned int id, const char *name);
/*
 * The text behind "name: " as tracefs prints it, at most @len bytes with the
 * final 0; returns the length it needs.  @dev: "7,40" or the like.
 */
FOLIOFS_API int foliofs_event_text(const struct foliofs_event *ev, const char *dev, char *buf,
				   size_t len);
/*
 * How a trace is printed: under which kernel, so with the names and fields that
 * its tracepoints have (event-forms.def).
 */
struct foliofs_event_form {
	const struct foliofs_kernel *kernel;
	const char *dev; /* "7,40" or the like */
	uint32_t page_size; /* bytes */
};
/* Name of event @id in a trace of @kernel; NULL if that kernel does not trace it. */
FOLIOFS_API const char *foliofs_event_name_for(const struct foliofs_kernel *kernel,
					       unsigned int id);
/*
 * "NAME: TEXT" as tracefs prints it under @form->kernel, conventions as above;
 * 0 if that kernel does not trace the event.
 */
FOLIOFS_API int foliofs_event_text_for(const struct foliofs_event_form *form,
				       const struct foliofs_event *ev, char *buf, size_t len);
/* Text of one field (flags as words), same conventions; -ENOENT if there is no such field. */
FOLIOFS_API int foliofs_event_field_text(const struct foliofs_event *ev, int field, char *buf,
					 size_t len);

#ifdef __cplusplus
}
#endif
#endif
