/* SPDX-License-Identifier: MIT */
/*
 * Small helpers that everything uses.  Ranges are half-open: [first, end).
 */
#ifndef FFS_BASE_H
#define FFS_BASE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;
typedef int32_t s32;

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define min(a, b) ({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ < b_ ? a_ : b_; })
#define max(a, b) ({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ > b_ ? a_ : b_; })
#define container_of(p, type, member) ((type *)((char *)(p) - offsetof(type, member)))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

static inline u64 div_up(u64 a, u64 b)
{
	return (a + b - 1) / b;
}

/* @a to a multiple of @b, which is a power of two. */
static inline u64 round_down_pow2(u64 a, u64 b)
{
	return a & ~(b - 1);
}

static inline u64 round_up_pow2(u64 a, u64 b)
{
	return (a + b - 1) & ~(b - 1);
}

/* Number of the highest bit set; @v is not 0. */
static inline unsigned int ilog2(u64 v)
{
	return 63u - (unsigned int)__builtin_clzll(v);
}

static inline bool is_pow2(u64 v)
{
	return v && !(v & (v - 1));
}

/*
 * Memory of the model itself.  SIMPLIFIED: a host without memory ends the
 * program; failures of the modelled kernel's allocations are injected elsewhere.
 */
void *ffs_zalloc(size_t size);
void *ffs_realloc(void *p, size_t size);

#endif
