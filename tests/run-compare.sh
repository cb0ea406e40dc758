#!/bin/sh
# SPDX-License-Identifier: MIT
# foliosim compare: one byte stored into a 2 MiB folio over a hole, under pages, large folios on buffer
# heads, and large folios on iomap.  That such a store takes the whole folio was measured (v6.18, ext4 and
# XFS: st_blocks 4096); the other figures follow from the operations.
#
# Environment: FOLIOSIM.  Exit 0, or 1.  Ends with "N passed, M failed".
set -u
if [ -z "${FOLIOSIM:-}" ] || [ ! -x "$FOLIOSIM" ]; then
	echo "skipped: no foliosim at \"${FOLIOSIM:-}\" (set FOLIOSIM)"
	exit 77
fi
cd "$(dirname "$0")/.." || exit 1
passed=0
failed=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
printf '%s\n' "open a" "write a 0 16K" "truncate a 2M" "fsync a" "dropcaches" \
	"mread a 0 4096 madv=huge" "mtouch a 1M 1 1" "fsync a" "open b" "write b 0 4096" > "$work/ops"

is() { # ROW VALUES
	got=$(grep "^$1  " "$work/out" | head -n 1 | sed "s/^$1 *//; s/  */ /g")
	if [ "$got" = "$2" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED \"$1\": $got, expected $2"
	fi
}

"$FOLIOSIM" compare --kernel v6.15,v6.18,iomap-next-v2 --mkfs "size=64M -b 4096" \
	"$work/ops" > "$work/out" 2>&1
# 16 KiB, then a page or the folio; b is not written.
is "KiB to the device" "20 2064 2064"
# What a program wrote: 16 KiB and a byte, and 4 KiB of b that has only space promised.
is "KiB that files hold" "20 20 20"
is "  KiB of blocks for it" "24 2052 2052"
# b was never committed.
is "files after a power cut" "1 1 1"
is "  KiB by their size" "2048 2048 2048"
is "  KiB that they hold" "16 16 16"
is "rules broken" "0 0 0"

# Switched off there is nothing to compare with, and that is said.
"$FOLIOSIM" compare --kernel v7.0,iomap-next-v2 --mkfs "size=64M" --mount nobuffered_iomap "$work/ops" \
	> "$work/out" 2>&1
if grep -q "^iomap-next-v2: all files are on buffer heads" "$work/out"; then
	passed=$((passed + 1))
else
	failed=$((failed + 1))
	echo "FAILED: no word about the mount option"
fi

# replay and credits take the mount options as given, and say which path that is.
says() { # YES-OR-NO TEXT COMMAND...
	want=$1
	text=$2
	shift 2
	"$FOLIOSIM" "$@" > "$work/out" 2>&1
	if grep -q "$text" "$work/out"; then got=yes; else got=no; fi
	if [ "$got" = "$want" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED $*: \"$text\": $got, expected $want"
	fi
}
replayed="replay --kernel iomap-next-v2 --mkfs size=64M $work/ops"
says yes "^data path    buffer heads" $replayed
says no "^data path" $replayed --mount buffered_iomap
says no "^data path" replay --kernel v6.18 --mkfs size=64M "$work/ops"
# A set of changes that lacks one: every command that takes kernels tells of it, of a kernel that was
# built like that none but kernels.
"$FOLIOSIM" replay --json --mkfs size=64M "$work/ops" > "$work/result.json"
lacks="^foliosim: v6.16+count-extents lacks restart, which count-extents needs"
for command in "replay --mkfs size=64M $work/ops" "compare --mkfs size=64M $work/ops" \
	"credits --mkfs size=64M" "cost --constants data/cost-constants.csv --mkfs size=64M $work/ops" \
	"report --json $work/result.json" "run scenarios/isize/append-in-block.yaml" \
	"conform tests/conform/6.18/append-small-1k"; do
	other=v6.18,
	option=--kernel
	case $command in replay* | run* | conform*) other= ;; report*) option=--kernels ;; esac
	says yes "$lacks" ${command%% *} $option ${other}v6.16+count-extents ${command#* }
	says no " lacks " ${command%% *} $option ${other}v6.16.1 ${command#* }
done
says yes "v6.16.1 lacks restart, which count-extents needs" kernels v6.16.1
asked="credits --mkfs size=64M --kernel v6.18,iomap-next-v2"
says yes "^iomap-next-v2: files on buffer heads" $asked
says no "files on buffer heads" $asked --mount buffered_iomap

# The page of a comparison: each heading once, all kernels below it.
"$FOLIOSIM" compare --kernel v6.15,v6.16,v6.18 --mkfs size=64M --report "$work/page" "$work/ops" \
	> "$work/out" 2>&1
for heading in "All kernels of the comparison" "First differences"; do
	if [ "$(grep -c "<h2>$heading" "$work/page/index.html")" = 1 ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED: heading \"$heading\" is not there once"
	fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
