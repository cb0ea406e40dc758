#!/bin/sh
# SPDX-License-Identifier: MIT
# The model against the kernel that runs here: each spec of this folder is recorded by
# tools/capture.py and compared by foliosim conform.
#
# Usage: run-live.sh [SPEC...].  Environment: FOLIOSIM; KEEP: a folder for the captures.
# Exit 0, 1 if one differs (or cannot be recorded), 77 with the reason if none can be made here.
set -u
here=$(cd "$(dirname "$0")" && pwd)
: "${FOLIOSIM:?is not set}"
skip()
{
	echo "skipped: $1" >&2
	exit 77
}
command -v python3 >/dev/null || skip "no python3"
[ "$(id -u)" = 0 ] || skip "not root"
# Ask the kernel: a write of 64 KiB to a new file has to make one folio.
probe=$(mktemp -d)
out=${KEEP:-$probe/captures}
mkdir -p "$out"
trap 'rm -rf "$probe"' EXIT
trap 'exit 130' INT TERM HUP
printf 'desc: probe\nops:\n  open a\n  write a 0 65536\n' >"$probe/probe.spec"
python3 "$here/../../tools/capture.py" "$probe/probe.spec" "$probe/probe" >"$probe/log" 2>&1
case $? in
0) ;;
130) exit 130 ;;
*) skip "$(tail -n 1 "$probe/log")" ;;
esac
grep -q 'ofs=0 order=4' "$probe/probe/events.txt" || skip "ext4 without large folios"
[ $# -gt 0 ] || set -- "$here"/*.spec
passed=0
failed=0
for spec in "$@"; do
	name=$(basename "$spec" .spec)
	# What depends on the scheduler may differ once: the kernel is asked again.
	for try in 1 2 3; do
		if ! python3 "$here/../../tools/capture.py" "$spec" "$out/$name" >"$probe/log" 2>&1
		then
			cat "$probe/log"
			break
		fi
		"$FOLIOSIM" conform "$out/$name" >"$probe/log" 2>&1 && try=same && break
	done
	if [ "$try" = same ]; then
		passed=$((passed + 1))
		echo "$name: same"
	else
		failed=$((failed + 1))
		echo "$name: differs"
		sed '/^family/,$d' "$probe/log"
	fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
