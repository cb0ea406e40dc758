// SPDX-License-Identifier: MIT
/* Copies of this process: see children.h. */
#include "scenario/children.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

void children_init(struct children *c,
		   void (*said)(void *priv, const struct child *c, const char *text, size_t len,
				int status), void *priv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	*c = (struct children){ .said = said, .priv = priv };
	c->max = cpus < 1 ? 1 : cpus > CHILDREN_MAX ? CHILDREN_MAX : (unsigned int)cpus;
}

/* The first one that was started: its text, until it is over. */
static void wait_first(struct children *c)
{
	struct child first = c->running[0];
	char *text = NULL;
	size_t len = 0;
	FILE *all = open_memstream(&text, &len);
	char buf[4096];
	ssize_t n;
	int status = -1;
	unsigned int i;

	while ((n = read(first.fd, buf, sizeof(buf))) > 0 || (n < 0 && errno == EINTR))
		if (all && n > 0)
			fwrite(buf, 1, (size_t)n, all);
	close(first.fd);
	while (waitpid(first.pid, &status, 0) < 0 && errno == EINTR)
		;
	if (all)
		fclose(all);
	c->nr--;
	for (i = 0; i < c->nr; i++)
		c->running[i] = c->running[i + 1];
	c->said(c->priv, &first, text ? text : "", text ? len : 0, all ? status : -1);
	free(text);
}

int children_start(struct children *c, unsigned int kind, unsigned int nth, FILE **out)
{
	int fd[2], pid;
	unsigned int i;

	*out = NULL;
	while (c->nr >= c->max)
		wait_first(c);
	if (pipe(fd))
		return -errno;
	pid = fork();
	if (pid < 0) {
		close(fd[0]);
		close(fd[1]);
		return -errno;
	}
	if (!pid) {
		close(fd[0]);
		for (i = 0; i < c->nr; i++)
			close(c->running[i].fd);
		*out = fdopen(fd[1], "w");
		if (!*out)
			_exit(4);
		return 0;
	}
	close(fd[1]);
	c->running[c->nr++] = (struct child){ .fd = fd[0], .pid = pid, .kind = kind, .nth = nth };
	return 0;
}

void children_end(FILE *out)
{
	/* Buffers of other files are those of the parent, too. */
	_exit(fclose(out) ? 4 : 0);
}

void children_wait(struct children *c)
{
	while (c->nr)
		wait_first(c);
}
