// SPDX-License-Identifier: MIT
/*
 * A fuzz target as a test, without libFuzzer: each file of the folders named, whole, cut behind
 * each of its bytes, and with each byte changed in a few ways.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include "fuzz.h"

#define MOST 4096 /* bytes: beyond, cuts and changes would take too long */

static void try_changes(uint8_t *data, size_t size)
{
	static const uint8_t other[] = { 0, ' ', '\n', '"', '(', '-', '9', 'K', '{', 0xff };

	for (size_t at = 0; at < size; at++) {
		uint8_t was = data[at];

		for (size_t i = 0; i < sizeof(other); i++) {
			data[at] = other[i];
			LLVMFuzzerTestOneInput(data, size);
		}
		data[at] = was;
	}
}

static void try_file(const char *dir, const char *name)
{
	uint8_t all[MOST + 1], *data;
	char path[4096];
	size_t size;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "rb");
	fuzz_check(f);
	size = fread(all, 1, sizeof(all), f);
	fclose(f);
	fuzz_check(size <= MOST);
	for (size_t len = 0; len <= size; len++) {
		/* of exactly that size, so that reading behind the end is seen */
		data = malloc(len ? len : 1);
		fuzz_check(data);
		memcpy(data, all, len);
		LLVMFuzzerTestOneInput(data, len);
		if (len == size) {
			if (!fuzz_accepted) {
				fprintf(stderr, "%s: refused\n", path);
				exit(1);
			}
			try_changes(data, len);
		}
		free(data);
	}
}

int main(int argc, char **argv)
{
	unsigned int files = 0;

	for (int i = 1; i < argc; i++) {
		DIR *d = opendir(argv[i]);
		struct dirent *e;

		fuzz_check(d);
		while ((e = readdir(d))) {
			if (e->d_name[0] == '.')
				continue;
			try_file(argv[i], e->d_name);
			files++;
		}
		closedir(d);
	}
	fuzz_check(files);
	printf("%u files\n", files);
	return 0;
}
