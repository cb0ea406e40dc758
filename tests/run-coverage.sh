#!/bin/sh
# SPDX-License-Identifier: MIT
# Every rule has a scenario that breaks it, and every change of a kernel has one that shows what it
# does: a case with it and a case without.  What lacks stands in tests/coverage.txt with a reason;
# what stands there and does not lack is told, too.
#
# Ends with "N passed, M failed".
set -u
cd "${SOURCE_DIR:-$(dirname "$0")/..}" || exit 1
list=tests/coverage.txt
passed=0
failed=0

ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "$*"; }

# 1: a rule or a change, 2: its name, 3: 0 if a scenario has it
judge() {
	if grep -q "^$1 $2 ." "$list"; then
		if [ "$3" -eq 0 ]; then
			bad "$1 $2 has a scenario and stands in $list"
		else
			ok
		fi
	elif [ "$3" -eq 0 ]; then
		ok
	else
		bad "$1 $2 has no scenario"
	fi
}

broken=$(grep -rhE '^ *(expect: *\{.*)?rules: *\[' scenarios --include='*.yaml' |
	sed 's/.*rules: *\[\([^]]*\)\].*/\1/' | tr ', ' '\n\n' | sort -u)
for rule in $(sed -n 's/^FOLIOFS_RULE([A-Z_0-9]*, "\([^"]*\)".*/\1/p' include/foliofs/rules.def); do
	echo "$broken" | grep -qx "$rule"
	judge rule "$rule" $?
done

# The names behind with: and without: of a case, and those joined to the name of a kernel.  What the
# whole scenario has (with: at the beginning of a line) is shown only where a case is without it.
shown=$({
	grep -rhE '(with|without): *\[?[a-z0-9, -]*' scenarios --include='*.yaml' | grep -v '^with:' |
		grep -oE '(with|without): *\[?[a-z0-9, -]*' | sed 's/^[a-z]*: *\[*//' | tr ', ' '\n\n'
	grep -rhE '^ *kernel:' scenarios --include='*.yaml' | tr '[], ' '\n\n\n\n' |
		grep -oE '[+-][a-z][a-z0-9-]*' | sed 's/^[+-]//'
} | sort -u)
for change in $(sed -n 's/^FOLIOFS_CHANGE([A-Z_0-9]*, "\([^"]*\)".*/\1/p' include/foliofs/changes.def); do
	echo "$shown" | grep -qx -e "$change"
	judge change "$change" $?
done

# No line of the list is about something that is not there.
while read -r kind name reason; do
	case "$kind" in
	rule) def=include/foliofs/rules.def ;;
	change) def=include/foliofs/changes.def ;;
	*) continue ;;
	esac
	grep -q "\"$name\"" "$def" && [ -n "$reason" ] && ok || bad "$list: $kind $name $reason"
done <"$list"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
