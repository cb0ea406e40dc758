// SPDX-License-Identifier: MIT
/*
 * Files and directories that a trace finds: made by ordinary operations, without
 * events, and synced.
 */
#include "fs.h"
#include "rules/truth.h"

static int quietly(struct foliofs_fs *fs, const struct foliofs_op *op)
{
	s64 ret = ffs_run_op(&fs->ops, op);

	if (fs->options.rules)
		ffs_truth_op(fs, op, ret);
	return ret < 0 ? (int)ret : 0;
}

int foliofs_fs_preexisting_dir(struct foliofs_fs *fs, const char *path)
{
	bool muted = fs->ops.sb.env.muted;
	int err;

	if (ffs_lookup(&fs->ops, path))
		return 0;
	fs->ops.sb.env.muted = true;
	err = ffs_mkdir(&fs->ops, path, 0755);
	fs->ops.sb.env.muted = muted;
	return err;
}

int foliofs_fs_preexisting(struct foliofs_fs *fs, const char *path, uint64_t size, uint32_t source)
{
	bool muted = fs->ops.sb.env.muted;
	s32 slot = (s32)fs->ops.nr_files;
	const struct foliofs_op ops[] = {
		{ .kind = FOLIOFS_OP_OPEN, .id = source, .file = slot, .path = path,
		  .flags = FOLIOFS_O_CREAT, .mode = 0644 },
		{ .kind = FOLIOFS_OP_WRITE, .id = source, .file = slot, .len = size },
		{ .kind = FOLIOFS_OP_FSYNC, .id = source, .file = slot },
		{ .kind = FOLIOFS_OP_FADVISE, .id = source, .file = slot,
		  .flags = FOLIOFS_FADV_DONTNEED },
		{ .kind = FOLIOFS_OP_CLOSE, .id = source, .file = slot },
	};
	int err = 0;
	size_t i;

	fs->ops.sb.env.muted = true;
	for (i = 0; i < ARRAY_SIZE(ops) && !err; i++)
		if (ops[i].kind != FOLIOFS_OP_WRITE || size)
			err = quietly(fs, &ops[i]);
	fs->ops.sb.env.muted = muted;
	return err;
}
