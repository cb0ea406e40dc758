// SPDX-License-Identifier: MIT
/*
 * Shared mappings: faults for stores and loads (filemap_fault, do_shared_fault,
 * do_fault_around, finish_fault; v6.18).  Each operation maps the range anew, so
 * the first touch of every page faults unless an earlier fault mapped its folio.
 */
#include "ops.h"

#define FAULT_AROUND 16u /* pages */

/* One mapping: pages [first, end) of the file and which of them page tables hold. */
struct vma {
	struct ffs_ops *o;
	struct ffs_file *f;
	u64 first, end; /* pages */
	u8 *mapped;
	enum ffs_ra_advice advice;
};

static u64 eof_pages(const struct vma *v)
{
	return div_up(v->f->inode->i_size, ffs_page_size(&v->o->sb.env));
}

/* The page is in the cache and uptodate: read ahead and read what is missing. */
static struct ffs_folio *fault_folio(struct vma *v, u32 index)
{
	struct ffs_mapping *m = v->f->inode->mapping;
	struct ffs_reader r = ffs_reader(v->o);
	struct ffs_folio *f = ffs_folio_find(m, index);

	if (f) {
		if (v->advice != FFS_RA_RANDOM && v->f->ra.ra_pages) {
			if (v->f->ra.mmap_miss)
				v->f->ra.mmap_miss--;
			if (f->flags & FFS_FOLIO_MARK)
				ffs_ra_async(m, &v->f->ra, &r, f, index, v->f->ra.ra_pages);
		}
	} else {
		ffs_ra_fault(m, &v->f->ra, &r, index, v->advice);
		f = ffs_folio_find(m, index);
		if (!f)
			f = ffs_folio_add(m, index & ~((1u << m->min_order) - 1), m->min_order);
	}
	if (!(f->flags & FFS_FOLIO_UPTODATE))
		ffs_read_folio(&v->o->sb, m, f);
	return f;
}

/* What the handled fault maps: the whole folio where it lies in the mapping, else the page. */
static void map_pages(struct vma *v, const struct ffs_folio *f, u64 index)
{
	u64 first = f->index, end = first + ffs_folio_pages(f), i;
	bool whole = ffs_sb_has(&v->o->sb, FOLIOFS_CHANGE_FAULT_AROUND_FOLIO) && first >= v->first &&
		     end <= v->end && end <= eof_pages(v);

	if (!whole) {
		v->mapped[index - v->first] = 1;
		return;
	}
	for (i = first; i < end; i++)
		v->mapped[i - v->first] = 1;
}

/* Cached pages around a read fault are mapped without further ado. */
static void fault_around(struct vma *v, u64 index)
{
	struct ffs_mapping *m = v->f->inode->mapping;
	u64 first = max(index & ~(u64)(FAULT_AROUND - 1), v->first);
	u64 end = min(min((index & ~(u64)(FAULT_AROUND - 1)) + FAULT_AROUND, v->end), eof_pages(v)), i;

	for (i = first; i < end; i++) {
		struct ffs_folio *f = ffs_folio_find(m, (u32)i);

		if (f && (f->flags & FFS_FOLIO_UPTODATE) && !(f->flags & FFS_FOLIO_MARK))
			v->mapped[i - v->first] = 1;
	}
}

/* A load or (@store) a store touches page @index: 0, or -EFAULT where the kernel sends SIGBUS. */
static int touch(struct vma *v, u64 index, bool store)
{
	struct ffs_super *sb = &v->o->sb;
	struct ffs_inode *inode = v->f->inode;
	struct ffs_folio *f;
	int err;

	/* A page whose memory has failed is not mapped, by nobody. */
	if (ffs_page_poisoned(inode->mapping, index, index + 1) == index)
		return -EFAULT;
	if (v->mapped[index - v->first])
		return 0;
	if (index >= eof_pages(v))
		return -EFAULT;
	if (!store) {
		fault_around(v, index);
		if (v->mapped[index - v->first])
			return 0;
	}
	f = fault_folio(v, (u32)index);
	if (store) {
		err = ffs_update_time(v->o, inode);
		if (!err)
			err = ffs_path_of(sb, inode)->mkwrite(sb, inode, f);
		if (err)
			return -EFAULT;
		f = ffs_folio_find(inode->mapping, (u32)index);
	}
	map_pages(v, f, index);
	return 0;
}

static int vma_open(struct vma *v, struct ffs_ops *o, struct ffs_file *f, u64 pos, u64 len)
{
	u8 bits = o->sb.env.page_bits;

	*v = (struct vma){ .o = o, .f = f, .first = pos >> bits };
	v->end = div_up(pos + len, 1ull << bits);
	if (v->end <= v->first)
		return -EINVAL;
	v->mapped = ffs_zalloc(v->end - v->first);
	/* mmap counts as an access. */
	return ffs_touch_atime(o, f, f->inode);
}

s64 ffs_mwrite(struct ffs_ops *o, struct ffs_file *f, const struct foliofs_op *op)
{
	struct ffs_inode *inode = f->inode;
	u64 page = ffs_page_size(&o->sb.env), stride = op->stride, pos = op->off;
	u64 end = op->off + op->len, done = 0;
	struct vma v;
	int err;

	if (!op->len)
		return -EINVAL;
	if (f->flags & (FOLIOFS_O_RDONLY | FOLIOFS_O_WRONLY))
		return -EACCES;
	err = vma_open(&v, o, f, op->off, op->len);
	if (err)
		return err;
	while (pos < end && !err) {
		u64 stop = stride ? pos + 1 : min((pos | (page - 1)) + 1, end);

		if (op->pause_ns && done) {
			o->sb.env.now_ns += op->pause_ns;
			ffs_sleep(&o->sb);
		}
		err = touch(&v, pos >> o->sb.env.page_bits, true);
		if (err)
			break;
		ffs_content_write(&inode->mapping->content, pos, stop,
				  ffs_src(o->sb.env.op, inode->ino));
		done++;
		pos = stride ? pos + stride : stop;
	}
	free(v.mapped);
	if (err)
		return err;
	return stride ? (s64)done : (s64)op->len;
}

s64 ffs_mread(struct ffs_ops *o, struct ffs_file *f, const struct foliofs_op *op)
{
	struct ffs_reader r = ffs_reader(o);
	u64 i, last;
	struct vma v;
	int err;

	if (!op->len)
		return -EINVAL;
	err = vma_open(&v, o, f, op->off, op->len);
	if (err)
		return err;
	switch (op->flags) {
	case FOLIOFS_MADV_HUGEPAGE:
		v.advice = FFS_RA_HUGEPAGE;
		break;
	case FOLIOFS_FADV_RANDOM:
		v.advice = FFS_RA_RANDOM;
		break;
	case FOLIOFS_FADV_SEQUENTIAL:
		v.advice = FFS_RA_SEQUENTIAL;
		break;
	case FOLIOFS_FADV_WILLNEED:
		ffs_ra_force(f->inode->mapping, &f->ra, &r, (u32)v.first, (u32)(v.end - v.first));
		break;
	default:
		break;
	}
	last = ffs_mread_last(op) >> o->sb.env.page_bits;
	for (i = v.first; i <= last && !err; i++)
		err = touch(&v, i, false);
	free(v.mapped);
	return err ? err : (s64)op->len;
}
