// SPDX-License-Identifier: MIT
/* Plays a list of operations: see player.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "player.h"

int player_prepare(struct foliofs_fs *fs, const struct opvec *ops, uint64_t *end_ns, char *err,
		   size_t errlen)
{
	const struct foliofs_op sync = { .kind = FOLIOFS_OP_SYNC, .file = -1, .file2 = -1 };
	uint32_t i;

	foliofs_fs_mute(fs, true);
	for (i = 0; i < ops->nr; i++) {
		int64_t ret = foliofs_fs_run(fs, &ops->ops[i]);

		*end_ns = ops->ops[i].time_ns;
		if (ret < 0 && foliofs_fs_error(fs)[0]) {
			snprintf(err, errlen, "prepare operation %u: %s", ops->ops[i].id,
				 foliofs_fs_error(fs));
			return -EINVAL;
		}
	}
	foliofs_fs_run(fs, &sync);
	foliofs_fs_mute(fs, false);
	return 0;
}

/* Result of a marked operation: that of its last call, or the first error. */
struct result {
	uint32_t id;
	int64_t value;
	bool open;
};

static void end_of_op(struct player *p, struct result *r)
{
	if (r->open && p->capture)
		capture_result(p->capture, r->id, r->value);
	r->open = false;
}

static void keep_failure(struct player *p, const struct foliofs_op *op, const char *text,
			 int64_t ret)
{
	const char *why = foliofs_fs_error(p->fs);
	struct player_failure *f;

	if (*why && !p->refused++)
		snprintf(p->first_refused, sizeof(p->first_refused), "operation %u: %s", op->id,
			 why);
	if (p->failed++ >= PLAYER_FAILURES)
		return;
	f = &p->failure[p->failed - 1];
	f->id = op->id;
	f->text = text;
	f->error = (int)ret;
	snprintf(f->why, sizeof(f->why), "%.*s", (int)sizeof(f->why) - 1, why);
}

void player_prepared(struct capture *c, const struct opvec *ops)
{
	uint32_t i;

	for (i = 0; i < ops->nr; i++)
		if (ops->texts[i])
			capture_prepared(c, ops->ops[i].id, ops->texts[i]);
}

int player_run(struct player *p, char *err, size_t errlen)
{
	struct result r = { 0 };
	const char *text = "";

	for (; p->next < p->ops->nr; p->next++) {
		struct foliofs_op op = p->ops->ops[p->next];
		int64_t ret;

		if (p->until && op.id > p->until)
			break;
		op.time_ns += p->base_ns;
		if (p->ops->texts[p->next]) {
			text = p->ops->texts[p->next];
			end_of_op(p, &r);
			if (p->capture)
				capture_op(p->capture, op.id, text, op.time_ns);
			if (p->recorder)
				recorder_op(p->recorder, op.id, text, op.time_ns);
			r = (struct result){ .id = op.id, .open = true };
		}
		p->last_ns = op.time_ns;
		ret = foliofs_fs_run(p->fs, &op);
		p->played++;
		if (p->played_op)
			p->played_op(p->priv, &op, ret);
		if (r.value >= 0)
			r.value = ret;
		if (ret < 0)
			keep_failure(p, &op, text, ret);
		if (op.kind == FOLIOFS_OP_CRASH && p->capture) {
			int e = capture_crash(p->capture, op.path);

			if (e) {
				snprintf(err, errlen, "crash %s: %s", op.path, strerror(-e));
				return e;
			}
		}
	}
	end_of_op(p, &r);
	return 0;
}
