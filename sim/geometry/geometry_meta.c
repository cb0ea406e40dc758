// SPDX-License-Identifier: MIT
/* meta.yaml of a capture: see geometry_meta.h. */
#include "geometry_meta.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "geometry_other.h"

struct reader {
	struct flat_yaml y;
	struct geometry_meta *m;
	struct foliofs_geometry *g;
};

/* Numbers that are listed under the name of their field. */
static const struct number {
	const char *key;
	size_t offset; /* in struct foliofs_geometry */
	size_t size;
} numbers[] = {
#define NUMBER(field)                                                                              \
	{ #field, offsetof(struct foliofs_geometry, field),                                       \
	  sizeof(((struct foliofs_geometry *)0)->field) }
	NUMBER(block_size),
	NUMBER(blocks_count),
	NUMBER(first_data_block),
	NUMBER(groups),
	NUMBER(blocks_per_group),
	NUMBER(clusters_per_group),
	NUMBER(desc_size),
	NUMBER(gdb_count),
	NUMBER(reserved_gdt_blocks),
	NUMBER(flex_bg_size),
	NUMBER(inode_size),
	NUMBER(inodes_per_group),
	NUMBER(journal_blocks),
	NUMBER(read_ahead_kb),
	NUMBER(cpus),
#undef NUMBER
};

/* The number of @e, at most @max. */
static int number(const struct reader *r, const struct flat_entry *e, uint64_t max, uint64_t *value)
{
	if (foliofs_parse_size(e->value, value) || *value > max)
		return flat_yaml_refuse(&r->y, e, "%s: expected a number up to %llu, got '%s'",
					e->key, (unsigned long long)max, e->value);
	return 0;
}

/* As number(); a key that is missing leaves @value alone. */
static int number_if(const struct reader *r, const char *key, uint64_t max, uint64_t *value)
{
	const struct flat_entry *e = flat_yaml_find(&r->y, key);

	return e ? number(r, e, max, value) : 0;
}

static void text_if(const struct reader *r, const char *key, char *out, size_t len)
{
	const struct flat_entry *e = flat_yaml_find(&r->y, key);

	snprintf(out, len, "%s", e ? e->value : "");
}

/* The geometry that mke2fs makes with the options of the capture. */
static int compute(const struct reader *r)
{
	const struct flat_entry *e = flat_yaml_find(&r->y, "mke2fs");
	uint64_t size = 0, page = 4096;
	char text[200], *options;
	size_t len;
	int ret;

	if (number_if(r, "image_size", INT64_MAX, &size) || number_if(r, "page_size", 65536, &page))
		return -EINVAL;
	r->g->page_size = (uint32_t)page;
	if (!e)
		return 0;
	if (!size)
		return flat_yaml_refuse(&r->y, e, "mke2fs: image_size is missing");
	len = strlen(e->value) + 32;
	options = malloc(len);
	if (!options)
		return flat_yaml_refuse(&r->y, e, "no memory");
	snprintf(options, len, "size=%llu %s", (unsigned long long)size, e->value);
	ret = foliofs_geometry_from_mkfs(options, r->g, text, sizeof(text));
	free(options);
	return ret ? flat_yaml_refuse(&r->y, e, "mke2fs: %s", text) : 0;
}

static int listed_numbers(const struct reader *r)
{
	bool computed = flat_yaml_find(&r->y, "mke2fs") != NULL;
	uint64_t value, cluster = 0, queue = 0;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		const struct number *n = &numbers[i];
		const struct flat_entry *e = flat_yaml_find(&r->y, n->key);
		char *field = (char *)r->g + n->offset;

		if (!e && !computed && strcmp(n->key, "read_ahead_kb") && strcmp(n->key, "cpus"))
			return flat_yaml_refuse(&r->y, NULL, "neither mke2fs nor %s is given",
						n->key);
		if (!e)
			continue;
		if (number(r, e, n->size == 8 ? INT64_MAX : UINT32_MAX, &value))
			return -EINVAL;
		if (n->size == 8)
			memcpy(field, &value, 8);
		else
			memcpy(field, &(uint32_t){ (uint32_t)value }, 4);
	}
	/* dumpe2fs prints no size where there is no flex_bg; captures say 0 then. */
	if (!r->g->flex_bg_size)
		r->g->flex_bg_size = 1;
	if (number_if(r, "cluster_size", UINT32_MAX, &cluster) ||
	    number_if(r, "queue.max_sectors_kb", UINT32_MAX / 1024, &queue))
		return -EINVAL;
	if (cluster && r->g->block_size)
		r->g->cluster_ratio = (uint32_t)cluster / r->g->block_size;
	else if (!computed)
		r->g->cluster_ratio = 1;
	if (queue && r->g->page_size)
		r->g->io_opt_pages = (uint32_t)queue * 1024 / r->g->page_size;
	value = 0;
	if (number_if(r, "max_transaction_blocks", UINT32_MAX, &value))
		return -EINVAL;
	r->m->max_transaction_blocks = (uint32_t)value;
	return 0;
}

