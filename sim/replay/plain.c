// SPDX-License-Identifier: MIT
/* Traces that are no capture folders: see plain.h. */
#include "plain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "result.h"

static int simulate(struct plain_trace *p, const char *out, char *err, size_t errlen)
{
	const struct replay_outputs outputs = { .capture = out };
	struct replay_result *r = calloc(1, sizeof(*r));
	struct foliofs_kernel k[REPLAY_KERNELS];
	struct replay_setup s;
	int ret;

	if (!r)
		abort();
	ret = replay_load(&p->args, p->ops, &s, err, errlen);
	if (ret) {
		free(r);
		return -EINVAL;
	}
	ret = replay_kernels(&p->args, "v6.18", k, err, errlen);
	if (ret > 1)
		snprintf(err, errlen, "--kernel: expected one kernel");
	ret = ret == 1 ? replay_run(&s, k, &outputs, r, err, errlen) : -EINVAL;
	replay_setup_free(&s);
	free(r);
	return ret;
}

/* "dev: "7,40"" of a meta.yaml. */
static void device_of(const char *meta, char *dev, size_t len)
{
	struct piece line, w;
	struct text t;
	size_t at = 0;

	*dev = '\0';
	if (!meta || text_read(meta, &t))
		return;
	while (text_line(&t, &at, &line)) {
		if (!piece_word(&line, &w) || !piece_is(w, "dev:") || !piece_word(&line, &w))
			continue;
		if (w.len > 2 && *w.s == '"')
			w = (struct piece){ w.s + 1, w.len - 2 };
		snprintf(dev, len, "%.*s", (int)(w.len < len ? w.len : len - 1), w.s);
	}
	text_free(&t);
}

int plain_conform(struct plain_trace *p, const char *out, struct conform_result *r, char *err,
		  size_t errlen)
{
	char dev[32];
	int ret = simulate(p, out, err, errlen);

	if (ret)
		return ret;
	device_of(p->args.geometry.meta, dev, sizeof(dev));
	ret = conform_compare(p->trace, out, p->dev ? p->dev : dev, r);
	if (!ret && !r->align.events && !r->lost_kernel) {
		if (r->foreign)
			snprintf(r->error, sizeof(r->error),
				 "no event of device %s, but %llu of others (--dev)",
				 p->dev ? p->dev : dev, (unsigned long long)r->foreign);
		else
			snprintf(r->error, sizeof(r->error),
				 "no event that is compared: expected lines such as \"oprun-1 [000] "
				 "..... 1.0: ext4_writepages: dev 7,40 ino 12 ...\"");
		ret = -EINVAL;
	}
	if (ret) {
		snprintf(err, errlen, "%s: %s", p->trace, r->error);
		conform_free(r);
	}
	return ret ? -EINVAL : 0;
}
