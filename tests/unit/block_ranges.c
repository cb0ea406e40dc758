// SPDX-License-Identifier: MIT
/*
 * Bytes to blocks of a folio, through the whole model: block sizes 1K to 64K, page sizes 4K, 16K
 * and 64K, folios of 1 to 16 blocks, every first and last block, aligned and one byte inside;
 * overwrites of cached and of cold folios, writes into holes, punched ranges and cut tails, on
 * buffer heads and on the iomap core.  The folio of 2,048 blocks of 1K at the boundaries of its
 * words, and reads of it with a hole there.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <foliofs/fs.h>
#include <foliofs/mkfs.h>
#include <foliofs/rules.h>

static struct foliofs_fs *fs;
static uint32_t id, ino;
static uint64_t page, block, blocks; /* bytes, bytes, blocks of the folio */
static bool iomap;

static int64_t run(struct foliofs_op op)
{
	op.id = ++id;
	op.file2 = -1;
	op.time_ns = id * 20000000ull;
	return foliofs_fs_run(fs, &op);
}

static void make(const char *kernel, const char *mount)
{
	const struct foliofs_options o = { .rules = true };
	struct foliofs_geometry g = { .page_size = (uint32_t)page };
	struct foliofs_kernel k;
	char err[256] = "", mkfs[64];

	snprintf(mkfs, sizeof(mkfs), "size=1G -b %u", (uint32_t)block);
	assert_int_equal(foliofs_kernel_parse(kernel, &k, err, sizeof(err)), 0);
	assert_int_equal(foliofs_geometry_from_mkfs(mkfs, &g, err, sizeof(err)), 0);
	assert_int_equal(foliofs_mount_parse(mount, &g, err, sizeof(err)), 0);
	if (foliofs_fs_new(&k, &g, &o, &fs, err, sizeof(err)))
		fail_msg("%s", err);
	iomap = *mount;
	ino = (uint32_t)run((struct foliofs_op){ .kind = FOLIOFS_OP_OPEN, .path = "a",
						 .flags = FOLIOFS_O_CREAT, .mode = 0644 });
	assert_true(ino > 0);
}

static void write_at(uint64_t off, uint64_t len)
{
	struct foliofs_op op = { .kind = FOLIOFS_OP_WRITE, .off = off, .len = len };

	assert_int_equal(run(op), (int64_t)len);
}

static void simple(enum foliofs_op_kind kind, uint64_t len, uint32_t flags)
{
	assert_int_equal(run((struct foliofs_op){ .kind = kind, .len = len, .flags = flags }), 0);
}

/* Folios in the cache: blocks [first, end) are @in, all others @out; NULL: not in the cache. */
struct states {
	uint64_t first, end, seen;
	const char *in, *out;
};

static void check_folio(void *priv, const struct foliofs_folio_state *f)
{
	struct states *s = priv;
	uint64_t b = f->index * page / block, n = (page << f->order) / block, i;
	static char text[8 * 2048 + 12]; /* up to 7 letters a block */
	char *word, *save = NULL;

	assert_int_equal(f->index % (1u << f->order), 0);
	if (!f->buffers) {
		/* iomap keeps no state of a folio's blocks where all are alike. */
		assert_true(iomap && f->uptodate);
		for (i = b; i < b + n; i++)
			assert_int_equal(f->dirty,
					 strchr(i >= s->first && i < s->end ? s->in : s->out, 'D') !=
						 NULL);
		s->seen += n;
		return;
	}
	assert_int_equal(foliofs_fs_folio_text(fs, ino, f->index, text, sizeof(text)), 0);
	word = strtok_r(text, " ", &save);
	for (i = b; i < b + n; i++, word = strtok_r(NULL, " ", &save)) {
		assert_non_null(word);
		assert_string_equal(word, i >= s->first && i < s->end ? s->in : s->out);
	}
	assert_null(word);
	s->seen += n;
}

static uint64_t states(uint64_t first, uint64_t end, const char *in, const char *out)
{
	struct states s = { first, end, 0, in, out };

	assert_int_equal(foliofs_fs_for_each_folio(fs, ino, check_folio, &s), 0);
	return s.seen;
}

static void add_uptodate(void *priv, const struct foliofs_folio_state *f)
{
	assert_true(f->uptodate && !f->dirty);
	*(uint64_t *)priv += (page << f->order) / block;
}

