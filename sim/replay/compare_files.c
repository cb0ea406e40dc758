// SPDX-License-Identifier: MIT
/* Sums over all files of a file system: see compare_files.h. */
#include "compare_files.h"

#include <sys/stat.h>

struct walk {
	struct foliofs_fs *fs;
	struct compare_files *to;
};

static void content(void *priv, const struct foliofs_content *c)
{
	struct compare_files *to = priv;

	if (c->kind == FOLIOFS_SOURCE_OP)
		to->data += c->len;
}

static void name(void *priv, const char *path, uint32_t ino, uint32_t mode)
{
	struct walk *w = priv;
	struct foliofs_stat st;

	(void)path;
	if (!S_ISREG(mode) || foliofs_fs_stat_ino(w->fs, ino, &st))
		return;
	w->to->files++;
	w->to->size += st.size;
	w->to->space += st.sectors * 512;
	foliofs_fs_for_each_content(w->fs, ino, content, w->to);
}

void compare_files_count(struct foliofs_fs *fs, struct compare_files *c)
{
	struct walk w = { .fs = fs, .to = c };

	*c = (struct compare_files){ .known = true };
	foliofs_fs_for_each_name(fs, name, &w);
}

void compare_files_cut(const struct foliofs_fs *fs, struct compare_files *c)
{
	struct foliofs_fs *after;

	*c = (struct compare_files){ .known = false };
	if (foliofs_fs_geometry(fs)->fs_type != FOLIOFS_FS_EXT4 || foliofs_fs_crash(fs, &after))
		return;
	compare_files_count(after, c);
	foliofs_fs_free(after);
}
