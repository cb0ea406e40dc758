// SPDX-License-Identifier: MIT
/* Calls of a strace log on names and attributes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/strace.h"

/* mkdir(path, mode), mkdirat(dirfd, path, mode) */
static int do_mkdir(struct strace *s, const struct strace_call *c, const struct strace_handler *h)
{
	struct foliofs_op op = { .kind = FOLIOFS_OP_MKDIR };
	unsigned int mode = (unsigned int)h->path + 1;
	char abs[PATH_MAX];
	const char *rel;
	int64_t v = 0777;

	if (strace_arg_path(s, c, h->dirfd, h->path, true, abs, &rel) ||
	    strace_arg_int(s, c, mode, &v))
		return -EINVAL;
	if (!rel)
		return STRACE_OUTSIDE;
	strace_node_make(s, rel, true);
	op.path = rel;
	op.mode = (uint32_t)v & 07777;
	strace_emit(s, &op, NULL, NULL);
	return STRACE_REPLAYED;
}

/* unlink(path), unlinkat(dirfd, path, flags), rmdir(path); a: kind */
static int do_remove(struct strace *s, const struct strace_call *c, const struct strace_handler *h)
{
	struct foliofs_op op = { .kind = (enum foliofs_op_kind)h->a };
	char abs[PATH_MAX];
	const char *rel;

	if (strace_arg_path(s, c, h->dirfd, h->path, false, abs, &rel))
		return -EINVAL;
	if (!rel)
		return STRACE_OUTSIDE;
	if (h->dirfd >= 0 && c->nr > 2 && strace_flag(c->args[2], "AT_REMOVEDIR"))
		op.kind = FOLIOFS_OP_RMDIR;
	strace_node_there(s, rel, op.kind == FOLIOFS_OP_RMDIR, "removed");
	strace_name_remove(s, rel);
	op.path = rel;
	strace_emit(s, &op, NULL, NULL);
	return STRACE_REPLAYED;
}

/* What two paths one of which is outside come to: the name inside is gone, or not explained. */
static int half_outside(struct strace *s, const struct strace_call *c, const char *rel)
{
	if (rel)
		strace_contradiction(s, "%s between the modelled file system and another: %s",
				     c->name, rel);
	return rel ? STRACE_UNMODELLED : STRACE_OUTSIDE;
}

/* rename(old, new), renameat(dirfd, old, dirfd, new), renameat2(..., flags) */
static int do_rename(struct strace *s, const struct strace_call *c, const struct strace_handler *h)
{
	struct foliofs_op op = { .kind = FOLIOFS_OP_RENAME };
	int dir2 = h->dirfd < 0 ? -1 : 2, path2 = h->dirfd < 0 ? 1 : 3;
	char abs[PATH_MAX], abs2[PATH_MAX], via[PATH_MAX];
	const char *rel, *rel2;

	if (strace_arg_path(s, c, h->dirfd, h->path, false, abs, &rel) ||
	    strace_arg_path(s, c, dir2, path2, false, abs2, &rel2))
		return -EINVAL;
	if (!rel || !rel2)
		return half_outside(s, c, rel ? rel : rel2);
	if (c->nr > 4 && strace_flag(c->args[4], "RENAME_EXCHANGE")) {
		/* The model has no such operation: known here by a third name for a moment. */
		if (snprintf(via, sizeof(via), "%s\1", rel) >= (int)sizeof(via))
			return STRACE_UNMODELLED;
		strace_name_rename(s, rel, via);
		strace_name_rename(s, rel2, rel);
		strace_name_rename(s, via, rel2);
		return STRACE_UNMODELLED;
	}
	op.path = rel;
	op.path2 = rel2;
	strace_emit(s, &op, NULL, NULL);
	strace_name_rename(s, rel, rel2);
	return STRACE_REPLAYED;
}

