/* SPDX-License-Identifier: MIT */
/*
 * What a reader makes the device do: bios that follow each other while a task plugs are
 * one request (blk_attempt_plug_merge, back merges).  Told as foliofs_request, each when it is
 * complete; so their number is that of completions, and their order the head's way.
 */
#ifndef FFS_REQUESTS_H
#define FFS_REQUESTS_H

#include "super.h"

/* A bio of @bytes at @addr of the device is sent. */
void ffs_request_add(struct ffs_super *sb, u64 addr, u64 bytes);
/* The task waits, or unplugs. */
void ffs_requests_done(struct ffs_super *sb);
/* A block of a map is read, and waited for. */
void ffs_request_meta(struct ffs_super *sb, u64 addr, u64 bytes);

#endif
