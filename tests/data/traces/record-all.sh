#!/bin/sh
# SPDX-License-Identifier: MIT
# How the traces of this folder were made; needs root and the programs.  Each in another style of
# strace, so that all are read.
set -eu
cd "$(dirname "$0")"
record=../../../tools/record-trace.sh

# Rollback journal, then write-ahead log; transactions, an update, a vacuum.
$record sqlite -f -ttt -y -s 0 -- sqlite3 shop.db \
	"create table item(id integer primary key, name text, price real);
	 create index by_name on item(name);" \
	"begin; with recursive n(i) as (select 1 union all select i+1 from n where i<4000)
	 insert into item select i, hex(randomblob(16)), i*0.5 from n; commit;" \
	"update item set price=price+1 where id%7=0;" \
	"begin; delete from item where id%3=0; commit;" \
	"insert into item values(9001,'late',1);" "insert into item values(9002,'later',2);" \
	"vacuum;" \
	"pragma journal_mode=wal; insert into item values(9003,'latest',3);
	 pragma wal_checkpoint;"

# Directories, symbolic and hard links.
$record -p 'mkdir $SCRATCH/src; cd $SCRATCH/src
	for d in a b/c b/d; do
		mkdir -p $d; ln -s f1 $d/link
		for i in 1 2 3 4 5 6 7 8; do head -c $((i*i*i*211)) /dev/urandom >$d/f$i; done
	done; ln a/f8 b/hard; tar cf $SCRATCH/src.tar .' \
	tar -f -tt -T -s 16 -- sh -c 'tar xf $SCRATCH/src.tar'

# Processes with pipes, packs, lock files renamed.
$record -p 'mkdir $SCRATCH/repo; cd $SCRATCH/repo; git init -q . 2>/dev/null
	git config user.email a@example.org; git config user.name A
	for i in 1 2 3 4 5; do
		mkdir dir$i; seq 1 $((i*700)) >n$i; seq $i $((i*900)) >dir$i/m
		git add .; git commit -qm "change $i"
	done; git config --global --add safe.directory "*"' \
	git-clone -f -ttt -yy -s 0 -- sh -c 'exec git clone -q --no-local $SCRATCH/repo copy'

# Three processes; a tree that is there already is changed.
$record -p 'mkdir tree; cd tree
	for i in 1 2 3 4 5 6 7 8 9; do
		mkdir d$i; head -c $((i*i*5003)) /dev/urandom >d$i/data
		seq 1 $((i*300)) >d$i/numbers
	done; cp -r . $SCRATCH/src; cd $SCRATCH/src
	seq 1 100 >>d3/numbers; head -c 300000 /dev/urandom >d4/data
	rm d5/numbers; echo new >d6/new' \
	rsync -f -ttt -T -y -s 0 -- sh -c 'exec rsync -aI --delete $SCRATCH/src/ tree/'

# Sparse files, copy_file_range.
$record -p 'mkdir from; cd from
	for i in 1 2 3 4 5 6; do
		mkdir s$i; head -c $((i*40009)) /dev/urandom >s$i/random
		truncate -s $((i*100000)) s$i/sparse
		printf x | dd of=s$i/sparse bs=1 seek=50000 conv=notrunc 2>/dev/null
	done' \
	cp -s 32 -- cp -a from to

$record dd -ttt -s 0 -- dd if=/dev/zero of=big bs=2M count=16 conv=fsync

$record fio-psync -f -ttt -y -s 0 -- fio --name=small --filename=data --size=8M --ioengine=psync \
	--rw=randwrite --bs=1k-16k --bs_unaligned=1 --fsync=8 --number_ios=700 --output=/dev/null

$record fio-libaio -f -tt -y -s 0 -- fio --name=aio --filename=data --size=4M \
	--ioengine=libaio --direct=1 --iodepth=4 --rw=randrw --bs=4k --fdatasync=16 \
	--number_ios=500 --output=/dev/null

# Compiler, assembler, archiver, linker.
$record -p 'for i in 1 2 3 4 5 6; do echo "int f$i(int x) { return x * $i; }" >f$i.c; done
	echo "int f1(int); int main(void) { return f1(0); }" >main.c' \
	cc -f -t -y -s 8 -- sh -ec 'for f in *.c; do cc -O2 -g -c $f; done
		ar rc libf.a f*.o; cc -o prog main.o libf.a; rm *.o; ./prog'
