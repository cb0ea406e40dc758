/* SPDX-License-Identifier: MIT */
/* Simulates a capture of a real kernel: the same specification on the model. */
#ifndef REPLAY_SIMULATE_H
#define REPLAY_SIMULATE_H

#include <foliofs/fs.h>

/*
 * Set of changes for the kernel a capture names: @release and @note as in its meta.yaml.
 * 0, or -EINVAL with a message.
 */
int simulate_kernel(const char *release, const char *note, struct foliofs_kernel *k, char *err,
		    size_t errlen);

/*
 * Play the operations of capture folder @dir (meta.yaml, prepare.txt, ops.txt) and write a
 * simulated capture to @out.  @kernel: NULL for the capture's.
 * 0, or a negative errno with a message.
 */
int simulate_capture(const char *dir, const char *out, const char *kernel, char *err,
		     size_t errlen);

#endif