static int listed_features(const struct reader *r)
{
	uint32_t all = 0, bit;
	bool any = false;

	for (size_t i = 0; i < r->y.count; i++) {
		const struct flat_entry *e = &r->y.entries[i];
		int ret;

		if (strcmp(e->key, "features[]"))
			continue;
		ret = foliofs_feature_find(e->value, &bit);
		if (ret)
			return flat_yaml_refuse(&r->y, e, "features: %s feature '%s'",
						ret == -ENOENT ? "unknown" : "not modelled:",
						e->value);
		all |= bit;
		any = true;
	}
	if (any)
		r->g->features = all;
	return 0;
}

static int listed_files(const struct reader *r)
{
	for (size_t i = 0; i < r->y.count; i++) {
		const struct flat_entry *e = &r->y.entries[i];
		struct geometry_meta *m = r->m;
		struct geometry_meta_file *f;
		uint64_t ino;

		if (strncmp(e->key, "files.", 6))
			continue;
		if (number(r, e, UINT32_MAX, &ino))
			return -EINVAL;
		f = realloc(m->files, (m->nr_files + 1) * sizeof(*f));
		if (!f)
			return flat_yaml_refuse(&r->y, e, "no memory");
		m->files = f;
		f += m->nr_files;
		f->name = strdup(e->key + 6);
		if (!f->name)
			return flat_yaml_refuse(&r->y, e, "no memory");
		f->ino = (uint32_t)ino;
		m->nr_files++;
	}
	return 0;
}

static int interpret(const struct reader *r)
{
	char text[200];

	if (compute(r) || listed_numbers(r) || listed_features(r) || listed_files(r))
		return -EINVAL;
	text_if(r, "kernel", r->m->kernel, sizeof(r->m->kernel));
	text_if(r, "kernel_note", r->m->kernel_note, sizeof(r->m->kernel_note));
	text_if(r, "mount", r->m->mount, sizeof(r->m->mount));
	if (foliofs_mount_parse(r->m->mount, r->g, text, sizeof(text)))
		return flat_yaml_refuse(&r->y, flat_yaml_find(&r->y, "mount"), "mount: %s", text);
	if (foliofs_geometry_check(r->g, text, sizeof(text))) {
		size_t len = strcspn(text, ":");

		for (size_t i = 0; i < r->y.count; i++)
			if (strlen(r->y.entries[i].key) == len &&
			    !strncmp(r->y.entries[i].key, text, len))
				return flat_yaml_refuse(&r->y, &r->y.entries[i], "%s", text);
		return flat_yaml_refuse(&r->y, NULL, "%s", text);
	}
	return 0;
}

int geometry_meta_load(const char *path, struct geometry_meta *m, struct foliofs_geometry *g,
		       char *err, size_t errlen)
{
	struct reader r = { .m = m, .g = g };
	int ret;

	*m = (struct geometry_meta){ 0 };
	*g = (struct foliofs_geometry){ .read_ahead_kb = 128 };
	ret = flat_yaml_read(path, &r.y, err, errlen);
	if (!ret)
		ret = geometry_other(&r.y, m, g);
	if (ret > 0)
		ret = interpret(&r);
	flat_yaml_free(&r.y);
	if (ret)
		geometry_meta_free(m);
	return ret;
}

void geometry_meta_free(struct geometry_meta *m)
{
	for (size_t i = 0; i < m->nr_files; i++)
		free(m->files[i].name);
	free(m->files);
	*m = (struct geometry_meta){ 0 };
}
