#!/bin/sh
# SPDX-License-Identifier: MIT
# foliosim cost against published tables of fio (tests/data/cost/fio-tables.csv): the work that the
# model counts, with the constants that come with it, has to predict the ratios of the paths.
#
#	table of May 2025	rank correlation at least 0.95, mean error at most 5 %
#	tables of 2024		rank correlation at least 0.90 (another kernel, the same constants)
#
# The iomap column is that of the first kernel whose data runs through iomap.
#
# Environment: FOLIOSIM.  Exit 0, or 1.  Ends with "N passed, M failed".
set -u
: "${SOURCE_DIR:=$(cd "$(dirname "$0")/.." && pwd)}"
if [ -z "${FOLIOSIM:-}" ]; then
	echo "FOLIOSIM is not set" >&2
	exit 1
fi
data=$SOURCE_DIR/tests/data/cost
constants=$SOURCE_DIR/data/cost-constants.csv
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
pass() { passed=$((passed + 1)); }
fail() {
	echo "FAILED: $*"
	failed=$((failed + 1))
}

"$FOLIOSIM" cost --table "$data/fio-tables.csv" --constants "$constants" --beside "$data/xfs.yaml" \
	--report "$work/report" >"$work/table" 2>"$work/err" || {
	fail "cost --table: exit $?"
	cat "$work/err"
}
sed -n '/^source.*rank/,$p' "$work/table"

# source, path, rows that there are, lowest rank correlation, largest mean error in %
agrees() {
	if awk -v source="$1" -v path="$2" -v rows="$3" -v rank="$4" -v mean="$5" '
		$1 == source && $2 == path && $3 == rows { found = 1; ok = $4 >= rank && $5 + 0 <= mean }
		END { exit !(found && ok) }' "$work/table"; then
		pass
	else
		fail "$1 $2: expected $3 rows, rank correlation >= $4, mean error <= $5 %"
	fi
}
agrees 2025-05 iomap+lf 39 0.95 5
agrees 2025-05 bh+lf 39 0.95 5
agrees 2024-01 iomap+lf 39 0.90 100
agrees 2024-04 iomap+lf 26 0.90 100

# No row without a reason, all points in the plot.
if grep '^left out' "$work/table"; then fail "rows are left out"; else pass; fi
[ "$(grep -c '^[0-9]' "$work/report/ratios.dat")" = 143 ] && pass ||
	fail "the plot does not have 39 + 39 + 39 + 26 points"
[ -s "$work/report/ratios.gp" ] && pass || fail "no source of the plot"
grep -q '2025-05' "$work/report/index.html" && pass || fail "no page"
if command -v gnuplot >/dev/null; then
	grep -q '<svg' "$work/report/index.html" && pass || fail "no plot in the page"
fi

# A trace: one large write. The installed constants are found, and say the same.
printf 'open a\nwrite a 0 1M\nfsync a\n' >"$work/ops"
for c in "--constants $constants" ""; do
	# shellcheck disable=SC2086
	"$FOLIOSIM" cost $c --device nvme --kernel v6.15,v6.18 "$work/ops" >"$work/out" ||
		fail "cost: exit $?"
	# 78 + 256 * (2.5 + 1.5 + 1.4); with one folio: 78 + 256 * (2.5 + 1.4) + 1.5
	grep -Eq '^  write, new, fsync \(1\) +1460\.40 +1077\.90$' "$work/out" && pass ||
		fail "time of a write: $(grep 'write, new' "$work/out")"
	grep -Eq '^path +bh +bh\+lf$' "$work/out" && pass || fail "$(grep '^path' "$work/out")"
	grep -Eq '^  folio steps +256 +1$' "$work/out" && pass || fail "$(grep steps "$work/out")"
done
"$FOLIOSIM" cost --json --kernel v6.15 --beside "$data/xfs.yaml" "$work/ops" >"$work/json" &&
	grep -q '"path":"iomap+lf"' "$work/json" && pass || fail "cost --json"
"$FOLIOSIM" cost --kernel v6.15,v6.18 --report "$work/trace" "$work/ops" >"$work/out" 2>&1 &&
	grep -q 'blocks gone through' "$work/trace/index.html" && pass || fail "cost --report"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
