// SPDX-License-Identifier: MIT
/*
 * Paths of a strace log: what an argument stands for, see strace.h.
 *
 * SIMPLIFIED: paths are taken as written, with . and .. removed; of symbolic links only those made
 * in the log are followed.  (With -y, strace says what a descriptor really stands for, and that is
 * used.)
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "trace/strace.h"

#define LINKS_MAX 40 /* as the kernel follows at most */

const char *strace_below_root(const struct strace *s, const char *abs)
{
	static const char *const other[] = { "/proc", "/sys", "/dev", "/run" };
	size_t len = strlen(s->root);

	if (strncmp(abs, s->root, len) || (abs[len] && abs[len] != '/'))
		return NULL;
	for (size_t i = 0; !len && i < sizeof(other) / sizeof(other[0]); i++) {
		size_t n = strlen(other[i]);

		if (!strncmp(abs, other[i], n) && (!abs[n] || abs[n] == '/'))
			return NULL;
	}
	abs += len;
	return abs[strspn(abs, "/")] ? abs + strspn(abs, "/") : "/";
}

/* Remove //, . and .. from an absolute path, in place. */
static void normalize(char *path)
{
	char *to = path, *from = path;

	while (*from) {
		size_t len;

		from += strspn(from, "/");
		len = strcspn(from, "/");
		if (len == 2 && from[0] == '.' && from[1] == '.') {
			while (to > path && *--to != '/')
				;
		} else if (len && !(len == 1 && from[0] == '.')) {
			*to++ = '/';
			memmove(to, from, len);
			to += len;
		}
		from += len;
	}
	if (to == path)
		*to++ = '/';
	*to = '\0';
}

/* Replace the first component that is a symbolic link made in the trace.  Was there one? */
static bool follow_one(const struct strace *s, char abs[PATH_MAX], bool last)
{
	char buf[PATH_MAX];
	struct strace_name *n;
	const char *rel;
	size_t end = 0;
	int len;

	while (abs[end]) {
		end += 1 + strcspn(abs + end + 1, "/");
		if (!abs[end] && !last)
			break;
		snprintf(buf, sizeof(buf), "%.*s", (int)end, abs);
		rel = strace_below_root(s, buf);
		n = rel ? strace_name_find(s, rel) : NULL;
		if (!n || !n->target)
			continue;
		if (*n->target == '/')
			len = snprintf(buf, sizeof(buf), "%s%s", n->target, abs + end);
		else
			len = snprintf(buf, sizeof(buf), "%.*s/../%s%s", (int)end, abs, n->target,
				       abs + end);
		if (len < 0 || (size_t)len >= sizeof(buf))
			return false;
		memcpy(abs, buf, (size_t)len + 1);
		normalize(abs);
		return true;
	}
	return false;
}

/* What directory argument @dirfd stands for, as traced; @unused: the path is absolute. */
static int base_dir(struct strace *s, const struct strace_call *c, int dirfd, char buf[PATH_MAX],
		    bool unused, bool *known)
{
	bool cwd = dirfd < 0 || ((unsigned int)dirfd < c->nr && c->args[dirfd].len >= 8 &&
				 !strncmp(c->args[dirfd].s, "AT_FDCWD", 8));
	struct strace_desc *d = NULL;

	*known = true;
	if (unused && !cwd)
		return 0;
	if (dirfd >= 0 && strace_arg_desc(s, c, (unsigned int)dirfd, &d))
		return -EINVAL;
	if (d && d->node)
		snprintf(buf, PATH_MAX, "%s/%s", s->root, d->node->path);
	else if (d && d->path)
		snprintf(buf, PATH_MAX, "%s", d->path);
	else if (!cwd)
		*known = false;
	else if (s->proc->cwd->path)
		snprintf(buf, PATH_MAX, "%s", s->proc->cwd->path);
	else if (!unused) {
		if (!s->assumed_cwd)
			trace_note(s->t,
				   "line %u: the working directory is not known, taken to be %s",
				   s->w.line, *s->root ? s->root : "/");
		s->assumed_cwd = true;
		snprintf(buf, PATH_MAX, "%s/", s->root);
	}
	return 0;
}

int strace_arg_path(struct strace *s, const struct strace_call *c, int dirfd, int path,
		    bool follow, char abs[PATH_MAX], const char **rel)
{
	char word[PATH_MAX], base[PATH_MAX];
	bool whole = false, known = true;
	unsigned int arg = (unsigned int)path;
	int len;

	*rel = NULL;
	*abs = '\0';
	if (arg < c->nr && c->args[arg].len == 4 && !strncmp(c->args[arg].s, "NULL", 4))
		word[0] = '\0'; /* the descriptor itself */
	else if (arg >= c->nr || strace_string(c->args[arg], word, sizeof(word), &whole) < 0)
		return strace_bad_arg(s, c, arg, "a path in quotes");
	else if (!whole)
		return 0; /* cut by strace: cannot be followed */
	/* Even before an absolute path, AT_FDCWD</mnt> tells where the process is. */
	if (base_dir(s, c, dirfd, base, *word == '/', &known))
		return -EINVAL;
	if (*word == '/') {
		snprintf(abs, PATH_MAX, "%s", word);
	} else {
		len = known ? snprintf(abs, PATH_MAX, "%s/%s", base, word) : 0;
		if (len <= 0 || len >= PATH_MAX) {
			*abs = '\0';
			return 0;
		}
	}
	normalize(abs);
	for (int i = 0; i < LINKS_MAX && follow_one(s, abs, follow); i++)
		;
	*rel = strace_below_root(s, abs);
	return 0;
}
