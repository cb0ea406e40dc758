#!/bin/sh
# SPDX-License-Identifier: MIT
# Failures in turn: errors as the kernel reports them, rules kept, nothing lost that was synced.  Of each kind
# 32 places and ever fewer behind them in the scenarios that are quick, less in those with folios of thousands
# of extents.  Left out here are credits and seeds, which take minutes: foliosim run --inject all scenarios
#
# FOLIOSIM: the simulator; FOLIOSIM_SWEEP: the same without sanitizers, for most of it;
# SOURCE_DIR: the top of the source tree.  Ends with "N passed, M failed".
set -u
: "${SOURCE_DIR:=$(dirname "$0")/..}"
: "${FOLIOSIM:?is not set}"
cd "$SOURCE_DIR/scenarios" || exit 1
passed=0
failed=0

# inject FOLIOSIM PLACES PATH...
inject() {
	foliosim=$1 places=$2
	shift 2
	out=$("$foliosim" run --inject all --places "$places" "$@")
	status=$?
	echo "$out" | grep -v '^ok '
	sum=$(echo "$out" |
		sed -n 's/^[0-9]* scenarios, [0-9]* cases: \([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p')
	if [ $status -gt 1 ] || [ -z "$sum" ]; then
		failed=$((failed + 1))
		return
	fi
	passed=$((passed + ${sum% *}))
	failed=$((failed + ${sum#* }))
}

inject "$FOLIOSIM" 32 crash isize teaching
inject "${FOLIOSIM_SWEEP:-$FOLIOSIM}" 32 zeroing writeback orders interleave field iomap xfs
inject "${FOLIOSIM_SWEEP:-$FOLIOSIM}" 1 blockmath changes

echo "$passed passed, $failed failed"
[ $failed = 0 ]
