#!/bin/sh
# SPDX-License-Identifier: MIT
# Record what a program does on an ext4 file system, with strace.
#
#   record-trace.sh [-p COMMAND] [-m MKE2FS_OPTIONS] [-z SIZE] OUT STRACE_OPTIONS -- PROGRAM ARGS...
#
# A fresh file system on a loop device is mounted in a mount namespace of its own (so nothing is
# left behind), COMMAND prepares it without being recorded, then PROGRAM runs in its root directory.
# OUT.strace.gz is the log, with the mount point called /mnt and the scratch directory (variable
# SCRATCH of both commands) called /scratch; OUT.sizes has the size and path of every regular file
# afterwards.  Environment and standard output of the program are nobody's own.
# Needs root, strace, e2fsprogs.  Exit: 0, or 2 for usage, 1 if something went wrong.
set -eu

usage() {
	sed -n '3,6s/^# \{0,1\}//p' "$0" >&2
	exit 2
}

prepare=: mkfs= size=256M
while getopts p:m:z: o; do
	case $o in
	p) prepare=$OPTARG ;;
	m) mkfs=$OPTARG ;;
	z) size=$OPTARG ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
[ $# -ge 3 ] || usage
out=$1
shift
case $out in
/*) ;;
*) out=$PWD/$out ;;
esac

if [ -z "${RECORD_SCRATCH:-}" ]; then # again, in a namespace of its own
	RECORD_SCRATCH=$(mktemp -d)
	export RECORD_SCRATCH
	trap 'rm -rf "$RECORD_SCRATCH"' EXIT
	unshare -m -- "$0" -p "$prepare" -m "$mkfs" -z "$size" "$out" "$@"
	exit
fi

SCRATCH=$RECORD_SCRATCH HOME=$RECORD_SCRATCH
export SCRATCH HOME
mnt=$SCRATCH/mnt
mkdir "$mnt"
truncate -s "$size" "$SCRATCH/image"
# shellcheck disable=SC2086 # options are words
mke2fs -q -F -t ext4 -E lazy_itable_init=0 $mkfs "$SCRATCH/image"
mount -t ext4 -o loop,noinit_itable "$SCRATCH/image" "$mnt"
cd "$mnt"
rmdir lost+found
sh -ec "$prepare"
sync
echo 3 >/proc/sys/vm/drop_caches

env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C HOME="$SCRATCH" \
	TMPDIR="$SCRATCH" SCRATCH="$SCRATCH" \
	strace -o "$SCRATCH/log" "$@" </dev/null >"$SCRATCH/out" 2>&1 ||
	{
		cat "$SCRATCH/out" >&2
		exit 1
	}

find . -type f -printf '%s %P\n' | LC_ALL=C sort -k 2 >"$out.sizes"
sed -e "s|$mnt|/mnt|g" -e "s|$SCRATCH|/scratch|g" "$SCRATCH/log" | gzip -9n >"$out.strace.gz"
cd /
umount "$mnt"
