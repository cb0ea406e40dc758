#!/bin/sh
# SPDX-License-Identifier: MIT
# What the library shows to the world, and what includes what:
#
#	the shared library exports foliofs_* and nothing else
#	every public header compiles on its own, as C11 and as C++
#	sim includes public headers and its own, nothing of lib
#	a folder of lib includes only folders below it
#	the model asks for changes, it compares no kernel versions
#
# Environment: BUILD_DIR, SOURCE_DIR.  Exit 0, or 1 with what is wrong.
set -u
cd "${SOURCE_DIR:-$(dirname "$0")/..}" || exit 1
failed=0
wrong() {
	echo "$*"
	failed=$((failed + 1))
}

so=${BUILD_DIR:-build}/libfoliofs.so
if [ -e "$so" ]; then
	names=$(nm -D --defined-only "$so" | awk '$2 != "A" { print $3 }' |
		grep -v -e '^foliofs_' -e '^_init$' -e '^_fini$' -e '^__asan' -e '^__ubsan' \
			-e '^__odr_asan' -e '^__bss_start$' -e '^_edata$' -e '^_end$')
	[ -z "$names" ] || wrong "exported from libfoliofs.so: $names"
	[ "$(nm -D --defined-only "$so" | grep -c ' foliofs_')" -gt 40 ] ||
		wrong "$so exports too little"
else
	wrong "$so: not built"
fi

for h in include/foliofs/*.h; do
	name=${h#include/}
	echo "#include <$name>" | ${CC:-cc} -std=c11 -Wall -Wextra -Werror -Iinclude \
		-fsyntax-only -x c - || wrong "$h: not C11 on its own"
	echo "#include <$name>" | ${CXX:-c++} -std=c++17 -Wall -Wextra -Werror -Iinclude \
		-fsyntax-only -x c++ - || wrong "$h: not C++ on its own"
done

# sim: <...> of the system, <foliofs/...>, "..." of its own folders
folders=$(cd lib && echo */ | tr -d / | tr ' ' '|')
bad=$(grep -rnE "^#include \"(\.\./)*(lib|$folders)/" sim)
[ -z "$bad" ] || wrong "sim includes what is inside the library: $bad"

# lib: the folders that each folder may include besides itself
allowed() {
	case $1 in
	base) echo base ;;
	kernel) echo base kernel ;;
	journal) echo base kernel journal ;;
	alloc) echo base kernel journal alloc ;;
	blockmap) echo base kernel journal alloc blockmap ;;
	pagecache) echo base kernel journal alloc blockmap pagecache ;;
	bh) echo base kernel journal alloc blockmap pagecache bh ;;
	iomap) echo base kernel journal alloc blockmap pagecache iomap ;;
	ext4iomap) echo base kernel journal alloc blockmap pagecache iomap ext4iomap ;;
	xfs) echo base kernel journal alloc blockmap pagecache iomap ops xfs ;;
	shmem) echo base kernel journal alloc blockmap pagecache ops shmem ;;
	ext2) echo base kernel journal alloc blockmap pagecache iomap ops ext2 ;;
	ops) echo base kernel journal alloc blockmap pagecache bh iomap ops ;;
	fs | rules) echo base kernel journal alloc blockmap pagecache bh iomap ext4iomap ops xfs shmem ext2 fs rules ;;
	esac
}
for dir in lib/*/; do
	dir=${dir%/}
	folder=${dir#lib/}
	may=" $(allowed "$folder") "
	[ "$may" != "  " ] || wrong "lib/$folder: a folder without a place"
	for used in $(grep -hoE '^#include "[a-z0-9]+/' "$dir"/*.[ch] 2>/dev/null |
		sed 's/.*"\(.*\)\//\1/' | sort -u); do
		case $may in
		*" $used "*) ;;
		*) wrong "lib/$folder includes lib/$used:" \
			"$(grep -ln "^#include \"$used/" "$dir"/*.[ch] | tr '\n' ' ')" ;;
		esac
	done
done
# ... and by no other way: not from where the file lies, not as headers of the system
bad=$(grep -rnE "^[[:space:]]*#[[:space:]]*include[[:space:]]*([\"<]([^\">]*/)?\.\.?/|<($folders)/)" lib)
[ -z "$bad" ] || wrong "lib includes past the folders: $bad"
# What the files of the two paths call of each other: nothing, includes or not.
for pair in "bh iomap" "bh ext4iomap" "iomap bh" "ext4iomap bh"; do
	caller=${pair% *} called=${pair#* }
	names=$(cat lib/"$called"/*.h | grep -oE '\bffs_[a-z0-9_]+\(' | tr -d '(' | sort -u)
	own=$(cat $(find lib -name '*.h' ! -path "lib/$called/*") | grep -oE '\bffs_[a-z0-9_]+\(' | tr -d '(' | sort -u)
	for n in $(printf '%s\n' "$names" | grep -vxF "$own"); do
		grep -lw "$n" lib/"$caller"/*.[ch] >/dev/null && wrong "lib/$caller names $n of lib/$called"
	done
done

# kernels are sets of changes
bad=$(grep -rnE 'KERNEL_VERSION|(str(n?)cmp|strstr)\([^)]*"v[0-9]+\.' lib --include='*.[ch]' | grep -v '^lib/kernel/kernel\.c')
[ -z "$bad" ] || wrong "the model compares kernel versions: $bad"

[ "$failed" -eq 0 ] && echo "symbols, headers and layers are right"
[ "$failed" -eq 0 ]
