#!/bin/sh
# SPDX-License-Identifier: MIT
# What the kernel did when the captures of XFS and tmpfs were made breaks no rule: their operations are
# replayed with the rules on.
#
# Environment: FOLIOSIM.  Exit 0, or 1.  Ends with "N passed, M failed".
set -u
cd "$(dirname "$0")/conform" || exit 1
if [ -z "${FOLIOSIM:-}" ]; then
	echo "FOLIOSIM is not set" >&2
	exit 1
fi
passed=0 failed=0
for capture in iomap/*/ tmpfs/*/; do
	if verdict=$("$FOLIOSIM" replay "$capture/ops.txt" --meta "$capture/meta.yaml" 2>&1); then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "$capture:"
		echo "$verdict" | head -n 12
	fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
