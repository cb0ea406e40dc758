#!/bin/sh
# SPDX-License-Identifier: MIT
# Each patch of the large-folio series, and of ext4 on iomap, taken away: its own scenario turns red and
# names the rule.
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

# green FILE...: nothing is taken away
green() {
	for file in "$@"; do
		"$FOLIOSIM" run "$file" >/dev/null 2>&1 && passed=$((passed + 1)) || {
			failed=$((failed + 1))
			echo "FAILED  $file: red"
		}
	done
}

# red OPTION CHANGE FILES RULE...: the rules that are told of with --with or --without it
red() {
	option=$1 name=$2 files=$3
	shift 3
	# shellcheck disable=SC2086 # a pattern
	out=$("$FOLIOSIM" run "$option" "$name" $files 2>&1)
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
		echo "FAILED  foliosim run $option $name $files: $bad"
	fi
}

# gone PATCH CHANGE RULE...: what breaks without it, in the scenario of its number
gone() {
	patch=$1 change=$2
	shift 2
	green "$patch"-*.yaml
	red --without "$patch" "$patch-*.yaml" "$@"
	red --without "$change" "$patch-*.yaml" "$@"
}

gone P1 lf-read I2-stale-data assertion
gone P2 lf-write I7-dirty-unmapped I8-size-beyond-data lost-write
gone P3 lf-zero I4-eof-tail lost-write
gone P4 lf-credits credit-dry
gone P5 lf-leaf-credits credit-dry
gone P6 lf-writeback wrong-block
gone P7 lf-defrag lost-write wrong-block assertion
gone P8 lf-journal-mode lost-write

# ext4 on iomap, version 2 of February 2026, by the numbers of its patches, in scenarios of their names.
# Not here, since no rule is about them: 4 changes nothing by itself, 19 are events, 21 and 22 choose the
# path (eligible.yaml).
cd ../iomap || exit 1
iomap() {
	change=$1
	shift
	green "$change.yaml"
	red --without "$change" "$change.yaml" "$@"
}
green z-didzero-z-len.yaml
red --without z-didzero z-didzero-z-len.yaml I13-cut-stays	# 1
red --without z-len z-didzero-z-len.yaml I13-cut-stays		# 2
green order-truncdown-only-grown.yaml # 3: wrong as posted, so it is red with the rule kept
out=$("$FOLIOSIM" run --without order-truncdown-only order-truncdown-only-grown.yaml 2>&1)
if echo "$out" | grep -q "expected  rule I13-cut-stays broken"; then
	passed=$((passed + 1))
else
	failed=$((failed + 1))
	echo "FAILED  order-truncdown-only-grown.yaml: the rule is broken without the patch, too"
fi
iomap jzero-own-handle assertion		# 5
iomap trunc-zero-early lock-order		# 6
iomap zero-outside-handle lock-order		# 7
for more in grow range; do
	green zero-outside-handle-$more.yaml
	red --without zero-outside-handle zero-outside-handle-$more.yaml lock-order
done
iomap zero-eof-before-append I2-stale-data	# 8
iomap im-aops I1-synced-lost assertion		# 9
iomap im-read livelock				# 10
iomap im-da-seq livelock			# 11
iomap im-write I9-clean-delayed			# 12
iomap im-writeback I1-synced-lost		# 13
iomap im-mkwrite assertion			# 14
iomap im-dirty-clear-round lost-write		# 15
iomap im-inval-partial I14-dropped-dirty	# 16
iomap im-zero I13-cut-stays			# 17
iomap im-noorder lock-order			# 18
iomap im-nodefrag assertion			# 20

# Of the series of 2024.
iomap zr-sync-edges I2-stale-data
iomap mext-fallback assertion
green zero-as-read.yaml
red --with zero-as-read zero-as-read.yaml lost-write

echo "$passed passed, $failed failed"
[ $failed = 0 ]
