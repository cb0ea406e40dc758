#!/bin/sh
# SPDX-License-Identifier: MIT
# Takes the figures that are reached now as those that must be kept.  Sets of captures that are
# not there keep their old figures.  Environment: FOLIOSIM.
set -eu
cd "$(dirname "$0")"
new=$(mktemp)
./figures.sh >"$new"
{
	sed -n '/^#/p' figures.txt
	awk 'FNR == NR { now[$1] = 1; print; next } !/^#/ && !($1 in now)' "$new" figures.txt |
		LC_ALL=C sort
} >"$new.all"
cat "$new.all" >figures.txt
rm -f "$new" "$new.all"
