// SPDX-License-Identifier: MIT
/*
 * Mount: puts the layers together and connects their hooks; see <foliofs/fs.h>.
 */
#include <stdio.h>
#include "bh/bh.h"
#include "ext4iomap/ext4iomap.h"
#include "fs.h"
#include "ops/fs_type.h"
#include "pagecache/requests.h"
#include "rules/truth.h"

#define FIRST_TID 3u /* mke2fs and the mount have used the ones before */
#define TICK_NS 4000000u

static struct foliofs_fs *fs_of(struct ffs_super *sb)
{
	return container_of(ffs_ops(sb), struct foliofs_fs, ops);
}

/* --- hooks of the layers below --- */

static void journal_sleep(void *priv)
{
	ffs_run_work(priv);
}

static void journal_locked(void *priv, u32 tid)
{
	struct foliofs_fs *fs = fs_of(priv);

	(void)tid;
	if (fs->options.crash_states)
		ffs_commit_locked(fs);
	ffs_journalled_locked(&fs->ops.sb);
}

static void journal_submit_data(void *priv, u32 tid)
{
	/* No handle can be had before the commit is done: as if it had the only one. */
	static const struct ffs_locks commit = { .held = { [FFS_LOCK_HANDLE] = 1 } };
	struct ffs_super *sb = priv;
	struct ffs_locks locks = ffs_locks_switch(&sb->env, commit);

	sb->iomap->submit_ordered(sb, tid);
	sb->bh->submit_ordered(sb, tid);
	ffs_locks_switch(&sb->env, locks);
}

static void journal_committed(void *priv, u32 tid)
{
	struct ffs_super *sb = priv;

	ffs_commit_done(fs_of(sb));
	ffs_journalled_committed(sb, tid);
	ffs_home_settle(sb);
	ffs_alloc_committed(sb->alloc, tid);
}

static void i_blocks_changed(void *priv, struct ffs_inode *inode)
{
	ffs_dirty_inode(priv, inode);
}

static void released(void *priv, u64 first, u64 end)
{
	struct ffs_super *sb = priv;

	ffs_device_stale(sb, first << sb->env.block_bits, end << sb->env.block_bits);
}

static bool free_at_once(void *priv, const struct ffs_inode *inode, bool metadata)
{
	const struct ffs_super *sb = priv;

	(void)inode;
	return !ffs_journal_present(sb->journal) ||
	       (sb->env.geo.mount.data == FOLIOFS_DATA_WRITEBACK && !metadata);
}

static int bm_mark_inode_dirty(void *priv, struct ffs_handle *h, struct ffs_inode *inode,
			       const char *caller)
{
	return ffs_mark_inode_dirty(priv, h, inode, caller);
}

static void bm_inode_kind(void *priv, const struct ffs_inode *inode, struct foliofs_inode_kind *kind)
{
	*kind = ffs_inode_kind(priv, inode);
}

static void bm_zeroed_out(void *priv, struct ffs_inode *inode, u32 lblk, u64 pblk, u32 len)
{
	struct ffs_super *sb = priv;
	u8 bits = sb->env.block_bits;

	/*
	 * SIMPLIFIED: journalled data of the block may still be in the log; recovery brings it back,
	 * since nothing has revoked it.  Here the zeros stay.
	 */
	ffs_device_zero(sb, pblk << bits, (pblk + len) << bits);
	ffs_emit(&sb->env, foliofs_zero, inode->ino, (u64)lblk << bits, (u64)len << bits,
		 ffs_str("zero-out on disk"));
}

static void bm_read_meta(void *priv, u64 blk)
{
	struct ffs_super *sb = priv;

	ffs_request_meta(sb, blk << sb->env.block_bits, ffs_block_size(&sb->env));
}

/* --- mount --- */

/* The root directory and lost+found as mke2fs leaves them. */
static void make_root(struct foliofs_fs *fs)
{
	struct ffs_ops *o = &fs->ops;
	const u32 lost_found = 20; /* bytes of its entry */
	u32 flags = ffs_feature(&o->sb.env, FOLIOFS_FEATURE_EXTENTS) ? FFS_INODE_EXTENTS : 0;

	o->root = ffs_inode_new(o, FFS_ROOT_INO, FFS_S_IFDIR | 0755, flags | FFS_INODE_TOPDIR);
	o->root->nlink = 3;
	o->root->i_blocks = 1;
	ffs_vfs(o->root)->parent = FFS_ROOT_INO;
	ffs_set_isize(&o->sb, o->root, o->sb.env.geo.block_size);
	o->root->i_disksize = o->root->raw_disksize = o->root->i_size;
	ffs_dir_init(o, o->root, ffs_layout_file_block(ffs_layout_root(o->layout), 0), lost_found);
}

