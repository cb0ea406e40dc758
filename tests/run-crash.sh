#!/bin/sh
# SPDX-License-Identifier: MIT
# A power cut at every event of every capture of 6.18 and later (tests/conform, and the golden captures
# beside the source tree where they are): no rule breaks.  And where a fix is missing, its hole is found.
#
# FOLIOSIM: the simulator; SOURCE_DIR: the top of the source tree.  Ends with "N passed, M failed".
set -u
: "${SOURCE_DIR:=$(dirname "$0")/..}"
: "${FOLIOSIM:?is not set}"
passed=0
failed=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# verdict NAME EXPECTED_STATUS STATUS
verdict() {
	if [ "$2" = "$3" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED $1: exit $3, expected $2"
		cat "$work/out"
	fi
}

# unpack FOLDER FILE: where the plain text of it is
unpack() {
	if [ -f "$1/$2.gz" ]; then
		gzip -dc "$1/$2.gz" > "$work/$2"
		echo "$work/$2"
	else
		echo "$1/$2"
	fi
}

for dir in "$SOURCE_DIR"/tests/conform/6.18/*/ "$SOURCE_DIR"/../shared/golden/*/; do
	dir=${dir%/}
	[ -f "$dir/meta.yaml" ] || continue
	set -- --meta "$dir/meta.yaml"
	prepare=$(unpack "$dir" prepare.txt)
	[ -s "$prepare" ] && set -- "$@" --prepare "$prepare"
	"$FOLIOSIM" replay --crash-every "$@" "$(unpack "$dir" ops.txt)" > "$work/out" 2>&1
	verdict "$dir" 0 $?
done

# hole NAME CHANGE RULE OPTIONS...: clean with the change, RULE broken without it
hole() {
	name=$1 change=$2 rule=$3
	shift 3
	"$FOLIOSIM" replay --crash-every "$@" "$work/ops" > "$work/out" 2>&1
	verdict "$name" 0 $?
	"$FOLIOSIM" replay --crash-every --without "$change" "$@" "$work/ops" > "$work/out" 2>&1
	verdict "$name without $change" 1 $?
	grep -q "  $rule:" "$work/out"
	verdict "$name without $change: $rule" 0 $?
}

printf '%s\n' "open a" "fsync a" "write a 0 64K" "fallocate a punch 16K 16K" "open full" \
	"fallocate full 0 0 10649600" "mwrite a 16384 4096" "commit" > "$work/ops"
hole punch punch-disksize I3-beyond-disksize --mkfs "size=16M -b 4096 -J size=4" \
	--mount dioread_lock

# A 2 MiB folio in as many extents as blocks, each in a group of its own, in the smallest journal.
printf '%s\n' "sysfs reserved_clusters 50" "load_buddies" > "$work/prepare"
printf '%s\n' "open a" "truncate a 2M" "fsync a" "write a 0 2M" "fsync a" > "$work/ops"
hole partial partial-submit I2-stale-data --mkfs "size=20807680k -b 1024 -J size=1 -i 1048576" \
	--free-space "one block per group" --prepare "$work/prepare" --mount dioread_lock

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