/* Blocks in the cache, all of them of folios that are uptodate. */
static uint64_t uptodate(void)
{
	uint64_t sum = 0;

	assert_int_equal(foliofs_fs_for_each_folio(fs, ino, add_uptodate, &sum), 0);
	return sum;
}

/* Bytes that read as zero. */
static void add_zero(void *priv, const struct foliofs_content *c)
{
	uint64_t *zero = priv;

	if (c->kind == FOLIOFS_SOURCE_OP)
		return;
	assert_true(c->kind == FOLIOFS_SOURCE_ZERO || c->kind == FOLIOFS_SOURCE_HOLE);
	if (!zero[1])
		zero[0] = c->offset;
	assert_int_equal(zero[0] + zero[1], c->offset); /* one run */
	zero[1] += c->len;
}

static void zeros(uint64_t first, uint64_t end)
{
	uint64_t zero[2] = { first, 0 };

	assert_int_equal(foliofs_fs_for_each_content(fs, ino, add_zero, zero), 0);
	assert_int_equal(zero[0], first);
	assert_int_equal(zero[1], end - first);
}

static void add_extent(void *priv, const struct foliofs_extent *x)
{
	*(uint64_t *)priv += x->len;
}

static uint64_t allocated(void)
{
	uint64_t sum = 0;

	assert_int_equal(foliofs_fs_for_each_extent(fs, ino, add_extent, &sum), 0);
	return sum;
}

static void fill(void)
{
	simple(FOLIOFS_OP_TRUNCATE, 0, 0);
	write_at(0, blocks * block);
	assert_int_equal(states(0, blocks, iomap ? "UD" : "UDML", ""), blocks);
	simple(FOLIOFS_OP_FSYNC, 0, 0);
	assert_int_equal(states(0, blocks, iomap ? "U" : "UM", ""), blocks);
	assert_int_equal(allocated(), blocks * block);
}

static const uint32_t modes[] = { FOLIOFS_FALLOC_PUNCH_HOLE, FOLIOFS_FALLOC_ZERO_RANGE };

static void pair(uint64_t first, uint64_t end)
{
	uint64_t from = first * block, to = end * block, size = blocks * block, inside, i;
	const char *dirty = iomap ? "UD" : "UDM", *clean = iomap ? "U" : "UM";

	/* inside: one byte less on either side touches the same blocks */
	for (inside = 0; inside <= 1; inside++) {
		fill();
		write_at(from + inside, to - from - 2 * inside);
		assert_int_equal(states(first, end, dirty, clean), blocks);
		simple(FOLIOFS_OP_FSYNC, 0, 0);
		assert_int_equal(states(0, 0, "", clean), blocks);
		/* cold: blocks of the folio that the write does not reach are left alone */
		simple(FOLIOFS_OP_DROP_CACHES, 0, 1);
		assert_int_equal(states(0, 0, "", ""), 0);
		write_at(from + inside, to - from - 2 * inside);
		assert_in_range(states(first, end, dirty, "-"), end - first, blocks);
		simple(FOLIOFS_OP_FSYNC, 0, 0);
		zeros(size, size);
	}
	/* a hole: the same, and only what was written gets blocks */
	simple(FOLIOFS_OP_TRUNCATE, 0, 0);
	simple(FOLIOFS_OP_TRUNCATE, size, 0);
	write_at(from, to - from);
	assert_in_range(states(first, end, iomap ? "UD" : "UDML", "-"), end - first, blocks);
	simple(FOLIOFS_OP_FSYNC, 0, 0);
	assert_int_equal(allocated(), to - from);
	/* punch: whole blocks go, parts become zero; zero: the blocks stay, unwritten */
	for (i = 0; i < 2; i++)
		for (inside = 0; inside <= 1; inside++) {
			uint64_t gone = to - from - 2 * inside * block;

			if (to - from == block && inside)
				gone = 0;
			fill();
			assert_int_equal(run((struct foliofs_op){
				.kind = FOLIOFS_OP_FALLOCATE, .off = from + inside,
				.len = to - from - 2 * inside,
				.flags = FOLIOFS_FALLOC_KEEP_SIZE | modes[i] }), 0);
			zeros(from + inside, to - inside);
			assert_int_equal(allocated(), i ? size : size - gone);
			simple(FOLIOFS_OP_FSYNC, 0, 0);
			simple(FOLIOFS_OP_DROP_CACHES, 0, 1);
			zeros(from + inside, to - inside);
		}
	/* cut inside the last block of the range and made longer again: zeros behind the cut */
	fill();
	simple(FOLIOFS_OP_TRUNCATE, to - 1, 0);
	assert_int_equal(allocated(), to);
	simple(FOLIOFS_OP_TRUNCATE, size, 0);
	zeros(to - 1, size);
	simple(FOLIOFS_OP_FSYNC, 0, 0);
	simple(FOLIOFS_OP_DROP_CACHES, 0, 1);
	zeros(to - 1, size);
}

