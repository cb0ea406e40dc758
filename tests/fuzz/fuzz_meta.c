// SPDX-License-Identifier: MIT
/* meta.yaml of captures: what is accepted is a geometry whose numbers agree. */
#define _GNU_SOURCE
#include "fuzz.h"

#include "geometry/geometry_options.h"

bool fuzz_accepted;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct foliofs_geometry g;
	struct geometry_args a = { 0 };
	char err[512] = "";
	int fd, ret;

	a.meta = fuzz_file(data, size, &fd);
	ret = geometry_load(&a, &g, err, sizeof(err));
	close(fd);
	fuzz_accepted = !ret;
	if (ret)
		fuzz_check(ret < 0 && err[0]);
	else
		fuzz_check(!foliofs_geometry_check(&g, err, sizeof(err)));
	return 0;
}
