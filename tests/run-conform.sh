#!/bin/sh
# SPDX-License-Identifier: MIT
# The model against captures of real kernels: no family may get worse than conform/figures.txt
# says.  tests/conform/update.sh takes over better figures.
#
# Environment: FOLIOSIM.  Exit 0, or 1.  Ends with "N passed, M failed".
set -u
cd "$(dirname "$0")/conform" || exit 1
: "${FOLIOSIM:?is not set}"
now=$(./figures.sh)
refused=$?
echo "$now" | awk -v refused="$refused" '
	FNR == NR { if ($0 !~ /^#/) want[$1 " " $2] = $3; next }
	NF == 3 { set[$1] = 1; got[$1 " " $2] = $3 }
	END {
		for (k in want) {
			split(k, w, " ")
			if (!(w[1] in set))
				continue
			if (!(k in got) || got[k] + 0.0000005 < want[k]) {
				printf "%s: %s, must be at least %s\n", k,
					k in got ? got[k] : "nothing", want[k]
				failed++
			} else {
				passed++
				if (got[k] > want[k] + 0.0000005)
					printf "%s: %s, better than %s\n", k, got[k], want[k]
			}
		}
		failed += refused
		printf "%d passed, %d failed\n", passed, failed
		exit failed > 0
	}' figures.txt -
