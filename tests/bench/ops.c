// SPDX-License-Identifier: MIT
/*
 * How fast the model is: a million generated operations on one file of 1 GB with 1K blocks,
 * straight through the library, rules on.
 *
 *	bench_ops [-n OPERATIONS] [-k KERNEL] [-b BLOCK_SIZE] [-s SEED] [-r]
 *
 *	-r	without rules
 *
 * Of 100 operations 50 are writes (half of them go on where the last one ended, 512 bytes to
 * 16 KB), 40 reads (up to 64 KB, anywhere), 4 truncates (within the last sixteenth of the file,
 * down or up), 6 fsyncs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <foliofs/fs.h>
#include <foliofs/mkfs.h>
#include <foliofs/rules.h>

#define FILE_SIZE (1ull << 30)
#define STEP_NS 100000u /* between operations */

struct generator {
	uint64_t state, next, size; /* next: where a sequential write goes on */
};

/* xorshift: the same numbers on every machine */
static uint64_t draw(struct generator *g, uint64_t below)
{
	g->state ^= g->state << 13;
	g->state ^= g->state >> 7;
	g->state ^= g->state << 17;
	return g->state % below;
}

static void generate(struct generator *g, struct foliofs_op *op)
{
	uint64_t what = draw(g, 100);

	op->off = op->len = 0;
	if (what < 50) {
		op->kind = FOLIOFS_OP_WRITE;
		op->len = 512 + draw(g, 16 * 1024 - 512);
		op->off = what < 25 ? g->next : draw(g, FILE_SIZE - op->len);
		if (op->off + op->len > FILE_SIZE)
			op->off = 0;
		g->next = op->off + op->len;
		if (g->next > g->size)
			g->size = g->next;
	} else if (what < 90) {
		op->kind = FOLIOFS_OP_READ;
		op->len = 1 + draw(g, 64 * 1024);
		op->off = draw(g, FILE_SIZE);
	} else if (what < 94) {
		op->kind = FOLIOFS_OP_TRUNCATE;
		op->len = FILE_SIZE - draw(g, FILE_SIZE / 16);
		g->size = op->len;
	} else {
		op->kind = FOLIOFS_OP_FSYNC;
	}
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct foliofs_fs *make(const char *kernel, const char *block_size, bool rules)
{
	struct foliofs_options o = { .rules = rules };
	struct foliofs_geometry g = { 0 };
	struct foliofs_kernel k;
	struct foliofs_fs *fs;
	char err[256], mkfs[64];

	snprintf(mkfs, sizeof(mkfs), "size=4G -b %s", block_size);
	if (foliofs_kernel_parse(kernel, &k, err, sizeof(err)) ||
	    foliofs_geometry_from_mkfs(mkfs, &g, err, sizeof(err)) ||
	    foliofs_fs_new(&k, &g, &o, &fs, err, sizeof(err))) {
		fprintf(stderr, "bench_ops: %s\n", err);
		exit(2);
	}
	return fs;
}

static int run(struct foliofs_fs *fs, uint32_t nr, uint64_t seed)
{
	struct generator gen = { .state = seed ? seed : 1 };
	struct foliofs_op op = { .kind = FOLIOFS_OP_OPEN, .file = 0, .file2 = -1,
				 .flags = FOLIOFS_O_CREAT, .mode = 0644, .path = "data" };
	double start = now(), seconds;
	struct rusage usage;
	uint64_t failed = 0;
	uint32_t i;

	if (foliofs_fs_run(fs, &op) < 0)
		return 1;
	op.path = NULL;
	op.flags = 0;
	for (i = 1; i <= nr; i++) {
		generate(&gen, &op);
		op.id = i;
		op.time_ns += STEP_NS;
		failed += foliofs_fs_run(fs, &op) < 0;
	}
	seconds = now() - start;
	getrusage(RUSAGE_SELF, &usage);
	printf("%u operations in %.2f s: %.0f a second, %.1f MB at most, %" PRIu64
	       " failed, %zu rules broken\n", nr, seconds, nr / seconds,
	       (double)usage.ru_maxrss / 1024, failed, foliofs_fs_broken(fs));
	if (foliofs_fs_broken(fs)) {
		const struct foliofs_broken *b = foliofs_fs_broken_at(fs, 0);

		printf("operation %u: %s: %s\n", b->op, foliofs_rule_name(b->rule), b->text);
	}
	return foliofs_fs_broken(fs) != 0;
}

int main(int argc, char **argv)
{
	const char *kernel = "v6.18", *block_size = "1024";
	uint64_t seed = 88172645463325252ull;
	uint32_t nr = 1000000;
	bool rules = true;
	struct foliofs_fs *fs;
	int opt, ret;

	while ((opt = getopt(argc, argv, "n:k:b:s:r")) != -1) {
		if (opt == 'n')
			nr = (uint32_t)strtoul(optarg, NULL, 10);
		else if (opt == 'k')
			kernel = optarg;
		else if (opt == 'b')
			block_size = optarg;
		else if (opt == 's')
			seed = strtoull(optarg, NULL, 10);
		else if (opt == 'r')
			rules = false;
		else
			return 2;
	}
	fs = make(kernel, block_size, rules);
	ret = run(fs, nr, seed);
	foliofs_fs_free(fs);
	return ret;
}
