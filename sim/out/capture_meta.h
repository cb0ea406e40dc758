/* SPDX-License-Identifier: MIT */
/* meta.yaml of a simulated capture. */
#ifndef OUT_CAPTURE_META_H
#define OUT_CAPTURE_META_H

#include <stdio.h>

#include "capture.h"
#include "recorder.h"

/* @fs: to list the files; @r: the events that were recorded. */
void capture_meta_print(FILE *out, const struct capture_options *opt, const struct foliofs_fs *fs,
			const struct recorder *r);

#endif
