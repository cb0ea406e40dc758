// SPDX-License-Identifier: MIT
/* Requests of reads, as the elevator makes them of bios: see requests.h. */
#include "requests.h"

void ffs_requests_done(struct ffs_super *sb)
{
	if (sb->request_bytes)
		ffs_emit(&sb->env, foliofs_request, sb->request_addr >> 9, sb->request_bytes >> 9);
	sb->request_bytes = 0;
}

void ffs_request_add(struct ffs_super *sb, u64 addr, u64 bytes)
{
	if (sb->request_bytes && sb->request_addr + sb->request_bytes != addr)
		ffs_requests_done(sb);
	if (!sb->request_bytes)
		sb->request_addr = addr;
	sb->request_bytes += bytes;
}

void ffs_request_meta(struct ffs_super *sb, u64 addr, u64 bytes)
{
	ffs_request_add(sb, addr, bytes);
	ffs_requests_done(sb);
}
