// SPDX-License-Identifier: MIT
/*
 * Operations of tmpfs: shmem_file_write_iter, shmem_write_begin/_end, shmem_file_read_iter,
 * shmem_fault, shmem_setattr, shmem_undo_range, shmem_fallocate (v6.18).
 */
#include "shmem.h"

/* Pages that nobody filled before read as zeros. */
static void fill_folio(struct ffs_inode *inode, struct ffs_folio *f)
{
	struct ffs_mapping *m = inode->mapping;

	if (f->flags & FFS_FOLIO_UPTODATE)
		return;
	ffs_content_zero(&m->content, ffs_folio_pos(m, f), ffs_folio_end(m, f));
	f->flags |= FFS_FOLIO_UPTODATE;
}

static s64 write_file(struct ffs_ops *o, struct ffs_file *f, u64 pos, u64 len, u64 readable)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_inode *inode = f->inode;
	struct ffs_mapping *m = inode->mapping;
	u64 chunk = (u64)ffs_page_size(&sb->env) << m->max_order, done = 0;

	if (f->flags & FOLIOFS_O_RDONLY)
		return -EBADF;
	while (done < len) {
		u64 at = pos + done, n = min(len - done, chunk - (at & (chunk - 1)));
		struct ffs_folio *folio;

		if (done >= readable)
			return done ? (s64)done : -EFAULT;
		folio = ffs_shmem_folio(sb, inode, (u32)(at >> sb->env.page_bits), at + n, NULL);
		if (!folio)
			return done ? (s64)done : -ENOSPC;
		n = min(min(n, ffs_folio_end(m, folio) - at), readable - done);
		fill_folio(inode, folio);
		ffs_emit(&sb->env, foliofs_step, inode->ino, 1, at, n,
			 ffs_folio_size(m, folio));
		ffs_store_content(sb, inode, &m->content, at, at + n);
		ffs_folio_set_dirty(folio);
		if (at + n > inode->i_size)
			ffs_set_isize(sb, inode, at + n);
		done += n;
	}
	return (s64)done;
}

static s64 read_file(struct ffs_ops *o, struct ffs_file *f, u64 pos, u64 len)
{
	struct ffs_inode *inode = f->inode;
	u64 done = 0, unit;

	if (f->flags & FOLIOFS_O_WRONLY)
		return -EBADF;
	while (done < len && pos + done < inode->i_size) {
		u64 n = ffs_shmem_read_step(&o->sb, inode, pos + done, len - done, &unit);

		if (!n)
			return done ? (s64)done : -EIO;
		ffs_emit(&o->sb.env, foliofs_step, inode->ino, 0, pos + done, n, unit);
		done += n;
	}
	return (s64)done;
}

/* The folio of an edge is dirty from here on, with all pieces that it may be split into. */
static void dirty_edge(struct ffs_inode *inode, u64 pos)
{
	u64 index = pos / ffs_page_size(inode->mapping->env);
	struct ffs_folio *f = index < ~0u ? ffs_folio_find(inode->mapping, (u32)index) : NULL;

	if (f)
		ffs_folio_set_dirty(f);
}

/* What is cached of [pos, end) goes; edges are zeroed, folios split. */
static void undo_range(struct ffs_super *sb, struct ffs_inode *inode, u64 pos, u64 end)
{
	u64 before = inode->mapping->nr_pages, page = ffs_page_size(&sb->env);
	u64 *alloc_end = &inode->mapping->alloc_end;

	if (*alloc_end > div_up(pos, page) && *alloc_end <= end / page)
		*alloc_end = div_up(pos, page);
	dirty_edge(inode, pos);
	dirty_edge(inode, end - 1);
	ffs_truncate_cache(sb, inode, pos, end);
	ffs_shmem(sb)->used -= before - inode->mapping->nr_pages;
	inode->i_blocks = inode->mapping->nr_pages;
}

static int set_size(struct ffs_super *sb, struct ffs_inode *inode, u64 size)
{
	u64 old = inode->i_size;

	ffs_set_isize(sb, inode, size);
	if (size <= old && inode->mapping->nr_folios)
		undo_range(sb, inode, size, ~0ull);
	return 0;
}

