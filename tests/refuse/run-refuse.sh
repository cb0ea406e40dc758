#!/bin/sh
# SPDX-License-Identifier: MIT
# Inputs that have to be refused.  Each folder is a case:
#
#	cmd	a command line, run by the shell in that folder with $FOLIOSIM and $SOURCE_DIR
#	exit	its exit code: 2 (usage) or 3 (input refused)
#	stderr	an extended regular expression that a line of standard error has to match
#
# Environment: FOLIOSIM, the program.  Arguments: names of cases; none: all.
# Exit: 0, or 1 if a case fails.
set -u
cd "$(dirname "$0")" || exit 1
here=$PWD
SOURCE_DIR=${SOURCE_DIR:-$(cd ../.. && pwd)}
export SOURCE_DIR
: "${FOLIOSIM:?is not set}"
export FOLIOSIM
[ $# -gt 0 ] || set -- */
err=$(mktemp)
trap 'rm -f "$err"' EXIT
passed=0 failed=0
for name; do
	name=${name%/}
	cd "$here/$name" || exit 1
	timeout 20 sh ./cmd </dev/null >/dev/null 2>"$err"
	code=$?
	want=$(cat exit)
	if [ "$code" -ne "$want" ]; then
		echo "$name: exit code $code, expected $want"
	elif ! grep -Eq -e "$(head -n 1 stderr)" "$err"; then
		echo "$name: expected a message like: $(head -n 1 stderr)"
	elif grep -q 'Sanitizer\|runtime error' "$err"; then
		echo "$name: the sanitizers complain"
	else
		passed=$((passed + 1))
		continue
	fi
	sed 's/^/	/' "$err" | head -n 5
	failed=$((failed + 1))
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