static int check(const struct foliofs_kernel *k, const struct foliofs_geometry *g, char *err,
		 size_t errlen)
{
	u32 bs = g->block_size, ps = g->page_size;

	if (!is_pow2(bs) || bs < 1024 || bs > 65536 || !is_pow2(ps) || ps < 4096 || ps > 65536) {
		snprintf(err, errlen, "block size %u or page size %u is not possible", bs, ps);
		return -EINVAL;
	}
	if (bs > ps && !foliofs_kernel_has(k, FOLIOFS_CHANGE_LARGE_BLOCK_SIZE)) {
		snprintf(err, errlen, "%s does not mount blocks of %u bytes with pages of %u", k->name,
			 bs, ps);
		return -EINVAL;
	}
	if (g->journal_blocks && g->journal_blocks < 1024) {
		snprintf(err, errlen, "a journal of %u blocks is refused: 1024 at least",
			 g->journal_blocks);
		return -EINVAL;
	}
	if (!g->groups || !g->blocks_per_group || !g->inodes_per_group || !g->cluster_ratio) {
		snprintf(err, errlen, "geometry is incomplete");
		return -EINVAL;
	}
	return 0;
}

static void init_env(struct foliofs_fs *fs, const struct foliofs_kernel *k,
		     const struct foliofs_geometry *g)
{
	struct ffs_env *env = &fs->ops.sb.env;

	env->kernel = *k;
	env->geo = *g;
	env->block_bits = (u8)ilog2(g->block_size);
	env->page_bits = (u8)ilog2(g->page_size);
	env->sinks = fs->sinks;
}

static void connect(struct foliofs_fs *fs)
{
	struct ffs_super *sb = &fs->ops.sb;
	const struct ffs_journal_hooks journal_hooks = {
		.priv = sb, .sleep = journal_sleep, .locked = journal_locked,
		.submit_data = journal_submit_data, .committed = journal_committed,
	};
	const struct ffs_alloc_hooks alloc_hooks = {
		.priv = sb, .i_blocks_changed = i_blocks_changed, .released = released,
		.free_at_once = free_at_once,
	};

	sb->journal = ffs_journal_new(&sb->env, fs->options.first_tid, &journal_hooks);
	sb->alloc = ffs_alloc_new(&sb->env, &alloc_hooks);
	if (fs->options.alloc == FOLIOFS_ALLOC_WORST)
		ffs_alloc_set_policy(sb->alloc, FFS_ALLOC_WORST);
	sb->bm = (struct ffs_blockmap){
		.env = &sb->env, .journal = sb->journal, .alloc = sb->alloc, .priv = sb,
		.mark_inode_dirty = bm_mark_inode_dirty, .zeroed_out = bm_zeroed_out,
		.i_blocks_changed = i_blocks_changed, .inode_kind = bm_inode_kind,
		.read_meta = bm_read_meta,
	};
	sb->bh = &ffs_bh_path;
	sb->iomap = &ffs_ext4im_path;
	sb->iomap_fs = &ffs_ext4im_fs;
	sb->truncate = ffs_truncate;
	sb->flush_all = ffs_flush_all;
	sb->sb_block = sb->env.geo.block_size == 1024 ? 1 : 0;
	if (ffs_feature(&sb->env, FOLIOFS_FEATURE_ORPHAN_FILE))
		sb->orphan_file_block = ffs_layout_file_block(ffs_layout_orphan(fs->ops.layout), 0);
}

int ffs_fs_mount(struct foliofs_fs *fs)
{
	fs->ops.layout = ffs_layout_new(&fs->ops.sb.env.geo);
	if (!fs->ops.layout)
		return -EINVAL;
	connect(fs);
	make_root(fs);
	return 0;
}

static void add_rules(struct foliofs_fs *fs)
{
	if (!fs->options.rules)
		return;
	fs->rules_sink.event = ffs_rules_event;
	fs->rules_sink.priv = fs;
	ffs_rules_wanted(&fs->rules_sink);
	foliofs_fs_add_sink(fs, &fs->rules_sink);
}

