#!/bin/sh
# SPDX-License-Identifier: MIT
# Every failure in turn in all scenarios: errors as the kernel reports them, rules kept, nothing lost that
# was synced.  Every place is tried in the scenarios that are quick, in the others the first ones and ever
# fewer behind them.
#
# FOLIOSIM: the simulator; SOURCE_DIR: the top of the source tree.  Ends with "N passed, M failed".
set -u
: "${SOURCE_DIR:=$(dirname "$0")/..}"
: "${FOLIOSIM:?is not set}"
cd "$SOURCE_DIR/scenarios" || exit 1
passed=0
failed=0

# inject PLACES PATH...
inject() {
	places=$1
	shift
	out=$("$FOLIOSIM" run --inject all --places "$places" "$@")
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

inject 0 crash isize zeroing writeback teaching orders interleave field
inject 2 blockmath changes credits seeds

echo "$passed passed, $failed failed"
[ $failed = 0 ]
