#!/bin/bash
# SPDX-License-Identifier: MIT
# Installs what lacks, builds with gcc (sanitizers; optimised) and with clang, runs every test.
# Ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")"
tools/packages.sh gcc g++ libc6-dev make cmake ninja-build pkg-config binutils libext2fs-dev \
	comerr-dev libyaml-dev libjson-c-dev uthash-dev zlib1g-dev libcmocka-dev e2fsprogs \
	gnuplot-nox scdoc clang
build=${BUILD:-build-test}

build_in() {
	if ! cmake --build "$1" -j2 >"$1/build.log" 2>&1; then
		grep -A 3 -e 'error' "$1/build.log" || tail "$1/build.log"
		echo "0 passed, 1 failed: $1 cannot be built"
		exit 1
	fi
}

CC=gcc cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DFOLIOFS_SANITIZE=ON >/dev/null
build_in "$build"
# What is optimised most gets the most warnings.
CC=gcc cmake -S . -B "$build-release" -G Ninja -DCMAKE_BUILD_TYPE=Release >/dev/null
build_in "$build-release"
CC=clang cmake -S . -B "$build-clang" -G Ninja -DCMAKE_BUILD_TYPE=Release >/dev/null
build_in "$build-clang"

export FOLIOSIM_SWEEP=$PWD/$build-release/foliosim # for sweeps over much
log=$build/ctest.log
status=0
ctest --test-dir "$build" -j2 --output-on-failure | tee "$log" || status=1
failed=$(sed -n 's/.* tests passed, \([0-9]*\) tests failed out of .*/\1/p' "$log")
all=$(sed -n 's/.* tests passed, [0-9]* tests failed out of \([0-9]*\)$/\1/p' "$log")
echo "$((${all:-0} - ${failed:-0})) passed, ${failed:-1} failed"
exit $status
