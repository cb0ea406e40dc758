// SPDX-License-Identifier: MIT
/*
 * The iomap path under XFS, and tmpfs: folio orders, what a write reads, short copies,
 * bios of reads and writeback, post-EOF zeroing, storage amplification, steps of reads.
 * All figures were measured on v6.18.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <foliofs/fs.h>
#include "fs/fs.h"
#include "shmem/shmem.h"

#define K 1024ull
#define M (1024 * K)

static struct foliofs_fs *fs;
static char bios[8192]; /* "RS+128 ..." */
static unsigned int nr_bios;
static char maps[8192]; /* types and pages of the answers: "D0+16" */

static void on_event(void *priv, const struct foliofs_event *ev)
{
	static const char type[] = "HDWUI";
	size_t n = strlen(bios), m = strlen(maps);

	(void)priv;
	if (ev->id == FOLIOFS_EV_block_bio_queue) {
		nr_bios++;
		if (n < 8000)
			snprintf(bios + n, sizeof(bios) - n, "%s%s+%u", n ? " " : "",
				 (const char *)(uintptr_t)ev->arg[0], (unsigned int)ev->arg[2]);
	} else if (m < 8000) {
		snprintf(maps + m, sizeof(maps) - m, "%s%c%llu+%llu", m ? " " : "",
			 type[ev->arg[4]], (unsigned long long)ev->arg[2] / 4096,
			 (unsigned long long)ev->arg[3] / 4096);
	}
}

static struct foliofs_sink sink = { .event = on_event };

static void forget(void)
{
	bios[0] = maps[0] = 0;
	nr_bios = 0;
}

static void mount_fs(const struct foliofs_geometry *g)
{
	const struct foliofs_options options = { .crash_states = true };
	struct foliofs_kernel k;
	char err[200] = "";

	assert_int_equal(foliofs_kernel_parse("v6.18", &k, err, sizeof(err)), 0);
	assert_int_equal(foliofs_fs_new(&k, g, &options, &fs, err, sizeof(err)), 0);
	memset(sink.wants, 0, sizeof(sink.wants));
	sink.wants[FOLIOFS_EV_block_bio_queue] = sink.wants[FOLIOFS_EV_iomap_iter_dstmap] = 1;
	foliofs_fs_add_sink(fs, &sink);
	forget();
}

/* 256 MiB (1 GiB for @big) in two groups, as mkfs.xfs -d agcount=2 -l size=16m makes it. */
static void mount_xfs(uint32_t block, bool big)
{
	uint32_t blocks = (uint32_t)((big ? 1024 : 256) * M / block);

	mount_fs(&(struct foliofs_geometry){
		.fs_type = FOLIOFS_FS_XFS, .page_size = 4096, .block_size = block,
		.cluster_ratio = 1, .blocks_count = blocks, .ag_count = 2, .ag_blocks = blocks / 2,
		.log_blocks = (uint32_t)(16 * M / block), .inode_size = 512, .reflink = true,
		.read_ahead_kb = 128, .io_opt_pages = 320,
	});
}

static void mount_tmpfs(enum foliofs_huge huge)
{
	mount_fs(&(struct foliofs_geometry){
		.fs_type = FOLIOFS_FS_TMPFS, .page_size = 4096, .block_size = 4096,
		.cluster_ratio = 1, .blocks_count = 65536, .huge = huge,
	});
}

static int64_t run(enum foliofs_op_kind kind, int file, uint64_t off, uint64_t len, uint32_t flags)
{
	static uint32_t last;
	const uint32_t id = ++last;
	const struct foliofs_op op = {
		.kind = kind, .id = id, .file = file, .file2 = -1, .off = off, .len = len,
		.flags = flags, .time_ns = id * 12000000ull, .good = len, .stride = 1 << 30,
	};

	return foliofs_fs_run(fs, &op);
}

static uint32_t open_file(int file, const char *name)
{
	const struct foliofs_op op = {
		.kind = FOLIOFS_OP_OPEN, .file = file, .file2 = -1, .path = name,
		.flags = FOLIOFS_O_CREAT, .mode = 0644,
	};

	return (uint32_t)foliofs_fs_run(fs, &op);
}

static void write_at(int file, uint64_t off, uint64_t len)
{
	assert_int_equal(run(FOLIOFS_OP_WRITE, file, off, len, 0), len);
}

