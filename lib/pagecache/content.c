// SPDX-License-Identifier: MIT
/* Where bytes come from: see content.h. */
#include "content.h"

void ffs_content_write(struct ffs_runs *c, u64 pos, u64 end, u64 src)
{
	ffs_runs_set(c, pos, end, 0, src);
}

void ffs_content_zero(struct ffs_runs *c, u64 pos, u64 end)
{
	ffs_runs_set(c, pos, end, 0, FFS_SRC_ZERO);
}

void ffs_content_copy(struct ffs_runs *dst, u64 to, const struct ffs_runs *src, u64 from, u64 len,
		      u64 missing)
{
	u64 pos = from, end = from + len;
	struct ffs_runs_pos at;
	const struct ffs_run *r;

	ffs_runs_for_each(src, r, at, from, end) {
		u64 first = max(r->first, from), last = min(r->end, end);

		if (first > pos)
			ffs_runs_set(dst, to + (pos - from), to + (first - from), 0, missing);
		/* source offset = first + r->a, at first - from + to of the copy */
		ffs_runs_set(dst, to + (first - from), to + (last - from),
			     (u32)r->b ? r->a + from - to : 0, r->b);
		pos = last;
	}
	if (pos < end)
		ffs_runs_set(dst, to + (pos - from), to + len, 0, missing);
}

void ffs_content_clone(struct ffs_runs *dst, u64 to, const struct ffs_runs *src, u64 from, u64 len,
		       u32 ino)
{
	struct ffs_runs copy = { 0 }; /* @dst may be @src */
	struct ffs_runs_pos at;
	const struct ffs_run *r;

	ffs_content_copy(&copy, to, src, from, len, FFS_SRC_ZERO);
	ffs_runs_for_each(&copy, r, at, to, to + len)
		ffs_runs_set(dst, r->first, r->end, r->a,
			     (u32)r->b && r->b != FFS_SRC_UNKNOWN ?
				     (ffs_src(ffs_src_op(r->b), ino) | (r->b & FFS_SRC_STALE)) :
				     r->b);
	ffs_runs_free(&copy);
}

void ffs_content_stale(struct ffs_runs *c, u64 pos, u64 end)
{
	while (pos < end) {
		struct ffs_runs_pos at;
		const struct ffs_run *r = ffs_runs_at(c, pos, &at);
		struct ffs_run cut;

		if (!r || r->first >= end)
			return;
		cut = *r;
		cut.first = max(cut.first, pos);
		cut.end = min(cut.end, end);
		if (cut.b != FFS_SRC_ZERO && !(cut.b & FFS_SRC_STALE))
			ffs_runs_set(c, cut.first, cut.end, cut.a, cut.b | FFS_SRC_STALE);
		pos = cut.end;
	}
}