/* What a fallocate that ran out of space has brought, pages [first, end), goes again. */
static void unallocate(struct ffs_super *sb, struct ffs_inode *inode, u64 first, u64 end)
{
	struct ffs_mapping *m = inode->mapping;

	while (first < end) {
		struct ffs_folio *f = ffs_folio_find(m, (u32)first);
		u64 pages = ffs_folio_pages(f);

		first = f->index + pages;
		if (f->flags & FFS_FOLIO_UPTODATE)
			continue;
		ffs_folio_delete(m, f);
		ffs_shmem(sb)->used -= pages;
	}
	inode->i_blocks = m->nr_pages;
}

static int allocate(struct ffs_ops *o, struct ffs_file *f, u32 mode, u64 off, u64 len)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_inode *inode = f->inode;
	u64 page = ffs_page_size(&sb->env), first = off / page, end = div_up(off + len, page);
	u64 i = first, alloc_end = inode->mapping->alloc_end;

	if (mode == (FOLIOFS_FALLOC_PUNCH_HOLE | FOLIOFS_FALLOC_KEEP_SIZE)) {
		undo_range(sb, inode, off, off + len);
		return 0;
	}
	if (mode & ~FOLIOFS_FALLOC_KEEP_SIZE)
		return -EOPNOTSUPP;
	if (end - i > ffs_shmem(sb)->max_pages)
		return -ENOSPC;
	inode->mapping->alloc_end = max(alloc_end, end);
	while (i < end) {
		struct ffs_folio *folio = ffs_folio_find(inode->mapping, (u32)i);

		/* What an earlier fallocate brought is zeroed now: it stays, whatever happens. */
		if (folio)
			fill_folio(inode, folio);
		else
			folio = ffs_shmem_folio(sb, inode, (u32)i, off + len, NULL);
		if (!folio) {
			unallocate(sb, inode, first, i);
			inode->mapping->alloc_end = alloc_end;
			return -ENOSPC;
		}
		ffs_folio_set_dirty(folio);
		i = (u64)folio->index + ffs_folio_pages(folio);
	}
	if (!(mode & FOLIOFS_FALLOC_KEEP_SIZE) && off + len > inode->i_size)
		ffs_set_isize(sb, inode, off + len);
	return 0;
}

/* Stores (@store), or loads, of one byte each @stride bytes; 0: every byte. */
static s64 touch(struct ffs_ops *o, struct ffs_file *f, const struct foliofs_op *op, bool store,
		 u64 stride)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_inode *inode = f->inode;
	struct ffs_mapping *m = inode->mapping;
	u64 page = ffs_page_size(&sb->env), pos = op->off, end = op->off + op->len, done = 0;
	const struct ffs_shmem_vma vma = {
		.first = op->off / page, .end = div_up(end, page),
		.huge = op->flags == FOLIOFS_MADV_HUGEPAGE,
	};

	if (!op->len)
		return -EINVAL;
	if (!store)
		end = ffs_mread_last(op) + 1;
	while (pos < end) {
		u64 stop = stride ? pos + 1 : min((pos | (page - 1)) + 1, end);
		struct ffs_folio *folio;

		if (pos / page >= div_up(inode->i_size, page) ||
		    ffs_page_poisoned(m, pos / page, pos / page + 1) == pos / page)
			return -EFAULT;
		folio = ffs_shmem_folio(sb, inode, (u32)(pos / page), 0, &vma);
		if (!folio)
			return -EFAULT;
		fill_folio(inode, folio);
		if (store) {
			ffs_content_write(&m->content, pos, stop, ffs_src(sb->env.op, inode->ino));
			ffs_folio_set_dirty(folio);
		}
		done++;
		pos = stride ? pos + stride : stop;
	}
	return stride ? (s64)done : (s64)op->len;
}

