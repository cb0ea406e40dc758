#!/bin/sh
# SPDX-License-Identifier: MIT
# The logs of real programs (tests/data/traces): each is replayed without a rule broken, and the
# files end with the sizes that they really had (NAME.sizes), on several file systems.  A replay is a
# capture as a kernel's is: of programs that found nothing there, its op list comes to the same events.
#
# Environment: FOLIOSIM.  Exit 0, or 1.  Ends with "N passed, M failed".
set -u
: "${SOURCE_DIR:=$(cd "$(dirname "$0")/.." && pwd)}"
: "${FOLIOSIM:?is not set}"
cd "$SOURCE_DIR/tests/data/traces" || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

# path and size of each file of a state.yaml, as NAME.sizes has them
sizes() {
	awk '/^  [^ ].*:$/ { path = $0; sub(/^  /, "", path); sub(/:$/, "", path)
		if (path ~ /^".*"$/) { sub(/^"/, "", path); sub(/"$/, "", path) } }
		/^    size: / { print $2 " " path }' "$1" | sort
}

check() { # kernel, options of mke2fs, options of mount
	for trace in *.strace.gz; do
		name=${trace%.strace.gz}
		if ! "$FOLIOSIM" replay --kernel "$1" --mkfs "$2" --mount "$3" \
			--capture "$work/out" "$trace" >"$work/verdict" 2>&1; then
			echo "$name under $1 on $2 ($3):"
			head -n 20 "$work/verdict"
			failed=$((failed + 1))
			continue
		fi
		sizes "$work/out/state.yaml" >"$work/sizes"
		sort "$name.sizes" >"$work/real"
		if cmp -s "$work/sizes" "$work/real"; then
			passed=$((passed + 1))
		else
			echo "$name under $1 on $2 ($3): sizes differ (< real, > model)"
			diff "$work/real" "$work/sizes" | head -n 10
			failed=$((failed + 1))
		fi
	done
}

again() { # name: a trace without files from before
	"$FOLIOSIM" replay --kernel v6.18 --mkfs "size=1G" --capture "$work/again" "$1.strace.gz" \
		>/dev/null 2>&1
	if "$FOLIOSIM" conform "$work/again" >"$work/verdict" 2>&1; then
		passed=$((passed + 1))
	else
		echo "$1: the op list of its replay comes to other events:"
		head -n 5 "$work/verdict"
		failed=$((failed + 1))
	fi
}

again dd
again sqlite
check v6.18 "size=1G" ""
check v6.18 "size=20G -b 1024 -J size=1" ""
check v6.18 "size=4G -b 1024 -O ^has_journal" ""
check v6.18 "size=1G -b 2048" "nodelalloc"
check v6.18 "size=1G -O bigalloc" "data=journal"
check v6.15 "size=1G" "dioread_lock"
check iomap-next-v2 "size=1G" "buffered_iomap"
check iomap-next-v2 "size=20G -b 1024 -J size=1" "buffered_iomap"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
