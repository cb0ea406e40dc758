#!/bin/sh
# SPDX-License-Identifier: MIT
# Each patch of the large-folio series taken away: its own scenario turns red and names the rule.
#
# FOLIOSIM: the simulator; SOURCE_DIR: the top of the source tree.  Ends with "N passed, M failed".
set -u
: "${SOURCE_DIR:=$(dirname "$0")/..}"
if [ -z "${FOLIOSIM:-}" ] || [ ! -x "$FOLIOSIM" ]; then
	echo "skipped: no foliosim at \"${FOLIOSIM:-}\" (set FOLIOSIM)"
	exit 77
fi
cd "$SOURCE_DIR/scenarios/changes" || exit 1
passed=0
failed=0

# gone PATCH CHANGE RULE...: what breaks without it, in the scenario of its number
gone() {
	patch=$1 change=$2
	shift 2
	for file in "$patch"-*.yaml; do
		"$FOLIOSIM" run "$file" >/dev/null 2>&1 && passed=$((passed + 1)) || {
			failed=$((failed + 1))
			echo "FAILED  $file with $patch: red"
		}
	done
	for name in "$patch" "$change"; do
		out=$("$FOLIOSIM" run --without "$name" "$patch"-*.yaml 2>&1)
		status=$?
		bad=
		[ $status = 1 ] || bad="exit status $status, expected 1"
		for rule in "$@"; do
			echo "$out" | grep -q "expected  rule $rule kept" || bad="$bad; no $rule"
		done
		if [ -z "$bad" ]; then
			passed=$((passed + 1))
		else
			failed=$((failed + 1))
			echo "FAILED  foliosim run --without $name $patch-*.yaml: $bad"
		fi
	done
}

gone P1 lf-read I2-stale-data assertion
gone P2 lf-write I7-dirty-unmapped I8-size-beyond-data lost-write
gone P3 lf-zero I4-eof-tail lost-write
gone P4 lf-credits credit-dry
gone P5 lf-leaf-credits credit-dry
gone P6 lf-writeback wrong-block
gone P7 lf-defrag lost-write wrong-block assertion
gone P8 lf-journal-mode lost-write

echo "$passed passed, $failed failed"
[ $failed = 0 ]