/* What is not ext4 has neither its journal nor its layout. */
static int mount_other(struct foliofs_fs *fs, char *err, size_t errlen)
{
	const struct foliofs_geometry *g = &fs->ops.sb.env.geo;
	struct ffs_super *sb = &fs->ops.sb;
	const struct ffs_journal_hooks hooks = { .priv = sb };

	if (g->fs_type == FOLIOFS_FS_XFS && (!g->ag_count || !g->ag_blocks || !g->blocks_count)) {
		snprintf(err, errlen, "geometry of XFS is incomplete: ag_count, ag_blocks, "
			 "blocks_count");
		return -EINVAL;
	}
	sb->journal = ffs_journal_new(&sb->env, fs->options.first_tid, &hooks);
	if (g->fs_type == FOLIOFS_FS_XFS)
		ffs_xfs_mount(&fs->ops);
	else if (g->fs_type == FOLIOFS_FS_EXT2)
		ffs_ext2_mount(&fs->ops);
	else
		ffs_shmem_mount(&fs->ops);
	return 0;
}

int foliofs_fs_new(const struct foliofs_kernel *k, const struct foliofs_geometry *g,
		   const struct foliofs_options *options, struct foliofs_fs **out, char *err,
		   size_t errlen)
{
	struct foliofs_fs *fs;
	int ret = g->fs_type == FOLIOFS_FS_EXT4 ? check(k, g, err, errlen) : 0;

	if (ret)
		return ret;
	fs = ffs_zalloc(sizeof(*fs));
	if (options)
		fs->options = *options;
	if (!fs->options.first_tid)
		fs->options.first_tid = FIRST_TID;
	fs->ops.no_sys_resource = fs->options.no_sys_resource;
	fs->ops.tick_ns = fs->options.tick_ns ? fs->options.tick_ns : TICK_NS;
	ffs_committed_init(fs);
	init_env(fs, k, g);
	if (g->fs_type != FOLIOFS_FS_EXT4) {
		ret = mount_other(fs, err, errlen);
		if (ret) {
			free(fs);
			return ret;
		}
		add_rules(fs);
		*out = fs;
		return 0;
	}
	if (ffs_fs_mount(fs)) {
		snprintf(err, errlen, "no room for the tables of mke2fs in this geometry");
		free(fs);
		return -EINVAL;
	}
	add_rules(fs);
	if (fs->options.old_blocks)
		ffs_runs_set(&fs->ops.sb.disk, 0, g->blocks_count << fs->ops.sb.env.block_bits, 0,
			     FFS_SRC_OLD_DISK);
	if (fs->options.crash_states) {
		ffs_commit_locked(fs);
		ffs_commit_done(fs);
		ffs_promise_init(fs);
	}
	*out = fs;
	return 0;
}

void ffs_fs_drop(struct foliofs_fs *fs)
{
	struct ffs_super *sb = &fs->ops.sb;
	u32 i;

	sb->env.muted = true;
	ffs_run_work(sb);
	if (sb->type)
		sb->type->destroy(&fs->ops);
	if (sb->alloc)
		ffs_alloc_free(sb->alloc); /* its preallocations point to inodes */
	for (i = 0; !sb->type && i < sb->cap_inodes;) {
		if (sb->inodes[i])
			ffs_inode_free(&fs->ops, sb->inodes[i]); /* may move another one here */
		else
			i++;
	}
	ffs_journal_free(sb->journal);
	if (fs->ops.layout)
		ffs_layout_free(fs->ops.layout);
	ffs_runs_free(&sb->logged);
	ffs_runs_free(&sb->not_home);
	ffs_runs_free(&sb->alias);
	ffs_runs_free(&sb->jdata);
	ffs_runs_free(&sb->jdata_committing);
	ffs_runs_free(&sb->jdata_logged);
	free(sb->inodes);
	free(sb->dirty);
	free(sb->orphans);
	free(sb->ordered);
	for (u32 i = 0; i < fs->ops.nr_files; i++)
		free(fs->ops.file[i]);
	free(fs->ops.file);
}

void foliofs_fs_free(struct foliofs_fs *fs)
{
	if (!fs)
		return;
	ffs_fs_drop(fs);
	ffs_committed_free(fs);
	ffs_promise_free(fs);
	ffs_truths_free(fs->truths);
	ffs_runs_free(&fs->ops.sb.disk);
	ffs_runs_free(&fs->marked);
	free(fs->broken);
	free(fs);
}