/* link(old, new), linkat(dirfd, old, dirfd, new, flags): of a descriptor too, for O_TMPFILE */
static int do_link(struct strace *s, const struct strace_call *c, const struct strace_handler *h)
{
	struct foliofs_op op = { .kind = FOLIOFS_OP_LINK };
	int dir2 = h->dirfd < 0 ? -1 : 2, path2 = h->dirfd < 0 ? 1 : 3;
	bool follow = c->nr > 4 && strace_flag(c->args[4], "AT_SYMLINK_FOLLOW");
	bool empty = c->nr > 4 && strace_flag(c->args[4], "AT_EMPTY_PATH");
	char abs[PATH_MAX], abs2[PATH_MAX];
	struct strace_desc *d = NULL;
	struct strace_fd *f;
	const char *rel, *rel2, *fd;

	if (strace_arg_path(s, c, dir2, path2, false, abs2, &rel2))
		return -EINVAL;
	if (empty) {
		if (strace_arg_file(s, c, 0, &d))
			return -EINVAL;
		rel = d ? d->node->path : NULL;
	} else {
		if (strace_arg_path(s, c, h->dirfd, h->path, follow, abs, &rel))
			return -EINVAL;
		fd = !strncmp(abs, "/proc/", 6) ? strstr(abs, "/fd/") : NULL;
		f = fd && follow ? strace_fd_find(s->proc->fds, atoll(fd + 4)) : NULL;
		if (f && f->desc->slot >= 0) {
			d = f->desc;
			rel = d->node->path;
		}
	}
	if (!rel || !rel2)
		return half_outside(s, c, rel ? rel : rel2);
	op.path = d ? NULL : rel;
	op.path2 = rel2;
	strace_emit(s, &op, d, NULL);
	strace_name_link(s, rel2, d ? d->node : strace_node_there(s, rel, false, "linked"));
	return STRACE_REPLAYED;
}

/* symlink(target, new), symlinkat(target, dirfd, new) */
static int do_symlink(struct strace *s, const struct strace_call *c,
		      const struct strace_handler *h)
{
	struct foliofs_op op = { .kind = FOLIOFS_OP_SYMLINK };
	char abs[PATH_MAX], target[PATH_MAX];
	struct strace_node *n;
	const char *rel;
	bool whole;

	if (strace_arg_path(s, c, h->dirfd, h->path, false, abs, &rel))
		return -EINVAL;
	if (!rel)
		return STRACE_OUTSIDE;
	if (strace_string(c->args[0], target, sizeof(target), &whole) < 0)
		return strace_bad_arg(s, c, 0, "a path in quotes");
	n = strace_node_make(s, rel, false);
	n->size = strlen(target);
	strace_name_find(s, rel)->target = trace_strdup(target);
	op.path = rel;
	op.path2 = target;
	strace_emit(s, &op, NULL, NULL);
	return STRACE_REPLAYED;
}

/* What @st, a struct stat or statx, says about @n. */
static void learn(struct strace *s, struct strace_node *n, struct strace_span st)
{
	struct strace_span mode, size;
	int64_t v;

	if (!strace_field(st, "st_mode", &mode) && !strace_field(st, "stx_mode", &mode))
		return;
	if (strace_flag(mode, "S_IFDIR")) {
		n->dir = true;
		return;
	}
	if (!strace_flag(mode, "S_IFREG"))
		return;
	if ((strace_field(st, "st_size", &size) || strace_field(st, "stx_size", &size)) &&
	    strace_int(size, &v) && v >= 0)
		strace_size_is(s, n, (uint64_t)v, "its size was asked for");
}

/*
 * Calls on a path, or on a descriptor if the path is empty or NULL.
 * a: kind; b: argument with the struct stat, or with the size of the attribute's value
 */
static int do_attr(struct strace *s, const struct strace_call *c, const struct strace_handler *h)
{
	struct foliofs_op op = { .kind = (enum foliofs_op_kind)h->a };
	bool whole, link = !strncmp(c->name, "lstat", 5), fd = h->path < 0;
	struct strace_desc *d = NULL;
	struct strace_node *n;
	char abs[PATH_MAX], word[2];
	const char *rel;
	int64_t v;

	for (unsigned int i = 0; i < c->nr; i++)
		link |= strace_flag(c->args[i], "AT_SYMLINK_NOFOLLOW");
	if (h->dirfd >= 0 && (unsigned int)h->path < c->nr)
		fd = c->args[h->path].s[0] == 'N' ||
		     !strace_string(c->args[h->path], word, sizeof(word), &whole);
	if (fd && (h->path < 0 || strncmp(c->args[0].s, "AT_FDCWD", 8))) {
		if (strace_arg_desc(s, c, 0, &d))
			return -EINVAL;
		if (!d || !d->node)
			return STRACE_OUTSIDE;
		n = d->node;
		if (d->slot < 0) { /* O_PATH */
			op.path = n->path;
			d = NULL;
		}
	} else {
		if (strace_arg_path(s, c, h->dirfd, h->path, !link, abs, &rel))
			return -EINVAL;
		if (!rel)
			return STRACE_OUTSIDE;
		n = strace_node_there(s, rel, false, "looked at");
		op.path = rel;
	}
	if (h->a == FOLIOFS_OP_STAT && (unsigned int)h->b < c->nr) {
		learn(s, n, c->args[h->b]);
	} else if (h->a == FOLIOFS_OP_SETXATTR) {
		if (strace_arg_int(s, c, (unsigned int)h->b, &v))
			return -EINVAL;
		op.len = (uint64_t)v;
	}
	strace_emit(s, &op, d, NULL);
	return STRACE_REPLAYED;
}

