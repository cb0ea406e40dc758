#!/bin/sh
# SPDX-License-Identifier: MIT
# Every scenario below scenarios/: what each expects must hold.
#
# FOLIOSIM: the simulator; SOURCE_DIR: the top of the source tree.  Ends with "N passed, M failed".
set -u
: "${SOURCE_DIR:=$(dirname "$0")/..}"
: "${FOLIOSIM:?is not set}"
cd "$SOURCE_DIR" || exit 1
out=$("$FOLIOSIM" run scenarios) # messages of scenarios that are refused go to standard error
status=$?
echo "$out" | grep -v '^ok '
# every scenario says why, and where its expectations come from: refused otherwise
sum=$(echo "$out" | sed -n 's/^[0-9]* scenarios, [0-9]* cases: \([0-9]* passed, [0-9]* failed\)$/\1/p')
echo "${sum:-0 passed, 1 failed}"
exit $status
