#!/bin/sh
# SPDX-License-Identifier: MIT
# Every place where the code says SIMPLIFIED: is listed in docs/known-differences.md, by file,
# and nothing else is.
#
# Exit 0, or 1 with what lacks.
set -u
cd "${SOURCE_DIR:-$(dirname "$0")/..}" || exit 1
doc=docs/known-differences.md
failed=0
out=$(mktemp)
trap 'rm -f "$out"' EXIT
grep -rc 'SIMPLIFIED:' lib sim include --include='*.[ch]' --include='*.def' | grep -v ':0$' | sort |
	while IFS=: read -r file nr; do
		listed=$(grep -cF "| \`$file\` |" "$doc")
		[ "$listed" -eq "$nr" ] ||
			echo "$file: $nr simplifications, $listed of them in $doc"
	done >"$out"
grep -oE '^\| `[^`]*` \|' "$doc" | sed 's/^| `\(.*\)` |/\1/' | sort -u | while read -r file; do
	grep -q 'SIMPLIFIED:' "$file" 2>/dev/null || echo "$doc: $file says no SIMPLIFIED:"
done >>"$out"
if [ -s "$out" ]; then
	cat "$out"
	failed=1
fi
[ "$failed" -eq 0 ] && echo "every simplification is listed"
exit $failed
