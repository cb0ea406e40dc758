/* SPDX-License-Identifier: MIT */
/*
 * The content of files as it is seen by who has nothing but the bytes.
 *
 * In captures of kernels every byte says which operation wrote it at which offset: the byte of
 * operation N at offset o is byte o & 7 of a word made of N and o >> 3.  A whole word, where a
 * file has it at a multiple of 8, can be read without doubt.  Where bytes of several sources
 * share a word, each is taken for what stands beside it if it has that value there, else for
 * the newest operation that may have written it; what nobody wrote there is raw.  So a piece of
 * a few bytes can be taken for another operation's, or for one at another place, and bytes moved
 * by a distance that is no multiple of 8 are not recognized.  The model knows better, but its
 * captures are to be compared with those.
 */
#ifndef OUT_SEEN_H
#define OUT_SEEN_H

#include "files.h"

struct seen;

/* A reader who knows no operation yet. */
struct seen *seen_new(void);
void seen_free(struct seen *s);
/* Operation @id, in the syntax of op lists, ran. */
void seen_op(struct seen *s, uint32_t id, const char *text);
/* It moved nothing: it failed. */
void seen_failed(struct seen *s, uint32_t id);
/*
 * Content of all files as the reader sees it.  A raw byte has kind FOLIOFS_SOURCE_UNKNOWN and
 * SEEN_RAW + its value as source.  Logs other than op lists do not tell of operations here: then
 * nothing is changed.
 */
void seen_files(const struct seen *s, struct file_states *files);

#define SEEN_RAW 0x100u

#endif
