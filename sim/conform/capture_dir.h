/* SPDX-License-Identifier: MIT */
/*
 * What a capture folder says about itself, as far as a comparison or a report
 * needs it: meta.yaml, ops.txt, spec.txt and DETERMINISM.txt beside the folder.
 * Lenient: a file that is missing leaves its part empty.
 */
#ifndef CONFORM_CAPTURE_DIR_H
#define CONFORM_CAPTURE_DIR_H

#include "text.h"

struct capture_dir {
	char name[128]; /* of the folder */
	char level[32]; /* how far two runs of the kernel agree: "same" if unknown */
	char kernel[96], desc[256], mke2fs[512], mount[256], dev[32];
	uint64_t page_size, block_size, image_size, journal_blocks, max_transaction_blocks;
	char **recorded; /* names of the events recorded; NULL: not known */
	size_t nr_recorded;
	char **ops; /* text of operation n, NULL where there is none */
	size_t nr_ops;
	char skip_files[256]; /* files left out of states, separated by blanks */
};

/* 0, or a negative errno where a file is there and cannot be read. */
int capture_dir_read(struct capture_dir *c, const char *dir);
/* True if the kernel recorded events of that name (or it is not known). */
bool capture_dir_recorded(const struct capture_dir *c, const char *event);
/* Text of an operation, "" if not known. */
const char *capture_dir_op(const struct capture_dir *c, uint32_t op);
void capture_dir_free(struct capture_dir *c);

#endif
