#!/bin/sh
# SPDX-License-Identifier: MIT
# What is installed is enough: a program of somebody else is built by pkg-config against the
# shared and the static library, as C and as C++, and runs; foliosim and its data are there.
#
# Environment: BUILD_DIR.  Exit 0, 77 if there is no pkg-config, or 1 with what is wrong.
set -u
: "${BUILD_DIR:?is not set}"
command -v pkg-config >/dev/null || { echo "skipped: no pkg-config"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
wrong() {
	echo "$*"
	exit 1
}

cmake --install "$BUILD_DIR" --prefix "$work/usr" >log 2>&1 || wrong "install: $(tail log)"
pc=$(find usr -name foliofs.pc)
[ -n "$pc" ] || wrong "no foliofs.pc"
PKG_CONFIG_PATH=$work/$(dirname "$pc")
export PKG_CONFIG_PATH
lib=$(pkg-config --variable=libdir foliofs)
cat >t.c <<'EOF'
#include <foliofs/fs.h>
#include <foliofs/kernel.h>
#include <foliofs/mkfs.h>
#include <stdio.h>

int main(void)
{
	struct foliofs_geometry g = {};
	char err[200];

	if (foliofs_geometry_from_mkfs("size=64M -b 1024", &g, err, sizeof(err)))
		return 1;
	printf("%u %u\n", g.groups, g.journal_blocks);
	return 0;
}
EOF
cp t.c t.cc
# a library built with sanitizers wants them in the program
san=
nm "$lib/libfoliofs.a" 2>/dev/null | grep -q __asan_ && san="-fsanitize=address,undefined"
flags=$(pkg-config --cflags --libs foliofs)
static="$(pkg-config --cflags foliofs) $lib/libfoliofs.a"
# shellcheck disable=SC2086
{
	${CC:-gcc} $san t.c -o shared $flags || wrong "does not link with the shared library"
	${CXX:-g++} $san t.cc -o cplus $flags || wrong "does not link from C++"
	${CC:-gcc} $san t.c -o static $static || wrong "does not link with the static library"
}
# 64M in 1K blocks: 65536 blocks, 8 groups of 8192; mke2fs gives it a journal of 4096
for p in shared cplus static; do
	got=$(LD_LIBRARY_PATH=$lib ./$p) || wrong "$p fails"
	[ "$got" = "8 4096" ] || wrong "$p: expected 8 4096, got $got"
done
ls usr/bin/foliosim usr/share/foliosim/cost-constants.csv >/dev/null || exit 1
[ "$(LD_LIBRARY_PATH=$lib usr/bin/foliosim kernels | head -n 1)" = kernels ] ||
	wrong "the installed foliosim does not run"