int foliofs_fs_add_sink(struct foliofs_fs *fs, const struct foliofs_sink *sink)
{
	struct ffs_env *env = &fs->ops.sb.env;
	u32 i;

	if (env->nr_sinks >= FFS_MAX_SINKS)
		return -ENOSPC;
	fs->sinks[env->nr_sinks++] = sink;
	for (i = 0; i < FOLIOFS_EV_COUNT; i++)
		env->on[i] |= sink->wants[i];
	return 0;
}

void foliofs_fs_set_busy(struct foliofs_fs *fs, bool busy)
{
	if (fs->ops.sb.journal)
		ffs_journal_set_busy(fs->ops.sb.journal, busy);
}

void foliofs_fs_mute(struct foliofs_fs *fs, bool mute)
{
	fs->ops.sb.env.muted = mute;
}

int64_t foliofs_fs_run(struct foliofs_fs *fs, const struct foliofs_op *op)
{
	s64 ret;

	if (unlikely(fs->power_off)) {
		ffs_error(&fs->ops.sb.env, "the power is off until the stopped operation is over");
		return -EIO;
	}
	if (unlikely(fs->stopped) && ffs_would_wait(fs, op))
		return -EDEADLK;
	if (op->kind == FOLIOFS_OP_RECOVER)
		return ffs_recover(fs, op);
	if (fs->ops.sb.type) {
		ret = ffs_run_op(&fs->ops, op);
		if (fs->options.rules)
			ffs_type_rules_after_op(fs, op, ret);
		return ret;
	}
	if (fs->options.crash_states) {
		ffs_promise_before(fs, op);
		ffs_cut_before(fs, op);
	}
	ret = ffs_run_op(&fs->ops, op);
	if (unlikely(fs->power_off)) {
		if (!fs->stopped)
			ffs_power_on(fs);
		return 0;
	}
	if (fs->options.crash_states) {
		ffs_promise_after(fs, op, ret);
		ffs_cut_after(fs, op, ret);
	}
	if (fs->options.rules)
		ffs_rules_after_op(fs, op, ret);
	return ret;
}

void foliofs_fs_close_all(struct foliofs_fs *fs)
{
	u32 i;

	for (i = 0; i < fs->ops.nr_files; i++) {
		const struct foliofs_op op = { .kind = FOLIOFS_OP_CLOSE, .file = (s32)i };

		if (!fs->ops.file[i]->inode)
			continue;
		if (fs->ops.sb.type)
			ffs_simple_run(&fs->ops, &op);
		else
			ffs_close(&fs->ops, fs->ops.file[i]);
	}
	ffs_sleep(&fs->ops.sb);
}

const char *foliofs_fs_error(const struct foliofs_fs *fs)
{
	return fs->ops.sb.env.error;
}

int foliofs_fs_mark_blocks(struct foliofs_fs *fs, uint64_t first, uint64_t end, bool used)
{
	const struct foliofs_geometry *g = &fs->ops.sb.env.geo;

	if (fs->ops.sb.type || first >= end || first < g->first_data_block || end > g->blocks_count)
		return -EINVAL;
	ffs_alloc_mark(fs->ops.sb.alloc, first, end, used);
	ffs_runs_set(&fs->marked, first, end, used, 0);
	return 0;
}

uint64_t foliofs_fs_free_blocks(const struct foliofs_fs *fs)
{
	if (fs->ops.sb.type)
		return fs->ops.sb.type->free_blocks(&fs->ops.sb);
	return ffs_free_clusters(fs->ops.sb.alloc) * fs->ops.sb.env.geo.cluster_ratio;
}

int foliofs_fs_unmount(struct foliofs_fs *fs)
{
	return fs->ops.sb.type ? fs->ops.sb.type->remount(&fs->ops) : ffs_remount(&fs->ops);
}

const struct foliofs_kernel *foliofs_fs_kernel(const struct foliofs_fs *fs)
{
	return &fs->ops.sb.env.kernel;
}

const struct foliofs_geometry *foliofs_fs_geometry(const struct foliofs_fs *fs)
{
	return &fs->ops.sb.env.geo;
}

void foliofs_fs_journal(const struct foliofs_fs *fs, struct foliofs_journal_state *s)
{
	struct ffs_journal_state j = { 0 };

	if (ffs_journal_present(fs->ops.sb.journal))
		ffs_journal_state(fs->ops.sb.journal, &j);
	*s = (struct foliofs_journal_state){
		.tid = j.tid, .outstanding = j.outstanding, .reserved = j.reserved,
		.log_free = j.log_free, .handles = j.handles, .blocks = j.blocks,
		.error = ffs_journal_error(fs->ops.sb.journal),
	};
}
