/* SPDX-License-Identifier: MIT */
/*
 * How much two sequences have in common.
 *
 * In order: the sum of the matching blocks as Ratcliff and Obershelp find them
 * (longest common run first, then left and right of it), the measure that
 * Python's difflib uses, so that figures agree with the tools that come with
 * the captures.  Without order: what two multisets share.
 */
#ifndef CONFORM_MATCH_H
#define CONFORM_MATCH_H

#include <stddef.h>
#include <stdint.h>

/* Longer than this (product of the lengths), order is not looked at. */
#define MATCH_LIMIT 4000000u

size_t match_ordered(const uint32_t *a, size_t na, const uint32_t *b, size_t nb);
size_t match_unordered(const uint32_t *a, size_t na, const uint32_t *b, size_t nb);
/*
 * First place where they part: *@i and *@j are the indices of the first element
 * of @a that @b lacks and the other way round (na, nb: none).  In order, that is
 * where the common beginning ends.
 */
void match_first(const uint32_t *a, size_t na, const uint32_t *b, size_t nb, int ordered,
		 size_t *i, size_t *j);

#endif
