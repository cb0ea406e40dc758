// SPDX-License-Identifier: MIT
/* Simulates a capture of a real kernel: see simulate.h. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "geometry/geometry_meta.h"
#include "player.h"
#include "simulate.h"

int simulate_kernel(const char *release, const char *note, struct foliofs_kernel *k, char *err,
		    size_t errlen)
{
	char spec[128];

	/*
	 * Distribution kernels before v6.18 were built with IMA and EVM (create asks for two
	 * security attributes); a note tells of the build without the worst-case depth.
	 */
	if (!strncmp(release, "6.12", 4))
		snprintf(spec, sizeof(spec), "%s+integrity",
			 strstr(note, "depth") ? "v6.12-depth" : release);
	else if (!strncmp(release, "6.1.", 4))
		snprintf(spec, sizeof(spec), "v6.1-stable+integrity");
	else
		snprintf(spec, sizeof(spec), "%s", release);
	return foliofs_kernel_parse(spec, k, err, errlen);
}

static int load_ops(const char *dir, const char *name, bool needed, struct trace *t, char *err,
		    size_t errlen)
{
	const struct trace_options opt = { .format = TRACE_OPLIST };
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (!needed && access(path, R_OK)) {
		memset(t, 0, sizeof(*t));
		return 1;
	}
	return trace_load(path, &opt, t, err, errlen);
}

static int play(struct foliofs_fs *fs, const char *dir, const char *out, bool busy_prepare,
		char *err, size_t errlen)
{
	struct trace prepare, ops;
	struct player p = { .fs = fs, .ops = &ops.v };
	const struct capture_options options = { .name = "simulated" };
	int ret = load_ops(dir, "prepare.txt", false, &prepare, err, errlen);

	if (ret < 0)
		return ret;
	foliofs_fs_set_busy(fs, busy_prepare);
	if (!ret)
		ret = player_prepare(fs, &prepare.v, &p.base_ns, err, errlen);
	else
		ret = 0; /* there is none */
	foliofs_fs_set_busy(fs, false);
	if (!ret)
		ret = load_ops(dir, "ops.txt", true, &ops, err, errlen);
	if (ret) {
		trace_free(&prepare);
		return ret;
	}
	ret = capture_open(&p.capture, out, fs, &options, err, errlen);
	if (!ret) {
		player_prepared(p.capture, &prepare.v);
		foliofs_fs_add_sink(fs, capture_sink(p.capture));
		ret = player_run(&p, err, errlen);
		if (!ret)
			ret = capture_close(p.capture, err, errlen);
	}
	trace_free(&prepare);
	trace_free(&ops);
	return ret;
}

int simulate_capture(const char *dir, const char *out, const char *kernel, char *err,
		     size_t errlen)
{
	const struct foliofs_options options = {
		.crash_states = true,
		/* The machines of the captures did not grant it. */
		.no_sys_resource = true,
	};
	struct geometry_meta meta;
	struct foliofs_geometry g;
	struct foliofs_kernel k;
	struct foliofs_fs *fs;
	char path[4096];
	bool busy;
	int ret;

	snprintf(path, sizeof(path), "%s/meta.yaml", dir);
	ret = geometry_meta_load(path, &meta, &g, err, errlen);
	if (ret)
		return ret;
	ret = kernel ? foliofs_kernel_parse(kernel, &k, err, errlen) :
		       simulate_kernel(meta.kernel, meta.kernel_note, &k, err, errlen);
	/* The emulated machine of the 6.1 captures had one processor, the others two or more. */
	if (!g.cpus && !strncmp(meta.kernel, "6.1.", 4))
		g.cpus = 1;
	/*
	 * Kernels before 6.18 ran in an emulated machine.  A preparation has no pauses: there
	 * the commits that it does not wait for did not end beside it, on the real one they did.
	 */
	busy = !strncmp(meta.kernel, "6.1.", 4) || !strncmp(meta.kernel, "6.12.", 5);
	geometry_meta_free(&meta);
	if (!ret)
		ret = foliofs_fs_new(&k, &g, &options, &fs, err, errlen);
	if (ret)
		return ret;
	ret = play(fs, dir, out, busy, err, errlen);
	foliofs_fs_free(fs);
	return ret;
}
