#!/bin/sh
# SPDX-License-Identifier: MIT
# foliosim backport: the two changes that stable 6.16.1 took alone.
#
# FOLIOSIM: the simulator; SOURCE_DIR: the top of the source tree.  Ends with "N passed, M failed".
set -u
: "${SOURCE_DIR:=$(dirname "$0")/..}"
: "${FOLIOSIM:?is not set}"
cd "$SOURCE_DIR" || exit 1
passed=0
failed=0

# check TEXT EXPECTED-STATUS ARGUMENTS...: the output has each line of TEXT, blanks squeezed
check() {
	text=$1 want=$2
	shift 2
	out=$("$FOLIOSIM" backport "$@" 2>&1)
	got=$?
	bad=
	[ $got = "$want" ] || bad="exit status $got, expected $want"
	while IFS= read -r line; do
		echo "$out" | tr -s ' ' | grep -qF -- "$line" || bad="$bad; no \"$line\""
	done <<-EOF
	$text
	EOF
	if [ -z "$bad" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED  foliosim backport $*: $bad"
	fi
}

# The report of systemd: one group, credits 554 of 338 for a truncate (linux-ext4, August 2025).
check " restart, which count-extents needs: a handle is extended for every extent; if it cannot be, the work goes on in a new handle
 partial-submit, which restart needs: the mapped part of a folio is written when the mapping loop has to stop inside it
 truncate - truncate
 size=8M -b 4096: 1 group, is refused: asks 554 of 338
 under v6.16 42, under v6.18 31; descriptors 17 -> 529
 writeback reserve 21 -> 1577 size=16M -b 1024, 64K pages
 v6.16 credit-dry, operation 4 (fsync a): EROFS
 v6.16+count-extents+rsv-per-folio credit-refused, operation 4 (fsync a): ENOSPC" \
	1 --base v6.16 --pick count-extents rsv-per-folio scenarios/credits/one-block-per-group.yaml

# A change that needs nothing and asks for nothing.
check " punch-disksize: punch and zero range move i_disksize to the end of the range before dropping the cache
 none" 0 --base v6.17 --pick punch-disksize scenarios/teaching/first-write.yaml

check "expected the name of a change (foliosim kernels lists them), got one-extend" \
	2 --base v6.16 --pick one-extend
check "usage: foliosim backport" 2 --base v6.16

echo "$passed passed, $failed failed"
[ $failed = 0 ]
