#!/bin/bash
# SPDX-License-Identifier: MIT
# A real program (dd, 2 MB writes, fsync) on a file system with 1K blocks and a 1 MB journal,
# under four kernels: what its journal handles ask and dirty, and which kernel cannot do it.
# Leaves report/index.html.  demo.sh TRACE: another one of tests/data/traces.
set -euo pipefail
cd "$(dirname "$0")"
tools/packages.sh gcc libc6-dev make cmake ninja-build pkg-config libext2fs-dev comerr-dev \
	libyaml-dev libjson-c-dev uthash-dev zlib1g-dev gnuplot-nox
build=${BUILD:-build-demo}
CC=gcc cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DFOLIOFS_TESTS=OFF >/dev/null
cmake --build "$build" -j2 --target foliosim | tail -n 1

trace=${1:-tests/data/traces/dd.strace.gz}
fs="size=20G -b 1024 -J size=1"
set -x
status=0
"$build/foliosim" compare "$trace" --mkfs "$fs" --kernel v6.15,v6.16,v6.16.1,v6.18 \
	--report report || status=$?
# 1: a kernel breaks a rule or does something else than the first: that is what we came for
[ "$status" -le 1 ]