/* Calls that only look, or that do what the model does not need. */
static int do_passive(struct strace *s, const struct strace_call *c,
		      const struct strace_handler *h)
{
	struct strace_desc *d;
	char abs[PATH_MAX];
	const char *rel;

	if (h->path < 0) {
		if (strace_arg_desc(s, c, 0, &d))
			return -EINVAL;
		if (d && d->node && !strncmp(c->name, "getdents", 8))
			d->node->dir = true;
		return d && d->node ? STRACE_PASSIVE : STRACE_OUTSIDE;
	}
	if (strace_arg_path(s, c, h->dirfd, h->path, true, abs, &rel))
		return -EINVAL;
	return rel ? STRACE_PASSIVE : STRACE_OUTSIDE;
}

/* chdir(path), fchdir(fd), getcwd("path", size) */
static int do_chdir(struct strace *s, const struct strace_call *c, const struct strace_handler *h)
{
	struct strace_desc *d;
	char abs[PATH_MAX];
	const char *rel;

	if (h->path < 0) {
		if (strace_arg_desc(s, c, 0, &d))
			return -EINVAL;
		if (!d)
			return STRACE_OUTSIDE;
		if (d->node)
			snprintf(abs, sizeof(abs), "%s/%s", s->root,
				 strcmp(d->node->path, "/") ? d->node->path : "");
		else
			snprintf(abs, sizeof(abs), "%s", d->path ? d->path : "/");
		rel = d->node ? d->node->path : NULL;
	} else if (strace_arg_path(s, c, h->dirfd, h->path, true, abs, &rel)) {
		return -EINVAL;
	}
	if (!*abs)
		return STRACE_OUTSIDE;
	if (rel)
		strace_node_there(s, rel, true, "a working directory");
	strace_dir_set(s->proc, abs);
	return rel ? STRACE_PASSIVE : STRACE_OUTSIDE;
}

/* ioctl(fd, COMMAND, ...): cloning and the journal flag; others are not modelled. */
static int do_ioctl(struct strace *s, const struct strace_call *c, const struct strace_handler *h)
{
	struct foliofs_op op = { .kind = FOLIOFS_OP_REFLINK };
	struct strace_desc *d, *from;
	struct strace_call src = *c;
	struct strace_span f;
	int64_t v;

	(void)h;
	if (strace_arg_desc(s, c, 0, &d))
		return -EINVAL;
	if (!d || d->slot < 0)
		return STRACE_OUTSIDE;
	if (c->nr < 2)
		return strace_bad_arg(s, c, 1, "a command");
	if (strace_flag(c->args[1], "FS_IOC_GETFLAGS") || strace_flag(c->args[1], "TCGETS") ||
	    strace_flag(c->args[1], "FS_IOC_FIEMAP"))
		return STRACE_PASSIVE;
	if (c->nr < 3)
		return STRACE_UNMODELLED;
	if (strace_flag(c->args[1], "FS_IOC_SETFLAGS")) {
		bool on = strace_flag(c->args[2], "FS_JOURNAL_DATA_FL");

		if (on == d->node->journal_data)
			return STRACE_UNMODELLED;
		d->node->journal_data = on;
		op.kind = FOLIOFS_OP_SET_JOURNAL_FLAG;
		op.len = on;
		strace_emit(s, &op, d, NULL);
		return STRACE_REPLAYED;
	}
	src.args[0] = c->args[2];
	if (strace_flag(c->args[1], "FICLONERANGE") ||
	    strace_flag(c->args[1], "BTRFS_IOC_CLONE_RANGE")) {
		if (!strace_field(c->args[2], "src_fd", &src.args[0]))
			return STRACE_UNMODELLED;
		if (strace_field(c->args[2], "src_offset", &f) && strace_int(f, &v))
			op.off = (uint64_t)v;
		if (strace_field(c->args[2], "dest_offset", &f) && strace_int(f, &v))
			op.off2 = (uint64_t)v;
		if (strace_field(c->args[2], "src_length", &f) && strace_int(f, &v))
			op.len = (uint64_t)v;
	} else if (!strace_flag(c->args[1], "FICLONE") &&
		   !strace_flag(c->args[1], "BTRFS_IOC_CLONE")) {
		return STRACE_UNMODELLED;
	}
	if (strace_arg_file(s, &src, 0, &from))
		return -EINVAL;
	if (!from)
		return STRACE_UNMODELLED;
	if (!op.len)
		op.len = from->node->size > op.off ? from->node->size - op.off : 0;
	strace_size_grow(d->node, op.off2 + op.len);
	strace_emit(s, &op, from, d);
	return STRACE_REPLAYED;
}

