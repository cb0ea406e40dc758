#!/bin/sh
# SPDX-License-Identifier: MIT
# A power cut at every event of what every capture did (tests/conform, and the golden captures beside the
# source tree where they are), under v6.18: no rule breaks, but for a hole that every kernel has (measured on
# 6.18.44: scenarios/crash/inline-overwritten.yaml): what a file writes when its data leaves the inode, the
# log overwrites with what was there before.  And where a fix is missing whose absence a
# power cut shows, its hole is found.
#
# FOLIOSIM: the simulator; FOLIOSIM_SWEEP: the same without sanitizers, for the larger collection;
# SOURCE_DIR: the top of the source tree.  Ends with "N passed, M failed".
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

for dir in "$SOURCE_DIR"/tests/conform/6.*/*/ "$SOURCE_DIR"/../shared/golden/*/ \
	"$SOURCE_DIR"/../shared/golden-6.*/*/; do
	dir=${dir%/}
	[ -f "$dir/meta.yaml" ] || continue
	case $dir in
	"$SOURCE_DIR"/tests/*) foliosim=$FOLIOSIM ;;
	*) foliosim=${FOLIOSIM_SWEEP:-$FOLIOSIM} ;;
	esac
	set -- --kernel v6.18 --meta "$dir/meta.yaml"
	prepare=$(unpack "$dir" prepare.txt)
	[ -s "$prepare" ] && set -- "$@" --prepare "$prepare"
	"$foliosim" replay --crash-every "$@" "$(unpack "$dir" ops.txt)" > "$work/out" 2>&1
	status=$?
	case $dir in
	*/inline-4k | */inline-overwritten-*)
		verdict "$dir" 1 $status
		grep -A 1 '^verdict      BROKEN: 1 rule$' "$work/out" | grep -q '^  I1-synced-lost:'
		verdict "$dir: I1-synced-lost alone" 0 $?
		;;
	*) verdict "$dir" 0 $status ;;
	esac
done

# hole CHANGE RULE OPTIONS...: the operations are clean under v6.18, without CHANGE RULE breaks
hole() {
	change=$1 rule=$2
	shift 2
	"$FOLIOSIM" replay --crash-every --kernel v6.18 "$@" "$work/ops" > "$work/out" 2>&1
	verdict "what shows $change, with it" 0 $?
	"$FOLIOSIM" replay --crash-every --kernel "v6.18-$change" "$@" "$work/ops" > "$work/out" 2>&1
	verdict "v6.18-$change" 1 $?
	grep -q "  $rule:" "$work/out"
	verdict "v6.18-$change: $rule" 0 $?
}

ops() { printf '%s\n' "$@" > "$work/ops"; }

ops "open a" "fsync a" "write a 0 64K" "fallocate a punch 16K 16K" "open full" \
	"fallocate full 0 0 10649600" "mwrite a 16384 4096" "commit"
hole punch-disksize I3-beyond-disksize --mkfs "size=16M -b 4096 -J size=4" --mount dioread_lock

# A 2 MiB folio in as many extents as blocks, each in a group of its own, in the smallest journal.
printf '%s\n' "sysfs reserved_clusters 50" "load_buddies" > "$work/prepare"
ops "open a" "truncate a 2M" "fsync a" "write a 0 2M" "fsync a"
hole partial-submit I2-stale-data --mkfs "size=20807680k -b 1024 -J size=1 -i 1048576" \
	--free-space "one block per group" --prepare "$work/prepare" --mount dioread_lock

# A block that was preallocated where somebody else's data was, and no space for delayed allocation.
printf '%s\n' "sysfs reserved_clusters 0" "open old" "write old 0 256K" "fsync old" "close old" \
	"unlink old" "sync" > "$work/prepare"
ops "open a" "fallocate a 0 0 4K" "write a 2K 2K" "fsync a"
hole unwritten-new I2-stale-data --mkfs "size=64M -b 4096" --prepare "$work/prepare" \
	--free-space first=4200,len=64,stride=64,count=1

ops "open a" "write a 0 8192" "fsync a" "open a direct sync as=d" "append d 4096"
hole dio-size-sync I1-synced-lost --mkfs "size=64M -b 4096"

# The large-folio series, patch by patch, as far as a power cut shows what is missing.
ops "open a" "write a 0 64K" "fsync a" "dropcaches" "mread a 0 4K madv=huge" "write a 30000 100" "fsync a"
hole lf-read I1-synced-lost --mkfs "size=64M -b 4096"
ops "open a" "for i 0 2 1: write a {i*4096} 4096" "fsync a" "dropcaches" "mread a 0 4K madv=huge" \
	"write a 0 1" "truncate a 4096" "write a 4096 100" "commit"
hole lf-write I8-size-beyond-data --mkfs "size=64M -b 4096"
ops "open a" "write a 0 64K" "fsync a" "write a 0 1" "truncate a 5000" "fsync a"
hole lf-zero I1-synced-lost --mkfs "size=64M -b 4096"
ops "open a" "write a 0 32K" "fsync a" "dropcaches" "write a 0 64K" "fsync a"
hole lf-writeback I1-synced-lost --mkfs "size=64M -b 4096"
ops "open a" "write a 0 64K" "fsync a" "open d" "write d 0 64K" "fsync d" "dropcaches" \
	"mread a 0 4K madv=huge" "moveext a d 32K 4K" "fsync a"
hole lf-defrag I1-synced-lost --mkfs "size=64M -b 4096"
ops "open a" "write a 0 64K" "chattr_j a on" "write a 20580 100" "fsync a"
hole lf-journal-mode I1-synced-lost --mkfs "size=128M -b 4096 -J size=16" --mount nodelalloc

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
