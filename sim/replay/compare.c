// SPDX-License-Identifier: MIT
/* One trace under several kernels: see compare.h. */
#define _GNU_SOURCE
#include "compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void on_event(void *priv, const struct foliofs_event *ev)
{
	struct compare_side *side = priv;
	char text[640];

	if (!side->f)
		return;
	foliofs_event_text(ev, "7,40", text, sizeof(text));
	fprintf(side->f, "%s: %s\n", foliofs_event_name(ev->id), text);
}

/* Play operation @id with its events kept. */
static int play_op(struct compare_side *side, uint32_t id, char *err, size_t errlen)
{
	int ret;

	free(side->text);
	side->text = NULL;
	side->f = open_memstream(&side->text, &side->len);
	if (!side->f)
		return -ENOMEM;
	side->result.player.until = id;
	ret = player_run(&side->result.player, err, errlen);
	if (fclose(side->f))
		ret = -ENOMEM;
	side->f = NULL;
	return ret;
}

static char *line_at(const char *text)
{
	return *text ? strndup(text, strcspn(text, "\n")) : NULL;
}

/* Do the events of @side differ from those of @first?  Then where. */
static void match(const struct compare_side *first, struct compare_side *side, uint32_t op)
{
	size_t i = 0, line = 0;

	if (side->len == first->len && !memcmp(side->text, first->text, side->len))
		return;
	for (; first->text[i] && first->text[i] == side->text[i]; i++)
		if (first->text[i] == '\n')
			line = i + 1;
	side->differs = true;
	side->op = op;
	side->first = line_at(first->text + line);
	side->own = line_at(side->text + line);
}

/* Number of the operation that @c goes on with; 0: all are played. */
static uint32_t next_id(const struct compare *c)
{
	const struct player *p = &c->side[0].result.player;

	return p->next < p->ops->nr ? p->ops->ops[p->next].id : 0;
}

/* All kernels in step, while one of them is like the first. */
static int play_in_step(struct compare *c, char *err, size_t errlen)
{
	uint32_t id;
	int i, same, ret;

	for (same = c->nr - 1; same && (id = next_id(c)); ) {
		for (i = 0; i < c->nr; i++) {
			ret = play_op(&c->side[i], id, err, errlen);
			if (ret)
				return ret;
			if (!i || c->side[i].differs)
				continue;
			match(&c->side[0], &c->side[i], id);
			same -= c->side[i].differs;
		}
	}
	return 0;
}

static int begin(struct compare *c, const struct foliofs_kernel *k, char *err, size_t errlen)
{
	char text[3200];
	int i, ret;

	for (i = 0; i < c->nr; i++) {
		struct compare_side *side = &c->side[i];

		/* (What commits make durable is kept for the power cut at the end.) */
		ret = replay_begin(c->setup, &k[i],
				   c->setup->geometry.fs_type == FOLIOFS_FS_EXT4, &side->result, text,
				   sizeof(text));
		if (ret) {
			snprintf(err, errlen, "%s: %s", k[i].name, text);
			return ret;
		}
		memset(side->sink.wants, 1, sizeof(side->sink.wants));
		side->sink.event = on_event;
		side->sink.priv = side;
		foliofs_fs_add_sink(side->result.player.fs, &side->sink);
	}
	return 0;
}

int compare_run(struct compare *c, const struct replay_setup *s, const struct foliofs_kernel *k,
		int nr, char *err, size_t errlen)
{
	int i, ret;

	*err = 0;
	c->setup = s;
	c->nr = nr;
	c->side = calloc((size_t)nr, sizeof(*c->side));
	if (!c->side) {
		snprintf(err, errlen, "out of memory");
		return -ENOMEM;
	}
	ret = begin(c, k, err, errlen);
	if (!ret)
		ret = play_in_step(c, err, errlen);
	for (i = 0; i < nr && !ret; i++) {
		struct foliofs_sink *sink = &c->side[i].sink;

		memset(sink->wants, 0, sizeof(sink->wants));
		c->side[i].result.player.until = 0;
		ret = player_run(&c->side[i].result.player, err, errlen);
	}
	for (i = 0; i < nr; i++) {
		if (!c->side[i].result.player.fs)
			continue;
		compare_files_count(c->side[i].result.player.fs, &c->side[i].end);
		compare_files_cut(c->side[i].result.player.fs, &c->side[i].cut);
		replay_add_rules(&c->side[i].result, c->side[i].result.player.fs);
		replay_end(&c->side[i].result);
	}
	if (ret && !*err)
		snprintf(err, errlen, "%s", strerror(-ret));
	return ret;
}

void compare_free(struct compare *c)
{
	int i;

	for (i = 0; c->side && i < c->nr; i++) {
		free(c->side[i].text);
		free(c->side[i].first);
		free(c->side[i].own);
	}
	free(c->side);
}

bool compare_found(const struct compare *c)
{
	int i;

	for (i = 0; i < c->nr; i++)
		if (c->side[i].differs || c->side[i].result.nr_broken)
			return true;
	return false;
}