#define ATTR(name, dirfd, path, kind, arg) { name, do_attr, dirfd, path, FOLIOFS_OP_##kind, arg }
#define LOOK(name, dirfd, path) { name, do_passive, dirfd, path, 0, 0 }

const struct strace_handler strace_dir_calls[] = {
	{ "mkdir", do_mkdir, -1, 0, 0, 0 },
	{ "mkdirat", do_mkdir, 0, 1, 0, 0 },
	{ "unlink", do_remove, -1, 0, FOLIOFS_OP_UNLINK, 0 },
	{ "unlinkat", do_remove, 0, 1, FOLIOFS_OP_UNLINK, 0 },
	{ "rmdir", do_remove, -1, 0, FOLIOFS_OP_RMDIR, 0 },
	{ "rename", do_rename, -1, 0, 0, 0 },
	{ "renameat", do_rename, 0, 1, 0, 0 },
	{ "renameat2", do_rename, 0, 1, 0, 0 },
	{ "link", do_link, -1, 0, 0, 0 },
	{ "linkat", do_link, 0, 1, 0, 0 },
	{ "symlink", do_symlink, -1, 1, 0, 0 },
	{ "symlinkat", do_symlink, 1, 2, 0, 0 },
	{ "chdir", do_chdir, -1, 0, 0, 0 },
	{ "fchdir", do_chdir, -1, -1, 0, 0 },
	{ "getcwd", do_chdir, -1, 0, 0, 0 },
	{ "ioctl", do_ioctl, -1, -1, 0, 0 },
	ATTR("stat", -1, 0, STAT, 1),
	ATTR("stat64", -1, 0, STAT, 1),
	ATTR("lstat", -1, 0, STAT, 1),
	ATTR("lstat64", -1, 0, STAT, 1),
	ATTR("fstat", -1, -1, STAT, 1),
	ATTR("fstat64", -1, -1, STAT, 1),
	ATTR("newfstatat", 0, 1, STAT, 2),
	ATTR("fstatat64", 0, 1, STAT, 2),
	ATTR("statx", 0, 1, STAT, 4),
	ATTR("chmod", -1, 0, SETATTR, 0),
	ATTR("fchmod", -1, -1, SETATTR, 0),
	ATTR("fchmodat", 0, 1, SETATTR, 0),
	ATTR("fchmodat2", 0, 1, SETATTR, 0),
	ATTR("utime", -1, 0, SETATTR, 0),
	ATTR("utimes", -1, 0, SETATTR, 0),
	ATTR("futimesat", 0, 1, SETATTR, 0),
	ATTR("utimensat", 0, 1, SETATTR, 0),
	ATTR("chown", -1, 0, CHOWN, 0),
	ATTR("lchown", -1, 0, CHOWN, 0),
	ATTR("fchown", -1, -1, CHOWN, 0),
	ATTR("fchownat", 0, 1, CHOWN, 0),
	ATTR("setxattr", -1, 0, SETXATTR, 3),
	ATTR("lsetxattr", -1, 0, SETXATTR, 3),
	ATTR("fsetxattr", -1, -1, SETXATTR, 3),
	LOOK("access", -1, 0),
	LOOK("faccessat", 0, 1),
	LOOK("faccessat2", 0, 1),
	LOOK("readlink", -1, 0),
	LOOK("readlinkat", 0, 1),
	LOOK("statfs", -1, 0),
	LOOK("fstatfs", -1, -1),
	LOOK("getxattr", -1, 0),
	LOOK("lgetxattr", -1, 0),
	LOOK("fgetxattr", -1, -1),
	LOOK("listxattr", -1, 0),
	LOOK("llistxattr", -1, 0),
	LOOK("flistxattr", -1, -1),
	LOOK("getdents", -1, -1),
	LOOK("getdents64", -1, -1),
	LOOK("flock", -1, -1),
	{ NULL, NULL, 0, 0, 0, 0 },
};
