/* SPDX-License-Identifier: MIT */
/*
 * What a fuzz target is: one file fuzz_NAME.c with the entry of libFuzzer for one parser, and
 * corpus/NAME with inputs to begin with.
 *
 * With -DFOLIOFS_FUZZ=ON (clang) the targets are libFuzzer's: build/tests/fuzz_strace DIR
 * tests/fuzz/corpus/strace.  Without, corpus.c drives them and each is a test.
 * A target aborts if a parser refuses without words, or accepts what breaks its promise.
 */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Set by a target: the parser took the input.  Every file of a corpus is one that it takes. */
extern bool fuzz_accepted;

#define fuzz_check(cond)                                                                           \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #cond);  \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* The input as a file in memory, for parsers that take a path; close(*@fd) when done. */
static inline const char *fuzz_file(const uint8_t *data, size_t size, int *fd)
{
	static char path[32];
	size_t done = 0;

	*fd = memfd_create("fuzz", 0);
	fuzz_check(*fd >= 0);
	while (done < size) {
		ssize_t n = write(*fd, data + done, size - done);

		fuzz_check(n > 0);
		done += (size_t)n;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", *fd);
	return path;
}

/* The input as a string (up to its first 0), to be freed. */
static inline char *fuzz_string(const uint8_t *data, size_t size)
{
	char *s = malloc(size + 1);

	fuzz_check(s);
	if (size)
		memcpy(s, data, size);
	s[size] = '\0';
	return s;
}

#endif
