/* SPDX-License-Identifier: MIT */
/*
 * Whole files in memory, gzip or plain, and their lines.
 */
#ifndef CONFORM_TEXT_H
#define CONFORM_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
	char *data; /* with a 0 behind the end */
	size_t len;
};

/* Half-open piece of a text. */
struct piece {
	const char *s;
	size_t len;
};

/* Read @path ("-": standard input).  0, or a negative errno. */
int text_read(const char *path, struct text *t);
/* DIR/NAME, or DIR/NAME.gz if that is what there is.  0, or a negative errno. */
int text_read_in(const char *dir, const char *name, struct text *t);
void text_free(struct text *t);

/* Next line at *@at, without its end; false behind the last.  *@at: start with 0. */
bool text_line(const struct text *t, size_t *at, struct piece *line);
/* Next word (between blanks) of @p, which is cut behind it; false if there is none. */
bool piece_word(struct piece *p, struct piece *word);
bool piece_is(struct piece p, const char *s);
bool piece_starts(struct piece p, const char *s);
/* Decimal number that fills @p: true and *@v. */
bool piece_number(struct piece p, uint64_t *v);
/* A copy with a 0 behind it (malloc; ends the program if there is no memory). */
char *piece_dup(struct piece p);

#endif
