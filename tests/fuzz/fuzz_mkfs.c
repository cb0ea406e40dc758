// SPDX-License-Identifier: MIT
/* Options of mke2fs, in the first line, and of mount, in the second. */
#define _GNU_SOURCE
#include "fuzz.h"

#include <foliofs/mkfs.h>

bool fuzz_accepted;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *mkfs = fuzz_string(data, size), *mount = strchr(mkfs, '\n'), err[512] = "";
	struct foliofs_geometry g = { 0 };
	int ret;

	if (mount) {
		*mount++ = '\0';
		mount[strcspn(mount, "\n")] = '\0';
	}
	ret = foliofs_geometry_from_mkfs(mkfs, &g, err, sizeof(err));
	if (!ret) {
		fuzz_check(!foliofs_geometry_check(&g, err, sizeof(err)));
		ret = mount ? foliofs_mount_parse(mount, &g, err, sizeof(err)) : 0;
	}
	fuzz_accepted = !ret;
	fuzz_check(!ret || (ret < 0 && err[0]));
	free(mkfs);
	return 0;
}
