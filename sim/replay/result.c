// SPDX-License-Identifier: MIT
/* One trace on one kernel: see result.h. */
#define _GNU_SOURCE
#include "result.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "show.h"

void replay_add_rules(struct replay_result *r, const struct foliofs_fs *fs)
{
	const struct foliofs_broken *b;
	size_t i, k, nr = foliofs_fs_broken(fs);

	r->nr_broken += nr;
	for (i = 0; i < nr && (b = foliofs_fs_broken_at(fs, i)); i++) {
		for (k = 0; k < r->nr_rules && r->broken[k].rule != b->rule; k++)
			;
		if (k == r->nr_rules) {
			r->broken[k] = *b;
			r->nr_rules++;
		}
		r->times[k]++;
	}
}

const char *replay_errno(int negative, char buf[24])
{
	const char *name = strerrorname_np(-negative);

	if (name)
		return name;
	snprintf(buf, 24, "errno %d", -negative);
	return buf;
}

struct run {
	struct player *p;
	struct replay_result *r;
	const struct replay_setup *s;
	char *err;
	size_t errlen;
};

/* Play up to operation @until (0: all of it). */
static int play(struct run *x, uint32_t until)
{
	x->p->until = until;
	return player_run(x->p, x->err, x->errlen);
}

/* Play, and print the state around operation @id. */
static int play_around(struct run *x, uint32_t id)
{
	const struct opvec *v = x->p->ops;
	struct show show;
	uint32_t i;
	int ret;

	if (v->nr && v->ops[0].id < id) {
		ret = play(x, id - 1);
		if (ret)
			return ret;
	}
	i = x->p->next;
	if (i == v->nr || v->ops[i].id != id) {
		snprintf(x->err, x->errlen, "--show: the trace has no operation %u (last: %u)", id,
			 v->nr ? v->ops[v->nr - 1].id : 0);
		return -EINVAL;
	}
	ret = show_begin(&show, x->p->fs);
	if (ret)
		return ret;
	foliofs_fs_add_sink(x->p->fs, &show.sink);
	ret = play(x, id);
	printf("operation %u: %s (line %u of the trace)\n", id,
	       v->texts[i] ? v->texts[i] : foliofs_op_name(v->ops[i].kind), v->lines[i]);
	show_end(&show, stdout);
	printf("\n");
	return ret;
}

/* Power cut behind operation @id: what is left. */
static int crash_after(struct run *x, uint32_t id)
{
	struct foliofs_fs *after;
	int ret = play(x, id);

	if (!ret)
		ret = foliofs_fs_crash(x->p->fs, &after);
	if (ret)
		return ret;
	printf("power cut after operation %u: files after recovery\n", id);
	show_state(stdout, after);
	printf("\n");
	replay_add_rules(x->r, after);
	foliofs_fs_free(after);
	return 0;
}

static int play_all(struct run *x, const struct replay_outputs *out)
{
	int ret = 0;

	if (out->show)
		ret = play_around(x, out->show);
	if (!ret && out->crash_after)
		ret = crash_after(x, out->crash_after);
	if (!ret && (!out->until || out->until > x->p->until))
		ret = play(x, out->until);
	return ret;
}

static int with_recorder(struct run *x, const struct replay_outputs *out)
{
	bool use_stdout = !strcmp(out->events, "-");
	const struct foliofs_geometry *g = &x->s->geometry;
	struct recorder_options ro = { .dev = "7,40", .page_size = g->page_size, .own = true };
	FILE *f = use_stdout ? stdout : fopen(out->events, "w");
	int ret, end;

	if (!f) {
		snprintf(x->err, x->errlen, "%s: %s", out->events, strerror(errno));
		return -EIO;
	}
	x->p->recorder = recorder_new(f, &x->r->kernel, &ro);
	foliofs_fs_add_sink(x->p->fs, recorder_sink(x->p->recorder));
	ret = play_all(x, out);
	end = recorder_end(x->p->recorder, x->p->last_ns);
	foliofs_fs_mute(x->p->fs, true);
	recorder_free(x->p->recorder);
	x->p->recorder = NULL;
	if (!use_stdout && fclose(f))
		end = -errno;
	if (!ret && end) {
		snprintf(x->err, x->errlen, "%s: %s", out->events, strerror(-end));
		ret = end == -EINVAL ? -EIO : end;
	}
	return ret;
}

static int with_capture(struct run *x, const struct replay_outputs *out)
{
	const struct geometry_args *g = &x->s->args->geometry;
	struct capture_options options = { .name = "simulated", .desc = x->s->path,
					   .mkfs = g->mkfs, .mount = g->mount };
	char err[200];
	int ret, end;

	if (!out->capture)
		return out->events ? with_recorder(x, out) : play_all(x, out);
	if (!g->meta) { /* no capture of a kernel: every file, by any name */
		options.deep = true;
		options.skip_files = "";
	}
	ret = capture_open(&x->p->capture, out->capture, x->p->fs, &options, x->err, x->errlen);
	if (ret)
		return ret == -EINVAL ? -EIO : ret;
	if (x->s->have_prepare)
		player_prepared(x->p->capture, &x->s->prepare.v);
	foliofs_fs_add_sink(x->p->fs, capture_sink(x->p->capture));
	ret = out->events ? with_recorder(x, out) : play_all(x, out);
	foliofs_fs_mute(x->p->fs, false);
	replay_add_rules(x->r, x->p->fs); /* before the unmount */
	end = capture_close(x->p->capture, ret ? err : x->err, ret ? sizeof(err) : x->errlen);
	return ret ? ret : end;
}

int replay_begin(const struct replay_setup *s, const struct foliofs_kernel *k,
		 bool crash_states, struct replay_result *r, char *err, size_t errlen)
{
	int ret;

	memset(r, 0, sizeof(*r));
	*err = 0;
	r->kernel = *k;
	r->player.ops = &s->trace.v;
	stats_init(&r->stats);
	ret = replay_start(s, k, crash_states, &r->player.fs, &r->player.base_ns, err, errlen);
	if (ret)
		return -EINVAL;
	foliofs_fs_add_sink(r->player.fs, &r->stats.sink);
	return 0;
}

void replay_end(struct replay_result *r)
{
	struct foliofs_journal_state j;

	foliofs_fs_journal(r->player.fs, &j);
	r->journal_error = j.error > 0 ? -j.error : j.error;
	foliofs_fs_free(r->player.fs);
	r->player.fs = NULL;
	r->player.capture = NULL;
}

int replay_run(const struct replay_setup *s, const struct foliofs_kernel *k,
	       const struct replay_outputs *out, struct replay_result *r, char *err,
	       size_t errlen)
{
	struct run x = { &r->player, r, s, err, errlen };
	int ret = replay_begin(s, k, out->crash_after != 0, r, err, errlen);

	if (ret)
		return ret;
	ret = with_capture(&x, out);
	if (!out->capture)
		replay_add_rules(r, r->player.fs);
	replay_end(r);
	if (ret && !*err)
		snprintf(err, errlen, "%s", strerror(-ret));
	return ret;
}
