#!/bin/sh
# SPDX-License-Identifier: MIT
# Every failure in turn in the scenarios that are quick enough: errors as the kernel reports them, rules
# kept, nothing lost that was synced.
#
# FOLIOSIM: the simulator; SOURCE_DIR: the top of the source tree.  Ends with "N passed, M failed".
set -u
: "${SOURCE_DIR:=$(dirname "$0")/..}"
: "${FOLIOSIM:?is not set}"
cd "$SOURCE_DIR/scenarios" || exit 1
out=$("$FOLIOSIM" run --inject all crash isize zeroing writeback teaching orders interleave)
status=$?
echo "$out" | grep -v '^ok '
sum=$(echo "$out" | sed -n 's/^[0-9]* scenarios, [0-9]* cases: \([0-9]* passed, [0-9]* failed\)$/\1/p')
echo "${sum:-0 passed, 1 failed}"
exit $status
