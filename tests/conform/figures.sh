#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints how well the model agrees with the captures of real kernels: one line "SET FAMILY FIGURE"
# for each family of events and facts; 1 is: event for event the same.
#
# Sets: the folders beside this script, and those of a larger collection of captures
# ($CAPTURES/golden*, by default beside the source tree) if there is one.
#
# Environment: FOLIOSIM.  Exit 0, or 1 if a capture is refused.
set -u
: "${FOLIOSIM:?is not set}"
here=$(cd "$(dirname "$0")" && pwd)
captures=${CAPTURES:-$here/../../../shared}
status=0
for set in "$here"/*/ "$captures"/golden "$captures"/golden-6.12 "$captures"/golden-6.1 \
	"$captures"/golden-6.12-depth "$captures"/golden-iomap "$captures"/golden-tmpfs; do
	[ -d "$set" ] || continue
	set=${set%/}
	set -- "$set"/*/
	out=$("$FOLIOSIM" conform --quiet "$@")
	if [ $? -gt 1 ]; then
		echo "$(basename "$set"): a capture is refused" >&2
		status=1
	fi
	echo "$out" | awk -v set="$(basename "$set")" '$5 ~ /^[0-9.]+$/ && $1 != "family" {
		printf "%s %s %.6f\n", set, $1, $3 + $4 ? 2 * $2 / ($3 + $4) : 1 }'
done
exit $status