static void sync_file(int file)
{
	assert_int_equal(run(FOLIOFS_OP_FSYNC, file, 0, 0, 0), 0);
}

static void drop_caches(void)
{
	run(FOLIOFS_OP_DROP_CACHES, -1, 0, 0, 1);
}

static char layout_text[4096];

static void add_folio(void *priv, const struct foliofs_folio_state *f)
{
	size_t n = strlen(layout_text);

	(void)priv;
	snprintf(layout_text + n, sizeof(layout_text) - n, "%s%u:%u", n ? " " : "",
		 (unsigned int)f->index, f->order);
}

static const char *layout(uint32_t ino)
{
	layout_text[0] = 0;
	foliofs_fs_for_each_folio(fs, ino, add_folio, NULL);
	return layout_text;
}

static uint64_t sectors(uint32_t ino)
{
	struct foliofs_stat st = { 0 };

	foliofs_fs_stat_ino(fs, ino, &st);
	return st.sectors;
}

static void end(void)
{
	foliofs_fs_free(fs);
	fs = NULL;
}

/* Writes of one call each to new files: the orders of the facts' table. */
static void orders(void **state)
{
	static const struct {
		uint32_t block;
		uint64_t off, len;
		const char *folios;
	} t[] = {
		{ 4096, 0, 12 * K, "0:1 2:0" },
		{ 4096, 0, 100 * K, "0:4 16:3 24:0" },
		{ 1024, 12 * K, 64 * K, "3:0 4:2 8:3 16:1 18:0" },
		{ 4096, 1000, 4 * M, "0:8 256:8 512:9 1024:0" },
		{ 16384, 0, 4 * K, "0:2" },
		{ 16384, 0, 12 * K, "0:2" },
		{ 16384, 12 * K, 64 * K, "0:4 16:2" },
		{ 16384, 4 * K, 1 * M, "0:8 256:2" },
		{ 16384, 0, 100 * K, "0:4 16:3 24:2" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(t) / sizeof(*t); i++) {
		uint32_t ino;

		mount_xfs(t[i].block, false);
		ino = open_file(0, "a");
		write_at(0, t[i].off, t[i].len);
		assert_string_equal(layout(ino), t[i].folios);
		end();
	}
}

/* One word for each block: only the one that was written has any state. */
static void folio_text(void **state)
{
	char text[32];
	uint32_t ino;

	(void)state;
	mount_xfs(1024, false);
	ino = open_file(0, "a");
	write_at(0, 2 * K, K);
	assert_int_equal(foliofs_fs_folio_text(fs, ino, 0, text, sizeof(text)), 0);
	assert_string_equal(text, "- - UD -");
	assert_int_equal(foliofs_fs_folio_text(fs, ino, 1, text, sizeof(text)), -ENOENT);
	end();
}

/* A folio does not reach over the end of a map: appends that end delayed extents. */
static void order_cut_at_map_end(void **state)
{
	uint32_t ino;
	int i;

	(void)state;
	mount_xfs(4096, false);
	ino = open_file(0, "a");
	for (i = 0; i < 4; i++)
		write_at(0, (uint64_t)i * 256 * K, 256 * K);
	assert_string_equal(layout(ino), "0:6 64:6 128:6 192:5 224:4 240:4");
	end();
}

static void cold_file(uint32_t block, uint64_t size)
{
	mount_xfs(block, false);
	open_file(0, "a");
	write_at(0, 0, size);
	sync_file(0);
	drop_caches();
	forget();
}

/* Not the partly covered block but the whole run that is not uptodate is read. */
static void partial_writes_read(void **state)
{
	(void)state;
	cold_file(4096, 256 * K);
	write_at(0, 1000, 64 * K);
	assert_string_equal(bios, "RS+128 RS+8");
	end();
	cold_file(4096, 4 * M);
	write_at(0, 1000, 2 * M);
	assert_string_equal(bios, "RS+2048 RS+8");
	end();
	cold_file(1024, 256 * K);
	write_at(0, 1000, 64 * K);
	assert_string_equal(bios, "RS+128 RS+2");
	end();
	cold_file(4096, 256 * K);
	write_at(0, 5000, 100);
	assert_string_equal(bios, "RS+8");
	end();
	cold_file(1024, 256 * K);
	write_at(0, 5000, 100);
	assert_string_equal(bios, "RS+2");
	end();
}

/*
 * Of 2 MiB only the first one can be read: the delayed blocks of the rest go.  What was reserved
 * behind the write, 512 ... 1007, stays (capture shortcopy-4k).
 */
static void short_copy(void **state)
{
	struct foliofs_op op = {
		.kind = FOLIOFS_OP_WRITE_BAD, .file = 0, .file2 = -1, .len = 2 * M, .good = 1 * M,
	};
	uint32_t ino;

	(void)state;
	mount_xfs(4096, false);
	ino = open_file(0, "a");
	assert_int_equal(foliofs_fs_run(fs, &op), 1 * M);
	assert_string_equal(layout(ino), "0:8");
	assert_string_equal(maps, "D0+512 D256+752");
	assert_int_equal(sectors(ino), (256 + 496) * 8);
	end();
}

/* One cold folio of 2 MiB, by what lies under it. */
static void read_bios(void **state)
{
	uint64_t pos;

	(void)state;
	mount_xfs(4096, false);
	open_file(0, "dh");
	write_at(0, 0, 1 * M);
	run(FOLIOFS_OP_TRUNCATE, 0, 0, 2 * M, 0);
	open_file(1, "hd");
	run(FOLIOFS_OP_TRUNCATE, 1, 0, 2 * M, 0);
	write_at(1, 4096, 2 * M - 4096);
	open_file(2, "hole");
	run(FOLIOFS_OP_TRUNCATE, 2, 0, 2 * M, 0);
	open_file(3, "du");
	run(FOLIOFS_OP_FALLOCATE, 3, 0, 2 * M, 0);
	write_at(3, 0, 700 * K);
	write_at(3, 1 * M, 4096);
	run(FOLIOFS_OP_SYNCFS, -1, 0, 0, 0);
	drop_caches();
	forget();
	run(FOLIOFS_OP_MREAD, 0, 0, 2 * M, FOLIOFS_MADV_HUGEPAGE);
	assert_string_equal(bios, "RA+2048");
	forget();
	run(FOLIOFS_OP_MREAD, 1, 0, 2 * M, FOLIOFS_MADV_HUGEPAGE);
	assert_string_equal(bios, "RA+4088");
	forget();
	run(FOLIOFS_OP_MREAD, 2, 0, 2 * M, FOLIOFS_MADV_HUGEPAGE);
	assert_string_equal(bios, "");
	run(FOLIOFS_OP_MREAD, 3, 0, 2 * M, FOLIOFS_MADV_HUGEPAGE);
	assert_string_equal(bios, "RA+1400 RA+8");
	/* Every second block of the first MiB: one bio for each of 128, but two that touch. */
	open_file(4, "alt");
	run(FOLIOFS_OP_TRUNCATE, 4, 0, 2 * M, 0);
	for (pos = 0; pos < 1 * M; pos += 8 * K)
		write_at(4, pos, 4096);
	sync_file(4);
	drop_caches();
	forget();
	run(FOLIOFS_OP_MREAD, 4, 0, 2 * M, FOLIOFS_MADV_HUGEPAGE);
	assert_in_range(nr_bios, 120, 128);
	end();
}

/* One map and one bio for 96 MiB. */
static void writeback_map_reused(void **state)
{
	uint32_t ino;

	(void)state;
	mount_xfs(4096, true);
	ino = open_file(0, "a");
	write_at(0, 0, 4 * M);
	forget();
	sync_file(0);
	assert_string_equal(bios, "WS+8192");
	end();
	mount_xfs(4096, true);
	ino = open_file(0, "a");
	run(FOLIOFS_OP_FALLOCATE, 0, 0, 96 * M, 0);
	write_at(0, 0, 96 * M);
	assert_int_equal(sectors(ino), 196608);
	forget();
	sync_file(0);
	assert_string_equal(bios, "WS+196608");
	end();
}

/* Eight dirty runs of one folio: one bio each. */
static void dirty_runs(void **state)
{
	uint64_t i;

	(void)state;
	cold_file(4096, 2 * M);
	run(FOLIOFS_OP_MREAD, 0, 0, 2 * M, FOLIOFS_MADV_HUGEPAGE);
	for (i = 0; i < 8; i++)
		write_at(0, i * 8 * K, 4096);
	forget();
	sync_file(0);
	assert_string_equal(bios, "WS+8 WS+8 WS+8 WS+8 WS+8 WS+8 WS+8 WS+8");
	end();
}

/* One byte stored into a 2 MiB folio over a hole: the whole folio is allocated. */
static void store_amplification(void **state)
{
	uint32_t ino;

	(void)state;
	mount_xfs(4096, false);
	ino = open_file(0, "a");
	write_at(0, 0, 16 * K);
	run(FOLIOFS_OP_TRUNCATE, 0, 0, 2 * M, 0);
	sync_file(0);
	drop_caches();
	assert_int_equal(sectors(ino), 32);
	run(FOLIOFS_OP_MREAD, 0, 0, 2 * M, FOLIOFS_MADV_HUGEPAGE);
	assert_string_equal(layout(ino), "0:9");
	run(FOLIOFS_OP_MTOUCH, 0, 1 * M, 1, 0);
	sync_file(0);
	assert_int_equal(sectors(ino), 4096);
	end();
}

/* generic/476: a clone beyond EOF over speculative delayed space (facts, 3.3). */
static void clone_beyond_eof(void **state)
{
	struct foliofs_op op = {
		.kind = FOLIOFS_OP_REFLINK, .file = 0, .file2 = 1, .off2 = 96 * 4 * K, .len = 64 * K,
	};
	struct foliofs_stat st;
	uint32_t ino;
	int i;

	(void)state;
	mount_xfs(4096, false);
	open_file(0, "src");
	write_at(0, 0, 256 * K);
	sync_file(0);
	ino = open_file(1, "a");
	for (i = 0; i < 4; i++)
		write_at(1, (uint64_t)i * 64 * K, 64 * K);
	foliofs_fs_stat_ino(fs, ino, &st);
	assert_int_equal(st.delayed, 112);
	forget();
	assert_int_equal(foliofs_fs_run(fs, &op), 0);
	/* Zeroing allocates the whole delayed extent as unwritten, and writes nothing of it. */
	assert_string_equal(maps, "U0+112");
	foliofs_fs_stat_ino(fs, ino, &st);
	assert_int_equal(st.size, 112 * 4 * K);
	assert_int_equal(st.delayed, 0);
	end();
}

/* A clean folio is split where a hole is punched; the pieces next to it are small. */
static void punch_splits(void **state)
{
	uint32_t ino;

	(void)state;
	mount_xfs(4096, false);
	ino = open_file(0, "a");
	write_at(0, 0, 256 * K);
	sync_file(0);
	run(FOLIOFS_OP_FALLOCATE, 0, 16 * K, 16 * K,
	    FOLIOFS_FALLOC_PUNCH_HOLE | FOLIOFS_FALLOC_KEEP_SIZE);
	assert_string_equal(layout(ino), "0:2 8:0 9:0 10:1 12:2 16:4 32:5");
	end();
}

/* A power cut leaves what the last log force made durable, and the data that was written. */
static void crash(void **state)
{
	struct foliofs_fs *after;
	struct foliofs_stat st;

	(void)state;
	mount_xfs(4096, false);
	open_file(0, "a");
	write_at(0, 0, 64 * K);
	sync_file(0);
	write_at(0, 64 * K, 64 * K);
	run(FOLIOFS_OP_SYNC_RANGE, 0, 64 * K, 64 * K, 7);
	assert_int_equal(foliofs_fs_crash(fs, &after), 0);
	assert_int_equal(foliofs_fs_stat(after, "a", &st), 0);
	assert_int_equal(st.size, 64 * K);
	foliofs_fs_free(after);
	sync_file(0);
	assert_int_equal(foliofs_fs_crash(fs, &after), 0);
	assert_int_equal(foliofs_fs_stat(after, "a", &st), 0);
	assert_int_equal(st.size, 128 * K);
	foliofs_fs_free(after);
	end();
}

static void tmpfs_orders(void **state)
{
	uint32_t ino;

	(void)state;
	mount_tmpfs(FOLIOFS_HUGE_WITHIN_SIZE);
	ino = open_file(0, "a");
	write_at(0, 12 * K, 64 * K);
	assert_string_equal(layout(ino), "0:4 16:1 18:0");
	ino = open_file(1, "b");
	write_at(1, 4 * K, 1 * M);
	assert_string_equal(layout(ino), "0:8 256:0");
	ino = open_file(2, "c");
	write_at(2, 0, 100 * K);
	assert_string_equal(layout(ino), "0:4 16:3 24:0");
	ino = open_file(3, "d");
	run(FOLIOFS_OP_TRUNCATE, 3, 0, 4 * M, 0);
	write_at(3, 0, 4 * K);
	assert_string_equal(layout(ino), "0:9");
	end();
	mount_tmpfs(FOLIOFS_HUGE_ALWAYS);
	ino = open_file(0, "a");
	write_at(0, 0, 4 * K);
	assert_string_equal(layout(ino), "0:9");
	assert_int_equal(sectors(ino), 4096);
	ino = open_file(1, "b");
	write_at(1, 1000, 4 * M);
	assert_string_equal(layout(ino), "0:9 512:9 1024:9");
	/* A write to 2 MiB, then cut. */
	run(FOLIOFS_OP_TRUNCATE, 0, 0, 2 * M, 0);
	run(FOLIOFS_OP_TRUNCATE, 0, 0, 5000, 0);
	end();
	mount_tmpfs(FOLIOFS_HUGE_NEVER);
	ino = open_file(0, "a");
	write_at(0, 0, 16 * K);
	assert_string_equal(layout(ino), "0:0 1:0 2:0 3:0");
	end();
}

static void tmpfs_splits(void **state)
{
	uint32_t ino;

	(void)state;
	mount_tmpfs(FOLIOFS_HUGE_ALWAYS);
	ino = open_file(0, "a");
	write_at(0, 0, 2 * M);
	run(FOLIOFS_OP_FALLOCATE, 0, 64 * K, 64 * K,
	    FOLIOFS_FALLOC_PUNCH_HOLE | FOLIOFS_FALLOC_KEEP_SIZE);
	assert_string_equal(layout(ino), "0:4 32:0 33:0 34:1 36:2 40:3 48:4 64:6 128:7 256:8");
	ino = open_file(1, "b");
	write_at(1, 0, 2 * M);
	run(FOLIOFS_OP_TRUNCATE, 1, 0, 5000, 0);
	assert_string_equal(layout(ino), "0:0 1:0");
	end();
}

static unsigned int steps(uint32_t ino, uint64_t pos, uint64_t len)
{
	const struct ffs_inode *inode = ffs_inode_find(&fs->ops.sb, ino);
	unsigned int n = 0;
	uint64_t got, unit;

	for (; len && pos < inode->i_size; pos += got, len -= got, n++)
		got = ffs_shmem_read_step(&fs->ops.sb, inode, pos, len, &unit);
	return n;
}

/* Folio by folio: once as many steps as pages. */
static void tmpfs_read_steps(void **state)
{
	uint32_t ino;

	(void)state;
	mount_tmpfs(FOLIOFS_HUGE_ALWAYS);
	ino = open_file(0, "a");
	write_at(0, 0, 4 * M);
	assert_int_equal(steps(ino, 0, 64 * K), 1);
	assert_int_equal(steps(ino, 62 * K, 64 * K), 1);
	assert_int_equal(steps(ino, 3 * M / 2, 1 * M), 2);
	ino = open_file(1, "h");
	run(FOLIOFS_OP_TRUNCATE, 1, 0, 1 * M, 0);
	assert_int_equal(steps(ino, 0, 64 * K), 16);
	ino = open_file(2, "s");
	write_at(2, 0, 5000);
	assert_int_equal(steps(ino, 0, 10000), 1);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(orders),
		cmocka_unit_test(folio_text),
		cmocka_unit_test(order_cut_at_map_end),
		cmocka_unit_test(partial_writes_read),
		cmocka_unit_test(short_copy),
		cmocka_unit_test(read_bios),
		cmocka_unit_test(writeback_map_reused),
		cmocka_unit_test(dirty_runs),
		cmocka_unit_test(store_amplification),
		cmocka_unit_test(clone_beyond_eof),
		cmocka_unit_test(punch_splits),
		cmocka_unit_test(crash),
		cmocka_unit_test(tmpfs_orders),
		cmocka_unit_test(tmpfs_splits),
		cmocka_unit_test(tmpfs_read_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