static s64 run(struct ffs_ops *o, const struct foliofs_op *op)
{
	struct ffs_file *f = ffs_file(o, op->file), *g;

	switch (op->kind) {
	case FOLIOFS_OP_SYNC:
	case FOLIOFS_OP_SYNCFS:
	case FOLIOFS_OP_DROP_CACHES: /* the page cache is all there is of a file */
	case FOLIOFS_OP_COMMIT:
		return 0;
	case FOLIOFS_OP_FSYNC:
	case FOLIOFS_OP_FDATASYNC:
		return f ? 0 : -EBADF;
	case FOLIOFS_OP_MSYNC:
	case FOLIOFS_OP_SYNC_RANGE:
	case FOLIOFS_OP_FADVISE:
		return 0;
	case FOLIOFS_OP_MWRITE:
		return touch(o, f, op, true, 0);
	case FOLIOFS_OP_MTOUCH:
		return touch(o, f, op, true, op->stride);
	case FOLIOFS_OP_MREAD:
		return touch(o, f, op, false, 0);
	case FOLIOFS_OP_HWPOISON:
		return f ? ffs_hwpoison(o, f, op->off) : -EBADF;
	case FOLIOFS_OP_COPY_RANGE:
		g = ffs_file(o, op->file2);
		return f && g ? ffs_copy_range(o, f, g, op, read_file, write_file) : -EBADF;
	default:
		return -EOPNOTSUPP;
	}
}

static struct ffs_inode *inode_new(struct ffs_ops *o, u32 mode)
{
	struct ffs_inode *inode = ffs_simple_inode(o, ffs_shmem(&o->sb)->next_ino++, mode);

	/* Without huge= every step of a write is one page. */
	if (ffs_is_reg(inode) && o->sb.env.geo.huge != FOLIOFS_HUGE_NEVER)
		inode->mapping->max_order = 9;
	return inode;
}

static void inactivate(struct ffs_ops *o, struct ffs_inode *inode)
{
	ffs_shmem_forget(&o->sb, inode);
	undo_range(&o->sb, inode, 0, ~0ull);
	ffs_simple_inode_free(o, inode);
}

/* Folios that were only allocated hold no data: holes, to whoever looks. */
static bool next_run(const struct ffs_super *sb, const struct ffs_inode *inode, u64 lblk,
		     struct ffs_type_run *r)
{
	const struct ffs_folio *f = ffs_folio_next(inode->mapping, (u32)lblk);

	(void)sb;
	while (f && !(f->flags & FFS_FOLIO_UPTODATE))
		f = ffs_folio_next(inode->mapping, f->index + ffs_folio_pages(f));
	if (!f)
		return false;
	*r = (struct ffs_type_run){ .lblk = max((u64)f->index, lblk) };
	r->len = (u64)f->index + ffs_folio_pages(f) - r->lblk;
	return true;
}

static u64 free_blocks(const struct ffs_super *sb)
{
	return ffs_shmem(sb)->max_pages - ffs_shmem(sb)->used;
}

static int remount(struct ffs_ops *o)
{
	return ffs_simple_busy(o) ? -EBUSY : 0;
}

/* Nothing is left. */
static void restore(struct ffs_ops *to, const struct ffs_ops *from)
{
	(void)to;
	(void)from;
}

static void destroy(struct ffs_ops *o)
{
	struct ffs_super *sb = &o->sb;
	u32 i;

	for (i = 0; i < sb->cap_inodes;) {
		if (sb->inodes[i])
			ffs_simple_inode_free(o, sb->inodes[i]); /* may move another one here */
		else
			i++;
	}
	free(ffs_shmem(sb)->beyond);
	free(sb->fs_private);
}

static const struct ffs_fs_type type = {
	.in_memory = true,
	.run = run,
	.inode_new = inode_new,
	.inactivate = inactivate,
	.read = read_file,
	.write = write_file,
	.fallocate = allocate,
	.setsize = set_size,
	.next_run = next_run,
	.free_blocks = free_blocks,
	.remount = remount,
	.restore = restore,
	.destroy = destroy,
};

void ffs_shmem_mount(struct ffs_ops *o)
{
	struct ffs_super *sb = &o->sb;
	struct ffs_shmem *s = ffs_zalloc(sizeof(*s));

	*s = (struct ffs_shmem){ .max_pages = sb->env.geo.blocks_count, .next_ino = 1 };
	sb->type = &type;
	sb->fs_private = s;
	o->root = inode_new(o, FFS_S_IFDIR | 0755);
	o->root->nlink = 2;
	ffs_vfs(o->root)->parent = o->root->ino;
}
