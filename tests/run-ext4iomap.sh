#!/bin/sh
# SPDX-License-Identifier: MIT
# The operations of ext4's captures on the iomap path: the files end with the bytes that the kernel's
# buffer heads left, no rule breaks, and none at a power cut at any event.
#
# Environment: FOLIOSIM; FOLIOSIM_SWEEP: the same without sanitizers, for the larger collection.  Exit 0,
# or 1.  Ends with "N passed, M failed".
set -u
: "${SOURCE_DIR:=$(dirname "$0")/..}"
: "${FOLIOSIM:?is not set}"
kernel=iomap-next-v2-im-mountopt # on the path without a mount option
passed=0
failed=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# unpack FOLDER FILE: where the plain text of it is
unpack() {
	if [ -f "$1/$2.gz" ]; then
		gzip -dc "$1/$2.gz" > "$work/$2"
		echo "$work/$2"
	else
		echo "$1/$2"
	fi
}

verdict() { # NAME STATUS
	if [ "$2" = 0 ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED $1"
		head -n 20 "$work/out"
	fi
}

# Not for the bytes:
#	enospc-4k	a step that finds no space for all of its blocks stores none of them, with buffer
#			heads those it has space for
#	punch-zero-1k	zeros behind the end of a punch are part of the hole (punch-round-block, v6.19)
# Not for power cuts:
#	inline-4k	the log overwrites what a file wrote when its data left the inode (run-crash.sh); files
#			of such file systems are on buffer heads anyhow
for dir in "$SOURCE_DIR"/tests/conform/6.18/*/ "$SOURCE_DIR"/../shared/golden/*/; do
	dir=${dir%/}
	case $dir in
	"$SOURCE_DIR"/tests/*) foliosim=$FOLIOSIM ;;
	*) foliosim=${FOLIOSIM_SWEEP:-$FOLIOSIM} ;;
	esac
	name=${dir##*/}
	[ -f "$dir/meta.yaml" ] || continue
	case $name in
	enospc-4k | punch-zero-1k) ;;
	*)
		"$foliosim" conform --kernel $kernel --family content "$dir" > "$work/out" 2>&1
		grep -q "^$name  *same" "$work/out"
		verdict "$name: content" $?
		;;
	esac
	set -- --meta "$dir/meta.yaml"
	prepare=$(unpack "$dir" prepare.txt)
	[ -s "$prepare" ] && set -- "$@" --prepare "$prepare"
	ops=$(unpack "$dir" ops.txt)
	"$foliosim" replay --kernel $kernel "$@" "$ops" > "$work/out" 2>&1
	verdict "$name: rules" $?
	[ "$name" = inline-4k ] && continue
	"$foliosim" replay --kernel $kernel --crash-every "$@" "$ops" > "$work/out" 2>&1
	verdict "$name: power cuts" $?
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