static void sweep(const char *kernel, const char *mount, uint64_t page_size, bool large_blocks)
{
	uint64_t first, end;

	page = page_size;
	for (block = 1024; block <= 65536; block *= 2) {
		if (large_blocks != (block > page))
			continue;
		for (blocks = block < page ? page / block : 1; blocks <= 16; blocks *= 2) {
			make(kernel, mount);
			for (first = 0; first < blocks; first++)
				for (end = first + 1; end <= blocks; end++)
					pair(first, end);
			assert_int_equal(foliofs_fs_broken(fs), 0);
			foliofs_fs_free(fs);
		}
	}
}

static void buffer_heads(void **state)
{
	(void)state;
	sweep("v6.18", "", 4096, false);
	sweep("v6.18", "", 16384, false);
	sweep("v6.18", "", 65536, false);
}

/* Before large folios each page is a folio of its own. */
static void small_folios(void **state)
{
	(void)state;
	sweep("v6.12", "", 4096, false);
	sweep("v6.12", "", 65536, false);
}

static void blocks_larger_than_pages(void **state)
{
	(void)state;
	sweep("v7.0", "", 4096, true);
	sweep("v7.0", "", 16384, true);
}

static void on_iomap(void **state)
{
	(void)state;
	sweep("iomap-next-v2", "buffered_iomap", 4096, false);
	sweep("iomap-next-v2", "buffered_iomap", 16384, false);
	sweep("iomap-next-v2", "buffered_iomap", 65536, false);
}

/* A cold read of the folio, of which [first, end) is a hole: all of it becomes uptodate. */
static void read_around(uint64_t first, uint64_t end)
{
	uint64_t from = first * block, to = end * block;
	const struct foliofs_op read = { .kind = FOLIOFS_OP_MREAD, .len = blocks * block,
					 .stride = 512, .flags = FOLIOFS_MADV_HUGEPAGE };

	fill();
	assert_int_equal(run((struct foliofs_op){
		.kind = FOLIOFS_OP_FALLOCATE, .off = from, .len = to - from,
		.flags = FOLIOFS_FALLOC_KEEP_SIZE | FOLIOFS_FALLOC_PUNCH_HOLE }), 0);
	simple(FOLIOFS_OP_FSYNC, 0, 0);
	simple(FOLIOFS_OP_DROP_CACHES, 0, 1);
	assert_int_equal(run(read), blocks * block);
	zeros(from, to);
	if (end == blocks || iomap) /* nothing but a hole behind the data: read as a whole */
		assert_int_equal(uptodate(), blocks);
	else /* a block without a place is filled with zeros and stays unmapped */
		assert_int_equal(states(first, end, "U", "UM"), blocks);
}

static void words(const char *kernel, const char *mount)
{
	static const uint64_t at[] = { 0, 1, 63, 64, 65, 127, 128, 1023, 1024, 1984, 2047, 2048 };

	page = 4096;
	block = 1024;
	blocks = 2048;
	make(kernel, mount);
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++)
		for (size_t j = i + 1; j < sizeof(at) / sizeof(at[0]); j++) {
			pair(at[i], at[j]);
			read_around(at[i], at[j]);
		}
	assert_int_equal(foliofs_fs_broken(fs), 0);
	foliofs_fs_free(fs);
}

static void largest_folio(void **state)
{
	(void)state;
	words("v6.18", "");
	words("iomap-next-v2", "buffered_iomap");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buffer_heads),
		cmocka_unit_test(small_folios),
		cmocka_unit_test(blocks_larger_than_pages),
		cmocka_unit_test(on_iomap),
		cmocka_unit_test(largest_folio),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
